// Loop IR as text. Printing is deterministic, and what is printed parses back to a kernel
// that prints the same.
#pragma once

#include <string>

#include "kernels/loop/kernel.h"

namespace baton::loop {

std::string print(const Kernel& kernel);

}  // namespace baton::loop
