#include "kernels/csource/expressions.h"

#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "base/dim_dividend.h"
#include "base/error.h"

namespace baton::csource {

using loop::Op;
using loop::ReduceOp;

std::string_view typeName(DType type) {
  switch (type) {
    case DType::Bool: return "bool";
    case DType::I8: return "int8_t";
    case DType::I16: return "int16_t";
    case DType::I32: return "int32_t";
    case DType::I64: return "int64_t";
    case DType::U8: return "uint8_t";
    case DType::U16: return "uint16_t";
    case DType::U32: return "uint32_t";
    case DType::U64: return "uint64_t";
    case DType::F16: return "f16";
    case DType::BF16: return "bf16";
    case DType::F32: return "float";
    case DType::F64: return "double";
  }
  return {};
}

std::string constantText(DType type, uint64_t bits) {
  switch (type) {
    case DType::Bool: return bits != 0 ? "true" : "false";
    case DType::F16:
    case DType::BF16: return fmt::format("0x{:04x}", bits & 0xFFFF);
    case DType::F32: {
      const float value = scalarFromBits<float>(bits);
      if (std::isfinite(value)) return fmt::format("{:a}f", value);
      return fmt::format("f32_of_bits(UINT32_C(0x{:08x}))", static_cast<uint32_t>(bits));
    }
    case DType::F64: {
      const double value = scalarFromBits<double>(bits);
      if (std::isfinite(value)) return fmt::format("{:a}", value);
      return fmt::format("f64_of_bits(UINT64_C(0x{:016x}))", bits);
    }
    default: break;
  }
  if (!isSignedInt(type)) return fmt::format("UINT64_C({})", bits);
  const auto value = static_cast<int64_t>(bits);
  return value == std::numeric_limits<int64_t>::min() ? "INT64_MIN" : fmt::format("INT64_C({})", value);
}

namespace {

bool isStorage(DType type) { return type == DType::F16 || type == DType::BF16; }

std::string call(std::string_view function, DType type, std::span<const std::string> operands) {
  return fmt::format("{}_{}({})", function, dtypeShortName(type), fmt::join(operands, ", "));
}

/// The name of a function of libm for a type.
std::string_view suffix(DType type) { return type == DType::F32 ? "f" : ""; }

std::string castText(DType from, DType to, const std::string& value) {
  if (from == to) return value;
  if (isStorage(from))
    return castText(DType::F32, to, fmt::format("f32_of_{}({})", dtypeShortName(from), value));
  if (to == DType::Bool) return fmt::format("({} != 0)", value);
  if (isStorage(to)) {
    std::string single = value;
    if (from == DType::I64 || from == DType::U64 || from == DType::F64)
      single = fmt::format("odd_f32_of_{}({})", dtypeShortName(from), value);
    else if (from != DType::F32)
      single = fmt::format("odd_f32_of_f64((double){})", value);
    return fmt::format("{}_of_f32({})", dtypeShortName(to), single);
  }
  if (isFloat(from) && !isFloat(to))
    return fmt::format("from_{}_{}({})", dtypeShortName(from), dtypeShortName(to), value);
  return fmt::format("({}){}", typeName(to), value);
}

std::string bitcastText(DType from, DType to, const std::string& value) {
  if (from == to) return value;
  if (isFloat(from) && !isFloat(to))
    return fmt::format("({})bits_of_{}({})", typeName(to), dtypeShortName(from), value);
  if (to == DType::F32 || to == DType::F64)
    return fmt::format("{}_of_bits(({}){})", dtypeShortName(to), to == DType::F32 ? "uint32_t" : "uint64_t",
                       value);
  return fmt::format("({}){}", typeName(to), value);
}

std::string infix(const char* symbol, std::span<const std::string> v) {
  return fmt::format("({} {} {})", v[0], symbol, v[1]);
}

}  // namespace

std::string operationText(Op op, DType type, DType resultType, std::span<const std::string> v) {
  const bool isF = isFloat(type);
  const bool isBool = type == DType::Bool;
  const auto library = [&](std::string_view name) {
    return fmt::format("{}{}({})", name, suffix(type), fmt::join(v, ", "));
  };
  switch (op) {
    case Op::Add: return isF ? infix("+", v) : call("add", type, v);
    case Op::Sub: return isF ? infix("-", v) : call("sub", type, v);
    case Op::Mul: return isF ? infix("*", v) : call("mul", type, v);
    case Op::Div: return infix("/", v);
    case Op::FloorDiv: return call("floordiv", type, v);
    case Op::FloorMod: return call("floormod", type, v);
    case Op::TruncDiv: return call("truncdiv", type, v);
    case Op::TruncMod: return call("truncmod", type, v);
    case Op::Min: return call("min", type, v);
    case Op::Max: return call("max", type, v);
    case Op::And: return fmt::format("({}){}", typeName(type), infix("&", v));
    case Op::Or: return fmt::format("({}){}", typeName(type), infix("|", v));
    case Op::Xor: return fmt::format("({}){}", typeName(type), infix("^", v));
    case Op::Shl: return call("shl", type, v);
    case Op::Shr: return call("shr", type, v);
    case Op::CopySign: return call("copysign", type, v);
    case Op::Eq: return infix("==", v);
    case Op::Ne: return infix("!=", v);
    case Op::Lt: return infix("<", v);
    case Op::Le: return infix("<=", v);
    case Op::Gt: return infix(">", v);
    case Op::Ge: return infix(">=", v);
    case Op::Not: return isBool ? fmt::format("!{}", v[0]) : fmt::format("({})~{}", typeName(type), v[0]);
    case Op::Neg: return isF ? fmt::format("(-{})", v[0]) : call("neg", type, v);
    case Op::Abs: return isF ? library("fabs") : call("abs", type, v);
    case Op::Sqrt: return library("sqrt");
    case Op::Floor: return library("floor");
    case Op::Ceil: return library("ceil");
    case Op::Trunc: return library("trunc");
    case Op::Round: return library("rint");
    case Op::Cast: return castText(type, resultType, v[0]);
    case Op::Bitcast: return bitcastText(type, resultType, v[0]);
    case Op::Select: return fmt::format("({} ? {} : {})", v[0], v[1], v[2]);
    case Op::Fma: return library("fma");
    default: break;
  }
  BATON_CHECK(false && "not a value operation");
  return {};
}

std::string failureText(DType type, std::span<const std::string> operands) {
  return call("div_fails", type, operands);
}

namespace {

struct DimTexts {
  using Value = std::string;

