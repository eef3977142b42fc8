#include "kernels/loop/declaration_parser.h"

#include <fmt/format.h>

#include "kernels/loop/dim_parser.h"

namespace baton::loop {

namespace {

constexpr uint32_t kMaxIndex = 1u << 20;  // of buffers, locals, symbols, messages

}  // namespace

Result<void> DeclarationParser::run(Kernel& kernel) {
  for (bool more = true; more;) {
    BATON_TRY_ASSIGN(more, declaration(kernel));
  }
  return success();
}

std::optional<DimSymbol> DeclarationParser::findSymbol(std::string_view name) const {
  const auto found = symbols_.find(std::string(name));
  return found == symbols_.end() ? std::nullopt : std::optional(DimSymbol(found->second));
}

Result<uint32_t> DeclarationParser::index(const char* what) {
  BATON_TRY_ASSIGN(const uint64_t value, tokens_.expectNumber(kMaxIndex, what));
  return static_cast<uint32_t>(value);
}

Result<DType> DeclarationParser::dtype() {
  const std::optional<DType> type =
      tokens_.peek().kind == TokenKind::Name ? parseDType(tokens_.peek().text) : std::nullopt;
  if (!type) return tokens_.error("expected an element type");
  BATON_TRY(tokens_.advance());
  return *type;
}

Result<DimExpr> DeclarationParser::dim() {
  return parseDim(tokens_, [this](std::string_view name) { return findSymbol(name); });
}

Result<std::vector<DimExpr>> DeclarationParser::extents() {
  std::vector<DimExpr> result;
  BATON_TRY(tokens_.expectPunct("["));
  BATON_TRY_ASSIGN(bool end, tokens_.acceptPunct("]"));
  while (!end) {
    if (result.size() == kMaxRank) return tokens_.error(fmt::format("expected at most {} extents", kMaxRank));
    BATON_TRY_ASSIGN(DimExpr extent, dim());
    result.push_back(std::move(extent));
    BATON_TRY_ASSIGN(end, tokens_.acceptPunct("]"));
    if (!end) BATON_TRY(tokens_.expectPunct(","));
  }
  return result;
}

Result<KernelOperand> DeclarationParser::operand() {
  KernelOperand operand;
  BATON_TRY_ASSIGN(operand.dtype, dtype());
  BATON_TRY_ASSIGN(operand.extents, extents());
  for (;;) {
    BATON_TRY_ASSIGN(const bool align, tokens_.acceptName("align"));
    if (align) {
      BATON_TRY_ASSIGN(operand.alignmentBytes, index("an alignment"));
      continue;
    }
    BATON_TRY_ASSIGN(const bool device, tokens_.acceptName("device"));
    if (device) {
      BATON_TRY_ASSIGN(const uint64_t number, tokens_.expectNumber(255, "a device"));
      operand.device = static_cast<uint8_t>(number);
      continue;
    }
    BATON_TRY_ASSIGN(const bool alias, tokens_.acceptName("alias"));
    if (alias) {
      BATON_TRY_ASSIGN(const uint32_t input, index("an input"));
      operand.mayAlias.push_back(input);
      continue;
    }
    BATON_TRY_ASSIGN(const bool independent, tokens_.acceptName("independent"));
    if (!independent) return operand;
    BATON_TRY_ASSIGN(operand.independentAxis, index("an axis"));
  }
}

Result<void> DeclarationParser::symbol(KernelDescriptor& descriptor) {
  BATON_TRY_ASSIGN(const std::string_view name, tokens_.expectKind(TokenKind::Name, "a symbol"));
  KernelSymbol symbol{.name = std::string(name)};
  BATON_TRY(tokens_.expectPunct("="));
  BATON_TRY_ASSIGN(const bool scalar, tokens_.acceptName("scalar"));
  if (scalar) {
    symbol.from = KernelSymbol::From::Scalar;
    BATON_TRY_ASSIGN(symbol.index, index("a scalar input"));
  } else {
    BATON_TRY(tokens_.expectName("operand"));
    BATON_TRY_ASSIGN(symbol.index, index("an operand"));
    BATON_TRY(tokens_.expectName("axis"));
    BATON_TRY_ASSIGN(symbol.axis, index("an axis"));
  }
  const auto number = static_cast<uint32_t>(descriptor.symbols.size());
  if (!symbols_.emplace(symbol.name, number).second)
    return tokens_.error(fmt::format("symbol {} is declared twice", symbol.name));
  descriptor.symbols.push_back(std::move(symbol));
  return success();
}

Result<void> DeclarationParser::constraint(KernelDescriptor& descriptor) {
  DimConstraint constraint;
  BATON_TRY_ASSIGN(constraint.lhs, dim());
  bool found = false;
  for (const Relation relation :
       {Relation::Eq, Relation::Ne, Relation::Le, Relation::Lt, Relation::Ge, Relation::Gt}) {
    if (!tokens_.isPunct(relationName(relation))) continue;
    constraint.relation = relation;
    found = true;
  }
  if (!found) return tokens_.error("expected a relation");
  BATON_TRY(tokens_.advance());
  BATON_TRY_ASSIGN(constraint.rhs, dim());
  descriptor.constraints.push_back(std::move(constraint));
  return success();
}

Result<bool> DeclarationParser::declaration(Kernel& kernel) {
  KernelDescriptor& descriptor = kernel.descriptor;
  const Token keyword = tokens_.peek();
  if (keyword.kind != TokenKind::Name) return false;
  const bool known = keyword.text == "symbol" || keyword.text == "input" || keyword.text == "output" ||
                     keyword.text == "scalar_input" || keyword.text == "scalar_output" ||
                     keyword.text == "message" || keyword.text == "where" || keyword.text == "scratch";
  if (!known) return false;
  BATON_TRY(tokens_.advance());
  if (keyword.text == "symbol") {
    BATON_TRY(symbol(descriptor));
  } else if (keyword.text == "input") {
    BATON_TRY_ASSIGN(KernelOperand input, operand());
    descriptor.inputs.push_back(std::move(input));
  } else if (keyword.text == "output") {
    BATON_TRY_ASSIGN(KernelOperand output, operand());
    descriptor.outputs.push_back(std::move(output));
  } else if (keyword.text == "scalar_input") {
    BATON_TRY_ASSIGN(const DType type, dtype());
    descriptor.scalarInputs.push_back(type);
  } else if (keyword.text == "scalar_output") {
    BATON_TRY_ASSIGN(const DType type, dtype());
    descriptor.scalarOutputs.push_back(type);
  } else if (keyword.text == "message") {
    BATON_TRY_ASSIGN(const std::string_view text, tokens_.expectKind(TokenKind::String, "a message"));
    descriptor.messages.push_back(unescape(text));
  } else if (keyword.text == "where") {
    BATON_TRY(constraint(descriptor));
  } else {
    ScratchBuffer scratch;
    BATON_TRY_ASSIGN(scratch.dtype, dtype());
    BATON_TRY_ASSIGN(scratch.extents, extents());
    kernel.scratch.push_back(std::move(scratch));
  }
  return true;
}

}  // namespace baton::loop
