// Register tiles: what they are made of, and what is none.
#include <string>

#include <catch2/catch.hpp>

#include "kernels/schedule/schedule.h"
#include "tests/unit/kernels/schedule_kernels.h"

namespace baton::schedule::test {
namespace {

size_t countOf(const std::string& text, const std::string& part) {
  size_t found = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

}  // namespace

TEST_CASE("tensorize: two rows share what they read") {
  CHECK(applied(replaced(kSums, "for %0 < $m as i", "for %0 < 2 as i"), "tensorize i by 2 4 16 0") ==
        R"(  for %0 < 1 as i {
    %1 = min i64 %0, 0
    %2 = mul i64 %0, 2
    %3 = add i64 %2, %1
    %4 = load in2[%3]
    %5 = add i64 %3, 1
    %6 = load in2[%5]
    for %7 < 1 {
      %8 = mul i64 %7, 7
      local l0 f32[7]
      local l1 f32[7]
      for %9 < $n {
        %10 = load in0[%3, %9]
        %11 = load in0[%5, %9]
        vectorized %12 < 7 {
          %13 = add i64 %8, %12
          %14 = load in1[%9, %13]
          %15 = get l0[%12]
          %16 = get l1[%12]
          %17 = fma f32 %10, %14, %15
          %18 = fma f32 %11, %14, %16
          set l0[%12], %17
          set l1[%12], %18
        }
      }
      vectorized %19 < 7 {
        %20 = add i64 %8, %19
        %21 = get l0[%19]
        %22 = add f32 %21, %4
        store out0[%3, %20], %22
      }
      vectorized %23 < 7 {
        %24 = add i64 %8, %23
        %25 = get l1[%23]
        %26 = add f32 %25, %6
        store out0[%5, %24], %26
      }
    }
  }
}
)");
}

TEST_CASE("tensorize: blocks of rows have almost as many each, and only what there may be") {
  const auto sizes = [](const std::string& rows, const std::string& schedule) {
    const std::string text =
        applied(replaced(kSums, "for %0 < $m as i", "for %0 < " + rows + " as i"), schedule);
    std::string found;
    for (const char* size : {"1", "2", "3", "4"})
      if (text.find(std::string(", ") + size + "\n    if ") != std::string::npos) found += size;
    return found;
  };
  CHECK(sizes("$m", "tensorize i by 4 4 16 0") == "1234");
  CHECK(sizes("10", "tensorize i by 4 4 16 0") == "34");
  // A single kind needs no choice, and no rows no code.
  CHECK(sizes("8", "tensorize i by 4 4 16 0") == "");
  CHECK(countOf(applied(replaced(kSums, "$m as i", "0 as i"), "tensorize i by 4 4 16 0"), "fma") == 0);
}

TEST_CASE("tensorize: tiles are as wide as their registers, and no wider than the columns") {
  const auto width = [](const std::string& by) {
    const std::string text = applied(replaced(kSums, "$m as i", "2 as i"), "tensorize i by " + by + " 0");
    const size_t at = text.find("local l0 f32[");
    REQUIRE(at != std::string::npos);
    return text.substr(at + 13, text.find(']', at) - at - 13);
  };
  CHECK(width("2 1 16") == "4");
  CHECK(width("2 1 7") == "2");
  CHECK(width("2 4 16") == "7");
  CHECK(width("1 1 5") == "4");
}

TEST_CASE("tensorize: results that are long are written by one loop for all kinds of blocks") {
  std::string results = "%10 = add f32 %9, %1\n";
  std::string last = "%10";
  for (int i = 11; i < 80; ++i) {
    const std::string next = "%" + std::to_string(i);
    results += next + " = mul f32 " + last + ", " + last + "\n";
    last = next;
  }
  std::string text = replaced(kSums, "%10 = add f32 %9, %1\n", results);
  text = replaced(text, "store out0[%0, %8], %10", "store out0[%0, %8], " + last);
  CHECK(countOf(applied(text, "tensorize i by 4 4 16 0"), "store out0") == 1);
  CHECK(countOf(applied(kSums, "tensorize i by 4 4 16 0"), "store out0") > 1);
}

