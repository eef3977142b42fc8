#include "benchmarks/micro_programs.h"

#include <fmt/format.h>

#include "bytecode/container/writer.h"
#include "bytecode/vmasm/parser.h"
#ifdef BATON_BENCHMARKS_WITH_CODEGEN
#include "benchmarks/empty_kernel.h"
#endif

namespace baton::benchmarks {

namespace {

constexpr int kUnrolled = 64;
/// lt, branch, add: what one turn of any of these loops costs beside its body.
constexpr double kLoopInstructions = 3;

/// A program whose main(turns) runs `body` `turns` times; s1 counts, s2 is 1, s4.. are free.
std::string countedLoop(const std::string& tables, const std::string& setup, const std::string& body,
                        const std::string& teardown, int scalars, int references,
                        const std::string& functions = "") {
  return fmt::format(R"(vmasm 1
signature sig0 = (i64) -> (i64)
{}entry "main" @main {{
  param "turns" i64
  result i64
}}
fn @main (i64) -> (i64) regs s{} r{} {{
  s1 = const i64, 0
  s2 = const i64, 1
{}  jump b0
b0:
  s3 = lt.i64 s1, s0
  branch s3, b1, b2
b1:
{}  s1 = add.i64 s1, s2
  jump b0
b2:
{}  ret [s1], []
}}
{})",
                     tables, scalars, references, setup, body, teardown, functions);
}

Result<std::vector<std::byte>> assemble(const std::string& text) {
  BATON_TRY_ASSIGN(const bytecode::Program program, bytecode::parseVmasm(text));
  return bytecode::writeExecutable(program);
}

constexpr int kChains = 8;

/// Additions, each to the result of the one `chains` before.
std::string scalarBody(int chains) {
  std::string body;
  for (int i = 0; i < kUnrolled; ++i) body += fmt::format("  s{0} = add.i64 s{0}, s2\n", 4 + i % chains);
  return body;
}

std::string scalarSetup(int chains) {
  std::string setup;
  for (int i = 0; i < chains; ++i) setup += fmt::format("  s{} = const i64, 0\n", 4 + i);
  return setup;
}

#ifdef BATON_BENCHMARKS_WITH_CODEGEN
constexpr const char* kEmptyKernel = R"(kernel $empty compiled {
  symbol n = operand 0 axis 0
  input f32[n]
  input f32[n]
  input f32[n]
  input f32[n]
  input f32[n]
  output f32[n]
}
)";

std::string emptyKernelSetup() {
  std::string setup = "  s4 = const i64, 4\n";
  for (int i = 0; i < 6; ++i) setup += fmt::format("  r{} = alloc_tensor f32, 0, [s4]\n", i);
  return setup;
}

std::string emptyKernelTeardown() {
  std::string teardown;
  for (int i = 0; i < 6; ++i) teardown += fmt::format("  drop r{}!\n", i);
  return teardown;
}

/// Six references are taken (by moves that are not part of the figure), given to the kernel, and
/// dropped with it.
std::string emptyKernelBody() {
  std::string body;
  for (int i = 0; i < 6; ++i) body += fmt::format("  r{} = move r{}\n", 6 + i, i);
  return body + "  call_kernel $empty, [r6!, r7!, r8!, r9!, r10!], [r11!], []\n";
}
#endif

// Whole programs: main(turns) runs each `turns` times, and an item is one call or element of it.

constexpr double kFibCalls = 7'049'155;  ///< 2 * fib(33) - 1
constexpr const char* kFib = R"(fn @fib (i64) -> (i64) regs s4 r0 {
  s1 = const i64, 2
  s2 = lt.i64 s0, s1
  branch s2, b1, b0
b0:
  s2 = sub.i64 s0, s1
  s3 = const i64, 1
  s3 = sub.i64 s0, s3
  s3 = call @fib, [s3], []
  s2 = call @fib, [s2], []
  s0 = add.i64 s2, s3
  ret [s0], []
