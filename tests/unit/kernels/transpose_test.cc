// Squares that are turned round in registers.
#include <string>

#include <catch2/catch.hpp>

#include "kernels/schedule/pattern.h"
#include "kernels/schedule/schedule.h"
#include "tests/unit/kernels/schedule_kernels.h"

namespace baton::schedule::test {

TEST_CASE("transpose: squares, and what is left of rows and columns") {
  CHECK(applied(kTurned, "transpose i j by 4") == R"(  %0 = floordiv i64 $n, 4
  %1 = floordiv i64 $m, 4
  %2 = mul i64 %0, 4
  %3 = mul i64 %1, 4
  %4 = sub i64 $n, %2
  %5 = sub i64 $m, %3
  for %6 < %0 {
    %7 = mul i64 %6, 4
    for %8 < %1 {
      %9 = mul i64 %8, 4
      local l0 f32[4, 4]
      unrolled %10 < 4 {
        vectorized %11 < 4 {
          %12 = add i64 %7, %11
          %13 = add i64 %9, %10
          %14 = load in0[%13, %12]
          set l0[%10, %11], %14
        }
      }
      unrolled %15 < 4 {
        vectorized %16 < 4 {
          %17 = add i64 %7, %15
          %18 = add i64 %9, %16
          %19 = get l0[%16, %15]
          %20 = load in1[%17, %18]
          %21 = add f32 %19, %20
          store out0[%17, %18], %21
        }
      }
    }
    for %22 < %5 {
      vectorized %23 < 4 {
        %24 = add i64 %7, %23
        %25 = add i64 %3, %22
        %26 = load in0[%25, %24]
        %27 = load in1[%24, %25]
        %28 = add f32 %26, %27
        store out0[%24, %25], %28
      }
    }
  }
  for %29 < %4 {
    vectorized %30 < $m {
      %31 = add i64 %2, %29
      %32 = load in0[%30, %31]
      %33 = load in1[%31, %30]
      %34 = add f32 %32, %33
      store out0[%31, %30], %34
    }
  }
}
)");
}

TEST_CASE("transpose: blocks that are mostly whole") {
  // What is left of the rows and columns of a whole block is nothing: three nests in each way, one to two
  // loops.
  const std::string some = applied(kTurned, "tile i j by 8 8 into io jo ii ji\ntranspose ii ji by 4");
  const size_t choice = some.find("eq i64");
  REQUIRE(choice != std::string::npos);
  CHECK(some.find("and bool") != std::string::npos);
  CHECK(some.find("floordiv i64 8, 4", choice) != std::string::npos);
  CHECK(some.find("} else {", choice) != std::string::npos);
  // There is nothing to choose where squares do not fill a block.
  const std::string none = applied(kTurned, "tile i j by 8 6 into io jo ii ji\ntranspose ii ji by 4");
  CHECK(none.find("transpose") == std::string::npos);
  CHECK(none.find("} else {") == std::string::npos);
}

TEST_CASE("transpose: what is no square, and what may not change its order") {
  const auto refusal = [](const std::string& kernel, const std::string& line) {
    const std::string text = applied(kernel, line);
    const std::string prefix = line + ": ";
    REQUIRE(text.substr(0, prefix.size()) == prefix);
    return text.substr(prefix.size());
  };
  CHECK(refusal(kTurned, "transpose i j by 3") == "squares of 3 x 3; expected a power of two from 2 to 16");
  CHECK(refusal(kTurned, "transpose i j by 32") ==
        "squares of 32 x 32; expected a power of two from 2 to 16");
  CHECK(refusal(kTurned, "transpose j i by 4") == "loop j is inside of loop i");
  CHECK(refusal(replaced(kTurned, "load in0[%1, %0]", "load in1[%0, %1]"), "transpose i j by 4") ==
        "nothing that is read lies along the outer loop");
  CHECK(refusal(replaced(kTurned, "store out0[%0, %1]", "store out0[0, %1]"), "transpose i j by 4") ==
        "the iterations of loop i depend on each other: two may touch one element of a buffer, and one "
        "writes it");
  CHECK(refusal(replaced(kTurned, "%4 = add", "local l0 f32 %4 = add"), "transpose i j by 4") ==
        "the body holds more than values, loads and stores");
  // An element that is written in the same loops may change between the two.
  CHECK(refusal(replaced(replaced(kTurned, "output f32[n, m]", "output f32[n, m] output f32[m, n] alias 0"),
                         "store out0[%0, %1], %4", "store out1[%1, %0], %4"),
                "transpose i j by 4") == "nothing that is read lies along the outer loop");
}

TEST_CASE("pattern: what is read across") {
  const std::string loops[] = {"i", "j"};
  const auto across = transposedRead(kernelOf(kTurned), loops);
  REQUIRE(across);
  CHECK(across->loop == "i");
  CHECK(across->elementBytes == 4);
  CHECK(!transposedRead(kernelOf(kRows), loops));
  CHECK(!transposedRead(kernelOf(replaced(kTurned, "store out0[%0, %1]", "store out0[%1, %0]")), loops));
  CHECK(!transposedRead(kernelOf(replaced(kTurned, "load in0[%1, %0]", "load in0[0, %0]")), loops));
}

TEST_CASE("pattern: loops that could be one") {
  constexpr const char* kImage = R"(kernel "k" {
    symbol n = operand 0 axis 0
    input f32[n, 5, 1, 3]
    input f32[5]
    output f32[n, 5, 3]
    for %0 < $n as i {
      for %1 < 5 as j {
        for %2 < 3 as k {
          %3 = load in0[%0, %1, 0, %2]
          store out0[%0, %1, %2], %3
        }
      }
    }
  })";
  const std::string loops[] = {"i", "j", "k"};
  const auto count = [&](const std::string& from, const std::string& to) {
    return contiguousLoops(kernelOf(replaced(kImage, from, to)), loops);
  };
  CHECK(contiguousLoops(kernelOf(kImage), loops) == 3);
  CHECK(count("load in0[%0, %1, 0, %2]", "load in1[%1]") == 1);           // along one of them
  CHECK(count("load in0[%0, %1, 0, %2]", "load in0[%0, 2, 0, 1]") == 2);  // along those around them
  CHECK(count("load in0[%0, %1, 0, %2]", "load in0[0, %1, 0, %2]") == 2);
  CHECK(count("store out0[%0, %1, %2]", "store out0[%0, %2, %1]") == 1);
  CHECK(count("< 3", "< 2") == 1);  // not all of an axis
  CHECK(count("< 5", "< 4") == 2);
  CHECK(count("< 3", "< $n") == 1);  // of an extent that only the run tells
  CHECK(count("%3 = load in0[%0, %1, 0, %2]", "%4 = cast f32 %2 %3 = add f32 %4, %4") == 1);  // as a value
}

}  // namespace baton::schedule::test
