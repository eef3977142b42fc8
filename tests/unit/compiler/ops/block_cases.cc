// Random calls of operators that move blocks, and of those that pick elements by where they are.
#include <algorithm>

#include "tests/unit/compiler/ops/case_makers.h"

namespace baton::ops::test {

namespace {

int64_t few(Random& random) { return random.pick<int64_t>({0, 1, 1, 2, 3}); }

Case makeDepthToSpace(Random& random) {
  const int64_t block = random.between(1, 3);
  const bool isChannelFirst = random.chance(50);
  const Ints plane = {few(random) + 1, few(random) + 2};
  const int64_t channels = random.chance(90) ? few(random) * block * block : random.between(1, 5);
  Case c{{random.tensor(random.pick(kAny), isChannelFirst ? Ints{few(random), channels, plane[0], plane[1]}
                                                          : Ints{few(random), plane[0], plane[1], channels})},
         {}};
  c.attrs.set("block_size", block);
  c.attrs.set("layout", std::string(isChannelFirst ? "NCHW" : "NHWC"));
  c.attrs.set("mode", random.pick<std::string>({"DCR", "CRD"}));
  return c;
}

Case makeSpaceToDepth(Random& random) {
  const int64_t block = random.between(1, 3);
  const bool isChannelFirst = random.chance(50);
  Ints plane = {few(random) * block, few(random) * block};
  if (random.chance(10)) ++plane[0];
  Case c{
      {random.tensor(random.pick(kAny), isChannelFirst ? Ints{few(random), few(random), plane[0], plane[1]}
                                                       : Ints{few(random), plane[0], plane[1], few(random)})},
      {}};
  c.attrs.set("block_size", block);
  c.attrs.set("layout", std::string(isChannelFirst ? "NCHW" : "NHWC"));
  return c;
}

/// Batches and blocked axes, and up to two more.
Case makeBatchBlocks(Random& random, bool isToBatch) {
  const auto blocked = random.between(0, 2);
  Ints shape = {isToBatch ? few(random) : 1};
  Ints blocks;
  Ints ends;
  for (int64_t i = 0; i < blocked; ++i) {
    blocks.push_back(random.between(1, 3));
    ends.insert(ends.end(), {random.between(0, 2), random.between(0, 1)});
    if (isToBatch) {
      // What the padding leaves to be divided.
      const int64_t padding = ends[ends.size() - 1] + ends[ends.size() - 2];
      shape.push_back((few(random) + 1) * blocks.back() * 2 - padding % blocks.back());
      if (random.chance(5)) ++shape.back();
    } else {
      shape[0] *= blocks.back();
      shape.push_back(few(random) + (random.chance(90) ? 3 : 0));
    }
  }
  if (!isToBatch) shape[0] *= few(random);
  for (int64_t i = random.between(0, 2); i > 0; --i) shape.push_back(few(random));
  Case c{{random.tensor(random.pick(kAny), shape)}, {}};
  c.attrs.set("block_shape", blocks);
  c.attrs.set(isToBatch ? "paddings" : "crops", ends);
  if (isToBatch) c.attrs.set("pad_value", 2.5);
  return c;
}

Case makeLayoutTransform(Random& random) {
  const std::vector<std::pair<std::string, Ints>> sources = {
      {"NCHW", {2, 8, 3, 1}},      {"NHWC", {1, 3, 2, 12}},     {"NCHW4c", {2, 3, 1, 2, 4}},
      {"NCHW2n", {3, 8, 1, 2, 2}}, {"CNWH2c", {2, 2, 3, 0, 2}}, {"C4cHNW", {1, 4, 2, 2, 2}}};
  const auto& [source, shape] = random.pick(sources);
  Case c{{random.tensor(random.pick(kAny), shape)}, {}};
  c.attrs.set("src_layout", source);
  c.attrs.set("dst_layout",
              random.pick<std::string>({"NCHW", "NHWC", "NCHW4c", "HW2cNC", "WHNC2c", "CNHW2n"}));
  return c;
}

Case makeSlidingWindow(Random& random) {
  Ints shape = random.shape(1, 3);
  const int64_t axis = anyAxis(random, shape.size());
  const size_t first = fromFront(axis, shape.size());
  Ints window;
  Ints strides;
  for (size_t d = first; d < shape.size(); ++d) {
    shape[d] = std::clamp<int64_t>(shape[d], 1, 9);
    window.push_back(random.between(1, std::min<int64_t>(shape[d] + (random.chance(5) ? 1 : 0), 4)));
    strides.push_back(random.between(1, 3));
  }
  Case c{{random.tensor(random.pick(kAny), shape)}, {}};
  c.attrs.set("axis", axis);
  c.attrs.set("window_shape", window);
  c.attrs.set("strides", strides);
  return c;
}

Case makeMatrixSetDiag(Random& random) {
  const DType dtype = random.pick(kAny);
  Ints shape = random.shape(0, 2);
  const int64_t rows = random.between(1, 6);
  const int64_t columns = random.between(1, 6);
  const int64_t k1 = random.between(1 - rows, columns - 1);
  const int64_t k2 = random.chance(40) ? k1 : random.between(k1, columns - 1);
  Ints diagonal = shape;
  if (k1 != k2) diagonal.push_back(k2 - k1 + 1);
  diagonal.push_back(std::min(rows - std::max<int64_t>(-k2, 0), columns - std::max<int64_t>(k1, 0)));
  shape.insert(shape.end(), {rows, columns});
  Case c{{random.tensor(dtype, shape), random.tensor(dtype, diagonal)}, {}};
  c.attrs.set("k1", k1);
  c.attrs.set("k2", k2);
  c.attrs.set("super_diag_right_align", random.chance(50));
  c.attrs.set("sub_diag_right_align", random.chance(50));
  return c;
}

}  // namespace

void addBlockMakers(Makers& makers) {
  makers["nn.depth_to_space"] = makeDepthToSpace;
  makers["nn.space_to_depth"] = makeSpaceToDepth;
  makers["nn.space_to_batch_nd"] = [](Random& random) { return makeBatchBlocks(random, true); };
  makers["nn.batch_to_space_nd"] = [](Random& random) { return makeBatchBlocks(random, false); };
  makers["layout_transform"] = makeLayoutTransform;
  makers["nn.dilate"] = [](Random& random) {
    const Ints shape = random.shape(0, 3);
    Ints strides;
    for (size_t d = 0; d < shape.size(); ++d) strides.push_back(random.between(1, 3));
    Case c{{random.tensor(random.pick(kAny), shape)}, {}};
    c.attrs.set("strides", strides);
    c.attrs.set("dilation_value", 1.5);
    return c;
  };
  makers["sliding_window"] = makeSlidingWindow;
  makers["trilu"] = [](Random& random) {
    const int64_t k = random.between(-4, 4);
    Case c{{random.tensor(random.pick(kAny), random.shape(2, 4)),
            random.integers(random.pick(kIndices), {}, k, k)},
           {}};
    c.attrs.set("upper", random.chance(50));
    return c;
  };
  makers["matrix_set_diag"] = makeMatrixSetDiag;
}

}  // namespace baton::ops::test
