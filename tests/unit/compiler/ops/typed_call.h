// A call of an operator on inputs of known type, for tests of its relations.
#pragma once

#include <string>
#include <vector>

#include "compiler/ir/op.h"
#include "compiler/ops/call_contexts.h"

namespace baton::ops::test {

inline DimExpr dim(int64_t value) { return DimExpr::constant(value); }
/// Symbols n, m, k are numbers 0, 1, 2.
inline DimExpr symbol(uint32_t index) { return DimExpr::symbol(DimSymbol(index)); }
inline const DimExpr n = symbol(0);
inline const DimExpr m = symbol(1);
inline std::string print(const DimExpr& expr) {
  return expr.print([](DimSymbol symbol) {
    const char* names[] = {"n", "m", "k"};
    return symbol.value() < 3 ? std::string(names[symbol.value()]) : "v" + std::to_string(symbol.value());
  });
}

class TypedCall {
 public:
  explicit TypedCall(std::string_view name) : op_(OpRegistry::instance().find(name)) {
    for (uint32_t i = 0; i < 3; ++i) knowledge_.addExtent(DimSymbol(i));
    if (op_ != nullptr) attrs_ = defaultAttrs(*op_);
  }
  TypedCall& with(std::string_view attr, ir::AttrValue value) {
    attrs_.set(attr, std::move(value));
    return *this;
  }
  TypedCall& on(DType dtype, std::vector<DimExpr> dims) {
    inputs_.push_back({dtype, std::move(dims), std::nullopt, std::nullopt});
    return *this;
  }
  TypedCall& on(DType dtype, std::initializer_list<int64_t> extents) {
    std::vector<DimExpr> dims;
    for (const int64_t extent : extents) dims.push_back(dim(extent));
    return on(dtype, std::move(dims));
  }
  /// A vector of integers of which the elements are known.
  TypedCall& onValues(DType dtype, std::vector<DimExpr> values) {
    inputs_.push_back({dtype, {dim(static_cast<int64_t>(values.size()))}, std::move(values), std::nullopt});
    return *this;
  }
  TypedCall& onScalar(DType dtype, DimExpr value) {
    inputs_.push_back({dtype, {}, std::vector<DimExpr>{std::move(value)}, std::nullopt});
    return *this;
  }
  TypedCall& assume(DimExpr lhs, Relation relation, DimExpr rhs) {
    const auto result = knowledge_.assume({std::move(lhs), relation, std::move(rhs)});
    BATON_CHECK(result.has_value());
    return *this;
  }

  /// "float32(n, 4)", results separated by "; ", or "error: <message>".
  std::string type() {
    const OpCall call{op_, &attrs_, inputs_.size()};
    KnownStructure structure(inputs_);
    auto shape = op_->structure(call, structure);
    if (!shape) return "error: " + shape.assume_error().message();
    if (!shape.assume_value()) return "nothing yet";
    KnownDims context(inputs_, knowledge_, 100);
    auto dims = op_->dims(call, context);
    if (!dims) return "error: " + dims.assume_error().message();
    checks_.clear();
    for (const OpenRequirement& open : context.open())
      checks_.push_back(print(open.constraint.lhs) + " " + relationName(open.constraint.relation) + " " +
                        print(open.constraint.rhs));
    std::string out;
    const auto& results = shape.assume_value()->results;
    if (results.size() != dims.assume_value().size()) return "different numbers of results";
    for (size_t i = 0; i < results.size(); ++i) {
      const auto& extents = dims.assume_value()[i].extents;
      if (static_cast<int>(extents.size()) != results[i].rank) return "rank and number of extents differ";
      out += (i == 0 ? "" : "; ") + std::string(dtypeName(results[i].dtype)) + shapeText(extents);
    }
    values_ = std::nullopt;
    if (op_->values != nullptr && results.size() == 1 && results[0].rank <= 1) {
      KnownDims again(inputs_, knowledge_, 100);
      values_ = op_->values(call, again, dims.assume_value()[0]);
    }
    return out;
  }
  /// Of the last `type()`: what must be checked when running.
  const std::vector<std::string>& checks() const { return checks_; }
  /// Of the last `type()`: "[n, 4]", or "unknown".
  std::string values() const {
    if (!values_) return "unknown";
    std::string out = "[";
    for (size_t i = 0; i < values_->size(); ++i) out += (i == 0 ? "" : ", ") + print((*values_)[i]);
    return out + "]";
  }

 private:
  static std::string shapeText(const std::vector<DimExpr>& extents) {
    std::string out = "(";
    for (size_t i = 0; i < extents.size(); ++i) out += (i == 0 ? "" : ", ") + print(extents[i]);
    return out + ")";
  }

  const OpDef* op_;
  ir::Attrs attrs_;
  std::vector<KnownInput> inputs_;
  DimKnowledge knowledge_;
  std::vector<std::string> checks_;
  std::optional<std::vector<DimExpr>> values_;
};

}  // namespace baton::ops::test
