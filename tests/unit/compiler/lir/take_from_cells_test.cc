#include <catch2/catch.hpp>

#include <algorithm>

#include "compiler/lir/passes/passes.h"
#include "tests/unit/compiler/lir/pass_output.h"

namespace baton::lir {
namespace {

/// The text with the numbered reads of cells (from 0, as they stand there) turned into takes.
std::string withTakes(std::string text, const std::vector<int>& taken) {
  size_t at = 0;
  for (int read = 0; (at = text.find("cell_read_ref", at)) != std::string::npos; ++at, ++read)
    if (std::find(taken.begin(), taken.end(), read) != taken.end()) text.replace(at, 13, "cell_take_ref");
  return text;
}

TEST_CASE("of the reads before a write the last takes, if nothing looks into the cell in between") {
  const auto [taken, text] = GENERATE(
      // Pure code, cells of other kinds, and calls that have nothing to do with cells, in between.
      std::pair<std::vector<int>, std::string>{{1}, R"(func @f signature<0> {
b0(%0: cell<0>, %1: cell<1>, %2: cell<2>, %3: i64):
  %4: array<0> = cell_read_ref %0
  %5: array<0> = cell_read_ref %0
  %6: i64 = cell_read_scalar %2
  %7: array<1> = cell_read_ref %1
  %8: i64 = call @g, (%6), ()
  %9: array<0> = array_push_scalar %5, %8
  cell_write_scalar %2, %8
  cell_write_ref %0, %9
  ret (), (%4, %7)
}

func @g signature<0> {
b0(%0: i64):
  ret (%0), ()
}
)"},
      // A cell of the same kind may be the same cell.
      std::pair<std::vector<int>, std::string>{{1}, R"(func @f signature<0> {
b0(%0: cell<0>, %1: cell<0>, %2: i64):
  %3: array<0> = cell_read_ref %0
  %4: array<0> = cell_read_ref %1
  %5: array<0> = array_push_scalar %3, %2
  cell_write_ref %0, %5
  cell_write_ref %1, %4
  ret (), ()
}
)"},
      // Another one of the same kind that is written only is no harm.
      std::pair<std::vector<int>, std::string>{{0}, R"(func @f signature<0> {
b0(%0: cell<0>, %1: cell<0>, %2: i64):
  %3: array<0> = cell_read_ref %0
  %4: array<0> = array_push_scalar %3, %2
  cell_write_ref %1, %4
  cell_write_ref %0, %4
  ret (), ()
}
)"},
      // Never written again, or written by the next round only.
      std::pair<std::vector<int>, std::string>{{}, R"(func @f signature<0> {
b0(%0: cell<0>, %1: bool, %2: array<0>):
  jump b1
b1:
  %3: array<0> = cell_read_ref %0
  branch %1, b2, b3
b2:
  cell_write_ref %0, %2
  jump b1
b3:
  ret (), (%3)
}
)"},
      // Each round of a loop, and over branches of which each writes.
      std::pair<std::vector<int>, std::string>{{0, 1}, R"(func @f signature<0> {
b0(%0: cell<0>, %1: bool, %2: i64):
  jump b1
b1:
  %3: array<0> = cell_read_ref %0
  %4: array<0> = array_push_scalar %3, %2
  cell_write_ref %0, %4
  branch %1, b2, b6
b2:
  %5: array<0> = cell_read_ref %0
  branch %1, b3, b4
b3:
  %6: array<0> = array_push_scalar %5, %2
  cell_write_ref %0, %6
  jump b5
b4:
  cell_write_ref %0, %5
  jump b5
b5:
  jump b1
b6:
  ret (), ()
}
)"},
      // A loop in between, and a branch on which the program fails.
      std::pair<std::vector<int>, std::string>{{0}, R"(func @f signature<0> {
b0(%0: cell<0>, %1: bool, %2: i64):
  %3: array<0> = cell_read_ref %0
  jump b1(%3)
b1(%4: array<0>):
  %5: array<0> = array_push_scalar %4, %2
  branch %1, b2, b3
b2:
  jump b1(%5)
b3:
  branch %1, b4, b5
b4:
  fail message<0>, ()
b5:
  cell_write_ref %0, %5
  ret (), ()
}
)"},
      // The register holds another cell in each round; the one that was read is not written.
      std::pair<std::vector<int>, std::string>{{}, R"(func @f signature<0> {
b0(%0: array<0>, %1: bool):
  jump b1
b1:
  %2: cell<0> = cell_new_ref kind<0>, %0
  cell_write_ref %2, %0
  %3: array<0> = cell_read_ref %2
  branch %1, b2, b3
b2:
  jump b1
b3:
  fail message<0>, ()
}
)"},
      // The same, as a parameter.
      std::pair<std::vector<int>, std::string>{{}, R"(func @f signature<0> {
b0(%0: array<0>, %1: cell<0>, %2: cell<0>, %3: bool):
  jump b1(%1, %2)
b1(%4: cell<0>, %5: cell<0>):
  cell_write_ref %4, %0
  %6: array<0> = cell_read_ref %4
  branch %3, b2, b3
b2:
  jump b1(%5, %4)
b3:
  fail message<0>, ()
}
)"},
      // Nothing is known of what a loop without an end leaves behind.
      std::pair<std::vector<int>, std::string>{{}, R"(func @f signature<0> {
b0(%0: cell<0>):
  %1: array<0> = cell_read_ref %0
  jump b1
b1:
  jump b1
}
)"},
      // Calls that may reach a cell: a function, what it calls, any closure where one does.
      std::pair<std::vector<int>, std::string>{{}, R"(func @f signature<0> {
b0(%0: cell<0>, %1: closure<0>):
  %2: array<0> = cell_read_ref %0
  call @g, (), (%0)
  cell_write_ref %0, %2
  %3: array<0> = cell_read_ref %0
  call_closure %1, (), ()
  cell_write_ref %0, %3
  ret (), ()
}

