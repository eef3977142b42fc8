// Representation of dim expressions: construction from sorted terms, order, hash, access.
#include "base/dim.h"

#include <algorithm>

#include "base/dim_normaliser.h"

namespace baton {

namespace {

uint64_t mix(uint64_t hash, uint64_t value) {
  hash ^= value + 0x9E3779B97F4A7C15u + (hash << 6) + (hash >> 2);
  hash ^= hash >> 32;
  hash *= 0xD6E8FEB86659FD93u;
  return hash ^ (hash >> 29);
}

uint64_t hashOf(const DimExpr::Rep* rep) { return rep ? rep->hash : 1; }
uint64_t secondHashOf(const DimExpr::Rep* rep) { return rep ? rep->secondHash : 2; }

uint32_t saturatingAdd(uint32_t a, uint32_t b) { return a + b < a ? UINT32_MAX : a + b; }

}  // namespace

DimExpr DimNormaliser::make(std::vector<Term> terms, char tag, const DimExpr& a, const DimExpr& b) {
  DimExpr result;
  if (terms.empty()) return result;
  auto rep = std::make_shared<DimExpr::Rep>();
  uint64_t hash = 3;
  uint64_t second = 5;
  for (const Term& term : terms) {
    hash = mix(hash, static_cast<uint64_t>(term.coefficient));
    second = mix(second, ~static_cast<uint64_t>(term.coefficient));
    rep->size = saturatingAdd(rep->size, 1);
    for (const Factor& factor : term.factors) {
      rep->size = saturatingAdd(rep->size, 1);
      if (!factor.opaque) {
        hash = mix(hash, 16 + uint64_t{factor.symbol.value()});
        second = mix(second, 16 + uint64_t{factor.symbol.value()});
        continue;
      }
      const DimOpaque& opaque = *factor.opaque;
      const DimExpr::Rep* left = opaque.a.rep_.get();
      const DimExpr::Rep* right = opaque.b.rep_.get();
      hash = mix(mix(mix(hash, static_cast<uint64_t>(opaque.op)), hashOf(left)), hashOf(right));
      second =
          mix(mix(mix(second, static_cast<uint64_t>(opaque.op)), secondHashOf(left)), secondHashOf(right));
      uint32_t inner = 0;
      for (const DimExpr::Rep* operand : {left, right}) {
        if (!operand) continue;
        inner = std::max(inner, operand->depth);
        rep->size = saturatingAdd(rep->size, operand->size);
        rep->tooLarge |= operand->tooLarge;
      }
      rep->depth = std::max(rep->depth, inner + 1);
      rep->tooLarge |= opaque.op == DimOp::TooLarge;
    }
  }
  if (rep->depth > kMaxDimDepth || rep->size > kMaxDimSize) return tooLarge(tag, a, b);
  rep->hash = hash;
  rep->secondHash = second;
  rep->terms = std::move(terms);
  result.rep_ = std::move(rep);
  return result;
}

DimExpr DimNormaliser::single(Term term) {
  std::vector<Term> terms;
  terms.push_back(std::move(term));
  return make(std::move(terms), '1', {}, {});
}

DimExpr DimNormaliser::tooLarge(char tag, const DimExpr& a, const DimExpr& b) {
  const auto kind = static_cast<uint64_t>(tag);
  const uint64_t first = mix(mix(kind, hashOf(a.rep_.get())), hashOf(b.rep_.get()));
  const uint64_t second = mix(mix(~kind, secondHashOf(a.rep_.get())), secondHashOf(b.rep_.get()));
  return keep(DimOp::TooLarge, DimExpr::constant(static_cast<int64_t>(first)),
              DimExpr::constant(static_cast<int64_t>(second)));
}

DimExpr DimNormaliser::keep(DimOp op, const DimExpr& a, const DimExpr& b) {
  std::vector<Term> terms(1);
  terms[0].coefficient = 1;
  terms[0].factors.push_back({DimSymbol(), std::make_shared<const DimOpaque>(DimOpaque{op, a, b})});
  return make(std::move(terms), static_cast<char>(op), a, b);
}

std::strong_ordering DimNormaliser::compare(const Factor& a, const Factor& b) {
  if (!a.opaque || !b.opaque) {
    if (!a.opaque && !b.opaque) return a.symbol <=> b.symbol;
    return a.opaque ? std::strong_ordering::greater : std::strong_ordering::less;
  }
  if (a.opaque == b.opaque) return std::strong_ordering::equal;
  if (auto order = a.opaque->op <=> b.opaque->op; order != 0) return order;
  if (auto order = compare(a.opaque->a, b.opaque->a); order != 0) return order;
  return compare(a.opaque->b, b.opaque->b);
}

std::strong_ordering DimNormaliser::compare(std::span<const Factor> a, std::span<const Factor> b) {
  for (size_t i = 0; i < a.size() && i < b.size(); ++i)
    if (auto order = compare(a[i], b[i]); order != 0) return order;
  return b.size() <=> a.size();
}

std::strong_ordering DimNormaliser::compare(const DimExpr& a, const DimExpr& b) {
  if (a.rep_ == b.rep_) return std::strong_ordering::equal;
  const auto left = a.terms();
  const auto right = b.terms();
  for (size_t i = 0; i < left.size() && i < right.size(); ++i) {
    if (auto order = compare(left[i].factors, right[i].factors); order != 0) return order;
    if (auto order = left[i].coefficient <=> right[i].coefficient; order != 0) return order;
  }
  return left.size() <=> right.size();
}

DimExpr DimExpr::constant(int64_t value) {
  if (value == 0) return {};
  return DimNormaliser::single({value, {}});
}

DimExpr DimExpr::symbol(DimSymbol symbol) { return DimNormaliser::single({1, {{symbol, nullptr}}}); }

std::span<const DimExpr::Term> DimExpr::terms() const {
  if (!rep_) return {};
  return rep_->terms;
}

std::optional<int64_t> DimExpr::asConstant() const {
  if (!rep_) return 0;
  if (rep_->terms.size() == 1 && rep_->terms[0].factors.empty()) return rep_->terms[0].coefficient;
  return std::nullopt;
}

std::optional<DimSymbol> DimExpr::asSymbol() const {
  const auto all = terms();
  if (all.size() != 1 || all[0].coefficient != 1 || all[0].factors.size() != 1 || all[0].factors[0].opaque)
    return std::nullopt;
  return all[0].factors[0].symbol;
}

const DimOpaque* DimExpr::asOpaque() const {
  const auto all = terms();
  if (all.size() != 1 || all[0].coefficient != 1 || all[0].factors.size() != 1) return nullptr;
  return all[0].factors[0].opaque.get();
}

bool DimExpr::isTooLarge() const { return rep_ && rep_->tooLarge; }

bool operator==(const DimExpr& a, const DimExpr& b) {
  if (a.rep_ == b.rep_) return true;
  if (a.hash() != b.hash()) return false;
  return DimNormaliser::compare(a, b) == 0;
}

std::strong_ordering operator<=>(const DimExpr& a, const DimExpr& b) { return DimNormaliser::compare(a, b); }

size_t DimExpr::hash() const { return hashOf(rep_.get()); }

void DimExpr::collectSymbols(std::vector<DimSymbol>& out) const {
  for (const Term& term : terms())
    for (const Factor& factor : term.factors) {
      if (factor.opaque) {
        factor.opaque->a.collectSymbols(out);
        factor.opaque->b.collectSymbols(out);
      } else if (std::find(out.begin(), out.end(), factor.symbol) == out.end()) {
        out.push_back(factor.symbol);
      }
    }
}

const char* dimOpName(DimOp op) {
  switch (op) {
    case DimOp::FloorDiv: return "floor_div";
    case DimOp::FloorMod: return "floor_mod";
    case DimOp::CeilDiv: return "ceil_div";
    case DimOp::Min: return "min";
    case DimOp::Max: return "max";
    case DimOp::TooLarge: return "too_large";
  }
  return "unknown";
}

const char* relationName(Relation relation) {
  switch (relation) {
    case Relation::Eq: return "==";
    case Relation::Ne: return "!=";
    case Relation::Lt: return "<";
    case Relation::Le: return "<=";
    case Relation::Gt: return ">";
    case Relation::Ge: return ">=";
  }
  return "unknown";
}

bool holds(Relation relation, int64_t a, int64_t b) {
  switch (relation) {
    case Relation::Eq: return a == b;
    case Relation::Ne: return a != b;
    case Relation::Lt: return a < b;
    case Relation::Le: return a <= b;
    case Relation::Gt: return a > b;
    case Relation::Ge: return a >= b;
  }
  return false;
}

}  // namespace baton
