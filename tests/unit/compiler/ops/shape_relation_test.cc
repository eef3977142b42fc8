// Relations of the operators that move elements and make tensors.
#include "tests/unit/compiler/ops/relation_test.h"

namespace {

Dims dims(std::initializer_list<int64_t> values) {
  Dims out;
  for (const int64_t value : values) out.push_back(dim(value));
  return out;
}

TypedCall reshape(Dims data, Dims shape, bool allowZero = false) {
  TypedCall call("reshape");
  call.with("newshape", std::move(shape)).with("allowzero", allowZero).on(DType::F32, std::move(data));
  return call;
}

TypedCall slice(Dims data, Dims begin, Dims end, Ints strides) {
  TypedCall call("strided_slice");
  call.with("begin", std::move(begin)).with("end", std::move(end)).with("strides", std::move(strides));
  call.on(DType::F32, std::move(data));
  return call;
}

}  // namespace

TEST_CASE("reshape") {
  CHECK(reshape(dims({2, 3, 4}), dims({6, 4})).type() == "float32(6, 4)");
  CHECK(reshape(dims({2, 3, 4}), dims({})).type() ==
        "error: reshape: the shapes (2, 3, 4) and () have different numbers of elements");
  CHECK(reshape(dims({1}), dims({})).type() == "float32()");
  CHECK(reshape({}, dims({1, 1})).type() == "float32(1, 1)");
  CHECK(reshape(dims({0, 10}), dims({-1, 10})).type() == "float32(0, 10)");
  CHECK(reshape(dims({2, 3, 4}), dims({2, 0, 2, -1})).type() == "float32(2, 3, 2, 2)");
  CHECK(reshape(dims({2, 3, 4}), dims({-1, 0, -1})).type() ==
        "error: reshape: the new shape holds more than one -1");
  CHECK(reshape(dims({2, 3, 4}), dims({5, -1})).type() ==
        "error: reshape: the shapes (2, 3, 4) and (5, 4) have different numbers of elements");
  CHECK(reshape(dims({2, 3, 4}), dims({-2})).type() == "float32(2, 3, 4)");
  CHECK(reshape(dims({2, 3, 4}), dims({2, -2, 1})).type() == "float32(2, 3, 4, 1)");
  CHECK(reshape(dims({2, 3, 4}), dims({-3, 4})).type() == "float32(6, 4)");
  CHECK(reshape(dims({2, 3, 4}), dims({0, -3})).type() == "float32(2, 12)");
  CHECK(reshape(dims({2, 3, 4}), dims({-4, 1, 2, -2})).type() == "float32(1, 2, 3, 4)");
  CHECK(reshape(dims({2, 3, 4}), dims({2, -4, -1, 3, -2})).type() == "float32(2, 1, 3, 4)");
  CHECK(reshape(dims({2, 3, 4}), dims({2, -4, 2, -1, -2})).type() ==
        "error: reshape: an extent of 3 cannot be split into 2 times 1");
  CHECK(reshape(dims({2}), dims({0, 0})).type() ==
        "error: reshape: 0 in the new shape stands for extent 1 of the data, which has 1");
}

TEST_CASE("reshape with extents of zero") {
  CHECK(reshape(dims({0, 8, 2}), dims({4, 2, -1}), true).type() == "float32(4, 2, 0)");
  CHECK(reshape(dims({4, 2, 0}), dims({0, 0, 4}), true).type() == "float32(0, 0, 4)");
  CHECK(reshape(dims({2, 0}), dims({1, 2, 0}), true).type() == "float32(1, 2, 0)");
  CHECK(reshape(dims({2, 0}), dims({1, 2, 0}), false).type() ==
        "error: reshape: 0 in the new shape stands for extent 2 of the data, which has 2");
}

