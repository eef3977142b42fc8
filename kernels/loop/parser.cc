#include "kernels/loop/parser.h"

#include <charconv>
#include <string>
#include <unordered_map>

#include <fmt/format.h>

#include "kernels/loop/declaration_parser.h"
#include "kernels/loop/token_stream.h"

namespace baton::loop {

namespace {

class KernelParser {
 public:
  explicit KernelParser(TokenStream& tokens) : tokens_(tokens) {}

  Result<Kernel> run() {
    kernel_.blocks.emplace_back();
    BATON_TRY(tokens_.expectName("kernel"));
    BATON_TRY_ASSIGN(const std::string_view name, tokens_.expectKind(TokenKind::String, "the kernel's name"));
    kernel_.descriptor.name = unescape(name);
    BATON_TRY(tokens_.expectPunct("{"));
    BATON_TRY(declarations_.run(kernel_));
    BATON_TRY(statements(BlockId(0), 1, nullptr));
    return std::move(kernel_);
  }

 private:
  Result<uint32_t> index(const char* what) { return declarations_.index(what); }
  Result<DType> dtype() { return declarations_.dtype(); }
  Result<DimExpr> dim() { return declarations_.dim(); }
  Result<std::vector<DimExpr>> extents() { return declarations_.extents(); }

  // ---- nodes

  NodeId make(Node node, const std::vector<NodeId>& operands) {
    node.firstOperand = static_cast<uint32_t>(kernel_.operands.size());
    node.operandCount = static_cast<uint32_t>(operands.size());
    kernel_.operands.insert(kernel_.operands.end(), operands.begin(), operands.end());
    kernel_.nodes.push_back(node);
    return NodeId(static_cast<uint32_t>(kernel_.nodes.size() - 1));
  }

  NodeId append(BlockId block, Node node, const std::vector<NodeId>& operands) {
    const NodeId id = make(node, operands);
    kernel_.blocks[block.value()].nodes.push_back(id);
    return id;
  }

  NodeId leaf(Node node) {
    const std::string key = fmt::format("{} {} {}", static_cast<int>(node.op), static_cast<int>(node.type),
                                        node.op == Op::Const ? node.bits : node.target);
    const auto [place, isNew] = leaves_.try_emplace(key, NodeId(0));
    if (isNew) place->second = make(node, {});
    return place->second;
  }

  Result<void> define(std::string_view number, NodeId id) {
    if (!values_.emplace(std::string(number), id).second)
      return tokens_.error(fmt::format("%{} is defined twice", number.substr(0, 20)));
    return success();
  }

  /// The number in a constant of `type`: an optional sign and digits, or `0x` and the bits.
  Result<uint64_t> constantBits(DType type) {
    BATON_TRY_ASSIGN(const bool negative, tokens_.acceptPunct("-"));
    if (tokens_.peek().kind != TokenKind::Number) return tokens_.error("expected a number");
    const std::string_view text = tokens_.peek().text;
    const bool hex = text.substr(0, 2) == "0x";
    uint64_t bits = 0;
    if (isFloat(type) && !hex) {
      double wide = 0;
      float narrow = 0;
      const char* end = text.data() + text.size();
      const auto status = type == DType::F32 ? std::from_chars(text.data(), end, narrow)
                                             : std::from_chars(text.data(), end, wide);
      if (status.ec != std::errc() || status.ptr != end || (type != DType::F32 && type != DType::F64))
        return tokens_.error(fmt::format("expected a constant of type {}", dtypeShortName(type)));
      bits =
          type == DType::F32 ? scalarBits(negative ? -narrow : narrow) : scalarBits(negative ? -wide : wide);
    } else {
      const std::optional<uint64_t> magnitude = parseUnsigned(text);
      if (!magnitude || (negative && isFloat(type)))
        return tokens_.error(fmt::format("expected a constant of type {}", dtypeShortName(type)));
      bits = negative ? 0 - *magnitude : *magnitude;
      // What does not survive the round trip through the type does not fit it.
      const int width = sizeBytes(type) * 8;
      const uint64_t kept =
          width == 64 ? bits
          : isSignedInt(type)
              ? static_cast<uint64_t>(static_cast<int64_t>(bits << (64 - width)) >> (64 - width))
              : bits & ((uint64_t{1} << width) - 1);
      const bool wrongSign =
          !hex && isSignedInt(type) && *magnitude != 0 && negative != (static_cast<int64_t>(bits) < 0);
      if (kept != bits || wrongSign || (negative && *magnitude != 0 && !isSignedInt(type)))
        return tokens_.error(fmt::format("expected a constant that fits {}", dtypeShortName(type)));
    }
    BATON_TRY(tokens_.advance());
    return bits;
  }