b1:
  ret [s0], []
}
)";

constexpr const char* kIncrement = R"(fn @increment closure [i64] (i64) -> (i64) regs s2 r1 {
  s1 = capture_scalar r0!, 0
  s0 = add.i64 s0, s1
  ret [s0], []
}
)";

constexpr double kListLength = 100'000;
constexpr const char* kListTables = R"(signature sig1 = (i64, i64) -> (i64)
type t0 = "List[int64]" list {
  "Cons" (i64 s0, adt<t0> r0)
  "Nil" ()
}
)";
constexpr const char* kListFunctions = R"(fn @build (i64) -> (adt<t0>) regs s4 r2 {
  s1 = const i64, 1
  s2 = const i64, 0
  r0 = make_adt 1, t0, [], []
  jump b0
b0:
  s3 = eq.i64 s0, s2
  branch s3, b2, b1
b1:
  s0 = sub.i64 s0, s1
  r1 = make_adt 0, t0, [r0!], [s0]
  r0 = move r1!
  jump b0
b2:
  ret [], [r0!]
}
fn @map (closure<sig0>, adt<t0>) -> (adt<t0>) regs s1 r3 {
  switch_tag r1, [b0, b1]
b0:
  s0 = get_field_scalar r1, 0, 0
  r1 = get_field_ref r1!, 0, 0
  r2 = move r0
  s0 = call_closure r2!, [s0], []
  r1 = call @map, [], [r0!, r1!]
  r1 = make_adt 0, t0, [r1!], [s0]
  ret [], [r1!]
b1:
  drop r0!
  ret [], [r1!]
}
fn @foldl (closure<sig1>, i64, adt<t0>) -> (i64) regs s2 r3 {
  jump b0
b0:
  switch_tag r1, [b1, b2]
b1:
  s1 = get_field_scalar r1, 0, 0
  r1 = get_field_ref r1!, 0, 0
  r2 = move r0
  s0 = call_closure r2!, [s0, s1], []
  jump b0
b2:
  drop r0!
  drop r1!
  ret [s0], []
}
fn @plus closure [] (i64, i64) -> (i64) regs s2 r1 {
  drop r0!
  s0 = add.i64 s0, s1
  ret [s0], []
}
)";

constexpr double kTreeNodes = (1 << 19) - 1;  ///< of 2^18 leaves
constexpr const char* kTreeTables = R"(type t0 = "Tree" {
  "Leaf" (i64 s0)
  "Node" (adt<t0> r0, adt<t0> r1)
}
)";
constexpr const char* kTreeFunctions = R"(fn @make (i64) -> (adt<t0>) regs s3 r2 {
  s1 = const i64, 0
  s2 = eq.i64 s0, s1
  s1 = const i64, 1
  branch s2, b1, b0
b0:
  s0 = sub.i64 s0, s1
  r0 = call @make, [s0], []
  r1 = call @make, [s0], []
  r0 = make_adt 1, t0, [r0!, r1!], []
  ret [], [r0!]
b1:
  r0 = make_adt 0, t0, [], [s1]
  ret [], [r0!]
}
fn @sum (adt<t0>) -> (i64) regs s2 r2 {
  switch_tag r0, [b0, b1]
b0:
  s0 = get_field_scalar r0!, 0, 0
  ret [s0], []
b1:
  r1 = get_field_ref r0, 1, 0
  r0 = get_field_ref r0!, 1, 1
  s0 = call @sum, [], [r1!]
  s1 = call @sum, [], [r0!]
  s0 = add.i64 s0, s1
  ret [s0], []
}
)";

}  // namespace