TEST_CASE("reshape of symbolic extents") {
  auto flat = reshape({n, dim(4), dim(5)}, dims({-1, 20}));
  CHECK(flat.type() == "float32(n, 20)");
  CHECK(flat.checks().empty());
  auto copied = reshape({n, m}, dims({0, -1}));
  CHECK(copied.type() == "float32(n, m)");
  CHECK(copied.checks().empty());
  auto named = reshape({n, m, dim(4)}, {n, dim(-1)});
  CHECK(named.type() == "float32(n, 4*m)");
  CHECK(named.checks().empty());
  auto unknown = reshape({n}, {m, dim(2)});
  CHECK(unknown.type() == "float32(m, 2)");
  CHECK(unknown.checks() == Strings{"n == 2*m"});
  TypedCall merged("dyn.reshape");
  CHECK(merged.on(DType::F32, {n, dim(6)}).onValues(DType::I64, {dim(-3)}).type() ==
        "error: reshape: element 0 of the new shape is -3; expected -1 or more");
  TypedCall dynamic("dyn.reshape");
  CHECK(dynamic.on(DType::F32, {n, dim(6)}).onValues(DType::I64, {n, dim(2), dim(-1)}).type() ==
        "float32(n, 2, 3)");
}

TEST_CASE("reshape to a shape of which the elements are known only when running") {
  // Elements 100 and 101, each of which may turn out to be 0 or -1.
  const std::vector<KnownInput> inputs = {{DType::F32, {dim(6), dim(4)}, {}, {}},
                                          {DType::I64, {dim(2)}, {}, {}}};
  const OpDef* op = OpRegistry::instance().find("reshape");
  const ir::Attrs attrs = defaultAttrs(*op);
  const OpCall call{op, &attrs, 2};
  const DimKnowledge knowledge;
  KnownDims context(inputs, knowledge, 100);
  const auto result = op->dims(call, context);
  REQUIRE(result);
  struct Case {
    Ints shape;
    std::optional<Ints> extents;
  };
  for (const Case& c : {Case{{8, 3}, Ints{8, 3}}, Case{{-1, 3}, Ints{8, 3}}, Case{{0, -1}, Ints{6, 4}},
                        Case{{0, 0}, Ints{6, 4}}, Case{{-1, -1}, {}}, Case{{5, -1}, {}}, Case{{-2, 3}, {}},
                        Case{{24, 1}, Ints{24, 1}}, Case{{2, 3}, {}}}) {
    INFO(c.shape[0] << ", " << c.shape[1]);
    const auto value = [&](DimSymbol symbol) {
      return std::optional<int64_t>(c.shape[symbol.value() - 100]);
    };
    bool passes = true;
    for (const OpenRequirement& open : context.open())
      passes &= holds(open.constraint.relation, open.constraint.lhs.evaluate(value).value(),
                      open.constraint.rhs.evaluate(value).value());
    CHECK(passes == c.extents.has_value());
    if (!passes || !c.extents) continue;
    Ints extents;
    for (const DimExpr& extent : result.assume_value()[0].extents)
      extents.push_back(extent.evaluate(value).value());
    CHECK(extents == *c.extents);
  }
}

TEST_CASE("shapes keep their symbols through shape arithmetic") {
  TypedCall shape("shape_of");
  CHECK(shape.with("dtype", DType::I64).on(DType::F32, {n, dim(4)}).type() == "int64(2)");
  CHECK(shape.values() == "[n, 4]");
  TypedCall first("take");
  CHECK(
      first.with("axis", int64_t{0}).onValues(DType::I64, {n, dim(4)}).onScalar(DType::I32, dim(0)).type() ==
      "int64()");
  CHECK(first.values() == "[n]");
  TypedCall joined("concatenate");
  CHECK(joined.onValues(DType::I64, {n}).onValues(DType::I64, {dim(-1)}).type() == "int64(2)");
  CHECK(joined.values() == "[n, -1]");
  TypedCall part("strided_slice");
  part.with("begin", dims({1})).with("end", dims({3}));
  CHECK(part.onValues(DType::I64, {n, m, dim(4)}).type() == "int64(2)");
  CHECK(part.values() == "[m, 4]");
  TypedCall narrow("shape_of");
  CHECK(narrow.on(DType::F32, {n}).type() == "int32(1)");
  CHECK(narrow.checks() == Strings{"n <= 2147483647"});
}

