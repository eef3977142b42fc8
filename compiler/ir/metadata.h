// The `#[metadata]` section of Relay text: a JSON graph of objects. The program text refers to
// them as meta[kind][i]: tensors that are too large to stand in the program, and whatever else
// the text has no form for.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "compiler/ir/ir.h"

namespace baton::ir {

/// The section that holds these constants as meta[relay.Constant][0], [1], ...
std::string writeMetadata(const Module& module, std::span<const ConstantId> constants);

/// An object of the graph. Fields are texts: numbers as they are, other objects and tensors by
/// their position, "0" for none.
struct MetadataNode {
  std::string kind;  ///< "IntImm"; empty for the one that stands for none
  std::string text;  ///< of a string
  std::vector<std::pair<std::string, std::string>> fields;
  std::vector<size_t> items;  ///< of an array: positions of its elements

  /// Null when absent.
  const std::string* field(std::string_view name) const;
};

class MetadataGraph {
 public:
  /// Malformed when the text is not such a section.
  static Result<MetadataGraph> read(std::string_view text);

  /// Positions of the objects of `meta[kind]`, in order.
  std::span<const size_t> objects(std::string_view kind) const;
  /// Null where there is none.
  const MetadataNode* node(size_t position) const {
    return position < nodes_.size() ? &nodes_[position] : nullptr;
  }
  /// The object that a field refers to; null when the text is no such position or means none.
  const MetadataNode* reference(std::string_view field) const;
  /// The tensor of an object of the kind relay.Constant.
  Result<Constant> constant(const MetadataNode& node) const;

 private:
  std::vector<MetadataNode> nodes_;
  std::vector<std::string> tensors_;  // base64
  std::map<std::string, std::vector<size_t>, std::less<>> kinds_;
};

}  // namespace baton::ir
