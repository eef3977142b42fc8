// Where libraries say what they have to say: never on standard error by themselves, always
// to the sink that whoever embeds them passed in.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

namespace baton {

/// Values are in the C API: append only.
enum class LogLevel : uint8_t { Trace = 0, Debug = 1, Info = 2, Warning = 3, Error = 4 };

const char* logLevelName(LogLevel level);  ///< "warning"

/// Implementations are thread-safe and do not throw.
class LogSink {
 public:
  virtual ~LogSink() = default;
  /// One message without a newline at its end.
  virtual void write(LogLevel level, std::string_view message) noexcept = 0;
  /// Whether messages of this level go anywhere; saves making them.
  virtual bool wants(LogLevel level) const noexcept = 0;
};

/// Drops everything.
class NullLogSink final : public LogSink {
 public:
  void write(LogLevel, std::string_view) noexcept override {}
  bool wants(LogLevel) const noexcept override { return false; }
};

/// Writes "name: level: message" lines to standard error, through spdlog. For commands.
std::unique_ptr<LogSink> makeStderrLogSink(std::string_view name, LogLevel lowest);

}  // namespace baton
