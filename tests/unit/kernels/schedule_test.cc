// Primitives of schedules: their text, what each makes of a kernel, and what it refuses.
#include <catch2/catch.hpp>
#include <fstream>

#include <fmt/format.h>

#include "kernels/loop/printer.h"
#include "kernels/schedule/schedule.h"
#include "tests/unit/kernels/schedule_kernels.h"

namespace baton::schedule::test {
namespace {

TEST_CASE("schedule: text is read as it is printed") {
  const std::string text = R"(split i by 64 into io ii
fuse i j into ij
reorder k j i
tile i j by 8 16 into io jo ii ji
vectorize j
unroll ii
parallel io by 4
compute_inline tmp0
compute_at tmp0 i
cache_read in0 k
cache_write out0 i
rfactor r by 8 into ro
pack in1 by 0 64
)";
  CHECK(print(Schedule(parse(text).value())) == text);
  CHECK(parse("# nothing\n\n   \n").value().empty());
  const auto message = [](const std::string& line) {
    const Result<Schedule> result = parse("\n" + line);
    return result.has_value() ? "" : result.assume_error().message();
  };
  CHECK(message("splice i") == "line 2: \"splice\" is no primitive");
  CHECK(message("split i into a b") == "line 2: split: expected 1 numbers after \"by\", found 0");
  CHECK(message("split i by 4 into a") == "line 2: split: expected 2 names after \"into\", found 1");
  CHECK(message("split i by x into a b") == "line 2: expected a number, found \"x\"");
  CHECK(message("split i by 99999999999999999999 into a b") ==
        "line 2: expected a number, found \"99999999999999999999\"");
  CHECK(message("reorder i") == "line 2: reorder: expected at least 2 names, found 1");
  CHECK(message("vectorize i by 4") == "line 2: vectorize: expected 0 numbers after \"by\", found 1");
}

TEST_CASE("schedule: split, vectorize, parallel, unroll") {
  CHECK(applied(kRows, "split j by 8 into jo ji\nvectorize ji\nparallel i by 3") ==
        R"(  parallel %0 < $m grain 3 as i {
    %1 = add i64 $n, 7
    %2 = floordiv i64 %1, 8
    for %3 < %2 as jo {
      %4 = mul i64 %3, 8
      %5 = sub i64 $n, %4
      %6 = min i64 %5, 8
      vectorized %7 < %6 as ji {
        %8 = add i64 %4, %7
        %9 = load in0[%0, %8]
        %10 = mul f32 %9, f32(2)
        store out0[%0, %8], %10
      }
    }
  }
}
)");
  const std::string fixed = R"(kernel "k" { input f32[12] output f32[12]
    for %0 < 12 as i { %1 = load in0[%0] store out0[%0], %1 } })";
  CHECK(applied(fixed, "split i by 4 into io ii\nunroll ii") == R"(  for %0 < 3 as io {
    %1 = mul i64 %0, 4
    unrolled %2 < 4 as ii {
      %3 = add i64 %1, %2
      %4 = load in0[%3]
      store out0[%3], %4
    }
  }
}
)");
  CHECK(applied(kRows, "split k by 8 into a b") == "split k by 8 into a b: there is no loop k");
  CHECK(applied(kRows, "split j by 0 into a b") == "split j by 0 into a b: a factor of 0");
  CHECK(applied(kRows, "split j by 8 into i b") == "split j by 8 into i b: there is a loop i already");
  CHECK(applied(kRows, "vectorize j\nsplit j by 8 into a b") ==
        "split j by 8 into a b: loop j is vectorized already");
  CHECK(applied(kRows, "unroll j") == "unroll j: the extent of loop j is not constant");
  CHECK(applied(kRows, "parallel i by 0") == "parallel i by 0: a grain of 0");
}