  Result<NodeId> value() {
    const Token token = tokens_.peek();
    if (token.kind == TokenKind::Value) {
      const auto found = values_.find(std::string(token.text));
      if (found == values_.end()) return tokens_.error("expected a value that is defined above");
      BATON_TRY(tokens_.advance());
      return found->second;
    }
    if (token.kind == TokenKind::Symbol) {
      const std::optional<DimSymbol> symbol = declarations_.findSymbol(token.text);
      if (!symbol) return tokens_.error("expected a declared symbol");
      BATON_TRY(tokens_.advance());
      return leaf({.op = Op::Symbol, .type = DType::I64, .target = symbol->value()});
    }
    if (token.kind == TokenKind::Number || tokens_.isPunct("-")) {
      BATON_TRY_ASSIGN(const uint64_t bits, constantBits(DType::I64));
      return leaf({.op = Op::Const, .type = DType::I64, .bits = bits});
    }
    if (token.kind == TokenKind::Name) {
      if (token.text == "true" || token.text == "false") {
        BATON_TRY(tokens_.advance());
        return leaf({.op = Op::Const, .type = DType::Bool, .bits = token.text == "true" ? 1u : 0u});
      }
      if (token.text.substr(0, 3) == "arg") {
        const std::optional<uint64_t> number = parseUnsigned(token.text.substr(3));
        if (!number || *number >= kernel_.descriptor.scalarInputs.size())
          return tokens_.error("expected a declared scalar input");
        BATON_TRY(tokens_.advance());
        return leaf({.op = Op::ScalarInput,
                     .type = kernel_.descriptor.scalarInputs[*number],
                     .target = static_cast<uint32_t>(*number)});
      }
      if (parseDType(token.text) && token.text != "bool") {
        BATON_TRY_ASSIGN(const DType type, dtype());
        BATON_TRY(tokens_.expectPunct("("));
        BATON_TRY_ASSIGN(const uint64_t bits, constantBits(type));
        BATON_TRY(tokens_.expectPunct(")"));
        return leaf({.op = Op::Const, .type = type, .bits = bits});
      }
    }
    return tokens_.error("expected a value");
  }

  Result<std::vector<NodeId>> bracketed() {
    std::vector<NodeId> ids;
    BATON_TRY_ASSIGN(const bool open, tokens_.acceptPunct("["));
    for (bool end = !open; !end;) {
      if (ids.size() == kMaxRank) return tokens_.error(fmt::format("expected at most {} indices", kMaxRank));
      BATON_TRY_ASSIGN(const NodeId id, value());
      ids.push_back(id);
      BATON_TRY_ASSIGN(end, tokens_.acceptPunct("]"));
      if (!end) BATON_TRY(tokens_.expectPunct(","));
    }
    return ids;
  }

  /// The number of a name such as "in3": the buffer with that prefix, or the local.
  Result<uint32_t> numbered(std::string_view prefix, size_t count, const char* what) {
    const std::string_view text = tokens_.peek().text;
    const std::optional<uint64_t> number = parseUnsigned(text.substr(prefix.size()));
    if (!number || *number >= count) return tokens_.error(fmt::format("expected {}", what));
    BATON_TRY(tokens_.advance());
    return static_cast<uint32_t>(*number);
  }

  Result<uint32_t> buffer() {
    const auto inputs = static_cast<uint32_t>(kernel_.descriptor.inputs.size());
    const auto outputs = static_cast<uint32_t>(kernel_.descriptor.outputs.size());
    const std::string_view text =
        tokens_.peek().kind == TokenKind::Name ? tokens_.peek().text : std::string_view();
    if (text.substr(0, 2) == "in") return numbered("in", inputs, "a declared input");
    if (text.substr(0, 3) == "out") {
      BATON_TRY_ASSIGN(const uint32_t number, numbered("out", outputs, "a declared output"));
      return inputs + number;
    }
    if (text.substr(0, 3) == "tmp") {
      BATON_TRY_ASSIGN(const uint32_t number,
                       numbered("tmp", kernel_.scratch.size(), "a declared scratch buffer"));
      return inputs + outputs + number;
    }
    return tokens_.error("expected a buffer");
  }

