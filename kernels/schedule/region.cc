#include "kernels/schedule/region.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "kernels/schedule/primitives.h"

namespace baton::schedule {

namespace {

/// The statement of a block that a node is in.
NodeId statementAround(const Editor& editor, BlockId block, NodeId id) {
  while (*editor.blockOf(id) != block) id = *editor.ownerOf(*editor.blockOf(id));
  return id;
}

class RegionFinder {
 public:
  RegionFinder(const Editor& editor, NodeId loop, const std::vector<Access>& accesses)
      : editor_(editor), loop_(loop), accesses_(accesses), body_(editor.bodyOf(loop)) {}

  Result<Region> run() {
    region_.before = statementAround(editor_, body_, accesses_[0].node);
    for (const Access& access : accesses_) {
      const NodeId statement = statementAround(editor_, body_, access.node);
      if (editor_.position(statement) < editor_.position(region_.before)) region_.before = statement;
    }
    for (size_t axis = 0; axis < accesses_[0].indices.size(); ++axis) BATON_TRY(findAxis(axis));
    for (const Access& access : accesses_) BATON_TRY(findCounts(access));
    return std::move(region_);
  }

 private:
  bool isThereBefore(NodeId value) const {
    if (!editor_.isMadeIn(value, body_)) return true;
    return editor_.blockOf(value) == body_ && editor_.node(value).op != Op::LoopVar &&
           editor_.position(value) < editor_.position(region_.before);
  }

  /// The loop or reduction that a variable is of, and the extent that it has there.
  NodeId extentOfVar(NodeId var) const {
    const loop::LoopParts parts =
        loopParts(editor_.kernel(), editor_.node(*editor_.ownerOf(*editor_.blockOf(var))));
    const auto at = std::find(parts.vars.begin(), parts.vars.end(), var) - parts.vars.begin();
    return parts.extents[static_cast<size_t>(at)];
  }

  Result<void> findAxis(size_t axis) {
    const auto refuse = [&](std::string_view why) {
      return refused(fmt::format("what an iteration of loop {} touches along axis {} is no simple part: {}",
                                 loop::loopName(editor_.kernel(), editor_.node(loop_)), axis, why));
    };
    Affine start;
    Affine length{{}, 1};
    std::optional<int64_t> most;
    for (const Access& access : accesses_) {
      Affine base{{}, access.indices[axis].constant};
      Affine own{{}, 1};
      for (const auto& [value, coefficient] : access.indices[axis].terms) {
        const bool isVar = editor_.node(value).op == Op::LoopVar && editor_.isMadeIn(value, body_) &&
                           value != editor_.varOf(loop_);
        if (isVar) {
          const NodeId extent = extentOfVar(value);
          if (coefficient < 0) return refuse("an index goes down");
          if (!isThereBefore(extent)) return refuse("the extent of an inner loop is not known before");
          const Affine count = affineOf(editor_, extent);
          // coefficient * (extent - 1)
          for (const auto& [term, factor] : count.terms)
            if (__builtin_mul_overflow(factor, coefficient, &own.terms[term]))
              return refuse("it is too large");
          int64_t less = 0;
          if (__builtin_mul_overflow(count.constant - 1, coefficient, &less) ||
              __builtin_add_overflow(own.constant, less, &own.constant))
            return refuse("it is too large");
        } else if (value == editor_.varOf(loop_) || isThereBefore(value)) {
          base.terms.emplace(value, coefficient);
        } else {
          return refuse("an index is computed inside");
        }
      }
      if (!most) {
        start = base;
        length = own;
        most = base.constant;
        continue;
      }
      if (base.terms != start.terms || own != length) return refuse("there are several");
      start.constant = std::min(start.constant, base.constant);
      most = std::max(*most, base.constant);
    }
    length.constant += *most - start.constant;
    std::erase_if(length.terms, [](const auto& term) { return term.second == 0; });
    region_.start.push_back(std::move(start));
    region_.length.push_back(std::move(length));
    return success();
  }

  /// Each access happens in every iteration of the loops around it, or not at all.
  Result<void> findCounts(const Access& access) {
    std::set<NodeId> told;
    for (const Affine& index : access.indices)
      for (const auto& [value, coefficient] : index.terms) told.insert(value);
    for (BlockId block = *editor_.blockOf(access.node); block != body_;) {
      const NodeId owner = *editor_.ownerOf(block);
      if (editor_.node(owner).op == Op::If)
        return refused("an iteration may leave an access out, which would be out of bounds");
      const loop::LoopParts parts = loopParts(editor_.kernel(), editor_.node(owner));
      for (size_t i = 0; i < parts.vars.size(); ++i) {
        const Range range = rangeOf(editor_, parts.extents[i]);
        if (told.contains(parts.vars[i]) || (range.low && *range.low >= 1)) continue;
        if (!isThereBefore(parts.extents[i]))
          return refused("whether an access happens is not known at the beginning");
        if (std::find(region_.counts.begin(), region_.counts.end(), parts.extents[i]) == region_.counts.end())
          region_.counts.push_back(parts.extents[i]);
      }
      block = *editor_.blockOf(owner);
    }
    return success();
  }

  const Editor& editor_;
  const NodeId loop_;
  const std::vector<Access>& accesses_;
  const BlockId body_;
  Region region_;
};

}  // namespace

Result<Region> regionOf(const Editor& editor, NodeId loop, const std::vector<Access>& accesses) {
  return RegionFinder(editor, loop, accesses).run();
}

Nodes loopsOver(Editor& editor, const Region& region,
                const std::function<void(Nodes& out, const Nodes& inRegion, const Nodes& inBuffer)>& body) {
  Nodes out;
  Nodes lengths;
  Nodes starts;
  for (const Affine& length : region.length) lengths.push_back(materialise(editor, out, length));
  for (const Affine& start : region.start) starts.push_back(materialise(editor, out, start));
  Nodes inRegion;
  Nodes inBuffer;
  const std::function<void(Nodes&)> nest = [&](Nodes& inner) {
    const size_t axis = inRegion.size();
    if (axis == lengths.size()) {
      for (size_t i = 0; i < axis; ++i) inBuffer.push_back(editor.add(inner, starts[i], inRegion[i]));
      body(inner, inRegion, inBuffer);
      return;
    }
    if (editor.constantOf(lengths[axis]) == 1) {
      inRegion.push_back(editor.number(0));
      return nest(inner);
    }
    inner.push_back(editor.makeLoop(lengths[axis], [&](NodeId var, Nodes& nodes) {
      inRegion.push_back(var);
      nest(nodes);
    }));
  };
  if (region.counts.empty()) {
    nest(out);
    return out;
  }
  std::optional<NodeId> all;
  for (const NodeId count : region.counts) {
    NodeId isThere = editor.make({.op = Op::Gt, .type = DType::Bool}, {count, editor.number(0)});
    out.push_back(isThere);
    if (all) {
      isThere = editor.make({.op = Op::And, .type = DType::Bool}, {*all, isThere});
      out.push_back(isThere);
    }
    all = isThere;
  }
  Nodes inner;
  nest(inner);
  const BlockId then = editor.newBlock(std::move(inner));
  const BlockId otherwise = editor.newBlock({});
  out.push_back(editor.make({.op = Op::If, .body = then, .otherwise = otherwise}, {*all}));
  return out;
}

}  // namespace baton::schedule
