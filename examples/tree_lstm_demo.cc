// Runs the compiled Tree-LSTM over parse trees and prints a table: a small embedding program
// on the C interface. Words are random vectors, made from a seed.
//
//   tree-lstm-demo [EXECUTABLE [TREES [COUNT]]]
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "baton/baton.h"

namespace {

/// The demo has nothing to clean up when something fails: it says why and ends.
void require(baton_status* status) {
  if (status == nullptr) return;
  std::fprintf(stderr, "tree-lstm-demo: %s\n", baton_status_description(status));
  baton_status_release(status);
  std::exit(1);
}

class Sentences {
 public:
  Sentences(baton_instance* instance, const baton_type* type)
      : instance_(instance), type_(type), generator_(1) {}

  struct Built {
    baton_value* value;
    int words;
    int depth;
  };

  /// A value from a shape: "L" is a word, "(ab)" a phrase of two parts. No recursion: a
  /// chain of a thousand words is as good as a balanced tree.
  Built build(const std::string& shape) {
    std::vector<Built> parts;
    for (const char c : shape) {
      if (c == 'L') {
        parts.push_back({word(), 1, 1});
      } else if (c == ')') {
        const Built right = parts.back();
        parts.pop_back();
        const Built left = parts.back();
        parts.pop_back();
        baton_value* fields[] = {left.value, right.value};
        baton_value* phrase = nullptr;
        require(baton_value_create_adt(instance_, type_, /*constructor=*/1, fields, 2, &phrase));
        baton_value_release(left.value);
        baton_value_release(right.value);
        parts.push_back({phrase, left.words + right.words, 1 + std::max(left.depth, right.depth)});
      }
    }
    return parts.back();
  }

 private:
  baton_value* word() {
    constexpr int64_t kSize = 300;
    float vector[kSize];
    for (float& x : vector) x = static_cast<float>(generator_() >> 40) * 0x1p-23f - 1.0f;
    baton_value* tensor = nullptr;
    require(baton_value_create_tensor(instance_, BATON_F32, 1, &kSize, vector, sizeof vector, &tensor));
    baton_value* leaf = nullptr;
    require(baton_value_create_adt(instance_, type_, /*constructor=*/0, &tensor, 1, &leaf));
    baton_value_release(tensor);
    return leaf;
  }

  baton_instance* instance_;
  const baton_type* type_;
  std::mt19937_64 generator_;
};

}  // namespace

int main(int argc, char** argv) {
  const std::string executablePath = argc > 1 ? argv[1] : BATON_DEMO_EXECUTABLE;
  const std::string treesPath = argc > 2 ? argv[2] : BATON_DEMO_TREES;
  const size_t count = argc > 3 ? std::strtoul(argv[3], nullptr, 10) : 500;

  baton_instance* instance = nullptr;
  require(baton_instance_create(nullptr, &instance));
  baton_executable* executable = nullptr;
  require(baton_executable_load_file(instance, executablePath.c_str(), nullptr, &executable));
  const baton_function* encode = baton_executable_find_function(executable, "main");
  std::printf("%s: %s\n", executablePath.c_str(), baton_function_signature(encode));

  std::ifstream file(treesPath);
  if (!file) {
    std::fprintf(stderr, "tree-lstm-demo: cannot open %s\n", treesPath.c_str());
    return 1;
  }
  baton_context* context = nullptr;
  require(baton_context_create(executable, nullptr, &context));
  baton_call* call = nullptr;
  require(baton_call_create(context, encode, &call));

  struct Row {
    int trees = 0;
    int words = 0;
    int deepest = 0;
    double microseconds = 0;
  };
  std::map<int, Row> rows;  // by number of words, ten to a row
  Row total;
  Sentences sentences(instance, baton_function_parameter_type(encode, 0));
  double first = 0;
  double checksum = 0;
  std::string shape;
  while (static_cast<size_t>(total.trees) < count && std::getline(file, shape)) {
    if (shape.empty()) continue;
    const Sentences::Built sentence = sentences.build(shape);
    baton_call_reset(call);
    require(baton_call_set_input(call, 0, sentence.value));
    baton_value_release(sentence.value);
    const auto start = std::chrono::steady_clock::now();
    require(baton_call_run(call));
    const double microseconds =
        std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count();
    baton_value* root = nullptr;
    require(baton_call_result(call, &root));
    for (size_t i = 0; i < baton_value_size_bytes(root) / sizeof(float); ++i)
      checksum += static_cast<const float*>(baton_value_data(root))[i];
    baton_value_release(root);
    if (total.trees == 0) first = microseconds;
    for (Row* row : {&rows[(sentence.words - 1) / 10], &total}) {
      ++row->trees;
      row->words += sentence.words;
      row->deepest = std::max(row->deepest, sentence.depth);
      row->microseconds += microseconds;
    }
  }
  baton_call_release(call);
  baton_context_release(context);

  std::printf("\n%-12s %8s %8s %8s %14s %14s\n", "words", "trees", "words", "deepest", "us per tree",
              "us per word");
  auto print = [](const std::string& label, const Row& row) {
    std::printf("%-12s %8d %8d %8d %14.1f %14.2f\n", label.c_str(), row.trees, row.words, row.deepest,
                row.microseconds / row.trees, row.microseconds / row.words);
  };
  for (const auto& [tens, row] : rows)
    print(std::to_string(10 * tens + 1) + " to " + std::to_string(10 * tens + 10), row);
  if (total.trees > 0) print("all", total);

  baton_memory_statistics memory = BATON_MEMORY_STATISTICS_INIT;
  baton_instance_memory_statistics(instance, &memory);
  std::printf(
      "\nfirst tree %.1f us; peak memory %.2f MiB in use, %.2f MiB reserved; %llu system allocations\n",
      first, static_cast<double>(memory.peak_in_use_bytes) / 1048576,
      static_cast<double>(memory.peak_reserved_bytes) / 1048576,
      static_cast<unsigned long long>(memory.system_allocation_count));
  std::printf("sum of all hidden states: %.6f\n", checksum);
  baton_executable_release(executable);
  baton_instance_release(instance);
  return 0;
}
