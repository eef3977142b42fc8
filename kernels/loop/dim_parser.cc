#include "kernels/loop/dim_parser.h"

#include <fmt/format.h>

namespace baton::loop {

namespace {

constexpr int kMaxDimNesting = 64;

class DimParser {
 public:
  DimParser(TokenStream& tokens, const SymbolLookup& symbols) : tokens_(tokens), symbols_(symbols) {}

  Result<DimExpr> sum(int depth) {
    if (depth > kMaxDimNesting)
      return tokens_.error(fmt::format("expected a dim expression nested at most {} deep", kMaxDimNesting));
    BATON_TRY_ASSIGN(const bool negative, tokens_.acceptPunct("-"));
    BATON_TRY_ASSIGN(DimExpr result, product(depth));
    if (negative) result = DimExpr() - result;
    for (;;) {
      BATON_TRY_ASSIGN(const bool plus, tokens_.acceptPunct("+"));
      if (plus) {
        BATON_TRY_ASSIGN(const DimExpr next, product(depth));
        result = result + next;
        continue;
      }
      BATON_TRY_ASSIGN(const bool minus, tokens_.acceptPunct("-"));
      if (!minus) return result;
      BATON_TRY_ASSIGN(const DimExpr next, product(depth));
      result = result - next;
    }
  }

 private:
  Result<DimExpr> product(int depth) {
    BATON_TRY_ASSIGN(DimExpr result, factor(depth));
    for (;;) {
      BATON_TRY_ASSIGN(const bool times, tokens_.acceptPunct("*"));
      if (!times) return result;
      BATON_TRY_ASSIGN(const DimExpr next, factor(depth));
      result = result * next;
    }
  }

  Result<DimExpr> factor(int depth) {
    if (tokens_.peek().kind == TokenKind::Number) {
      // One more than the largest int64 is the magnitude of the smallest.
      BATON_TRY_ASSIGN(const uint64_t value, tokens_.expectNumber(uint64_t{1} << 63, "an integer"));
      return DimExpr::constant(static_cast<int64_t>(value));
    }
    BATON_TRY_ASSIGN(const bool open, tokens_.acceptPunct("("));
    if (open) {
      BATON_TRY_ASSIGN(const DimExpr inner, sum(depth + 1));
      BATON_TRY(tokens_.expectPunct(")"));
      return inner;
    }
    if (tokens_.peek().kind != TokenKind::Name) return tokens_.error("expected a dim expression");
    const Token name = tokens_.peek();
    const std::optional<DimSymbol> symbol = symbols_(name.text);
    for (const DimOp op : {DimOp::FloorDiv, DimOp::FloorMod, DimOp::CeilDiv, DimOp::Min, DimOp::Max}) {
      if (symbol || name.text != dimOpName(op)) continue;
      BATON_TRY(tokens_.advance());
      BATON_TRY(tokens_.expectPunct("("));
      BATON_TRY_ASSIGN(const DimExpr a, sum(depth + 1));
      BATON_TRY(tokens_.expectPunct(","));
      BATON_TRY_ASSIGN(const DimExpr b, sum(depth + 1));
      BATON_TRY(tokens_.expectPunct(")"));
      return DimExpr::opaque(op, a, b);
    }
    if (!symbol) return tokens_.error("expected a declared symbol");
    BATON_TRY(tokens_.advance());
    return DimExpr::symbol(*symbol);
  }

  TokenStream& tokens_;
  const SymbolLookup& symbols_;
};

}  // namespace

Result<DimExpr> parseDim(TokenStream& tokens, const SymbolLookup& symbols) {
  return DimParser(tokens, symbols).sum(0);
}

}  // namespace baton::loop
