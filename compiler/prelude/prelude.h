// Modules of the language that come with the compiler, as text embedded at build time.
#pragma once

#include <optional>
#include <string_view>

namespace baton::prelude {

/// Text of the module that `import "name"` asks for, or nothing.
std::optional<std::string_view> find(std::string_view name);

}  // namespace baton::prelude