TEST_CASE("schedule: loops whose iterations depend on each other are not parallel") {
  const auto refusal = [](const std::string& body) {
    return applied(R"(kernel "k" { symbol n = operand 0 axis 0 input f32[n] output f32[n] scalar_output i64
      scratch f32[n] )" +
                       body + "}",
                   "vectorize i");
  };
  const std::string depend = "vectorize i: the iterations of loop i depend on each other: ";
  CHECK(refusal("for %0 < $n as i { store out0[0], f32(1) }") ==
        depend + "two may touch one element of a buffer, and one writes it");
  CHECK(refusal("for %0 < $n as i { %1 = sub i64 %0, 1 %2 = load tmp0[%1] store tmp0[%0], %2 }") ==
        depend + "two may touch one element of a buffer, and one writes it");
  CHECK(refusal("local l0 f32 for %0 < $n as i { %1 = get l0 store tmp0[%0], %1 set l0, %1 }") ==
        depend + "they share an element of a local");
  CHECK(refusal("for %0 < $n as i { set_scalar 0, %0 }") == depend + "a scalar output is set");
  // Two elements a step, and steps of two: apart. Three elements: not.
  const std::string pair = "for %0 < 4 as i { %1 = mul i64 %0, 2 for %2 < ";
  const std::string store = " { %3 = add i64 %1, %2 store tmp0[%3], f32(1) } }";
  CHECK_THAT(refusal(pair + "2" + store), Catch::StartsWith("  vectorized"));
  CHECK(refusal(pair + "3" + store) == depend + "two may touch one element of a buffer, and one writes it");
  // Of fused loops, the outer one goes on in steps of sixteen elements, which are the inner one's or not.
  const auto fused = [](const char* inner) {
    return applied(fmt::format(R"(kernel "k" {{ output f32[64] for %0 < 4 as o {{ for %1 < {} as i {{
        %2 = mul i64 %0, 16 %3 = add i64 %2, %1 store out0[%3], f32(1) }} }} }})",
                               inner),
                   "fuse o i into oi\nparallel oi by 1");
  };
  CHECK_THAT(fused("16"), Catch::StartsWith("  parallel"));
  CHECK_THAT(fused("17"), Catch::Contains("two may touch one element of a buffer, and one writes it"));
  // Every element is read before it is written, at the same place.
  CHECK_THAT(refusal("for %0 < $n as i { %1 = load tmp0[%0] store tmp0[%0], %1 }"),
             Catch::StartsWith("  vectorized"));
}

TEST_CASE("schedule: an output that may take the memory of an input counts as that input") {
  const auto kernel = [](const char* index) {
    return fmt::format(R"(kernel "k" {{ symbol n = operand 0 axis 0 input f32[n] output f32[n] alias 0
      for %0 < $n as i {{ %1 = min i64 {} %2 = load in0[%1] store out0[%0], %2 }} }})",
                       index);
  };
  CHECK_THAT(applied(kernel("%0, 0"), "parallel i by 1"), Catch::Contains("depend on each other"));
  const std::string same = R"(kernel "k" { symbol n = operand 0 axis 0 input f32[n] output f32[n] alias 0
      for %0 < $n as i { %1 = load in0[%0] store out0[%0], %1 } })";
  CHECK_THAT(applied(same, "parallel i by 1"), Catch::StartsWith("  parallel"));
}

TEST_CASE("schedule: fuse") {
  CHECK(applied(kRows, "fuse i j into ij") == R"(  %0 = mul i64 $m, $n
  for %1 < %0 as ij {
    %2 = floordiv i64 %1, $n or_fail 0
    %3 = floormod i64 %1, $n or_fail 0
    %4 = load in0[%2, %3]
    %5 = mul f32 %4, f32(2)
    store out0[%2, %3], %5
  }
}
)");
  // What stands between the two is found out again, or computed before both.
  CHECK(applied(kRows, "split j by 8 into jo ji\nfuse i jo into f") == R"(  %0 = add i64 $n, 7
  %1 = floordiv i64 %0, 8
  %2 = mul i64 $m, %1
  for %3 < %2 as f {
    %4 = floordiv i64 %3, %1 or_fail 0
    %5 = floormod i64 %3, %1 or_fail 0
    %6 = mul i64 %5, 8
    %7 = sub i64 $n, %6
    %8 = min i64 %7, 8
    for %9 < %8 as ji {
      %10 = add i64 %6, %9
      %11 = load in0[%4, %10]
      %12 = mul f32 %11, f32(2)
      store out0[%4, %10], %12
    }
  }
}
)");
  const auto between = [](const char* statement) {
    return fmt::format(
        R"(kernel "k" {{ symbol n = operand 0 axis 0 input i32[n] output i32[n, 8] output i32[n] alias 0
      message "zero" for %0 < $n as i {{ {} for %1 < 8 as j {{ %2 = load in0[%0] store out0[%0, %1], %2 }} }} }})",
        statement);
  };
  CHECK(applied(between("store out1[%0], i32(1)"), "fuse i j into f") ==
        "fuse i j into f: loop i holds more than loop j and values");
  CHECK(applied(between("%3 = load out1[%0]"), "fuse i j into f").substr(0, 18) == "  %0 = mul i64 $n,");
  CHECK(applied(between("%3 = load in0[%0] %4 = floordiv i32 i32(8), %3 or_fail 0"), "fuse i j into f") ==
        "fuse i j into f: loop i holds more than loop j and values");
  // The parts of a fused loop tell its iterations apart, also where the first loop was split before.
  CHECK_THAT(applied(kRows, "fuse i j into f\nparallel f by 1"), Catch::Contains("parallel %1 < %0 as f {"));
  const std::string panels =
      R"(kernel "k" { symbol m = operand 0 axis 0 symbol n = operand 0 axis 1 output f32[m, n, 32]
    for %0 < 4 as p { %1 = mul i64 %0, 8 for %2 < $m as i { for %3 < 8 as j { %4 = add i64 %1, %3
      %5 = floordiv i64 %2, 3 %6 = floormod i64 %2, 3 store out0[%5, %6, %4], f32(1) } } } })";
  CHECK_THAT(applied(panels, "split i by 4 into io ii\nreorder io p\nfuse io p into f\nparallel f by 1"),
             Catch::Contains(" as f {"));
  const std::string triangle = R"(kernel "k" { output f32[8, 8]
    for %0 < 8 as i { for %1 < %0 as j { store out0[%0, %1], f32(1) } } })";
  CHECK(applied(triangle, "fuse i j into ij") == "fuse i j into ij: the extent of loop j depends on loop i");
}

