// What somebody may have meant who wrote a name that is not there.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace baton::frontend {

/// Collects the candidate that is nearest to a name, by insertions, deletions, replacements and swaps
/// of neighbours; only a few are allowed. The order of candidates does not matter.
class NearestName {
 public:
  explicit NearestName(std::string_view name) : name_(name) {}
  void consider(std::string_view candidate);
  /// The candidate is what was meant, however far it is.
  void take(std::string_view candidate);
  /// "; did you mean nn.dense?", or nothing to say.
  std::string text(std::string_view sigil = {}) const;

 private:
  std::string_view name_;
  std::string best_;
  size_t bestDistance_ = SIZE_MAX;
};

enum class NameKind { Global, Type, Constructor };

/// Whether `import "prelude"` would define the name.
bool isInPrelude(NameKind kind, std::string_view name);

}  // namespace baton::frontend