  Result<uint32_t> local() {
    const std::string_view text =
        tokens_.peek().kind == TokenKind::Name ? tokens_.peek().text : std::string_view();
    if (text.substr(0, 1) != "l") return tokens_.error("expected a local");
    return numbered("l", kernel_.locals.size(), "a local that is declared above");
  }

  // ---- statements

  /// Statements up to the closing brace. In the body of a Reduce the last is `yield value`,
  /// which `yielded` receives.
  Result<void> statements(BlockId block, int depth, NodeId* yielded) {
    if (depth > kMaxNesting)
      return tokens_.error(fmt::format("expected blocks nested at most {} deep", kMaxNesting));
    for (;;) {
      if (yielded != nullptr && tokens_.isName("yield")) {
        BATON_TRY(tokens_.advance());
        BATON_TRY_ASSIGN(*yielded, value());
        return tokens_.expectPunct("}");
      }
      if (yielded == nullptr && tokens_.isPunct("}")) return tokens_.advance();
      BATON_TRY(statement(block, depth));
    }
  }

  Result<void> statement(BlockId block, int depth) {
    if (tokens_.peek().kind == TokenKind::Value) return definition(block, depth);
    if (tokens_.peek().kind != TokenKind::Name) return tokens_.error("expected a statement");
    const std::string_view keyword = tokens_.peek().text;
    if (const std::optional<LoopKind> kind = parseLoopKind(keyword)) return loop(block, depth, *kind);
    const bool known = keyword == "store" || keyword == "set" || keyword == "set_scalar" ||
                       keyword == "fail" || keyword == "local" || keyword == "if";
    if (!known) return tokens_.error("expected a statement");
    BATON_TRY(tokens_.advance());
    if (keyword == "store" || keyword == "set") {
      const bool isStore = keyword == "store";
      uint32_t target = 0;
      BATON_TRY_ASSIGN(target, isStore ? buffer() : local());
      BATON_TRY_ASSIGN(std::vector<NodeId> ids, bracketed());
      BATON_TRY(tokens_.expectPunct(","));
      BATON_TRY_ASSIGN(const NodeId stored, value());
      ids.push_back(stored);
      const DType type = isStore ? kernel_.bufferType(BufferIndex(target)) : kernel_.locals[target].dtype;
      append(block, {.op = isStore ? Op::Store : Op::SetLocal, .type = type, .target = target}, ids);
      return success();
    }
    if (keyword == "set_scalar") {
      const size_t count = kernel_.descriptor.scalarOutputs.size();
      if (count == 0) return tokens_.error("expected a declared scalar output");
      BATON_TRY_ASSIGN(const uint64_t target, tokens_.expectNumber(count - 1, "a scalar output"));
      BATON_TRY(tokens_.expectPunct(","));
      BATON_TRY_ASSIGN(const NodeId set, value());
      append(block,
             {.op = Op::SetScalar,
              .type = kernel_.descriptor.scalarOutputs[target],
              .target = static_cast<uint32_t>(target)},
             {set});
      return success();
    }
    if (keyword == "fail") return failure(block);
    if (keyword == "local") return declareLocal(block);
    return branch(block, depth);
  }

  Result<void> failure(BlockId block) {
    BATON_TRY_ASSIGN(const uint32_t message, index("a message"));
    std::vector<NodeId> ids;
    for (;;) {
      BATON_TRY_ASSIGN(const bool comma, tokens_.acceptPunct(","));
      if (!comma) break;
      BATON_TRY_ASSIGN(const NodeId id, value());
      ids.push_back(id);
    }
    append(block, {.op = Op::Fail, .target = message}, ids);
    return success();
  }

  Result<void> declareLocal(BlockId block) {
    const auto number = static_cast<uint32_t>(kernel_.locals.size());
    if (!tokens_.isName(fmt::format("l{}", number)))
      return tokens_.error(fmt::format("expected local l{}: locals are numbered in order", number));
    BATON_TRY(tokens_.advance());
    LocalArray array;
    BATON_TRY_ASSIGN(array.dtype, dtype());
    BATON_TRY_ASSIGN(const bool open, tokens_.acceptPunct("["));
    for (bool end = !open; !end;) {
      if (array.extents.size() == kMaxRank)
        return tokens_.error(fmt::format("expected at most {} extents", kMaxRank));
      BATON_TRY_ASSIGN(const uint64_t extent, tokens_.expectNumber(kMaxLocalElements, "an extent"));
      array.extents.push_back(static_cast<int64_t>(extent));
      BATON_TRY_ASSIGN(end, tokens_.acceptPunct("]"));
      if (!end) BATON_TRY(tokens_.expectPunct(","));
    }
    append(block, {.op = Op::Local, .type = array.dtype, .target = number}, {});
    kernel_.locals.push_back(std::move(array));
    return success();
  }

