#include <fmt/format.h>

#include "kernels/loop/verifier.h"
#include "kernels/schedule/primitives.h"

namespace baton::schedule {

namespace {

using Function = Result<void> (*)(Editor&, const Primitive&);
constexpr Function kFunctions[kKindCount] = {split,      fuse,     reorder,       tile,      vectorize,
                                             unroll,     parallel, computeInline, computeAt, cacheRead,
                                             cacheWrite, rfactor,  pack,          tensorize, transpose};

}  // namespace

Error refused(std::string message) { return Error(ErrorCode::InvalidArgument, std::move(message)); }

Result<loop::Kernel> apply(loop::Kernel kernel, const Schedule& schedule) {
  for (const Primitive& primitive : schedule) {
    if (std::optional<std::string> problem = problemOfForm(primitive)) return refused(*std::move(problem));
    Editor editor(kernel);
    Result<void> done = kFunctions[static_cast<size_t>(primitive.kind)](editor, primitive);
    if (done.has_value()) {
      // What loops of each kind may hold is the verifier's to say.
      const Result<void> verified = loop::verify(kernel);
      if (!verified.has_value()) done = refused(verified.assume_error().message());
    }
    if (!done.has_value()) {
      std::string text = print(Schedule{primitive});
      text.pop_back();
      return std::move(done).assume_error().withContext(text);
    }
  }
  return kernel;
}

}  // namespace baton::schedule
