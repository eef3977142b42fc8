// Whether two parsed modules are the same program.
#pragma once

#include <string>

#include "compiler/ir/ir.h"

namespace baton::run {

/// The first difference, or nothing. Variables, symbols and type parameters correspond by where they
/// are bound; names of variables need not be equal, since printing tells equal ones apart.
std::string difference(const ir::Module& a, const ir::Module& b);

}  // namespace baton::run
