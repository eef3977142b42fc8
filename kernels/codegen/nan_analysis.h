// Whether it can be seen which of the NaNs a value is. Where a float is read as an integer, or for its
// sign, loop IR wants the canonical NaN; mostly what is computed with it is NaN in any case, as in exp,
// and then any will do.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "kernels/loop/kernel.h"

namespace baton::codegen {

class NanAnalysis {
 public:
  explicit NanAnalysis(const loop::Kernel& kernel);

  /// Of a Bitcast to an integer or a CopySign: whether a NaN among the bits or signs that it reads must
  /// be the canonical one.
  bool needsCanonical(loop::NodeId id) const;

 private:
  /// What a value is when another one is NaN, as far as that is known.
  enum class Known : uint8_t { Nothing, Nan, False, True };
  using Facts = std::unordered_map<uint32_t, Known>;

  Facts whereNan(loop::NodeId value) const;
  Known knownOf(const loop::Node& node, const Facts& facts) const;
  const std::vector<loop::NodeId>& usersOf(loop::NodeId id) const { return users_[id.value()]; }

  const loop::Kernel& k_;
  std::vector<std::vector<loop::NodeId>> users_;
};

}  // namespace baton::codegen