TEST_CASE("axes permuted, made and dropped") {
  CHECK(TypedCall("transpose").on(DType::F32, {n, dim(3), dim(4)}).type() == "float32(4, 3, n)");
  CHECK(TypedCall("transpose").with("axes", Ints{0, -1, 1}).on(DType::F32, {2, 3, 4}).type() ==
        "float32(2, 4, 3)");
  CHECK(TypedCall("transpose").with("axes", Ints{0, 0}).on(DType::F32, {2, 3}).type() ==
        "error: transpose: axis 0 is listed twice");
  CHECK(TypedCall("transpose").on(DType::F32, {}).type() == "float32()");
  CHECK(TypedCall("expand_dims").with("axis", int64_t{-1}).on(DType::F32, {2}).type() == "float32(2, 1)");
  CHECK(TypedCall("expand_dims")
            .with("axis", int64_t{0})
            .with("num_newaxis", int64_t{2})
            .on(DType::F32, {2})
            .type() == "float32(1, 1, 2)");
  CHECK(TypedCall("expand_dims").with("axis", int64_t{2}).on(DType::F32, {2}).type() ==
        "error: expand_dims: axis 2 is outside [-2, 2)");
  CHECK(TypedCall("squeeze").with("axis", Ints{1}).on(DType::F32, {2, 1}).type() == "float32(2)");
  CHECK(TypedCall("squeeze").with("axis", Ints{0}).on(DType::F32, {2, 1}).type() ==
        "error: squeeze: dimension 0 of the data is 2; expected 1");
  CHECK(TypedCall("squeeze").on(DType::F32, {1}).type() == "float32()");
  CHECK(TypedCall("reverse").with("axis", int64_t{-1}).on(DType::F32, {2, 3}).type() == "float32(2, 3)");
}

TEST_CASE("tensors joined") {
  CHECK(TypedCall("concatenate").on(DType::F32, {n, dim(2)}).on(DType::F32, {m, dim(2)}).type() ==
        "float32(n + m, 2)");
  CHECK(TypedCall("concatenate")
            .with("axis", int64_t{-1})
            .on(DType::F32, {2, 0})
            .on(DType::F32, {2, 3})
            .type() == "float32(2, 3)");
  CHECK(TypedCall("concatenate").on(DType::F32, {2, 2}).on(DType::F32, {2, 3}).type() ==
        "error: concatenate: dimension 1 of element 0 of the data (2) does not match dimension 1 of element "
        "1 (3)");
  CHECK(TypedCall("concatenate").with("axis", int64_t{-3}).on(DType::F32, {2, 2}).type() ==
        "error: concatenate: axis -3 is outside [-2, 2)");
  CHECK(TypedCall("concatenate").type() == "error: concatenate: the tuple has no elements");
  CHECK(TypedCall("stack").with("axis", int64_t{-1}).on(DType::F32, {2}).on(DType::F32, {2}).type() ==
        "float32(2, 2)");
  CHECK(TypedCall("stack").on(DType::F32, {}).on(DType::F32, {}).on(DType::F32, {}).type() == "float32(3)");
}

