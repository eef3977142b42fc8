// The primitives, each of which changes a kernel or says why it may not. Private to kernels/schedule.
#pragma once

#include <optional>
#include <string>

#include "kernels/schedule/editor.h"
#include "kernels/schedule/schedule.h"

namespace baton::schedule {

/// ErrorCode::InvalidArgument, in terms of the names that were given.
Error refused(std::string message);

/// What is wrong with the number of its parts: the other functions expect it to be right (text.cc).
std::optional<std::string> problemOfForm(const Primitive& primitive);

// loops.cc
Result<void> split(Editor& editor, const Primitive& primitive);
Result<void> fuse(Editor& editor, const Primitive& primitive);
Result<void> reorder(Editor& editor, const Primitive& primitive);
Result<void> tile(Editor& editor, const Primitive& primitive);
Result<void> vectorize(Editor& editor, const Primitive& primitive);
Result<void> unroll(Editor& editor, const Primitive& primitive);
Result<void> parallel(Editor& editor, const Primitive& primitive);
// What others need of them: a loop that still runs in order; the loops of a nest, from the outermost, in
// which the given ones are all. What stands between them moves into the innermost.
Result<NodeId> serialLoop(const Editor& editor, const std::string& name);
Result<Nodes> nestOf(Editor& editor, const Nodes& loops);
// stages.cc
Result<void> computeInline(Editor& editor, const Primitive& primitive);
Result<void> computeAt(Editor& editor, const Primitive& primitive);
// caches.cc
Result<void> cacheRead(Editor& editor, const Primitive& primitive);
Result<void> cacheWrite(Editor& editor, const Primitive& primitive);
Result<void> pack(Editor& editor, const Primitive& primitive);
// reductions.cc
Result<void> rfactor(Editor& editor, const Primitive& primitive);
// tensorize.cc, transpose.cc
Result<void> tensorize(Editor& editor, const Primitive& primitive);
Result<void> transpose(Editor& editor, const Primitive& primitive);

}  // namespace baton::schedule
