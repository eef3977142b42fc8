#include "compiler/ir/type.h"

#include <catch2/catch.hpp>

#include "compiler/ir/ir.h"
#include "compiler/ir/printer.h"

namespace baton::ir {
namespace {

TEST_CASE("equal types are one object") {
  TypeTable types;
  CHECK(types.tensor(DType::F32, {2, 3}) == types.tensor(DType::F32, {2, 3}));
  CHECK(types.tensor(DType::F32, {2, 3}) != types.tensor(DType::F32, {3, 2}));
  CHECK(types.tensor(DType::F32, {2, 3}) != types.tensor(DType::F64, {2, 3}));
  CHECK(types.scalar(DType::I32) == types.tensor(DType::I32, {}));
  CHECK(types.scalar(DType::I32)->isScalar());
  CHECK(types.tuple({types.unit()}) != types.unit());
  TypeRef function = types.function({types.unit()}, types.scalar(DType::Bool));
  CHECK(function == types.function({types.unit()}, types.scalar(DType::Bool)));
  CHECK(function != types.function({}, types.scalar(DType::Bool)));
  CHECK(types.adt(TypeDefId(0), {}) != types.adt(TypeDefId(1), {}));
  CHECK(types.ref(function) != types.tuple({function}));
}

TEST_CASE("substitution replaces generics and dims at any depth") {
  Module module;
  TypeTable& types = module.types;
  TypeVarId a = module.addTypeVar("A");
  TypeVarId b = module.addTypeVar("B");
  TypeRef nested = types.variable(a);
  for (int i = 0; i < 20000; ++i) nested = types.ref(nested);
  TypeRef replaced = types.substitute(nested, {{a}}, {{types.unit()}});
  for (int i = 0; i < 20000; ++i) replaced = replaced->pointee();
  CHECK(replaced == types.unit());
  CHECK(types.substitute(types.variable(b), {{a}}, {{types.unit()}}) == types.variable(b));

  DimSymbol n = module.dimSymbols.add("n");
  TypeRef tensor =
      types.tensor(DType::F32, {DimExpr::symbol(n) + DimExpr::constant(1), DimExpr::constant(0)});
  TypeRef list = types.function({tensor}, types.tuple({tensor}));
  TypeRef fixed = types.substituteDims(list, [&](DimSymbol symbol) -> std::optional<DimExpr> {
    return symbol == n ? std::optional(DimExpr::constant(4)) : std::nullopt;
  });
  CHECK(print(module, fixed) == "fn (Tensor[(5, 0), float32]) -> (Tensor[(5, 0), float32],)");
  CHECK(fixed->result()->elements()[0]->hasStaticDims());
  CHECK(!tensor->hasStaticDims());
}

TEST_CASE("the written size of shared types does not overflow") {
  TypeTable types;
  TypeRef type = types.unit();
  for (int i = 0; i < 100; ++i) type = types.tuple({type, type});
  CHECK(type->writtenSize() == UINT64_MAX);
  CHECK(types.tuple({types.unit(), types.unit()})->writtenSize() == 3);
}

TEST_CASE("types print as program text") {
  Module module;
  TypeTable& types = module.types;
  DimSymbol n = module.dimSymbols.add("n");
  DimSymbol other = module.dimSymbols.add("n");
  TypeRef tensor =
      types.tensor(DType::BF16, {DimExpr::symbol(n), DimExpr::symbol(other), DimExpr::symbol(kAnyDim)});
  CHECK(print(module, tensor) == "Tensor[(n, n_1, ?), bfloat16]");
  CHECK(print(module, types.tensor(DType::Bool, {1})) == "Tensor[(1,), bool]");
  CHECK(print(module, types.hole()) == "_");
}

TEST_CASE("scalars print so that they read back") {
  CHECK(printScalar(DType::Bool, 1) == "True");
  CHECK(printScalar(DType::I32, static_cast<uint64_t>(-5)) == "-5");
  CHECK(printScalar(DType::U64, UINT64_MAX) == "18446744073709551615u64");
  CHECK(printScalar(DType::F32, scalarBits(0.1f)) == "0.1f");
  CHECK(printScalar(DType::F32, scalarBits(1e-45f)) == "1e-45f");
  CHECK(printScalar(DType::F64, scalarBits(1.0)) == "1f64");
  CHECK(printScalar(DType::F16, toHalf(0.5f).bits) == "0.5f16");
  CHECK(printScalar(DType::F32, scalarBits(-0.0f)) == "-0f");
}

}  // namespace
}  // namespace baton::ir
