#include "tests/unit/base/dim_expressions.h"

namespace baton::dim_test {

DimExpr Tree::build() const {
  switch (kind) {
    case Constant: return c(value);
    case Symbol: return DimExpr::symbol(DimSymbol(static_cast<uint32_t>(value)));
    case Add: return operands[0].build() + operands[1].build();
    case Sub: return operands[0].build() - operands[1].build();
    case Mul: return operands[0].build() * operands[1].build();
    case Operation: return DimExpr::opaque(op, operands[0].build(), operands[1].build());
  }
  return {};
}

std::optional<int64_t> Tree::evaluate(const std::vector<int64_t>& values) const {
  if (kind == Constant) return value;
  if (kind == Symbol) return values[static_cast<size_t>(value)];
  const auto a = operands[0].evaluate(values);
  const auto b = operands[1].evaluate(values);
  if (!a || !b) return std::nullopt;
  if (kind == Operation) return applyDimOp(op, *a, *b);
  const __int128 wide = kind == Add   ? static_cast<__int128>(*a) + *b
                        : kind == Sub ? static_cast<__int128>(*a) - *b
                                      : static_cast<__int128>(*a) * *b;
  if (wide > (int64_t{1} << 60) || wide < -(int64_t{1} << 60)) return std::nullopt;
  return static_cast<int64_t>(wide);
}

Tree randomTree(std::mt19937& random, int depth) {
  const auto pick = [&](int count) { return static_cast<int>(random() % static_cast<uint32_t>(count)); };
  if (depth == 0 || pick(6) == 0) {
    if (pick(3) == 0) return {Tree::Constant, pick(19) - 9, DimOp::Min, {}};
    return {Tree::Symbol, pick(3), DimOp::Min, {}};
  }
  Tree tree{Tree::Add, 0, DimOp::Min, {}};
  const int choice = pick(10);
  tree.operands = {randomTree(random, depth - 1), randomTree(random, depth - 1)};
  if (choice < 3) return tree;
  tree.kind = choice == 3 ? Tree::Sub : choice == 4 ? Tree::Mul : Tree::Operation;
  tree.op = static_cast<DimOp>(pick(5));
  // Constant divisors are what the rewrites are about.
  if (tree.kind == Tree::Operation && tree.op <= DimOp::CeilDiv && pick(4) != 0)
    tree.operands[1] = {Tree::Constant, pick(25) - 8, DimOp::Min, {}};
  return tree;
}

}  // namespace baton::dim_test