  BlockId newBlock() {
    kernel_.blocks.emplace_back();
    return BlockId(static_cast<uint32_t>(kernel_.blocks.size() - 1));
  }

  Result<void> branch(BlockId block, int depth) {
    BATON_TRY_ASSIGN(const NodeId condition, value());
    BATON_TRY(tokens_.expectPunct("{"));
    const BlockId then = newBlock();
    const BlockId otherwise = newBlock();
    append(block, {.op = Op::If, .body = then, .otherwise = otherwise}, {condition});
    BATON_TRY(statements(then, depth + 1, nullptr));
    BATON_TRY_ASSIGN(const bool hasElse, tokens_.acceptName("else"));
    if (!hasElse) return success();
    BATON_TRY(tokens_.expectPunct("{"));
    return statements(otherwise, depth + 1, nullptr);
  }

  /// `as i`: the `target` of the loop.
  Result<uint32_t> loopName() {
    BATON_TRY_ASSIGN(const bool isNamed, tokens_.acceptName("as"));
    if (!isNamed) return 0;
    BATON_TRY_ASSIGN(const std::string_view name, tokens_.expectKind(TokenKind::Name, "a name of the loop"));
    kernel_.loopNames.emplace_back(name);
    return static_cast<uint32_t>(kernel_.loopNames.size());
  }

  Result<void> loop(BlockId block, int depth, LoopKind kind) {
    BATON_TRY(tokens_.advance());
    BATON_TRY_ASSIGN(const std::string_view number, tokens_.expectKind(TokenKind::Value, "a loop variable"));
    BATON_TRY(tokens_.expectPunct("<"));
    BATON_TRY_ASSIGN(const NodeId extent, value());
    uint64_t grain = kind == LoopKind::Parallel ? 1 : 0;
    BATON_TRY_ASSIGN(const bool hasGrain, tokens_.acceptName("grain"));
    if (hasGrain) {
      if (kind != LoopKind::Parallel) return tokens_.error("expected a grain only on a parallel loop");
      BATON_TRY_ASSIGN(grain, tokens_.expectNumber(INT64_MAX, "a grain"));
    }
    BATON_TRY_ASSIGN(const uint32_t name, loopName());
    BATON_TRY(tokens_.expectPunct("{"));
    const NodeId var = make({.op = Op::LoopVar, .type = DType::I64}, {});
    const BlockId body = newBlock();
    append(block, {.op = Op::For, .loopKind = kind, .target = name, .bits = grain, .body = body},
           {extent, var});
    BATON_TRY(define(number, var));
    return statements(body, depth + 1, nullptr);
  }

  Result<void> reduction(BlockId block, int depth, std::string_view number) {
    const std::optional<ReduceOp> op =
        tokens_.peek().kind == TokenKind::Name ? parseReduceOp(tokens_.peek().text) : std::nullopt;
    if (!op) return tokens_.error("expected a reduction");
    BATON_TRY(tokens_.advance());
    BATON_TRY(tokens_.expectPunct("("));
    std::vector<NodeId> extents;
    std::vector<NodeId> vars;
    BATON_TRY_ASSIGN(bool end, tokens_.acceptPunct(")"));
    std::vector<std::string_view> names;
    while (!end) {
      if (vars.size() == kMaxRank)
        return tokens_.error(fmt::format("expected at most {} loop variables", kMaxRank));
      BATON_TRY_ASSIGN(const std::string_view name, tokens_.expectKind(TokenKind::Value, "a loop variable"));
      BATON_TRY(tokens_.expectPunct("<"));
      BATON_TRY_ASSIGN(const NodeId extent, value());
      extents.push_back(extent);
      vars.push_back(make({.op = Op::LoopVar, .type = DType::I64}, {}));
      names.push_back(name);
      BATON_TRY_ASSIGN(end, tokens_.acceptPunct(")"));
      if (!end) BATON_TRY(tokens_.expectPunct(","));
    }
    // Only now: an extent may not use a variable of its own reduction.
    for (size_t i = 0; i < vars.size(); ++i) BATON_TRY(define(names[i], vars[i]));
    BATON_TRY_ASSIGN(const uint32_t name, loopName());
    BATON_TRY(tokens_.expectPunct("{"));
    const BlockId body = newBlock();
    const NodeId id = append(block, {.op = Op::Reduce, .reduceOp = *op, .target = name, .body = body}, {});
    NodeId yielded;
    BATON_TRY(statements(body, depth + 1, &yielded));
    Node& reduce = kernel_.nodes[id.value()];
    reduce.firstOperand = static_cast<uint32_t>(kernel_.operands.size());
    reduce.operandCount = static_cast<uint32_t>(2 * vars.size() + 1);
    kernel_.operands.insert(kernel_.operands.end(), extents.begin(), extents.end());
    kernel_.operands.insert(kernel_.operands.end(), vars.begin(), vars.end());
    kernel_.operands.push_back(yielded);
    const bool isArg = *op == ReduceOp::ArgMax || *op == ReduceOp::ArgMin;
    reduce.type = isArg ? DType::I64 : kernel_.node(yielded).type;
    return define(number, id);
  }

