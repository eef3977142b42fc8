#include "compiler/ops/lowering/default_schedule.h"

#include <algorithm>
#include <span>
#include <string>

#include "compiler/ops/lowering/product_nest.h"
#include "kernels/schedule/pattern.h"

namespace baton::ops {

using schedule::Kind;
using schedule::Schedule;

namespace {

/// What an extent that is not known is taken for.
constexpr int64_t kTypicalExtent = 256;
/// Rows at least this long pay for divisions that find their indices.
constexpr int64_t kLongRow = 128;

double costOf(const LoopNest& nest, size_t firstLoop) {
  double cost = std::max(nest.cost, 1.0);
  for (size_t i = firstLoop; i < nest.loops.size(); ++i)
    cost *= static_cast<double>(nest.loops[i].extent.value_or(kTypicalExtent));
  return cost;
}

/// One loop, in lanes; in pieces for threads when it may be long.
void scheduleRow(const LoopNest& nest, Schedule& out) {
  const LoopNest::Loop& loop = nest.loops[0];
  if (static_cast<double>(loop.extent.value_or(INT64_MAX)) * nest.cost < 2 * kPieceCost) {
    out.push_back({Kind::Vectorize, {loop.name}, {}, {}});
    return;
  }
  const auto piece = static_cast<int64_t>(std::max(kPieceCost / nest.cost / 64, 4.0)) * 64;
  const std::string outer = loop.name + "_outer";
  const std::string inner = loop.name + "_inner";
  out.push_back({Kind::Split, {loop.name}, {piece}, {outer, inner}});
  out.push_back({Kind::Vectorize, {inner}, {}, {}});
  out.push_back({Kind::Parallel, {outer}, {1}, {}});
}

/// How many of the outer loops run over threads, as one.
size_t parallelLoops(const LoopNest& nest) {
  const size_t count = nest.loops.size();
  if (nest.isRowWise) return nest.sharedLoops;
  size_t most = count - 1;
  if (count >= 3 && nest.loops.back().extent.value_or(kLongRow) < kLongRow) most = count - 2;
  return std::min(most, nest.sharedLoops);
}

/// Some loops, one in another, as one of them. From the innermost: what finds the index of an inner loop
/// then stands in no outer one.
std::string fuseAll(std::span<const std::string> loops, Schedule& out) {
  std::string name = loops.back();
  for (size_t i = loops.size() - 1; i-- > 0;) {
    std::string fused = loops[i] + "_" + name;
    out.push_back({Kind::Fuse, {loops[i], name}, {}, {fused}});
    name = std::move(fused);
  }
  return name;
}

/// A loop of so many iterations over threads, if it may be that there is enough to do.
void runParallel(const std::string& loop, std::optional<double> count, double cost, Schedule& out) {
  if (count && *count * cost < 2 * kPieceCost) return;
  const auto grain = static_cast<int64_t>(std::max(kPieceCost / cost, 1.0));
  out.push_back({Kind::Parallel, {loop}, {grain}, {}});
}

/// Iterations of the first loops; nothing where that is not known.
std::optional<double> countOf(const LoopNest& nest, size_t loops) {
  double count = 1;
  for (size_t i = 0; i < loops; ++i) {
    if (!nest.loops[i].extent) return std::nullopt;
    count *= static_cast<double>(*nest.loops[i].extent);
  }
  return count;
}

/// The first loops, as one of them, over threads; the last one in lanes.
void scheduleRows(const LoopNest& nest, size_t parallelCount, Schedule& out) {
  std::vector<std::string> outer;
  for (size_t i = 0; i < parallelCount; ++i) outer.push_back(nest.loops[i].name);
  const std::string rows = fuseAll(outer, out);
  if (!nest.isRowWise && parallelCount < nest.loops.size())
    out.push_back({Kind::Vectorize, {nest.loops.back().name}, {}, {}});
  runParallel(rows, countOf(nest, parallelCount), costOf(nest, parallelCount), out);
}

/// Elements along both sides of what is transposed at a time, which stays in the first cache; bytes of a row
/// of what is in registers.
constexpr int64_t kTransposedBlock = 64;
constexpr int64_t kTransposedBytes = 32;

/// What lies along a loop `across` in memory is read in squares, and written along the last one; blocks of
/// squares run over threads.
Schedule scheduleTransposed(const LoopNest& nest, const std::string& across, int64_t side) {
  Schedule out;
  const std::string& last = nest.loops.back().name;
  std::vector<std::string> order;
  for (const LoopNest::Loop& loop : nest.loops)
    if (loop.name != across && loop.name != last) order.push_back(loop.name);
  order.insert(order.end(), {across, last});
  const bool isInOrder = nest.loops[nest.loops.size() - 2].name == across;
  if (!isInOrder) out.push_back({Kind::Reorder, order, {}, {}});
  out.push_back({Kind::Tile,
                 {across, last},
                 {kTransposedBlock, kTransposedBlock},
                 {across + "_outer", last + "_outer", across + "_inner", last + "_inner"}});
  order.resize(order.size() - 2);
  order.insert(order.end(), {across + "_outer", last + "_outer"});
  runParallel(fuseAll(order, out), std::nullopt, nest.cost * kTransposedBlock * kTransposedBlock, out);
  out.push_back({Kind::Transpose, {across + "_inner", last + "_inner"}, {side}, {}});
  return out;
}

/// Rows of a register tile, and of one task: tasks of one panel follow on those of all others, so that each
/// panel is still at hand when all of its rows in the task are done.
constexpr int64_t kTileRows = 6;
constexpr int64_t kTaskRows = 16 * kTileRows;
/// Steps of sums after which the next rows have their turn, so that the panel and the rows they read stay
/// near. Of scattered rows, each element takes a line of the first cache.
constexpr int64_t kChunkSteps = 512;
constexpr int64_t kScatteredSteps = 64;

/// In steps of the outer loop; 0: all of them, where sums are not long enough to be put aside and taken up
/// again.
int64_t chunkOf(const LoopNest::Product& product) {
  const int64_t most = product.isLeftScattered ? kScatteredSteps : kChunkSteps;
  double inner = 1;
  for (size_t i = 1; i < product.steps.size(); ++i)
    inner *= static_cast<double>(product.steps[i].value_or(1));
  const double outer = static_cast<double>(product.steps[0].value_or(kTypicalExtent));
  if (outer * inner < 4.0 * static_cast<double>(most)) return 0;
  return std::max<int64_t>(static_cast<int64_t>(static_cast<double>(most) / inner), 1);
}

/// What runs over threads: parts of the rows of each panel, panels, or nothing. Where rows are positions that
/// a division takes apart, parts of them are not seen to be independent.
enum class ProductTasks : uint8_t { Rows, Panels, None };

Schedule scheduleProduct(const LoopNest& nest, VectorRegisters registers, ProductTasks kind) {
  Schedule out;
  const size_t rank = nest.loops.size();
  std::string row = nest.loops[rank - 1].name;
  const std::string& panel = nest.loops[rank - 2].name;
  const std::optional<int64_t> rows = nest.loops[rank - 1].extent;
  std::vector<std::string> outer;
  for (size_t i = 0; i + 2 < rank; ++i) outer.push_back(nest.loops[i].name);
  std::optional<double> tasks = countOf(nest, rank - 1);
  if (kind == ProductTasks::Rows && (!rows || *rows > kTaskRows)) {
    outer.push_back(row + "_outer");
    // Tasks of almost the same size, in whole tiles.
    const int64_t parts = rows ? (*rows - 1) / kTaskRows + 1 : 1;
    const int64_t tiles = rows ? ((*rows - 1) / parts) / kTileRows + 1 : kTaskRows / kTileRows;
    out.push_back({Kind::Split, {row}, {tiles * kTileRows}, {outer.back(), row + "_inner"}});
    row += "_inner";
    out.push_back({Kind::Reorder, {outer.back(), panel}, {}, {}});
    if (tasks && rows) tasks = *tasks * static_cast<double>(parts);
    if (!rows) tasks.reset();
  }
  outer.push_back(panel);
  const int64_t mostRows = kind == ProductTasks::Rows ? kTaskRows : INT64_MAX;
  const double rowsOfTask = static_cast<double>(std::min<int64_t>(rows.value_or(32), mostRows));
  if (kind != ProductTasks::None)
    runParallel(fuseAll(outer, out), tasks, std::max(nest.cost * rowsOfTask, 1.0), out);
  const int64_t lanes = std::max<int64_t>(registers.bytes / sizeBytes(nest.product->type), 1);
  const int64_t chunk =
      kind == ProductTasks::Rows && rows.value_or(kTaskRows) > kTileRows ? chunkOf(*nest.product) : 0;
  out.push_back({Kind::Tensorize, {row}, {kTileRows, lanes, registers.count, chunk}, {}});
  return out;
}

/// Nothing where no square fits, or where what some of the loops hold keeps them apart.
std::optional<Schedule> transposedSchedule(const loop::Kernel& kernel, const LoopNest& nest) {
  if (nest.isRowWise || nest.sharedLoops != nest.loops.size()) return std::nullopt;
  std::vector<std::string> names;
  for (const LoopNest::Loop& loop : nest.loops) names.push_back(loop.name);
  const std::optional<schedule::TransposedRead> read = schedule::transposedRead(kernel, names);
  if (!read) return std::nullopt;
  const int64_t side = std::clamp<int64_t>(kTransposedBytes / read->elementBytes, 4, 16);
  for (const LoopNest::Loop& loop : nest.loops)
    if ((loop.name == read->loop || loop.name == names.back()) && loop.extent.value_or(side) < side)
      return std::nullopt;
  return scheduleTransposed(nest, read->loop, side);
}

/// The last loops as one, in lanes, where rows are short and follow on each other in memory. The rest is as
/// of a nest with that loop.
std::optional<Schedule> contiguousSchedule(const loop::Kernel& kernel, const LoopNest& nest) {
  if (nest.isRowWise || nest.sharedLoops != nest.loops.size()) return std::nullopt;
  if (nest.loops.back().extent.value_or(kLongRow) >= kLongRow) return std::nullopt;
  std::vector<std::string> names;
  for (const LoopNest::Loop& loop : nest.loops) names.push_back(loop.name);
  const size_t count = schedule::contiguousLoops(kernel, names);
  if (count < 2) return std::nullopt;
  Schedule out;
  LoopNest flat = nest;
  while (flat.loops.size() > nest.loops.size() - count + 1) flat.loops.pop_back();
  LoopNest::Loop& last = flat.loops.back();
  for (size_t i = flat.loops.size(); i < nest.loops.size(); ++i) {
    const LoopNest::Loop& next = nest.loops[i];
    std::string fused = last.name + "_" + next.name;
    out.push_back({Kind::Fuse, {last.name, next.name}, {}, {fused}});
    last.name = std::move(fused);
    if (last.extent) last.extent = *last.extent * *next.extent;
  }
  flat.sharedLoops = flat.loops.size();
  if (flat.loops.size() == 1)
    scheduleRow(flat, out);
  else
    scheduleRows(flat, parallelLoops(flat), out);
  return out;
}

/// In the order of preference. What is checked between two loops keeps them apart, and the inner ones from
/// running over threads.
std::vector<Schedule> schedulesOf(const loop::Kernel& kernel, const LoopNest& nest,
                                  VectorRegisters registers) {
  std::vector<Schedule> all;
  if (nest.product) {
    for (const ProductTasks tasks : {ProductTasks::Rows, ProductTasks::Panels, ProductTasks::None})
      all.push_back(scheduleProduct(nest, registers, tasks));
    all.emplace_back();
    for (const std::string& columns : nest.product->columns)
      all.back().push_back({Kind::Vectorize, {columns}, {}, {}});
  } else if (nest.loops.size() == 1 && !nest.isRowWise) {
    all.emplace_back();
    scheduleRow(nest, all.back());
  } else {
    if (const std::optional<Schedule> transposed = transposedSchedule(kernel, nest))
      all.push_back(*transposed);
    if (const std::optional<Schedule> contiguous = contiguousSchedule(kernel, nest))
      all.push_back(*contiguous);
    const size_t most = parallelLoops(nest);
    for (size_t count = most; count > 0; count = count > 1 ? 1 : 0) {
      all.emplace_back();
      scheduleRows(nest, count, all.back());
    }
  }
  return all;
}

}  // namespace

Result<Schedule> defaultSchedule(const loop::Kernel& kernel, const std::vector<LoopNest>& nests,
                                 VectorRegisters registers) {
  // Mostly the first choice of every nest is legal.
  Schedule all;
  for (const LoopNest& nest : nests) {
    const Schedule first = schedulesOf(kernel, nest, registers)[0];
    all.insert(all.end(), first.begin(), first.end());
  }
  if (schedule::apply(kernel, all).has_value()) return all;
  all.clear();
  loop::Kernel scheduled = kernel;
  for (const LoopNest& nest : nests) {
    const std::vector<Schedule> choices = schedulesOf(scheduled, nest, registers);
    for (size_t i = 0;; ++i) {
      Result<loop::Kernel> next = schedule::apply(scheduled, choices[i]);
      if (!next.has_value() && i + 1 < choices.size()) continue;
      BATON_TRY_ASSIGN(scheduled, std::move(next));
      all.insert(all.end(), choices[i].begin(), choices[i].end());
      break;
    }
  }
  return all;
}

}  // namespace baton::ops
