// Random calls of products of matrices.
#include "compiler/ops/lowering/packed_weight.h"
#include "tests/unit/compiler/ops/case_makers.h"

namespace baton::ops::test {

namespace {

void outType(Random& random, Case& c, DType dtype) {
  if (dtype == DType::I8 && random.chance(50)) c.attrs.set("out_dtype", DType::I32);
  if (dtype == DType::F16 && random.chance(50)) c.attrs.set("out_dtype", DType::F32);
}

}  // namespace

void addProductMakers(Makers& makers) {
  makers["nn.dense"] = [](Random& random) {
    const DType dtype = random.pick(kNumeric);
    std::vector<int64_t> shape = random.shape(0, 3);
    const int64_t inner = random.pick<int64_t>({0, 1, 3, 8, 33});
    const int64_t units = random.pick<int64_t>({0, 1, 5, 16, 63, 64, 65, 130});
    shape.push_back(inner);
    Case c{{random.tensor(dtype, shape), random.tensor(dtype, {units, inner})}, {}};
    if (random.chance(50)) c.attrs.set("units", units);
    outType(random, c, dtype);
    return c;
  };
  makers["nn.dense_packed"] = [](Random& random) {
    const DType dtype = random.pick(kNumeric);
    std::vector<int64_t> shape = random.shape(0, 3);
    const int64_t inner = random.pick<int64_t>({0, 1, 3, 33});
    const int64_t units = random.pick<int64_t>({0, 1, 5, 63, 64, 65, 128, 130});
    shape.push_back(inner);
    const Tensor weight = random.tensor(dtype, {units, inner});
    const ir::Constant packed = packWeight({dtype, weight.shape, weight.bytes, "", ""}).value();
    Case c{{random.tensor(dtype, shape), {dtype, packed.shape, packed.bytes}}, {}};
    c.attrs.set("units", units);
    outType(random, c, dtype);
    return c;
  };
  makers["nn.matmul"] = [](Random& random) {
    const DType dtype = random.pick(kNumeric);
    const bool a = random.chance(40);
    const bool b = random.chance(50);
    const int64_t rows = random.pick<int64_t>({0, 1, 2, 5, 6, 7, 13, 100});
    const int64_t inner = random.pick<int64_t>({0, 1, 4, 17});
    const int64_t columns = random.pick<int64_t>({1, 3, 64, 70});
    std::vector<int64_t> left = random.chance(70) ? std::vector<int64_t>{} : std::vector<int64_t>{2};
    left.insert(left.end(), {a ? inner : rows, a ? rows : inner});
    if (!a && random.chance(10)) left = {inner};
    Case c{{random.tensor(dtype, left), random.tensor(dtype, b ? std::vector<int64_t>{columns, inner}
                                                               : std::vector<int64_t>{inner, columns})},
           {}};
    c.attrs.set("transpose_a", a);
    c.attrs.set("transpose_b", b);
    outType(random, c, dtype);
    return c;
  };
  makers["nn.batch_matmul"] = [](Random& random) {
    const DType dtype = random.pick(kNumeric);
    const bool a = random.chance(30);
    const bool b = random.chance(60);
    const int64_t batch = random.pick<int64_t>({0, 1, 2, 3});
    const int64_t rows = random.pick<int64_t>({1, 2, 5, 9});
    const int64_t inner = random.pick<int64_t>({0, 1, 4, 17});
    const int64_t columns = random.pick<int64_t>({1, 3, 66});
    const int64_t batchA = random.chance(25) ? 1 : batch;
    const int64_t batchB = random.chance(25) ? 1 : batch;
    Case c{{random.tensor(dtype, a ? std::vector<int64_t>{batchA, inner, rows}
                                   : std::vector<int64_t>{batchA, rows, inner}),
            random.tensor(dtype, b ? std::vector<int64_t>{batchB, columns, inner}
                                   : std::vector<int64_t>{batchB, inner, columns})},
           {}};
    c.attrs.set("transpose_a", a);
    c.attrs.set("transpose_b", b);
    outType(random, c, dtype);
    return c;
  };
}

}  // namespace baton::ops::test
