#include "compiler/eval/entry_check.h"

#include <algorithm>
#include <initializer_list>
#include <unordered_map>
#include <unordered_set>

#include <fmt/format.h>

#include "compiler/eval/text.h"
#include "compiler/ir/printer.h"

namespace baton::eval {
namespace {

/// Checks each part once: lists are long and data may be shared.
class EntryCheck {
 public:
  EntryCheck(ir::Module& module, const ir::Function& function) : module_(module), function_(function) {}
  Result<void> run(const std::vector<Value>& arguments);

 private:
  /// Where in an argument something stands: part of `holder`, and of which item of the innermost list.
  struct Place {
    ir::TypeRef holder = nullptr;
    uint32_t tag = 0;
    size_t part = 0;
    int64_t item = -1;
  };
  Result<void> checkTensor(ir::TypeRef type, const Value& value, const std::string& name, const Place& place);
  Result<void> checkValue(ir::TypeRef type, const Value& value, const std::string& name);
  Place placeOfPart(const Place& whole, ir::TypeRef type, uint32_t tag, size_t part,
                    ir::TypeRef partType) const;
  std::string placeText(const std::string& name, const Place& place) const;
  void bindPlain(ir::TypeRef type, const Value& value, const std::string& name);
  Result<void> checkLater(bool isInParts);
  Result<void> checkConstraint(const DimConstraint& constraint);
  std::optional<int64_t> extent(DimSymbol symbol) const {
    auto at = extents_.find(symbol);
    return at == extents_.end() ? std::nullopt : std::optional<int64_t>(at->second.extent);
  }

