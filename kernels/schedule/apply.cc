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

namespace {

/// Kinds that say how a loop runs, and leave it where it is.
bool isAboutKind(Kind kind) {
  return kind == Kind::Vectorize || kind == Kind::Unroll || kind == Kind::Parallel;
}

Error inContext(Error error, const Primitive& primitive) {
  std::string text = print(Schedule{primitive});
  text.pop_back();
  return std::move(error).withContext(text);
}

/// `isChecked`: the kernel is verified after each primitive, so that an error is that of the first to blame.
Result<void> applyTo(loop::Kernel& kernel, const Schedule& schedule, bool isChecked) {
  Editor editor(kernel);
  for (const Primitive& primitive : schedule) {
    if (std::optional<std::string> problem = problemOfForm(primitive))
      return inContext(refused(*std::move(problem)), primitive);
    Result<void> done = kFunctions[static_cast<size_t>(primitive.kind)](editor, primitive);
    if (!done.has_value()) return inContext(std::move(done).assume_error(), primitive);
    if (!isAboutKind(primitive.kind)) editor.reindex();
    if (!isChecked) continue;
    // What loops of each kind may hold is the verifier's to say.
    const Result<void> verified = loop::verify(kernel);
    if (!verified.has_value()) return inContext(refused(verified.assume_error().message()), primitive);
  }
  return success();
}

}  // namespace

Result<loop::Kernel> apply(loop::Kernel kernel, const Schedule& schedule) {
  loop::Kernel scheduled = kernel;
  BATON_TRY(applyTo(scheduled, schedule, false));
  if (loop::verify(scheduled).has_value()) return scheduled;
  BATON_TRY(applyTo(kernel, schedule, true));
  return kernel;
}

}  // namespace baton::schedule
