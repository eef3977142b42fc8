// Loop IR to C: one translation unit that any C11 compiler takes, with the binary interface of
// baton/kernel_abi.h and the bits of the interpreter. For targets that kernels/codegen has not, and as a
// second opinion of what it makes.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "kernels/loop/kernel.h"

namespace baton::csource {

struct Source {
  std::string text;
  /// Of the function of each kernel, in the order given: a BatonKernelFunction with external linkage.
  std::vector<std::string> functions;
};

/// The kernels must have passed loop::verify(). Compile the text with include/ in the path, and link it
/// with the mathematical library.
Source printSource(std::span<const loop::Kernel> kernels);

}  // namespace baton::csource
