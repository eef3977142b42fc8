// Random calls of operators that take shapes from other tensors.
#include "tests/unit/compiler/ops/case_makers.h"

namespace baton::ops::test {

namespace {

/// The axes of a shape, some of them put into one, some split.
Ints regrouped(Random& random, const Ints& shape) {
  Ints out;
  for (const int64_t extent : shape) {
    if (!out.empty() && random.chance(30))
      out.back() *= extent;
    else
      out.push_back(extent);
    if (random.chance(20)) out.push_back(1);
  }
  return out;
}

Case makeReshapeLike(Random& random) {
  const Ints shape = random.shape(0, 4);
  const auto rank = static_cast<int64_t>(shape.size());
  const int64_t begin = random.between(0, rank);
  const int64_t end = random.between(begin, rank);
  Ints other = regrouped(random, Ints(shape.begin() + begin, shape.begin() + end));
  if (begin == end) other.clear();
  const auto count = static_cast<int64_t>(other.size());
  const Ints before = random.shape(0, 2);
  const Ints after = random.shape(0, 1);
  other.insert(other.begin(), before.begin(), before.end());
  other.insert(other.end(), after.begin(), after.end());
  const auto first = static_cast<int64_t>(before.size());
  const auto otherRank = static_cast<int64_t>(other.size());
  // An axis as it may be written.
  const auto written = [&](int64_t axis, int64_t of) {
    return axis < of && random.chance(40) ? axis - of : axis;
  };
  Case c{{random.tensor(random.pick(kAny), shape), random.tensor(random.pick(kAny), other)}, {}};
  c.attrs.set("lhs_begin", written(begin, rank));
  if (end != rank || random.chance(50)) c.attrs.set("lhs_end", written(end, rank));
  c.attrs.set("rhs_begin", written(first, otherRank));
  if (first + count != otherRank || random.chance(50))
    c.attrs.set("rhs_end", written(first + count, otherRank));
  return c;
}

Case makeSliceLike(Random& random) {
  const Ints shape = random.shape(0, 4);
  Ints other;
  Ints axes;
  const bool areListed = random.chance(60);
  for (const int64_t extent : shape) {
    const bool isSliced = !areListed || random.chance(50);
    if (isSliced && areListed) {
      const auto axis = static_cast<int64_t>(other.size());
      axes.push_back(random.chance(40) ? axis - static_cast<int64_t>(shape.size()) : axis);
    }
    other.push_back(isSliced ? random.between(0, extent) : random.extent());
  }
  if (!areListed && random.chance(30)) other.resize(static_cast<size_t>(random.between(0, 4)), 0);
  if (areListed && axes.empty()) other = shape;
  Case c{{random.tensor(random.pick(kAny), shape), random.tensor(random.pick(kAny), other)}, {}};
  if (areListed) c.attrs.set("axes", axes);
  return c;
}

}  // namespace

void addLikeMakers(Makers& makers) {
  makers["reshape_like"] = makeReshapeLike;
  makers["slice_like"] = makeSliceLike;
  makers["broadcast_to_like"] = [](Random& random) {
    const Ints shape = random.shape(0, 4);
    return Case{{random.tensor(random.pick(kAny), broadcastable(random, shape)),
                 random.tensor(random.pick(kAny), shape)},
                {}};
  };
  makers["contrib_reverse_reshape"] = [](Random& random) {
    const Ints shape = random.shape(0, 4);
    Ints target = regrouped(random, shape);
    if (!target.empty() && random.chance(60)) {
      const auto at = static_cast<size_t>(random.between(0, static_cast<int64_t>(target.size()) - 1));
      int64_t others = 1;
      for (size_t i = 0; i < target.size(); ++i) others *= i == at ? 1 : target[i];
      if (others != 0) target[at] = -1;
    }
    Case c{{random.tensor(random.pick(kAny), shape)}, {}};
    if (random.chance(30)) target = shape.size() < 2 ? Ints{-2} : Ints{-2, -3};
    c.attrs.set("newshape", dims(target));
    c.attrs.set("allowzero", true);
    return c;
  };
  makers["ndarray_size"] = [](Random& random) {
    Case c{{random.tensor(random.pick(kAny), random.shape(0, 4))}, {}};
    c.attrs.set("dtype", random.pick<DType>({DType::I32, DType::I64, DType::U16, DType::U64}));
    return c;
  };
  makers["dyn.expand_dims"] = [](Random& random) {
    const Ints shape = random.shape(0, 3);
    const auto rank = static_cast<int64_t>(shape.size());
    const int64_t axis = random.between(-rank - 1, rank);
    Case c{{random.tensor(random.pick(kAny), shape),
            random.integers(random.pick<DType>({DType::I32, DType::I64}),
                            random.chance(50) ? Ints{} : Ints{1}, axis, axis)},
           {},
           {false, random.chance(40)}};
    c.attrs.set("num_newaxis", random.between(0, 2));
    return c;
  };
  makers["dyn.squeeze"] = [](Random& random) {
    Ints shape = random.shape(0, 4);
    std::vector<double> axes;
    for (size_t axis = 0; axis < shape.size(); ++axis)
      if (random.chance(40)) {
        shape[axis] = 1;
        axes.push_back(static_cast<double>(axis) -
                       (random.chance(40) ? static_cast<double>(shape.size()) : 0));
      }
    const auto count = static_cast<int64_t>(axes.size());
    return Case{{random.tensor(random.pick(kAny), shape),
                 tensorOf(random.pick<DType>({DType::I32, DType::I64}), {count}, axes)},
                {},
                {false, random.chance(40)}};
  };
}

}  // namespace baton::ops::test
