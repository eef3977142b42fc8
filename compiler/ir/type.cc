#include "compiler/ir/type.h"

#include <algorithm>

#include "base/error.h"

namespace baton::ir {
namespace {

void mix(size_t& seed, size_t value) { seed ^= value + 0x9e3779b97f4a7c15ULL + (seed << 6) + (seed >> 2); }

}  // namespace

DType Type::dtype() const {
  BATON_CHECK(kind_ == TypeKind::Tensor);
  return dtype_;
}

std::span<const DimExpr> Type::dims() const {
  BATON_CHECK(kind_ == TypeKind::Tensor);
  return dims_;
}

bool Type::hasStaticDims() const {
  return std::all_of(dims_.begin(), dims_.end(), [](const DimExpr& dim) { return dim.isConstant(); });
}

TypeRef Type::result() const {
  BATON_CHECK(kind_ == TypeKind::Function);
  return result_;
}

TypeRef Type::pointee() const {
  BATON_CHECK(kind_ == TypeKind::Ref);
  return elements_[0];
}

TypeRef Type::element() const {
  BATON_CHECK(kind_ == TypeKind::Array);
  return elements_[0];
}

TypeDefId Type::definition() const {
  BATON_CHECK(kind_ == TypeKind::Adt);
  return TypeDefId(index_);
}

TypeVarId Type::variable() const {
  BATON_CHECK(kind_ == TypeKind::Var);
  return TypeVarId(index_);
}

DimSymbol DimSymbolTable::add(std::string name) {
  names_.push_back(std::move(name));
  return DimSymbol(static_cast<uint32_t>(names_.size() - 1));
}

TypeRef TypeTable::intern(Type type) {
  size_t hash = static_cast<size_t>(type.kind_);
  mix(hash, static_cast<size_t>(type.dtype_));
  mix(hash, type.index_);
  for (const DimExpr& dim : type.dims_) mix(hash, dim.hash());
  for (TypeRef element : type.elements_) mix(hash, element->id());
  if (type.result_ != nullptr) mix(hash, type.result_->id());
  auto [first, last] = byHash_.equal_range(hash);
  for (auto it = first; it != last; ++it) {
    const Type& other = *it->second;
    if (other.kind_ == type.kind_ && other.dtype_ == type.dtype_ && other.index_ == type.index_ &&
        other.result_ == type.result_ && other.elements_ == type.elements_ && other.dims_ == type.dims_)
      return it->second;
  }
  type.id_ = static_cast<uint32_t>(types_.size());
  type.isOpen_ = type.kind_ == TypeKind::Var || type.kind_ == TypeKind::Hole;
  auto count = [&](TypeRef part) {
    type.isOpen_ |= part->isOpen_;
    if (__builtin_add_overflow(type.writtenSize_, part->writtenSize_, &type.writtenSize_))
      type.writtenSize_ = UINT64_MAX;
  };
  for (TypeRef element : type.elements_) count(element);
  if (type.result_ != nullptr) count(type.result_);
  types_.push_back(std::move(type));
  byHash_.emplace(hash, &types_.back());
  return &types_.back();
}

TypeRef TypeTable::tensor(DType dtype, std::vector<DimExpr> dims) {
  Type type;
  type.kind_ = TypeKind::Tensor;
  type.dtype_ = dtype;
  type.dims_ = std::move(dims);
  return intern(std::move(type));
}

TypeRef TypeTable::tensor(DType dtype, std::initializer_list<int64_t> extents) {
  std::vector<DimExpr> dims;
  for (int64_t extent : extents) dims.push_back(DimExpr::constant(extent));
  return tensor(dtype, std::move(dims));
}

TypeRef TypeTable::tuple(std::vector<TypeRef> elements) {
  Type type;
  type.kind_ = TypeKind::Tuple;
  type.elements_ = std::move(elements);
  return intern(std::move(type));
}

TypeRef TypeTable::function(std::vector<TypeRef> params, TypeRef result) {
  Type type;
  type.kind_ = TypeKind::Function;
  type.elements_ = std::move(params);
  type.result_ = result;
  return intern(std::move(type));
}

TypeRef TypeTable::adt(TypeDefId definition, std::vector<TypeRef> arguments) {
  Type type;
  type.kind_ = TypeKind::Adt;
  type.index_ = definition.value();
  type.elements_ = std::move(arguments);
  return intern(std::move(type));
}

TypeRef TypeTable::ref(TypeRef pointee) {
  Type type;
  type.kind_ = TypeKind::Ref;
  type.elements_ = {pointee};
  return intern(std::move(type));
}

TypeRef TypeTable::array(TypeRef element) {
  Type type;
  type.kind_ = TypeKind::Array;
  type.elements_ = {element};
  return intern(std::move(type));
}

TypeRef TypeTable::variable(TypeVarId variable) {
  Type type;
  type.kind_ = TypeKind::Var;
  type.index_ = variable.value();
  return intern(std::move(type));
}

TypeRef TypeTable::hole() {
  Type type;
  type.kind_ = TypeKind::Hole;
  return intern(std::move(type));
}

TypeRef TypeTable::rewrite(TypeRef root, const std::function<TypeRef(TypeRef)>& leaf,
                           const std::function<TypeRef(TypeRef)>& composite) {
  // Post-order over the (shared) type graph; `done` holds finished nodes of this call.
  std::unordered_map<TypeRef, TypeRef> done;
  std::vector<TypeRef> stack{root};
  while (!stack.empty()) {
    TypeRef type = stack.back();
    if (done.contains(type)) {
      stack.pop_back();
      continue;
    }
    TypeKind kind = type->kind();
    if (kind == TypeKind::Tensor || kind == TypeKind::Var || kind == TypeKind::Hole) {
      done[type] = leaf(type);
      stack.pop_back();
      continue;
    }
    bool ready = true;
    auto need = [&](TypeRef part) {
      if (!done.contains(part)) {
        stack.push_back(part);
        ready = false;
      }
    };
    for (TypeRef element : type->elements()) need(element);
    if (kind == TypeKind::Function) need(type->result());
    if (!ready) continue;
    stack.pop_back();
    Type copy;
    copy.kind_ = kind;
    copy.index_ = type->index_;
    for (TypeRef element : type->elements()) copy.elements_.push_back(done.at(element));
    if (kind == TypeKind::Function) copy.result_ = done.at(type->result());
    TypeRef rebuilt = intern(std::move(copy));
    done[type] = composite ? composite(rebuilt) : rebuilt;
  }
  return done.at(root);
}

TypeRef TypeTable::substitute(TypeRef type, std::span<const TypeVarId> generics,
                              std::span<const TypeRef> arguments) {
  if (generics.empty()) return type;
  return rewrite(type, [&](TypeRef leaf) -> TypeRef {
    if (leaf->kind() != TypeKind::Var) return leaf;
    for (size_t i = 0; i < generics.size(); ++i)
      if (generics[i] == leaf->variable()) return arguments[i];
    return leaf;
  });
}

TypeRef TypeTable::substituteDims(TypeRef type, const std::function<std::optional<DimExpr>(DimSymbol)>& f) {
  return rewrite(type, [&](TypeRef leaf) -> TypeRef {
    if (!leaf->isTensor() || leaf->dims().empty()) return leaf;
    std::vector<DimExpr> dims;
    for (const DimExpr& dim : leaf->dims()) dims.push_back(dim.substitute(f));
    return tensor(leaf->dtype(), std::move(dims));
  });
}

}  // namespace baton::ir
