// Relations of the operators that pad, move blocks, and read or write at positions.
#include "tests/unit/compiler/ops/relation_test.h"

namespace {

TypedCall padded(Ints widths, const std::string& mode = "constant") {
  TypedCall call("nn.pad");
  call.with("pad_width", std::move(widths)).with("pad_mode", mode);
  return call;
}

TypedCall blocked(std::string_view name, int64_t block, const std::string& layout = "NCHW",
                  const std::string& mode = "DCR") {
  TypedCall call(name);
  call.with("block_size", block).with("layout", layout).with("mode", mode);
  return call;
}

TypedCall relaid(const std::string& source, const std::string& target) {
  TypedCall call("layout_transform");
  call.with("src_layout", source).with("dst_layout", target);
  return call;
}

}  // namespace

TEST_CASE("padding") {
  CHECK(padded({1, 2, 0, -3}).on(DType::F32, {n, dim(4)}).type() == "float32(n + 3, 1)");
  CHECK(padded({-2, -1}).on(DType::F32, {2}).type() ==
        "error: nn.pad: dimension 0 of the result is negative (-1)");
  auto shorter = padded({-2, -1});
  CHECK(shorter.on(DType::F32, {n}).type() == "float32(n - 3)");
  CHECK(shorter.checks() == Strings{"n - 3 >= 0"});
  auto edge = padded({1, 0}, "edge");
  CHECK(edge.on(DType::F32, {n}).type() == "float32(n + 1)");
  CHECK(edge.checks() == Strings{"n >= 1"});
  CHECK(padded({1, 0}, "reflect").on(DType::F32, {0}).type() ==
        "error: nn.pad: dimension 0 of the data has no elements to continue");
  CHECK(padded({1, 0}, "wrap").on(DType::F32, {1}).type() ==
        "error: nn.pad: pad_mode is \"wrap\"; expected \"constant\", \"edge\" or \"reflect\"");
  CHECK(padded({1, 0, 2}).on(DType::F32, {1}).type() ==
        "error: nn.pad: 3 pad widths are given; expected 2 for each of 1 axes");
  CHECK(padded({1, 0}).on(DType::F32, {1}).on(DType::F32, {2}).type() ==
        "error: input 1 has rank 1; expected 0");
  CHECK(TypedCall("nn.pad").on(DType::F32, {1}).type() ==
        "error: nn.pad: no pad widths are given: neither an attribute nor an input");
  CHECK(padded({1, 0}).on(DType::F32, {1}).on(DType::F32, {}).onValues(DType::I64, {dim(1), dim(2)}).type() ==
        "error: nn.pad: the pad widths are given twice, as attribute and as input");
  CHECK(TypedCall("nn.pad").on(DType::F32, {n}).on(DType::I8, {}).onValues(DType::I64, {m, dim(2)}).type() ==
        "float32(n + m + 2)");
  CHECK(TypedCall("dyn.nn.pad")
            .on(DType::F32, {n})
            .onValues(DType::I64, {m, dim(2)})
            .on(DType::F32, {})
            .type() == "float32(n + m + 2)");
  CHECK(TypedCall("dyn.nn.pad").on(DType::F32, {n}).on(DType::I64, {2, 2}).on(DType::F32, {}).type() ==
        "error: dyn.nn.pad: widths of 2 axes are given for 1");
  CHECK(TypedCall("dyn.nn.pad").on(DType::F32, {n}).on(DType::I64, {1, 2, 1}).on(DType::F32, {}).type() ==
        "error: dyn.nn.pad: the pad widths have rank 3; expected 1 or 2");
  CHECK(TypedCall("nn.mirror_pad")
            .with("pad_width", Ints{1, 1})
            .with("mode", std::string("EDGE"))
            .on(DType::F32, {1})
            .type() == "error: nn.mirror_pad: mode is \"EDGE\"; expected \"SYMMETRIC\" or \"REFLECT\"");
}

