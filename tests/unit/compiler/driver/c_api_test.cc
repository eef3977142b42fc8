#include <catch2/catch.hpp>

#include <cstring>
#include <string>

#include "baton/compiler.h"

namespace {

struct Compilation {
  baton_compile_status status;
  baton_compilation* handle = nullptr;
  ~Compilation() { baton_compilation_release(handle); }
  std::string output() const {
    size_t size = 0;
    const void* data = baton_compilation_output(handle, &size);
    return data == nullptr ? "" : std::string(static_cast<const char*>(data), size);
  }
};

Compilation compileText(const char* text, const baton_compile_options* options = nullptr) {
  const baton_compile_source source{"test.relay", text, std::strlen(text)};
  Compilation result;
  result.status = baton_compile(&source, options, &result.handle);
  return result;
}

constexpr const char* kGood = "def @main(%x: int64) -> int64 { %x + 1i64 }";

TEST_CASE("bytes come out, and text with a zero behind it") {
  const Compilation executable = compileText(kGood);
  CHECK(executable.status == BATON_COMPILE_OK);
  CHECK(executable.output().size() > 100);
  CHECK(baton_compilation_diagnostic_count(executable.handle) == 0);
  CHECK(std::string(baton_compilation_error(executable.handle)).empty());

  baton_compile_options options = BATON_COMPILE_OPTIONS_INIT;
  options.emit = BATON_COMPILE_EMIT_LIR;
  const Compilation lir = compileText(kGood, &options);
  CHECK(lir.status == BATON_COMPILE_OK);
  size_t size = 0;
  const char* text = static_cast<const char*>(baton_compilation_output(lir.handle, &size));
  REQUIRE(text != nullptr);
  CHECK(std::strlen(text) == size);
  CHECK_THAT(text, Catch::Contains("add.i64"));
}

TEST_CASE("diagnostics are structured") {
  const Compilation bad = compileText("def @main(%x: int64) -> int64 {\n  %x + %nothing\n}");
  CHECK(bad.status == BATON_COMPILE_ERRORS);
  CHECK(bad.output().empty());
  REQUIRE(baton_compilation_diagnostic_count(bad.handle) >= 1);
  baton_compile_diagnostic diagnostic{};
  diagnostic.struct_size = sizeof(diagnostic);
  REQUIRE(baton_compilation_diagnostic(bad.handle, 0, &diagnostic) == BATON_COMPILE_OK);
  CHECK(diagnostic.severity == BATON_COMPILE_SEVERITY_ERROR);
  CHECK(std::string(diagnostic.file) == "test.relay");
  CHECK(diagnostic.line == 2);
  CHECK(diagnostic.column == 8);
  CHECK_THAT(diagnostic.rendered, Catch::Contains("test.relay:2:8") && Catch::Contains("^"));
  CHECK(baton_compilation_diagnostic(bad.handle, 1000, &diagnostic) == BATON_COMPILE_INVALID_ARGUMENT);
}

TEST_CASE("arguments are checked") {
  baton_compilation* out = nullptr;
  CHECK(baton_compile(nullptr, nullptr, &out) == BATON_COMPILE_INVALID_ARGUMENT);
  CHECK(out != nullptr);
  baton_compilation_release(out);
  CHECK(baton_compile(nullptr, nullptr, nullptr) == BATON_COMPILE_INVALID_ARGUMENT);
  baton_compilation_release(nullptr);
  CHECK(baton_compilation_output(nullptr, nullptr) == nullptr);

  baton_compile_options options = BATON_COMPILE_OPTIONS_INIT;
  options.flags = 1u << 30;
  const Compilation flags = compileText(kGood, &options);
  CHECK(flags.status == BATON_COMPILE_INVALID_ARGUMENT);
  CHECK(std::string(baton_compilation_error(flags.handle)) == "unknown flags");
  options = BATON_COMPILE_OPTIONS_INIT;
  options.level = 9;
  CHECK(compileText(kGood, &options).status == BATON_COMPILE_INVALID_ARGUMENT);
}

TEST_CASE("a caller that knows less of the options gets defaults for the rest") {
  baton_compile_options options = BATON_COMPILE_OPTIONS_INIT;
  options.struct_size = offsetof(baton_compile_options, emit);
  options.emit = static_cast<baton_compile_emit>(99);
  CHECK(compileText(kGood, &options).status == BATON_COMPILE_OK);
}

TEST_CASE("the version is the project's") { CHECK(std::string(baton_compiler_version()) == "0.1.0"); }

}  // namespace
