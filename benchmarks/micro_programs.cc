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
  return programs;
}

}  // namespace baton::benchmarks
