// Relations of the operators that compute: result types, obligations, messages.
#include "tests/unit/compiler/ops/relation_test.h"

TEST_CASE("binary operators broadcast") {
  CHECK(TypedCall("add").on(DType::F32, {2, 3}).on(DType::F32, {2, 3}).type() == "float32(2, 3)");
  CHECK(TypedCall("add").on(DType::F32, {2, 1, 3}).on(DType::F32, {4, 1}).type() == "float32(2, 4, 3)");
  CHECK(TypedCall("multiply").on(DType::I64, {}).on(DType::I64, {0}).type() == "int64(0)");
  CHECK(TypedCall("add").on(DType::F32, {0}).on(DType::F32, {1}).type() == "float32(0)");
  CHECK(TypedCall("less").on(DType::F32, {2}).on(DType::F32, {}).type() == "bool(2)");
  TypedCall same("add");
  CHECK(same.on(DType::F32, {n, dim(4)}).on(DType::F32, {n, dim(4)}).type() == "float32(n, 4)");
  CHECK(same.checks().empty());
}

TEST_CASE("broadcasts that only the run decides") {
  TypedCall one("add");
  CHECK(one.on(DType::F32, {n}).on(DType::F32, {5}).type() == "float32(5)");
  CHECK(one.checks() == Strings{"min(max(1 - n, n - 1), max(5 - n, n - 5)) == 0"});
  TypedCall wide("add");
  CHECK(wide.assume(n, Relation::Ge, dim(2)).on(DType::F32, {n}).on(DType::F32, {5}).type() == "float32(5)");
  CHECK(wide.checks() == Strings{"n == 5"});
  TypedCall both("add");
  CHECK(both.on(DType::F32, {n}).on(DType::F32, {m}).type() == "float32(min(n, min(m, 1))*max(n, m))");
  REQUIRE(both.checks().size() == 1);
  TypedCall positive("add");
  positive.assume(n, Relation::Ge, dim(1)).assume(m, Relation::Ge, dim(1));
  CHECK(positive.on(DType::F32, {n}).on(DType::F32, {m}).type() == "float32(max(n, m))");
}

TEST_CASE("the obligation of an unknown broadcast holds exactly when numpy broadcasts") {
  for (int64_t a = 0; a < 5; ++a)
    for (int64_t b = 0; b < 5; ++b) {
      const std::vector<KnownInput> inputs = {{DType::F32, {n}, {}, {}}, {DType::F32, {m}, {}, {}}};
      DimKnowledge knowledge;
      knowledge.addExtent(DimSymbol(0));
      knowledge.addExtent(DimSymbol(1));
      KnownDims context(inputs, knowledge, 100);
      const OpDef* op = OpRegistry::instance().find("add");
      const ir::Attrs attrs;
      const auto dims = op->dims({op, &attrs, 2}, context);
      REQUIRE(dims);
      REQUIRE(context.open().size() == 1);
      const auto value = [&](DimSymbol symbol) {
        return std::optional<int64_t>(symbol.value() == 0 ? a : b);
      };
      const DimConstraint& check = context.open()[0].constraint;
      const bool passes =
          holds(check.relation, check.lhs.evaluate(value).value(), check.rhs.evaluate(value).value());
      INFO(a << " and " << b);
      CHECK(passes == (a == b || a == 1 || b == 1));
      if (passes) CHECK(dims.assume_value()[0].extents[0].evaluate(value).value() == (a == 1 ? b : a));
      CHECK(context.open()[0].message == "add: the shapes ({0},) and ({1},) do not broadcast in dimension 0");
    }
}

