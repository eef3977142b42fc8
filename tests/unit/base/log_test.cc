#include "base/log.h"

#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdio>
#include <string>

namespace baton {
namespace {

TEST_CASE("the stderr sink writes wanted messages as one line each") {
  std::FILE* file = std::tmpfile();
  REQUIRE(file != nullptr);
  const int saved = dup(STDERR_FILENO);
  REQUIRE(dup2(fileno(file), STDERR_FILENO) >= 0);
  {
    const auto sink = makeStderrLogSink("vm-run", LogLevel::Warning);
    CHECK(sink->wants(LogLevel::Error));
    CHECK_FALSE(sink->wants(LogLevel::Info));
    sink->write(LogLevel::Info, "not this");
    sink->write(LogLevel::Warning, "slow {} path");
  }
  dup2(saved, STDERR_FILENO);
  close(saved);
  std::rewind(file);
  char buffer[200] = {};
  const size_t size = std::fread(buffer, 1, sizeof buffer, file);
  std::fclose(file);
  CHECK(std::string(buffer, size) == "vm-run: warning: slow {} path\n");
  CHECK(std::string(logLevelName(LogLevel::Warning)) == "warning");
  CHECK_FALSE(NullLogSink().wants(LogLevel::Error));
}

}  // namespace
}  // namespace baton
