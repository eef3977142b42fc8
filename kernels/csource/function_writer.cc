#include "kernels/csource/function_writer.h"

#include <set>
#include <vector>

#include <fmt/format.h>

#include "base/error.h"
#include "kernels/csource/expressions.h"
#include "kernels/loop/captures.h"

namespace baton::csource {

using loop::BlockId;
using loop::LoopKind;
using loop::Node;
using loop::NodeId;
using loop::Op;
using loop::ReduceOp;

namespace {

/// A value is a variable `v` with the number of its node, in the C block that its loop-IR block is. So
/// are symbols `s`, scalar inputs `a`, buffers `b`, their extents `x` and locals `l` variables of the same
/// names in the kernel's function and in those of its parallel loops.
class FunctionWriter {
 public:
  FunctionWriter(const loop::Kernel& kernel, std::string_view name, bool isParallelBody)
      : k_(kernel), name_(name), isParallelBody_(isParallelBody) {}

  std::string kernel() {
    open(fmt::format("int32_t {}(const BatonKernelContext* ctx, void* const* buffers, int64_t* scalars) {{",
                     name_));
    const KernelDescriptor& descriptor = k_.descriptor;
    for (size_t i = 0; i < descriptor.symbols.size(); ++i)
      line(fmt::format("const int64_t s{0} = scalars[{0}];  /* {1} */", i, descriptor.symbols[i].name));
    for (size_t i = 0; i < descriptor.scalarInputs.size(); ++i) {
      const DType type = descriptor.scalarInputs[i];
      line(fmt::format("const {} a{} = {};", typeName(type), i,
                       fromScalarText(type, fmt::format("scalars[{}]", descriptor.symbols.size() + i))));
    }
    const size_t operands = descriptor.inputs.size() + descriptor.outputs.size();
    for (size_t i = 0; i < operands; ++i) line(fmt::format("void* const b{0} = buffers[{0}];", i));
    line("bool bad = false;");
    scratch(operands);
    extents();
    block(BlockId(0));
    line("(void)ctx, (void)buffers, (void)scalars, (void)bad;");
    line("return BATON_KERNEL_OK;");
    close("}");
    return functions_ + text_;
  }

  /// The function of one piece of a parallel loop, after the structure of what it is given.
  std::string parallelBody(const Node& loop, std::string_view members) {
    const std::string structure = fmt::format("struct {} {{\n{}}};\n", name_, members);
    open(fmt::format(
        "static int32_t {}(const BatonKernelContext* ctx, void* closure, int64_t begin, int64_t end) {{",
        name_));
    line(fmt::format("const struct {0}* const c = (const struct {0}*)closure;", name_));
    text_ += captured_;
    line("bool bad = false;");
    extents();
    const loop::LoopParts parts = loopParts(k_, loop);
    open(fmt::format("for (int64_t {0} = begin; {0} < end; ++{0}) {{", value(parts.vars[0])));
    block(loop.body);
    close("}");
    line("(void)ctx, (void)c, (void)bad;");
    line("return BATON_KERNEL_OK;");
    close("}");
    return structure + functions_ + text_;
  }

  /// What the body of a parallel loop uses of its surroundings: each a member of the structure.
  void capture(std::string_view declaration, std::string_view name) {
    captured_ += fmt::format("  {}{} = c->{};\n", declaration, name, name);
  }

 private:
  void line(std::string_view text) { text_ += std::string(2 * depth_, ' ').append(text) + "\n"; }
  void open(std::string_view text) {
    line(text);
    ++depth_;
  }
  void close(std::string_view text) {
    --depth_;
    line(text);
  }

  std::string value(NodeId id) const {
    const Node& node = k_.node(id);
    switch (node.op) {
      case Op::Const: return constantText(node.type, node.bits);
      case Op::Symbol: return fmt::format("s{}", node.target);
      case Op::ScalarInput: return fmt::format("a{}", node.target);
      default: return fmt::format("v{}", id.value());
    }
  }
  std::vector<std::string> values(std::span<const NodeId> ids) const {
    std::vector<std::string> out;
    for (const NodeId id : ids) out.push_back(value(id));
    return out;
  }
  void define(NodeId id, std::string_view expression) {
    line(fmt::format("const {} {} = {};", typeName(k_.node(id).type), value(id), expression));
  }

  void scratch(size_t first) {
    for (size_t i = 0; i < k_.scratch.size(); ++i) {
      const loop::ScratchBuffer& buffer = k_.scratch[i];
      // None of no elements is too large, whatever its other extents.
      std::string isSome = "true";
      for (const DimExpr& extent : buffer.extents) isSome += fmt::format(" && {} > 0", dimText(extent));
      line(fmt::format("uint64_t size{} = {} ? {} : 0;", i, isSome, sizeBytes(buffer.dtype)));
      for (const DimExpr& extent : buffer.extents)
        line(fmt::format("size{0} = size_mul(size{0}, {1}, &bad);", i, dimText(extent)));
      line("if (bad) return BATON_KERNEL_OUT_OF_MEMORY;");
      line(fmt::format("void* const b{} = ctx->scratch(ctx, size{});", first + i, i));
      line(fmt::format("if (b{} == NULL && size{} > 0) return BATON_KERNEL_OUT_OF_MEMORY;", first + i, i));
    }
  }