func @g signature<0> {
b0(%0: cell<0>):
  tail_call @h, (), (%0)
}

func @h signature<0> {
b0(%0: cell<0>):
  %1: array<0> = cell_read_ref %0
  ret (), (%1)
}

func @c signature<0> closure() {
b0(%0: closure<0>, %1: closure<0>):
  tail_call_closure %1, (), ()
}

func @d signature<0> closure() {
b0(%0: closure<0>, %1: cell<0>):
  call @g, (), (%1)
  ret (), ()
}
)"},
      // Closures that reach none.
      std::pair<std::vector<int>, std::string>{{0}, R"(func @f signature<0> {
b0(%0: cell<0>, %1: closure<0>):
  %2: array<0> = cell_read_ref %0
  call_closure %1, (), ()
  cell_write_ref %0, %2
  ret (), ()
}

func @c signature<0> closure() {
b0(%0: closure<0>):
  ret (), ()
}
)"});
  CHECK(after(text, takeFromCells) == withTakes(text, taken));
}

TEST_CASE("an arm that replaces what was read in front of it takes it for itself") {
  // b3 alone writes; what comes after the branch still has what was read.
  CHECK(after(R"(func @f signature<0> {
b0(%0: cell<0>, %1: bool, %2: i64):
  %3: array<0> = cell_read_ref %0
  branch %1, b1, b2
b1:
  branch %1, b3, b4
b2:
  jump b5
b3:
  %4: i64 = array_length %3
  %5: array<0> = array_push_scalar %3, %4
  cell_write_ref %0, %5
  jump b5
b4:
  jump b5
b5:
  ret (), (%3)
}
)",
              takeFromCells) == R"(func @f signature<0> {
b0(%0: cell<0>, %1: bool, %2: i64):
  %3: array<0> = cell_read_ref %0
  branch %1, b1, b2
b1:
  branch %1, b3, b4
b2:
  jump b5
b3:
  %6: array<0> = cell_take_ref %0
  %4: i64 = array_length %6
  %5: array<0> = array_push_scalar %6, %4
  cell_write_ref %0, %5
  jump b5
b4:
  jump b5
b5:
  ret (), (%3)
}
)");
  // A cell in a cell: each is taken under the name that it had before.
  CHECK(after(R"(func @f signature<0> {
b0(%0: cell<1>, %1: bool):
  %2: cell<0> = cell_read_ref %0
  %3: array<0> = cell_read_ref %2
  branch %1, b1, b2
b1:
  cell_write_ref %2, %3
  cell_write_ref %0, %2
  ret (), ()
b2:
  ret (), ()
}
)",
              takeFromCells) == R"(func @f signature<0> {
b0(%0: cell<1>, %1: bool):
  %2: cell<0> = cell_read_ref %0
  %3: array<0> = cell_read_ref %2
  branch %1, b1, b2
b1:
  %4: cell<0> = cell_take_ref %0
  %5: array<0> = cell_take_ref %2
  cell_write_ref %4, %5
  cell_write_ref %0, %4
  ret (), ()
b2:
  ret (), ()
}
)");
}

TEST_CASE("what an arm does not use, or is not in the cell any more, is not taken there") {
  const std::string text = GENERATE(as<std::string>{},
                                    // Not used.
                                    R"(func @f signature<0> {
b0(%0: cell<0>, %1: bool, %2: array<0>):
  %3: array<0> = cell_read_ref %0
  %4: i64 = array_length %3
  branch %1, b1, b2
b1:
  cell_write_ref %0, %2
  ret (%4), ()
b2:
  ret (%4), ()
}
)",
                                    // Written since, perhaps, as a cell of the same kind.
                                    R"(func @f signature<0> {
b0(%0: cell<0>, %1: cell<0>, %2: bool, %3: array<0>):
  %4: array<0> = cell_read_ref %0
  cell_write_ref %1, %3
  branch %2, b1, b2
b1:
  cell_write_ref %0, %4
  ret (), ()
b2:
  ret (), ()
}
)",
                                    // Written since, perhaps, by what was called.
                                    R"(func @f signature<0> {
b0(%0: cell<0>, %1: bool):
  %2: array<0> = cell_read_ref %0
  call @f, (%1), (%0)
  branch %1, b1, b2
b1:
  cell_write_ref %0, %2
  ret (), ()
b2:
  ret (), ()
}
)",
                                    // Written since, by the round before.
                                    R"(func @f signature<0> {
b0(%0: cell<0>, %1: bool, %2: array<0>):
  %3: array<0> = cell_read_ref %0
  jump b1
b1:
  branch %1, b2, b3
b2:
  %4: array<0> = array_push_ref %3, %3
  cell_write_ref %0, %4
  jump b1
b3:
  ret (), ()
}
)");
  CHECK(after(text, takeFromCells) == text);
}

}  // namespace
}  // namespace baton::lir
