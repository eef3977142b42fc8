#include "compiler/ir/metadata.h"

#include <charconv>
#include <optional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "compiler/ir/saved_tensor.h"

namespace baton::ir {
namespace {

constexpr int kMaxDepth = 64;

Error malformed(std::string_view what) {
  return Error(ErrorCode::Malformed, fmt::format("metadata: {}", what));
}

/// The JSON parser recurses, so depth is bounded before it sees the text.
bool isTooDeep(std::string_view text) {
  int depth = 0;
  bool inString = false;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (inString && c == '\\') ++i;
    if (c == '"') inString = !inString;
    if (!inString && (c == '[' || c == '{') && ++depth > kMaxDepth) return true;
    if (!inString && (c == ']' || c == '}')) --depth;
  }
  return false;
}

std::optional<size_t> parsePosition(std::string_view text) {
  size_t position = 0;
  auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), position);
  if (text.empty() || failure != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return position;
}

using Json = nlohmann::json;

bool readPositions(const Json& list, std::vector<size_t>& positions) {
  if (!list.is_array()) return false;
  for (const Json& item : list) {
    if (!item.is_number_unsigned()) return false;
    positions.push_back(item.get<size_t>());
  }
  return true;
}

Result<MetadataNode> readNode(const Json& json) {
  if (!json.is_object()) return malformed("a node that is no object");
  MetadataNode node;
  for (const auto& [key, value] : json.items()) {
    if (key == "type_key" && value.is_string()) {
      node.kind = value.get<std::string>();
    } else if (key == "repr_str" && value.is_string()) {
      node.text = value.get<std::string>();
    } else if (key == "data") {
      if (!readPositions(value, node.items)) return malformed("a list that does not consist of positions");
    } else if (key == "attrs" && value.is_object()) {
      for (const auto& [name, field] : value.items())
        node.fields.emplace_back(name, field.is_string() ? field.get<std::string>() : field.dump());
    }
  }
  return node;
}

}  // namespace

std::string writeMetadata(const Module& module, std::span<const ConstantId> constants) {
  using Ordered = nlohmann::ordered_json;
  Ordered nodes = Ordered::array();
  nodes.push_back({{"type_key", ""}});
  nodes.push_back({{"type_key", "Map"}, {"keys", {"relay.Constant"}}, {"data", {2}}});
  Ordered indices = Ordered::array();
  for (size_t i = 0; i < constants.size(); ++i) indices.push_back(i + 3);
  nodes.push_back({{"type_key", "Array"}, {"data", indices}});
  Ordered arrays = Ordered::array();
  for (size_t i = 0; i < constants.size(); ++i) {
    Ordered attrs = {
        {"_checked_type_", "0"}, {"data", fmt::format("{}", i)}, {"span", "0"}, {"virtual_device_", "0"}};
    nodes.push_back({{"type_key", "relay.Constant"}, {"attrs", attrs}});
    arrays.push_back(encodeTensor(module.constant(constants[i])));
  }
  Ordered root = {{"root", 1}, {"nodes", nodes}, {"b64ndarrays", arrays}};
  return root.dump(2) + "\n";
}

const std::string* MetadataNode::field(std::string_view name) const {
  for (const auto& [key, value] : fields)
    if (key == name) return &value;
  return nullptr;
}

Result<MetadataGraph> MetadataGraph::read(std::string_view text) {
  if (isTooDeep(text)) return malformed("nested too deeply");
  Json root = Json::parse(text, nullptr, false);
  if (root.is_discarded() || !root.is_object()) return malformed("not a JSON object");
  MetadataGraph graph;
  const auto nodes = root.find("nodes");
  const auto map = root.find("root");
  if (nodes == root.end() || !nodes->is_array() || map == root.end() || !map->is_number_unsigned())
    return malformed("no table of nodes");
  for (const Json& json : *nodes) {
    BATON_TRY_ASSIGN(MetadataNode node, readNode(json));
    graph.nodes_.push_back(std::move(node));
  }
  if (const auto tensors = root.find("b64ndarrays"); tensors != root.end() && tensors->is_array())
    for (Json& tensor : *tensors)  // weights may be large: there is one copy of their text at a time
      graph.tensors_.push_back(tensor.is_string() ? std::move(tensor.get_ref<std::string&>())
                                                  : std::string());
  const size_t at = map->get<size_t>();
  if (at >= nodes->size()) return malformed("no map of kinds");
  const auto keys = (*nodes)[at].find("keys");
  const std::vector<size_t>& lists = graph.nodes_[at].items;
  if (keys == (*nodes)[at].end() || !keys->is_array() || keys->size() != lists.size())
    return malformed("no map of kinds");
  for (size_t i = 0; i < lists.size(); ++i) {
    const MetadataNode* list = graph.node(lists[i]);
    if (list == nullptr || !(*keys)[i].is_string()) return malformed("no list of objects");
    graph.kinds_[(*keys)[i].get<std::string>()] = list->items;
  }
  return graph;
}

std::span<const size_t> MetadataGraph::objects(std::string_view kind) const {
  const auto known = kinds_.find(kind);
  return known == kinds_.end() ? std::span<const size_t>() : std::span<const size_t>(known->second);
}

const MetadataNode* MetadataGraph::reference(std::string_view field) const {
  const std::optional<size_t> position = parsePosition(field);
  const MetadataNode* found = position ? node(*position) : nullptr;
  return found == nullptr || found->kind.empty() ? nullptr : found;
}

Result<Constant> MetadataGraph::constant(const MetadataNode& node) const {
  const std::string* data = node.field("data");
  if (data == nullptr) return malformed("a constant without data");
  const std::optional<size_t> position = parsePosition(*data);
  if (!position || *position >= tensors_.size()) return malformed("a constant whose data is missing");
  return decodeTensor(tensors_[*position]);
}

}  // namespace baton::ir
