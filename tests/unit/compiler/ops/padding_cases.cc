// Random calls of operators that put something around or between elements.
#include "tests/unit/compiler/ops/case_makers.h"

namespace baton::ops::test {

namespace {

std::vector<int64_t> padWidths(Random& random, size_t rank) {
  std::vector<int64_t> widths;
  for (size_t i = 0; i < 2 * rank; ++i)
    widths.push_back(random.chance(15)   ? random.between(-2, 0)
                     : random.chance(40) ? 0
                                         : random.between(0, 4));
  return widths;
}

Case makePad(Random& random) {
  const std::vector<int64_t> shape = random.shape(0, 4);
  const std::vector<int64_t> widths = padWidths(random, shape.size());
  Case c{{random.tensor(random.pick(kAny), shape)}, {}};
  c.attrs.set("pad_mode", random.pick<std::string>({"constant", "constant", "edge", "reflect"}));
  c.attrs.set("pad_value", static_cast<double>(random.between(-3, 3)) + 0.5);
  if (random.chance(60)) c.inputs.push_back(random.tensor(random.pick(kAny), {}));
  if (c.inputs.size() == 2 && random.chance(40)) {
    const std::vector<double> values(widths.begin(), widths.end());
    c.inputs.push_back(tensorOf(random.pick(kIndices), {static_cast<int64_t>(widths.size())}, values));
    c.isConstant = {false, false, true};
  } else {
    c.attrs.set("pad_width", widths);
  }
  return c;
}

Case makeDynamicPad(Random& random) {
  const std::vector<int64_t> shape = random.shape(0, 4);
  const auto rank = static_cast<int64_t>(shape.size());
  const std::vector<int64_t> widths = padWidths(random, shape.size());
  const std::vector<double> values(widths.begin(), widths.end());
  const std::vector<int64_t> form =
      random.chance(70) ? std::vector<int64_t>{rank, 2} : std::vector<int64_t>{2 * rank};
  Case c{{random.tensor(random.pick(kAny), shape), tensorOf(random.pick(kIndices), form, values),
          random.tensor(random.pick(kAny), {})},
         {},
         {false, true, false}};
  c.attrs.set("pad_mode", random.pick<std::string>({"constant", "edge", "reflect"}));
  return c;
}

}  // namespace

void addPaddingMakers(Makers& makers) {
  makers["nn.pad"] = makePad;
  makers["dyn.nn.pad"] = makeDynamicPad;
  makers["nn.mirror_pad"] = [](Random& random) {
    const std::vector<int64_t> shape = random.shape(0, 4);
    Case c{{random.tensor(random.pick(kAny), shape)}, {}};
    c.attrs.set("mode", random.pick<std::string>({"SYMMETRIC", "REFLECT"}));
    c.attrs.set("pad_width", padWidths(random, shape.size()));
    return c;
  };
}

}  // namespace baton::ops::test
