#include "kernels/schedule/pattern.h"

#include <algorithm>

#include "kernels/schedule/accesses.h"

namespace baton::schedule {

std::optional<TransposedRead> transposedRead(const loop::Kernel& kernel, std::span<const std::string> loops) {
  Kernel copy = kernel;
  const Editor editor(copy);
  Nodes nest;
  for (const std::string& name : loops) {
    const Result<NodeId> loop = editor.loopNamed(name);
    if (!loop.has_value()) return std::nullopt;
    nest.push_back(loop.assume_value());
  }
  const auto grows = [&](const Affine& index, NodeId loop) {
    const auto found = index.terms.find(editor.varOf(loop));
    return found == index.terms.end() ? int64_t{0} : found->second;
  };
  std::optional<TransposedRead> across;
  for (const auto& [buffer, accesses] : accessesIn(editor, editor.bodyOf(nest.back())))
    for (const Access& access : accesses) {
      if (access.indices.empty()) continue;
      const Affine& last = access.indices.back();
      if (access.isStore && grows(last, nest.back()) != 1) return std::nullopt;
      const bool isAlongInner = grows(last, nest.back()) != 0;
      const bool usesInner = std::any_of(access.indices.begin(), access.indices.end(),
                                         [&](const Affine& index) { return grows(index, nest.back()) != 0; });
      if (access.isStore || isAlongInner || !usesInner) continue;
      for (size_t i = 0; i + 1 < nest.size(); ++i)
        if (!across && grows(last, nest[i]) == 1)
          across = TransposedRead{loops[i], sizeBytes(editor.node(access.node).type)};
    }
  return across;
}

}  // namespace baton::schedule
