// Programs that are printed and read again.
#pragma once

#include <string>

#include "compiler/ir/ir.h"

namespace baton::run {

/// What is wrong with a module as it prints, which is a program, with names bound where they are used.
/// Types are found again as well where no pass has found more than typing does.
std::string errorsOfPrinted(const ir::Module& module, bool isTyped);

/// What was found when a program was printed and parsed again; nothing where it has errors of its own.
std::string printAndParse(const std::string& name, const std::string& text);

}  // namespace baton::run
