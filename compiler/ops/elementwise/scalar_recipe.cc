// Operators on scalars as scalar instructions. Each recipe repeats the operator's formula in
// correctly rounded steps, so the result has the bits that the kernel would compute.
#include <cmath>
#include <limits>
#include <utility>

#include "compiler/ir/op.h"
#include "compiler/ops/direct.h"

namespace baton::ops {

namespace {

bool isStorageType(DType type) { return type == DType::F16 || type == DType::BF16; }

/// `double` in the 64-bit form of a type, as `cast` converts it.
uint64_t bitsOf(double value, DType type) { return convertScalar(scalarBits(value), DType::F64, type); }

class RecipeBuilder {
 public:
  using Operand = ScalarOperand;

  explicit RecipeBuilder(std::span<const DType> inputs) : inputs_(inputs) {}

  static Operand input(uint32_t index) { return {Operand::From::Input, index, DType::F32, 0}; }
  static Operand constant(DType type, double value) {
    return {Operand::From::Constant, 0, type, bitsOf(value, type)};
  }
  /// An input as arithmetic wants it: f16 and bf16 are computed in f32.
  Operand operand(uint32_t index) {
    return isStorageType(inputs_[index]) ? cast(input(index), inputs_[index], DType::F32) : input(index);
  }

  Operand step(std::string mnemonic, std::vector<Operand> operands, DType type, DType from = DType::F32) {
    recipe_.steps.push_back({std::move(mnemonic), std::move(operands), type, from});
    return {Operand::From::Step, static_cast<uint32_t>(recipe_.steps.size() - 1), DType::F32, 0};
  }
  Operand cast(Operand a, DType from, DType to) { return from == to ? a : step("cast", {a}, to, from); }
  /// "add" of operands of one type.
  Operand apply(const char* name, std::vector<Operand> operands, DType type) {
    return step(std::string(name) + "." + std::string(dtypeShortName(type)), std::move(operands), type);
  }
  Operand compare(const char* name, Operand a, Operand b, DType type) {
    return step(std::string(name) + "." + std::string(dtypeShortName(type)), {a, b}, DType::Bool);
  }
  Operand logic(const char* name, std::vector<Operand> operands) {
    return step(std::string(name) + ".bool", std::move(operands), DType::Bool);
  }
  Operand select(Operand condition, Operand a, Operand b, DType type) {
    return step("select", {condition, a, b}, type);
  }
  ScalarRecipe finish(Operand result) {
    recipe_.result = result;
    return std::move(recipe_);
  }