  /// `%5 = ...`
  Result<void> definition(BlockId block, int depth) {
    BATON_TRY_ASSIGN(const std::string_view number, tokens_.expectKind(TokenKind::Value, "a value"));
    BATON_TRY(tokens_.expectPunct("="));
    const Token keyword = tokens_.peek();
    const std::optional<Op> op = keyword.kind == TokenKind::Name ? parseOp(keyword.text) : std::nullopt;
    if (!op || !(isValueOp(*op) || *op == Op::Load || *op == Op::GetLocal || *op == Op::Reduce))
      return tokens_.error("expected an operation");
    BATON_TRY(tokens_.advance());
    if (*op == Op::Reduce) return reduction(block, depth, number);
    if (*op == Op::Load || *op == Op::GetLocal) {
      const bool isLoad = *op == Op::Load;
      uint32_t target = 0;
      BATON_TRY_ASSIGN(target, isLoad ? buffer() : local());
      BATON_TRY_ASSIGN(const std::vector<NodeId> ids, bracketed());
      const DType type = isLoad ? kernel_.bufferType(BufferIndex(target)) : kernel_.locals[target].dtype;
      return define(number, append(block, {.op = *op, .type = type, .target = target}, ids));
    }
    BATON_TRY_ASSIGN(const DType type, dtype());
    std::vector<NodeId> ids;
    for (int i = 0; i < opInfo(*op).arity; ++i) {
      if (i > 0) BATON_TRY(tokens_.expectPunct(","));
      BATON_TRY_ASSIGN(const NodeId id, value());
      ids.push_back(id);
    }
    Node node{.op = *op, .type = isComparison(*op) ? DType::Bool : type};
    // A comparison names the type that it compares, which only the operands keep.
    if (isComparison(*op) && kernel_.node(ids[0]).type != type)
      return tokens_.error(fmt::format("expected operands of type {}", dtypeShortName(type)));
    if (isIntegerDivision(*op)) {
      node.target = kNoMessage;
      BATON_TRY_ASSIGN(const bool canFail, tokens_.acceptName("or_fail"));
      if (canFail) {
        BATON_TRY_ASSIGN(node.target, index("a message"));
      }
    }
    return define(number, append(block, node, ids));
  }

  TokenStream& tokens_;
  Kernel kernel_;
  DeclarationParser declarations_{tokens_};
  std::unordered_map<std::string, NodeId> values_;
  std::unordered_map<std::string, NodeId> leaves_;
};

}  // namespace

Result<Kernel> parseKernel(std::string_view text) {
  BATON_TRY_ASSIGN(TokenStream tokens, TokenStream::open(text));
  BATON_TRY_ASSIGN(Kernel kernel, KernelParser(tokens).run());
  if (tokens.peek().kind != TokenKind::End) return tokens.error("expected the end of the text");
  return kernel;
}

Result<std::vector<Kernel>> parseKernels(std::string_view text) {
  BATON_TRY_ASSIGN(TokenStream tokens, TokenStream::open(text));
  std::vector<Kernel> kernels;
  while (tokens.peek().kind != TokenKind::End) {
    BATON_TRY_ASSIGN(Kernel kernel, KernelParser(tokens).run());
    kernels.push_back(std::move(kernel));
  }
  return kernels;
}

}  // namespace baton::loop