TEST_CASE("positions in several axes") {
  CHECK(TypedCall("gather_nd").on(DType::F32, {n, dim(4), dim(5)}).on(DType::I64, {dim(2), m}).type() ==
        "float32(m, 5)");
  CHECK(TypedCall("gather_nd")
            .with("batch_dims", int64_t{1})
            .on(DType::F32, {3, 4, 5})
            .on(DType::I64, {1, 3, 2})
            .type() == "float32(3, 2, 5)");
  CHECK(TypedCall("gather_nd").on(DType::F32, {3, 4}).on(DType::I64, {n, m}).type() ==
        "error: gather_nd: the rank of the result depends on the first extent of the indices, which is not "
        "known; say "
        "it with `index_rank`");
  TypedCall said("gather_nd");
  said.with("index_rank", int64_t{2}).on(DType::F32, {3, 4}).on(DType::I64, {n, m});
  CHECK(said.type() == "float32(m)");
  CHECK(said.checks() == Strings{"n == 2"});
  CHECK(TypedCall("gather_nd").on(DType::F32, {3}).on(DType::I64, {2, 4}).type() ==
        "error: gather_nd: 2 positions are given for 1 axes");
  CHECK(TypedCall("gather_nd")
            .with("batch_dims", int64_t{2})
            .on(DType::F32, {3, 3})
            .on(DType::I64, {1, 3})
            .type() == "error: gather_nd: batch_dims is 2; expected 0 to 1");
  CHECK(TypedCall("gather_nd").on(DType::F32, {0, 3}).on(DType::I64, {1, 2}).type() ==
        "error: gather_nd: the data has no elements along axis 0 (0)");
  CHECK(TypedCall("gather_nd").on(DType::F32, {0, 3}).on(DType::I64, {1, 0}).type() == "float32(0, 3)");
  CHECK(TypedCall("gather_nd").on(DType::F32, {3}).on(DType::I64, {}).type() ==
        "error: gather_nd: the indices are a scalar; expected rank 1 or more");
  CHECK(TypedCall("unravel_index").on(DType::I32, {n}).on(DType::I64, {3}).type() == "int32(3, n)");
  CHECK(TypedCall("unravel_index").on(DType::I32, {}).on(DType::I64, {n}).type() == "int32(n)");
}

TEST_CASE("sequences") {
  TypedCall mask("sequence_mask");
  CHECK(mask.with("axis", int64_t{1}).on(DType::F32, {n, dim(4)}).on(DType::I32, {m}).type() ==
        "float32(n, 4)");
  CHECK(mask.checks() == Strings{"n == m"});
  CHECK(TypedCall("sequence_mask")
            .with("axis", int64_t{2})
            .on(DType::F32, {1, 1, 1})
            .on(DType::I32, {1})
            .type() == "error: sequence_mask: axis is 2; expected 0 or 1");
  CHECK(TypedCall("sequence_mask").on(DType::F32, {1}).on(DType::I32, {1}).type() ==
        "error: sequence_mask: the data has rank 1; expected 2 or more");
  CHECK(TypedCall("reverse_sequence")
            .with("batch_axis", int64_t{-1})
            .on(DType::F32, {2, 3})
            .on(DType::I32, {3})
            .type() == "error: reverse_sequence: seq_axis and batch_axis are both axis 1");
  CHECK(TypedCall("reverse_sequence").on(DType::F32, {2, 3}).on(DType::I32, {3}).type() ==
        "error: reverse_sequence: dimension 0 of the data (2) does not match the number of lengths (3)");
}

TEST_CASE("blocks") {
  CHECK(blocked("nn.depth_to_space", 2).on(DType::F32, {n, dim(8), m, dim(3)}).type() ==
        "float32(n, 2, 2*m, 6)");
  CHECK(blocked("nn.depth_to_space", 2, "NHWC", "CRD").on(DType::F32, {n, m, dim(3), dim(4)}).type() ==
        "float32(n, 2*m, 6, 1)");
  CHECK(blocked("nn.depth_to_space", 3).on(DType::F32, {1, 8, 1, 1}).type() ==
        "error: nn.depth_to_space: 9 does not divide the number of channels (8)");
  CHECK(blocked("nn.space_to_depth", 2).on(DType::F32, {n, dim(3), dim(4), dim(6)}).type() ==
        "float32(n, 12, 2, 3)");
  CHECK(blocked("nn.space_to_depth", 0).on(DType::F32, {1, 1, 1, 1}).type() ==
        "error: nn.space_to_depth: block_size is 0; expected 1 to 2147483647");
  CHECK(blocked("nn.space_to_depth", 1, "NCHW", "CRD").on(DType::F32, {1, 1, 1, 1}).type() ==
        "error: nn.space_to_depth: mode is \"CRD\"; expected \"DCR\"");
  CHECK(blocked("nn.space_to_depth", 1, "CHWN").on(DType::F32, {1, 1, 1, 1}).type() ==
        "error: nn.space_to_depth: layout is \"CHWN\"; expected \"NCHW\" or \"NHWC\"");
  const auto toBatch = [](Ints block, Ints paddings) {
    TypedCall call("nn.space_to_batch_nd");
    call.with("block_shape", std::move(block)).with("paddings", std::move(paddings));
    return call;
  };
  CHECK(toBatch({2, 3}, {0, 1, 2, 0}).on(DType::F32, {n, dim(3), dim(4), m}).type() ==
        "float32(6*n, 2, 2, m)");
  CHECK(toBatch({2}, {0, 1}).on(DType::F32, {1, 2}).type() ==
        "error: nn.space_to_batch_nd: 2 does not divide dimension 1 of the padded data (3)");
  CHECK(toBatch({2}, {0}).on(DType::F32, {1, 2}).type() ==
        "error: nn.space_to_batch_nd: 1 paddings are given; expected 2 for each of 1 blocks");
  CHECK(toBatch({2}, {0, -1}).on(DType::F32, {1, 2}).type() ==
        "error: nn.space_to_batch_nd: one of the paddings is -1; expected 0 or more");
  CHECK(toBatch({2, 2}, {0, 0, 0, 0}).on(DType::F32, {1, 2}).type() ==
        "error: nn.space_to_batch_nd: the data has rank 2; expected 3 or more");
  TypedCall toSpace("nn.batch_to_space_nd");
  toSpace.with("block_shape", Ints{2}).with("crops", Ints{1, 0}).on(DType::F32, {n, m});
  CHECK(toSpace.type() == "float32(floor_div(n, 2), 2*m - 1)");
  CHECK(toSpace.checks() == Strings{"floor_mod(n, 2) == 0", "2*m - 1 >= 0"});
}

