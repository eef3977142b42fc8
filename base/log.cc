#include "base/log.h"

#include <spdlog/logger.h>
#include <spdlog/sinks/stdout_sinks.h>

namespace baton {

namespace {

spdlog::level::level_enum spdlogLevel(LogLevel level) {
  switch (level) {
    case LogLevel::Trace: return spdlog::level::trace;
    case LogLevel::Debug: return spdlog::level::debug;
    case LogLevel::Info: return spdlog::level::info;
    case LogLevel::Warning: return spdlog::level::warn;
    case LogLevel::Error: return spdlog::level::err;
  }
  return spdlog::level::err;
}

class SpdlogSink final : public LogSink {
 public:
  SpdlogSink(std::string_view name, LogLevel lowest)
      : logger_(std::string(name), std::make_shared<spdlog::sinks::stderr_sink_mt>()), lowest_(lowest) {
    logger_.set_level(spdlog::level::trace);
    logger_.set_pattern("%n: %l: %v");
    logger_.flush_on(spdlog::level::trace);
  }

  void write(LogLevel level, std::string_view message) noexcept override {
    if (!wants(level)) return;
    logger_.log(spdlogLevel(level), spdlog::string_view_t(message.data(), message.size()));
  }
  bool wants(LogLevel level) const noexcept override { return level >= lowest_; }

 private:
  spdlog::logger logger_;
  LogLevel lowest_;
};

}  // namespace

const char* logLevelName(LogLevel level) {
  switch (level) {
    case LogLevel::Trace: return "trace";
    case LogLevel::Debug: return "debug";
    case LogLevel::Info: return "info";
    case LogLevel::Warning: return "warning";
    case LogLevel::Error: return "error";
  }
  return "unknown";
}

std::unique_ptr<LogSink> makeStderrLogSink(std::string_view name, LogLevel lowest) {
  return std::make_unique<SpdlogSink>(name, lowest);
}

}  // namespace baton