  /// But the first of each buffer, which no address needs.
  void extents() {
    for (uint32_t buffer = 0; buffer < k_.bufferCount(); ++buffer) {
      const std::vector<DimExpr>& all = k_.bufferExtents(loop::BufferIndex(buffer));
      for (size_t axis = 1; axis < all.size(); ++axis)
        line(fmt::format("const int64_t x{}_{} = {};", buffer, axis, dimText(all[axis])));
    }
    for (uint32_t buffer = 0; buffer < k_.bufferCount(); ++buffer) {
      line(fmt::format("(void)b{};", buffer));
      for (size_t axis = 1; axis < k_.bufferExtents(loop::BufferIndex(buffer)).size(); ++axis)
        line(fmt::format("(void)x{}_{};", buffer, axis));
    }
  }

  std::string place(uint32_t buffer, std::span<const NodeId> indices) const {
    std::string offset;
    for (size_t axis = 0; axis < indices.size(); ++axis)
      offset = axis == 0 ? value(indices[0])
                         : fmt::format("({}) * x{}_{} + {}", offset, buffer, axis, value(indices[axis]));
    return fmt::format("b{}, {}", buffer, offset.empty() ? "0" : offset);
  }
  std::string localElement(const Node& node, std::span<const NodeId> indices) const {
    const loop::LocalArray& array = k_.locals[node.target];
    std::string offset = "0";
    for (size_t axis = 0; axis < indices.size(); ++axis)
      offset = axis == 0 ? value(indices[0])
                         : fmt::format("({}) * {} + {}", offset, array.extents[axis], value(indices[axis]));
    return fmt::format("l{}[{}]", node.target, offset);
  }

  void fail(uint32_t message, std::span<const NodeId> ids) {
    if (ids.empty()) {
      line(fmt::format("ctx->fail(ctx, {}, NULL, 0);", message));
    } else {
      line(fmt::format("const int64_t values[] = {{{}}};", fmt::join(values(ids), ", ")));
      line(fmt::format("ctx->fail(ctx, {}, values, {});", message, ids.size()));
    }
    line("return BATON_KERNEL_FAILED;");
  }

  void block(BlockId id) {
    for (const NodeId node : k_.block(id).nodes) statement(node);
  }

  void statement(NodeId id) {
    const Node& node = k_.node(id);
    const auto ids = k_.operandsOf(node);
    switch (node.op) {
      case Op::Load:
        return define(id, fmt::format("load_{}({})", dtypeShortName(node.type), place(node.target, ids)));
      case Op::Store:
        return line(fmt::format("store_{}({}, {});", dtypeShortName(node.type),
                                place(node.target, ids.first(ids.size() - 1)), value(ids.back())));
      case Op::GetLocal: return define(id, localElement(node, ids));
      case Op::SetLocal:
        return line(
            fmt::format("{} = {};", localElement(node, ids.first(ids.size() - 1)), value(ids.back())));
      case Op::Local:
        return line(fmt::format("{} l{}[{}] = {{0}};", typeName(k_.locals[node.target].dtype), node.target,
                                std::max<int64_t>(k_.locals[node.target].elementCount(), 1)));
      case Op::SetScalar: {
        const size_t first = k_.descriptor.symbols.size() + k_.descriptor.scalarInputs.size();
        return line(
            fmt::format("scalars[{}] = {};", first + node.target, scalarText(node.type, value(ids[0]))));
      }
      case Op::Fail:
        open("{");
        fail(node.target, ids);
        return close("}");
      case Op::For: return forLoop(node);
      case Op::If:
        open(fmt::format("if ({}) {{", value(ids[0])));
        block(node.body);
        if (!k_.block(node.otherwise).nodes.empty()) {
          close("} else {");
          ++depth_;
          block(node.otherwise);
        }
        return close("}");
      case Op::Reduce: return reduce(id, node);
      default: return valueOperation(id, node);
    }
  }

  void valueOperation(NodeId id, const Node& node) {
    const auto ids = k_.operandsOf(node);
    const DType type = k_.node(node.op == Op::Select ? ids[1] : ids[0]).type;
    const std::vector<std::string> operands = values(ids);
    if (isIntegerDivision(node.op) && node.target != loop::kNoMessage) {
      open(fmt::format("if ({}) {{", failureText(type, operands)));
      fail(node.target, {});
      close("}");
    }
    define(id, operationText(node.op, type, node.type, operands));
  }

  void forLoop(const Node& node) {
    const loop::LoopParts parts = loopParts(k_, node);
    if (node.loopKind == LoopKind::Parallel && !isParallelBody_) return parallelLoop(node);
    openLoop(parts.vars[0], parts.extents[0]);
    block(node.body);
    close("}");
  }
  void openLoop(NodeId var, NodeId extent) {
    open(fmt::format("for (int64_t {0} = 0; {0} < {1}; ++{0}) {{", value(var), value(extent)));
  }

