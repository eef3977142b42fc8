#include <catch2/catch.hpp>

#include "compiler/emit/emit.h"
#include "compiler/lir/cfg.h"
#include "compiler/lir/parser.h"
#include "compiler/lir/passes/passes.h"

namespace baton::emit {
namespace {

lir::Module scalarModule(std::string_view text) {
  Result<lir::Module> parsed = lir::parseModule(text);
  if (!parsed.has_value()) FAIL(parsed.assume_error().message());
  lir::Module module = std::move(parsed).assume_value();
  const lir::Kind i64 = lir::Kind::scalar(DType::I64);
  module.tables.signatures = {{{i64}, {i64}}};
  for (lir::Function& function : module.functions) {
    lir::layOutBlocks(function);
    lir::markLastUses(function);
    REQUIRE(lir::allocateRegisters(function).has_value());
  }
  return module;
}

constexpr const char* kTwice = R"(func @twice signature<0> {
b0(%0: i64):
  %1: i64 = add.i64 %0, %0
  ret (%1), ()
}
)";

TEST_CASE("functions, meta and debug positions reach the program") {
  lir::Module module = scalarModule(kTwice);
  module.files = {"unused.relay", "a.relay"};
  module.names = {"", "unused", "add"};
  module.functions[0].blocks[0].instructions[0].location = {1, 3, 5};
  module.functions[0].blocks[0].instructions[0].name = lir::NameId(2);
  EmitOptions options;
  options.cpuLevels = {"native"};
  options.meta.name = "m";
  Result<bytecode::Program> result = emit(std::move(module), options);
  if (!result.has_value()) FAIL(result.assume_error().message());
  const bytecode::Program& program = result.assume_value();
  CHECK(program.meta.name == "m");
  REQUIRE(program.functions.size() == 1);
  CHECK(program.functions[0].name == "twice");
  CHECK(program.functions[0].scalarRegisterCount == 1);
  CHECK(program.functions[0].referenceRegisterCount == 0);
  CHECK(program.functions[0].codeSize == program.code.size());
  CHECK(program.images.empty());  // no kernels: nothing to compile
  CHECK(program.debug.files == std::vector<std::string>{"a.relay"});
  CHECK(program.debug.names == std::vector<std::string>{"", "add"});
  REQUIRE(!program.debug.positions.empty());
  CHECK(program.debug.positions[0].line == 3);
  CHECK(program.debug.positions[0].name == 1);
}

TEST_CASE("code that breaks a rule of the verifier never gets out") {
  lir::Module module = scalarModule(kTwice);
  module.tables.signatures[0].results[0] = lir::Kind::scalar(DType::F32);
  Result<bytecode::Program> result = emit(std::move(module), {});
  REQUIRE(!result.has_value());
  CHECK(result.assume_error().code() == ErrorCode::Internal);
  CHECK_THAT(result.assume_error().message(), Catch::Contains("does not verify") && Catch::Contains("twice"));
}

}  // namespace
}  // namespace baton::emit