TEST_CASE("schedule: reorder and tile") {
  CHECK(applied(kRows, "reorder j i") == R"(  for %0 < $n as j {
    for %1 < $m as i {
      %2 = load in0[%1, %0]
      %3 = mul f32 %2, f32(2)
      store out0[%1, %0], %3
    }
  }
}
)");
  const std::string fixed = R"(kernel "k" { input f32[8, 32] output f32[8, 32]
    for %0 < 8 as i { for %1 < 32 as j { %2 = load in0[%0, %1] store out0[%0, %1], %2 } } })";
  CHECK(applied(fixed, "tile i j by 4 16 into io jo ii ji") == R"(  for %0 < 2 as io {
    %1 = mul i64 %0, 4
    for %2 < 2 as jo {
      for %3 < 4 as ii {
        %4 = mul i64 %2, 16
        for %5 < 16 as ji {
          %6 = add i64 %1, %3
          %7 = add i64 %4, %5
          %8 = load in0[%6, %7]
          store out0[%6, %7], %8
        }
      }
    }
  }
}
)");
  // Only one of the loops may carry what iterations hand on.
  const std::string both = R"(kernel "k" { output f32[8, 8]
    for %0 < 7 as i { for %1 < 7 as j { %2 = add i64 %0, 1 %3 = add i64 %1, 1 %4 = load out0[%2, %1]
      store out0[%0, %3], %4 } } })";
  CHECK_THAT(applied(both, "reorder j i"), Catch::StartsWith("reorder j i: the iterations of loop"));
  const std::string failing = R"(kernel "k" { output f32[8, 8] message "m"
    for %0 < 8 as i { for %1 < 8 as j { %2 = eq i64 %0, %1 if %2 { fail 0, %0 } store out0[%0, %1], f32(1) } } })";
  CHECK(applied(failing, "reorder j i") ==
        "reorder j i: an iteration may fail, and the first one that does is reported");
  CHECK(applied(kRows, "reorder i i") == "reorder i i: loop i is named twice");
}

TEST_CASE("schedule: compute_inline") {
  CHECK(applied(kStages, "compute_inline tmp0") == R"(  %0 = sub i64 $n, 1
  for %1 < $n as c {
    %2 = load in0[%1]
    %3 = mul f32 %2, f32(3)
    %4 = add i64 %1, 1
    %5 = min i64 %4, %0
    %6 = load in0[%5]
    %7 = add f32 %3, %6
    store out0[%1], %7
  }
}
)");
  CHECK(applied(kStages, "compute_inline out0") == "compute_inline out0: out0 is no scratch buffer");
  CHECK(applied(kStages, "compute_inline tmp1") == "compute_inline tmp1: there is no buffer tmp1");
  const auto refusal = [](const std::string& body) {
    return applied(
        R"(kernel "k" { symbol n = operand 0 axis 0 input f32[n] output f32[n] output f32[n] alias 0
      scratch f32[n] )" +
            body + "}",
        "compute_inline tmp0");
  };
  const std::string produce = "for %0 < $n { %1 = load in0[%0] store tmp0[%0], %1 } ";
  const std::string consume = "for %4 < $n { %5 = load tmp0[%4] store out0[%4], %5 }";
  CHECK(refusal(produce + produce.substr(0, 0) + "for %2 < $n { store tmp0[%2], f32(1) } " + consume) ==
        "compute_inline tmp0: tmp0 is not written in one place");
  CHECK(refusal(produce + "for %2 < $n { store out1[%2], f32(1) } " + consume) ==
        "compute_inline tmp0: what tmp0 is computed from is written later");
  CHECK(refusal(consume + " for %0 < $n { %1 = load in0[%0] store tmp0[%0], %1 }") ==
        "compute_inline tmp0: tmp0 is read before it is written");
  CHECK(
      refusal("for %0 < $n { %1 = load in0[%0] store tmp0[0], %1 } " + consume) ==
      "compute_inline tmp0: tmp0 is not written by loops of its own, at the index that their variables are");
  CHECK(
      refusal("for %0 < $n { store out0[%0], f32(1) store tmp0[%0], f32(2) } " + consume) ==
      "compute_inline tmp0: tmp0 is not written by loops of its own, at the index that their variables are");
}

