// DimKnowledge: the store of facts. Facts and opaque atoms are found through the symbols that
// they mention, and every change of them is logged, so that it can be taken back.
#include <algorithm>

#include "base/dim.h"
#include "base/dim_normaliser.h"

namespace baton {

namespace {

DimRange intersected(DimRange a, DimRange b) { return {std::max(a.low, b.low), std::min(a.high, b.high)}; }

}  // namespace

size_t DimKnowledge::AtomHash::operator()(const DimExpr::Factor& atom) const {
  if (!atom.opaque) return atom.symbol.value() * size_t{0x9E3779B97F4A7C15u};
  const DimOpaque& inner = *atom.opaque;
  return (inner.a.hash() * 31 + inner.b.hash()) * 31 + static_cast<size_t>(inner.op);
}

bool DimKnowledge::AtomEqual::operator()(const DimExpr::Factor& a, const DimExpr::Factor& b) const {
  return DimNormaliser::compare(a, b) == 0;
}

const DimKnowledge::AtomFacts* DimKnowledge::find(const DimExpr::Factor& atom) const {
  const auto at = byAtom_.find(atom);
  return at == byAtom_.end() ? nullptr : &atoms_[at->second];
}

// Atoms stay when what is known of them is taken back: one that says nothing does no harm.
uint32_t DimKnowledge::indexOf(const DimExpr::Factor& atom) {
  const auto [at, isNew] = byAtom_.try_emplace(atom, static_cast<uint32_t>(atoms_.size()));
  if (isNew) {
    atoms_.emplace_back();
    atoms_.back().atom = atom;
    if (atom.opaque) mention(inAtoms_, DimNormaliser::atom(atom), at->second);
  }
  return at->second;
}

void DimKnowledge::declare(DimSymbol symbol, DimRange range) {
  AtomFacts& facts = atoms_[indexOf({symbol, nullptr})];
  facts.declared = intersected(facts.declared, range);
  facts.range = intersected(facts.range, range);
}

void DimKnowledge::change(uint32_t atom, AtomFacts facts) {
  AtomFacts& known = atoms_[atom];
  log_.push_back({Step::Kind::ChangedAtom, atom});
  before_.push_back(std::exchange(known, std::move(facts)));
  if (known.equals) mention(inEquals_, *known.equals, atom);
}

void DimKnowledge::addFact(Fact::Kind kind, DimExpr expr) {
  const auto index = static_cast<uint32_t>(facts_.size());
  mention(inFacts_, expr, index);
  facts_.push_back({kind, std::move(expr), true});
  log_.push_back({Step::Kind::AddedFact, index});
}

void DimKnowledge::dropFact(uint32_t index) {
  facts_[index].holds = false;
  log_.push_back({Step::Kind::DroppedFact, index});
}

void DimKnowledge::mention(Mentions& mentions, const DimExpr& expr, uint32_t index) {
  std::vector<DimSymbol> symbols;
  expr.collectSymbols(symbols);
  for (DimSymbol symbol : symbols) mentions[symbol].push_back(index);
}

void DimKnowledge::unmention(Mentions& mentions, const DimExpr& expr) {
  std::vector<DimSymbol> symbols;
  expr.collectSymbols(symbols);
  for (DimSymbol symbol : symbols) mentions[symbol].pop_back();
}

std::vector<uint32_t> DimKnowledge::sorted(std::vector<uint32_t> indices) {
  std::sort(indices.begin(), indices.end());
  indices.erase(std::unique(indices.begin(), indices.end()), indices.end());
  return indices;
}

std::vector<uint32_t> DimKnowledge::factsAbout(const DimExpr& expr) const {
  std::vector<uint32_t> found;
  if (inFacts_.empty()) return found;
  std::vector<DimSymbol> symbols;
  expr.collectSymbols(symbols);
  for (DimSymbol symbol : symbols)
    if (const auto at = inFacts_.find(symbol); at != inFacts_.end())
      found.insert(found.end(), at->second.begin(), at->second.end());
  return sorted(std::move(found));
}

std::vector<uint32_t> DimKnowledge::atomsAbout(const DimExpr& expr) const {
  std::vector<DimSymbol> symbols;
  expr.collectSymbols(symbols);
  std::vector<uint32_t> found;
  for (DimSymbol symbol : symbols)
    for (const Mentions* mentions : {&inAtoms_, &inEquals_})
      if (const auto at = mentions->find(symbol); at != mentions->end())
        found.insert(found.end(), at->second.begin(), at->second.end());
  return sorted(std::move(found));
}

void DimKnowledge::rollback(Mark mark) {
  for (; log_.size() > mark; log_.pop_back()) {
    const Step& step = log_.back();
    switch (step.kind) {
      case Step::Kind::ChangedAtom: {
        AtomFacts& facts = atoms_[step.index];
        if (facts.equals) unmention(inEquals_, *facts.equals);
        const DimRange declared = facts.declared;
        facts = std::move(before_.back());
        before_.pop_back();
        facts.declared = declared;
        facts.range = intersected(facts.range, declared);
        break;
      }
      case Step::Kind::AddedFact:
        unmention(inFacts_, facts_.back().expr);
        facts_.pop_back();
        break;
      case Step::Kind::DroppedFact: facts_[step.index].holds = true; break;
    }
  }
}

}  // namespace baton
