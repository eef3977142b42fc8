#include "compiler/lir/parallel_moves.h"

#include <unordered_map>

namespace baton::lir {

// Each step fills a destination that no pending move reads any more; when there is none, all
// pending moves form cycles, and one destination is saved in the spare register.
std::vector<RegisterMove> orderMoves(std::span<const RegisterMove> moves, uint16_t spare) {
  struct Source {
    uint32_t readers = 0;
    bool dies = false;
  };
  std::unordered_map<uint16_t, Source> sources;  // looked up only
  std::unordered_map<uint16_t, size_t> moveTo;
  std::vector<RegisterMove> pending;
  for (const RegisterMove& move : moves) {
    if (move.to == move.from) {
      sources[move.from].dies = false;
      ++sources[move.from].readers;  // the value stays: never the last reader
      continue;
    }
    pending.push_back(move);
  }
  for (size_t i = 0; i < pending.size(); ++i) {
    Source& source = sources[pending[i].from];
    ++source.readers;
    source.dies |= pending[i].fromDies;
    moveTo[pending[i].to] = i;
  }

  std::vector<RegisterMove> ordered;
  std::vector<bool> isDone(pending.size());
  std::vector<size_t> ready;
  const auto readersOf = [&](uint16_t reg) {
    const auto found = sources.find(reg);
    return found == sources.end() ? 0 : found->second.readers;
  };
  for (size_t i = 0; i < pending.size(); ++i)
    if (readersOf(pending[i].to) == 0) ready.push_back(i);
  for (size_t next = 0;;) {
    while (!ready.empty()) {
      const size_t i = ready.back();
      ready.pop_back();
      isDone[i] = true;
      Source& source = sources[pending[i].from];
      --source.readers;
      const bool isDestination = moveTo.contains(pending[i].from) && !isDone[moveTo[pending[i].from]];
      const bool isLast = source.readers == 0 && (source.dies || isDestination);
      ordered.push_back({pending[i].to, pending[i].from, isLast});
      if (source.readers == 0 && isDestination) ready.push_back(moveTo[pending[i].from]);
    }
    while (next < pending.size() && isDone[next]) ++next;
    if (next == pending.size()) return ordered;
    // A cycle: save the old value of this destination, and let its readers take it from there.
    const uint16_t saved = pending[next].to;
    ordered.push_back({spare, saved, true});
    sources[spare] = {sources[saved].readers, true};
    sources[saved].readers = 0;
    for (size_t i = 0; i < pending.size(); ++i)
      if (!isDone[i] && pending[i].from == saved) pending[i].from = spare;
    ready.push_back(next);
  }
}

}  // namespace baton::lir
