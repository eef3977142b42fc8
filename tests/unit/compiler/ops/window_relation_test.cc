// Relations of pools and convolutions.
#include "tests/unit/compiler/ops/relation_test.h"

namespace {

TypedCall pool(std::string_view name, Dims data, const Ints& size, const Ints& strides, const Ints& padding) {
  TypedCall call(name);
  call.with("pool_size", size).with("strides", strides).with("padding", padding);
  call.on(DType::F32, std::move(data));
  return call;
}

}  // namespace

TEST_CASE("places of windows") {
  CHECK(pool("nn.max_pool2d", {n, dim(3), dim(8), dim(9)}, {3}, {2}, {1}).type() == "float32(n, 3, 4, 5)");
  // Padding before all axes and then behind them.
  CHECK(pool("nn.max_pool2d", {n, dim(3), dim(8), dim(9)}, {2, 3}, {1, 2}, {0, 1, 2, 3}).type() ==
        "float32(n, 3, 9, 6)");
  CHECK(pool("nn.avg_pool1d", {n, dim(3), dim(7)}, {2}, {2}, {0}).type() == "float32(n, 3, 3)");
  CHECK(pool("nn.avg_pool1d", {n, dim(3), dim(7)}, {2}, {2}, {0}).with("ceil_mode", true).type() ==
        "float32(n, 3, 4)");
  CHECK(pool("nn.max_pool1d", {n, dim(3), dim(9)}, {3}, {1}, {0}).with("dilation", Ints{3}).type() ==
        "float32(n, 3, 3)");
  CHECK(pool("nn.avg_pool3d", {dim(1), dim(2), dim(4), dim(5), dim(6)}, {2}, {2}, {0}).type() ==
        "float32(1, 2, 2, 2, 3)");
  TypedCall symbolic = pool("nn.max_pool2d", {dim(1), dim(3), n, m}, {3}, {1}, {1});
  CHECK(symbolic.type() == "float32(1, 3, n, m)");
  CHECK(symbolic.checks() == Strings{"n + 2 >= 3", "m + 2 >= 3"});
  CHECK(pool("nn.max_pool2d", {dim(1), dim(3), n, dim(8)}, {2}, {2}, {0}).type() ==
        "float32(1, 3, floor_div(n, 2), 4)");
}

TEST_CASE("windows that are none") {
  CHECK(pool("nn.max_pool1d", {n, dim(3), dim(2)}, {4}, {1}, {0, 1}).type() ==
        "error: nn.max_pool1d: a window that spans 4 does not fit into W, which is 3 with its padding");
  CHECK(pool("nn.max_pool2d", {n, n, n, n}, {0}, {1}, {0}).type() ==
        "error: nn.max_pool2d: pool_size holds 0; expected 1 to 2147483647");
  CHECK(pool("nn.max_pool2d", {n, n, n, n}, {1}, {1}, {-1}).type() ==
        "error: nn.max_pool2d: padding holds -1; expected 0 to 2147483647");
  CHECK(pool("nn.max_pool2d", {n, n, n, n}, {1}, {1}, {1, 2, 3}).type() ==
        "error: nn.max_pool2d: padding has 3 entries; expected 1, 2 or 4");
  CHECK(pool("nn.max_pool3d", {n, n, n, n, n}, {1}, {1, 1}, {0}).type() ==
        "error: nn.max_pool3d: strides has 2 entries; expected 1 or 3");
}

TEST_CASE("layouts of pools") {
  CHECK(pool("nn.max_pool2d", {n, dim(8), dim(9), dim(3)}, {2}, {2}, {0})
            .with("layout", std::string("NHWC"))
            .type() == "float32(n, 4, 4, 3)");
  CHECK(pool("nn.max_pool2d", {n, dim(2), dim(8), dim(9), dim(4)}, {2}, {2}, {0})
            .with("layout", std::string("NCHW4c"))
            .type() == "float32(n, 2, 4, 4, 4)");
  CHECK(pool("nn.max_pool2d", {n, dim(2), dim(8), dim(9), dim(4)}, {2}, {2}, {0})
            .with("layout", std::string("NCHW4c"))
            .with("out_layout", std::string("NHWC"))
            .type() == "float32(n, 4, 4, 8)");
  CHECK(pool("nn.max_pool2d", {n, dim(2), dim(8), dim(9), dim(3)}, {2}, {2}, {0})
            .with("layout", std::string("NCHW4c"))
            .type() == "error: nn.max_pool2d: dimension 4 of the data is 3; the layout says 4");
  CHECK(pool("nn.max_pool2d", {n, dim(6), dim(8), dim(9)}, {2}, {2}, {0})
            .with("out_layout", std::string("NCHW4c"))
            .type() == "error: nn.max_pool2d: blocks of 4 do not divide the extent of C (6)");
  for (const std::string layout : {"NCHWD", "NCH", "NCHW4w"})
    CHECK(pool("nn.max_pool2d", {n, n, n, n}, {2}, {2}, {0}).with("layout", layout).type() ==
          "error: nn.max_pool2d: layout is \"" + layout +
              "\"; expected the axes of \"NCHW\", and blocks of N or C only");
}

TEST_CASE("adaptive and global pools") {
  const auto adaptive = [](Dims data, const Ints& size) {
    TypedCall call("nn.adaptive_avg_pool2d");
    call.with("output_size", size).on(DType::F32, std::move(data));
    return call;
  };
  TypedCall symbolic = adaptive({n, dim(3), m, dim(5)}, {2});
  CHECK(symbolic.type() == "float32(n, 3, 2, 2)");
  CHECK(symbolic.checks() == Strings{"m >= 1", "m <= 2147483647"});
  CHECK(adaptive({n, dim(3), m, dim(5)}, {}).type() == "float32(n, 3, m, 5)");
  CHECK(adaptive({n, dim(3), dim(0), dim(5)}, {2, 1}).type() ==
        "error: nn.adaptive_avg_pool2d: H has no elements to pool");
  CHECK(adaptive({n, dim(3), dim(int64_t{1} << 40), dim(5)}, {2, 1}).type() ==
        "error: nn.adaptive_avg_pool2d: the extent of H (1099511627776) is above 2147483647");
  CHECK(adaptive({n, n, n, n}, {0}).type() ==
        "error: nn.adaptive_avg_pool2d: output_size holds 0; expected 1 to 2147483647");
  CHECK(TypedCall("nn.global_avg_pool2d").on(DType::F32, {n, dim(3), m, dim(5)}).type() ==
        "float32(n, 3, 1, 1)");
  CHECK(TypedCall("nn.global_max_pool2d")
            .with("layout", std::string("NHWC"))
            .on(DType::F32, {n, dim(3), m, dim(5)})
            .type() == "float32(n, 1, 1, 5)");
  CHECK(TypedCall("nn.global_max_pool2d").on(DType::F32, {n, m}).type().substr(0, 6) == "error:");
}
