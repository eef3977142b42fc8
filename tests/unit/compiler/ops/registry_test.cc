// What the generated table says of the operators, and how they are found.
#include <catch2/catch.hpp>

#include <cctype>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "compiler/ir/op.h"

using namespace baton;
using namespace baton::ops;

TEST_CASE("operators are found by name and alias") {
  const OpRegistry& registry = OpRegistry::instance();
  REQUIRE(registry.find("nn.dense") != nullptr);
  CHECK(registry.find("nn.dense")->name == "nn.dense");
  CHECK(registry.find("dyn.reshape") == registry.find("reshape"));
  CHECK(registry.find("nn.dens") == nullptr);
  CHECK(registry.find("") == nullptr);
  for (size_t i = 1; i < registry.all().size(); ++i)
    CHECK(registry.all()[i - 1]->name < registry.all()[i]->name);
}

TEST_CASE("every name of the list finds an operator") {
  // Programs rely on them: none may go.
  std::ifstream file(BATON_OPERATOR_NAMES);
  std::string before;
  size_t count = 0;
  for (std::string name; std::getline(file, name); before = name, ++count) {
    INFO(name);
    CHECK(OpRegistry::instance().find(name) != nullptr);
    CHECK(before < name);
  }
  CHECK(count == 241);
}

TEST_CASE("every operator has its relations, and defaults of the declared kind") {
  for (const OpDef* op : OpRegistry::instance().all()) {
    INFO(op->name);
    CHECK(op->structure != nullptr);
    CHECK(op->dims != nullptr);
    for (size_t i = 0; i + 1 < op->inputs.size(); ++i) {
      CHECK_FALSE(op->inputs[i].isList);
      if (op->inputs[i].isOptional) CHECK(op->inputs[i + 1].isOptional);
    }
    for (const AttrSpec& attr : op->attrs) {
      INFO(attr.name);
      const bool isNone = std::holds_alternative<std::monostate>(attr.defaultValue);
      CHECK(isNone == (attr.isRequired || attr.mayBeNone));
    }
  }
}

TEST_CASE("defaults of nn.dense and sum") {
  const ir::Attrs dense = defaultAttrs(*OpRegistry::instance().find("nn.dense"));
  CHECK(dense.isNone("units"));
  CHECK(dense.find("units") != nullptr);
  const ir::Attrs sum = defaultAttrs(*OpRegistry::instance().find("sum"));
  CHECK_FALSE(sum.boolOf("keepdims"));
  CHECK(defaultAttrs(*OpRegistry::instance().find("strided_slice")).intsOf("strides") ==
        std::vector<int64_t>{1});
  CHECK(defaultAttrs(*OpRegistry::instance().find("cast")).find("dtype") == nullptr);
}

TEST_CASE("placeholders of messages") {
  const std::vector<std::string> values = {"n", "300"};
  CHECK(formatDimMessage("a ({0}) and b ({1})", values) == "a (n) and b (300)");
  CHECK(formatDimMessage("{2} {x} {} {0", values) == "{2} {x} {} {0");
  CHECK(formatDimMessage("", values).empty());
}

TEST_CASE("every operator occurs in a program whose values come from elsewhere") {
  // The reference versions and the kernels could be wrong together; these values are numpy's.
  std::string programs;
  for (const auto& entry : std::filesystem::directory_iterator(BATON_OPERATOR_PROGRAMS)) {
    const std::filesystem::path& path = entry.path();
    if (path.extension() != ".relay" || !path.filename().string().starts_with("operators_")) continue;
    std::ifstream file(path);
    programs.append(std::istreambuf_iterator<char>(file), {});
  }
  REQUIRE(!programs.empty());
  for (const OpDef* op : OpRegistry::instance().all()) {
    const std::string call = std::string(op->name) + "(";
    bool isCalled = false;
    for (size_t at = programs.find(call); at != std::string::npos && !isCalled;
         at = programs.find(call, at + 1)) {
      const auto before = static_cast<unsigned char>(at == 0 ? ' ' : programs[at - 1]);
      isCalled = !std::isalnum(before) && before != '_' && before != '.';
    }
    INFO(op->name);
    CHECK(isCalled);
  }
}
