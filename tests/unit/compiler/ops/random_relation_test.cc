// Types of random numbers, and that they are what the construction says.
#include "compiler/ops/random/threefry_plain.h"
#include "tests/unit/compiler/ops/relation_test.h"

TEST_CASE("operators on keys give the next key and the numbers", "[relations][random]") {
  const std::vector<DimExpr> shape = {n, dim(3)};
  CHECK(TypedCall("random.threefry_generate").with("out_shape", shape).on(DType::U64, {10}).type() ==
        "uint64(10); uint64(n, 3)");
  CHECK(TypedCall("random.threefry_split").on(DType::U64, {10}).type() == "uint64(10); uint64(10)");
  CHECK(TypedCall("random.uniform")
            .with("out_shape", shape)
            .with("out_dtype", DType::F64)
            .on(DType::U64, {10})
            .onScalar(DType::F64, DimExpr())
            .onScalar(DType::F64, DimExpr())
            .type() == "uint64(10); float64(n, 3)");
  CHECK(TypedCall("random.multinomial")
            .with("num_samples", int64_t{7})
            .on(DType::U64, {10})
            .on(DType::F32, {m, dim(4)})
            .type() == "uint64(10); int32(m, 7)");
  TypedCall unknown("random.threefry_split");
  CHECK(unknown.on(DType::U64, {n}).type() == "uint64(10); uint64(10)");
  CHECK(unknown.checks() == std::vector<std::string>{"n == 10"});
}

TEST_CASE("keys that are moved on or split do not meet", "[random]") {
  const ThreefryKey seed = {1, 2, 3, 4, 0, 0, 0, 0, uint64_t{1} << 63, 0};
  const ThreefryKey left = plainSplitKey(seed, false);
  const ThreefryKey right = plainSplitKey(seed, true);
  CHECK(left != right);
  CHECK(left[8] == uint64_t{1} << 62);
  CHECK(right[4] == uint64_t{1} << 63);
  CHECK(plainRandomBits(left, 4, 0) != plainRandomBits(right, 4, 0));
  // A path of 128 bits, then a new key.
  ThreefryKey deep = seed;
  for (int i = 0; i < 128; ++i) deep = plainSplitKey(deep, false);
  CHECK(deep[0] == 1);
  CHECK((deep[8] | deep[9]) == 0);
  deep = plainSplitKey(deep, false);
  CHECK(deep[0] != 1);
  CHECK(deep[8] == uint64_t{1} << 62);
}
