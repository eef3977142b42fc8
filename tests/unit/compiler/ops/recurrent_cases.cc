// Random calls of layers over sequences, and of attention.
#include <algorithm>

#include "tests/unit/compiler/ops/case_makers.h"

namespace baton::ops::test {

namespace {

Case makeRecurrent(Random& random, const std::string& letters, size_t states) {
  const DType dtype = random.pick(kFloats);
  const int64_t steps = random.pick<int64_t>({0, 1, 2, 3});
  const int64_t batches = random.pick<int64_t>({0, 1, 2, 2});
  const int64_t width = random.pick<int64_t>({0, 1, 3});
  const int64_t units = random.pick<int64_t>({0, 1, 2, 3});
  const int64_t rows = static_cast<int64_t>(letters.size()) * units;
  const bool isBatchFirst = random.chance(40);
  std::vector<Ints> shapes = {isBatchFirst ? Ints{batches, steps, width} : Ints{steps, batches, width},
                              {rows, width},
                              {rows, units},
                              {rows},
                              {rows}};
  shapes.insert(shapes.end(), states, Ints{batches, units});
  shapes.resize(static_cast<size_t>(random.between(3, static_cast<int64_t>(shapes.size()))));
  if (random.chance(4)) ++shapes[1][0];
  Case c;
  for (const Ints& shape : shapes) c.inputs.push_back(random.tensor(dtype, shape));
  c.attrs.set("layout", std::string(isBatchFirst ? "NTC" : "TNC"));
  c.attrs.set("direction", random.pick<std::string>({"forward", "reverse"}));
  std::string gates = letters;
  for (size_t i = gates.size(); i > 1; --i)
    std::swap(gates[i - 1], gates[static_cast<size_t>(random.between(0, static_cast<int64_t>(i) - 1))]);
  if (random.chance(70)) c.attrs.set("gates", gates);
  return c;
}

Case makeAttention(Random& random) {
  const DType dtype = random.pick(kFloats);
  Ints lead;
  for (int64_t i = random.between(0, 2); i > 0; --i) lead.push_back(random.pick<int64_t>({0, 1, 2}));
  const auto shape = [&](int64_t rows, int64_t columns) {
    Ints out = lead;
    out.insert(out.end(), {rows, columns});
    return out;
  };
  const int64_t queries = random.pick<int64_t>({0, 1, 2, 3});
  const int64_t keys = random.pick<int64_t>({0, 1, 2, 4});
  const int64_t width = random.pick<int64_t>({0, 1, 3});
  Case c{{random.tensor(dtype, shape(queries, width)), random.tensor(dtype, shape(keys, width)),
          random.tensor(dtype, shape(keys, random.pick<int64_t>({0, 1, 2})))},
         {}};
  if (random.chance(60)) {
    const Ints mask = broadcastable(random, shape(queries, keys));
    c.inputs.push_back(random.tensor(random.chance(50) ? DType::Bool : dtype, mask));
  }
  if (random.chance(30)) c.attrs.set("scale", 0.3);
  c.attrs.set("causal", random.chance(40));
  return c;
}

}  // namespace

void addRecurrentMakers(Makers& makers) {
  makers["lstm"] = [](Random& random) { return makeRecurrent(random, "ifgo", 2); };
  makers["gru"] = [](Random& random) {
    Case c = makeRecurrent(random, "rzn", 1);
    c.attrs.set("linear_before_reset", random.chance(50));
    return c;
  };
  makers["attention"] = makeAttention;
}

}  // namespace baton::ops::test
