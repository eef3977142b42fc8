#include "kernels/schedule/accesses.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

namespace baton::schedule {

std::map<uint32_t, std::vector<Access>> accessesIn(const Editor& editor, BlockId block) {
  std::map<uint32_t, std::vector<Access>> all;
  for (const NodeId id : editor.allIn(block)) {
    const Node& node = editor.node(id);
    if (node.op != Op::Load && node.op != Op::Store) continue;
    auto ids = editor.kernel().operandsOf(node);
    if (node.op == Op::Store) ids = ids.first(ids.size() - 1);
    Access access{id, node.op == Op::Store, {}};
    for (const NodeId index : ids) access.indices.push_back(affineOf(editor, index));
    all[node.target].push_back(std::move(access));
  }
  return all;
}

namespace {

/// An index in a loop: coefficient * variable + what is the same in all iterations + what differs inside of
/// one.
struct IndexInLoop {
  int64_t coefficient = 0;
  std::map<NodeId, int64_t> same;
  std::optional<Range> within;  ///< nothing: it may be anything
};

IndexInLoop splitIndex(const Editor& editor, const Affine& index, NodeId loop) {
  IndexInLoop result;
  Affine within{{}, index.constant};
  for (const auto& [value, coefficient] : index.terms) {
    if (value == editor.varOf(loop))
      result.coefficient = coefficient;
    else if (editor.isMadeIn(value, editor.bodyOf(loop)))
      within.terms.emplace(value, coefficient);
    else
      result.same.emplace(value, coefficient);
  }
  const Range range = rangeOf(editor, within);
  if (range.low && range.high) result.within = range;
  return result;
}

/// Whether no two iterations touch one element: along an axis, all go on in equal steps, and what they
/// touch within a step does not reach the next one.
bool areApart(const Editor& editor, const std::vector<Access>& accesses, size_t axis, NodeId loop) {
  const IndexInLoop first = splitIndex(editor, accesses[0].indices[axis], loop);
  if (first.coefficient == 0 || first.coefficient == INT64_MIN || !first.within) return false;
  Range all = *first.within;
  for (const Access& access : accesses) {
    const IndexInLoop other = splitIndex(editor, access.indices[axis], loop);
    if (other.coefficient != first.coefficient || other.same != first.same || !other.within) return false;
    all.low = std::min(*all.low, *other.within->low);
    all.high = std::max(*all.high, *other.within->high);
  }
  int64_t width = 0;
  return !__builtin_sub_overflow(*all.high, *all.low, &width) && width < std::abs(first.coefficient);
}

}  // namespace

Result<void> checkIndependent(const Editor& editor, NodeId loop) {
  const Kernel& kernel = editor.kernel();
  const auto dependent = [&](const std::string& why) {
    return Error(ErrorCode::InvalidArgument, fmt::format("the iterations of loop {} depend on each other: {}",
                                                         loop::loopName(kernel, editor.node(loop)), why));
  };
  std::set<uint32_t> own;
  for (const NodeId id : editor.allIn(editor.bodyOf(loop))) {
    const Node& node = editor.node(id);
    if (node.op == Op::Local) own.insert(node.target);
    if ((node.op == Op::GetLocal || node.op == Op::SetLocal) && !own.contains(node.target))
      return dependent("they share a local");
    if (node.op == Op::SetScalar) return dependent("a scalar output is set");
  }
  // Buffers that may share memory count as one.
  std::map<uint32_t, std::vector<Access>> all = accessesIn(editor, editor.bodyOf(loop));
  const auto inputs = static_cast<uint32_t>(kernel.descriptor.inputs.size());
  for (uint32_t output = 0; output < kernel.descriptor.outputs.size(); ++output)
    for (const uint32_t input : kernel.descriptor.outputs[output].mayAlias)
      if (all.contains(inputs + output) && all.contains(input)) {
        std::vector<Access>& joined = all[inputs + output];
        joined.insert(joined.end(), all[input].begin(), all[input].end());
      }
  for (const auto& [buffer, accesses] : all) {
    if (std::none_of(accesses.begin(), accesses.end(), [](const Access& access) { return access.isStore; }))
      continue;
    bool found = false;
    for (size_t axis = 0; axis < accesses[0].indices.size() && !found; ++axis)
      found = std::all_of(accesses.begin(), accesses.end(),
                          [&](const Access& access) { return axis < access.indices.size(); }) &&
              areApart(editor, accesses, axis, loop);
    if (!found) return dependent("two may touch one element of a buffer, and one writes it");
  }
  return success();
}

}  // namespace baton::schedule