TEST_CASE("layouts") {
  CHECK(relaid("NCHW", "NHWC").on(DType::F32, {n, dim(3), m, dim(5)}).type() == "float32(n, m, 5, 3)");
  auto split = relaid("NCHW", "NCHW4c");
  CHECK(split.on(DType::F32, {1, 8, 2, 2}).type() == "float32(1, 2, 2, 2, 4)");
  CHECK(relaid("NCHW16c", "NCHW2c").on(DType::F32, {dim(1), n, dim(2), dim(2), dim(16)}).type() ==
        "float32(1, 8*n, 2, 2, 2)");
  CHECK(relaid("NC", "NC4c").on(DType::F32, {1, 6}).type() ==
        "error: layout_transform: blocks of 4 do not divide the extent of C (6)");
  CHECK(relaid("NC", "NCH").on(DType::F32, {1, 6}).type() ==
        "error: layout_transform: \"NC\" and \"NCH\" have different axes");
  CHECK(relaid("NC4", "NC").on(DType::F32, {1, 6}).type() ==
        "error: layout_transform: src_layout is \"NC4\": a number stands at the end");
  CHECK(relaid("NCc", "NC").on(DType::F32, {1, 6, 1}).type() ==
        "error: layout_transform: src_layout is \"NCc\": a small letter, and no other, follows the extent of "
        "its blocks");
  CHECK(relaid("NCC", "NC").on(DType::F32, {1, 6, 1}).type() ==
        "error: layout_transform: src_layout is \"NCC\": C stands there twice");
  CHECK(relaid("N4c", "N").on(DType::F32, {1, 4}).type() ==
        "error: layout_transform: src_layout is \"N4c\": there are places in blocks of C, which is no axis");
  CHECK(relaid("N-C", "NC").on(DType::F32, {1, 6}).type() ==
        "error: layout_transform: src_layout is \"N-C\": expected letters, and numbers before small ones");
}

TEST_CASE("elements spread and picked") {
  CHECK(TypedCall("nn.dilate").with("strides", Ints{2, 3}).on(DType::F32, {n, dim(4)}).type() ==
        "float32(max(0, 2*n - 1), 10)");
  CHECK(TypedCall("nn.dilate").with("strides", Ints{0}).on(DType::F32, {1}).type() ==
        "error: nn.dilate: a stride is 0; expected 1 or more");
  CHECK(TypedCall("nn.dilate").with("strides", Ints{1}).on(DType::F32, {1, 1}).type() ==
        "error: nn.dilate: 1 strides are given for 2 axes");
  const auto window = [](int64_t axis, Ints shape, Ints strides) {
    TypedCall call("sliding_window");
    call.with("axis", axis).with("window_shape", std::move(shape)).with("strides", std::move(strides));
    return call;
  };
  auto slid = window(1, {3}, {2});
  CHECK(slid.on(DType::F32, {n, m}).type() == "float32(n, ceil_div(m, 2) - 1, 3)");
  CHECK(slid.checks() == Strings{"m >= 3"});
  CHECK(window(0, {5}, {1}).on(DType::F32, {3}).type() ==
        "error: sliding_window: a window of 5 does not fit into dimension 0 (3)");
  CHECK(window(0, {1}, {1}).on(DType::F32, {3, 3}).type() ==
        "error: sliding_window: 1 extents and 1 strides are given for 2 axes");
  CHECK(window(0, {1}, {0}).on(DType::F32, {3}).type() ==
        "error: sliding_window: a window of 1 moves by 0; expected 1 or more");
  CHECK(TypedCall("trilu").on(DType::F32, {3}).on(DType::I64, {}).type() ==
        "error: trilu: the data has rank 1; expected 2 or more");
  CHECK(
      TypedCall("matrix_set_diag").with("k1", int64_t{1}).on(DType::F32, {2, 2}).on(DType::F32, {1}).type() ==
      "error: matrix_set_diag: k1 is 1, above k2, which is 0");
  CHECK(TypedCall("matrix_set_diag")
            .with("k1", int64_t{-1})
            .on(DType::F32, {2, 3})
            .on(DType::F32, {3, 2})
            .type() == "error: matrix_set_diag: 3 diagonals are given; expected 2");
}

