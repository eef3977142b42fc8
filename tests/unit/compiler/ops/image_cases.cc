// Random calls of operators that read between elements.
#include "tests/unit/compiler/ops/case_makers.h"

namespace baton::ops::test {

namespace {

const std::vector<DType> kImages = {DType::F32, DType::F32, DType::F64, DType::F16, DType::BF16,
                                    DType::I32, DType::U8,  DType::I64, DType::I8};
const std::vector<std::string> kResizeModes = {"half_pixel",           "align_corners",
                                               "asymmetric",           "pytorch_half_pixel",
                                               "tf_half_pixel_for_nn", "tf_crop_and_resize"};

int64_t imageExtent(Random& random) { return random.pick<int64_t>({1, 1, 2, 3, 4, 6}); }
/// Now and then nothing.
int64_t fewImages(Random& random) { return random.chance(5) ? 0 : random.between(1, 2); }

/// The letters of a layout with these axes, in some order, and a shape for it.
std::string imageLayout(Random& random, const std::string& letters, std::vector<int64_t>& shape) {
  std::string layout = random.chance(50) ? "NC" + letters : "N" + letters + "C";
  if (random.chance(10)) layout += "4c";
  for (const char c : layout) {
    if (c == '4') continue;
    shape.push_back(c == 'N'                               ? fewImages(random)
                    : c == 'c'                             ? 4
                    : letters.find(c) == std::string::npos ? fewImages(random)
                                                           : imageExtent(random));
  }
  return layout;
}

Tensor imagePlaces(Random& random, std::vector<int64_t> shape, double low, double high) {
  size_t count = 1;
  for (const int64_t extent : shape) count *= static_cast<size_t>(extent);
  std::vector<double> values;
  for (size_t i = 0; i < count; ++i)
    values.push_back(random.chance(5) ? random.number(DType::F32)
                                      : low + (high - low) * static_cast<double>(random.between(0, 64)) / 64);
  return tensorOf(random.pick<DType>({DType::F32, DType::F32, DType::F64, DType::F16}), std::move(shape),
                  values);
}

Case makeResize(Random& random, const std::string& letters) {
  std::vector<int64_t> shape;
  const std::string layout = imageLayout(random, letters, shape);
  Case c{{random.tensor(random.pick(kImages), shape)}, {}, {false}};
  c.attrs.set("layout", layout);
  std::vector<double> size;
  for (size_t i = 0; i < letters.size(); ++i)
    size.push_back(random.chance(5) ? 0
                                    : static_cast<double>(random.between(1, letters.size() == 3 ? 3 : 7)));
  const auto count = static_cast<int64_t>(letters.size());
  const bool isGiven = random.chance(50);
  if (isGiven) {
    c.inputs.push_back(tensorOf(random.pick(kIndices), {count}, size));
    c.isConstant.push_back(random.chance(50));
  } else {
    c.attrs.set("size", dims({size.begin(), size.end()}));
  }
  c.attrs.set("method", random.pick<std::string>({"nearest_neighbor", "linear", "cubic"}));
  c.attrs.set("coordinate_transformation_mode", random.pick(kResizeModes));
  c.attrs.set("rounding_method", random.pick<std::string>({"", "round", "floor", "ceil", "round_prefer_floor",
                                                           "round_prefer_ceil"}));
  c.attrs.set("cubic_alpha", random.pick<double>({-0.5, -0.75}));
  c.attrs.set("cubic_exclude", random.between(0, 1));
  c.attrs.set("extrapolation_value", random.pick<double>({0.0, 2.5, -1.0}));
  if (random.chance(30)) c.attrs.set("out_dtype", random.pick(kImages));
  if (random.chance(40)) {
    c.inputs.push_back(imagePlaces(random, {2 * count}, -0.25, 1.25));
  } else {
    std::vector<double> roi;
    for (int64_t i = 0; i < 2 * count; ++i) roi.push_back(static_cast<double>(random.between(-2, 12)) / 8);
    c.attrs.set("roi", roi);
  }
  return c;
}

Case makeUpsampling(Random& random, const std::string& letters, bool isGiven) {
  std::vector<int64_t> shape;
  const std::string layout = imageLayout(random, letters, shape);
  Case c{{random.tensor(random.pick(kImages), shape)}, {}, {false}};
  c.attrs.set("layout", layout);
  const bool isVolume = letters.size() == 3;
  for (const char letter : letters) {
    const double scale = random.pick<double>({1.0, 2.0, 3.0, 1.5, 0.5, 1.1, 0.7, 2.25});
    if (isGiven) {
      c.inputs.push_back(tensorOf(random.pick<DType>({DType::F32, DType::F64}), {}, {scale}));
      c.isConstant.push_back(random.chance(50));
    } else {
      c.attrs.set(std::string("scale_") + static_cast<char>(letter - 'A' + 'a'), scale);
    }
  }
  if (isVolume) {
    c.attrs.set("method", random.pick<std::string>({"nearest_neighbor", "trilinear"}));
    c.attrs.set("coordinate_transformation_mode", kResizeModes[static_cast<size_t>(random.between(0, 4))]);
  } else {
    c.attrs.set("method", random.pick<std::string>({"nearest_neighbor", "bilinear", "bicubic"}));
    c.attrs.set("align_corners", random.chance(50));
  }
  return c;
}

Case makeCrop(Random& random) {
  std::vector<int64_t> shape;
  const std::string layout = imageLayout(random, "HW", shape);
  const int64_t boxes = random.between(0, 3);
  const int64_t batches = std::max<int64_t>(shape[0], 1);
  Case c{
      {random.tensor(random.pick(kImages), shape), imagePlaces(random, {boxes, 4}, -0.25, 1.25),
       random.integers(random.pick(kIndices), {boxes}, -batches, random.chance(10) ? batches : batches - 1)},
      {}};
  c.attrs.set("layout", layout);
  c.attrs.set("crop_size", dims({random.between(1, 4), random.between(1, 4)}));
  c.attrs.set("method", random.pick<std::string>({"bilinear", "nearest_neighbor"}));
  c.attrs.set("extrapolation_value", random.pick<double>({0.0, -1.5}));
  if (random.chance(30)) c.attrs.set("out_dtype", random.pick(kImages));
  return c;
}

Case makeGridSample(Random& random) {
  const bool isVolume = random.chance(30);
  std::vector<int64_t> shape = {fewImages(random), fewImages(random)};
  std::vector<int64_t> grid = {shape[0], isVolume ? 3 : 2};
  for (int i = isVolume ? 3 : 2; i > 0; --i) {
    shape.push_back(imageExtent(random));
    grid.push_back(random.between(1, isVolume ? 2 : 3));
  }
  Case c{{random.tensor(random.pick(kImages), shape), imagePlaces(random, grid, -3, 3)}, {}};
  c.attrs.set("layout", std::string(isVolume ? "NCDHW" : "NCHW"));
  c.attrs.set("method", random.pick<std::string>(
                            isVolume ? std::vector<std::string>{"bilinear", "nearest"}
                                     : std::vector<std::string>{"bilinear", "nearest", "bicubic"}));
  c.attrs.set("padding_mode", random.pick<std::string>({"zeros", "border", "reflection"}));
  c.attrs.set("align_corners", random.chance(50));
  return c;
}

Case makeDilation(Random& random) {
  const bool isPlanes = random.chance(50);
  const DType dtype = random.pick(kNumeric);
  const int64_t channels = fewImages(random);
  const int64_t height = random.between(1, 6);
  const int64_t width = random.between(1, 6);
  const int64_t rows = random.between(1, 3);
  const int64_t columns = random.between(1, 3);
  const bool isLast = !isPlanes && random.chance(60);
  using Shape = std::vector<int64_t>;
  Case c{{random.tensor(dtype, isPlanes ? Shape{fewImages(random), channels, height, width}
                                        : Shape{fewImages(random), height, width, channels}),
          random.tensor(dtype, isLast ? Shape{rows, columns, channels} : Shape{channels, rows, columns})},
         {}};
  c.attrs.set("data_layout", std::string(isPlanes ? "NCHW" : "NHWC"));
  c.attrs.set("kernel_layout", std::string(isLast ? "HWI" : "IHW"));
  c.attrs.set("strides", Ints{random.between(1, 2), random.between(1, 3)});
  c.attrs.set("dilations", Ints{random.between(1, 2), random.between(1, 2)});
  Ints padding = {random.between(0, 2)};
  if (random.chance(60)) padding = {random.between(0, 2), random.between(0, 3)};
  if (random.chance(40)) padding.insert(padding.end(), {random.between(0, 3), random.between(0, 1)});
  if (padding.size() == 3) padding.pop_back();
  c.attrs.set("padding", padding);
  if (random.chance(30)) c.attrs.set("out_dtype", random.pick(kNumeric));
  return c;
}

}  // namespace

void addImageMakers(Makers& makers) {
  makers["image.resize1d"] = [](Random& random) { return makeResize(random, "W"); };
  makers["image.resize2d"] = [](Random& random) { return makeResize(random, "HW"); };
  makers["image.resize3d"] = [](Random& random) { return makeResize(random, "DHW"); };
  makers["nn.upsampling"] = [](Random& random) { return makeUpsampling(random, "HW", false); };
  makers["nn.upsampling3d"] = [](Random& random) { return makeUpsampling(random, "DHW", false); };
  makers["dyn.nn.upsampling"] = [](Random& random) { return makeUpsampling(random, "HW", true); };
  makers["dyn.nn.upsampling3d"] = [](Random& random) { return makeUpsampling(random, "DHW", true); };
  makers["image.crop_and_resize"] = makeCrop;
  makers["image.affine_grid"] = [](Random& random) {
    Case c{{random.tensor(random.pick(kFloats), {random.between(0, 3), 2, 3})}, {}};
    c.attrs.set("target_shape", dims({random.between(0, 5), random.between(1, 5)}));
    return c;
  };
  makers["image.grid_sample"] = makeGridSample;
  makers["image.dilation2d"] = makeDilation;
}

}  // namespace baton::ops::test