 private:
  std::span<const DType> inputs_;
  ScalarRecipe recipe_;
};

struct NamedStep {
  std::string_view op;
  const char* name;
};

const char* find(std::span<const NamedStep> table, std::string_view op) {
  for (const NamedStep& entry : table)
    if (entry.op == op) return entry.name;
  return nullptr;
}

constexpr NamedStep kArithmetic[] = {
    {"add", "add"},     {"subtract", "sub"},        {"multiply", "mul"},  {"maximum", "max"},
    {"minimum", "min"}, {"floor_mod", "floor_mod"}, {"mod", "trunc_mod"}, {"trunc_mod", "trunc_mod"}};
constexpr NamedStep kIntegerBinary[] = {{"divide", "trunc_div"},       {"trunc_divide", "trunc_div"},
                                        {"floor_divide", "floor_div"}, {"bitwise_and", "and"},
                                        {"bitwise_or", "or"},          {"bitwise_xor", "xor"},
                                        {"left_shift", "shl"},         {"right_shift", "shr"}};
// Bools are 0 and 1: sums are or-ed, products and-ed.
constexpr NamedStep kBoolBinary[] = {{"add", "or"},          {"maximum", "or"},      {"multiply", "and"},
                                     {"minimum", "and"},     {"logical_and", "and"}, {"logical_or", "or"},
                                     {"logical_xor", "xor"}, {"bitwise_and", "and"}, {"bitwise_or", "or"},
                                     {"bitwise_xor", "xor"}, {"equal", "eq"},        {"not_equal", "ne"}};
constexpr NamedStep kFloatUnary[] = {{"sqrt", "sqrt"},   {"floor", "floor"}, {"ceil", "ceil"},
                                     {"trunc", "trunc"}, {"round", "round"}, {"negative", "neg"},
                                     {"abs", "abs"}};
constexpr NamedStep kComparisons[] = {
    {"equal", "eq"}, {"not_equal", "ne"}, {"less", "lt"}, {"less_equal", "le"}};

std::optional<ScalarRecipe> boolBinary(RecipeBuilder& b, std::string_view op) {
  const auto a = b.input(0);
  const auto c = b.input(1);
  if (const char* name = find(kBoolBinary, op)) return b.finish(b.logic(name, {a, c}));
  if (op == "less") return b.finish(b.logic("and", {b.logic("not", {a}), c}));
  if (op == "greater") return b.finish(b.logic("and", {a, b.logic("not", {c})}));
  if (op == "less_equal") return b.finish(b.logic("or", {b.logic("not", {a}), c}));
  if (op == "greater_equal") return b.finish(b.logic("or", {a, b.logic("not", {c})}));
  return std::nullopt;
}

std::optional<ScalarRecipe> binary(RecipeBuilder& b, std::string_view op, DType type) {
  if (type == DType::Bool) return boolBinary(b, op);
  const DType working = isStorageType(type) ? DType::F32 : type;
  const auto a = b.operand(0);
  const auto c = b.operand(1);
  if (const char* name = find(kComparisons, op)) return b.finish(b.compare(name, a, c, working));
  if (op == "greater") return b.finish(b.compare("lt", c, a, working));
  if (op == "greater_equal") return b.finish(b.compare("le", c, a, working));
  const auto rounded = [&](ScalarOperand result) { return b.finish(b.cast(result, working, type)); };
  if (const char* name = find(kArithmetic, op)) return rounded(b.apply(name, {a, c}, working));
  if (isInteger(type)) {
    if (const char* name = find(kIntegerBinary, op)) return b.finish(b.apply(name, {a, c}, type));
    return std::nullopt;
  }
  if (op == "divide") return rounded(b.apply("div", {a, c}, working));
  if (op == "floor_divide") return rounded(b.apply("floor", {b.apply("div", {a, c}, working)}, working));
  if (op == "trunc_divide") return rounded(b.apply("trunc", {b.apply("div", {a, c}, working)}, working));
  return std::nullopt;
}

std::optional<ScalarRecipe> unary(RecipeBuilder& b, const ir::CallOp& call, DType type) {
  const std::string_view op = call.op->name;
  if (type == DType::Bool) {
    if (op == "logical_not" || op == "bitwise_not") return b.finish(b.logic("not", {b.input(0)}));
    return std::nullopt;
  }
  const DType working = isStorageType(type) ? DType::F32 : type;
  const auto rounded = [&](ScalarOperand result) { return b.finish(b.cast(result, working, type)); };
  const auto zero = RecipeBuilder::constant(working, 0);
  if (isInteger(type)) {
    const auto a = b.input(0);
    if (op == "bitwise_not") return b.finish(b.apply("not", {a}, type));
    if (op == "negative" || op == "abs") return b.finish(b.apply(op == "abs" ? "abs" : "neg", {a}, type));
    if (op == "floor" || op == "ceil" || op == "trunc" || op == "round") return b.finish(a);
    if (op == "isnan" || op == "isinf" || op == "isfinite")
      return b.finish(RecipeBuilder::constant(DType::Bool, op == "isfinite" ? 1 : 0));
  } else {
    const auto a = b.operand(0);
    if (const char* name = find(kFloatUnary, op)) return rounded(b.apply(name, {a}, working));
    if (op == "rsqrt")
      return rounded(
          b.apply("div", {RecipeBuilder::constant(working, 1), b.apply("sqrt", {a}, working)}, working));
    const auto infinity = RecipeBuilder::constant(working, std::numeric_limits<double>::infinity());
    if (op == "isnan") return b.finish(b.compare("ne", a, a, working));
    if (op == "isinf") return b.finish(b.compare("eq", b.apply("abs", {a}, working), infinity, working));
    if (op == "isfinite") return b.finish(b.compare("lt", b.apply("abs", {a}, working), infinity, working));
  }
  const auto a = b.operand(0);
  if (op == "nn.relu") return rounded(b.apply("max", {a, zero}, working));
  if (op == "sign") {
    const auto one = RecipeBuilder::constant(working, 1);
    auto result = b.select(b.compare("lt", zero, a, working), one, zero, working);
    if (!isUnsignedInt(type))
      result =
          b.select(b.compare("lt", a, zero, working), RecipeBuilder::constant(working, -1), result, working);
    if (isFloat(type)) result = b.select(b.compare("ne", a, a, working), a, result, working);
    return rounded(result);
  }
  if (op == "clip") {
    // The bounds are first converted to the type of the data.
    const auto bound = [&](const char* name) {
      const uint64_t bits = bitsOf(call.attrs.floatOf(name), type);
      return ScalarOperand{ScalarOperand::From::Constant, 0, working, convertScalar(bits, type, working)};
    };
    return rounded(b.apply("min", {b.apply("max", {a, bound("a_min")}, working), bound("a_max")}, working));
  }
  return std::nullopt;
}

}  // namespace

std::optional<ScalarRecipe> scalarRecipe(const ir::CallOp& call, std::span<const DType> inputs,
                                         DType result) {
  const std::string_view op = call.op->name;
  RecipeBuilder b(inputs);
  if (op == "zeros_like" || op == "ones_like")
    return b.finish(RecipeBuilder::constant(result, op == "ones_like" ? 1 : 0));
  if ((op == "zeros" || op == "ones") && inputs.empty())
    return b.finish(RecipeBuilder::constant(result, op == "ones" ? 1 : 0));
  if (op == "full" && inputs.size() == 1) return b.finish(b.cast(b.input(0), inputs[0], result));
  if (op == "full_like") return b.finish(b.cast(b.input(1), inputs[1], result));
  if (op == "copy" || op == "annotation.stop_fusion") return b.finish(b.input(0));
  if (op == "cast") return b.finish(b.cast(b.input(0), inputs[0], result));
  if (op == "reinterpret")
    return b.finish(inputs[0] == result ? b.input(0) : b.step("bitcast", {b.input(0)}, result, inputs[0]));
  if (op == "where") return b.finish(b.select(b.input(0), b.input(1), b.input(2), result));
  if (inputs.size() == 1) return unary(b, call, inputs[0]);
  if (inputs.size() == 2 && inputs[0] == inputs[1]) return binary(b, op, inputs[0]);
  return std::nullopt;
}

}  // namespace baton::ops
