// Bodies of the scalar instructions, one overload for each.
#pragma once

#include "vm/exec/arithmetic.h"
#include "vm/exec/frame.h"
#include "vm/exec/out_of_line.h"

namespace baton::vm {

BATON_EXEC void exec(bytecode::Const v, Frame& f) { f.s[v.dst().index()] = v.value(); }
BATON_EXEC void exec(bytecode::MoveScalar v, Frame& f) { f.s[v.dst().index()] = f.s[v.a().index()]; }
BATON_EXEC void exec(bytecode::Select v, Frame& f) {
  const uint64_t a = f.s[v.a().index()];
  const uint64_t b = f.s[v.b().index()];
  f.s[v.dst().index()] = f.s[v.condition().index()] ? a : b;
}
BATON_EXEC void exec(bytecode::Cast v, Frame& f) {
  f.s[v.dst().index()] = castScalar(f.s[v.a().index()], v.from(), v.to());
}
BATON_EXEC void exec(bytecode::Bitcast v, Frame& f) {
  f.s[v.dst().index()] = bitcastScalar(f.s[v.a().index()], v.from(), v.to());
}

BATON_EXEC bool exec(bytecode::ExtentAdd v, Frame& f) {
  int64_t result;
  const auto a = get<int64_t>(f, v.a()), b = get<int64_t>(f, v.b());
  if (__builtin_add_overflow(a, b, &result) || result < 0) [[unlikely]]
    return failExtent(*f.m, "+", a, b);
  set(f, v.dst(), result);
  return true;
}
BATON_EXEC bool exec(bytecode::ExtentSub v, Frame& f) {
  int64_t result;
  const auto a = get<int64_t>(f, v.a()), b = get<int64_t>(f, v.b());
  if (__builtin_sub_overflow(a, b, &result) || result < 0) [[unlikely]]
    return failExtent(*f.m, "-", a, b);
  set(f, v.dst(), result);
  return true;
}
BATON_EXEC bool exec(bytecode::ExtentMul v, Frame& f) {
  int64_t result;
  const auto a = get<int64_t>(f, v.a()), b = get<int64_t>(f, v.b());
  if (__builtin_mul_overflow(a, b, &result) || result < 0) [[unlikely]]
    return failExtent(*f.m, "*", a, b);
  set(f, v.dst(), result);
  return true;
}
BATON_EXEC bool exec(bytecode::CeilDivI64 v, Frame& f) {
  const auto a = get<int64_t>(f, v.a()), b = get<int64_t>(f, v.b());
  if (arithmetic::divisionFails(a, b)) [[unlikely]]
    return failDivision(*f.m, DType::I64, scalarBits(a), scalarBits(b));
  const int64_t quotient = a / b;
  set(f, v.dst(), quotient + (a % b != 0 && (a < 0) == (b < 0)));
  return true;
}

BATON_EXEC void exec(bytecode::AndBool v, Frame& f) {
  set<bool>(f, v.dst(), get<bool>(f, v.a()) & get<bool>(f, v.b()));
}
BATON_EXEC void exec(bytecode::OrBool v, Frame& f) {
  set<bool>(f, v.dst(), get<bool>(f, v.a()) | get<bool>(f, v.b()));
}
BATON_EXEC void exec(bytecode::XorBool v, Frame& f) {
  set<bool>(f, v.dst(), get<bool>(f, v.a()) ^ get<bool>(f, v.b()));
}
BATON_EXEC void exec(bytecode::NotBool v, Frame& f) { set<bool>(f, v.dst(), !get<bool>(f, v.a())); }
BATON_EXEC void exec(bytecode::EqBool v, Frame& f) {
  set<bool>(f, v.dst(), get<bool>(f, v.a()) == get<bool>(f, v.b()));
}
BATON_EXEC void exec(bytecode::NeBool v, Frame& f) {
  set<bool>(f, v.dst(), get<bool>(f, v.a()) != get<bool>(f, v.b()));
}

#define BATON_EXEC_BINARY(name, T, function)                                         \
  BATON_EXEC void exec(bytecode::name v, Frame& f) {                                 \
    set<T>(f, v.dst(), arithmetic::function<T>(get<T>(f, v.a()), get<T>(f, v.b()))); \
  }
#define BATON_EXEC_UNARY(name, T, expression)        \
  BATON_EXEC void exec(bytecode::name v, Frame& f) { \
    const T a = get<T>(f, v.a());                    \
    set<T>(f, v.dst(), expression);                  \
  }
#define BATON_EXEC_COMPARE(name, T, relation)                          \
  BATON_EXEC void exec(bytecode::name v, Frame& f) {                   \
    set<bool>(f, v.dst(), get<T>(f, v.a()) relation get<T>(f, v.b())); \
  }
#define BATON_EXEC_DIVISION(name, T, type, function)                 \
  BATON_EXEC bool exec(bytecode::name v, Frame& f) {                 \
    const T a = get<T>(f, v.a()), b = get<T>(f, v.b());              \
    if (arithmetic::divisionFails(a, b)) [[unlikely]]                \
      return failDivision(*f.m, type, scalarBits(a), scalarBits(b)); \
    set<T>(f, v.dst(), arithmetic::function(a, b));                  \
    return true;                                                     \
  }

#define BATON_EXEC_NUMBER(suffix, T)                   \
  BATON_EXEC_BINARY(Add##suffix, T, add)               \
  BATON_EXEC_BINARY(Sub##suffix, T, sub)               \
  BATON_EXEC_BINARY(Mul##suffix, T, mul)               \
  BATON_EXEC_BINARY(Min##suffix, T, min)               \
  BATON_EXEC_BINARY(Max##suffix, T, max)               \
  BATON_EXEC_UNARY(Neg##suffix, T, arithmetic::neg(a)) \
  BATON_EXEC_UNARY(Abs##suffix, T, arithmetic::abs(a)) \
  BATON_EXEC_COMPARE(Lt##suffix, T, <)                 \
  BATON_EXEC_COMPARE(Le##suffix, T, <=)                \
  BATON_EXEC_COMPARE(Eq##suffix, T, ==)                \
  BATON_EXEC_COMPARE(Ne##suffix, T, !=)
#define BATON_EXEC_INTEGER(suffix, T, type)                         \
  BATON_EXEC_NUMBER(suffix, T)                                      \
  BATON_EXEC_DIVISION(FloorDiv##suffix, T, type, floorDiv)          \
  BATON_EXEC_DIVISION(FloorMod##suffix, T, type, floorMod)          \
  BATON_EXEC_DIVISION(TruncDiv##suffix, T, type, truncDiv)          \
  BATON_EXEC_DIVISION(TruncMod##suffix, T, type, truncMod)          \
  BATON_EXEC_BINARY(Shl##suffix, T, shl)                            \
  BATON_EXEC_BINARY(Shr##suffix, T, shr)                            \
  BATON_EXEC_UNARY(Not##suffix, T, static_cast<T>(~a))              \
  BATON_EXEC void exec(bytecode::And##suffix v, Frame& f) {         \
    f.s[v.dst().index()] = f.s[v.a().index()] & f.s[v.b().index()]; \
  }                                                                 \
  BATON_EXEC void exec(bytecode::Or##suffix v, Frame& f) {          \
    f.s[v.dst().index()] = f.s[v.a().index()] | f.s[v.b().index()]; \
  }                                                                 \
  BATON_EXEC void exec(bytecode::Xor##suffix v, Frame& f) {         \
    f.s[v.dst().index()] = f.s[v.a().index()] ^ f.s[v.b().index()]; \
  }
#define BATON_EXEC_FLOAT(suffix, T)                                               \
  BATON_EXEC_NUMBER(suffix, T)                                                    \
  BATON_EXEC void exec(bytecode::Div##suffix v, Frame& f) {                       \
    set<T>(f, v.dst(), get<T>(f, v.a()) / get<T>(f, v.b()));                      \
  }                                                                               \
  BATON_EXEC void exec(bytecode::FloorMod##suffix v, Frame& f) {                  \
    set<T>(f, v.dst(), arithmetic::floorMod(get<T>(f, v.a()), get<T>(f, v.b()))); \
  }                                                                               \
  BATON_EXEC void exec(bytecode::TruncMod##suffix v, Frame& f) {                  \
    set<T>(f, v.dst(), arithmetic::truncMod(get<T>(f, v.a()), get<T>(f, v.b()))); \
  }                                                                               \
  BATON_EXEC_UNARY(Sqrt##suffix, T, std::sqrt(a))                                 \
  BATON_EXEC_UNARY(Floor##suffix, T, std::floor(a))                               \
  BATON_EXEC_UNARY(Ceil##suffix, T, std::ceil(a))                                 \
  BATON_EXEC_UNARY(Trunc##suffix, T, std::trunc(a))                               \
  BATON_EXEC_UNARY(Round##suffix, T, std::rint(a))

BATON_EXEC_INTEGER(I8, int8_t, DType::I8)
BATON_EXEC_INTEGER(I16, int16_t, DType::I16)
BATON_EXEC_INTEGER(I32, int32_t, DType::I32)
BATON_EXEC_INTEGER(I64, int64_t, DType::I64)
BATON_EXEC_INTEGER(U8, uint8_t, DType::U8)
BATON_EXEC_INTEGER(U16, uint16_t, DType::U16)
BATON_EXEC_INTEGER(U32, uint32_t, DType::U32)
BATON_EXEC_INTEGER(U64, uint64_t, DType::U64)
BATON_EXEC_FLOAT(F32, float)
BATON_EXEC_FLOAT(F64, double)

#undef BATON_EXEC_BINARY
#undef BATON_EXEC_UNARY
#undef BATON_EXEC_COMPARE
#undef BATON_EXEC_DIVISION
#undef BATON_EXEC_NUMBER
#undef BATON_EXEC_INTEGER
#undef BATON_EXEC_FLOAT

}  // namespace baton::vm