TEST_CASE("what binary operators reject") {
  CHECK(TypedCall("add").on(DType::F32, {2, 3}).on(DType::F32, {4}).type() ==
        "error: add: the shapes (2, 3) and (4,) do not broadcast in dimension 1");
  CHECK(TypedCall("add").on(DType::F32, {2}).on(DType::I32, {2}).type() ==
        "error: input 1 has element type int32; expected float32");
  CHECK(TypedCall("subtract").on(DType::Bool, {}).on(DType::Bool, {}).type() ==
        "error: subtract: the first operand has element type bool; expected an integer or float type");
  CHECK(TypedCall("left_shift").on(DType::F32, {}).on(DType::F32, {}).type() ==
        "error: left_shift: the first operand has element type float32; expected an integer type");
  CHECK(TypedCall("add").on(DType::F32, {}).type() == "error: add: 2 inputs expected, 1 given");
  CHECK(TypedCall("tanh").on(DType::I32, {}).type() ==
        "error: tanh: the data has element type int32; expected a float type");
}

TEST_CASE("arithmetic keeps element dims where nothing can wrap") {
  TypedCall plain("multiply");
  plain.onScalar(DType::I64, n).onScalar(DType::I64, dim(1));
  CHECK(plain.type() == "int64()");
  CHECK(plain.values() == "[n]");
  TypedCall unbounded("add");
  unbounded.onScalar(DType::I64, n).onScalar(DType::I64, dim(1));
  CHECK(unbounded.type() == "int64()");
  CHECK(unbounded.values() == "unknown");
  TypedCall bounded("add");
  bounded.assume(n, Relation::Le, dim(512)).onValues(DType::I32, {n, dim(3)}).onScalar(DType::I32, dim(1));
  CHECK(bounded.type() == "int32(2)");
  CHECK(bounded.values() == "[n + 1, 4]");
  TypedCall narrow("add");
  narrow.assume(n, Relation::Le, dim(127)).onScalar(DType::I8, n).onScalar(DType::I8, dim(1));
  CHECK(narrow.type() == "int8()");
  CHECK(narrow.values() == "unknown");
  TypedCall quotient("divide");
  quotient.onScalar(DType::I64, n).onScalar(DType::I64, dim(2));
  quotient.type();
  CHECK(quotient.values() == "[floor_div(n, 2)]");
  TypedCall byZero("divide");
  byZero.onScalar(DType::I64, n).onScalar(DType::I64, dim(0));
  byZero.type();
  CHECK(byZero.values() == "unknown");
  TypedCall less("less");
  less.onScalar(DType::I64, n).onScalar(DType::I64, dim(0));
  CHECK(less.type() == "bool()");
  CHECK(less.values() == "[0]");
}

TEST_CASE("where broadcasts three ways") {
  CHECK(TypedCall("where").on(DType::Bool, {3, 1}).on(DType::F32, {1, 2}).on(DType::F32, {1}).type() ==
        "float32(3, 2)");
  CHECK(TypedCall("where").on(DType::F32, {}).on(DType::F32, {}).on(DType::F32, {}).type() ==
        "error: where: the condition has element type float32; expected bool");
}

TEST_CASE("casts") {
  CHECK(TypedCall("cast").with("dtype", DType::I8).on(DType::F32, {2}).type() == "int8(2)");
  CHECK(TypedCall("cast_like").on(DType::F32, {2}).on(DType::F16, {7}).type() == "float16(2)");
  CHECK(TypedCall("reinterpret").with("dtype", DType::I32).on(DType::F32, {n}).type() == "int32(n)");
  CHECK(TypedCall("reinterpret").with("dtype", DType::I64).on(DType::F32, {n}).type() ==
        "error: reinterpret: elements of type float32 cannot be read as int64");
  TypedCall narrow("cast");
  narrow.with("dtype", DType::I32).onScalar(DType::I64, n);
  narrow.type();
  CHECK(narrow.values() == "unknown");
}

