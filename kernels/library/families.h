// What each file of algorithms adds to the library.
#pragma once

#include <vector>

#include "kernels/library/library.h"

namespace baton::library {

void addDetectionKernels(std::vector<LibraryKernel>& kernels);
void addSortKernels(std::vector<LibraryKernel>& kernels);
void addSuppressionKernels(std::vector<LibraryKernel>& kernels);

}  // namespace baton::library
