// Handlers of buffer accesses and the reductions' steps.
//   load:  dst = buffer a [b, c] (ranks up to 2), or [lists x .. x + y)
//   store: buffer a [b, c] = dst
#include <cstring>

#include "base/error.h"
#include "kernels/loop/interpreter_program.h"
#include "kernels/loop/scalar_semantics.h"

namespace baton::loop {

namespace {

const Instruction* outOfRange(Frame& frame, int64_t index, int64_t extent, uint32_t buffer, uint32_t axis) {
  const int64_t values[] = {index, extent, buffer, axis};
  return failRun(frame, InterpretedKernel::kIndexOutOfRange, values, 4);
}

/// Finds the element and calls `access` with its address, or fails the run.
template <int kRank, class Access>
const Instruction* withElement(Frame& frame, const Instruction* i, size_t sizeBytes, Access access) {
  const BufferView& buffer = frame.buffers[i->a];
  uint64_t offset = 0;
  if constexpr (kRank == 1) {
    offset = frame.registers[i->b];
    if (offset >= static_cast<uint64_t>(buffer.extents[0])) [[unlikely]]
      return outOfRange(frame, static_cast<int64_t>(offset), buffer.extents[0], i->a, 0);
  } else if constexpr (kRank == 2) {
    const uint64_t row = frame.registers[i->b];
    const uint64_t column = frame.registers[i->c];
    if (row >= static_cast<uint64_t>(buffer.extents[0])) [[unlikely]]
      return outOfRange(frame, static_cast<int64_t>(row), buffer.extents[0], i->a, 0);
    if (column >= static_cast<uint64_t>(buffer.extents[1])) [[unlikely]]
      return outOfRange(frame, static_cast<int64_t>(column), buffer.extents[1], i->a, 1);
    offset = row * static_cast<uint64_t>(buffer.extents[1]) + column;
  } else {
    for (uint32_t axis = 0; axis < i->y; ++axis) {
      const uint64_t index = frame.registers[frame.lists[i->x + axis]];
      const auto extent = static_cast<uint64_t>(buffer.extents[axis]);
      if (index >= extent) [[unlikely]]
        return outOfRange(frame, static_cast<int64_t>(index), buffer.extents[axis], i->a, axis);
      offset = offset * extent + index;
    }
  }
  access(buffer.data + offset * sizeBytes);
  return i + 1;
}

template <class T, int kRank>
const Instruction* load(Frame& frame, const Instruction* i) {
  return withElement<kRank>(frame, i, sizeof(T), [&](const std::byte* address) {
    if constexpr (std::is_same_v<T, bool>) {
      frame.registers[i->dst] = static_cast<uint8_t>(*address) != 0;
    } else {
      T value;
      std::memcpy(&value, address, sizeof value);
      frame.registers[i->dst] = scalarBits(value);
    }
  });
}
template <class T, int kRank>
const Instruction* store(Frame& frame, const Instruction* i) {
  return withElement<kRank>(frame, i, sizeof(T), [&](std::byte* address) {
    const T value = scalarFromBits<T>(frame.registers[i->dst]);
    std::memcpy(address, &value, sizeof value);
  });
}

template <class Operation>
Handler forRank(DType type, size_t rank, Operation operation) {
  return dispatchDType(type, [&](auto tag) -> Handler {
    if (rank == 1) return operation(tag, std::integral_constant<int, 1>());
    if (rank == 2) return operation(tag, std::integral_constant<int, 2>());
    return operation(tag, std::integral_constant<int, -1>());
  });
}

// ---- reductions: `a` is the accumulator, `b` the value; handlers of one kind are three,
// chosen by `y`: 0 begins, 1 takes the value, 2 writes the result to `dst`.

enum : uint32_t { kBegin = 0, kTake = 1, kFinish = 2 };

template <class T, class Combine>
OrderedReduction<T, Combine>& ordered(Accumulator& accumulator) {
  if constexpr (std::is_same_v<T, float>) {
    if constexpr (std::is_same_v<Combine, Plus>)
      return accumulator.floatSum;
    else
      return accumulator.floatProduct;
  } else {
    if constexpr (std::is_same_v<Combine, Plus>)
      return accumulator.doubleSum;
    else
      return accumulator.doubleProduct;
  }
}

template <class T, class Combine>
const Instruction* orderedStep(Frame& frame, const Instruction* i) {
  OrderedReduction<T, Combine>& reduction = ordered<T, Combine>(frame.accumulators[i->a]);
  if (i->y == kBegin)
    reduction.reset();
  else if (i->y == kTake)
    reduction.add(scalarFromBits<T>(frame.registers[i->b]));
  else
    frame.registers[i->dst] = scalarBits(reduction.finish());
  return i + 1;
}

/// Reductions for which order does not matter.
template <class T, ReduceOp kOp>
const Instruction* anyOrderStep(Frame& frame, const Instruction* i) {
  Accumulator& state = frame.accumulators[i->a];
  if (i->y == kFinish) {
    frame.registers[i->dst] = state.value;
    return i + 1;
  }
  if (i->y == kBegin) {
    using Limits = std::numeric_limits<T>;
    T identity{};
    if constexpr (kOp == ReduceOp::Prod) identity = T{1};
    if constexpr (kOp == ReduceOp::All) identity = true;
    if constexpr (kOp == ReduceOp::Max)
      identity = Limits::has_infinity ? static_cast<T>(-Limits::infinity()) : Limits::lowest();
    if constexpr (kOp == ReduceOp::Min) identity = Limits::has_infinity ? Limits::infinity() : Limits::max();
    state.value = scalarBits(identity);
    return i + 1;
  }
  const T so = scalarFromBits<T>(state.value);
  const T x = scalarFromBits<T>(frame.registers[i->b]);
  T result{};
  if constexpr (kOp == ReduceOp::Sum) result = wrapAdd(so, x);
  if constexpr (kOp == ReduceOp::Prod) result = wrapMul(so, x);
  if constexpr (kOp == ReduceOp::Max) result = maximum(so, x);
  if constexpr (kOp == ReduceOp::Min) result = minimum(so, x);
  if constexpr (kOp == ReduceOp::All) result = static_cast<T>(so && x);
  if constexpr (kOp == ReduceOp::Any) result = static_cast<T>(so || x);
  state.value = scalarBits(result);
  return i + 1;
}

template <class T, bool kMax>
const Instruction* argStep(Frame& frame, const Instruction* i) {
  Accumulator& state = frame.accumulators[i->a];
  if (i->y == kFinish) {
    frame.registers[i->dst] = static_cast<uint64_t>(state.bestIndex);
    return i + 1;
  }
  if (i->y == kBegin) {
    state.bestIndex = 0;
    state.count = 0;
    return i + 1;
  }
  const T x = scalarFromBits<T>(frame.registers[i->b]);
  const T best = scalarFromBits<T>(state.value);
  // The first NaN wins for good; -0 and +0 are equal here.
  if (state.count == 0 || (best == best && (x != x || (kMax ? best < x : x < best)))) {
    state.value = scalarBits(x);
    state.bestIndex = state.count;
  }
  ++state.count;
  return i + 1;
}

template <ReduceOp kOp>
Handler anyOrderFor(DType type) {
  return dispatchDType(type, [](auto tag) -> Handler {
    using T = typename decltype(tag)::type;
    if constexpr (std::is_arithmetic_v<T>)
      return anyOrderStep<T, kOp>;
    else
      return nullptr;
  });
}
template <ReduceOp kOp>
Handler integerFor(DType type) {
  return dispatchDType(type, [](auto tag) -> Handler {
    using T = typename decltype(tag)::type;
    if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>)
      return anyOrderStep<T, kOp>;
    else
      return nullptr;
  });
}
template <bool kMax>
Handler argFor(DType type) {
  return dispatchDType(type, [](auto tag) -> Handler {
    using T = typename decltype(tag)::type;
    if constexpr (std::is_arithmetic_v<T>)
      return argStep<T, kMax>;
    else
      return nullptr;
  });
}

}  // namespace