TEST_CASE("schedule: compute_at") {
  const std::string text = R"(kernel "k" { input f32[16] output f32[16] scratch f32[16]
    for %0 < 16 as p { %1 = load in0[%0] store tmp0[%0], %1 }
    for %2 < 4 as o { %3 = mul i64 %2, 4 for %4 < 4 as c { %5 = add i64 %3, %4 %6 = load tmp0[%5]
      store out0[%5], %6 } } })";
  CHECK(applied(text, "compute_at tmp0 o") == R"(  for %0 < 4 as o {
    %1 = mul i64 %0, 4
    %2 = mul i64 %0, 4
    for %3 < 4 {
      %4 = add i64 %2, %3
      %5 = load in0[%4]
      store tmp0[%4], %5
    }
    for %6 < 4 as c {
      %7 = add i64 %1, %6
      %8 = load tmp0[%7]
      store out0[%7], %8
    }
  }
}
)");
  CHECK(applied(text, "parallel o by 1\ncompute_at tmp0 o") ==
        "compute_at tmp0 o: iterations that run at once would write the same elements");
  CHECK(applied(text, "compute_at tmp0 p") ==
        "compute_at tmp0 p: tmp0 is read outside of loop p, or not at all");
}

TEST_CASE("schedule: cache_read, cache_write") {
  CHECK(applied(kProduct, "cache_read in0 i\ncache_write out0 i") == R"(  for %0 < $m as i {
    local l0 f32[1, 24]
    for %1 < 24 {
      %2 = load in0[%0, %1]
      set l0[0, %1], %2
    }
    local l1 f32[1, 16]
    for %3 < 16 as j {
      local l2 f32
      for %4 < 24 as k {
        %5 = get l0[0, %4]
        %6 = load in1[%4, %3]
        %7 = get l2
        %8 = fma f32 %5, %6, %7
        set l2, %8
      }
      %9 = get l2
      set l1[0, %3], %9
    }
    for %10 < 16 {
      %11 = get l1[0, %10]
      store out0[%0, %10], %11
    }
  }
}
)");
  CHECK(applied(kRows, "cache_read in0 i") ==
        "cache_read in0 i: axis 1 of what is kept has no known extent below 16384");
  CHECK(applied(kProduct, "cache_read out0 i") ==
        "cache_read out0 i: loop i writes out0, or what may share its memory");
  CHECK(applied(kProduct, "cache_write in0 i") == "cache_write in0 i: loop i does not write in0");
  const std::string branch = R"(kernel "k" { input f32[8] output f32[8] for %0 < 2 as i { for %1 < 4 as j {
    %2 = lt i64 %1, 2 if %2 { %3 = load in0[%1] store out0[%1], %3 } } } })";
  CHECK(applied(branch, "cache_read in0 i") ==
        "cache_read in0 i: an iteration may leave an access out, which would be out of bounds");
  CHECK(applied(branch, "cache_write out0 i") ==
        "cache_write out0 i: an iteration may leave an access out, which would be out of bounds");
  const std::string even = R"(kernel "k" { input f32[8] output f32[8] for %0 < 2 as i { for %1 < 4 as j {
    %2 = mul i64 %1, 2 store out0[%2], f32(1) } } })";
  CHECK(applied(even, "cache_write out0 i") ==
        "cache_write out0 i: loop i touches out0 in several ways, or only some elements of a part");
}

