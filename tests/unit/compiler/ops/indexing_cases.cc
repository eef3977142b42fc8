// Random calls of operators that index with several tensors, replace a part, or name axes.
#include <algorithm>
#include <map>

#include "tests/unit/compiler/ops/case_makers.h"

namespace baton::ops::test {

namespace {

int64_t little(Random& random) { return random.pick<int64_t>({0, 1, 1, 2, 3, 5}); }

Case makeAdvIndex(Random& random) {
  Ints shape;
  for (int64_t i = random.between(1, 4); i > 0; --i) shape.push_back(random.between(1, 4));
  const auto count = static_cast<size_t>(random.between(1, static_cast<int64_t>(shape.size())));
  Ints places;
  for (int64_t i = random.between(0, 3); i > 0; --i) places.push_back(random.pick<int64_t>({0, 1, 2, 3}));
  const bool fails = random.chance(8);
  Case c{{random.tensor(random.pick(kAny), shape)}, {}};
  for (size_t d = 0; d < count; ++d) {
    const DType type = random.pick(kIntegers);
    const int64_t low = isUnsignedInt(type) ? 0 : -shape[d];
    c.inputs.push_back(random.integers(type, broadcastable(random, places), low, shape[d] - (fails ? 0 : 1)));
  }
  return c;
}

Case makeStridedSet(Random& random) {
  const DType dtype = random.pick(kAny);
  Ints shape;
  Ints replaced;
  std::vector<double> begin;
  std::vector<double> end;
  std::vector<double> strides;
  for (int64_t i = random.between(0, 3); i > 0; --i) {
    const int64_t extent = little(random) + random.between(0, 3);
    const int64_t stride = random.pick<int64_t>({1, 1, 2, 3, -1, -2});
    const bool isForward = stride > 0;
    // Positions counted from the front, then written as what counts from the end, or lies beyond it.
    const int64_t low = random.between(0, extent);
    const int64_t high = random.between(low, extent);
    const int64_t first = isForward ? low : high - 1;
    const int64_t last = isForward ? high : low - 1;
    const int64_t length = isForward ? high - low : high - low;
    const int64_t step = isForward ? stride : -stride;
    shape.push_back(extent);
    replaced.push_back((length + step - 1) / step);
    begin.push_back(static_cast<double>(first < 0 ? -extent - 1 : first));
    end.push_back(static_cast<double>(last < 0                              ? -extent - 1
                                      : last == extent && random.chance(30) ? extent + 2
                                                                            : last));
    strides.push_back(static_cast<double>(stride));
  }
  if (random.chance(4) && !replaced.empty()) ++replaced[0];
  const auto rank = static_cast<int64_t>(shape.size());
  Case c{{random.tensor(dtype, shape), random.tensor(dtype, replaced),
          tensorOf(random.pick(kIndices), {rank}, begin), tensorOf(random.pick(kIndices), {rank}, end)},
         {},
         {false, false, random.chance(50), random.chance(50), true}};
  const bool isPlain = std::ranges::all_of(strides, [](double stride) { return stride == 1; });
  if (!isPlain || random.chance(50)) c.inputs.push_back(tensorOf(random.pick(kIndices), {rank}, strides));
  return c;
}

Case makeMeshgrid(Random& random) {
  const DType dtype = random.pick(kAny);
  Case c;
  for (int64_t i = random.between(1, 4); i > 0; --i)
    c.inputs.push_back(random.tensor(dtype, random.chance(15) ? Ints{} : Ints{little(random)}));
  c.attrs.set("indexing", random.pick<std::string>({"ij", "xy"}));
  return c;
}

Case makeEinsum(Random& random) {
  const DType dtype = random.pick(kNumeric);
  const std::string equation = random.pick<std::string>({"ij,jk->ik",
                                                         "ij,jk",
                                                         "bij,bjk->bik",
                                                         "bhqd,bhkd->bhqk",
                                                         "ij->ji",
                                                         "ij->",
                                                         "i,i",
                                                         "i,j->ij",
                                                         "ii",
                                                         "ii->i",
                                                         "aij,ajb,bj->ib",
                                                         "...ij,...jk->...ik",
                                                         "ij...->...ji",
                                                         "abb,b->a",
                                                         "iji->j",
                                                         "ij,ij->",
                                                         "ij,kl->",
                                                         "ijk,jil->kl",
                                                         "i...,i->...",
                                                         ",ij->i",
                                                         "Ab, b c -> Ac",
                                                         "aabb->ab"});
  std::map<char, int64_t> extents;
  const Ints further = {random.between(1, 2), random.between(0, 2)};
  Case c;
  Ints shape;
  for (size_t at = 0; at <= equation.size(); ++at) {
    const char letter = at < equation.size() ? equation[at] : ',';
    if (letter == ',' || letter == '-') {
      c.inputs.push_back(random.tensor(dtype, shape));
      shape.clear();
      if (letter == '-') break;
    } else if (letter == '.') {
      const auto count = random.between(0, 2);
      shape.insert(shape.end(), further.end() - count, further.end());
      at += 2;
    } else if (letter != ' ') {
      shape.push_back(extents.try_emplace(letter, little(random)).first->second);
    }
  }
  c.attrs.set("equation", equation);
  return c;
}

}  // namespace

void addIndexingMakers(Makers& makers) {
  makers["adv_index"] = makeAdvIndex;
  makers["strided_set"] = makeStridedSet;
  makers["meshgrid"] = makeMeshgrid;
  makers["einsum"] = makeEinsum;
  makers["unique"] = [](Random& random) {
    const Ints shape = {random.extent()};
    Case c{{random.chance(50) ? random.integers(random.pick(kNumeric), shape, 0, 4)
                              : random.tensor(random.pick(kAny), shape)},
           {}};
    c.attrs.set("sorted", random.chance(50));
    c.attrs.set("return_counts", random.chance(50));
    return c;
  };
}

}  // namespace baton::ops::test
