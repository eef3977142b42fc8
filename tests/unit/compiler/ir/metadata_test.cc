#include "compiler/ir/metadata.h"

#include <catch2/catch.hpp>

#include "compiler/ir/saved_tensor.h"

namespace baton::ir {
namespace {

TEST_CASE("tensors of every type and shape are saved and read back") {
  for (int type = 0; type < kDTypeCount; ++type) {
    for (const std::vector<int64_t>& shape : {std::vector<int64_t>{}, std::vector<int64_t>{1},
                                              std::vector<int64_t>{0, 3}, std::vector<int64_t>{2, 3}}) {
      Constant constant;
      constant.dtype = static_cast<DType>(type);
      constant.shape = shape;
      size_t count = 1;
      for (int64_t extent : shape) count *= static_cast<size_t>(extent);
      const bool isBool = constant.dtype == DType::Bool;
      for (size_t i = 0; i < count * static_cast<size_t>(sizeBytes(constant.dtype)); ++i)
        constant.bytes.push_back(static_cast<std::byte>(isBool ? i % 2 : i * 37 + 5));
      Result<Constant> again = decodeTensor(encodeTensor(constant));
      REQUIRE(again.has_value());
      CHECK(again.value().dtype == constant.dtype);
      CHECK(again.value().shape == constant.shape);
      CHECK(again.value().bytes == constant.bytes);
    }
  }
}

TEST_CASE("a saved bool is 0 or 1 whatever its byte is") {
  Constant constant;
  constant.dtype = DType::Bool;
  constant.shape = {3};
  constant.bytes = {std::byte{0}, std::byte{1}, std::byte{255}};
  Result<Constant> again = decodeTensor(encodeTensor(constant));
  REQUIRE(again.has_value());
  CHECK(again.value().bytes == std::vector<std::byte>{std::byte{0}, std::byte{1}, std::byte{1}});
}

TEST_CASE("a saved tensor that is cut anywhere is refused") {
  Constant constant;
  constant.dtype = DType::I32;
  constant.shape = {2};
  constant.bytes.resize(8);
  const std::string text = encodeTensor(constant);
  for (size_t length = 0; length + 4 < text.size(); length += 4)
    CHECK(!decodeTensor(text.substr(0, length)).has_value());
}

TEST_CASE("objects of a metadata section are found by kind and place") {
  Result<MetadataGraph> read = MetadataGraph::read(R"({
    "root": 1,
    "nodes": [
      {"type_key": ""},
      {"type_key": "Map", "keys": ["Array", "runtime.String"], "data": [2, 3]},
      {"type_key": "Array", "data": [4]},
      {"type_key": "Array", "data": [5]},
      {"type_key": "Array", "data": [6, 0]},
      {"type_key": "runtime.String", "repr_str": "NCHW"},
      {"type_key": "IntImm", "attrs": {"dtype": "int32", "span": "0", "value": "-3"}}
    ],
    "b64ndarrays": [],
    "attrs": {"tvm_version": "0.12.0"}
  })");
  REQUIRE(read.has_value());
  const MetadataGraph& graph = read.value();
  REQUIRE(graph.objects("Array").size() == 1);
  REQUIRE(graph.objects("runtime.String").size() == 1);
  CHECK(graph.objects("relay.Constant").empty());
  const MetadataNode* list = graph.node(graph.objects("Array")[0]);
  REQUIRE(list != nullptr);
  CHECK(list->items == std::vector<size_t>{6, 0});
  CHECK(graph.node(graph.objects("runtime.String")[0])->text == "NCHW");
  REQUIRE(graph.reference("6") != nullptr);
  CHECK(*graph.reference("6")->field("value") == "-3");
  CHECK(graph.reference("6")->field("nothing") == nullptr);
  CHECK(graph.reference("0") == nullptr);
  CHECK(graph.reference("7") == nullptr);
  CHECK(graph.reference("x") == nullptr);
  CHECK(graph.reference("") == nullptr);
}

}  // namespace
}  // namespace baton::ir
