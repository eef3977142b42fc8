// Decides whether a block can be executed in lanes, and how each of its values varies over
// them: the same in all, growing by a constant, or freely.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "kernels/loop/kernel.h"

namespace baton::codegen {

class LaneAnalysis {
 public:
  static LaneAnalysis of(const loop::Kernel& kernel, loop::BlockId block, loop::NodeId laneVar);

  /// False when lanes could not give what one iteration after the other gives.
  bool isVectorizable() const { return reason_ == nullptr; }
  /// Why not, for people.
  const char* reason() const { return reason_; }

  /// How much an i64 value grows from lane to lane; 0: the same in all lanes (any type);
  /// nothing: each lane has its own.
  std::optional<int64_t> stride(loop::NodeId id) const {
    const int64_t stride = strides_[id.value()];
    return stride == kFree ? std::nullopt : std::optional(stride);
  }

  /// Whether masked accesses are cheap: no element narrower than 32 bits is touched.
  bool hasCheapMasks() const { return hasCheapMasks_; }
  /// Whether there is a reduction inside: large already, and with enough to do at once.
  bool hasReduction() const { return hasReduction_; }
  /// Whether the body is short enough to be repeated for each of several registers.
  bool isLight() const { return nodeCount_ <= 16; }
  /// Nodes in the block and those nested in it.
  uint32_t nodeCount() const { return nodeCount_; }

 private:
  static constexpr int64_t kFree = INT64_MIN;

  explicit LaneAnalysis(const loop::Kernel& kernel)
      : k_(kernel), strides_(kernel.nodes.size(), 0), perLane_(kernel.locals.size(), false) {}
  void block(loop::BlockId id);
  void statement(loop::NodeId id);
  void access(loop::NodeId id, const loop::Node& node, bool isLocal, bool stores);
  int64_t valueStride(const loop::Node& node) const;
  bool isUniform(loop::NodeId id) const { return strides_[id.value()] == 0; }
  void reject(const char* reason) {
    if (reason_ == nullptr) reason_ = reason;
  }

  const loop::Kernel& k_;
  std::vector<int64_t> strides_;
  std::vector<bool> perLane_;  ///< locals declared inside, which exist once in each lane
  const char* reason_ = nullptr;
  bool hasCheapMasks_ = true;
  bool hasReduction_ = false;
  uint32_t nodeCount_ = 0;
};

}  // namespace baton::codegen