  struct Bound {
    int64_t extent;
    std::string by;
  };
  struct Later {
    DimExpr expr;
    int64_t found;
    size_t axis;
    std::string name;
    Place place;
  };
  ir::Module& module_;
  const ir::Function& function_;
  std::unordered_map<DimSymbol, Bound> extents_;
  std::vector<Later> later_;
};

Error mismatch(const std::string& name, const std::string& what) {
  return Error(ErrorCode::InvalidArgument, fmt::format("{}: {}", name, what));
}

std::vector<DimSymbol> symbolsIn(std::initializer_list<const DimExpr*> exprs) {
  std::vector<DimSymbol> symbols;
  for (const DimExpr* expr : exprs) expr->collectSymbols(symbols);
  return symbols;
}

/// A list is its items in a row, and each nested one counts its own.
EntryCheck::Place EntryCheck::placeOfPart(const Place& whole, ir::TypeRef type, uint32_t tag, size_t part,
                                          ir::TypeRef partType) const {
  Place place{type, tag, part, whole.item};
  const bool isList = listTags(module_, type).has_value();
  if (isList && place.item < 0) place.item = 0;
  if (isList && partType == type)
    ++place.item;
  else if (listTags(module_, partType))
    place.item = -1;
  return place;
}

std::string EntryCheck::placeText(const std::string& name, const Place& place) const {
  if (place.holder == nullptr) return name;
  if (listTags(module_, place.holder)) return fmt::format("{}: item {}", name, place.item);
  std::string part = fmt::format("{} {}", place.holder->isArray() ? "element" : "field", place.part);
  if (place.holder->isAdt())
    part += fmt::format(" of {}", module_.typeDef(place.holder->definition()).constructors[place.tag].name);
  return place.item < 0 ? fmt::format("{}: {}", name, part)
                        : fmt::format("{}: item {}, {}", name, place.item, part);
}

// The messages are those of the entry points of executables.
Result<void> EntryCheck::checkTensor(ir::TypeRef type, const Value& value, const std::string& name,
                                     const Place& place) {
  if (!value.isTensor()) return mismatch(name, fmt::format("expected {}", ir::print(module_, type)));
  const std::vector<int64_t>& shape = value.asTensor().shape;
  const std::span<const DimExpr> dims = type->dims();
  if (value.asTensor().dtype != type->dtype() || shape.size() != dims.size())
    return mismatch(name, fmt::format("expected {}, found {} of rank {}", ir::print(module_, type),
                                      dtypeName(value.asTensor().dtype), shape.size()));
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    if (const std::optional<int64_t> constant = dims[axis].asConstant()) {
      if (*constant != shape[axis])
        return mismatch(placeText(name, place),
                        fmt::format("dimension {} is {}, expected {}", axis, shape[axis], *constant));
      continue;
    }
    const std::optional<DimSymbol> symbol = dims[axis].asSymbol();
    if (symbol == ir::kAnyDim) continue;
    if (symbol && !extents_.contains(*symbol)) continue;  // stands for whatever is there
    later_.push_back({dims[axis], shape[axis], axis, name, place});
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
  struct Step {
    ir::TypeRef type;
    const Value* part;
    Place place;
  };
  std::vector<Step> stack{{root, &value, {}}};
  while (!stack.empty()) {
    const auto [type, part, place] = stack.back();
    stack.pop_back();
    if (!*part) return mismatch(name, "a part of it has no value");
    if (type->isTensor()) {
      BATON_TRY(checkTensor(type, *part, name, place));
      continue;
    }
    if (!seen.insert({type, part->object()}).second) continue;
    if (type->isTuple()) {
      if (!part->isTuple() || part->fields().size() != type->elements().size())
        return mismatch(name, fmt::format("expected {}", ir::print(module_, type)));
      for (size_t i = type->elements().size(); i-- > 0;)
        stack.push_back(
            {type->elements()[i], &part->fields()[i], placeOfPart(place, type, 0, i, type->elements()[i])});
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
      for (size_t i = fields.size(); i-- > 0;)
        stack.push_back(
            {fields[i], &part->fields()[i], placeOfPart(place, type, part->constructor().tag, i, fields[i])});
    } else if (type->isArray()) {
      if (!part->isArray()) return mismatch(name, fmt::format("expected {}", ir::print(module_, type)));
      const std::span<const Value> elements = part->elements();
      for (size_t i = elements.size(); i-- > 0;)
        stack.push_back({type->element(), &elements[i], {type, 0, i, place.item}});
    } else if (type->isFunction() ? !part->isFunction() : !part->isCell()) {
      return mismatch(name, fmt::format("expected {}", ir::print(module_, type)));
    }
  }
  return success();
}

// A name has its value from a tensor that every call has: a parameter, or an element of a tuple.
void EntryCheck::bindPlain(ir::TypeRef root, const Value& value, const std::string& name) {
  struct Step {
    ir::TypeRef type;
    const Value* part;
    std::string name;
  };
  std::vector<Step> stack{{root, &value, name}};
  while (!stack.empty()) {
    const Step step = std::move(stack.back());
    stack.pop_back();
    const auto& [type, part, place] = step;
    if (!*part) continue;
    if (type->isTuple() && part->isTuple() && part->fields().size() == type->elements().size()) {
      for (size_t i = type->elements().size(); i-- > 0;)
        stack.push_back({type->elements()[i], &part->fields()[i], fmt::format("field {} of {}", i, place)});
    } else if (type->isTensor() && part->isTensor() && part->asTensor().shape.size() == type->dims().size()) {
      for (size_t axis = 0; axis < type->dims().size(); ++axis) {
        const std::optional<DimSymbol> symbol = type->dims()[axis].asSymbol();
        if (symbol && symbol != ir::kAnyDim)
          extents_.try_emplace(
              *symbol, Bound{part->asTensor().shape[axis], fmt::format("dimension {} of {}", axis, place)});
      }
    }
  }
}

/// Those inside tuples and data, or the others.
Result<void> EntryCheck::checkLater(bool isInParts) {
  const auto value = [&](DimSymbol symbol) { return extent(symbol); };
  for (const Later& each : later_) {
    if ((each.place.holder != nullptr) != isInParts) continue;
    const std::vector<DimSymbol> used = symbolsIn({&each.expr});
    // An extent over a name that nothing binds may be anything.
    if (!std::all_of(used.begin(), used.end(), [&](DimSymbol symbol) { return extents_.contains(symbol); }))
      continue;
    const Result<int64_t> expected = each.expr.evaluate(value);
    if (expected.has_value() && expected.assume_value() == each.found) continue;
    const std::string where =
        fmt::format("{}: dimension {} is {}", placeText(each.name, each.place), each.axis, each.found);
    std::vector<std::string> bound;
    for (const DimSymbol symbol : used)
      bound.push_back(fmt::format("{} was bound to {} by {}", module_.dimSymbols.name(symbol),
                                  extents_.at(symbol).extent, extents_.at(symbol).by));
    if (each.expr.asSymbol())
      return Error(ErrorCode::InvalidArgument, fmt::format("{}, but {}", where, bound[0]));
    return Error(ErrorCode::InvalidArgument,
                 fmt::format("{}, expected {} = {}, where {}", where, ir::print(module_, each.expr),
                             expected.has_value() ? std::to_string(expected.assume_value()) : "no extent",
                             fmt::join(bound, ", ")));
  }
  return success();
}

Result<void> EntryCheck::checkConstraint(const DimConstraint& constraint) {
  const auto value = [&](DimSymbol symbol) { return extent(symbol); };
  const Result<int64_t> lhs = constraint.lhs.evaluate(value);
  const Result<int64_t> rhs = constraint.rhs.evaluate(value);
  if (lhs.has_value() && rhs.has_value() &&
      holds(constraint.relation, lhs.assume_value(), rhs.assume_value()))
    return success();
  std::vector<std::string> bound;
  for (const DimSymbol symbol : symbolsIn({&constraint.lhs, &constraint.rhs}))
    if (const auto at = extents_.find(symbol); at != extents_.end())
      bound.push_back(fmt::format("{} is {}, bound by {}", module_.dimSymbols.name(symbol), at->second.extent,
                                  at->second.by));
  return Error(ErrorCode::InvalidArgument,
               fmt::format("{} {} {} does not hold: {}", ir::print(module_, constraint.lhs),
                           relationName(constraint.relation), ir::print(module_, constraint.rhs),
                           fmt::join(bound, ", ")));
}

Result<void> EntryCheck::run(const std::vector<Value>& arguments) {
  if (arguments.size() != function_.params.size())
    return Error(ErrorCode::InvalidArgument, fmt::format("@{} takes {} arguments, found {}", function_.name,
                                                         function_.params.size(), arguments.size()));
  const auto nameOf = [&](size_t i) {
    return fmt::format("argument %{}", function_.var(function_.params[i]).name);
  };
  // Plain extents of the parameters themselves come before what stands inside data.
  for (size_t i = 0; i < arguments.size(); ++i)
    bindPlain(function_.var(function_.params[i]).type, arguments[i], nameOf(i));
  for (size_t i = 0; i < arguments.size(); ++i) {
    const ir::VarInfo& param = function_.var(function_.params[i]);
    BATON_TRY(checkValue(param.type, arguments[i], nameOf(i)));
    if (param.valueDims && arguments[i].isTensor()) {
      const HostTensor& tensor = arguments[i].asTensor();
      const size_t size = static_cast<size_t>(sizeBytes(tensor.dtype));
      for (size_t k = 0; k < param.valueDims->size() && (k + 1) * size <= tensor.bytes.size(); ++k)
        if (auto symbol = (*param.valueDims)[k].asSymbol())
          extents_.try_emplace(
              *symbol,
              Bound{static_cast<int64_t>(convertScalar(
                        loadScalar(tensor.bytes.data() + k * size, tensor.dtype), tensor.dtype, DType::I64)),
                    nameOf(i)});
    }
  }
  BATON_TRY(checkLater(false));
  BATON_TRY(checkLater(true));
  for (const DimConstraint& constraint : function_.where) BATON_TRY(checkConstraint(constraint));
  return success();
}

}  // namespace

Result<void> checkEntryArguments(ir::Module& module, const ir::Function& function,
                                 const std::vector<Value>& arguments) {
  return EntryCheck(module, function).run(arguments);
}

}  // namespace baton::eval
