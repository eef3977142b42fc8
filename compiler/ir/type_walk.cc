#include "compiler/ir/type_walk.h"

#include <unordered_set>
#include <vector>

namespace baton::ir {

void forEachOwnTensor(TypeRef root, const std::function<void(TypeRef)>& f) {
  std::vector<TypeRef> stack{root};
  while (!stack.empty()) {
    TypeRef type = stack.back();
    stack.pop_back();
    if (!type->hasOwnDims()) continue;
    if (type->isTensor()) {
      f(type);
      continue;
    }
    for (size_t i = type->elements().size(); i-- > 0;) stack.push_back(type->elements()[i]);
  }
}

void forEachBoundSymbol(TypeRef type, const std::function<void(DimSymbol)>& f) {
  forEachOwnTensor(type, [&](TypeRef tensor) {
    for (const DimExpr& dim : tensor->dims())
      if (const std::optional<DimSymbol> symbol = dim.asSymbol(); symbol && *symbol != kAnyDim) f(*symbol);
  });
}

void forEachSymbol(TypeRef root, const std::function<void(DimSymbol)>& f) {
  std::unordered_set<TypeRef> seen;
  std::vector<TypeRef> stack{root};
  std::vector<DimSymbol> symbols;
  while (!stack.empty()) {
    TypeRef type = stack.back();
    stack.pop_back();
    if (!type->hasSymbols() || !seen.insert(type).second) continue;
    if (type->isTensor()) {
      symbols.clear();
      for (const DimExpr& dim : type->dims()) dim.collectSymbols(symbols);
      for (DimSymbol symbol : symbols)
        if (symbol != kAnyDim) f(symbol);
      continue;
    }
    if (type->isFunction()) stack.push_back(type->result());
    for (size_t i = type->elements().size(); i-- > 0;) stack.push_back(type->elements()[i]);
  }
}

}  // namespace baton::ir
