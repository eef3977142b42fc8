#include "kernels/loop/printer.h"

#include <bit>
#include <cmath>

#include <fmt/format.h>

namespace baton::loop {

namespace {

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\')
      out += fmt::format("\\{}", c);
    else if (byte < 0x20 || byte >= 0x7F)
      out += fmt::format("\\x{:02x}", byte);
    else
      out += c;
  }
  return out + "\"";
}

std::string constantText(DType type, uint64_t bits) {
  const auto name = dtypeShortName(type);
  switch (type) {
    case DType::Bool: return bits != 0 ? "true" : "false";
    case DType::I64: return fmt::format("{}", static_cast<int64_t>(bits));
    case DType::I8:
    case DType::I16:
    case DType::I32: return fmt::format("{}({})", name, static_cast<int64_t>(bits));
    case DType::U8:
    case DType::U16:
    case DType::U32:
    case DType::U64: return fmt::format("{}({})", name, bits);
    case DType::F16:
    case DType::BF16: return fmt::format("{}(0x{:04x})", name, bits);
    case DType::F32: {
      const float value = scalarFromBits<float>(bits);
      return std::isfinite(value) ? fmt::format("{}({})", name, value)
                                  : fmt::format("{}(0x{:08x})", name, bits);
    }
    case DType::F64: {
      const double value = scalarFromBits<double>(bits);
      return std::isfinite(value) ? fmt::format("{}({})", name, value)
                                  : fmt::format("{}(0x{:016x})", name, bits);
    }
  }
  return {};
}

class Printer {
 public:
  explicit Printer(const Kernel& kernel)
      : kernel_(kernel), numbers_(kernel.nodes.size(), 0), localNumbers_(kernel.locals.size(), 0) {}

  std::string run() {
    header();
    block(BlockId(0), 1);
    out_ += "}\n";
    return std::move(out_);
  }

 private:
  std::string dim(const DimExpr& expr) const {
    return expr.print([&](DimSymbol symbol) {
      return symbol.value() < kernel_.descriptor.symbols.size()
                 ? kernel_.descriptor.symbols[symbol.value()].name
                 : fmt::format("_unknown{}", symbol.value());
    });
  }

  std::string shaped(DType type, const std::vector<DimExpr>& extents) const {
    std::string text = fmt::format("{}[", dtypeShortName(type));
    for (size_t i = 0; i < extents.size(); ++i) text += (i > 0 ? ", " : "") + dim(extents[i]);
    return text + "]";
  }

  void operand(const char* keyword, const KernelOperand& operand) {
    out_ += fmt::format("  {} {}", keyword, shaped(operand.dtype, operand.extents));
    if (operand.alignmentBytes != 1) out_ += fmt::format(" align {}", operand.alignmentBytes);
    if (operand.device != 0) out_ += fmt::format(" device {}", operand.device);
    for (const uint32_t alias : operand.mayAlias) out_ += fmt::format(" alias {}", alias);
    if (operand.independentAxis) out_ += fmt::format(" independent {}", *operand.independentAxis);
    out_ += '\n';
  }

  void header() {
    const KernelDescriptor& descriptor = kernel_.descriptor;
    out_ += fmt::format("kernel {} {{\n", quoted(descriptor.name));
    for (const KernelSymbol& symbol : descriptor.symbols) {
      if (symbol.from == KernelSymbol::From::Operand)
        out_ += fmt::format("  symbol {} = operand {} axis {}\n", symbol.name, symbol.index, symbol.axis);
      else
        out_ += fmt::format("  symbol {} = scalar {}\n", symbol.name, symbol.index);
    }
    for (const KernelOperand& input : descriptor.inputs) operand("input", input);
    for (const KernelOperand& output : descriptor.outputs) operand("output", output);
    for (const DType type : descriptor.scalarInputs)
      out_ += fmt::format("  scalar_input {}\n", dtypeShortName(type));
    for (const DType type : descriptor.scalarOutputs)
      out_ += fmt::format("  scalar_output {}\n", dtypeShortName(type));
    for (const std::string& message : descriptor.messages)
      out_ += fmt::format("  message {}\n", quoted(message));
    for (const DimConstraint& constraint : descriptor.constraints)
      out_ += fmt::format("  where {} {} {}\n", dim(constraint.lhs), relationName(constraint.relation),
                          dim(constraint.rhs));
    for (const ScratchBuffer& scratch : kernel_.scratch)
      out_ += fmt::format("  scratch {}\n", shaped(scratch.dtype, scratch.extents));
  }

  std::string buffer(uint32_t index) const {
    const size_t inputs = kernel_.descriptor.inputs.size();
    const size_t outputs = kernel_.descriptor.outputs.size();
    if (index < inputs) return fmt::format("in{}", index);
    if (index < inputs + outputs) return fmt::format("out{}", index - inputs);
    return fmt::format("tmp{}", index - inputs - outputs);
  }

  std::string value(NodeId id) const {
    const Node& node = kernel_.node(id);
    if (node.op == Op::Const) return constantText(node.type, node.bits);
    if (node.op == Op::Symbol) return "$" + kernel_.descriptor.symbols[node.target].name;
    if (node.op == Op::ScalarInput) return fmt::format("arg{}", node.target);
    return fmt::format("%{}", numbers_[id.value()]);
  }