  void parallelLoop(const Node& node) {
    const std::string body = fmt::format("{}_part{}", name_, parallelCount_++);
    FunctionWriter writer(k_, body, true);
    std::string members;
    std::string initial;
    const auto capture = [&](std::string_view declaration, const std::string& name) {
      writer.capture(declaration, name);
      members += fmt::format("  {}{};\n", declaration, name);
      initial += (initial.empty() ? "" : ", ") + name;
    };
    for (uint32_t i = 0; i < k_.bufferCount(); ++i) capture("void* ", fmt::format("b{}", i));
    for (size_t i = 0; i < k_.descriptor.symbols.size(); ++i) capture("int64_t ", fmt::format("s{}", i));
    for (size_t i = 0; i < k_.descriptor.scalarInputs.size(); ++i)
      capture(fmt::format("{} ", typeName(k_.descriptor.scalarInputs[i])), fmt::format("a{}", i));
    const loop::LoopParts parts = loopParts(k_, node);
    const loop::Captures captures = loop::capturesOf(k_, node);
    for (const NodeId id : captures.values)
      capture(fmt::format("{} ", typeName(k_.node(id).type)), value(id));
    for (const uint32_t local : captures.locals)
      capture(fmt::format("{}* ", typeName(k_.locals[local].dtype)), fmt::format("l{}", local));
    if (members.empty()) members = "  int unused;\n";
    functions_ += writer.parallelBody(node, members);
    open(fmt::format("if ({} > 0) {{", value(parts.extents[0])));
    line(fmt::format("struct {} closure = {{{}}};", body, initial.empty() ? "0" : initial));
    line(fmt::format("const int32_t status = ctx->parallel_for(ctx, {}, {}, {}, &closure);",
                     value(parts.extents[0]), node.bits, body));
    line("if (status != BATON_KERNEL_OK) return status;");
    close("}");
  }

  void reduce(NodeId id, const Node& node) {
    const DType type = k_.node(reducedValue(k_, node)).type;
    const std::string result = value(id);
    switch (node.reduceOp) {
      case ReduceOp::Sum:
      case ReduceOp::Prod:
        if (isFloat(type)) return reduceOrdered(id, node, type);
        break;
      case ReduceOp::ArgMax:
      case ReduceOp::ArgMin: return reduceArg(id, node, type);
      default: break;
    }
    line(fmt::format("{} {} = {};", typeName(type), result, identityText(node.reduceOp, type)));
    openNest(node);
    line(fmt::format("{} = {};", result,
                     combinationText(node.reduceOp, type, result, value(reducedValue(k_, node)))));
    closeNest(node);
  }

  void reduceOrdered(NodeId id, const Node& node, DType type) {
    const std::string kind =
        fmt::format("{}_{}", node.reduceOp == ReduceOp::Sum ? "sum" : "prod", dtypeShortName(type));
    const std::string state = fmt::format("r{}", id.value());
    line(fmt::format("{} {};", kind, state));
    line(fmt::format("{}_start(&{});", kind, state));
    openNest(node);
    line(fmt::format("{}_add(&{}, {});", kind, state, value(reducedValue(k_, node))));
    closeNest(node);
    define(id, fmt::format("{}_finish(&{})", kind, state));
  }

  /// The first of the best, or the first NaN.
  void reduceArg(NodeId id, const Node& node, DType type) {
    const std::string index = value(id);
    const std::string best = fmt::format("r{}", id.value());
    const std::string count = fmt::format("n{}", id.value());
    line(fmt::format("int64_t {} = 0;", index));
    line(fmt::format("int64_t {} = 0;", count));
    line(fmt::format("{} {} = 0;", typeName(type), best));
    openNest(node);
    const std::string x = value(reducedValue(k_, node));
    std::string isBetter = fmt::format("{} {} {}", x, node.reduceOp == ReduceOp::ArgMax ? ">" : "<", best);
    if (isFloat(type)) isBetter = fmt::format("({0} || {1} != {1}) && {2} == {2}", isBetter, x, best);
    open(fmt::format("if ({} == 0 || ({})) {{", count, isBetter));
    line(fmt::format("{} = {};", best, x));
    line(fmt::format("{} = {};", index, count));
    close("}");
    line(fmt::format("++{};", count));
    closeNest(node);
  }

  void openNest(const Node& node) {
    const loop::LoopParts parts = loopParts(k_, node);
    for (size_t i = 0; i < parts.vars.size(); ++i) openLoop(parts.vars[i], parts.extents[i]);
    if (parts.vars.empty()) open("{");
    block(node.body);
  }
  void closeNest(const Node& node) {
    const size_t count = loopParts(k_, node).vars.size();
    for (size_t i = 0; i < std::max<size_t>(count, 1); ++i) close("}");
  }

  const loop::Kernel& k_;
  const std::string name_;
  const bool isParallelBody_;
  std::string functions_;  // of parallel loops
  std::string captured_;
  std::string text_;
  size_t depth_ = 0;
  size_t parallelCount_ = 0;
};

}  // namespace

std::string writeKernel(const loop::Kernel& kernel, std::string_view name) {
  return FunctionWriter(kernel, name, false).kernel();
}

}  // namespace baton::csource
