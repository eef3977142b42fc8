// Algebraic simplification: operators whose result is one of their operands, or what a
// cheaper operator gives, to the last bit. What holds for real numbers only is not here:
// x + 0 is 0 where x is -0, and x * 0 is NaN where x is infinite.

#include <algorithm>
#include <unordered_map>

#include "base/dtype.h"
#include "compiler/ir/op.h"
#include "compiler/ir/walk.h"
#include "compiler/passes/definitions.h"
#include "compiler/passes/exact_arithmetic.h"
#include "compiler/passes/fold.h"
#include "compiler/passes/registry.h"

namespace baton::passes {
namespace {

using ir::Atom;
using ir::CallOp;
using ir::Rhs;
using ir::TypeRef;

bool isView(const CallOp& call) {
  return call.op->name == "reshape" || call.op->name == "squeeze" || call.op->name == "expand_dims";
}

class AlgebraSimplifier {
 public:
  AlgebraSimplifier(ir::Module& module, ir::Function& function, ConstantPool& pool, PassContext& context)
      : module_(module), function_(function), pool_(pool), context_(context), definitions_(function) {}

  void run() {
    for (ir::BlockId id : ir::blocksInOrder(function_, function_.body))
      for (size_t i = 0; i < function_.block(id).bindings.size(); ++i)
        simplify(function_.block(id).bindings[i]);
  }

 private:
  using Rule = std::optional<Rhs> (AlgebraSimplifier::*)(const CallOp&);
  static const std::unordered_map<std::string_view, Rule>& rules();

  void simplify(ir::Binding& binding);
  std::optional<Rhs> onIf(const ir::If& branch);

  std::optional<Rhs> onNegative(const CallOp& call);
  std::optional<Rhs> onAbs(const CallOp& call);
  std::optional<Rhs> onRelu(const CallOp& call);
  std::optional<Rhs> onRounding(const CallOp& call);
  std::optional<Rhs> onNot(const CallOp& call);
  std::optional<Rhs> onCopy(const CallOp& call) { return same(call.args[0]); }
  std::optional<Rhs> onCast(const CallOp& call);
  std::optional<Rhs> onAdd(const CallOp& call);
  std::optional<Rhs> onSubtract(const CallOp& call);
  std::optional<Rhs> onMultiply(const CallOp& call);
  std::optional<Rhs> onDivide(const CallOp& call);
  std::optional<Rhs> onRemainder(const CallOp& call);
  std::optional<Rhs> onExtreme(const CallOp& call);
  std::optional<Rhs> onAnd(const CallOp& call);
  std::optional<Rhs> onOr(const CallOp& call);
  std::optional<Rhs> onXor(const CallOp& call);
  std::optional<Rhs> onShift(const CallOp& call);
  std::optional<Rhs> onComparison(const CallOp& call);
  std::optional<Rhs> onWhere(const CallOp& call);
  std::optional<Rhs> onTranspose(const CallOp& call);
  std::optional<Rhs> onView(const CallOp& call);
  std::optional<Rhs> onRepetition(const CallOp& call) { return same(call.args[0]); }
  std::optional<Rhs> onConcatenate(const CallOp& call);
  std::optional<Rhs> onSlice(const CallOp& call);
  std::optional<Rhs> onReverse(const CallOp& call);
  std::optional<Rhs> onClip(const CallOp& call);

  TypeRef typeOf(Atom atom) { return module_.typeOf(function_, atom); }
  DType dtype() const { return type_->dtype(); }
  /// The operand itself, when it has the type of the result.
  std::optional<Rhs> same(Atom atom) {
    if (typeOf(atom) != type_) return std::nullopt;
    return Rhs(ir::AtomRhs{atom});
  }
  /// A number of the result's type; scalars only.
  std::optional<Rhs> number(uint64_t bits) {
    if (!type_->isScalar()) return std::nullopt;
    return Rhs(ir::AtomRhs{scalar(dtype(), bits)});
  }
  ir::ConstantId scalar(DType dtype, uint64_t bits) {
    ir::Constant constant{.dtype = dtype};
    constant.bytes.resize(static_cast<size_t>(sizeBytes(dtype)));
    storeScalar(constant.bytes.data(), dtype, bits);
    return pool_.add(std::move(constant));
  }
  std::optional<Rhs> callOf(std::string_view name, std::vector<Atom> args) {
    const ops::OpDef* op = ops::OpRegistry::instance().find(name);
    return Rhs(CallOp{op, ops::defaultAttrs(*op), std::move(args)});
  }
  const CallOp* inner(Atom atom, std::string_view name) const { return definitions_.call(atom, name); }
  /// Whether all elements of the operand are this number of its type.
  bool isAll(Atom atom, int64_t number) {
    return isAllBits(atom, convertScalar(static_cast<uint64_t>(number), DType::I64, typeOf(atom)->dtype()));
  }
  bool isAllBits(Atom atom, uint64_t bits) { return splatOf(module_, definitions_, atom) == bits; }
  bool isSame(Atom a, Atom b) const { return definitions_.resolve(a) == definitions_.resolve(b); }