TEST_CASE("partial results, updates and searches") {
  CHECK(TypedCall("cumsum").on(DType::F32, {n, dim(2)}).type() == "float32(2*n)");
  CHECK(TypedCall("cumsum")
            .with("axis", int64_t{-1})
            .with("dtype", DType::I32)
            .on(DType::I8, {n, dim(2)})
            .type() == "int32(n, 2)");
  CHECK(TypedCall("cumprod").on(DType::Bool, {2}).type() ==
        "error: cumprod: the type of the result is bool; expected an integer or float type");
  const auto scatter = [](const std::string& mode) {
    TypedCall call("scatter_elements");
    call.with("reduction", mode);
    return call;
  };
  auto some = scatter("add");
  CHECK(some.on(DType::F32, {n, m}).on(DType::I64, {dim(9), m}).on(DType::F32, {dim(9), m}).type() ==
        "float32(n, m)");
  CHECK(some.checks().empty());
  CHECK(scatter("mean").on(DType::F32, {2}).on(DType::I64, {1}).on(DType::F32, {1}).type() ==
        "error: scatter_elements: reduction is \"mean\"; expected \"update\", \"add\", \"mul\", \"min\" or "
        "\"max\"");
  CHECK(scatter("add").on(DType::Bool, {2}).on(DType::I64, {1}).on(DType::Bool, {1}).type() ==
        "error: scatter_elements: the data has element type bool, which cannot be updated by add");
  CHECK(scatter("update").on(DType::F32, {2}).on(DType::I64, {1}).on(DType::F32, {3}).type() ==
        "error: scatter_elements: dimension 0 of the indices (1) does not match dimension 0 of the updates "
        "(3)");
  CHECK(TypedCall("scatter_nd")
            .on(DType::F32, {n, dim(3)})
            .on(DType::I64, {dim(1), m})
            .on(DType::F32, {m, dim(3)})
            .type() == "float32(n, 3)");
  CHECK(TypedCall("scatter_nd").on(DType::F32, {4, 3}).on(DType::I64, {2, 5}).on(DType::F32, {5, 3}).type() ==
        "error: scatter_nd: the indices hold 2 positions of each place; the ranks say 1");
  CHECK(TypedCall("scatter_nd").on(DType::F32, {4, 3}).on(DType::I64, {1, 5}).on(DType::F32, {5, 2}).type() ==
        "error: scatter_nd: dimension 1 of the updates (2) does not match dimension 1 of the data (3)");
  CHECK(
      TypedCall("scatter_nd").on(DType::F32, {4}).on(DType::I64, {1, 5}).on(DType::F32, {5, 2, 2}).type() ==
      "error: scatter_nd: the updates have rank 3; expected 1 to 2 for data of rank 1 and indices of rank 2");
  CHECK(TypedCall("searchsorted").on(DType::F32, {n}).on(DType::F32, {2, 3}).type() == "int32(2, 3)");
  CHECK(TypedCall("searchsorted").on(DType::F32, {2, 3}).on(DType::F32, {3}).type() ==
        "error: searchsorted: the sorted sequence has rank 2; expected 1");
  CHECK(TypedCall("searchsorted").with("dtype", DType::I8).on(DType::F32, {2}).on(DType::F32, {3}).type() ==
        "error: searchsorted: dtype is int8; expected int32 or int64");
  CHECK(TypedCall("argwhere").on(DType::F32, {n, m}).type() == "int32(v100, 2)");
  CHECK(TypedCall("argwhere.rows").on(DType::Bool, {n}).onScalar(DType::I64, m).type() == "int32(m, 1)");
}
