// Names of a program while it is parsed: what is global, and scopes of variables.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "base/dim.h"
#include "compiler/ir/ir.h"

namespace baton::frontend {

/// What `@name` may be.
using GlobalName = std::variant<ir::GlobalId, ir::ConstantId>;

/// Shared by all files of a program.
struct ProgramNames {
  std::unordered_map<std::string, GlobalName> globals;
  std::unordered_map<std::string, ir::TypeDefId> typeDefs;
  std::unordered_map<std::string, ir::ConstructorRef> constructors;
  std::unordered_map<std::string, bool> imports;
};

/// Lexical scopes of one kind of name; an inner declaration hides an outer one until its
/// scope ends.
template <class T>
class ScopedNames {
 public:
  size_t enter() const { return undo_.size(); }
  void leave(size_t mark) {
    while (undo_.size() > mark) {
      auto& [name, old] = undo_.back();
      if (old)
        names_.insert_or_assign(name, *old);
      else
        names_.erase(name);
      undo_.pop_back();
    }
  }
  void declare(std::string_view name, T value) {
    std::string key(name);
    auto at = names_.find(key);
    undo_.emplace_back(key, at == names_.end() ? std::nullopt : std::optional<T>(at->second));
    names_.insert_or_assign(std::move(key), value);
  }
  std::optional<T> find(std::string_view name) const {
    auto at = names_.find(std::string(name));
    return at == names_.end() ? std::nullopt : std::optional<T>(at->second);
  }

  template <class F>
  void forEachName(F&& f) const {
    for (const auto& [name, value] : names_) f(name);
  }

 private:
  std::unordered_map<std::string, T> names_;
  std::vector<std::pair<std::string, std::optional<T>>> undo_;
};

}  // namespace baton::frontend
