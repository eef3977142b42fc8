#include "tests/unit/compiler/ops/operator_cases.h"

#include <iterator>
#include <set>

#include <fmt/format.h>

#include "base/checked_math.h"
#include "tests/unit/compiler/ops/case_makers.h"

namespace baton::ops::test {

namespace {

const std::vector<DType>& typesOf(DTypeClass types) {
  static const std::vector<DType> bools = {DType::Bool};
  static const std::vector<DType> bits = {DType::Bool, DType::I8, DType::I32,
                                          DType::I64,  DType::U8, DType::U64};
  switch (types) {
    case DTypeClass::Any: return kAny;
    case DTypeClass::Numeric: return kNumeric;
    case DTypeClass::Float: return kFloats;
    case DTypeClass::Integer: return kIntegers;
    case DTypeClass::BoolOrInteger: return bits;
    case DTypeClass::Bool: return bools;
    case DTypeClass::Index: return kIndices;
  }
  return kAny;
}

Case makeReshape(Random& random) {
  const DType dtype = random.pick(kAny);
  std::vector<int64_t> shape = random.shape(0, 4);
  std::vector<int64_t> target;
  int64_t count = 1;
  for (const int64_t extent : shape) count *= extent;
  // Factors of the count, in any order.
  for (const int64_t factor : {2, 3, 5, 7})
    if (count > 0 && count % factor == 0 && random.chance(60)) {
      target.push_back(factor);
      count /= factor;
    }
  target.insert(target.begin() + random.between(0, static_cast<int64_t>(target.size())), count);
  Case c{{random.tensor(dtype, shape)}, {}};
  if (random.chance(50) && count > 0) {
    for (int64_t& extent : target)
      if (extent == count) {
        extent = -1;
        break;
      }
  }
  c.attrs.set("newshape", dims(target));
  c.attrs.set("allowzero", count == 0);
  return c;
}

Case makeSlice(Random& random) {
  const std::vector<int64_t> shape = random.shape(0, 4);
  Case c{{random.tensor(random.pick(kAny), shape)}, {}};
  std::vector<int64_t> begin;
  std::vector<int64_t> end;
  Ints strides;
  for (const int64_t extent : shape) {
    begin.push_back(random.between(-extent - 2, extent + 2));
    end.push_back(random.chance(20) ? random.pick<int64_t>({INT64_MAX, INT64_MIN})
                                    : random.between(-extent - 2, extent + 2));
    strides.push_back(random.pick<int64_t>({1, 1, 2, 3, -1, -2}));
  }
  c.attrs.set("begin", dims(begin));
  c.attrs.set("end", dims(end));
  c.attrs.set("strides", strides);
  return c;
}

Tensor toBeSorted(Random& random, const std::vector<int64_t>& shape) {
  return random.chance(40) ? random.integers(random.pick(kNumeric), shape, 0, 3)  // many equal ones
                           : random.tensor(random.pick(kAny), shape);
}

Case makeSort(Random& random) {
  Case c{{toBeSorted(random, random.shape(1, 4))}, {}};
  c.attrs.set("axis", anyAxis(random, c.inputs[0].shape.size()));
  c.attrs.set("is_ascend", random.chance(50));
  return c;
}

/// By name of the operator; elementwise ones are made from their records.
Makers makers() {
  Makers out;
  addBlockMakers(out);
  addFourierMakers(out);
  addIndexingMakers(out);
  addImageMakers(out);
  addLikeMakers(out);
  addNormalisationMakers(out);
  addPaddingMakers(out);
  addPositionMakers(out);
  addProductMakers(out);
  addQuantisedMakers(out);
  addRecurrentMakers(out);
  addRandomMakers(out);
  addScanMakers(out);
  addSparseMakers(out);
  addWindowMakers(out);
  addVisionMakers(out);
  out["cast"] = [](Random& random) {
    Case c{{random.tensor(random.pick(kAny), random.shape(0, 3))}, {}};
    c.attrs.set("dtype", random.pick(kAny));
    return c;
  };
  out["cast_like"] = [](Random& random) {
    return Case{{random.tensor(random.pick(kAny), random.shape(0, 3)), random.tensor(random.pick(kAny), {2})},
                {}};
  };
  out["reinterpret"] = [](Random& random) {
    const std::vector<std::vector<DType>> sizes = {{DType::I8, DType::U8},
                                                   {DType::F16, DType::BF16, DType::I16, DType::U16},
                                                   {DType::F32, DType::I32, DType::U32},
                                                   {DType::F64, DType::I64, DType::U64}};
    const std::vector<DType>& types = random.pick(sizes);
    Case c{{random.tensor(random.pick(types), random.shape(0, 3))}, {}};
    c.attrs.set("dtype", random.pick(types));
    return c;
  };
  out["clip"] = [](Random& random) {
    Case c{{random.tensor(random.pick(kNumeric), random.shape(0, 3))}, {}};
    c.attrs.set("a_min", static_cast<double>(random.between(-9, 3)));
    c.attrs.set("a_max", static_cast<double>(random.between(-3, 9)) + 0.3);
    return c;
  };
  out["where"] = [](Random& random) {
    const DType dtype = random.pick(kAny);
    const std::vector<int64_t> shape = random.shape(0, 4);
    return Case{{random.tensor(DType::Bool, broadcastable(random, shape)),
                 random.tensor(dtype, broadcastable(random, shape)),
                 random.tensor(dtype, broadcastable(random, shape))},
                {}};
  };
  for (const std::string name : {"sum", "prod", "max", "min", "mean", "argmax", "argmin", "all", "any"})
    out[name] = [name](Random& random) {
      const OpDef* op = OpRegistry::instance().find(name);
      const std::vector<int64_t> shape = random.chance(5) ? std::vector<int64_t>{9000} : random.shape(0, 6);
      Case c{{random.tensor(random.pick(typesOf(op->inputs[0].types)), shape)}, {}};
      addAxes(random, c, shape.size());
      return c;
    };
  for (const std::string name : {"nn.softmax", "nn.log_softmax"})
    out[name] = [](Random& random) {
      const std::vector<int64_t> shape = random.shape(1, 4);
      Case c{{random.tensor(random.pick(kFloats), shape)}, {}};
      c.attrs.set("axis", random.chance(60) ? -1 : anyAxis(random, shape.size()));
      return c;
    };
  for (const std::string name : {"nn.bias_add", "nn.prelu"})
    out[name] = [name](Random& random) {
      const DType dtype = random.pick(name == "nn.prelu" ? kFloats : kNumeric);
      const std::vector<int64_t> shape = random.shape(1, 4);
      const int64_t axis = anyAxis(random, shape.size());
      Case c{{random.tensor(dtype, shape), random.tensor(dtype, {shape[fromFront(axis, shape.size())]})}, {}};
      c.attrs.set("axis", axis);
      return c;
    };
  out["reshape"] = makeReshape;
  out["nn.batch_flatten"] = [](Random& random) {
    return Case{{random.tensor(random.pick(kAny), random.shape(1, 4))}, {}};
  };
  out["transpose"] = [](Random& random) {
    const std::vector<int64_t> shape = random.shape(0, 6);
    Case c{{random.tensor(random.pick(kAny), shape)}, {}};
    if (random.chance(80)) {
      Ints axes;
      for (size_t axis = 0; axis < shape.size(); ++axis)
        axes.insert(axes.begin() + random.between(0, static_cast<int64_t>(axis)), static_cast<int64_t>(axis));
      c.attrs.set("axes", axes);
    }
    return c;
  };
  out["expand_dims"] = [](Random& random) {
    const std::vector<int64_t> shape = random.shape(0, 3);
    Case c{{random.tensor(random.pick(kAny), shape)}, {}};
    c.attrs.set("axis",
                random.between(-static_cast<int64_t>(shape.size()) - 1, static_cast<int64_t>(shape.size())));
    c.attrs.set("num_newaxis", random.between(0, 2));
    return c;
  };
  out["squeeze"] = [](Random& random) {
    std::vector<int64_t> shape = random.shape(0, 4);
    Ints axes;
    for (size_t axis = 0; axis < shape.size(); ++axis)
      if (random.chance(40)) {
        shape[axis] = 1;
        axes.push_back(static_cast<int64_t>(axis));
      }
    Case c{{random.tensor(random.pick(kAny), shape)}, {}};
    c.attrs.set("axis", axes);
    return c;
  };
  out["reverse"] = [](Random& random) {
    const std::vector<int64_t> shape = random.shape(1, 4);
    Case c{{random.tensor(random.pick(kAny), shape)}, {}};
    c.attrs.set("axis", anyAxis(random, shape.size()));
    return c;
  };
  for (const std::string name : {"concatenate", "stack"})
    out[name] = [name](Random& random) {
      const DType dtype = random.pick(kAny);
      const bool joins = name == "concatenate";
      std::vector<int64_t> shape = random.shape(joins ? 1 : 0, 3);
      const auto rank = static_cast<int64_t>(shape.size());
      const int64_t axis = joins ? anyAxis(random, shape.size()) : random.between(-rank - 1, rank);
      Case c;
      for (int64_t i = random.between(1, 4); i > 0; --i) {
        if (joins) shape[fromFront(axis, shape.size())] = random.pick<int64_t>({0, 1, 2, 5});
        c.inputs.push_back(random.tensor(dtype, shape));
      }
      c.attrs.set("axis", axis);
      return c;
    };
  out["split"] = [](Random& random) {
    std::vector<int64_t> shape = random.shape(1, 3);
    const int64_t axis = anyAxis(random, shape.size());
    int64_t& extent = shape[fromFront(axis, shape.size())];
    Case c;
    if (random.chance(50)) {
      const int64_t sections = random.between(1, 4);
      extent = sections * random.between(0, 5);
      c.attrs.set("indices_or_sections", sections);
    } else {
      extent = random.between(0, 9);
      Ints positions;
      for (int64_t at = 0; (at = random.between(at, extent + 1)) <= extent && positions.size() < 4;)
        positions.push_back(at);
      c.attrs.set("indices_or_sections", positions);
    }
    c.attrs.set("axis", axis);
    c.inputs = {random.tensor(random.pick(kAny), shape)};
    return c;
  };
  out["strided_slice"] = makeSlice;
  out["broadcast_to"] = [](Random& random) {
    const std::vector<int64_t> shape = random.shape(0, 4);
    Case c{{random.tensor(random.pick(kAny), broadcastable(random, shape))}, {}};
    c.attrs.set("shape", dims(shape));
    return c;
  };
  out["sort"] = makeSort;
  out["argsort"] = [](Random& random) {
    Case c = makeSort(random);
    if (random.chance(70)) c.attrs.set("dtype", random.pick(kNumeric));
    return c;
  };
  out["topk"] = [](Random& random) {
    Case c = makeSort(random);
    const int64_t k = random.between(-1, 4);
    if (random.chance(50))
      c.inputs.push_back(random.integers(random.pick(typesOf(DTypeClass::Index)), {}, k, k));
    else
      c.attrs.set("k", k);
    c.isConstant = {false, random.chance(30)};
    c.attrs.set("ret_type", random.pick<std::string>({"both", "values", "indices"}));
    if (random.chance(70)) c.attrs.set("dtype", random.pick(kNumeric));
    return c;
  };
  for (const std::string name : {"library.sort", "library.argsort", "library.topk"})
    out[name] = [name](Random& random) {
      Case c{{toBeSorted(random, random.shape(3, 3)), random.tensor(DType::Bool, {})}, {}};
      if (name != "library.sort") c.attrs.set("dtype", random.pick(typesOf(DTypeClass::Index)));
      const int64_t k = random.between(0, c.inputs[0].shape[1]);
      if (name == "library.topk") c.inputs.push_back(random.integers(DType::I64, {}, k, k));
      return c;
    };
  out["repeat"] = [](Random& random) {
    const std::vector<int64_t> shape = random.shape(0, 3);
    Case c{{random.tensor(random.pick(kAny), shape)}, {}};
    c.attrs.set("repeats", random.between(0, 3));
    if (!shape.empty() && random.chance(70)) c.attrs.set("axis", anyAxis(random, shape.size()));
    return c;
  };
  out["tile"] = [](Random& random) {
    Case c{{random.tensor(random.pick(kAny), random.shape(0, 3))}, {}};
    std::vector<int64_t> reps;
    for (int64_t i = random.between(0, 4); i > 0; --i) reps.push_back(random.pick<int64_t>({0, 1, 1, 2, 3}));
    c.attrs.set("reps", dims(reps));
    return c;
  };
  out["take"] = [](Random& random) {
    std::vector<int64_t> shape = random.shape(1, 3);
    for (int64_t& extent : shape) extent = std::max<int64_t>(extent, 1);
    const std::vector<int64_t> indices = random.shape(0, 2);
    const std::string mode = random.pick<std::string>({"clip", "wrap", "fast"});
    Case c{{random.tensor(random.pick(kAny), shape)}, {}};
    c.attrs.set("mode", mode);
    int64_t extent = 1;
    if (random.chance(75)) {
      const int64_t axis = anyAxis(random, shape.size());
      c.attrs.set("axis", axis);
      extent = shape[fromFront(axis, shape.size())];
    } else {
      for (const int64_t own : shape) extent *= own;
    }
    const bool fails = random.chance(10);
    const DType type = random.pick(kIntegers);
    const int64_t low = isUnsignedInt(type) ? 0 : mode == "fast" && !fails ? -extent : -2 * extent;
    c.inputs.push_back(
        random.integers(type, indices, std::max<int64_t>(low, -128),
                        std::min<int64_t>(mode == "fast" && !fails ? extent - 1 : 2 * extent, 127)));
    return c;
  };
  out["gather"] = [](Random& random) {
    std::vector<int64_t> shape = random.shape(1, 3);
    for (int64_t& extent : shape) extent = std::max<int64_t>(extent, 1);
    const int64_t axis = anyAxis(random, shape.size());
    const size_t at = fromFront(axis, shape.size());
    std::vector<int64_t> indices = shape;
    indices[at] = random.between(0, 4);
    Case c{{random.tensor(random.pick(kAny), shape),
            random.integers(random.pick<DType>({DType::I32, DType::I64}), indices, -shape[at],
                            shape[at] - (random.chance(90) ? 1 : 0))},
           {}};
    c.attrs.set("axis", axis);
    return c;
  };
  out["one_hot"] = [](Random& random) {
    const std::vector<int64_t> shape = random.shape(0, 2);
    const DType dtype = random.pick(kAny);
    Case c{{random.integers(random.pick(kIntegers), shape, 0, 6), random.tensor(dtype, {}),
            random.tensor(dtype, {})},
           {}};
    c.attrs.set("depth", random.between(0, 5));
    c.attrs.set("axis",
                random.between(-static_cast<int64_t>(shape.size()) - 1, static_cast<int64_t>(shape.size())));
    if (random.chance(50)) c.attrs.set("dtype", random.pick(kAny));
    return c;
  };
  for (const std::string name : {"zeros", "ones"})
    out[name] = [](Random& random) {
      Case c;
      c.attrs.set("shape", dims(random.shape(0, 3)));
      c.attrs.set("dtype", random.pick(kAny));
      return c;
    };
  out["full"] = [](Random& random) {
    Case c{{random.tensor(random.pick(kAny), {})}, {}};
    c.attrs.set("shape", dims(random.shape(0, 3)));
    if (random.chance(50)) c.attrs.set("dtype", random.pick(kAny));
    return c;
  };
  out["full_like"] = [](Random& random) {
    return Case{{random.tensor(random.pick(kAny), random.shape(0, 3)), random.tensor(random.pick(kAny), {})},
                {}};
  };
  out["arange"] = [](Random& random) {
    const DType dtype = random.pick(kNumeric);
    const int64_t least = isUnsignedInt(dtype) ? 1 : -9;
    int64_t step = random.between(least, 9);
    if (step == 0) step = 1;
    Case c{{random.integers(dtype, {}, least, 20), random.integers(dtype, {}, least, 20),
            random.integers(dtype, {}, step, step)},
           {},
           std::vector<bool>(3, isFloat(dtype) || random.chance(50))};
    if (random.chance(30)) c.attrs.set("dtype", random.pick(kNumeric));
    return c;
  };
  out["shape_of"] = [](Random& random) {
    Case c{{random.tensor(random.pick(kAny), random.shape(0, 4))}, {}};
    c.attrs.set("dtype", random.pick<DType>({DType::I32, DType::I64}));
    return c;
  };
  return out;
}

Case makeElementwise(Random& random, const OpDef& op) {
  const DType dtype = random.pick(typesOf(op.inputs[0].types));
  const std::vector<int64_t> shape = random.chance(5) ? std::vector<int64_t>{2000} : random.shape(0, 6);
  Case c;
  for (size_t i = 0; i < op.inputs.size(); ++i)
    c.inputs.push_back(random.tensor(dtype, op.inputs.size() == 1 ? shape : broadcastable(random, shape)));
  return c;
}

template <class Predicate>
std::vector<const OpDef*> operatorsWhere(Predicate&& isWanted) {
  std::vector<const OpDef*> out;
  for (const OpDef* op : OpRegistry::instance().all())
    if (isWanted(*op)) out.push_back(op);
  return out;
}

}  // namespace

std::vector<const OpDef*> loweredOperators() {
  return operatorsWhere([](const OpDef& op) { return op.legal == nullptr && op.library.empty(); });
}
std::vector<const OpDef*> legalisedOperators() {
  return operatorsWhere([](const OpDef& op) { return op.legal != nullptr; });
}
std::vector<const OpDef*> libraryOperators() {
  return operatorsWhere([](const OpDef& op) { return !op.library.empty(); });
}

Unknown Unknown::in(uint64_t round) {
  Unknown out(round % 4 == 1);
  if (round % 4 > 1) out.axes_ = Random(round).next();
  return out;
}

std::string Unknown::text() const {
  if (axes_ == 0) return "";
  return axes_ == ~uint64_t{0} ? " symbolic" : fmt::format(" symbolic {:x}", axes_);
}

Case makeCase(const OpDef& op, uint64_t round) {
  static const auto special = makers();
  Random random(std::hash<std::string_view>()(op.name) + round * 7919);
  const auto maker = special.find(op.name);
  return maker != special.end() ? maker->second(random) : makeElementwise(random, op);
}

std::string describe(const OpDef& op, const Case& c) {
  std::string attrs(op.name);
  for (const auto& [name, value] : c.attrs.entries()) {
    attrs += " " + name;
    if (const auto* number = std::get_if<int64_t>(&value)) attrs += "=" + std::to_string(*number);
    if (const auto* flag = std::get_if<bool>(&value)) attrs += *flag ? "=True" : "=False";
    if (const auto* list = std::get_if<Ints>(&value))
      for (const int64_t number : *list) attrs.append(" ").append(std::to_string(number));
  }
  for (const Tensor& input : c.inputs) {
    attrs += "\n" + std::string(dtypeName(input.dtype)) + "(";
    for (const int64_t extent : input.shape) attrs += std::to_string(extent) + ",";
    attrs += ")";
  }
  return attrs;
}

std::optional<Case> withoutElements(const Case& c, uint64_t round) {
  constexpr int64_t kHuge = int64_t{1} << 50;
  const auto isFixed = [&](size_t i) { return i < c.isConstant.size() && c.isConstant[i]; };
  std::set<int64_t> extents;
  for (size_t i = 0; i < c.inputs.size(); ++i)
    if (!isFixed(i)) extents.insert(c.inputs[i].shape.begin(), c.inputs[i].shape.end());
  if (extents.empty()) return std::nullopt;
  // Equal extents stay equal, whichever becomes 0.
  const int64_t zero = extents.count(0) != 0 && round % 2 == 0
                           ? 0
                           : *std::next(extents.begin(), static_cast<std::ptrdiff_t>(round % extents.size()));
  Case out = c;
  for (size_t i = 0; i < out.inputs.size(); ++i) {
    Tensor& input = out.inputs[i];
    const std::vector<int64_t> before = input.shape;
    if (isFixed(i)) continue;
    for (int64_t& extent : input.shape) extent = extent == zero ? 0 : extent <= 1 ? extent : extent + kHuge;
    if (input.shape == before) continue;
    if (checkedElementCount(input.shape) != 0) return std::nullopt;
    input.bytes.clear();
  }
  return out;
}

}  // namespace baton::ops::test
