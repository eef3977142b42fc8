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
  %6 = min i64 %5, 1
  %7 = mul i64 %6, 4
  for %8 < %0 {
    %9 = mul i64 %8, 4
    for %10 < %1 {
      %11 = mul i64 %10, 4
      local l0 f32[4, 4]
      unrolled %12 < 4 {
        vectorized %13 < 4 {
          %14 = add i64 %9, %13
          %15 = add i64 %11, %12
          %16 = load in0[%15, %14]
          set l0[%12, %13], %16
        }
      }
      unrolled %17 < 4 {
        vectorized %18 < 4 {
          %19 = add i64 %9, %17
          %20 = add i64 %11, %18
          %21 = get l0[%18, %17]
          %22 = load in1[%19, %20]
          %23 = add f32 %21, %22
          store out0[%19, %20], %23
        }
      }
    }
    for %24 < %7 {
      vectorized %25 < %5 {
        %26 = add i64 %9, %24
        %27 = add i64 %3, %25
        %28 = load in0[%27, %26]
        %29 = load in1[%26, %27]
        %30 = add f32 %28, %29
        store out0[%26, %27], %30
      }
    }
  }
  for %31 < %4 {
    vectorized %32 < $m {
      %33 = add i64 %2, %31
      %34 = load in0[%32, %33]
      %35 = load in1[%33, %32]
      %36 = add f32 %34, %35
      store out0[%33, %32], %36
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

}  // namespace baton::schedule::test
