// Error and Result: how everything that can fail says so. An Error carries a code, a
// message that names what was found and what was expected, the program location it
// belongs to, and the trail through our own code. No exception crosses a library.
#pragma once

#include <cstdint>
#include <memory>
#include <source_location>
#include <string>
#include <utility>
#include <vector>

#include <boost/outcome/basic_result.hpp>
#include <boost/outcome/policy/all_narrow.hpp>

namespace baton {

/// What kind of failure it is. Values are stable: the C API and exit codes depend on them.
enum class ErrorCode : int32_t {
  InvalidArgument = 1,   ///< the caller passed something that the function does not accept
  Io = 2,                ///< a file could not be opened, read or written
  Malformed = 3,         ///< bytes or text that do not follow their format
  Incompatible = 4,      ///< well formed, but for another version, CPU or process
  VerifyFailed = 5,      ///< a program that breaks a rule of the verifier
  OutOfMemory = 6,       ///< the machine or a device refused memory
  LimitReached = 7,      ///< a limit set for this call: memory, instructions or depth
  DeadlineExceeded = 8,  ///< the deadline of this call has passed
  Cancelled = 9,         ///< somebody cancelled this call
  ProgramError = 10,     ///< the program itself failed: a check, a tag, a shape, a division
  CompileError = 11,     ///< program text that cannot be compiled
  Unsupported = 12,      ///< understood, but not available in this build or on this machine
  Internal = 70,         ///< a defect of ours
};

/// Lower-case name of a code, for messages: "program error".
const char* errorCodeName(ErrorCode code);

/// A place in the program that was running, innermost frame first.
struct ProgramLocation {
  std::string function;
  uint32_t pc = 0;   ///< word offset inside the function
  std::string file;  ///< empty when the program has no debug section
  uint32_t line = 0;
  uint32_t column = 0;
};

/// A failure. Cheap to move, not copyable by accident: see clone().
class [[nodiscard]] Error {
 public:
  Error(ErrorCode code, std::string message, std::source_location where = std::source_location::current());

  /// No error: only Result's internals need it; every accessor requires a real one.
  Error() = default;
  Error(Error&&) noexcept = default;
  Error& operator=(Error&&) noexcept = default;

  ErrorCode code() const { return payload_->code; }
  const std::string& message() const { return payload_->message; }
  /// Frames of the running program, innermost first; empty outside a run.
  const std::vector<ProgramLocation>& programTrail() const { return payload_->programTrail; }
  /// Places in our code that the error passed, innermost first.
  const std::vector<std::source_location>& trail() const { return payload_->trail; }

  /// Adds a place in our code; used by BATON_TRY.
  Error& passed(std::source_location where) &;
  /// Adds a frame of the running program.
  Error& at(ProgramLocation location) &;
  /// Puts `context: ` before the message, e.g. the file that was being read.
  Error withContext(const std::string& context) &&;
  Error clone() const;

  /// "code: message" and the program trail, one frame a line; equal frames in a row are one.
  std::string describe() const;

 private:
  struct Payload {
    ErrorCode code;
    std::string message;
    std::vector<ProgramLocation> programTrail;
    std::vector<std::source_location> trail;
  };
  std::unique_ptr<Payload> payload_;
};

template <class T>
using Result = boost::outcome_v2::basic_result<T, Error, boost::outcome_v2::policy::all_narrow>;

/// `return success();` from a function that returns Result<void>.
inline auto success() { return boost::outcome_v2::success(); }

[[noreturn]] void checkFailed(const char* condition, std::source_location where);

}  // namespace baton

#define BATON_CONCAT_INNER(a, b) a##b
#define BATON_CONCAT(a, b) BATON_CONCAT_INNER(a, b)

/// Evaluates an expression of type Result<...>; on failure returns its error, with this
/// place added to the trail.
#define BATON_TRY(expr)                                                    \
  do {                                                                     \
    auto batonResult_ = (expr);                                            \
    if (!batonResult_.has_value()) [[unlikely]] {                          \
      batonResult_.assume_error().passed(std::source_location::current()); \
      return std::move(batonResult_).assume_error();                       \
    }                                                                      \
  } while (false)

/// `BATON_TRY_ASSIGN(auto x, f());`: x is the value of f(), or this function returns its error.
#define BATON_TRY_ASSIGN(declaration, expr) \
  BATON_TRY_ASSIGN_INNER(BATON_CONCAT(batonResult_, __LINE__), declaration, expr)
#define BATON_TRY_ASSIGN_INNER(result, declaration, expr)          \
  auto result = (expr);                                            \
  if (!result.has_value()) [[unlikely]] {                          \
    result.assume_error().passed(std::source_location::current()); \
    return std::move(result).assume_error();                       \
  }                                                                \
  declaration = std::move(result).assume_value()

/// For invariants of our own code only; no input bytes may reach a failing check.
#define BATON_CHECK(condition)                                           \
  do {                                                                   \
    if (!(condition)) [[unlikely]]                                       \
      ::baton::checkFailed(#condition, std::source_location::current()); \
  } while (false)

#ifdef BATON_INTERNAL_CHECKS
#define BATON_DCHECK(condition) BATON_CHECK(condition)
#else
#define BATON_DCHECK(condition) static_cast<void>(sizeof(!(condition)))
#endif