TEST_CASE("split") {
  CHECK(TypedCall("split").with("indices_or_sections", int64_t{2}).on(DType::F32, {4, 3}).type() ==
        "float32(2, 3); float32(2, 3)");
  CHECK(TypedCall("split")
            .with("indices_or_sections", Ints{1, 1})
            .with("axis", int64_t{1})
            .on(DType::F32, {4, 3})
            .type() == "float32(4, 1); float32(4, 0); float32(4, 2)");
  CHECK(TypedCall("split").with("indices_or_sections", int64_t{2}).on(DType::F32, {3}).type() ==
        "error: split: 2 sections do not divide dimension 0 (3)");
  CHECK(TypedCall("split").with("indices_or_sections", Ints{5}).on(DType::F32, {4}).type() ==
        "error: split: position 5 is beyond dimension 0 (4)");
  CHECK(TypedCall("split").with("indices_or_sections", Ints{2, 1}).on(DType::F32, {4}).type() ==
        "error: split: position 1 follows 2; expected positions that are not negative and do not decrease");
  TypedCall symbolic("split");
  CHECK(symbolic.with("indices_or_sections", int64_t{4}).on(DType::F32, {DimExpr(dim(4) * n)}).type() ==
        "float32(n); float32(n); float32(n); float32(n)");
  CHECK(symbolic.checks().empty());
}

TEST_CASE("strided_slice clamps") {
  CHECK(slice(dims({10}), dims({0}), dims({5}), {-1}).type() == "float32(0)");
  CHECK(slice(dims({10}), dims({8}), dims({2}), {-3}).type() == "float32(2)");
  CHECK(slice(dims({10}), dims({5}), dims({5}), {1}).type() == "float32(0)");
  CHECK(slice(dims({10}), dims({-3}), dims({INT64_MAX}), {1}).type() == "float32(3)");
  CHECK(slice(dims({10}), dims({INT64_MIN}), dims({INT64_MAX}), {3}).type() == "float32(4)");
  CHECK(slice(dims({5}), dims({-1}), dims({-4}), {-1}).type() == "float32(3)");
  CHECK(slice(dims({0}), dims({0}), dims({5}), {1}).type() == "float32(0)");
  CHECK(slice({n, dim(4)}, dims({1}), dims({INT64_MAX}), {1}).type() == "float32(n - min(n, 1), 4)");
  CHECK(slice({n}, dims({0}), {n}, {1}).type() == "float32(n)");
  CHECK(slice(dims({10}), dims({0}), dims({5}), {0}).type() ==
        "error: strided_slice: the stride along axis 0 is 0");
  TypedCall sized("strided_slice");
  sized.with("begin", dims({2, 1})).with("end", dims({3, -1})).with("slice_mode", std::string("size"));
  CHECK(sized.on(DType::F32, {10, 4}).type() == "float32(3, 3)");
  TypedCall axes("strided_slice");
  axes.with("begin", dims({1})).with("end", dims({2})).with("axes", Ints{-1});
  CHECK(axes.on(DType::F32, {10, 4}).type() == "float32(10, 1)");
}

TEST_CASE("strided_slice with bounds that are known only when running") {
  const std::vector<KnownInput> inputs = {
      {DType::F32, {n}, {}, {}}, {DType::I64, {dim(1)}, {}, {}}, {DType::I64, {dim(1)}, {}, {}}};
  const OpDef* op = OpRegistry::instance().find("strided_slice");
  for (const int64_t stride : {1, 2, -1, -3}) {
    ir::Attrs attrs = defaultAttrs(*op);
    attrs.set("strides", Ints{stride});
    const OpCall call{op, &attrs, 3};
    DimKnowledge knowledge;
    knowledge.addExtent(DimSymbol(0));
    KnownDims context(inputs, knowledge, 100);
    const auto result = op->dims(call, context);
    REQUIRE(result);
    CHECK(context.open().empty());
    for (const int64_t extent : {0, 1, 5})
      for (const int64_t begin :
           {INT64_MIN, int64_t{-6}, int64_t{-5}, int64_t{-1}, int64_t{0}, int64_t{3}, int64_t{9}, INT64_MAX})
        for (const int64_t end : {INT64_MIN, int64_t{-6}, int64_t{-5}, int64_t{-1}, int64_t{0}, int64_t{3},
                                  int64_t{9}, INT64_MAX}) {
          const int64_t low = stride > 0 ? 0 : -1;
          const int64_t high = stride > 0 ? extent : extent - 1;
          const auto clamp = [&](int64_t p) { return std::clamp(p < 0 ? p + extent : p, low, high); };
          int64_t expected = 0;
          for (int64_t i = clamp(begin); stride > 0 ? i < clamp(end) : i > clamp(end); i += stride)
            ++expected;
          const auto value = [&](DimSymbol symbol) {
            return std::optional<int64_t>(symbol.value() == 0 ? extent : symbol.value() == 100 ? begin : end);
          };
          INFO(extent << ": " << begin << " to " << end << " by " << stride);
          CHECK(result.assume_value()[0].extents[0].evaluate(value).value() == expected);
        }
  }
}

