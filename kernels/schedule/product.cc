#include "kernels/schedule/product.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "kernels/schedule/accesses.h"
#include "kernels/schedule/primitives.h"

namespace baton::schedule {

using loop::LoopKind;

namespace {

Error noProduct(const Primitive& primitive, const char* why) {
  return refused(fmt::format("loop {} does not sum products row by row: {}", primitive.targets[0], why));
}

/// All but whether iterations get in each other's way.
Result<Product> findProduct(const Editor& editor, const Primitive& primitive) {
  const Kernel& kernel = editor.kernel();
  Product product;
  BATON_TRY_ASSIGN(product.rows, editor.loopNamed(primitive.targets[0]));
  if (editor.node(product.rows).loopKind != LoopKind::Serial)
    return noProduct(primitive, "it does not run in order");
  int locals = 0;
  Nodes loops;
  for (const NodeId id : editor.nodesOf(editor.bodyOf(product.rows))) {
    const Node& node = editor.node(id);
    if (node.op == Op::Local && kernel.locals[node.target].extents.size() == 1) {
      product.sums = node.target;
      ++locals;
    } else if (node.op == Op::For) {
      loops.push_back(id);
    } else if (isValueOp(node.op) || node.op == Op::Load) {
      product.inRow.push_back(id);
    } else {
      return noProduct(primitive, "it holds other statements");
    }
  }
  if (locals != 1 || loops.size() != 2)
    return noProduct(primitive, "expected a local of rank 1, a loop that writes it and one that reads it");
  product.results = loops[1];
  const auto writesSums = [&](NodeId id) {
    return editor.node(id).op == Op::SetLocal && editor.node(id).target == product.sums;
  };
  for (NodeId loop = loops[0]; product.steps.empty() || loop != product.columns;) {
    const Nodes& step = editor.nodesOf(editor.bodyOf(loop));
    if (step.empty() || editor.node(step.back()).op != Op::For)
      return noProduct(primitive, "no loop at the end of a step of the sums");
    product.steps.push_back({loop, Nodes(step.begin(), step.end() - 1)});
    loop = step.back();
    const Nodes& next = editor.nodesOf(editor.bodyOf(loop));
    if (std::any_of(next.begin(), next.end(), writesSums)) product.columns = loop;
  }
  // The sums are touched at the positions of the two loops over columns, and nowhere else.
  const BlockId inColumn = editor.bodyOf(product.columns);
  const BlockId inResult = editor.bodyOf(product.results);
  for (const NodeId id : editor.allIn(editor.bodyOf(product.rows))) {
    const Node& node = editor.node(id);
    if (mayFail(kernel, node))
      return refused("an iteration may fail, and the first one that does is reported");
    if (!usesLocal(node, product.sums)) continue;
    const std::optional<BlockId> block = editor.blockOf(id);
    const NodeId at = kernel.operandsOf(id)[0];
    const bool isSum = block == inColumn && at == editor.varOf(product.columns);
    const bool isResult = block == inResult && at == editor.varOf(product.results) && node.op == Op::GetLocal;
    if (!isSum && !isResult) return noProduct(primitive, "the sums are used elsewhere");
  }
  if (editor.isMadeIn(editor.extentOf(product.columns), editor.bodyOf(product.steps[0].loop)))
    return noProduct(primitive, "another step has other columns");
  return product;
}

/// Whether what is summed stays as it is while results are written.
Result<void> checkSumsReadNoResult(const Editor& editor, const Product& product) {
  std::set<uint32_t> stored;
  for (const NodeId id : editor.allIn(editor.bodyOf(product.results)))
    if (editor.node(id).op == Op::Store) stored.insert(editor.node(id).target);
  const auto check = [&](const Nodes& nodes) -> Result<void> {
    for (const NodeId id : nodes) {
      const Node& node = editor.node(id);
      if (node.op == Op::Store) return refused("a buffer is written while sums are made");
      if (node.op == Op::Load && std::any_of(stored.begin(), stored.end(), [&](uint32_t buffer) {
            return mayShareMemory(editor.kernel(), buffer, node.target);
          }))
        return refused("sums are made of what is written in the same loop");
    }
    return success();
  };
  BATON_TRY(check(product.inRow));
  return check(editor.allIn(editor.bodyOf(product.steps[0].loop)));
}

}  // namespace

Result<Product> productOf(const Editor& editor, const Primitive& primitive) {
  BATON_TRY_ASSIGN(Product product, findProduct(editor, primitive));
  BATON_TRY(checkIndependent(editor, product.rows));
  BATON_TRY(checkIndependent(editor, product.results));
  BATON_TRY(checkSumsReadNoResult(editor, product));
  return product;
}

/// How many rows there may be; nothing: any number. Of a loop that was split, that of whole and of last
/// parts.
std::optional<std::set<int64_t>> rowCounts(const Editor& editor, NodeId extent) {
  if (const std::optional<int64_t> constant = editor.constantOf(extent))
    return std::set{std::max<int64_t>(*constant, 0)};
  const Node& node = editor.node(extent);
  if (node.op != Op::Min) return {};
  const auto ids = editor.kernel().operandsOf(node);
  for (const auto& [rest, size] : {std::pair(ids[0], ids[1]), std::pair(ids[1], ids[0])}) {
    const std::optional<int64_t> part = editor.constantOf(size);
    if (!part || *part < 1) continue;
    // total - part * index, which ends with the last part.
    const Affine affine = affineOf(editor, rest);
    if (affine.terms.size() != 1 || affine.terms.begin()->second != -*part || affine.constant < 1) continue;
    std::set<int64_t> counts;
    if (affine.constant >= *part) counts.insert(*part);
    if (affine.constant % *part != 0) counts.insert(affine.constant % *part);
    const Range index = rangeOf(editor, affine.terms.begin()->first);
    if (index.low.value_or(-1) >= 0 && index.high && *index.high <= (affine.constant - 1) / *part)
      return counts;
  }
  return {};
}

}  // namespace baton::schedule
