// Types and shapes of operators on boxes.
#include "tests/unit/compiler/ops/relation_test.h"

TEST_CASE("boxes give as many results as there are boxes", "[relations][vision]") {
  CHECK(TypedCall("vision.roi_align")
            .with("pooled_size", std::vector<int64_t>{7, 3})
            .with("spatial_scale", 0.5)
            .on(DType::F16, {dim(1), m, dim(9), dim(9)})
            .on(DType::F32, {n, dim(5)})
            .type() == "float16(n, m, 7, 3)");
  TypedCall pool("vision.roi_pool");
  CHECK(pool.with("pooled_size", std::vector<int64_t>{2, 2})
            .with("spatial_scale", 1.0)
            .with("layout", std::string("NHWC"))
            .on(DType::F32, {dim(2), m, dim(9), dim(3)})
            .on(DType::F32, {n, dim(5)})
            .type() == "float32(n, 2, 2, 3)");
  CHECK(pool.checks() == std::vector<std::string>{"m >= min(n, 1)"});
  CHECK(TypedCall("vision.multibox_prior")
            .with("sizes", std::vector<double>{0.5, 0.25})
            .with("ratios", std::vector<double>{1, 2, 0.5})
            .on(DType::F32, {dim(1), dim(3), n, m})
            .type() == "float32(1, 4*n*m, 4)");
  CHECK(TypedCall("vision.multibox_transform_loc")
            .on(DType::F32, {n, dim(3), dim(5)})
            .on(DType::F32, {n, dim(20)})
            .on(DType::F32, {1, 5, 4})
            .type() == "float32(n, 5, 6); int32(n)");
  CHECK(TypedCall("vision.proposal")
            .with("rpn_post_nms_top_n", int64_t{10})
            .on(DType::F32, {n, dim(24), m, dim(4)})
            .on(DType::F32, {n, dim(48), m, dim(4)})
            .on(DType::F32, {n, dim(3)})
            .type() == "float32(10*n, 5)");
}

TEST_CASE("suppression has room for all that may stay", "[relations][vision]") {
  CHECK(TypedCall("vision.get_valid_counts").on(DType::F16, {dim(2), n, dim(6)}).type() ==
        "int32(2); float16(2, n, 6); int32(2, n)");
  TypedCall suppression("vision.non_max_suppression");
  CHECK(suppression.on(DType::F32, {dim(1), n, dim(6)})
            .on(DType::I32, {1})
            .on(DType::I32, {dim(1), m})
            .type() == "int32(1, n); int32(1, 1)");
  CHECK(suppression.checks() == std::vector<std::string>{"n == m"});
  CHECK(suppression.with("return_indices", false).type() == "float32(1, n, 6)");
  CHECK(suppression.checks().empty());
  CHECK(TypedCall("vision.non_max_suppression")
            .with("return_indices", false)
            .on(DType::F32, {dim(2), n, dim(6)})
            .on(DType::I32, {2})
            .on(DType::I32, {2})
            .type() == "float32(2, n, 6)");
  const auto classes = [](const std::string& format) {
    return TypedCall("vision.all_class_non_max_suppression")
        .with("output_format", format)
        .on(DType::F32, {dim(2), n, dim(4)})
        .on(DType::F32, {dim(2), dim(3), n})
        .onScalar(DType::I64, DimExpr())
        .on(DType::F32, std::initializer_list<int64_t>{})
        .on(DType::F32, std::initializer_list<int64_t>{})
        .type();
  };
  CHECK(classes("onnx") == "int64(6*n, 3); int64(1)");
  CHECK(classes("tensorflow") == "int64(2, 3*n, 2); float32(2, 3*n); int64(2)");
  CHECK(TypedCall("vision.regular_non_max_suppression")
            .with("max_detections_per_class", int64_t{5})
            .with("max_detections", int64_t{9})
            .with("num_classes", int64_t{2})
            .with("iou_threshold", 0.5)
            .with("score_threshold", 0.0)
            .on(DType::F32, {n, m, dim(4)})
            .on(DType::F32, {n, m, dim(3)})
            .type() == "float32(n, 9, 4); float32(n, 9); float32(n, 9); int32(n)");
}