TEST_CASE("elements repeated") {
  CHECK(TypedCall("broadcast_to").with("shape", dims({3, 2, 4})).on(DType::F32, {2, 1}).type() ==
        "float32(3, 2, 4)");
  CHECK(TypedCall("broadcast_to").with("shape", dims({2})).on(DType::F32, {3}).type() ==
        "error: broadcast_to: the shape (3,) cannot be broadcast to (2,)");
  CHECK(TypedCall("broadcast_to").with("shape", dims({2})).on(DType::F32, {1, 2}).type() ==
        "error: broadcast_to: data of rank 2 cannot be broadcast to rank 1");
  CHECK(TypedCall("broadcast_to").with("shape", dims({})).on(DType::F32, {}).type() == "float32()");
  CHECK(TypedCall("broadcast_to").with("shape", dims({-1})).on(DType::F32, {1}).type() ==
        "error: broadcast_to: element 0 of the shape is negative (-1)");
  CHECK(TypedCall("repeat")
            .with("repeats", int64_t{2})
            .with("axis", int64_t{1})
            .on(DType::F32, {2, 3})
            .type() == "float32(2, 6)");
  CHECK(TypedCall("repeat").with("repeats", int64_t{2}).on(DType::F32, {2, 3}).type() == "float32(12)");
  CHECK(TypedCall("tile").with("reps", dims({2, 1, 3})).on(DType::F32, {n, dim(2)}).type() ==
        "float32(2, n, 6)");
  CHECK(TypedCall("tile").with("reps", dims({2})).on(DType::F32, {4, 3}).type() == "float32(4, 6)");
}

TEST_CASE("indexing") {
  CHECK(TypedCall("take").with("axis", int64_t{0}).on(DType::F32, {3, 2}).on(DType::I32, {2, 2}).type() ==
        "float32(2, 2, 2)");
  CHECK(TypedCall("take").with("axis", int64_t{1}).on(DType::F32, {3, 2}).on(DType::I64, {}).type() ==
        "float32(3)");
  CHECK(TypedCall("take").on(DType::F32, {3, 2}).on(DType::I64, {5}).type() == "float32(5)");
  CHECK(TypedCall("take").with("axis", int64_t{0}).on(DType::F32, {0, 2}).on(DType::I64, {1}).type() ==
        "error: take: the data has no elements along the axis (0)");
  CHECK(TypedCall("take").with("axis", int64_t{0}).on(DType::F32, {0, 2}).on(DType::I64, {0}).type() ==
        "float32(0, 2)");
  CHECK(TypedCall("take")
            .with("axis", int64_t{1})
            .with("batch_dims", int64_t{1})
            .on(DType::F32, {3, 2})
            .on(DType::I64, {3, 5})
            .type() == "float32(3, 5)");
  CHECK(TypedCall("take")
            .with("axis", int64_t{0})
            .with("mode", std::string("raise"))
            .on(DType::F32, {3})
            .on(DType::I64, {})
            .type() == "error: take: mode is \"raise\"; expected \"clip\", \"wrap\" or \"fast\"");
  CHECK(TypedCall("gather").with("axis", int64_t{1}).on(DType::F32, {2, 3}).on(DType::I64, {2, 5}).type() ==
        "float32(2, 5)");
  CHECK(TypedCall("one_hot")
            .with("depth", int64_t{4})
            .on(DType::I64, {3})
            .on(DType::F32, {})
            .on(DType::F32, {})
            .type() == "float32(3, 4)");
}

