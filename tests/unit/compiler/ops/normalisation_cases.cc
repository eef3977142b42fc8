// Random calls of functions of neural networks, and of what normalises.
#include "tests/unit/compiler/ops/case_makers.h"

namespace baton::ops::test {

namespace {

/// Data, and vectors along one of its axes.
Case makeNorm(Random& random, Ints shape, int64_t axis, int vectors) {
  const DType dtype = random.pick(kFloats);
  Case c{{random.tensor(dtype, shape)}, {}};
  for (int i = 0; i < vectors; ++i)
    c.inputs.push_back(random.tensor(dtype, {shape[fromFront(axis, shape.size())]}));
  c.attrs.set("axis", axis);
  c.attrs.set("epsilon", random.pick<double>({1e-5, 0.5, 0.0}));
  c.attrs.set("center", random.chance(70));
  c.attrs.set("scale", random.chance(70));
  return c;
}

Case makeReduced(Random& random) {
  const Ints shape = random.chance(5) ? Ints{5000} : random.shape(0, 4);
  Case c{{random.tensor(random.pick(kFloats), shape)}, {}};
  addAxes(random, c, shape.size());
  return c;
}

}  // namespace

void addNormalisationMakers(Makers& makers) {
  for (const std::string name : {"nn.layer_norm", "nn.instance_norm", "nn.batch_norm"})
    makers[name] = [name](Random& random) {
      const Ints shape = random.chance(5) ? Ints{2, 4500} : random.shape(1, 4);
      return makeNorm(random, shape, anyAxis(random, shape.size()), name == "nn.batch_norm" ? 4 : 2);
    };
  makers["nn.group_norm"] = [](Random& random) {
    Ints shape = random.shape(1, 4);
    const int64_t axis = anyAxis(random, shape.size());
    const int64_t groups = random.between(1, 4);
    shape[fromFront(axis, shape.size())] = groups * random.pick<int64_t>({0, 1, 2, 3});
    Case c = makeNorm(random, shape, axis, 2);
    c.attrs.set("num_groups", groups);
    return c;
  };
  makers["nn.l2_normalize"] = [](Random& random) {
    const Ints shape = random.shape(0, 4);
    Case c{{random.tensor(random.pick(kFloats), shape)}, {}};
    Ints axes;
    for (size_t axis = 0; axis < shape.size(); ++axis)
      if (random.chance(50))
        axes.push_back(static_cast<int64_t>(axis) -
                       (random.chance(30) ? static_cast<int64_t>(shape.size()) : 0));
    if (random.chance(80)) c.attrs.set("axis", axes);
    c.attrs.set("eps", random.pick<double>({1e-5, 2.0, 0.0}));
    return c;
  };
  makers["nn.lrn"] = [](Random& random) {
    const Ints shape = random.shape(1, 4);
    Case c{{random.tensor(random.pick(kFloats), shape)}, {}};
    c.attrs.set("size", random.between(1, 6));
    c.attrs.set("axis", anyAxis(random, shape.size()));
    c.attrs.set("bias", random.pick<double>({2.0, 1.0, 0.0}));
    c.attrs.set("alpha", random.pick<double>({1e-4, 1.0, -1.0}));
    c.attrs.set("beta", random.pick<double>({0.75, 0.5, 2.0, 0.0}));
    return c;
  };
  makers["logsumexp"] = makeReduced;
  makers["variance"] = [](Random& random) {
    Case c = makeReduced(random);
    c.attrs.set("unbiased", random.chance(50));
    if (random.chance(30)) {  // with a mean: of the axes that are listed, or all
      c.attrs.set("exclude", false);
      Ints shape = c.inputs[0].shape;
      if (const auto* axes = std::get_if<Ints>(c.attrs.find("axis")))
        for (const int64_t axis : *axes) shape[fromFront(axis, shape.size())] = 1;
      else
        shape.assign(shape.size(), 1);
      c.inputs.push_back(random.tensor(c.inputs[0].dtype, shape));
    }
    return c;
  };
  makers["nn.gelu"] = [](Random& random) {
    Case c{{random.tensor(random.pick(kFloats), random.shape(0, 4))}, {}};
    c.attrs.set("approximate", std::string(random.chance(50) ? "tanh" : "none"));
    return c;
  };
  makers["nn.leaky_relu"] = [](Random& random) {
    Case c{{random.tensor(random.pick(kFloats), random.shape(0, 4))}, {}};
    c.attrs.set("alpha", random.pick<double>({0.25, 0.1, 0.0, -1.5}));
    return c;
  };
  makers["fixed_point_multiply"] = [](Random& random) {
    Case c{{random.tensor(DType::I32, random.shape(0, 4))}, {}};
    c.attrs.set("multiplier",
                random.pick<int64_t>({1 << 30, INT32_MAX, INT32_MIN, 0, 1, 1395864371, -77777}));
    c.attrs.set("shift", random.pick<int64_t>({0, 1, -1, 5, -9, 31, -31, -34, -100, 40, 70, INT64_MIN}));
    return c;
  };
}

}  // namespace baton::ops::test
