// Symbols get their values from the first variable in scope that tells; expressions over them
// become scalar code, once in each scope that needs them.
#include <algorithm>

#include <fmt/format.h>

#include "base/dim_dividend.h"
#include "compiler/ir/type_walk.h"
#include "compiler/lir/lower/function_lowering.h"

namespace baton::lir {

/// Whether an extent in a tuple, or in tuples in it, is a symbol that has no value yet.
bool FunctionLowering::tellsSymbols(ir::TypeRef tuple) const {
  bool tells = false;
  ir::forEachOwnTensor(tuple, [&](ir::TypeRef type) {
    for (const DimExpr& dim : type->dims()) {
      const std::optional<DimSymbol> symbol = dim.asSymbol();
      tells = tells || (symbol && !isKnown(*symbol));
    }
  });
  return tells;
}

void FunctionLowering::learnSymbols(ir::TypeRef root, Value rootValue) {
  // Reading every extent costs nothing in the end: what nobody uses is removed.
  constexpr size_t kMaxVisited = 256;
  std::vector<std::pair<ir::TypeRef, Value>> work{{root, rootValue}};
  for (size_t visited = 0; !work.empty() && visited < kMaxVisited; ++visited) {
    const auto [type, value] = work.back();
    work.pop_back();
    if (!type->hasOwnDims()) continue;
    if (type->isTuple() && value.form == Value::Form::Tuple) {
      const std::vector<Value> elements = tuples_[value.index].elements;
      for (size_t i = elements.size(); i-- > 0;) work.emplace_back(type->elements()[i], elements[i]);
    } else if (type->isTuple() && value.form == Value::Form::Register && tellsSymbols(type)) {
      const std::vector<Value> elements = elementsOf(value, type);
      for (size_t i = elements.size(); i-- > 0;) work.emplace_back(type->elements()[i], elements[i]);
    } else if (type->isTensor() && value.form == Value::Form::Register) {
      for (size_t axis = 0; axis < type->dims().size(); ++axis) {
        const std::optional<DimSymbol> symbol = type->dims()[axis].asSymbol();
        if (!symbol || isKnown(*symbol)) continue;
        symbols_.add(*symbol,
                     emitDef(Opcode::Dim, Kind::scalar(DType::I64), {value.reg(), Operand::immediate(axis)}));
      }
    }
  }
}

void FunctionLowering::learnElements(ir::VarId var, Value value) {
  const ir::VarInfo& info = function_.var(var);
  if (!info.valueDims || value.form != Value::Form::Register || !info.type->isTensor()) return;
  const DType dtype = info.type->dtype();
  for (size_t i = 0; i < info.valueDims->size(); ++i) {
    const std::optional<DimSymbol> symbol = (*info.valueDims)[i].asSymbol();
    if (!symbol || isKnown(*symbol)) continue;
    Register element = value.reg();
    if (!info.type->isScalar())
      element = emitDef(Opcode::LoadScalar, Kind::scalar(dtype),
                        {element, std::vector<Register>{scalarConstant(DType::I64, i)}});
    symbols_.add(*symbol, castTo(element, dtype, DType::I64));
    elementSymbols_.insert(*symbol);
  }
}

bool FunctionLowering::isKnown(const DimExpr& expr) const {
  std::vector<DimSymbol> symbols;
  expr.collectSymbols(symbols);
  return std::all_of(symbols.begin(), symbols.end(), [&](DimSymbol symbol) { return isKnown(symbol); });
}

std::string FunctionLowering::symbolName(DimSymbol symbol) const {
  if (symbol.value() >= module_.source.dimSymbols.size()) return "?";
  const std::string& name = module_.source.dimSymbols.name(symbol);
  return name.empty() ? "?" : name;
}

Result<Register> FunctionLowering::dim(const DimExpr& expr, DimUse use) {
  if (const std::optional<int64_t> constant = expr.asConstant())
    return scalarConstant(DType::I64, static_cast<uint64_t>(*constant));
  if (const std::optional<DimSymbol> symbol = expr.asSymbol()) {
    if (const Register* known = symbols_.find(*symbol)) return *known;
    return unsupported(
        fmt::format("the extent {} is not known before the operator runs", symbolName(*symbol)));
  }
  if (const Register* known = dimRegisters_.find({expr, use})) return *known;
  BATON_TRY_ASSIGN(const Register result, dimSum(expr, use));
  dimRegisters_.add({expr, use}, result);
  return result;
}

// An extent is the sum of its positive terms, from which the others are taken off: as long as
// the whole is an extent, so is everything on the way. What an element of a tensor holds may be
// negative: of a term with one such factor, one part is 0 and added or taken off where it belongs.
// A number may be negative, and wraps only if it would not fit itself.
Result<Register> FunctionLowering::dimSum(const DimExpr& expr, DimUse use) {
  Register sum = kNoRegister;
  const Kind kind = Kind::scalar(DType::I64);
  for (const bool positive : {true, false}) {
    for (const DimExpr::Term& term : expr.terms()) {
      // What would be taken off has no 64-bit form; a number may as well have it added.
      const bool isLeast = term.coefficient == INT64_MIN;
      if (isLeast && use == DimUse::Extent) return unsupported("an extent is too large");
      const DimExpr::Factor* factor =
          use == DimUse::Extent && expr.terms().size() > 1 ? factorOfEitherSign(term) : nullptr;
      if (factor == nullptr && (term.coefficient > 0 || isLeast) != positive) continue;
      const bool isAdded = term.coefficient > 0 || isLeast;
      Register part = kNoRegister;
      if (factor != nullptr) {
        BATON_TRY_ASSIGN(const Register element, dim(DimExpr::symbol(factor->symbol), use));
        part = partOfSign(element, isAdded == positive);
      }
      BATON_TRY_ASSIGN(const Register value,
                       dimProduct(term, isAdded ? term.coefficient : -term.coefficient, use, factor, part));
      if (sum == kNoRegister && positive) {
        sum = value;
        continue;
      }
      if (sum == kNoRegister) sum = scalarConstant(DType::I64, 0);
      const Opcode add = use == DimUse::Extent ? Opcode::ExtentAdd : Opcode::AddI64;
      const Opcode subtract = use == DimUse::Extent ? Opcode::ExtentSub : Opcode::SubI64;
      sum = emitDef(positive ? add : subtract, kind, {sum, value});
    }
  }
  if (sum == kNoRegister) return unsupported("an extent is too large");
  return sum;
}

/// The factor of a term that an element of a tensor holds, if it is one.
const DimExpr::Factor* FunctionLowering::factorOfEitherSign(const DimExpr::Term& term) const {
  const DimExpr::Factor* found = nullptr;
  for (const DimExpr::Factor& factor : term.factors) {
    if (factor.opaque != nullptr || !elementSymbols_.contains(factor.symbol)) continue;
    if (found != nullptr) return nullptr;
    found = &factor;
  }
  return found;
}

/// The value, or what it is below 0; 0 where it has the other sign.
Register FunctionLowering::partOfSign(Register value, bool positive) {
  const Kind kind = Kind::scalar(DType::I64);
  const Register zero = scalarConstant(DType::I64, 0);
  if (positive) return emitDef(Opcode::MaxI64, kind, {value, zero});
  return emitDef(Opcode::ExtentSub, kind, {zero, emitDef(Opcode::MinI64, kind, {value, zero})});
}

Result<Register> FunctionLowering::dimProduct(const DimExpr::Term& term, int64_t coefficient, DimUse use,
                                              const DimExpr::Factor* replaced, Register part) {
  Register product = kNoRegister;
  if (coefficient != 1 || term.factors.empty())
    product = scalarConstant(DType::I64, static_cast<uint64_t>(coefficient));
  for (const DimExpr::Factor& factor : term.factors) {
    Register value = kNoRegister;
    if (&factor == replaced) {
      value = part;
    } else if (factor.opaque != nullptr) {
      const DimExpr whole = DimExpr::opaque(factor.opaque->op, factor.opaque->a, factor.opaque->b);
      if (const Register* known = dimRegisters_.find({whole, DimUse::Number})) {
        value = *known;
      } else {
        BATON_TRY_ASSIGN(value, dimOpaque(*factor.opaque));
        dimRegisters_.add({whole, DimUse::Number}, value);
      }
    } else {
      BATON_TRY_ASSIGN(value, dim(DimExpr::symbol(factor.symbol), use));
    }
    product = product == kNoRegister ? value
                                     : emitDef(use == DimUse::Extent ? Opcode::ExtentMul : Opcode::MulI64,
                                               Kind::scalar(DType::I64), {product, value});
  }
  return product;
}

Result<Register> FunctionLowering::dimOpaque(const DimOpaque& opaque) {
  if (opaque.op == DimOp::TooLarge) {  // an error where it is computed
    const Register most = scalarConstant(DType::I64, static_cast<uint64_t>(INT64_MAX));
    return emitDef(Opcode::ExtentMul, Kind::scalar(DType::I64), {most, most});
  }
  if (const std::optional<DimExpr> dividend = loweredDividend(opaque)) {
    BATON_TRY_ASSIGN(const Register a, dim(*dividend, DimUse::Number));
    BATON_TRY_ASSIGN(const Register b, dim(opaque.b, DimUse::Number));
    const Register quotient = emitDef(Opcode::FloorDivI64, Kind::scalar(DType::I64), {a, b});
    return emitDef(Opcode::AddI64, Kind::scalar(DType::I64), {quotient, scalarConstant(DType::I64, 1)});
  }
  // Operands may be negative (a position counted from the end) though the whole is not.
  BATON_TRY_ASSIGN(const Register a, dim(opaque.a, DimUse::Number));
  BATON_TRY_ASSIGN(const Register b, dim(opaque.b, DimUse::Number));
  Opcode opcode = Opcode::MinI64;
  switch (opaque.op) {
    case DimOp::FloorDiv: opcode = Opcode::FloorDivI64; break;
    case DimOp::FloorMod: opcode = Opcode::FloorModI64; break;
    case DimOp::CeilDiv: opcode = Opcode::CeilDivI64; break;
    case DimOp::Min: opcode = Opcode::MinI64; break;
    case DimOp::Max: opcode = Opcode::MaxI64; break;
    case DimOp::TooLarge: break;
  }
  return emitDef(opcode, Kind::scalar(DType::I64), {a, b});
}

Result<std::vector<Register>> FunctionLowering::extentsOf(ir::TypeRef tensor) {
  std::vector<Register> extents;
  for (const DimExpr& expr : tensor->dims()) {
    BATON_TRY_ASSIGN(const Register extent, dim(expr, DimUse::Extent));
    extents.push_back(extent);
  }
  return extents;
}

Result<void> FunctionLowering::checkObligations(const ir::Binding& binding) {
  for (const ir::Obligation& obligation : binding.obligations) {
    BATON_TRY_ASSIGN(const Register lhs, dim(obligation.lhs, DimUse::Number));
    BATON_TRY_ASSIGN(const Register rhs, dim(obligation.rhs, DimUse::Number));
    std::string_view mnemonic;
    bool swap = false;
    switch (obligation.relation) {
      case Relation::Eq: mnemonic = "eq.i64"; break;
      case Relation::Ne: mnemonic = "ne.i64"; break;
      case Relation::Lt: mnemonic = "lt.i64"; break;
      case Relation::Le: mnemonic = "le.i64"; break;
      case Relation::Gt:
        mnemonic = "lt.i64";
        swap = true;
        break;
      case Relation::Ge:
        mnemonic = "le.i64";
        swap = true;
        break;
    }
    const Register holds =
        emitScalar(mnemonic, Kind::scalar(DType::Bool), {swap ? rhs : lhs, swap ? lhs : rhs});
    std::vector<Register> shown;
    for (const DimExpr& expr : obligation.shown) {
      BATON_TRY_ASSIGN(const Register value, dim(expr, DimUse::Number));
      shown.push_back(value);
    }
    emit(Opcode::Check, {holds, module_.tables.message(obligation.message), shown});
  }
  return success();
}

}  // namespace baton::lir
