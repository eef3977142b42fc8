// Random calls of operators that make random numbers.
#include <cstring>

#include "tests/unit/compiler/ops/case_makers.h"

namespace baton::ops::test {

namespace {

/// Now and then one with a counter or a path that is used up.
Tensor randomKey(Random& random) {
  uint64_t words[10];
  for (uint64_t& word : words) word = random.next();
  if (random.chance(60))
    words[7] = random.chance(50) ? UINT64_MAX - static_cast<uint64_t>(random.between(0, 40)) : 0;
  words[8] = random.chance(40) ? uint64_t{1} << random.between(0, 63) : 0;
  words[9] = words[8] == 0 && random.chance(50) ? uint64_t{1} << random.between(0, 63) : 0;
  Tensor key{DType::U64, {10}, std::vector<std::byte>(sizeof words)};
  std::memcpy(key.bytes.data(), words, sizeof words);
  return key;
}

std::vector<DimExpr> numbersShape(Random& random) {
  std::vector<int64_t> shape;
  for (int64_t i = random.between(0, 3); i > 0; --i)
    shape.push_back(random.chance(6) ? 0 : random.between(1, 4));
  return dims(shape);
}

Case makeNumbers(Random& random) {
  const DType dtype = random.pick<DType>({DType::F32, DType::F64});
  Case c{{randomKey(random), random.tensor(random.pick<DType>({dtype, DType::F16}), {}),
          random.tensor(dtype, {})},
         {}};
  c.attrs.set("out_shape", numbersShape(random));
  c.attrs.set("out_dtype", dtype);
  return c;
}

}  // namespace

void addRandomMakers(Makers& makers) {
  makers["random.threefry_generate"] = [](Random& random) {
    Case c{{randomKey(random)}, {}};
    c.attrs.set("out_shape", numbersShape(random));
    return c;
  };
  makers["random.threefry_split"] = [](Random& random) { return Case{{randomKey(random)}, {}}; };
  makers["random.uniform"] = makeNumbers;
  makers["random.normal"] = makeNumbers;
  makers["random.multinomial"] = [](Random& random) {
    std::vector<int64_t> shape;
    for (int64_t i = random.between(0, 2); i > 0; --i) shape.push_back(random.between(0, 3));
    shape.push_back(random.pick<int64_t>({1, 2, 5, 70}));
    Case c{{randomKey(random), random.chance(70) ? random.integers(random.pick(kFloats), shape, -1, 9)
                                                 : random.tensor(random.pick(kFloats), shape)},
           {}};
    c.attrs.set("num_samples", random.between(0, 6));
    return c;
  };
}

}  // namespace baton::ops::test