  ir::Module& module_;
  ir::Function& function_;
  ConstantPool& pool_;
  PassContext& context_;
  Definitions definitions_;
  TypeRef type_ = nullptr;  ///< of the binding that is looked at
};

std::optional<Rhs> AlgebraSimplifier::onNegative(const CallOp& call) {
  if (const CallOp* again = inner(call.args[0], "negative")) return same(again->args[0]);
  if (isInteger(dtype()))
    if (const CallOp* difference = inner(call.args[0], "subtract"))
      return callOf("subtract", {difference->args[1], difference->args[0]});
  return std::nullopt;
}

std::optional<Rhs> AlgebraSimplifier::onAbs(const CallOp& call) {
  if (inner(call.args[0], "abs") != nullptr || inner(call.args[0], "nn.relu") != nullptr)
    return same(call.args[0]);
  const CallOp* negative = inner(call.args[0], "negative");
  if (negative != nullptr && (isFloat(dtype()) || isSignedInt(dtype())))
    return callOf("abs", {negative->args[0]});
  return std::nullopt;
}

std::optional<Rhs> AlgebraSimplifier::onRelu(const CallOp& call) {
  if (inner(call.args[0], "nn.relu") != nullptr) return same(call.args[0]);
  // The least integer is its own absolute value.
  if (isFloat(dtype()) && inner(call.args[0], "abs") != nullptr) return same(call.args[0]);
  return std::nullopt;
}

std::optional<Rhs> AlgebraSimplifier::onRounding(const CallOp& call) {
  if (!isFloat(dtype())) return same(call.args[0]);
  for (const char* name : {"floor", "ceil", "trunc", "round"})
    if (inner(call.args[0], name) != nullptr) return same(call.args[0]);
  return std::nullopt;
}

std::optional<Rhs> AlgebraSimplifier::onNot(const CallOp& call) {
  if (const CallOp* again = inner(call.args[0], call.op->name)) return same(again->args[0]);
  if (dtype() != DType::Bool) return std::nullopt;
  const auto* compared = definitions_.as<CallOp>(call.args[0]);
  if (compared == nullptr || compared->args.size() != 2) return std::nullopt;
  constexpr std::pair<std::string_view, std::string_view> kOpposites[] = {
      {"equal", "not_equal"}, {"less", "greater_equal"}, {"greater", "less_equal"}};
  for (const auto& [one, other] : kOpposites) {
    if (compared->op->name != one && compared->op->name != other) continue;
    // Neither a < b nor a >= b holds of NaN.
    if (one != "equal" && isFloat(typeOf(compared->args[0])->dtype())) return std::nullopt;
    return callOf(compared->op->name == one ? other : one, compared->args);
  }
  return std::nullopt;
}

std::optional<Rhs> AlgebraSimplifier::onCast(const CallOp& call) {
  if (typeOf(call.args[0])->dtype() == dtype()) return same(call.args[0]);
  if (call.op->name == "cast_like") {
    std::optional<Rhs> cast = callOf("cast", {call.args[0]});
    std::get<CallOp>(*cast).attrs.set("dtype", dtype());
    return cast;
  }
  const CallOp* first = inner(call.args[0], "cast");
  if (first == nullptr) return std::nullopt;
  const Atom source = first->args[0];
  if (!castsOnce(typeOf(source)->dtype(), typeOf(call.args[0])->dtype(), dtype())) return std::nullopt;
  if (std::optional<Rhs> itself = same(source)) return itself;
  return Rhs(CallOp{call.op, call.attrs, {source}});
}

std::optional<Rhs> AlgebraSimplifier::onAdd(const CallOp& call) {
  for (size_t i : {0, 1}) {
    const Atom other = call.args[1 - i];
    // -0 is the zero that changes nothing.
    const uint64_t zero = dtype() == DType::F64                             ? 0x8000000000000000ULL
                          : dtype() == DType::F32                           ? 0x80000000ULL
                          : dtype() == DType::F16 || dtype() == DType::BF16 ? 0x8000ULL
                                                                            : 0;
    if (isAllBits(call.args[i], zero))
      if (std::optional<Rhs> result = same(other)) return result;
  }
  return std::nullopt;
}

std::optional<Rhs> AlgebraSimplifier::onSubtract(const CallOp& call) {
  if (isAllBits(call.args[1], 0))
    if (std::optional<Rhs> result = same(call.args[0])) return result;
  if (!isInteger(dtype())) return std::nullopt;
  if (isSame(call.args[0], call.args[1]))
    if (std::optional<Rhs> result = number(0)) return result;
  if (isAllBits(call.args[0], 0) && typeOf(call.args[1]) == type_) return callOf("negative", {call.args[1]});
  return std::nullopt;
}

std::optional<Rhs> AlgebraSimplifier::onMultiply(const CallOp& call) {
  for (size_t i : {0, 1}) {
    const Atom other = call.args[1 - i];
    if (isAll(call.args[i], 1))
      if (std::optional<Rhs> result = same(other)) return result;
    if (!isFloat(dtype()) && isAllBits(call.args[i], 0))
      if (std::optional<Rhs> result = number(0)) return result;
    if ((isFloat(dtype()) || isSignedInt(dtype())) && isAll(call.args[i], -1) && typeOf(other) == type_)
      return callOf("negative", {other});
  }
  return std::nullopt;
}

std::optional<Rhs> AlgebraSimplifier::onDivide(const CallOp& call) {
  const bool rounds = isFloat(dtype()) && call.op->name != "divide";
  if (!rounds && isAll(call.args[1], 1))
    if (std::optional<Rhs> result = same(call.args[0])) return result;
  if (rounds || !isFloat(dtype())) return std::nullopt;
  const std::optional<uint64_t> divisor = splatOf(module_, definitions_, call.args[1]);
  const std::optional<uint64_t> factor = divisor ? exactReciprocal(dtype(), *divisor) : std::nullopt;
  if (!factor || typeOf(call.args[0]) != type_) return std::nullopt;
  return callOf("multiply", {call.args[0], scalar(dtype(), *factor)});
}

std::optional<Rhs> AlgebraSimplifier::onRemainder(const CallOp& call) {
  return isInteger(dtype()) && isAll(call.args[1], 1) ? number(0) : std::nullopt;
}

std::optional<Rhs> AlgebraSimplifier::onExtreme(const CallOp& call) {
  return isSame(call.args[0], call.args[1]) ? same(call.args[0]) : std::nullopt;
}

std::optional<Rhs> AlgebraSimplifier::onAnd(const CallOp& call) {
  if (isSame(call.args[0], call.args[1])) return same(call.args[0]);
  for (size_t i : {0, 1}) {
    if (isAll(call.args[i], dtype() == DType::Bool ? 1 : -1))
      if (std::optional<Rhs> result = same(call.args[1 - i])) return result;
    if (isAllBits(call.args[i], 0))
      if (std::optional<Rhs> result = number(0)) return result;
  }
  return std::nullopt;
}

std::optional<Rhs> AlgebraSimplifier::onOr(const CallOp& call) {
  if (isSame(call.args[0], call.args[1])) return same(call.args[0]);
  for (size_t i : {0, 1}) {
    if (isAllBits(call.args[i], 0))
      if (std::optional<Rhs> result = same(call.args[1 - i])) return result;
    if (isAll(call.args[i], dtype() == DType::Bool ? 1 : -1))
      if (std::optional<Rhs> result = number(*splatOf(module_, definitions_, call.args[i]))) return result;
  }
  return std::nullopt;
}

std::optional<Rhs> AlgebraSimplifier::onXor(const CallOp& call) {
  if (isSame(call.args[0], call.args[1])) return number(0);
  for (size_t i : {0, 1}) {
    if (isAllBits(call.args[i], 0))
      if (std::optional<Rhs> result = same(call.args[1 - i])) return result;
    if (dtype() == DType::Bool && isAllBits(call.args[i], 1) && typeOf(call.args[1 - i]) == type_)
      return callOf("logical_not", {call.args[1 - i]});
  }
  return std::nullopt;
}

std::optional<Rhs> AlgebraSimplifier::onShift(const CallOp& call) {
  return isAllBits(call.args[1], 0) ? same(call.args[0]) : std::nullopt;
}

std::optional<Rhs> AlgebraSimplifier::onComparison(const CallOp& call) {
  constexpr std::pair<std::string_view, Relation> kRelations[] = {
      {"equal", Relation::Eq},      {"not_equal", Relation::Ne}, {"less", Relation::Lt},
      {"less_equal", Relation::Le}, {"greater", Relation::Gt},   {"greater_equal", Relation::Ge}};
  const auto* relation = std::find_if(std::begin(kRelations), std::end(kRelations),
                                      [&](const auto& each) { return each.first == call.op->name; });
  const DType operands = typeOf(call.args[0])->dtype();
  if (isFloat(operands)) return std::nullopt;  // NaN is unlike itself
  if (isSame(call.args[0], call.args[1])) return number(holds(relation->second, 0, 0) ? 1 : 0);
  if (operands == DType::Bool) {
    const bool isEqual = relation->second == Relation::Eq;
    if (!isEqual && relation->second != Relation::Ne) return std::nullopt;
    for (size_t i : {0, 1}) {
      const Atom other = call.args[1 - i];
      if (typeOf(other) != type_) continue;
      if (isAllBits(call.args[i], isEqual ? 1 : 0)) return same(other);
      if (isAllBits(call.args[i], isEqual ? 0 : 1)) return callOf("logical_not", {other});
    }
    return std::nullopt;
  }
  const std::optional<DimExpr> left = extentOf(module_, function_, definitions_, call.args[0]);
  const std::optional<DimExpr> right =
      left ? extentOf(module_, function_, definitions_, call.args[1]) : std::nullopt;
  if (!right) return std::nullopt;
  // What entry points check of their extents holds in them.
  DimKnowledge knowledge;
  for (ir::VarId param : function_.params) {
    const TypeRef type = function_.var(param).type;
    if (!type->isTensor()) continue;
    for (const DimExpr& dim : type->dims())
      if (std::optional<DimSymbol> symbol = dim.asSymbol()) knowledge.addExtent(*symbol);
  }
  for (const DimConstraint& constraint : function_.where)
    if (!knowledge.assume(constraint).has_value()) return std::nullopt;
  switch (knowledge.decide(*left, relation->second, *right)) {
    case Truth::False: return number(0);
    case Truth::True: return number(1);
    case Truth::Unknown: return std::nullopt;
  }
  return std::nullopt;
}

std::optional<Rhs> AlgebraSimplifier::onWhere(const CallOp& call) {
  const std::optional<uint64_t> condition = splatOf(module_, definitions_, call.args[0]);
  if (condition) return same(call.args[*condition != 0 ? 1 : 2]);
  if (isSame(call.args[1], call.args[2])) return same(call.args[1]);
  if (dtype() == DType::Bool && isAllBits(call.args[1], 1) && isAllBits(call.args[2], 0))
    return same(call.args[0]);
  return std::nullopt;
}

/// The axis of the operand for each axis of the result.
std::vector<int64_t> permutationOf(const CallOp& call, int rank) {
  std::vector<int64_t> axes;
  if (const auto listed = call.attrs.get<std::vector<int64_t>>("axes")) {
    axes = *listed;
    for (int64_t& axis : axes) axis += axis < 0 ? rank : 0;
  } else {
    for (int axis = rank; axis-- > 0;) axes.push_back(axis);
  }
  return axes;
}

std::optional<Rhs> AlgebraSimplifier::onTranspose(const CallOp& call) {
  const int rank = type_->rank();
  std::vector<int64_t> axes = permutationOf(call, rank);
  const CallOp* first = inner(call.args[0], "transpose");
  const Atom source = first == nullptr ? call.args[0] : first->args[0];
  if (first != nullptr) {
    const std::vector<int64_t> before = permutationOf(*first, rank);
    for (int64_t& axis : axes) axis = before[static_cast<size_t>(axis)];
  }
  if (std::is_sorted(axes.begin(), axes.end())) return same(source);
  if (first == nullptr) return std::nullopt;
  CallOp composed{call.op, call.attrs, {source}};
  composed.attrs.set("axes", std::move(axes));
  return Rhs(std::move(composed));
}

/// Views keep the order of elements, so one that comes back to a shape is what had it.
std::optional<Rhs> AlgebraSimplifier::onView(const CallOp& call) {
  const Atom data = call.args[0];
  if (std::optional<Rhs> itself = same(data)) return itself;
  const auto* first = definitions_.as<CallOp>(data);
  if (first == nullptr || !isView(*first)) return std::nullopt;
  if (std::optional<Rhs> itself = same(first->args[0])) return itself;
  if (call.op->name != "reshape" || call.args.size() > 1) return std::nullopt;
  // Numbers and at most one -1 say the same of any data with as many elements.
  const auto shape = call.attrs.get<std::vector<DimExpr>>("newshape");
  if (!shape) return std::nullopt;
  size_t inferred = 0;
  for (const DimExpr& dim : *shape) {
    const std::optional<int64_t> extent = dim.asConstant();
    if (!extent || (*extent <= 0 && *extent != -1)) return std::nullopt;
    inferred += *extent == -1 ? 1 : 0;
  }
  if (inferred > 1) return std::nullopt;
  return Rhs(CallOp{call.op, call.attrs, {first->args[0]}});
}

std::optional<Rhs> AlgebraSimplifier::onConcatenate(const CallOp& call) {
  return call.args.size() == 1 ? same(call.args[0]) : std::nullopt;
}

/// As many elements as there are, in the same direction, are all of them.
std::optional<Rhs> AlgebraSimplifier::onSlice(const CallOp& call) {
  if (call.args.size() > 3) return std::nullopt;
  const auto strides = call.attrs.get<std::vector<int64_t>>("strides");
  if (!strides || std::any_of(strides->begin(), strides->end(), [](int64_t stride) { return stride < 1; }))
    return std::nullopt;
  return same(call.args[0]);
}

std::optional<Rhs> AlgebraSimplifier::onReverse(const CallOp& call) {
  int64_t axis = call.attrs.intOf("axis");
  axis += axis < 0 ? type_->rank() : 0;
  const std::optional<int64_t> extent = type_->dims()[static_cast<size_t>(axis)].asConstant();
  if (extent && *extent <= 1) return same(call.args[0]);
  const CallOp* again = inner(call.args[0], "reverse");
  if (again == nullptr) return std::nullopt;
  const int64_t first = again->attrs.intOf("axis");
  return first + (first < 0 ? type_->rank() : 0) == axis ? same(again->args[0]) : std::nullopt;
}

std::optional<Rhs> AlgebraSimplifier::onClip(const CallOp& call) {
  const CallOp* again = inner(call.args[0], "clip");
  return again != nullptr && again->attrs == call.attrs ? same(call.args[0]) : std::nullopt;
}

const std::unordered_map<std::string_view, AlgebraSimplifier::Rule>& AlgebraSimplifier::rules() {
  using Self = AlgebraSimplifier;
  static const std::unordered_map<std::string_view, Rule> kRules = {
      {"negative", &Self::onNegative},
      {"abs", &Self::onAbs},
      {"nn.relu", &Self::onRelu},
      {"floor", &Self::onRounding},
      {"ceil", &Self::onRounding},
      {"trunc", &Self::onRounding},
      {"round", &Self::onRounding},
      {"logical_not", &Self::onNot},
      {"bitwise_not", &Self::onNot},
      {"copy", &Self::onCopy},
      {"cast", &Self::onCast},
      {"cast_like", &Self::onCast},
      {"add", &Self::onAdd},
      {"subtract", &Self::onSubtract},
      {"multiply", &Self::onMultiply},
      {"divide", &Self::onDivide},
      {"floor_divide", &Self::onDivide},
      {"trunc_divide", &Self::onDivide},
      {"mod", &Self::onRemainder},
      {"trunc_mod", &Self::onRemainder},
      {"floor_mod", &Self::onRemainder},
      {"maximum", &Self::onExtreme},
      {"minimum", &Self::onExtreme},
      {"logical_and", &Self::onAnd},
      {"bitwise_and", &Self::onAnd},
      {"logical_or", &Self::onOr},
      {"bitwise_or", &Self::onOr},
      {"logical_xor", &Self::onXor},
      {"bitwise_xor", &Self::onXor},
      {"left_shift", &Self::onShift},
      {"right_shift", &Self::onShift},
      {"equal", &Self::onComparison},
      {"not_equal", &Self::onComparison},
      {"less", &Self::onComparison},
      {"less_equal", &Self::onComparison},
      {"greater", &Self::onComparison},
      {"greater_equal", &Self::onComparison},
      {"where", &Self::onWhere},
      {"transpose", &Self::onTranspose},
      {"reshape", &Self::onView},
      {"squeeze", &Self::onView},
      {"expand_dims", &Self::onView},
      {"broadcast_to", &Self::onRepetition},
      {"tile", &Self::onRepetition},
      {"repeat", &Self::onRepetition},
      {"concatenate", &Self::onConcatenate},
      {"strided_slice", &Self::onSlice},
      {"reverse", &Self::onReverse},
      {"clip", &Self::onClip},
  };
  return kRules;
}

/// Branches that give one value, or the condition itself.
std::optional<Rhs> AlgebraSimplifier::onIf(const ir::If& branch) {
  const ir::Block& yes = function_.block(branch.thenBlock);
  const ir::Block& no = function_.block(branch.elseBlock);
  if (!yes.bindings.empty() || !no.bindings.empty()) return std::nullopt;
  if (isSame(yes.result, no.result)) return same(yes.result);
  if (!type_->isScalar() || dtype() != DType::Bool) return std::nullopt;
  if (isAllBits(yes.result, 1) && isAllBits(no.result, 0)) return same(branch.condition);
  if (isAllBits(yes.result, 0) && isAllBits(no.result, 1)) return callOf("logical_not", {branch.condition});
  return std::nullopt;
}

void AlgebraSimplifier::simplify(ir::Binding& binding) {
  // With a check of its own it stays: what is checked belongs to this operator.
  if (!binding.obligations.empty()) return;
  // Each rule leaves less to do; a few may follow one another.
  for (int round = 0; round < 8; ++round) {
    type_ = function_.var(binding.var).type;
    std::optional<Rhs> simpler;
    if (const auto* call = std::get_if<CallOp>(&binding.rhs)) {
      auto rule = rules().find(call->op->name);
      if (rule != rules().end()) simpler = (this->*rule->second)(*call);
    } else if (const auto* branch = std::get_if<ir::If>(&binding.rhs)) {
      simpler = onIf(*branch);
    }
    if (!simpler) return;
    binding.rhs = std::move(*simpler);
    context_.count("operators simplified");
  }
}

Result<void> simplifyAlgebra(ir::Module& module, PassContext& context) {
  ConstantPool pool(module);
  for (ir::Function& function : module.functions) {
    if (function.attrs.find("Primitive") != nullptr) continue;  // groups are made from what is simple already
    AlgebraSimplifier(module, function, pool, context).run();
  }
  return success();
}

}  // namespace

constinit const PassInfo kSimplifyAlgebraPass{
    .name = "simplify-algebra",
    .summary = "operators whose result is an operand, or that a cheaper one can replace",
    .documentation =
        R"(Replaces an operator by one of its operands, by a number or by a cheaper operator where that gives the same bits for every input.

* Integers and bools: neutral and absorbing operands, `x - x`, double negation, comparisons of a value with itself and of extents whose order is known.
* Floats: `x + -0`, `x - 0`, `x * 1`, `x / 1`, `x * -1`, double negation, and a division by a power of two becomes a multiplication. Not `x + 0`, which is 0 where x is -0; not `x * 0`, `x - x` and `x == x`, which differ for infinities and NaN.
* Casts to the own type, and chains of casts where the detour changes nothing: through a type that holds all values, or from integer to narrower integer. A detour through floats saturates where integers wrap, so it stays.
* `transpose` of `transpose`, `reshape`, `squeeze` and `expand_dims` that come back to the shape that they started from, slices that take everything, `reverse` of `reverse`, `where` and `if` with equal arms or a known condition.

An operand must have the type of the result, extents included: adding a zero of higher rank changes the shape. Operators with a check of their own stay. `reinterpret` stays: it sees one NaN only.)",
    .level = 1,
    .run = simplifyAlgebra,
};

}  // namespace baton::passes
