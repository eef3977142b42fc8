// Handlers of the value operations: registers in, one register out.
//   unary:    dst = op a          binary: dst = a op b        ternary: dst = op(a, b, c)
//   division: x is the message    generic cast: x, y are the types
#include "base/error.h"
#include "kernels/loop/interpreter_program.h"
#include "kernels/loop/scalar_semantics.h"

namespace baton::loop {

namespace {

template <class T>
T read(const Frame& frame, uint32_t index) {
  return scalarFromBits<T>(frame.registers[index]);
}
template <class T>
void write(Frame& frame, uint32_t index, T value) {
  frame.registers[index] = scalarBits(value);
}

template <class F, class T>
const Instruction* unary(Frame& frame, const Instruction* i) {
  write(frame, i->dst, F()(read<T>(frame, i->a)));
  return i + 1;
}
template <class F, class T>
const Instruction* binary(Frame& frame, const Instruction* i) {
  write(frame, i->dst, F()(read<T>(frame, i->a), read<T>(frame, i->b)));
  return i + 1;
}
template <class F, class T>
const Instruction* division(Frame& frame, const Instruction* i) {
  const T a = read<T>(frame, i->a);
  const T b = read<T>(frame, i->b);
  if (divisionFails(a, b)) [[unlikely]]
    return failRun(frame, i->x, nullptr, 0);
  write(frame, i->dst, F()(a, b));
  return i + 1;
}
template <class T>
const Instruction* fusedMultiplyAdd(Frame& frame, const Instruction* i) {
  write(frame, i->dst, std::fma(read<T>(frame, i->a), read<T>(frame, i->b), read<T>(frame, i->c)));
  return i + 1;
}
const Instruction* select(Frame& frame, const Instruction* i) {
  frame.registers[i->dst] = frame.registers[frame.registers[i->a] != 0 ? i->b : i->c];
  return i + 1;
}
template <class To, class From>
const Instruction* cast(Frame& frame, const Instruction* i) {
  write(frame, i->dst, castScalar<To>(read<From>(frame, i->a)));
  return i + 1;
}
const Instruction* castStorage(Frame& frame, const Instruction* i) {
  frame.registers[i->dst] =
      convertScalar(frame.registers[i->a], static_cast<DType>(i->x), static_cast<DType>(i->y));
  return i + 1;
}
template <class To, class From>
const Instruction* bitcast(Frame& frame, const Instruction* i) {
  constexpr bool kFromFloat =
      std::is_floating_point_v<From> || std::is_same_v<From, Half> || std::is_same_v<From, BFloat16>;
  constexpr bool kToInteger = std::is_integral_v<To>;
  const From value = read<From>(frame, i->a);
  if constexpr (kFromFloat && kToInteger)
    write(frame, i->dst, static_cast<To>(canonicalBits(value)));
  else if constexpr (kToInteger)
    write(frame, i->dst, static_cast<To>(value));
  else
    write(frame, i->dst, std::bit_cast<To>(value));
  return i + 1;
}

// The operations as function objects; those of the language's own live in scalar_semantics.h.
#define BATON_FUNCTION(name, expression) \
  struct name {                          \
    template <class T>                   \
    auto operator()(T a, T b) const {    \
      return expression;                 \
    }                                    \
  }
#define BATON_UNARY_FUNCTION(name, expression) \
  struct name {                                \
    template <class T>                         \
    auto operator()(T a) const {               \
      return expression;                       \
    }                                          \
  }
struct AddFunction {
  template <class T>
  T operator()(T a, T b) const {
    if constexpr (std::is_floating_point_v<T>)
      return a + b;
    else
      return wrapAdd(a, b);
  }
};
struct SubFunction {
  template <class T>
  T operator()(T a, T b) const {
    if constexpr (std::is_floating_point_v<T>)
      return a - b;
    else
      return wrapSub(a, b);
  }
};
struct MulFunction {
  template <class T>
  T operator()(T a, T b) const {
    if constexpr (std::is_floating_point_v<T>)
      return a * b;
    else
      return wrapMul(a, b);
  }
};
BATON_FUNCTION(DivFunction, a / b);
BATON_FUNCTION(FloorDivFunction, floorDivide(a, b));
BATON_FUNCTION(FloorModFunction, floorModulo(a, b));
BATON_FUNCTION(TruncDivFunction, static_cast<T>(a / b));
BATON_FUNCTION(TruncModFunction, static_cast<T>(a % b));
BATON_FUNCTION(MinFunction, minimum(a, b));
BATON_FUNCTION(MaxFunction, maximum(a, b));
BATON_FUNCTION(AndFunction, static_cast<T>(a& b));
BATON_FUNCTION(OrFunction, static_cast<T>(a | b));
BATON_FUNCTION(XorFunction, static_cast<T>(a ^ b));
BATON_FUNCTION(ShlFunction, shiftLeft(a, b));
BATON_FUNCTION(ShrFunction, shiftRight(a, b));
BATON_FUNCTION(CopySignFunction, copySign(a, b));
BATON_FUNCTION(EqFunction, a == b);
BATON_FUNCTION(NeFunction, a != b);
BATON_FUNCTION(LtFunction, a < b);
BATON_FUNCTION(LeFunction, a <= b);
BATON_FUNCTION(GtFunction, a > b);
BATON_FUNCTION(GeFunction, a >= b);
struct NotFunction {
  template <class T>
  T operator()(T a) const {
    if constexpr (std::is_same_v<T, bool>)
      return !a;
    else
      return static_cast<T>(~a);
  }
};
struct NegFunction {
  template <class T>
  T operator()(T a) const {
    if constexpr (std::is_floating_point_v<T>)
      return -a;
    else
      return wrapSub(T{0}, a);
  }
};
BATON_UNARY_FUNCTION(AbsFunction, absolute(a));
BATON_UNARY_FUNCTION(SqrtFunction, std::sqrt(a));
BATON_UNARY_FUNCTION(FloorFunction, std::floor(a));
BATON_UNARY_FUNCTION(CeilFunction, std::ceil(a));
BATON_UNARY_FUNCTION(TruncFunction, std::trunc(a));
BATON_UNARY_FUNCTION(RoundFunction, roundEven(a));
#undef BATON_FUNCTION
#undef BATON_UNARY_FUNCTION

/// Calls `f` with the tag of the type if `Accepts<T>`; the verifier has excluded the rest.
template <TypeClass kClass, class F>
Handler forType(DType type, F f) {
  BATON_CHECK(isInClass(type, kClass));
  return dispatchDType(type, [&](auto tag) -> Handler {
    using T = typename decltype(tag)::type;
    constexpr bool kIsFloat = std::is_floating_point_v<T>;
    constexpr bool kIsInteger = std::is_integral_v<T> && !std::is_same_v<T, bool>;
    constexpr bool kIsBool = std::is_same_v<T, bool>;
    if constexpr ((kClass == TypeClass::Integer && kIsInteger) || (kClass == TypeClass::Float && kIsFloat) ||
                  (kClass == TypeClass::Arithmetic && (kIsInteger || kIsFloat)) ||
                  (kClass == TypeClass::BoolOrInteger && (kIsBool || kIsInteger)) ||
                  (kClass == TypeClass::Comparable && (kIsBool || kIsInteger || kIsFloat)))
      return f(tag);
    else
      return nullptr;
  });
}
template <class F, TypeClass kClass>
Handler unaryFor(DType type) {
  return forType<kClass>(type, [](auto tag) -> Handler { return unary<F, typename decltype(tag)::type>; });
}
template <class F, TypeClass kClass>
Handler binaryFor(DType type) {
  return forType<kClass>(type, [](auto tag) -> Handler { return binary<F, typename decltype(tag)::type>; });
}
template <class F>
Handler divisionFor(DType type) {
  return forType<TypeClass::Integer>(
      type, [](auto tag) -> Handler { return division<F, typename decltype(tag)::type>; });
}

Handler castHandler(DType from, DType to) {
  const auto isStorage = [](DType type) { return type == DType::F16 || type == DType::BF16; };
  if (isStorage(from) || isStorage(to)) return castStorage;
  return dispatchDType(from, [&](auto fromTag) -> Handler {
    using From = typename decltype(fromTag)::type;
    if constexpr (std::is_arithmetic_v<From>) {
      return dispatchDType(to, [&](auto toTag) -> Handler {
        using To = typename decltype(toTag)::type;
        if constexpr (std::is_arithmetic_v<To>)
          return cast<To, From>;
        else
          return nullptr;
      });
    } else {
      return nullptr;
    }
  });
}

Handler bitcastHandler(DType from, DType to) {
  return dispatchDType(from, [&](auto fromTag) -> Handler {
    using From = typename decltype(fromTag)::type;
    return dispatchDType(to, [&](auto toTag) -> Handler {
      using To = typename decltype(toTag)::type;
      if constexpr (sizeof(From) == sizeof(To) && !std::is_same_v<From, bool> && !std::is_same_v<To, bool>)
        return bitcast<To, From>;
      else
        return nullptr;
    });
  });
}

}  // namespace

Handler valueHandler(Op op, DType operandType, DType resultType) {
  const DType t = operandType;
  using enum TypeClass;
  switch (op) {
    case Op::Add: return binaryFor<AddFunction, Arithmetic>(t);
    case Op::Sub: return binaryFor<SubFunction, Arithmetic>(t);
    case Op::Mul: return binaryFor<MulFunction, Arithmetic>(t);
    case Op::Div: return binaryFor<DivFunction, Float>(t);
    case Op::FloorDiv: return divisionFor<FloorDivFunction>(t);
    case Op::FloorMod: return divisionFor<FloorModFunction>(t);
    case Op::TruncDiv: return divisionFor<TruncDivFunction>(t);
    case Op::TruncMod: return divisionFor<TruncModFunction>(t);
    case Op::Min: return binaryFor<MinFunction, Comparable>(t);
    case Op::Max: return binaryFor<MaxFunction, Comparable>(t);
    case Op::And: return binaryFor<AndFunction, BoolOrInteger>(t);
    case Op::Or: return binaryFor<OrFunction, BoolOrInteger>(t);
    case Op::Xor: return binaryFor<XorFunction, BoolOrInteger>(t);
    case Op::Shl: return binaryFor<ShlFunction, Integer>(t);
    case Op::Shr: return binaryFor<ShrFunction, Integer>(t);
    case Op::CopySign: return binaryFor<CopySignFunction, Float>(t);
    case Op::Eq: return binaryFor<EqFunction, Comparable>(t);
    case Op::Ne: return binaryFor<NeFunction, Comparable>(t);
    case Op::Lt: return binaryFor<LtFunction, Comparable>(t);
    case Op::Le: return binaryFor<LeFunction, Comparable>(t);
    case Op::Gt: return binaryFor<GtFunction, Comparable>(t);
    case Op::Ge: return binaryFor<GeFunction, Comparable>(t);
    case Op::Not: return unaryFor<NotFunction, BoolOrInteger>(t);
    case Op::Neg: return unaryFor<NegFunction, Arithmetic>(t);
    case Op::Abs: return unaryFor<AbsFunction, Arithmetic>(t);
    case Op::Sqrt: return unaryFor<SqrtFunction, Float>(t);
    case Op::Floor: return unaryFor<FloorFunction, Float>(t);
    case Op::Ceil: return unaryFor<CeilFunction, Float>(t);
    case Op::Trunc: return unaryFor<TruncFunction, Float>(t);
    case Op::Round: return unaryFor<RoundFunction, Float>(t);
    case Op::Cast: return castHandler(operandType, resultType);
    case Op::Bitcast: return bitcastHandler(operandType, resultType);
    case Op::Select: return select;
    case Op::Fma: return t == DType::F32 ? fusedMultiplyAdd<float> : fusedMultiplyAdd<double>;
    case Op::Const:
    case Op::Symbol:
    case Op::ScalarInput:
    case Op::LoopVar:
    case Op::Load:
    case Op::Store:
    case Op::GetLocal:
    case Op::SetLocal:
    case Op::Local:
    case Op::SetScalar:
    case Op::Fail:
    case Op::For:
    case Op::If:
    case Op::Reduce: break;
  }
  return nullptr;
}

}  // namespace baton::loop
