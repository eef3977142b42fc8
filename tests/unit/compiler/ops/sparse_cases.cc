// Random calls of operators on sparse tensors.
#include <algorithm>

#include "tests/unit/compiler/ops/case_makers.h"

namespace baton::ops::test {

namespace {

/// Row pointers and indices of a sparse matrix, now and then wrong ones.
struct SparseMatrix {
  std::vector<double> pointers;
  std::vector<double> indices;
};
SparseMatrix sparseMatrix(Random& random, int64_t rows, int64_t columns) {
  SparseMatrix matrix;
  matrix.pointers.push_back(0);
  for (int64_t row = 0; row < rows; ++row) {
    for (int64_t i = columns == 0 ? 0 : random.between(0, 3); i > 0; --i)
      matrix.indices.push_back(static_cast<double>(random.between(0, columns - 1)));
    matrix.pointers.push_back(static_cast<double>(matrix.indices.size()));
  }
  const auto spoil = [&](std::vector<double>& numbers, double value) {
    if (!numbers.empty())
      numbers[static_cast<size_t>(random.between(0, static_cast<int64_t>(numbers.size()) - 1))] = value;
  };
  if (random.chance(8))
    spoil(matrix.indices, random.pick<double>({-1, static_cast<double>(columns), 2147483647.0}));
  if (random.chance(8)) spoil(matrix.pointers, random.pick<double>({-1, 1, 3, 99, 2147483647.0}));
  return matrix;
}

Tensor vectorOf(DType dtype, const std::vector<double>& values) {
  return tensorOf(dtype, {static_cast<int64_t>(values.size())}, values);
}

int64_t some(Random& random) { return random.pick<int64_t>({0, 1, 2, 3, 5}); }

Case makeSparseDense(Random& random) {
  const DType dtype = random.pick(kNumeric);
  const DType index = random.pick(kIndices);
  const int64_t columns = some(random);
  const SparseMatrix matrix = sparseMatrix(random, some(random), columns);
  const auto count = static_cast<int64_t>(matrix.indices.size());
  const bool hasBlocks = random.chance(40);
  const int64_t height = hasBlocks ? random.between(1, 3) : 1;
  const int64_t width = hasBlocks ? random.between(1, 3) : 1;
  Case c{{random.tensor(dtype, {some(random), columns * width}),
          random.tensor(dtype, hasBlocks ? Ints{count, height, width} : Ints{count}),
          vectorOf(index, matrix.indices), vectorOf(index, matrix.pointers)},
         {}};
  c.attrs.set("sparse_lhs", random.chance(50));
  return c;
}

/// Positions in a shape, now and then one that is not in it.
Tensor positionsIn(Random& random, const Ints& shape, int64_t count) {
  const bool fails = random.chance(8);
  std::vector<double> values;
  for (int64_t i = 0; i < count; ++i)
    for (const int64_t extent : shape)
      values.push_back(static_cast<double>(
          random.between(fails ? -1 : 0, std::max<int64_t>(extent - (fails ? 0 : 1), 0))));
  return tensorOf(random.pick(kIndices), {count, static_cast<int64_t>(shape.size())}, values);
}
Tensor shapeTensor(Random& random, const Ints& shape) {
  return vectorOf(random.pick(kIndices), {shape.begin(), shape.end()});
}

/// Mostly of 24 elements, both.
Ints oldShape(Random& random) {
  if (random.chance(10)) return {0, 2};
  return random.pick<Ints>({{6, 4}, {2, 3, 4}, {24}, {4, 1, 6}});
}
Ints newShape(Random& random) {
  if (random.chance(15)) return random.pick<Ints>({{-1, 0}, {5, 5}, {-1, 5}});
  return random.pick<Ints>({{24}, {4, 6}, {-1, 4}, {3, -1, 2}, {2, 2, 6}, {1, 24}});
}

Case makeToDense(Random& random, bool isDynamic) {
  const DType dtype = random.pick(kAny);
  Ints shape;
  for (int64_t i = random.between(1, 3); i > 0; --i) shape.push_back(random.between(1, 5));
  const int64_t count = some(random);
  Tensor positions = positionsIn(random, shape, count);
  Ints values = {count};
  if (shape.size() == 1 && random.chance(50)) {
    positions.shape = {count};
    if (random.chance(30)) {
      positions = random.integers(DType::I32, {}, 0, shape[0] - 1);
      values = {};
    }
  }
  if (random.chance(20)) values = {};
  Case c{{positions}, {}};
  if (isDynamic)
    c.inputs.push_back(shapeTensor(random, shape));
  else
    c.attrs.set("output_shape", dims(shape));
  c.inputs.push_back(random.tensor(dtype, values));
  if (random.chance(70)) c.inputs.push_back(random.tensor(dtype, {}));
  return c;
}

}  // namespace

void addSparseMakers(Makers& makers) {
  makers["nn.sparse_dense"] = makeSparseDense;
  makers["nn.sparse_transpose"] = [](Random& random) {
    const DType index = random.pick(kIndices);
    const int64_t rows = some(random);
    const SparseMatrix matrix = sparseMatrix(random, rows, rows);
    const auto count = static_cast<int64_t>(matrix.indices.size());
    return Case{{random.tensor(random.pick(kNumeric), {count}), vectorOf(index, matrix.indices),
                 vectorOf(index, matrix.pointers)},
                {}};
  };
  makers["nn.sparse_add"] = [](Random& random) {
    const DType dtype = random.pick(kNumeric);
    const DType index = random.pick(kIndices);
    const Ints shape = {some(random), some(random)};
    const SparseMatrix matrix = sparseMatrix(random, shape[0], shape[1]);
    const auto count = static_cast<int64_t>(matrix.indices.size());
    return Case{{random.tensor(dtype, shape), random.tensor(dtype, {count}), vectorOf(index, matrix.indices),
                 vectorOf(index, matrix.pointers)},
                {}};
  };
  makers["sparse_to_dense"] = [](Random& random) { return makeToDense(random, false); };
  makers["dyn.sparse_to_dense"] = [](Random& random) { return makeToDense(random, true); };
  makers["sparse_fill_empty_rows"] = [](Random& random) {
    const DType dtype = random.pick(kAny);
    Ints shape;
    for (int64_t i = random.between(1, 3); i > 0; --i) shape.push_back(random.between(1, 5));
    const int64_t count = some(random);
    return Case{{positionsIn(random, shape, count), random.tensor(dtype, {count}), shapeTensor(random, shape),
                 random.tensor(dtype, random.chance(50) ? Ints{} : Ints{1})},
                {}};
  };
  makers["sparse_reshape"] = [](Random& random) {
    const Ints shape = oldShape(random);
    const Ints wanted = newShape(random);
    const int64_t count = shape[0] == 0 ? 0 : some(random);
    return Case{{positionsIn(random, shape, count), shapeTensor(random, shape), shapeTensor(random, wanted)},
                {}};
  };
  makers["sparse.shape"] = [](Random& random) {
    return Case{{shapeTensor(random, oldShape(random)), shapeTensor(random, newShape(random))}, {}};
  };
  makers["sparse.rows"] = [](Random& random) {
    const SparseMatrix matrix = sparseMatrix(random, some(random), 3);
    const auto count = static_cast<int64_t>(matrix.indices.size());
    return Case{{vectorOf(random.pick(kIndices), matrix.pointers),
                 random.integers(random.pick(kIndices), {}, count, count)},
                {}};
  };
  makers["sparse.positions"] = [](Random& random) {
    const Ints shape = {random.between(1, 4), random.between(1, 4)};
    return Case{{positionsIn(random, shape, some(random)), shapeTensor(random, shape)}, {}};
  };
}

}  // namespace baton::ops::test
