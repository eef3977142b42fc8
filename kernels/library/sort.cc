// sort, argsort and topk along the middle one of three axes. Equal values stay in order, the one
// with the lower index first, upwards and downwards; so entries of a value's key and its index are
// never equal, and any way of sorting them gives the same.

#include <algorithm>
#include <array>
#include <utility>

#include "kernels/library/families.h"
#include "kernels/library/sort_key.h"

namespace baton::library {

namespace {

/// A key of 64 bits and an index.
struct WideEntry {
  uint64_t key;
  int64_t index;
  friend auto operator<=>(const WideEntry&, const WideEntry&) = default;
};
/// A key of 32 bits above an index of 32: one comparison.
struct NarrowEntry {
  uint64_t bits;
  friend auto operator<=>(const NarrowEntry&, const NarrowEntry&) = default;
};
constexpr int64_t kMostNarrow = int64_t{1} << 32;
/// So many entries are sorted by bytes: for fewer, the tables are more work.
constexpr int64_t kWorthTables = 4096;

WideEntry entryOf(WideEntry*, uint64_t key, int64_t index) { return {key, index}; }
NarrowEntry entryOf(NarrowEntry*, uint64_t key, int64_t index) {
  return {key << 32 | static_cast<uint64_t>(index)};
}
int64_t indexOf(const WideEntry& entry) { return entry.index; }
int64_t indexOf(const NarrowEntry& entry) { return static_cast<int64_t>(entry.bits & UINT32_MAX); }

constexpr int keyBytes(const WideEntry*) { return 8; }
constexpr int keyBytes(const NarrowEntry*) { return 4; }
size_t keyByte(const WideEntry& entry, int byte) { return entry.key >> (8 * byte) & 0xff; }
size_t keyByte(const NarrowEntry& entry, int byte) { return entry.bits >> (32 + 8 * byte) & 0xff; }

/// Entries in the order of their indices, by the bytes of their keys, least significant first; bytes
/// that all keys share are passed over. `spare` has room for as many.
template <class Entry>
void sortByBytes(Entry* entries, Entry* spare, int64_t count) {
  constexpr int kBytes = keyBytes(static_cast<Entry*>(nullptr));
  std::array<std::array<int64_t, 256>, kBytes> counts{};
  for (int64_t i = 0; i < count; ++i)
    for (int byte = 0; byte < kBytes; ++byte) ++counts[byte][keyByte(entries[i], byte)];
  Entry* from = entries;
  Entry* to = spare;
  for (int byte = 0; byte < kBytes; ++byte) {
    std::array<int64_t, 256>& places = counts[byte];
    if (places[keyByte(from[0], byte)] == count) continue;
    int64_t place = 0;
    for (int64_t& each : places) place += std::exchange(each, place);
    for (int64_t i = 0; i < count; ++i) to[places[keyByte(from[i], byte)]++] = from[i];
    std::swap(from, to);
  }
  if (from != entries) std::copy(from, from + count, entries);
}

/// Columns of (outer, count, inner) that are sorted, of which the first `kept` are wanted.
struct Columns {
  int64_t outer;
  int64_t count;
  int64_t inner;
  int64_t kept;
  bool isAscending;
};

/// Calls `keep(column, position, index)` for the first of each column, in order.
template <class Entry, class T, class Keep>
int32_t sortColumns(const BatonKernelContext* ctx, const Columns& columns, const T* data, const Keep& keep) {
  struct Closure {
    const Columns& columns;
    const T* data;
    const Keep& keep;
    Entry* entries;
  };
  const auto body = [](const BatonKernelContext*, void* opaque, int64_t begin, int64_t end) -> int32_t {
    const Closure& closure = *static_cast<const Closure*>(opaque);
    const Columns& columns = closure.columns;
    for (int64_t column = begin; column < end; ++column) {
      Entry* entries = closure.entries + 2 * column * columns.count;
      const T* source =
          closure.data + column / columns.inner * columns.count * columns.inner + column % columns.inner;
      for (int64_t i = 0; i < columns.count; ++i) {
        const SortKey<T> key = sortKey(source[i * columns.inner]);
        entries[i] = entryOf(entries, columns.isAscending ? key : static_cast<SortKey<T>>(~key), i);
      }
      if (columns.kept < columns.count) {
        std::nth_element(entries, entries + columns.kept, entries + columns.count);
        std::sort(entries, entries + columns.kept);
      } else if (columns.count < kWorthTables) {
        std::sort(entries, entries + columns.count);
      } else {
        sortByBytes(entries, entries + columns.count, columns.count);
      }
      for (int64_t i = 0; i < columns.kept; ++i) closure.keep(column, i, indexOf(entries[i]));
    }
    return BATON_KERNEL_OK;
  };
  const int64_t columnCount = columns.outer * columns.inner;
  auto* entries = static_cast<Entry*>(
      ctx->scratch(ctx, static_cast<uint64_t>(2 * columnCount * columns.count) * sizeof(Entry)));
  if (entries == nullptr) return BATON_KERNEL_OUT_OF_MEMORY;
  Closure closure{columns, data, keep, entries};
  constexpr int64_t kWorthAThread = 4096;
  const int64_t grain = std::max<int64_t>(kWorthAThread / columns.count, 1);
  return ctx->parallel_for(ctx, columnCount, grain, body, &closure);
}

template <class T, class Keep>
int32_t sortAny(const BatonKernelContext* ctx, const Columns& columns, const void* data, const Keep& keep) {
  if (columns.outer == 0 || columns.inner == 0 || columns.kept == 0) return BATON_KERNEL_OK;
  const T* values = static_cast<const T*>(data);
  if constexpr (sizeof(SortKey<T>) == 4)
    if (columns.count <= kMostNarrow) return sortColumns<NarrowEntry>(ctx, columns, values, keep);
  return sortColumns<WideEntry>(ctx, columns, values, keep);
}

/// Where the entry of a column goes in an output of (outer, kept, inner).
int64_t placeOf(const Columns& columns, int64_t column, int64_t position) {
  return (column / columns.inner * columns.kept + position) * columns.inner + column % columns.inner;
}
template <class T>
const T& valueAt(const Columns& columns, const void* data, int64_t column, int64_t index) {
  return static_cast<const T*>(
      data)[(column / columns.inner * columns.count + index) * columns.inner + column % columns.inner];
}

// Scalars: outer, count, inner, (kept,) isAscending.
template <class T>
int32_t sortKernel(const BatonKernelContext* ctx, void* const* buffers, int64_t* scalars) {
  const Columns columns{scalars[0], scalars[1], scalars[2], scalars[1], scalars[3] != 0};
  T* result = static_cast<T*>(buffers[1]);
  return sortAny<T>(ctx, columns, buffers[0], [&](int64_t column, int64_t position, int64_t index) {
    result[placeOf(columns, column, position)] = valueAt<T>(columns, buffers[0], column, index);
  });
}
template <class T, class Index>
int32_t argsortKernel(const BatonKernelContext* ctx, void* const* buffers, int64_t* scalars) {
  const Columns columns{scalars[0], scalars[1], scalars[2], scalars[1], scalars[3] != 0};
  Index* result = static_cast<Index*>(buffers[1]);
  return sortAny<T>(ctx, columns, buffers[0], [&](int64_t column, int64_t position, int64_t index) {
    result[placeOf(columns, column, position)] = static_cast<Index>(index);
  });
}
template <class T, class Index>
int32_t topkKernel(const BatonKernelContext* ctx, void* const* buffers, int64_t* scalars) {
  const Columns columns{scalars[0], scalars[1], scalars[2], scalars[3], scalars[4] != 0};
  T* values = static_cast<T*>(buffers[1]);
  Index* indices = static_cast<Index*>(buffers[2]);
  return sortAny<T>(ctx, columns, buffers[0], [&](int64_t column, int64_t position, int64_t index) {
    const int64_t place = placeOf(columns, column, position);
    values[place] = valueAt<T>(columns, buffers[0], column, index);
    indices[place] = static_cast<Index>(index);
  });
}

DimExpr extent(uint32_t symbol) { return DimExpr::symbol(DimSymbol(symbol)); }

/// From (outer, count, inner) to results that have `kept` for the middle axis; the scalar inputs
/// say whether upwards, and how many are kept.
KernelDescriptor describe(std::string_view algorithm, DType data, std::initializer_list<DType> results,
                          bool isTop) {
  KernelDescriptor descriptor;
  std::vector<DType> tensors{data};
  tensors.insert(tensors.end(), results);
  descriptor.name = kernelName(algorithm, tensors);
  const auto symbol = [&](std::string name, uint32_t operand, uint32_t axis) {
    descriptor.symbols.push_back({std::move(name), KernelSymbol::From::Operand, operand, axis});
  };
  symbol("outer", 0, 0);
  symbol("count", 0, 1);
  symbol("inner", 0, 2);
  if (isTop) descriptor.symbols.push_back({"kept", KernelSymbol::From::Scalar, 1, 0});
  const auto operand = [](DType dtype, DimExpr middle) {
    KernelOperand result;
    result.dtype = dtype;
    result.alignmentBytes = static_cast<uint32_t>(sizeBytes(dtype));
    result.extents = {extent(0), std::move(middle), extent(2)};
    return result;
  };
  descriptor.inputs.push_back(operand(data, extent(1)));
  for (const DType dtype : results) descriptor.outputs.push_back(operand(dtype, extent(isTop ? 3 : 1)));
  descriptor.scalarInputs = {DType::Bool};
  if (isTop) {
    descriptor.scalarInputs.push_back(DType::I64);
    descriptor.constraints.push_back({extent(3), Relation::Le, extent(1)});
  }
  return descriptor;
}

}  // namespace

void addSortKernels(std::vector<LibraryKernel>& kernels) {
  for (int i = 0; i < kDTypeCount; ++i) {
    const DType data = static_cast<DType>(i);
    dispatchDType(data, [&](auto tag) {
      using T = typename decltype(tag)::type;
      kernels.push_back({describe("sort", data, {data}, false), sortKernel<T>});
      kernels.push_back({describe("argsort", data, {DType::I32}, false), argsortKernel<T, int32_t>});
      kernels.push_back({describe("argsort", data, {DType::I64}, false), argsortKernel<T, int64_t>});
      kernels.push_back({describe("topk", data, {data, DType::I32}, true), topkKernel<T, int32_t>});
      kernels.push_back({describe("topk", data, {data, DType::I64}, true), topkKernel<T, int64_t>});
    });
  }
}

}  // namespace baton::library
