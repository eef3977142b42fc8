#include "kernels/loop/op.h"

#include <array>

namespace baton::loop {

namespace {

constexpr std::array<OpInfo, kOpCount> kOps = {{
    {"const", -1, TypeClass::Any},        {"symbol", -1, TypeClass::Any},
    {"scalar_input", -1, TypeClass::Any}, {"loop_var", -1, TypeClass::Any},
    {"add", 2, TypeClass::Arithmetic},    {"sub", 2, TypeClass::Arithmetic},
    {"mul", 2, TypeClass::Arithmetic},    {"div", 2, TypeClass::Float},
    {"floordiv", 2, TypeClass::Integer},  {"floormod", 2, TypeClass::Integer},
    {"truncdiv", 2, TypeClass::Integer},  {"truncmod", 2, TypeClass::Integer},
    {"min", 2, TypeClass::Comparable},    {"max", 2, TypeClass::Comparable},
    {"and", 2, TypeClass::BoolOrInteger}, {"or", 2, TypeClass::BoolOrInteger},
    {"xor", 2, TypeClass::BoolOrInteger}, {"shl", 2, TypeClass::Integer},
    {"shr", 2, TypeClass::Integer},       {"copysign", 2, TypeClass::Float},
    {"eq", 2, TypeClass::Comparable},     {"ne", 2, TypeClass::Comparable},
    {"lt", 2, TypeClass::Comparable},     {"le", 2, TypeClass::Comparable},
    {"gt", 2, TypeClass::Comparable},     {"ge", 2, TypeClass::Comparable},
    {"not", 1, TypeClass::BoolOrInteger}, {"neg", 1, TypeClass::Arithmetic},
    {"abs", 1, TypeClass::Arithmetic},    {"sqrt", 1, TypeClass::Float},
    {"floor", 1, TypeClass::Float},       {"ceil", 1, TypeClass::Float},
    {"trunc", 1, TypeClass::Float},       {"round", 1, TypeClass::Float},
    {"cast", 1, TypeClass::Any},          {"bitcast", 1, TypeClass::Any},
    {"select", 3, TypeClass::Any},        {"fma", 3, TypeClass::Float},
    {"load", -1, TypeClass::Any},         {"store", -1, TypeClass::Any},
    {"get", -1, TypeClass::Any},          {"set", -1, TypeClass::Any},
    {"local", -1, TypeClass::Any},        {"set_scalar", -1, TypeClass::Any},
    {"fail", -1, TypeClass::Any},         {"for", -1, TypeClass::Any},
    {"if", -1, TypeClass::Any},           {"reduce", -1, TypeClass::Any},
}};

constexpr std::array<const char*, kLoopKindCount> kLoopKinds = {"for", "parallel", "vectorized", "unrolled"};
constexpr std::array<const char*, kReduceOpCount> kReduceOps = {"sum",    "prod",   "max", "min",
                                                                "argmax", "argmin", "all", "any"};

template <class E, class Table>
std::optional<E> findName(const Table& table, std::string_view name) {
  for (size_t i = 0; i < table.size(); ++i)
    if (name == table[i]) return static_cast<E>(i);
  return std::nullopt;
}

}  // namespace

const OpInfo& opInfo(Op op) { return kOps[static_cast<int>(op)]; }

std::optional<Op> parseOp(std::string_view name) {
  for (int i = 0; i < kOpCount; ++i)
    if (name == kOps[i].name) return static_cast<Op>(i);
  return std::nullopt;
}

bool isInClass(DType type, TypeClass types) {
  const bool computes = type == DType::F32 || type == DType::F64;
  switch (types) {
    case TypeClass::Integer: return isInteger(type);
    case TypeClass::Float: return computes;
    case TypeClass::Arithmetic: return isInteger(type) || computes;
    case TypeClass::BoolOrInteger: return type == DType::Bool || isInteger(type);
    case TypeClass::Comparable: return type == DType::Bool || isInteger(type) || computes;
    case TypeClass::Any: return true;
  }
  return false;
}

const char* loopKindName(LoopKind kind) { return kLoopKinds[static_cast<int>(kind)]; }
const char* reduceOpName(ReduceOp op) { return kReduceOps[static_cast<int>(op)]; }
std::optional<LoopKind> parseLoopKind(std::string_view name) { return findName<LoopKind>(kLoopKinds, name); }
std::optional<ReduceOp> parseReduceOp(std::string_view name) { return findName<ReduceOp>(kReduceOps, name); }

}  // namespace baton::loop