  std::string number(int64_t value) { return constantText(DType::I64, static_cast<uint64_t>(value)); }
  std::string symbol(DimSymbol symbol) { return fmt::format("s{}", symbol.value()); }
  std::string add(const std::string& a, const std::string& b) { return fmt::format("add_i64({}, {})", a, b); }
  std::string multiply(const std::string& a, const std::string& b) {
    return fmt::format("mul_i64({}, {})", a, b);
  }
  std::string operation(DimOp op, const std::string& a, const std::string& b) {
    switch (op) {
      case DimOp::FloorDiv: return fmt::format("dim_floordiv({}, {}, &bad)", a, b);
      case DimOp::FloorMod: return fmt::format("dim_floormod({}, {}, &bad)", a, b);
      case DimOp::CeilDiv: return fmt::format("dim_ceildiv({}, {}, &bad)", a, b);
      case DimOp::Min: return fmt::format("min_i64({}, {})", a, b);
      case DimOp::Max: return fmt::format("max_i64({}, {})", a, b);
      case DimOp::TooLarge: break;  // verify() has excluded it
    }
    return number(0);
  }
};

}  // namespace

std::string dimText(const DimExpr& expr) { return writeDim(DimTexts{}, expr); }

std::string combinationText(ReduceOp op, DType type, const std::string& left, const std::string& right) {
  const std::string operands[] = {left, right};
  switch (op) {
    case ReduceOp::Sum: return operationText(Op::Add, type, type, operands);
    case ReduceOp::Prod: return operationText(Op::Mul, type, type, operands);
    case ReduceOp::Max: return operationText(Op::Max, type, type, operands);
    case ReduceOp::Min: return operationText(Op::Min, type, type, operands);
    case ReduceOp::All: return operationText(Op::And, type, type, operands);
    case ReduceOp::Any: return operationText(Op::Or, type, type, operands);
    case ReduceOp::ArgMax:
    case ReduceOp::ArgMin: break;
  }
  BATON_CHECK(false && "no combination of two values");
  return {};
}

std::string identityText(ReduceOp op, DType type) {
  switch (op) {
    case ReduceOp::Prod: return "1";
    case ReduceOp::All: return "true";
    case ReduceOp::Max:
    case ReduceOp::Min: break;
    default: return "0";
  }
  const bool isMax = op == ReduceOp::Max;
  if (isFloat(type)) return isMax ? "-INFINITY" : "INFINITY";
  if (type == DType::Bool) return isMax ? "false" : "true";
  const int width = 8 * sizeBytes(type);
  if (isSignedInt(type)) return fmt::format("INT{}_{}", width, isMax ? "MIN" : "MAX");
  return isMax ? "0" : fmt::format("UINT{}_MAX", width);
}

std::string scalarText(DType type, const std::string& value) {
  if (type == DType::F32 || type == DType::F64)
    return fmt::format("scalar_of_{}({})", dtypeShortName(type), value);
  return fmt::format("(int64_t){}", value);
}

std::string fromScalarText(DType type, const std::string& scalar) {
  switch (type) {
    case DType::Bool: return fmt::format("(({} & 0xFF) != 0)", scalar);
    case DType::F32: return fmt::format("f32_of_bits((uint32_t){})", scalar);
    case DType::F64: return fmt::format("f64_of_bits((uint64_t){})", scalar);
    default: return fmt::format("({}){}", typeName(type), scalar);
  }
}

}  // namespace baton::csource
