// Random calls of operators on boxes.
#include "tests/unit/compiler/ops/case_makers.h"

namespace baton::ops::test {

namespace {

const std::vector<DType> kKernelTypes = {DType::F32, DType::F32, DType::F64};

/// Numbers of a coarse grid, so that scores and boxes are equal now and then; rarely anything.
Tensor coarse(Random& random, DType dtype, std::vector<int64_t> shape, int64_t low, int64_t high,
              double unit) {
  int64_t count = 1;
  for (const int64_t extent : shape) count *= extent;
  std::vector<double> values;
  for (; count > 0; --count)
    values.push_back(random.chance(3) ? random.number(dtype)
                                      : static_cast<double>(random.between(low, high)) * unit);
  return tensorOf(dtype, std::move(shape), values);
}

Tensor number(DType dtype, double value) { return tensorOf(dtype, {}, {value}); }
Tensor flag(Random& random) { return number(DType::Bool, random.chance(50) ? 1 : 0); }
int64_t boxCount(Random& random) { return random.chance(8) ? 0 : random.between(1, 9); }
double threshold(Random& random) { return random.pick<double>({0.0, 0.25, 0.5, 0.75, -1.0, 2.0}); }

/// Rows [class, score, box], and more.
Tensor boxRows(Random& random, DType dtype, int64_t batches, int64_t count, int64_t width) {
  Tensor rows = coarse(random, dtype, {batches, count, width}, 0, 6, 1);
  for (int64_t i = 0; i < batches * count; ++i) {
    const auto put = [&](int64_t column, double value) {
      storeScalar(rows.bytes.data() + (i * width + column) * sizeBytes(dtype), dtype,
                  convertScalar(scalarBits(value), DType::F64, dtype));
    };
    put(0, static_cast<double>(random.between(-1, 2)));
    put(1, static_cast<double>(random.between(-2, 8)) / 8);
  }
  return rows;
}

Case makeRois(Random& random, bool isAlign) {
  const bool isPlanes = random.chance(50);
  const int64_t channels = random.between(0, 2);
  const int64_t height = random.between(1, 5);
  const int64_t width = random.between(1, 5);
  const int64_t batches = random.between(1, 2);
  using Shape = std::vector<int64_t>;
  const int64_t count = random.between(0, 3);
  const DType dtype = random.pick(kFloats);
  std::vector<double> rois;
  for (int64_t i = 0; i < count; ++i) {
    rois.push_back(static_cast<double>(random.between(-batches, random.chance(5) ? batches : batches - 1)));
    for (int c = 0; c < 4; ++c)
      rois.push_back(random.chance(4) ? std::numeric_limits<double>::quiet_NaN()
                                      : static_cast<double>(random.between(-12, 40)) / 4);
  }
  Case c{{random.tensor(dtype, isPlanes ? Shape{batches, channels, height, width}
                                        : Shape{batches, height, width, channels}),
          tensorOf(random.pick<DType>({dtype, DType::F32}), {count, 5}, rois)},
         {}};
  c.attrs.set("layout", std::string(isPlanes ? "NCHW" : "NHWC"));
  c.attrs.set("pooled_size", Ints{random.between(1, 3), random.between(1, 3)});
  c.attrs.set("spatial_scale", random.pick<double>({1.0, 0.5, 0.3}));
  if (isAlign) c.attrs.set("sample_ratio", random.pick<int64_t>({-1, 0, 1, 2}));
  if (isAlign) c.attrs.set("mode", random.pick<std::string>({"avg", "max"}));
  return c;
}

Case makeMultibox(Random& random) {
  const DType dtype = random.pick(kFloats);
  const int64_t batches = random.between(0, 2);
  const int64_t boxes = random.between(0, 4);
  const int64_t classes = random.between(1, 4);
  Case c{{coarse(random, dtype, {batches, classes, boxes}, 0, 4, 0.25),
          coarse(random, dtype, {batches, 4 * boxes}, -4, 4, 0.5),
          coarse(random, dtype, {1, boxes, 4}, 0, 4, 0.25)},
         {}};
  c.attrs.set("clip", random.chance(50));
  c.attrs.set("threshold", random.pick<double>({0.01, 0.5, 0.75}));
  c.attrs.set("variances", std::vector<double>{0.1, 0.5, 0.2, random.pick<double>({0.2, 1.0})});
  c.attrs.set("keep_background", random.chance(30));
  return c;
}

Case makeProposal(Random& random, bool isWhole) {
  const DType dtype = random.pick(kFloats);
  const int64_t batches = random.between(0, 2);
  const int64_t height = random.between(1, 2);
  const int64_t width = random.between(0, 2);
  const std::vector<double> scales = {2, 1};
  const std::vector<double> ratios =
      random.chance(50) ? std::vector<double>{1} : std::vector<double>{0.5, 1, 2};
  const auto count = static_cast<int64_t>(scales.size() * ratios.size());
  Case c{{coarse(random, dtype, {batches, 2 * count, height, width}, 0, 8, 0.125),
          coarse(random, dtype, {batches, 4 * count, height, width}, -4, 4, 0.25),
          coarse(random, dtype, {batches, 3}, 1, 20, 1)},
         {}};
  c.attrs.set("scales", scales);
  c.attrs.set("ratios", ratios);
  c.attrs.set("feature_stride", random.pick<int64_t>({4, 7}));
  c.attrs.set("rpn_min_size", random.pick<int64_t>({0, 1, 3}));
  c.attrs.set("iou_loss", random.chance(50));
  if (!isWhole) return c;
  c.attrs.set("threshold", threshold(random));
  c.attrs.set("rpn_pre_nms_top_n", random.pick<int64_t>({-1, 3, 100}));
  c.attrs.set("rpn_post_nms_top_n", random.between(0, 6));
  return c;
}

Case makeSuppression(Random& random, bool isKernel) {
  const DType dtype = random.pick(isKernel ? kKernelTypes : kFloats);
  const int64_t batches = random.between(0, 2);
  const int64_t count = boxCount(random);
  const int64_t id = random.pick<int64_t>({0, 0, -1});
  Case c{{boxRows(random, dtype, batches, count, random.pick<int64_t>({6, 7})),
          random.integers(DType::I32, {batches}, random.chance(10) ? -3 : 0,
                          count + (random.chance(10) ? 3 : 0)),
          random.integers(DType::I32, {batches, count}, -1, 20)},
         {}};
  const int64_t most = random.between(-1, 4);
  if (isKernel) {
    c.inputs.insert(
        c.inputs.end(),
        {number(DType::I64, static_cast<double>(most)), number(DType::F64, threshold(random)), flag(random),
         number(DType::I64, static_cast<double>(random.between(-1, 5))), number(DType::I64, 2),
         number(DType::I64, 1), number(DType::I64, static_cast<double>(id)), flag(random)});
    return c;
  }
  if (random.chance(50)) {
    c.inputs.push_back(number(random.pick(kIndices), static_cast<double>(most)));
    if (random.chance(60))
      c.inputs.push_back(number(random.pick<DType>({DType::F32, DType::F64}), threshold(random)));
  }
  c.attrs.set("max_output_size", random.between(-1, 3));
  c.attrs.set("iou_threshold", threshold(random));
  c.attrs.set("force_suppress", random.chance(30));
  c.attrs.set("top_k", random.between(-1, 5));
  c.attrs.set("id_index", id);
  const bool returnIndices = random.chance(50);
  c.attrs.set("return_indices", returnIndices);
  if (!returnIndices && random.chance(50))
    c.inputs[2] = random.pick<size_t>({0, 1}) == 0 ? c.inputs[0] : c.inputs[1];
  c.attrs.set("invalid_to_bottom", random.chance(50));
  return c;
}

Case makeValidCounts(Random& random, bool isKernel) {
  const DType dtype = random.pick(isKernel ? kKernelTypes : kFloats);
  Case c{{boxRows(random, dtype, random.between(0, 2), boxCount(random), random.pick<int64_t>({2, 6}))}, {}};
  const int64_t id = random.between(-1, 1);
  const int64_t score = random.between(0, 1);
  if (isKernel) {
    c.inputs.insert(c.inputs.end(),
                    {number(DType::F64, threshold(random)), number(DType::I64, static_cast<double>(id)),
                     number(DType::I64, static_cast<double>(score))});
    return c;
  }
  if (random.chance(60)) c.inputs.push_back(number(random.pick(kFloats), threshold(random)));
  if (random.chance(50)) c.attrs.set("score_threshold", threshold(random));
  c.attrs.set("id_index", id);
  c.attrs.set("score_index", score);
  return c;
}

Case makeClasses(Random& random, bool isKernel) {
  const DType dtype = random.pick(isKernel ? kKernelTypes : kFloats);
  const int64_t batches = random.between(0, 2);
  const int64_t count = boxCount(random);
  const DType most = isKernel ? DType::I64 : random.pick(kIndices);
  const DType limit = isKernel ? DType::F64 : random.pick(kFloats);
  Case c{{coarse(random, dtype, {batches, count, 4}, 0, 6, 1),
          coarse(random, isKernel ? dtype : random.pick(kFloats), {batches, random.between(0, 3), count}, -2,
                 8, 0.125),
          number(most, static_cast<double>(random.between(-1, 4))), number(limit, threshold(random)),
          number(limit, threshold(random))},
         {}};
  if (!isKernel) c.attrs.set("output_format", random.pick<std::string>({"onnx", "tensorflow"}));
  return c;
}

Case makeRegular(Random& random, bool isKernel) {
  const int64_t batches = random.between(0, 2);
  const int64_t count = boxCount(random);
  const int64_t labels = random.between(1, 4);
  const int64_t classes = random.between(0, labels);
  const auto type = [&] { return isKernel ? DType::F32 : random.pick(kFloats); };
  Case c{{coarse(random, type(), {batches, count, 4}, 0, 6, 1),
          coarse(random, type(), {batches, count, labels}, -2, 8, 0.125)},
         {}};
  const int64_t ofClass = random.between(0, 4);
  const int64_t most = random.between(0, 6);
  if (isKernel) {
    for (const int64_t value : {ofClass, most, classes})
      c.inputs.push_back(number(DType::I64, static_cast<double>(value)));
    for (int i = 0; i < 2; ++i) c.inputs.push_back(number(DType::F64, threshold(random)));
    return c;
  }
  c.attrs.set("max_detections_per_class", ofClass);
  c.attrs.set("max_detections", most);
  c.attrs.set("num_classes", classes);
  c.attrs.set("iou_threshold", threshold(random));
  c.attrs.set("score_threshold", threshold(random));
  return c;
}

}  // namespace

void addVisionMakers(Makers& makers) {
  makers["vision.roi_align"] = [](Random& random) { return makeRois(random, true); };
  makers["vision.roi_pool"] = [](Random& random) { return makeRois(random, false); };
  makers["vision.multibox_prior"] = [](Random& random) {
    Case c{{random.tensor(random.pick(kFloats),
                          {1, random.between(0, 2), random.between(0, 3), random.between(1, 3)})},
           {}};
    c.attrs.set("sizes", random.chance(50) ? std::vector<double>{0.5} : std::vector<double>{0.75, 0.3});
    c.attrs.set("ratios", random.chance(50) ? std::vector<double>{1} : std::vector<double>{1, 2, 0.5});
    c.attrs.set("steps", random.chance(50) ? std::vector<double>{-1, -1} : std::vector<double>{0.1, 0.3});
    c.attrs.set("offsets", std::vector<double>{0.5, random.pick<double>({0.5, 0.0})});
    c.attrs.set("clip", random.chance(50));
    return c;
  };
  makers["vision.multibox_decode"] = makeMultibox;
  makers["vision.multibox_transform_loc"] = makeMultibox;
  makers["vision.proposal_boxes"] = [](Random& random) { return makeProposal(random, false); };
  makers["vision.proposal"] = [](Random& random) { return makeProposal(random, true); };
  makers["library.proposal"] = [](Random& random) {
    const int64_t batches = random.between(0, 2);
    return Case{{coarse(random, random.pick(kKernelTypes), {batches, boxCount(random), 5}, 0, 6, 1),
                 number(DType::I64, static_cast<double>(random.between(-1, 5))),
                 number(DType::I64, static_cast<double>(random.between(0, 6))),
                 number(DType::F64, threshold(random))},
                {}};
  };
  makers["vision.get_valid_counts"] = [](Random& random) { return makeValidCounts(random, false); };
  makers["library.valid_counts"] = [](Random& random) { return makeValidCounts(random, true); };
  makers["vision.non_max_suppression"] = [](Random& random) { return makeSuppression(random, false); };
  makers["library.non_max_suppression"] = [](Random& random) { return makeSuppression(random, true); };
  makers["vision.all_class_non_max_suppression"] = [](Random& random) { return makeClasses(random, false); };
  makers["library.class_suppression"] = [](Random& random) { return makeClasses(random, true); };
  makers["library.class_suppression_by_batch"] = [](Random& random) { return makeClasses(random, true); };
  makers["vision.regular_non_max_suppression"] = [](Random& random) { return makeRegular(random, false); };
  makers["library.regular_suppression"] = [](Random& random) { return makeRegular(random, true); };
}

}  // namespace baton::ops::test
