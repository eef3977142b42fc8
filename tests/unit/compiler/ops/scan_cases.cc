// Random calls of operators that give partial results, update places and search.
#include <algorithm>

#include "tests/unit/compiler/ops/case_makers.h"

namespace baton::ops::test {

namespace {

Case makeScan(Random& random) {
  const Ints shape = random.shape(0, 4);
  Case c{{random.tensor(random.pick(kNumeric), shape)}, {}};
  if (!shape.empty() && random.chance(75)) c.attrs.set("axis", anyAxis(random, shape.size()));
  if (random.chance(40)) c.attrs.set("dtype", random.pick(kNumeric));
  c.attrs.set("exclusive", random.chance(40));
  return c;
}

std::string anyMode(Random& random, DType dtype) {
  if (dtype == DType::Bool) return "update";
  return random.pick<std::string>({"update", "add", "mul", "min", "max"});
}

Case makeScatterElements(Random& random) {
  const DType dtype = random.pick(kAny);
  Ints shape = random.shape(1, 3);
  for (int64_t& extent : shape) extent = std::clamp<int64_t>(extent, 1, 7);
  const int64_t axis = anyAxis(random, shape.size());
  const size_t along = fromFront(axis, shape.size());
  Ints indices;
  for (size_t d = 0; d < shape.size(); ++d)
    indices.push_back(d == along ? random.between(0, 2 * shape[d]) : random.between(0, shape[d]));
  const bool fails = random.chance(8);
  Case c{{random.tensor(dtype, shape),
          random.integers(random.pick(kIndices), indices, -shape[along], shape[along] - (fails ? 0 : 1)),
          random.tensor(dtype, indices)},
         {}};
  c.attrs.set("axis", axis);
  c.attrs.set("reduction", anyMode(random, dtype));
  return c;
}

Case makeSearch(Random& random) {
  const DType dtype = random.pick(kAny);
  Ints values = random.shape(0, 3);
  Ints sequence = values;
  if (values.empty() || random.chance(50)) sequence = {0};
  sequence.back() = random.extent();
  // Few distinct ones, in order now and then.
  Case c{{random.integers(dtype, sequence, 0, 1), random.tensor(dtype, values)}, {}};
  if (dtype != DType::Bool && sequence.size() == 1) {
    std::vector<double> ordered;
    for (int64_t i = 0; i < sequence[0]; ++i) ordered.push_back(static_cast<double>(random.between(0, 40)));
    std::ranges::sort(ordered);
    c.inputs[0] = tensorOf(dtype, sequence, ordered);
  }
  if (random.chance(50) && dtype != DType::Bool) c.inputs[1] = random.integers(dtype, values, 0, 40);
  c.attrs.set("right", random.chance(50));
  c.attrs.set("dtype", random.pick(kIndices));
  return c;
}

}  // namespace

void addScanMakers(Makers& makers) {
  makers["cumsum"] = makeScan;
  makers["cumprod"] = makeScan;
  makers["scatter_elements"] = makeScatterElements;
  makers["searchsorted"] = makeSearch;
  makers["invert_permutation"] = [](Random& random) {
    std::vector<double> order;
    for (int64_t i = random.extent(); i > 0; --i)
      order.insert(order.begin() + random.between(0, static_cast<int64_t>(order.size())),
                   static_cast<double>(order.size()));
    if (!order.empty() && random.chance(20))
      order[0] = static_cast<double>(random.between(-static_cast<int64_t>(order.size()) - 1, 0));
    return Case{{tensorOf(random.pick(kIndices), {static_cast<int64_t>(order.size())}, order)}, {}};
  };
  makers["argwhere"] = [](Random& random) {
    return Case{{random.integers(random.pick(kAny), random.shape(0, 4), 0, 1)}, {}};
  };
  makers["argwhere.rows"] = [](Random& random) {
    Case c{{random.integers(DType::Bool, random.shape(0, 4), 0, 1)}, {}};
    const auto count = std::ranges::count(c.inputs[0].bytes, std::byte{1}) + (random.chance(5) ? 1 : 0);
    c.inputs.push_back(random.integers(random.pick(kIndices), {}, count, count));
    return c;
  };
}

}  // namespace baton::ops::test
