#include "kernels/codegen/nan_analysis.h"

#include <unordered_set>

namespace baton::codegen {

using loop::Kernel;
using loop::Node;
using loop::NodeId;
using loop::Op;

namespace {

/// Values that are looked at before a question counts as answered: yes.
constexpr size_t kMostValues = 512;

}  // namespace

NanAnalysis::NanAnalysis(const Kernel& kernel) : k_(kernel), users_(kernel.nodes.size()) {
  for (uint32_t i = 0; i < kernel.nodes.size(); ++i)
    for (const NodeId operand : kernel.operandsOf(NodeId(i))) users_[operand.value()].emplace_back(i);
}

NanAnalysis::Known NanAnalysis::knownOf(const Node& node, const Facts& facts) const {
  const auto ids = k_.operandsOf(node);
  const auto factOf = [&](size_t i) {
    const auto fact = facts.find(ids[i].value());
    return fact == facts.end() ? Known::Nothing : fact->second;
  };
  const auto any = [&](Known wanted) {
    for (size_t i = 0; i < ids.size(); ++i)
      if (factOf(i) == wanted) return true;
    return false;
  };
  switch (node.op) {
    case Op::Add:
    case Op::Sub:
    case Op::Mul:
    case Op::Div:
    case Op::Min:
    case Op::Max:
    case Op::Neg:
    case Op::Abs:
    case Op::Sqrt:
    case Op::Floor:
    case Op::Ceil:
    case Op::Trunc:
    case Op::Round:
    case Op::Fma: return any(Known::Nan) ? Known::Nan : Known::Nothing;
    case Op::CopySign: return factOf(0) == Known::Nan ? Known::Nan : Known::Nothing;
    case Op::Cast: return factOf(0) == Known::Nan && isFloat(node.type) ? Known::Nan : Known::Nothing;
    case Op::Eq:
    case Op::Lt:
    case Op::Le:
    case Op::Gt:
    case Op::Ge: return any(Known::Nan) ? Known::False : Known::Nothing;
    case Op::Ne: return any(Known::Nan) ? Known::True : Known::Nothing;
    case Op::Select:
      if (factOf(0) == Known::True) return factOf(1);
      if (factOf(0) == Known::False) return factOf(2);
      return factOf(1) == factOf(2) ? factOf(1) : Known::Nothing;
    default: return Known::Nothing;
  }
}

NanAnalysis::Facts NanAnalysis::whereNan(NodeId value) const {
  Facts facts{{value.value(), Known::Nan}};
  std::vector<NodeId> work = {value};
  while (!work.empty() && facts.size() < kMostValues) {
    const NodeId next = work.back();
    work.pop_back();
    for (const NodeId user : usersOf(next)) {
      if (facts.count(user.value()) != 0) continue;
      const Known known = knownOf(k_.node(user), facts);
      if (known == Known::Nothing) continue;
      facts.emplace(user.value(), known);
      work.push_back(user);
    }
  }
  return facts;
}

bool NanAnalysis::needsCanonical(NodeId id) const {
  const Node& node = k_.node(id);
  const auto ids = k_.operandsOf(node);
  const Facts facts = whereNan(node.op == Op::CopySign ? ids[1] : ids[0]);
  // Everything that hangs on the bits, up to what is known without them.
  std::unordered_set<uint32_t> seen;
  std::vector<NodeId> work = {id};
  while (!work.empty()) {
    const NodeId next = work.back();
    work.pop_back();
    if (facts.count(next.value()) != 0 || !seen.insert(next.value()).second) continue;
    if (seen.size() > kMostValues) return true;
    const Node& each = k_.node(next);
    if (!loop::isValueOp(each.op) || (isIntegerDivision(each.op) && each.target != loop::kNoMessage))
      return true;
    work.insert(work.end(), usersOf(next).begin(), usersOf(next).end());
  }
  return false;
}

}  // namespace baton::codegen