TEST_CASE("reductions") {
  CHECK(TypedCall("sum").on(DType::F32, {2, 3}).type() == "float32()");
  CHECK(TypedCall("sum").with("axis", Ints{-1}).on(DType::F32, {n, dim(3)}).type() == "float32(n)");
  CHECK(TypedCall("sum").with("axis", Ints{0}).with("keepdims", true).on(DType::F32, {n, dim(3)}).type() ==
        "float32(1, 3)");
  CHECK(TypedCall("sum").with("axis", Ints{0}).with("exclude", true).on(DType::F32, {4, 3}).type() ==
        "float32(4)");
  CHECK(TypedCall("max").with("axis", Ints{}).on(DType::F32, {4, 3}).type() == "float32(4, 3)");
  CHECK(TypedCall("mean")
            .with("axis", Ints{})
            .with("exclude", true)
            .with("keepdims", true)
            .on(DType::F32, {1, 2, 3})
            .type() == "float32(1, 1, 1)");
  CHECK(TypedCall("sum").on(DType::F32, {}).type() == "float32()");
  CHECK(TypedCall("argmax").with("axis", Ints{1}).on(DType::F32, {2, 3}).type() == "int32(2)");
  CHECK(TypedCall("sum").with("axis", Ints{2}).on(DType::F32, {2, 3}).type() ==
        "error: sum: axis 2 is outside [-2, 2)");
  CHECK(TypedCall("sum").with("axis", Ints{0, -2}).on(DType::F32, {2, 3}).type() ==
        "error: sum: axis 0 is listed twice");
  CHECK(TypedCall("argmax").with("axis", Ints{4}).on(DType::F32, {2, 3}).type() ==
        "error: argmax: axis 4 is outside [-2, 2)");
  CHECK(TypedCall("argmax").on(DType::F32, {2, 0}).type() ==
        "error: argmax: there is nothing to choose from (0 elements)");
  TypedCall shape("prod");
  shape.onValues(DType::I64, {n, dim(1)});
  CHECK(shape.type() == "int64()");
  CHECK(shape.values() == "[n]");
}

TEST_CASE("products") {
  CHECK(TypedCall("nn.dense").on(DType::F32, {n, dim(300)}).on(DType::F32, {512, 300}).type() ==
        "float32(n, 512)");
  CHECK(TypedCall("nn.dense").on(DType::F32, {300}).on(DType::F32, {512, 300}).type() == "float32(512)");
  CHECK(TypedCall("nn.dense").on(DType::F32, {n, dim(300)}).on(DType::F32, {512, 512}).type() ==
        "error: nn.dense: dimension 1 of the data (300) does not match dimension 1 of the weight (512)");
  CHECK(TypedCall("nn.dense")
            .with("units", int64_t{8})
            .on(DType::F32, {2, 3})
            .on(DType::F32, {n, dim(3)})
            .type() == "float32(2, 8)");
  CHECK(
      TypedCall("nn.dense").with("units", int64_t{8}).on(DType::F32, {2, 3}).on(DType::F32, {9, 3}).type() ==
      "error: nn.dense: dimension 0 of the weight (9) does not match units (8)");
  CHECK(TypedCall("nn.dense")
            .with("out_dtype", DType::I32)
            .on(DType::I8, {2, 3})
            .on(DType::I8, {4, 3})
            .type() == "int32(2, 4)");
  CHECK(TypedCall("nn.dense")
            .with("out_dtype", DType::I8)
            .on(DType::I32, {2, 3})
            .on(DType::I32, {4, 3})
            .type() == "error: nn.dense: out_dtype int8 cannot hold products of int32");
  CHECK(TypedCall("nn.dense").on(DType::F32, {}).on(DType::F32, {4, 3}).type() ==
        "error: nn.dense: the data has rank 0; expected 1 or more");
  CHECK(TypedCall("nn.matmul").on(DType::F32, {5, 2, 3}).on(DType::F32, {3, 4}).type() == "float32(5, 2, 4)");
  CHECK(TypedCall("nn.matmul")
            .with("transpose_a", true)
            .with("transpose_b", true)
            .on(DType::F32, {3, 2})
            .on(DType::F32, {4, 3})
            .type() == "float32(2, 4)");
  CHECK(TypedCall("nn.batch_matmul")
            .with("transpose_b", true)
            .on(DType::F32, {1, 2, 3})
            .on(DType::F32, {7, 4, 3})
            .type() == "float32(7, 2, 4)");
  CHECK(TypedCall("nn.batch_matmul")
            .on(DType::F32, {n, dim(2), dim(3)})
            .on(DType::F32, {n, dim(3), m})
            .type() == "float32(n, 2, m)");
  CHECK(TypedCall("nn.batch_matmul").on(DType::F32, {2, 2, 3}).on(DType::F32, {7, 3, 4}).type() ==
        "error: nn.batch_matmul: batches of 2 and of 7 matrices do not broadcast");
}

