#include "compiler/eval/entry_check.h"

#include <unordered_map>
#include <unordered_set>

#include <fmt/format.h>

#include "compiler/ir/printer.h"

namespace baton::eval {
namespace {

/// Checks each part once: lists are long and data may be shared.
class EntryCheck {
 public:
  EntryCheck(ir::Module& module, const ir::Function& function) : module_(module), function_(function) {}
  Result<void> run(const std::vector<Value>& arguments);

 private:
  Result<void> checkTensor(ir::TypeRef type, const Value& value, const std::string& name);
  Result<void> checkValue(ir::TypeRef type, const Value& value, const std::string& name);
  void bindPlain(ir::TypeRef type, const Value& value);
  Result<void> checkLater();
  std::optional<int64_t> extent(DimSymbol symbol) const {
    auto at = extents_.find(symbol);
    return at == extents_.end() ? std::nullopt : std::optional<int64_t>(at->second);
  }

  struct Later {
    DimExpr expr;
    int64_t found;
    std::string name;
    size_t axis;
  };
  ir::Module& module_;
  const ir::Function& function_;
  std::unordered_map<DimSymbol, int64_t> extents_;
  std::vector<Later> later_;
};

Error mismatch(const std::string& name, const std::string& what) {
  return Error(ErrorCode::InvalidArgument, fmt::format("{}: {}", name, what));
}

Result<void> EntryCheck::checkTensor(ir::TypeRef type, const Value& value, const std::string& name) {
  if (!value.isTensor()) return mismatch(name, fmt::format("expected {}", ir::print(module_, type)));
  const HostTensor& tensor = value.asTensor();
  if (tensor.dtype != type->dtype() || tensor.shape.size() != type->dims().size())
    return mismatch(name, fmt::format("expected {}, found {} of rank {}", ir::print(module_, type),
                                      dtypeName(tensor.dtype), tensor.shape.size()));
  for (size_t axis = 0; axis < tensor.shape.size(); ++axis) {
    const DimExpr& dim = type->dims()[axis];
    const std::optional<DimSymbol> symbol = dim.asSymbol();
    if (symbol == ir::kAnyDim) continue;
    if (symbol && !extents_.contains(*symbol)) continue;  // stands for whatever is there
    later_.push_back({dim, tensor.shape[axis], name, axis});
  }
  return success();
}

Result<void> EntryCheck::checkValue(ir::TypeRef root, const Value& value, const std::string& name) {
  struct PairHash {
    size_t operator()(const std::pair<ir::TypeRef, const Object*>& pair) const {
      return std::hash<const void*>{}(pair.first) * 31 + std::hash<const void*>{}(pair.second);
    }
  };
  std::unordered_set<std::pair<ir::TypeRef, const Object*>, PairHash> seen;
  std::unordered_map<ir::TypeRef, std::vector<std::vector<ir::TypeRef>>> fieldTypes;
  std::vector<std::pair<ir::TypeRef, const Value*>> stack{{root, &value}};
  while (!stack.empty()) {
    const auto [type, part] = stack.back();
    stack.pop_back();
    if (!*part) return mismatch(name, "a part of it has no value");
    if (type->isTensor()) {
      BATON_TRY(checkTensor(type, *part, name));
      continue;
    }
    if (!seen.insert({type, part->object()}).second) continue;
    if (type->isTuple()) {
      if (!part->isTuple() || part->fields().size() != type->elements().size())
        return mismatch(name, fmt::format("expected {}", ir::print(module_, type)));
      for (size_t i = type->elements().size(); i-- > 0;)
        stack.emplace_back(type->elements()[i], &part->fields()[i]);
    } else if (type->isAdt()) {
      if (!part->isData() || part->constructor().definition != type->definition())
        return mismatch(name, fmt::format("expected {}", ir::print(module_, type)));
      auto [at, isNew] = fieldTypes.try_emplace(type);
      if (isNew)
        for (uint32_t tag = 0; tag < module_.typeDef(type->definition()).constructors.size(); ++tag)
          at->second.push_back(module_.fieldTypes(type, tag));
      const std::vector<ir::TypeRef>& fields = at->second[part->constructor().tag];
      if (fields.size() != part->fields().size())
        return mismatch(name, "a value has the wrong number of fields");
      for (size_t i = fields.size(); i-- > 0;) stack.emplace_back(fields[i], &part->fields()[i]);
    } else if (type->isArray()) {
      if (!part->isArray()) return mismatch(name, fmt::format("expected {}", ir::print(module_, type)));
      const std::span<const Value> elements = part->elements();
      for (size_t i = elements.size(); i-- > 0;) stack.emplace_back(type->element(), &elements[i]);
    } else if (type->isFunction() ? !part->isFunction() : !part->isCell()) {
      return mismatch(name, fmt::format("expected {}", ir::print(module_, type)));
    }
  }
  return success();
}

// A name has its value from a tensor that every call has: a parameter, or an element of a tuple.
void EntryCheck::bindPlain(ir::TypeRef root, const Value& value) {
  std::vector<std::pair<ir::TypeRef, const Value*>> stack{{root, &value}};
  while (!stack.empty()) {
    const auto [type, part] = stack.back();
    stack.pop_back();
    if (!*part) continue;
    if (type->isTuple() && part->isTuple() && part->fields().size() == type->elements().size()) {
      for (size_t i = type->elements().size(); i-- > 0;)
        stack.emplace_back(type->elements()[i], &part->fields()[i]);
    } else if (type->isTensor() && part->isTensor() && part->asTensor().shape.size() == type->dims().size()) {
      for (size_t axis = 0; axis < type->dims().size(); ++axis) {
        const std::optional<DimSymbol> symbol = type->dims()[axis].asSymbol();
        if (symbol && symbol != ir::kAnyDim) extents_.try_emplace(*symbol, part->asTensor().shape[axis]);
      }
    }
  }
}

Result<void> EntryCheck::checkLater() {
  auto value = [&](DimSymbol symbol) { return extent(symbol); };
  for (const Later& each : later_) {
    BATON_TRY_ASSIGN(const int64_t expected, each.expr.evaluate(value));
    if (expected == each.found) continue;
    const std::string name =
        each.expr.isConstant() ? "" : fmt::format(" ({})", ir::print(module_, each.expr));
    return mismatch(each.name,
                    fmt::format("dimension {} is {}; expected {}{}", each.axis, each.found, expected, name));
  }
  return success();
}

Result<void> EntryCheck::run(const std::vector<Value>& arguments) {
  if (arguments.size() != function_.params.size())
    return Error(ErrorCode::InvalidArgument, fmt::format("@{} takes {} arguments, found {}", function_.name,
                                                         function_.params.size(), arguments.size()));
  // Plain extents of the parameters themselves come before what stands inside data.
  for (size_t i = 0; i < arguments.size(); ++i)
    bindPlain(function_.var(function_.params[i]).type, arguments[i]);
  for (size_t i = 0; i < arguments.size(); ++i) {
    const ir::VarInfo& param = function_.var(function_.params[i]);
    BATON_TRY(checkValue(param.type, arguments[i], "%" + param.name));
    if (param.valueDims && arguments[i].isTensor()) {
      const HostTensor& tensor = arguments[i].asTensor();
      const size_t size = static_cast<size_t>(sizeBytes(tensor.dtype));
      for (size_t k = 0; k < param.valueDims->size() && (k + 1) * size <= tensor.bytes.size(); ++k)
        if (auto symbol = (*param.valueDims)[k].asSymbol())
          extents_.try_emplace(*symbol, static_cast<int64_t>(convertScalar(
                                            loadScalar(tensor.bytes.data() + k * size, tensor.dtype),
                                            tensor.dtype, DType::I64)));
    }
  }
  BATON_TRY(checkLater());
  auto value = [&](DimSymbol symbol) { return extent(symbol); };
  for (const DimConstraint& constraint : function_.where) {
    BATON_TRY_ASSIGN(const int64_t lhs, constraint.lhs.evaluate(value));
    BATON_TRY_ASSIGN(const int64_t rhs, constraint.rhs.evaluate(value));
    if (!holds(constraint.relation, lhs, rhs))
      return Error(ErrorCode::InvalidArgument,
                   fmt::format("@{}: where {} {} {}: found {} and {}", function_.name,
                               ir::print(module_, constraint.lhs), relationName(constraint.relation),
                               ir::print(module_, constraint.rhs), lhs, rhs));
  }
  return success();
}

}  // namespace

Result<void> checkEntryArguments(ir::Module& module, const ir::Function& function,
                                 const std::vector<Value>& arguments) {
  return EntryCheck(module, function).run(arguments);
}

}  // namespace baton::eval
