#include "kernels/csource/csource.h"

#include <algorithm>
#include <cctype>
#include <set>

#include <fmt/format.h>

#include "kernels/csource/function_writer.h"

namespace baton::csource {

Source printSource(std::span<const loop::Kernel> kernels) {
  Source source{kSupport, {}};
  std::set<std::string> taken;
  for (const loop::Kernel& kernel : kernels) {
    std::string name = "kernel_" + kernel.descriptor.name;
    std::replace_if(name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
    // Names that differ in other characters only, or that are empty, are told apart by a number.
    if (!taken.insert(name).second) {
      name += fmt::format("_{}", source.functions.size());
      taken.insert(name);
    }
    source.text += "\n" + writeKernel(kernel, name);
    source.functions.push_back(name);
  }
  return source;
}

}  // namespace baton::csource
