#include "kernels/schedule/accesses.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

namespace baton::schedule {

namespace {

/// Of buffers, or of locals.
std::map<uint32_t, std::vector<Access>> accessesIn(const Editor& editor, BlockId block, Op read, Op write) {
  std::map<uint32_t, std::vector<Access>> all;
  for (const NodeId id : editor.allIn(block)) {
    const Node& node = editor.node(id);
    if (node.op != read && node.op != write) continue;
    auto ids = editor.kernel().operandsOf(node);
    if (node.op == write) ids = ids.first(ids.size() - 1);
    Access access{id, node.op == write, {}};
    for (const NodeId index : ids) access.indices.push_back(affineOf(editor, index));
    all[node.target].push_back(std::move(access));
  }
  return all;
}

}  // namespace

std::map<uint32_t, std::vector<Access>> accessesIn(const Editor& editor, BlockId block) {
  return accessesIn(editor, block, Op::Load, Op::Store);
}

bool mayShareMemory(const Kernel& kernel, uint32_t a, uint32_t b) {
  if (a == b) return true;
  const auto inputs = static_cast<uint32_t>(kernel.descriptor.inputs.size());
  if (a < b) std::swap(a, b);
  if (a < inputs || a - inputs >= kernel.descriptor.outputs.size()) return false;
  const std::vector<uint32_t>& aliases = kernel.descriptor.outputs[a - inputs].mayAlias;
  return std::find(aliases.begin(), aliases.end(), b) != aliases.end();
}

bool mayFail(const Kernel& kernel, const Node& node) {
  if (!isIntegerDivision(node.op)) return node.op == Op::Fail;
  return node.target != loop::kNoMessage &&
         kernel.descriptor.messages[node.target] != loop::kZeroExtentMessage;
}

namespace {

/// A loop, and the block of what may differ between two of its iterations.
struct Iterations {
  NodeId loop;
  BlockId varying;
  std::set<NodeId> fixed = {};  ///< values in it that do not differ between the two
};

/// An index in a loop: coefficient * variable + what is the same in all iterations + what differs inside of
/// one.
struct IndexInLoop {
  int64_t coefficient = 0;
  std::map<NodeId, int64_t> same;
  std::optional<Range> within;  ///< nothing: it may be anything
};

/// `var` is the variable of the loop, or what a division leaves of it.
IndexInLoop splitIndex(const Editor& editor, const Affine& index, const Iterations& in, NodeId var) {
  IndexInLoop result;
  Affine within{{}, index.constant};
  for (const auto& [value, coefficient] : index.terms) {
    if (value == var)
      result.coefficient = coefficient;
    else if (!in.fixed.contains(value) && editor.isMadeIn(value, in.varying))
      within.terms.emplace(value, coefficient);
    else
      result.same.emplace(value, coefficient);
  }
  const Range range = rangeOf(editor, within);
  if (range.low && range.high) result.within = range;
  return result;
}

/// Indices along two axes that are the quotient and the remainder of one division tell what was divided:
/// that is the index along one more axis.
void joinDivisions(const Editor& editor, const Iterations& in, std::vector<Affine>& indices) {
  const auto divisionOf = [&](const Affine& index, Op op) -> std::optional<Nodes> {
    if (index.constant != 0 || index.terms.size() != 1 || index.terms.begin()->second != 1) return {};
    const NodeId value = index.terms.begin()->first;
    if (editor.node(value).op != op) return {};
    const auto ids = editor.kernel().operandsOf(value);
    if (editor.isMadeIn(ids[1], in.varying)) return {};
    return Nodes(ids.begin(), ids.end());
  };
  for (size_t known = 0; known != indices.size();) {
    known = indices.size();
    for (size_t axis = 0; axis < known; ++axis)
      for (size_t other = 0; other < known; ++other) {
        const std::optional<Nodes> quotient = divisionOf(indices[axis], Op::FloorDiv);
        if (!quotient || quotient != divisionOf(indices[other], Op::FloorMod)) continue;
        Affine divided = affineOf(editor, (*quotient)[0]);
        if (std::find(indices.begin(), indices.end(), divided) == indices.end())
          indices.push_back(std::move(divided));
      }
  }
}

/// Whether iterations that differ in `var` touch different elements: along an axis, they go on in equal
/// steps, and what is touched within a step does not reach the next one.
bool areApart(const Editor& editor, const std::vector<Access>& accesses, size_t axis, const Iterations& in,
              NodeId var) {
  const IndexInLoop first = splitIndex(editor, accesses[0].indices[axis], in, var);
  if (first.coefficient == 0 || first.coefficient == INT64_MIN || !first.within) return false;
  Range all = *first.within;
  for (const Access& access : accesses) {
    const IndexInLoop other = splitIndex(editor, access.indices[axis], in, var);
    if (other.coefficient != first.coefficient || other.same != first.same || !other.within) return false;
    all.low = std::min(*all.low, *other.within->low);
    all.high = std::max(*all.high, *other.within->high);
  }
  int64_t width = 0;
  return !__builtin_sub_overflow(*all.high, *all.low, &width) && width < std::abs(first.coefficient);
}

/// The same along any axis. Values that differ, as those of two fused loops, do so in their quotients by a
/// third one, or have one quotient and differ in their remainders.
bool areApart(const Editor& editor, const std::vector<Access>& accesses, const Iterations& in, NodeId var) {
  size_t axes = SIZE_MAX;
  for (const Access& access : accesses) axes = std::min(axes, access.indices.size());
  for (size_t axis = 0; axis < axes; ++axis)
    if (areApart(editor, accesses, axis, in, var)) return true;
  const auto isDivision = [&](NodeId id, Op op) {
    return editor.node(id).op == op && editor.kernel().operandsOf(id)[0] == var;
  };
  const Nodes& nodes = editor.nodesOf(editor.bodyOf(in.loop));
  for (const NodeId quotient : nodes) {
    if (!isDivision(quotient, Op::FloorDiv)) continue;
    const NodeId divisor = editor.kernel().operandsOf(quotient)[1];
    if (editor.isMadeIn(divisor, in.varying)) continue;
    Iterations ofOneQuotient = in;
    ofOneQuotient.fixed.insert(quotient);
    for (const NodeId remainder : nodes)
      if (isDivision(remainder, Op::FloorMod) && editor.kernel().operandsOf(remainder)[1] == divisor &&
          areApart(editor, accesses, in, quotient) && areApart(editor, accesses, ofOneQuotient, remainder))
        return true;
  }
  return false;
}

bool areApart(const Editor& editor, std::vector<Access>& accesses, const Iterations& in) {
  for (Access& access : accesses) joinDivisions(editor, in, access.indices);
  return areApart(editor, accesses, in, editor.varOf(in.loop));
}

}  // namespace

Result<void> checkIndependent(const Editor& editor, NodeId loop) {
  return checkIndependentIn(editor, loop, loop);
}

Result<void> checkIndependentIn(const Editor& editor, NodeId loop, NodeId outermost) {
  const Iterations in{loop, editor.bodyOf(outermost)};
  const Kernel& kernel = editor.kernel();
  const auto dependent = [&](const std::string& why) {
    return Error(ErrorCode::InvalidArgument, fmt::format("the iterations of loop {} depend on each other: {}",
                                                         loop::loopName(kernel, editor.node(loop)), why));
  };
  if (editor.constantOf(editor.extentOf(loop)).value_or(2) <= 1) return success();
  std::set<uint32_t> own;
  for (const NodeId id : editor.allIn(editor.bodyOf(loop))) {
    const Node& node = editor.node(id);
    if (node.op == Op::Local) own.insert(node.target);
    if (node.op == Op::SetScalar) return dependent("a scalar output is set");
  }
  const auto isWritten = [](const std::vector<Access>& accesses) {
    return std::any_of(accesses.begin(), accesses.end(), [](const Access& access) { return access.isStore; });
  };
  for (auto& [local, accesses] : accessesIn(editor, editor.bodyOf(loop), Op::GetLocal, Op::SetLocal))
    if (!own.contains(local) && isWritten(accesses) && !areApart(editor, accesses, in))
      return dependent("they share an element of a local");
  // Buffers that may share memory count as one.
  std::map<uint32_t, std::vector<Access>> all = accessesIn(editor, editor.bodyOf(loop));
  const auto inputs = static_cast<uint32_t>(kernel.descriptor.inputs.size());
  for (uint32_t output = 0; output < kernel.descriptor.outputs.size(); ++output)
    for (const uint32_t input : kernel.descriptor.outputs[output].mayAlias)
      if (all.contains(inputs + output) && all.contains(input)) {
        std::vector<Access>& joined = all[inputs + output];
        joined.insert(joined.end(), all[input].begin(), all[input].end());
      }
  for (auto& [buffer, accesses] : all) {
    if (isWritten(accesses) && !areApart(editor, accesses, in))
      return dependent("two may touch one element of a buffer, and one writes it");
  }
  return success();
}

}  // namespace baton::schedule