Handler loadHandler(DType type, size_t rank) {
  return forRank(type, rank, [](auto tag, auto kRank) -> Handler {
    return load<typename decltype(tag)::type, decltype(kRank)::value>;
  });
}

Handler storeHandler(DType type, size_t rank) {
  return forRank(type, rank, [](auto tag, auto kRank) -> Handler {
    return store<typename decltype(tag)::type, decltype(kRank)::value>;
  });
}

Handler reduceHandler(ReduceOp op, DType type) {
  switch (op) {
    case ReduceOp::Sum:
      if (type == DType::F32) return orderedStep<float, Plus>;
      if (type == DType::F64) return orderedStep<double, Plus>;
      return integerFor<ReduceOp::Sum>(type);
    case ReduceOp::Prod:
      if (type == DType::F32) return orderedStep<float, Times>;
      if (type == DType::F64) return orderedStep<double, Times>;
      return integerFor<ReduceOp::Prod>(type);
    case ReduceOp::Max: return anyOrderFor<ReduceOp::Max>(type);
    case ReduceOp::Min: return anyOrderFor<ReduceOp::Min>(type);
    case ReduceOp::ArgMax: return argFor<true>(type);
    case ReduceOp::ArgMin: return argFor<false>(type);
    case ReduceOp::All: return anyOrderStep<bool, ReduceOp::All>;
    case ReduceOp::Any: return anyOrderStep<bool, ReduceOp::Any>;
  }
  return nullptr;
}

}  // namespace baton::loop
