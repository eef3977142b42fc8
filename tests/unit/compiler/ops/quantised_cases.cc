// Random calls of operators on quantised tensors.
#include <algorithm>

#include "tests/unit/compiler/ops/case_makers.h"

namespace baton::ops::test {

namespace {

const std::vector<DType> kQuantised = {DType::I8, DType::U8, DType::I8, DType::U8, DType::I16, DType::I32};

/// Mostly ordinary scales; now and then far ones, and what is none.
double scale(Random& random) {
  if (random.chance(8))
    return random.pick<double>(
        {0.0, 1.0, 1e-30, 1e30, 1e-12, INFINITY, 0.5, 2.0, 1e9, 1e-9, 0x1p30, 0x1p31, 0x1p-33});
  return static_cast<double>(random.between(1, 4000)) / 1024;
}
Tensor scales(Random& random, const Ints& shape) {
  std::vector<double> values;
  for (int64_t i = shape.empty() ? 1 : shape[0]; i > 0; --i) values.push_back(scale(random));
  return tensorOf(DType::F32, shape, values);
}
Tensor zeroPoints(Random& random, const Ints& shape) {
  return random.integers(random.chance(80) ? DType::I32 : DType::I8, shape, -7, 9);
}
/// Of one number, or of one for each index along an axis.
Ints perAxis(Random& random, const Ints& shape, int64_t axis) {
  return shape.empty() || random.chance(50) ? Ints{} : Ints{shape[fromFront(axis, shape.size())]};
}
int64_t axisOf(Random& random, const Ints& shape) {
  return shape.empty() || random.chance(40) ? -1 : anyAxis(random, shape.size());
}

/// Data with scales and zero points along an axis.
Case makeData(Random& random, DType dtype) {
  const Ints shape = random.shape(0, 3);
  Case c{{random.tensor(dtype, shape)}, {}};
  const int64_t axis = axisOf(random, shape);
  c.attrs.set("axis", axis);
  c.inputs.push_back(scales(random, perAxis(random, shape, axis)));
  c.inputs.push_back(zeroPoints(random, perAxis(random, shape, axis)));
  return c;
}

Case makeBinary(Random& random) {
  const DType dtype = random.pick(kQuantised);
  const Ints shape = random.shape(0, 3);
  Case c;
  for (int i = 0; i < 2; ++i) c.inputs.push_back(random.tensor(dtype, broadcastable(random, shape)));
  for (size_t i = 0; i < 2; ++i) {
    const Ints own = c.inputs[i].shape;
    const int64_t axis = axisOf(random, own);
    c.attrs.set(i == 0 ? "lhs_axis" : "rhs_axis", axis);
    c.inputs.push_back(scales(random, perAxis(random, own, axis)));
    c.inputs.push_back(zeroPoints(random, perAxis(random, own, axis)));
  }
  c.inputs.push_back(scales(random, {}));
  c.inputs.push_back(zeroPoints(random, {}));
  return c;
}

Case makeConcatenate(Random& random) {
  const DType dtype = random.pick(kQuantised);
  Ints shape = random.shape(1, 3);
  const int64_t axis = anyAxis(random, shape.size());
  const int64_t count = random.between(1, 3);
  Case c{{scales(random, {}), zeroPoints(random, {})}, {}};
  for (int64_t i = 0; i < count; ++i) {
    shape[fromFront(axis, shape.size())] = random.pick<int64_t>({0, 1, 2, 4});
    c.inputs.push_back(random.tensor(dtype, shape));
  }
  for (int64_t i = 0; i < count; ++i) c.inputs.push_back(scales(random, {}));
  for (int64_t i = 0; i < count; ++i) c.inputs.push_back(zeroPoints(random, {}));
  c.attrs.set("axis", axis);
  return c;
}

Case makeDense(Random& random) {
  Ints shape = random.pick<Ints>({{}, {3}, {0}, {2, 2}, {1}});
  const int64_t inner = random.pick<int64_t>({0, 1, 3, 8});
  const int64_t units = random.pick<int64_t>({0, 1, 5, 9});
  shape.push_back(inner);
  Case c{
      {random.tensor(random.pick(kQuantised), shape), random.tensor(random.pick(kQuantised), {units, inner}),
       zeroPoints(random, {}), zeroPoints(random, random.chance(50) ? Ints{} : Ints{units}),
       scales(random, {}), scales(random, random.chance(50) ? Ints{} : Ints{units})},
      {}};
  if (random.chance(50)) c.attrs.set("units", units);
  if (random.chance(30)) c.attrs.set("out_dtype", DType::I64);
  return c;
}

Case makeBatchMatmul(Random& random) {
  const bool a = random.chance(30);
  const bool b = random.chance(60);
  const int64_t batch = random.pick<int64_t>({0, 1, 2});
  const int64_t rows = random.pick<int64_t>({1, 2, 5});
  const int64_t inner = random.pick<int64_t>({0, 1, 4});
  const int64_t columns = random.pick<int64_t>({1, 3});
  const int64_t first = random.chance(25) ? 1 : batch;
  Case c{
      {random.tensor(random.pick(kQuantised), a ? Ints{first, inner, rows} : Ints{first, rows, inner}),
       random.tensor(random.pick(kQuantised), b ? Ints{batch, columns, inner} : Ints{batch, inner, columns}),
       zeroPoints(random, {}), zeroPoints(random, {}), scales(random, {}), scales(random, {})},
      {}};
  c.attrs.set("transpose_a", a);
  c.attrs.set("transpose_b", b);
  return c;
}

Case makeConv2d(Random& random) {
  const bool isChannelLast = random.chance(40);
  const int64_t channels = random.between(1, 3);
  const int64_t results = random.between(1, 3);
  const Ints window = {random.between(1, 3), random.between(1, 2)};
  const Ints plane = {random.between(3, 5), random.between(2, 4)};
  const Ints data = isChannelLast ? Ints{random.between(0, 2), plane[0], plane[1], channels}
                                  : Ints{random.between(0, 2), channels, plane[0], plane[1]};
  const Ints weight = isChannelLast ? Ints{window[0], window[1], channels, results}
                                    : Ints{results, channels, window[0], window[1]};
  Case c{{random.tensor(random.pick(kQuantised), data), random.tensor(random.pick(kQuantised), weight),
          zeroPoints(random, {}), zeroPoints(random, random.chance(50) ? Ints{} : Ints{results}),
          scales(random, {}), scales(random, random.chance(50) ? Ints{} : Ints{results})},
         {}};
  c.attrs.set("data_layout", std::string(isChannelLast ? "NHWC" : "NCHW"));
  c.attrs.set("kernel_layout", std::string(isChannelLast ? "HWIO" : "OIHW"));
  c.attrs.set("padding", Ints{random.between(0, 1), random.between(0, 2)});
  c.attrs.set("strides", Ints{random.between(1, 2), 1});
  if (random.chance(30)) c.attrs.set("out_dtype", DType::I64);
  return c;
}

}  // namespace

void addQuantisedMakers(Makers& makers) {
  makers["qnn.quantize"] = [](Random& random) {
    Case c = makeData(random, random.pick(kFloats));
    c.attrs.set("out_dtype", random.pick(kQuantised));
    return c;
  };
  makers["qnn.dequantize"] = [](Random& random) {
    Case c = makeData(random, random.pick(kIntegers));
    if (random.chance(50)) c.attrs.set("out_dtype", random.pick(kFloats));
    return c;
  };
  makers["qnn.requantize"] = [](Random& random) {
    Case c = makeData(random, random.pick(kIntegers));
    c.inputs.push_back(scales(random, {}));
    c.inputs.push_back(zeroPoints(random, {}));
    c.attrs.set("rounding", random.pick<std::string>({"None", "UPWARD", "TONEAREST", "TONEAREST"}));
    c.attrs.set("out_dtype", random.pick(kQuantised));
    return c;
  };
  for (const std::string name : {"qnn.add", "qnn.subtract", "qnn.mul"}) makers[name] = makeBinary;
  makers["qnn.concatenate"] = makeConcatenate;
  makers["qnn.conv2d"] = makeConv2d;
  makers["qnn.dense"] = makeDense;
  makers["qnn.batch_matmul"] = makeBatchMatmul;
}

}  // namespace baton::ops::test
