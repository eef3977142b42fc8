// Makes the hashes of a damaged container right again, so that the damage reaches the code
// behind the check of hashes.
#pragma once

#include <cstddef>
#include <span>

namespace baton::bytecode {

/// Does what it can with bytes that are no container.
void rehash(std::span<std::byte> file);

}  // namespace baton::bytecode
