#include "tests/unit/kernels/schedule_kernels.h"

#include <catch2/catch.hpp>

#include "kernels/loop/parser.h"
#include "kernels/loop/printer.h"
#include "kernels/loop/verifier.h"
#include "kernels/schedule/schedule.h"

namespace baton::schedule::test {

loop::Kernel kernelOf(const std::string& text) {
  Result<loop::Kernel> kernel = loop::parseKernel(text);
  if (!kernel.has_value()) FAIL(kernel.assume_error().message() << "\n" << text);
  const Result<void> verified = loop::verify(kernel.assume_value());
  if (!verified.has_value()) FAIL(verified.assume_error().message() << "\n" << text);
  return std::move(kernel).assume_value();
}

std::string applied(const std::string& kernel, const std::string& text) {
  const Result<Schedule> schedule = parse(text);
  if (!schedule.has_value()) return schedule.assume_error().message();
  const Result<loop::Kernel> result = schedule::apply(kernelOf(kernel), schedule.assume_value());
  if (!result.has_value()) {
    CHECK(result.assume_error().code() == ErrorCode::InvalidArgument);
    return result.assume_error().message();
  }
  const std::string printed = loop::print(result.assume_value());
  CHECK(loop::print(kernelOf(printed)) == printed);
  for (size_t at = printed.find('\n') + 1;; at = printed.find('\n', at) + 1) {
    const std::string word = printed.substr(at + 2, printed.find(' ', at + 2) - at - 2);
    const bool isDeclaration = word == "symbol" || word == "input" || word == "output" || word == "message" ||
                               word == "scratch" || word == "scalar_output";
    if (!isDeclaration) return printed.substr(at);
  }
}

std::string replaced(std::string text, const std::string& part, const std::string& by) {
  const size_t at = text.find(part);
  REQUIRE(at != std::string::npos);
  return text.replace(at, part.size(), by);
}

}  // namespace baton::schedule::test