TEST_CASE("tensorize: in chunks, all rows have their turn before the next steps") {
  CHECK(applied(replaced(kSums, "for %0 < $m as i", "for %0 < 2 as i"), "tensorize i by 1 4 16 5") ==
        R"(  local l0 f32[2, 7]
  %0 = add i64 $n, 4
  %1 = floordiv i64 %0, 5
  for %2 < %1 {
    %3 = mul i64 %2, 5
    %4 = sub i64 $n, %3
    %5 = min i64 %4, 5
    for %6 < 2 as i {
      %7 = min i64 %6, 0
      %8 = add i64 %6, %7
      %9 = load in2[%8]
      for %10 < 1 {
        %11 = mul i64 %10, 7
        local l1 f32[7]
        vectorized %12 < 7 {
          %13 = add i64 %11, %12
          %14 = get l0[%8, %13]
          set l1[%12], %14
        }
        for %15 < %5 {
          %16 = add i64 %3, %15
          %17 = load in0[%8, %16]
          vectorized %18 < 7 {
            %19 = add i64 %11, %18
            %20 = load in1[%16, %19]
            %21 = get l1[%18]
            %22 = fma f32 %17, %20, %21
            set l1[%18], %22
          }
        }
        vectorized %23 < 7 {
          %24 = add i64 %11, %23
          %25 = get l1[%23]
          set l0[%8, %24], %25
        }
      }
    }
  }
  for %26 < 2 {
    %27 = load in2[%26]
    vectorized %28 < 7 {
      %29 = get l0[%26, %28]
      %30 = add f32 %29, %27
      store out0[%26, %28], %30
    }
  }
}
)");
  // A whole number of chunks, one chunk, and none.
  const auto ofSteps = [](const char* steps) {
    const std::string two = replaced(kSums, "for %0 < $m as i", "for %0 < 2 as i");
    return applied(replaced(two, "$n as k", std::string(steps) + " as k"), "tensorize i by 2 4 16 5");
  };
  CHECK(countOf(ofSteps("15"), "min i64") == 1);
  CHECK(countOf(ofSteps("15"), " < 3 {") == 1);
  CHECK(countOf(ofSteps("16"), "min i64") == 2);
  CHECK(ofSteps("5") == applied(replaced(replaced(kSums, "$m as i", "2 as i"), "$n as k", "5 as k"),
                                "tensorize i by 2 4 16 0"));
  CHECK(applied(kSums, "tensorize i by 2 4 16 5") ==
        "tensorize i by 2 4 16 5: chunks of the sums of any number of rows");
  CHECK(applied(replaced(kSums, "$m as i", "3000 as i"), "tensorize i by 2 4 16 5") ==
        "tensorize i by 2 4 16 5: chunks of the sums of 3000 rows of 7; expected at most 16384 sums");
}

TEST_CASE("tensorize: sums over several loops") {
  std::string text =
      replaced(kSums, "for %2 < $n as k {", "for %20 < 3 as q { %21 = add i64 %20, 0 for %2 < $n as k {");
  text = replaced(text, "set l0[%4], %7\n      }", "set l0[%4], %7\n      } }");
  const std::string tiles = applied(text, "tensorize i by 2 4 16 0");
  // Blocks of one row and of two.
  CHECK(countOf(tiles, "fma") == 1 + 2);
  CHECK(countOf(tiles, " < 3 {") == 2);
}

TEST_CASE("tensorize: what is no sum of products, row by row") {
  const auto refusal = [](const std::string& part, const std::string& by) {
    const std::string text = applied(replaced(kSums, part, by), "tensorize i by 2 4 16 0");
    const std::string prefix = "tensorize i by 2 4 16 0: ";
    REQUIRE(text.substr(0, prefix.size()) == prefix);
    return text.substr(prefix.size());
  };
  const std::string none = "loop i does not sum products row by row: ";
  CHECK(applied(kSums, "tensorize k by 2 4 16 0").find("loop k does not sum") != std::string::npos);
  CHECK(applied(kSums, "parallel i by 1\ntensorize i by 2 4 16 0") ==
        "tensorize i by 2 4 16 0: " + none + "it does not run in order");
  CHECK(applied(kSums, "tensorize i by 0 4 16 0") ==
        "tensorize i by 0 4 16 0: 0 rows, lanes or registers; expected 1 to 64");
  CHECK(refusal("local l0 f32[8]", "local l0 f32[8] local l1 f32[8]") ==
        none + "expected a local of rank 1, a loop that writes it and one that reads it");
  CHECK(refusal("local l0 f32[8]", "local l0 f32[8] set l0[1], %1") == none + "it holds other statements");
  CHECK(refusal("%9 = get l0[%8]", "%9 = get l0[0]") == none + "the sums are used elsewhere");
  CHECK(refusal("for %4 < 8 as j", "for %4 < %2 as j") == none + "another step has other columns");
  CHECK(refusal("for %8 < 7 as r", "for %8 < %0 as r") == "rows have sums of other extents");
  CHECK(refusal("store out0[%0, %8]", "store out0[0, %8]") ==
        "the iterations of loop i depend on each other: two may touch one element of a buffer, and one "
        "writes it");
  CHECK(refusal("store out0[%0, %8]", "store out0[%0, 0]") ==
        "the iterations of loop r depend on each other: two may touch one element of a buffer, and one "
        "writes it");
  CHECK(refusal("%5 = load in1[%2, %4]", "%5 = load out0[%0, 0]") ==
        "sums are made of what is written in the same loop");
  CHECK(refusal("%7 = fma", "store out0[%0, 0], %5 %7 = fma") == "a buffer is written while sums are made");
  const std::string failing = replaced(kSums, "output f32[m, 7]", "output f32[m, 7] message \"m\"");
  CHECK(applied(replaced(failing, "%9 = get l0[%8]", "fail 0, %8 %9 = get l0[%8]"),
                "tensorize i by 2 4 16 0") ==
        "tensorize i by 2 4 16 0: an iteration may fail, and the first one that does is reported");
}

}  // namespace baton::schedule::test