TEST_CASE("schedule: pack") {
  CHECK(applied(kProduct, "split j by 8 into jo ji\npack in1 by 1 8") == R"(  for %0 < 2 {
    for %1 < 24 {
      for %2 < 8 {
        %3 = mul i64 %0, 8
        %4 = add i64 %3, %2
        %5 = min i64 %4, 15
        %6 = load in1[%1, %5]
        store tmp0[%0, %1, %2], %6
      }
    }
  }
  for %7 < $m as i {
    for %8 < 2 as jo {
      %9 = mul i64 %8, 8
      for %10 < 8 as ji {
        %11 = add i64 %9, %10
        local l0 f32
        for %12 < 24 as k {
          %13 = load in0[%7, %12]
          %14 = load tmp0[%8, %12, %10]
          %15 = get l0
          %16 = fma f32 %13, %14, %15
          set l0, %16
        }
        %17 = get l0
        store out0[%7, %11], %17
      }
    }
  }
}
)");
  CHECK(applied(kProduct, "pack out0 by 0 4") == "pack out0 by 0 4: out0 is no input");
  CHECK(applied(kProduct, "pack in1 by 2 4") == "pack in1 by 2 4: in1 has no axis 2");
  CHECK(applied(kProduct, "pack in1 by 0 0") == "pack in1 by 0 0: a factor of 0");
}

TEST_CASE("schedule: rfactor") {
  const auto reduction = [](const char* op, const char* type) {
    return fmt::format(R"(kernel "k" {{ symbol n = operand 0 axis 0 input {1}[n] scalar_output {1}
      %0 = reduce {0} (%1 < $n) as r {{ %2 = load in0[%1] yield %2 }} set_scalar 0, %0 }})",
                       op, type);
  };
  CHECK(applied(reduction("max", "f32"), "rfactor r by 4 into p\nparallel p by 1") == R"(  %0 = add i64 $n, 3
  %1 = floordiv i64 %0, 4
  parallel %2 < 4 as p {
    %3 = mul i64 %2, %1
    %4 = sub i64 $n, %3
    %5 = min i64 %4, %1
    %6 = reduce max (%7 < %5) {
      %8 = add i64 %3, %7
      %9 = load in0[%8]
      yield %9
    }
    store tmp0[%2], %6
  }
  %10 = reduce max (%11 < 4) as r {
    %12 = load tmp0[%11]
    yield %12
  }
  set_scalar 0, %10
}
)");
  CHECK(applied(reduction("sum", "f32"), "rfactor r by 4 into p") ==
        "rfactor r by 4 into p: a sum of f32 has an order that parts would change");
  CHECK_THAT(applied(reduction("sum", "i32"), "rfactor r by 4 into p"), Catch::StartsWith("  %0"));
}

TEST_CASE("schedule: the page on loop IR shows kernels, and what a schedule makes of one") {
  std::ifstream file(BATON_LOOP_PAGE);
  const std::string page((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  std::vector<std::string> blocks;  // kernel, schedule, kernel
  for (size_t at = page.find("```"); at != std::string::npos; at = page.find("```", at)) {
    const size_t first = page.find('\n', at) + 1;
    const size_t end = page.find("```", first);
    REQUIRE(end != std::string::npos);
    const std::string kind = page.substr(at + 3, first - at - 4);
    at = end + 3;
    if (kind != "loop" && kind != "schedule") continue;
    CHECK(kind == (blocks.size() == 1 ? "schedule" : "loop"));
    blocks.push_back(page.substr(first, end - first));
  }
  REQUIRE(blocks.size() == 3);
  CHECK(loop::print(kernelOf(blocks[0])) == blocks[0]);
  CHECK(loop::print(schedule::apply(kernelOf(blocks[0]), parse(blocks[1]).value()).value()) == blocks[2]);
  // Every primitive and every statement has its row.
  for (int kind = 0; kind < kKindCount; ++kind) {
    std::string name = print(Schedule{{static_cast<Kind>(kind), {"x"}, {}, {}}});
    name = name.substr(0, name.find(' '));
    INFO(name);
    CHECK(page.find("`" + name + " ") != std::string::npos);
  }
  for (const char* keyword : {"symbol", "input",   "output",   "scalar_input", "scalar_output", "message",
                              "where",  "scratch", "load",     "store",        "local",         "get",
                              "set",    "for",     "parallel", "vectorized",   "unrolled",      "reduce",
                              "yield",  "if",      "else",     "set_scalar",   "fail",          "or_fail"}) {
    INFO(keyword);
    CHECK(page.find(std::string(keyword) + " ") != std::string::npos);
  }
}

}  // namespace
}  // namespace baton::schedule::test