TEST_CASE("softmax and bias") {
  CHECK(TypedCall("nn.softmax").on(DType::F16, {2, 3}).type() == "float16(2, 3)");
  CHECK(TypedCall("nn.softmax").with("axis", int64_t{1}).on(DType::F32, {4}).type() ==
        "error: nn.softmax: axis 1 is outside [-1, 1)");
  CHECK(TypedCall("nn.softmax").on(DType::F32, {}).type() ==
        "error: nn.softmax: axis -1 given for a scalar, which has no axes");
  CHECK(TypedCall("nn.bias_add").on(DType::F32, {n, dim(4)}).on(DType::F32, {4}).type() == "float32(n, 4)");
  CHECK(TypedCall("nn.bias_add").on(DType::F32, {n, dim(4)}).on(DType::F32, {5}).type() ==
        "error: nn.bias_add: dimension 1 of the data (4) does not match the bias (5)");
}

TEST_CASE("slopes lie along an axis of the data") {
  CHECK(TypedCall("nn.prelu").on(DType::F32, {2, 3}).on(DType::F32, {3}).type() == "float32(2, 3)");
  CHECK(TypedCall("nn.prelu").on(DType::F32, {2, 3}).on(DType::F32, {2}).type() ==
        "error: nn.prelu: dimension 1 of the data (3) does not match the alpha (2)");
  CHECK(TypedCall("nn.prelu").on(DType::F32, {3}).on(DType::F32, {3}).type() ==
        "error: nn.prelu: axis 1 is outside [-1, 1)");
  TypedCall symbolic("nn.prelu");
  CHECK(symbolic.on(DType::F32, {n, m}).on(DType::F32, {3}).type() == "float32(n, 3)");
  CHECK(symbolic.checks() == Strings{"m == 3"});
}

TEST_CASE("dropout gives the data and a mask") {
  CHECK(TypedCall("nn.dropout").on(DType::F16, {n, dim(3)}).type() == "float16(n, 3); float16(n, 3)");
  CHECK(TypedCall("nn.dropout").with("rate", 1.5).on(DType::F16, {n}).type() ==
        "error: nn.dropout: rate is 1.5; expected 0 to 1");
  CHECK(TypedCall("nn.dropout").with("rate", -0.5).on(DType::F16, {}).type() ==
        "error: nn.dropout: rate is -0.5; expected 0 to 1");
  CHECK(TypedCall("nn.dropout").on(DType::I32, {2}).type() ==
        "error: nn.dropout: the data has element type int32; expected a float type");
}

TEST_CASE("other names of operators") {
  const OpRegistry& registry = OpRegistry::instance();
  for (const auto& [alias, name] : {std::pair{"fast_exp", "exp"},
                                    {"fast_tanh", "tanh"},
                                    {"fast_erf", "erf"},
                                    {"nn.fast_softmax", "nn.softmax"},
                                    {"scatter", "scatter_elements"}}) {
    INFO(alias);
    REQUIRE(registry.find(name) != nullptr);
    CHECK(registry.find(alias) == registry.find(name));
  }
}