std::vector<MicroProgram> microPrograms() {
  std::vector<MicroProgram> programs;
  programs.push_back({"B9.scalar", "scalar instruction", 6, kUnrolled + kLoopInstructions + 1, 0, [] {
                        return assemble(
                            countedLoop("", scalarSetup(kChains), scalarBody(kChains), "", 4 + kChains, 0));
                      }});
  programs.push_back({"B9.chain", "scalar instruction that waits for the one before", std::nullopt,
                      kUnrolled + kLoopInstructions + 1, 0,
                      [] { return assemble(countedLoop("", scalarSetup(1), scalarBody(1), "", 5, 0)); }});
  programs.push_back({"B9.call", "call and return", 45, 1, kLoopInstructions + 1, [] {
                        return assemble(
                            countedLoop("", "", "  s4 = call @callee, [s1], []\n", "", 5, 0,
                                        "fn @callee (i64) -> (i64) regs s1 r0 {\n  ret [s0], []\n}\n"));
                      }});
  programs.push_back({"B9.adt", "data value, allocate and free", 60, 1, kLoopInstructions + 1, [] {
                        return assemble(countedLoop("type t0 = \"Box\" {\n  \"Box\" (i64 s0)\n}\n", "",
                                                    "  r0 = make_adt 0, t0, [], [s1]\n  drop r0!\n", "", 4,
                                                    1));
                      }});
#ifdef BATON_BENCHMARKS_WITH_CODEGEN
  programs.push_back({"B9.kernel", "empty kernel with six tensors", 120, 1, kLoopInstructions + 1 + 6, [] {
                        return assembleWithEmptyKernel(countedLoop(kEmptyKernel, emptyKernelSetup(),
                                                                   emptyKernelBody(), emptyKernelTeardown(),
                                                                   5, 12));
                      }});
#endif
  programs.push_back(
      {"B9.closure", "closure call and return", std::nullopt, 1, kLoopInstructions + 1 + 3, [] {
         return assemble(countedLoop("", "  r0 = make_closure @increment, [], [s2]\n",
                                     "  r1 = move r0\n  s4 = call_closure r1!, [s1], []\n", "  drop r0!\n", 5,
                                     2, kIncrement));
       }});
  programs.push_back({"B9.fib", "fib(32), a call", std::nullopt, kFibCalls, 0, [] {
                        return assemble(countedLoop("", "  s4 = const i64, 32\n",
                                                    "  s5 = call @fib, [s4], []\n", "", 6, 0, kFib));
                      }});
  const std::string list = "  s4 = const i64, 100000\n  r0 = call @build, [s4], []\n";
  programs.push_back({"B9.map", "map over 10^5 cells, an element", std::nullopt, kListLength, 0, [list] {
                        return assemble(countedLoop(
                            kListTables, list + "  r1 = make_closure @increment, [], [s2]\n",
                            "  r2 = move r0\n  r3 = move r1\n  r2 = call @map, [], [r3!, r2!]\n  drop r2!\n",
                            "  drop r0!\n  drop r1!\n", 5, 4, std::string(kIncrement) + kListFunctions));
                      }});
  programs.push_back(
      {"B9.foldl", "foldl over 10^5 cells, an element", std::nullopt, kListLength, 0, [list] {
         return assemble(countedLoop(kListTables, list + "  r1 = make_closure @plus, [], []\n",
                                     "  r2 = move r0\n  r3 = move r1\n  s4 = call @foldl, [s1], [r3!, r2!]\n",
                                     "  drop r0!\n  drop r1!\n", 5, 4, kListFunctions));
       }});
  programs.push_back({"B9.tree", "sum of a tree of 2^18 leaves, a node", std::nullopt, kTreeNodes, 0, [] {
                        return assemble(countedLoop(kTreeTables,
                                                    "  s4 = const i64, 18\n  r0 = call @make, [s4], []\n",
                                                    "  r1 = move r0\n  s4 = call @sum, [], [r1!]\n",
                                                    "  drop r0!\n", 5, 2, kTreeFunctions));
                      }});
  return programs;
}

}  // namespace baton::benchmarks
