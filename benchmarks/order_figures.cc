#include "benchmarks/order_figures.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "benchmarks/native_kernel.h"
#include "benchmarks/random_data.h"
#include "kernels/library/library.h"

namespace baton::benchmarks {

namespace {

struct Shape {
  int64_t rows;
  int64_t columns;
};

Result<const library::LibraryKernel*> libraryKernel(const char* name) {
  const library::LibraryKernel* const kernel = library::findKernel(name);
  if (kernel == nullptr) return Error(ErrorCode::Unsupported, fmt::format("no kernel {}", name));
  return kernel;
}

/// Ours to the other, sampled in turn: the other is the limit.
Result<std::vector<Row>> compare(const std::string& id, const std::string& what, const Workload& ours,
                                 const Workload& other, const Settings& settings) {
  const Workload workload[] = {ours};
  Row row = rowOf(id, what, sampleRounds(workload, other, settings.sampling()),
                  [](const Round& r) { return r.workloads[0] / r.limit; });
  row.bar = Bar::AtMost;
  row.limit = 1.5;
  return std::vector<Row>{row};
}

Result<std::vector<Row>> measureSort(const std::string& id, const std::string& what, Shape shape,
                                     const Settings& settings) {
  BATON_TRY_ASSIGN(const library::LibraryKernel* kernel, libraryKernel("sort.f32.f32"));
  const size_t bytes = static_cast<size_t>(shape.rows * shape.columns) * sizeof(float);
  const Memory data(bytes);
  const Memory ours(bytes);
  const Memory other(bytes);
  fillFloats(data.as<float>(), settings.seed);
  SerialContext context;
  const Workload sort{"sort", [&](uint64_t runs) {
                        for (uint64_t i = 0; i < runs; ++i) {
                          void* const buffers[] = {data.data(), ours.data()};
                          int64_t scalars[] = {shape.rows, shape.columns, 1, 1};
                          BATON_CHECK(kernel->function(context.get(), buffers, scalars) == BATON_KERNEL_OK);
                          context.reset();
                        }
                      }};
  const Workload standard{"std::stable_sort", [&](uint64_t runs) {
                            for (uint64_t i = 0; i < runs; ++i) {
                              std::memcpy(other.data(), data.data(), bytes);
                              float* row = other.as<float>().data();
                              for (int64_t r = 0; r < shape.rows; ++r, row += shape.columns)
                                std::stable_sort(row, row + shape.columns);
                            }
                          }};
  sort.run(1);
  standard.run(1);
  if (std::memcmp(ours.data(), other.data(), bytes) != 0)
    return Error(ErrorCode::Internal, id + ": not what std::stable_sort gives");
  return compare(id, what, sort, standard, settings);
}

Result<std::vector<Row>> measureTopk(const std::string& id, const std::string& what, Shape shape,
                                     int64_t kept, const Settings& settings) {
  BATON_TRY_ASSIGN(const library::LibraryKernel* kernel, libraryKernel("topk.f32.f32.i32"));
  const auto count = static_cast<size_t>(shape.rows * kept);
  const Memory data(static_cast<size_t>(shape.rows * shape.columns) * sizeof(float));
  const Memory values(count * sizeof(float));
  const Memory indices(count * sizeof(int32_t));
  fillFloats(data.as<float>(), settings.seed);
  SerialContext context;
  const Workload topk{"topk", [&](uint64_t runs) {
                        for (uint64_t i = 0; i < runs; ++i) {
                          void* const buffers[] = {data.data(), values.data(), indices.data()};
                          int64_t scalars[] = {shape.rows, shape.columns, 1, kept, 0, kept};
                          BATON_CHECK(kernel->function(context.get(), buffers, scalars) == BATON_KERNEL_OK);
                          context.reset();
                        }
                      }};
  using Entry = std::pair<float, int32_t>;
  std::vector<Entry> entries(static_cast<size_t>(shape.columns));
  std::vector<Entry> chosen(count);
  const Workload standard{"std::nth_element", [&](uint64_t runs) {
                            const auto isBefore = [](const Entry& a, const Entry& b) {
                              return a.first > b.first || (a.first == b.first && a.second < b.second);
                            };
                            for (uint64_t i = 0; i < runs; ++i)
                              for (int64_t r = 0; r < shape.rows; ++r) {
                                const float* const row = data.as<float>().data() + r * shape.columns;
                                for (int64_t c = 0; c < shape.columns; ++c)
                                  entries[static_cast<size_t>(c)] = {row[c], static_cast<int32_t>(c)};
                                std::nth_element(entries.begin(), entries.begin() + kept, entries.end(),
                                                 isBefore);
                                std::sort(entries.begin(), entries.begin() + kept, isBefore);
                                std::copy_n(entries.begin(), kept, chosen.begin() + r * kept);
                              }
                          }};
  topk.run(1);
  standard.run(1);
  for (size_t i = 0; i < count; ++i)
    if (chosen[i] != Entry(values.as<float>()[i], indices.as<int32_t>()[i]))
      return Error(ErrorCode::Internal, id + ": not what std::nth_element gives");
  return compare(id, what, topk, standard, settings);
}

}  // namespace

std::vector<Figure> orderFigures(const Settings& settings) {
  std::vector<Figure> figures;
  std::vector<Shape> shapes = {{64, 1000}, {1, 65536}, {1, 1 << 20}};
  if (settings.isSmoke) shapes = {{3, 100}};
  for (const Shape shape : shapes) {
    const std::string size = fmt::format("{}x{}", shape.rows, shape.columns);
    const std::string id = "kernels.sort." + size;
    const std::string what = fmt::format("sort of {} to std::stable_sort", size);
    figures.push_back({id, what, [=](const Settings& s) { return measureSort(id, what, shape, s); }});
    const std::string topId = "kernels.topk." + size;
    const std::string topWhat = fmt::format("topk of 16 of {} to std::nth_element", size);
    figures.push_back(
        {topId, topWhat, [=](const Settings& s) { return measureTopk(topId, topWhat, shape, 16, s); }});
  }
  return figures;
}

}  // namespace baton::benchmarks
