#include "benchmarks/vm_micro.h"

#include <memory>
#include <span>
#include <string_view>

#include <fmt/format.h>

#include "baton/baton.h"
#include "benchmarks/micro_programs.h"

namespace baton::benchmarks {

namespace {

/// An executable in memory with one context; runs its entry point "main(turns)".
class Machine {
 public:
  static Result<std::shared_ptr<Machine>> load(std::span<const std::byte> bytes) {
    auto machine = std::shared_ptr<Machine>(new Machine);
    baton_instance_options options = BATON_INSTANCE_OPTIONS_INIT;
    options.thread_count = 1;
    BATON_TRY(machine->check(baton_instance_create(&options, &machine->instance_)));
    BATON_TRY(machine->check(baton_executable_load_memory(machine->instance_, bytes.data(), bytes.size(),
                                                          nullptr, &machine->executable_)));
    BATON_TRY(machine->check(baton_context_create(machine->executable_, nullptr, &machine->context_)));
    BATON_TRY(machine->check(baton_call_create(
        machine->context_, baton_executable_find_function(machine->executable_, "main"), &machine->call_)));
    BATON_TRY(machine->run(1));
    return machine;
  }

  ~Machine() {
    baton_call_release(call_);
    baton_context_release(context_);
    baton_executable_release(executable_);
    baton_instance_release(instance_);
  }

  Result<void> run(int64_t turns) {
    baton_call_reset(call_);
    baton_value* value = nullptr;
    BATON_TRY(check(baton_value_create_scalar(instance_, BATON_I64, &turns, &value)));
    baton_status* status = baton_call_set_input(call_, 0, value);
    baton_value_release(value);
    BATON_TRY(check(status));
    return check(baton_call_run(call_));
  }

 private:
  Machine() = default;
  static Result<void> check(baton_status* status) {
    if (status == nullptr) return success();
    Error error(static_cast<ErrorCode>(baton_status_code(status)), baton_status_description(status));
    baton_status_release(status);
    return error;
  }

  baton_instance* instance_ = nullptr;
  baton_executable* executable_ = nullptr;
  baton_context* context_ = nullptr;
  baton_call* call_ = nullptr;
};

Result<Workload> workloadOf(std::string_view name, Result<std::vector<std::byte>> bytes) {
  BATON_TRY_ASSIGN(const std::vector<std::byte> executable, std::move(bytes));
  BATON_TRY_ASSIGN(std::shared_ptr<Machine> machine, Machine::load(executable));
  return Workload{std::string(name), [machine](uint64_t turns) {
                    const Result<void> result = machine->run(static_cast<int64_t>(turns));
                    BATON_CHECK(result.has_value());  // the same program has just run
                  }};
}

}  // namespace

Result<std::vector<MicroFigure>> microFigures() {
  std::vector<MicroFigure> figures;
  for (const MicroProgram& program : microPrograms()) {
    BATON_TRY_ASSIGN(Workload workload, workloadOf(program.what, program.build()));
    figures.push_back({program.id, program.what, program.most, std::move(workload), program.itemsPerTurn,
                       program.overheadInstructions});
  }
  return figures;
}

}  // namespace baton::benchmarks
