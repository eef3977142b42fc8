#include "compiler/passes/common_operators.h"

#include <algorithm>

#include "compiler/ir/op.h"
#include "compiler/passes/ir_hash.h"

namespace baton::passes {

bool CommonOperators::hasSameObligations(const ir::Binding& a, const ir::Binding& b) const {
  return std::equal(a.obligations.begin(), a.obligations.end(), b.obligations.begin(), b.obligations.end(),
                    [&](const ir::Obligation& x, const ir::Obligation& y) {
                      return x.relation == y.relation && aliases_.resolve(x.lhs) == aliases_.resolve(y.lhs) &&
                             aliases_.resolve(x.rhs) == aliases_.resolve(y.rhs);
                    });
}

std::optional<ir::VarId> CommonOperators::findOrAdd(const ir::Binding& binding) {
  const auto& call = std::get<ir::CallOp>(binding.rhs);
  IrHash hash;
  hash.add(call.op->name);
  for (const ir::Atom& arg : call.args) hash.add(arg);
  hash.add(call.attrs);
  std::vector<ir::Binding>& candidates = byHash_[hash.value()];
  for (const ir::Binding& other : candidates) {
    const auto& earlier = std::get<ir::CallOp>(other.rhs);
    if (earlier.op == call.op && earlier.args == call.args && earlier.attrs == call.attrs &&
        hasSameObligations(binding, other))
      return other.var;
  }
  candidates.push_back(binding);
  added_.push_back(hash.value());
  return std::nullopt;
}

void CommonOperators::takeBack(size_t mark) {
  for (; added_.size() > mark; added_.pop_back()) byHash_.at(added_.back()).pop_back();
}

}  // namespace baton::passes
