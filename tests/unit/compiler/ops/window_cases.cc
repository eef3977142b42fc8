// Random calls of pools and convolutions: windows over one to three spatial axes.
#include "compiler/ops/reference_call.h"
#include "tests/unit/compiler/ops/case_makers.h"

namespace baton::ops::test {

namespace {

/// Axes of a layout by letter, and their whole extents.
using Extents = std::map<char, int64_t>;

Ints shapeOf(const std::string& layout, const Extents& extents) {
  Ints shape;
  std::map<char, int64_t> blocks;
  for (size_t i = 0, number = 0; i < layout.size(); ++i) {
    const char c = layout[i];
    if (c >= '0' && c <= '9')
      number = number * 10 + static_cast<size_t>(c - '0');
    else if (c >= 'a')
      blocks[static_cast<char>(c - 'a' + 'A')] = static_cast<int64_t>(std::exchange(number, 0));
  }
  for (const char c : layout) {
    if (c >= 'a') shape.push_back(blocks.at(static_cast<char>(c - 'a' + 'A')));
    if (c < 'A' || c > 'Z') continue;
    const int64_t block = blocks.count(c) != 0 ? blocks.at(c) : 1;
    shape.push_back((extents.at(c) + block - 1) / block);
  }
  return shape;
}

std::string spatialOf(size_t count) { return std::string("DHW").substr(3 - count); }

/// One number for all axes, or one for each.
void setWindow(Random& random, Case& c, const std::string& attr, size_t count, int64_t low, int64_t high) {
  Ints values;
  for (size_t i = random.chance(30) ? 1 : count; i > 0; --i) values.push_back(random.between(low, high));
  c.attrs.set(attr, values);
}
void setPadding(Random& random, Case& c, size_t count) {
  Ints padding;
  const size_t entries = random.pick<size_t>({1, count, 2 * count});
  const bool isZero = random.chance(30);
  for (size_t i = 0; i < entries; ++i) padding.push_back(isZero ? 0 : random.between(0, 2));
  c.attrs.set("padding", padding);
}

/// Few elements: the interpreter goes through each window.
Extents smallExtents(Random& random, size_t count, int64_t channels) {
  Extents extents{{'N', random.pick<int64_t>({0, 1, 1, 2})}, {'C', channels}};
  for (const char name : spatialOf(count))
    extents[name] = count == 3                        ? random.pick<int64_t>({1, 2, 3, 4})
                    : random.chance(10) && count == 1 ? 40
                                                      : random.pick<int64_t>({0, 1, 2, 3, 5, 8, 9});
  return extents;
}

std::string dataLayout(Random& random, size_t count) {
  const std::string spatial = spatialOf(count);
  return random.pick<std::string>(
      {"NC" + spatial, "NC" + spatial, "N" + spatial + "C", "NC" + spatial + "2c", "C" + spatial + "N"});
}

Case makeWindowPool(Random& random, size_t count, bool isAverage) {
  const std::string layout = dataLayout(random, count);
  const Extents extents = smallExtents(random, count, 2 * random.pick<int64_t>({0, 1, 1, 2}));
  Case c{{random.tensor(random.pick(kNumeric), shapeOf(layout, extents))}, {}};
  c.attrs.set("layout", layout);
  if (random.chance(20)) c.attrs.set("out_layout", dataLayout(random, count));
  setWindow(random, c, "pool_size", count, 1, 3);
  setWindow(random, c, "strides", count, 1, 3);
  setWindow(random, c, "dilation", count, 1, random.chance(30) ? 2 : 1);
  setPadding(random, c, count);
  c.attrs.set("ceil_mode", random.chance(40));
  if (isAverage) c.attrs.set("count_include_pad", random.chance(40));
  return c;
}

Case makeAdaptivePool(Random& random, size_t count) {
  const std::string layout = dataLayout(random, count);
  const Extents extents = smallExtents(random, count, 2 * random.pick<int64_t>({0, 1, 2}));
  Case c{{random.tensor(random.pick(kNumeric), shapeOf(layout, extents))}, {}};
  c.attrs.set("layout", layout);
  if (random.chance(20)) c.attrs.set("out_layout", dataLayout(random, count));
  if (random.chance(85)) setWindow(random, c, "output_size", count, 1, 5);
  return c;
}

/// The layout of a weight: its first letter may be in blocks of the last one.
std::string weightLayout(Random& random, size_t count, bool isTransposed) {
  const std::string spatial = spatialOf(count);
  return random.pick<std::string>(
      {(isTransposed ? "IO" : "OI") + spatial, (isTransposed ? "IO" : "OI") + spatial, spatial + "IO",
       "O" + spatial + "I", "OI" + spatial + "2i4o", isTransposed ? "OI" + spatial : "OI" + spatial + "64o"});
}

Case makeConvolution(Random& random, size_t count, bool isTransposed) {
  const std::string data = dataLayout(random, count);
  const std::string kernel = weightLayout(random, count, isTransposed);
  const bool isDeep = random.chance(50);
  const int64_t groups = isDeep ? random.pick<int64_t>({1, 1, 2}) : random.pick<int64_t>({1, 2, 4});
  // Of a group. Those that are in blocks of two are even.
  const bool isBlocked = data.back() == 'c' || kernel.back() == 'o';
  const int64_t inputs =
      isBlocked ? 2 * random.pick<int64_t>({0, 1, 1, 2}) : random.pick<int64_t>({0, 1, 2, 3});
  int64_t outputs = isDeep ? random.pick<int64_t>({0, 8, 17, 66}) : random.pick<int64_t>({1, 2, 3});
  std::string result;
  if (random.chance(20)) result = dataLayout(random, count);
  if ((result.empty() ? data : result).back() == 'c') outputs = 2 * ((outputs + 1) / 2);
  const Extents extents = smallExtents(random, count, inputs * groups);
  Extents window{{'O', isTransposed ? outputs : outputs * groups},
                 {'I', isTransposed ? inputs * groups : inputs}};
  for (const char name : spatialOf(count)) window[name] = random.pick<int64_t>({1, 2, 3});
  const bool saysChannels = kernel.back() == 'o' || random.chance(30);
  const DType dtype = random.pick(kNumeric);
  Case c{{random.tensor(dtype, shapeOf(data, extents)), random.tensor(dtype, shapeOf(kernel, window))}, {}};
  c.attrs.set("data_layout", data);
  c.attrs.set("kernel_layout", kernel);
  if (!result.empty()) c.attrs.set("out_layout", result);
  if (saysChannels) c.attrs.set("channels", outputs * groups);
  if (random.chance(30)) {
    Ints sizes;
    for (const char name : spatialOf(count)) sizes.push_back(window[name]);
    c.attrs.set("kernel_size", sizes);
  }
  c.attrs.set("groups", groups);
  setWindow(random, c, "strides", count, 1, 3);
  setWindow(random, c, "dilation", count, 1, random.chance(30) ? 2 : 1);
  setPadding(random, c, count);
  if (isTransposed && random.chance(40)) setWindow(random, c, "output_padding", count, 0, 2);
  if (dtype == DType::I8 && random.chance(60)) c.attrs.set("out_dtype", DType::I32);
  if (dtype == DType::F16 && random.chance(50)) c.attrs.set("out_dtype", DType::F32);
  return c;
}

Case makeCorrelation(Random& random) {
  const Ints shape = {random.pick<int64_t>({0, 1, 2}), random.pick<int64_t>({0, 1, 3}), random.between(2, 6),
                      random.between(2, 6)};
  const DType dtype = random.pick(kFloats);
  Case c{{random.tensor(dtype, shape), random.tensor(dtype, shape)}, {}};
  c.attrs.set("kernel_size", random.pick<int64_t>({1, 1, 3}));
  c.attrs.set("max_displacement", random.between(0, 2));
  c.attrs.set("stride1", random.between(1, 2));
  c.attrs.set("stride2", random.between(1, 2));
  c.attrs.set("is_multiply", random.chance(60));
  setPadding(random, c, 2);
  return c;
}

/// Offsets that stay near, and a few that do not.
Tensor offsets(Random& random, DType dtype, const Ints& shape) {
  Tensor near = random.integers(DType::I64, shape, -8, 8);
  std::vector<double> values;
  for (int64_t i = 0; i < elementCount(shape); ++i)
    values.push_back(random.chance(5) ? random.number(dtype)
                                      : static_cast<double>(static_cast<int64_t>(
                                            loadScalar(near.bytes.data() + 8 * i, DType::I64))) /
                                            4);
  return tensorOf(dtype, shape, values);
}

Case makeDeformable(Random& random, bool isWhole) {
  const int64_t groups = random.pick<int64_t>({1, 1, 2});
  const int64_t moved = random.pick<int64_t>({1, 1, 2});
  const int64_t channels = 2 * random.pick<int64_t>({0, 1, 2});
  const Ints window = {random.between(1, 2), random.between(1, 3)};
  const Ints strides = {random.between(1, 2), random.between(1, 2)};
  const int64_t padding = random.between(0, 1);
  const Ints data = {random.pick<int64_t>({0, 1, 2}), channels, random.between(2, 5), random.between(3, 5)};
  Extents places{{'N', data[0]}, {'C', 2 * moved * window[0] * window[1]}};
  for (size_t i = 0; i < 2; ++i) places["HW"[i]] = (data[2 + i] + 2 * padding - window[i]) / strides[i] + 1;
  const std::string layout = isWhole ? random.pick<std::string>({"NCHW", "NHWC"}) : "NCHW";
  const std::string kernel = isWhole ? random.pick<std::string>({"OIHW", "HWIO"}) : "OIHW";
  const DType dtype = random.pick(kFloats);
  const Extents whole{{'N', data[0]}, {'C', channels}, {'H', data[2]}, {'W', data[3]}};
  const Extents weight{
      {'O', groups * random.between(1, 9)}, {'I', channels / groups}, {'H', window[0]}, {'W', window[1]}};
  Case c{{random.tensor(dtype, shapeOf(layout, whole)), offsets(random, dtype, shapeOf(layout, places)),
          random.tensor(dtype, shapeOf(kernel, weight))},
         {}};
  c.attrs.set("strides", strides);
  c.attrs.set("padding", Ints{padding});
  c.attrs.set("deformable_groups", moved);
  if (!isWhole) return c;
  c.attrs.set("groups", groups);
  c.attrs.set("data_layout", layout);
  c.attrs.set("kernel_layout", kernel);
  if (random.chance(30)) c.attrs.set("out_layout", std::string("NHWC"));
  if (dtype == DType::F16 && random.chance(50)) c.attrs.set("out_dtype", DType::F32);
  if (dtype == DType::F32 && random.chance(20)) c.attrs.set("out_dtype", DType::F64);
  return c;
}

Case makeDensePack(Random& random) {
  const std::string layout = random.pick<std::string>({"NC", "CN", "NC4n", "NC2n2c"});
  const Extents weight{{'N', 4 * random.between(0, 3)}, {'C', 2 * random.between(0, 3)}};
  const DType dtype = random.pick(kNumeric);
  Case c{{random.tensor(dtype, {random.between(0, 4), weight.at('C')}),
          random.tensor(dtype, shapeOf(layout, weight))},
         {}};
  c.attrs.set("weight_layout", layout);
  if (random.chance(50)) c.attrs.set("units", weight.at('N'));
  if (dtype == DType::I8 && random.chance(50)) c.attrs.set("out_dtype", DType::I32);
  return c;
}

}  // namespace

void addWindowMakers(Makers& makers) {
  for (const size_t count : {1, 2, 3}) {
    const std::string number = std::to_string(count) + "d";
    for (const bool isTransposed : {false, true})
      makers["nn.conv" + number + (isTransposed ? "_transpose" : "")] = [=](Random& random) {
        return makeConvolution(random, count, isTransposed);
      };
    for (const bool isAverage : {false, true}) {
      const std::string kind = isAverage ? "avg" : "max";
      makers["nn." + kind + "_pool" + number] = [=](Random& random) {
        return makeWindowPool(random, count, isAverage);
      };
      makers["nn.adaptive_" + kind + "_pool" + number] = [=](Random& random) {
        return makeAdaptivePool(random, count);
      };
      if (count == 2)
        makers["nn.global_" + kind + "_pool2d"] = [](Random& random) {
          Case c = makeAdaptivePool(random, 2);
          c.attrs.erase("output_size");
          return c;
        };
    }
  }
  makers["nn.contrib_dense_pack"] = makeDensePack;
  makers["nn.correlation"] = makeCorrelation;
  makers["nn.deformable_conv2d"] = [](Random& random) { return makeDeformable(random, true); };
  makers["nn.deformable_conv2d.samples"] = [](Random& random) { return makeDeformable(random, false); };
  makers["nn.contrib_conv2d_NCHWc"] = [](Random& random) { return makeConvolution(random, 2, false); };
}

}  // namespace baton::ops::test