TEST_CASE("tensors made") {
  CHECK(TypedCall("zeros").with("shape", dims({2, 0})).type() == "float32(2, 0)");
  CHECK(TypedCall("dyn.zeros").with("dtype", DType::I32).onValues(DType::I64, {n, dim(2)}).type() ==
        "int32(n, 2)");
  CHECK(TypedCall("zeros").type() == "error: zeros: no shape is given: neither an attribute nor an input");
  CHECK(TypedCall("full").with("shape", dims({})).on(DType::F16, {}).type() == "float16()");
  CHECK(TypedCall("full_like").on(DType::F32, {2}).on(DType::F32, {1}).type() ==
        "error: input 1 has rank 1; expected 0");
  TypedCall range("arange");
  range.onScalar(DType::I64, dim(10)).onScalar(DType::I64, dim(3)).onScalar(DType::I64, dim(-2));
  CHECK(range.type() == "int64(4)");
  CHECK(range.values() == "[10, 8, 6, 4]");
  CHECK(TypedCall("arange")
            .onScalar(DType::I64, dim(3))
            .onScalar(DType::I64, dim(3))
            .onScalar(DType::I64, dim(1))
            .type() == "int64(0)");
  CHECK(TypedCall("arange")
            .onScalar(DType::I64, dim(5))
            .onScalar(DType::I64, dim(1))
            .onScalar(DType::I64, dim(1))
            .type() == "int64(0)");
  CHECK(TypedCall("arange")
            .onScalar(DType::I64, dim(0))
            .onScalar(DType::I64, dim(3))
            .onScalar(DType::I64, dim(0))
            .type() == "error: arange: the step is 0");
  CHECK(TypedCall("arange")
            .onScalar(DType::I64, dim(0))
            .onScalar(DType::I64, n)
            .onScalar(DType::I64, dim(1))
            .type() == "int64(n)");
}

TEST_CASE("arange with bounds that are known only when running") {
  const std::vector<KnownInput> inputs(3, KnownInput{DType::I64, {}, {}, {}});
  const OpDef* op = OpRegistry::instance().find("arange");
  const ir::Attrs attrs = defaultAttrs(*op);
  const DimKnowledge knowledge;
  KnownDims context(inputs, knowledge, 100);
  const auto result = op->dims({op, &attrs, 3}, context);
  REQUIRE(result);
  // The step is not 0, and neither side of zero has too many elements.
  REQUIRE(context.open().size() == 3);
  constexpr int64_t kLeast = INT64_MIN;
  constexpr int64_t kMost = INT64_MAX;
  for (const Ints& c :
       {Ints{10, 3, -2, 4}, Ints{3, 3, 1, 0}, Ints{5, 1, 1, 0}, Ints{0, 7, 3, 3}, Ints{-3, 3, 2, 3},
        Ints{-9, -3, 4, 2}, Ints{-3, -9, -4, 2}, Ints{kLeast, kMost, kMost, 3},
        Ints{kMost, kLeast, kLeast, 2}, Ints{kMost, kLeast, kMost, 0}, Ints{kLeast, kMost, kLeast, 0},
        Ints{kLeast, kLeast + 2, 1, 2}, Ints{kLeast, kLeast, -1, 0}, Ints{0, kLeast, kLeast, 1},
        Ints{-1, kLeast, kLeast, 1}, Ints{kMost, kMost - 3, -2, 2}}) {
    const auto value = [&](DimSymbol symbol) { return std::optional<int64_t>(c[symbol.value() - 100]); };
    CHECK(result.assume_value()[0].extents[0].evaluate(value).value() == c[3]);
  }
}
