// Random calls of operators that are given positions by tensors.
#include <algorithm>

#include "tests/unit/compiler/ops/case_makers.h"

namespace baton::ops::test {

namespace {

std::vector<int64_t> notEmpty(std::vector<int64_t> shape) {
  for (int64_t& extent : shape) extent = std::max<int64_t>(extent, 1);
  return shape;
}

/// Positions along the axes of `shape` from `first` on: indices of (count, places...), now and then one
/// out of range.
Tensor positions(Random& random, const std::vector<int64_t>& shape, size_t first, int64_t count,
                 const std::vector<int64_t>& places) {
  int64_t placeCount = 1;
  for (const int64_t extent : places) placeCount *= extent;
  const bool fails = random.chance(8);
  std::vector<double> values;
  for (int64_t i = 0; i < count; ++i) {
    const int64_t extent = shape[first + static_cast<size_t>(i)];
    for (int64_t place = 0; place < placeCount; ++place)
      values.push_back(static_cast<double>(random.between(-extent, fails ? extent : extent - 1)));
  }
  std::vector<int64_t> form = {count};
  form.insert(form.end(), places.begin(), places.end());
  return tensorOf(random.pick(kIndices), std::move(form), values);
}

Case makeGatherNd(Random& random) {
  const std::vector<int64_t> shape = notEmpty(random.shape(1, 4));
  const auto rank = static_cast<int64_t>(shape.size());
  const int64_t batch = random.chance(60) ? 0 : random.between(0, rank - 1);
  const int64_t count = random.between(0, rank - batch);
  std::vector<int64_t> places(shape.begin(), shape.begin() + batch);
  for (int64_t i = random.between(0, 2); i > 0; --i) places.push_back(random.pick<int64_t>({0, 1, 2, 3}));
  Case c{{random.tensor(random.pick(kAny), shape),
          positions(random, shape, static_cast<size_t>(batch), count, places)},
         {}};
  c.attrs.set("batch_dims", batch);
  c.attrs.set("index_rank", count);
  return c;
}

Case makeScatterNd(Random& random) {
  const DType dtype = random.pick(kAny);
  std::vector<int64_t> shape = notEmpty(random.shape(1, 3));
  for (int64_t& extent : shape) extent = std::min<int64_t>(extent, 7);
  const int64_t count = random.between(0, static_cast<int64_t>(shape.size()));
  std::vector<int64_t> places;
  for (int64_t i = random.between(0, 2); i > 0; --i) places.push_back(random.pick<int64_t>({0, 1, 2, 5}));
  std::vector<int64_t> updates = places;
  updates.insert(updates.end(), shape.begin() + count, shape.end());
  Case c{{random.tensor(dtype, shape), positions(random, shape, 0, count, places),
          random.tensor(dtype, updates)},
         {}};
  c.attrs.set("mode", dtype == DType::Bool
                          ? std::string("update")
                          : random.pick<std::string>({"update", "add", "mul", "min", "max"}));
  return c;
}

}  // namespace

void addPositionMakers(Makers& makers) {
  makers["gather_nd"] = makeGatherNd;
  makers["scatter_nd"] = makeScatterNd;
  makers["unravel_index"] = [](Random& random) {
    std::vector<double> shape;
    int64_t count = 1;
    for (int64_t i = random.between(1, 4); i > 0; --i) {
      shape.push_back(static_cast<double>(random.between(1, 4)));
      count *= static_cast<int64_t>(shape.back());
    }
    const int64_t least = random.chance(95) ? 0 : -1;
    return Case{{random.integers(random.pick(kIntegers), random.shape(0, 3), least,
                                 std::min<int64_t>(count - 1, 127)),
                 tensorOf(random.pick(kIntegers), {static_cast<int64_t>(shape.size())}, shape)},
                {}};
  };
  makers["sequence_mask"] = [](Random& random) {
    const std::vector<int64_t> shape = random.shape(2, 4);
    const int64_t axis = random.between(0, 1);
    Case c{{random.tensor(random.pick(kAny), shape),
            random.integers(random.pick(kIndices), {shape[static_cast<size_t>(1 - axis)]}, -1,
                            shape[static_cast<size_t>(axis)] + 2)},
           {}};
    c.attrs.set("axis", axis);
    c.attrs.set("mask_value", static_cast<double>(random.between(-3, 3)) + 0.25);
    return c;
  };
  makers["reverse_sequence"] = [](Random& random) {
    const std::vector<int64_t> shape = random.shape(2, 4);
    const int64_t position = anyAxis(random, shape.size());
    const auto rank = static_cast<int64_t>(shape.size());
    const int64_t sequence = (position + rank + random.between(1, rank - 1)) % rank;
    Case c{{random.tensor(random.pick(kAny), shape),
            random.integers(random.pick(kIndices), {shape[static_cast<size_t>(sequence)]}, -1,
                            shape[fromFront(position, shape.size())] + 2)},
           {}};
    c.attrs.set("seq_axis", position);
    c.attrs.set("batch_axis", sequence);
    return c;
  };
}

}  // namespace baton::ops::test
