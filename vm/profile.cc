#include "vm/profile.h"

#include <algorithm>

#include "vm/executable.h"

namespace baton::vm {

Profile::Profile(const Executable& executable)
    : executable_(executable),
      functions_(executable.program().functions.size()),
      kernels_(executable.program().kernels.size()) {}

void Profile::charge(Clock::time_point now) {
  if (current_ != kNone) functions_[current_].nanoseconds += std::chrono::nanoseconds(now - since_).count();
  since_ = now;
}

void Profile::begin() {
  since_ = Clock::now();
  current_ = kNone;
}

void Profile::end() {
  charge(Clock::now());
  current_ = kNone;
}

void Profile::onInstruction(const FunctionCode& function, const uint64_t* pc) {
  const uint32_t index = executable_.functionIndex(function);
  Entry& entry = functions_[index];
  ++entry.instructionCount;
  if (pc == function.code) ++entry.count;
  if (index == current_) return;
  charge(Clock::now());
  current_ = index;
}

void Profile::onKernel(uint32_t kernel, uint64_t nanoseconds) {
  ++kernels_[kernel].count;
  kernels_[kernel].nanoseconds += static_cast<int64_t>(nanoseconds);
  // It is inside the time of the function that called it.
  if (current_ != kNone) functions_[current_].nanoseconds -= static_cast<int64_t>(nanoseconds);
}

std::vector<Profile::Row> Profile::rows() const {
  std::vector<Row> rows;
  const auto add = [&](bool isKernel, const std::string& name, const Entry& entry) {
    if (entry.count == 0 && entry.instructionCount == 0) return;
    rows.push_back({isKernel, &name, entry.count,
                    static_cast<uint64_t>(std::max<int64_t>(entry.nanoseconds, 0)), entry.instructionCount});
  };
  const bytecode::Program& program = executable_.program();
  for (size_t i = 0; i < functions_.size(); ++i) add(false, program.functions[i].name, functions_[i]);
  for (size_t i = 0; i < kernels_.size(); ++i) add(true, program.kernels[i].name, kernels_[i]);
  std::ranges::stable_sort(rows, std::greater(), &Row::nanoseconds);
  return rows;
}

void Profile::reset() {
  std::ranges::fill(functions_, Entry{});
  std::ranges::fill(kernels_, Entry{});
}

}  // namespace baton::vm