  std::string values(std::span<const NodeId> ids) const {
    std::string text;
    for (size_t i = 0; i < ids.size(); ++i) text += (i > 0 ? ", " : "") + value(ids[i]);
    return text;
  }

  std::string indexed(const std::string& name, std::span<const NodeId> indices) const {
    return indices.empty() ? name : fmt::format("{}[{}]", name, values(indices));
  }

  std::string local(uint32_t index) const { return fmt::format("l{}", localNumbers_[index]); }

  std::string define(NodeId id) {
    numbers_[id.value()] = next_++;
    return fmt::format("%{}", numbers_[id.value()]);
  }

  std::string named(const Node& loop) const {
    const std::string_view name = loopName(kernel_, loop);
    return name.empty() ? std::string() : fmt::format(" as {}", name);
  }

  void block(BlockId id, int depth) {
    for (const NodeId node : kernel_.block(id).nodes) statement(node, depth);
  }

  void statement(NodeId id, int depth) {
    const Node& node = kernel_.node(id);
    const std::span<const NodeId> ids = kernel_.operandsOf(node);
    const std::string indent(static_cast<size_t>(depth) * 2, ' ');
    out_ += indent;
    switch (node.op) {
      case Op::Load: out_ += define(id) + " = load " + indexed(buffer(node.target), ids); break;
      case Op::Store:
        out_ += fmt::format("store {}, {}", indexed(buffer(node.target), ids.first(ids.size() - 1)),
                            value(ids.back()));
        break;
      case Op::GetLocal: out_ += define(id) + " = get " + indexed(local(node.target), ids); break;
      case Op::SetLocal:
        out_ += fmt::format("set {}, {}", indexed(local(node.target), ids.first(ids.size() - 1)),
                            value(ids.back()));
        break;
      case Op::Local: {
        const LocalArray& array = kernel_.locals[node.target];
        localNumbers_[node.target] = nextLocal_++;
        out_ += fmt::format("local {} {}", local(node.target), dtypeShortName(array.dtype));
        for (size_t i = 0; i < array.extents.size(); ++i)
          out_ += fmt::format("{}{}{}", i == 0 ? "[" : ", ", array.extents[i],
                              i + 1 == array.extents.size() ? "]" : "");
        break;
      }
      case Op::SetScalar: out_ += fmt::format("set_scalar {}, {}", node.target, value(ids[0])); break;
      case Op::Fail:
        out_ += fmt::format("fail {}", node.target);
        for (const NodeId operand : ids) out_ += ", " + value(operand);
        break;
      case Op::For: {
        const LoopParts parts = loopParts(kernel_, node);
        const std::string extent = value(parts.extents[0]);
        out_ += fmt::format("{} {} < {}", loopKindName(node.loopKind), define(parts.vars[0]), extent);
        if (node.loopKind == LoopKind::Parallel && node.bits != 1)
          out_ += fmt::format(" grain {}", node.bits);
        out_ += named(node) + " {\n";
        block(node.body, depth + 1);
        out_ += indent + "}";
        break;
      }
      case Op::If:
        out_ += fmt::format("if {} {{\n", value(ids[0]));
        block(node.body, depth + 1);
        out_ += indent + "}";
        if (!kernel_.block(node.otherwise).nodes.empty()) {
          out_ += " else {\n";
          block(node.otherwise, depth + 1);
          out_ += indent + "}";
        }
        break;
      case Op::Reduce: {
        const LoopParts parts = loopParts(kernel_, node);
        out_ += fmt::format("{} = reduce {} (", define(id), reduceOpName(node.reduceOp));
        for (size_t i = 0; i < parts.vars.size(); ++i)
          out_ += fmt::format("{}{} < {}", i > 0 ? ", " : "", define(parts.vars[i]), value(parts.extents[i]));
        out_ += ")" + named(node) + " {\n";
        block(node.body, depth + 1);
        out_ += fmt::format("{}  yield {}\n{}}}", indent, value(reducedValue(kernel_, node)), indent);
        break;
      }
      case Op::Const:
      case Op::Symbol:
      case Op::ScalarInput:
      case Op::LoopVar: break;  // never in a block
      default: {
        // Value operations. A comparison names the type that it compares.
        const DType type = isComparison(node.op) ? kernel_.node(ids[0]).type : node.type;
        out_ +=
            fmt::format("{} = {} {} {}", define(id), opInfo(node.op).name, dtypeShortName(type), values(ids));
        if (isIntegerDivision(node.op) && node.target != kNoMessage)
          out_ += fmt::format(" or_fail {}", node.target);
        break;
      }
    }
    out_ += '\n';
  }

  const Kernel& kernel_;
  std::vector<uint32_t> numbers_;
  std::vector<uint32_t> localNumbers_;  // in order of declaration, as the parser expects
  uint32_t next_ = 0;
  uint32_t nextLocal_ = 0;
  std::string out_;
};

}  // namespace

std::string print(const Kernel& kernel) { return Printer(kernel).run(); }

}  // namespace baton::loop
