#include "benchmarks/vm_micro.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <span>

#include "baton/baton.h"
#include "benchmarks/limits.h"
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

Result<Workload> workloadOf(const MicroProgram& program) {
  BATON_TRY_ASSIGN(const std::vector<std::byte> executable, program.build());
  BATON_TRY_ASSIGN(std::shared_ptr<Machine> machine, Machine::load(executable));
  return Workload{program.what, [machine](uint64_t turns) {
                    const Result<void> result = machine->run(static_cast<int64_t>(turns));
                    BATON_CHECK(result.has_value());  // the same program has just run
                  }};
}

Result<Rounds> roundsOf(const MicroProgram& program, const Settings& settings) {
  BATON_TRY_ASSIGN(const Workload workload, workloadOf(program));
  // A run of a whole program is long: fewer of them say as much.
  SamplerOptions options = settings.sampling();
  options.sampleSeconds = std::min(options.sampleSeconds * 2, 0.02);
  if (program.itemsPerTurn > 10'000 && !settings.isSmoke) {
    options.samples = 7;
    options.maxAttempts = 60;
  }
  return sampleRounds({&workload, 1}, addAndBranchLoop(), options);
}

/// What a scalar instruction costs, measured when it is first needed.
class ScalarCost {
 public:
  explicit ScalarCost(const MicroProgram& program) : program_(program) {}

  Result<double> get(const Settings& settings) {
    if (!cost_) {
      BATON_TRY_ASSIGN(const Rounds rounds, roundsOf(program_, settings));
      const auto spread = spreadOf(rounds, [](const Round& r) { return r.workloads[0] / r.limit; });
      if (!spread)
        return Error(ErrorCode::Unsupported, "B9.scalar: the machine's speed moved too much for any sample");
      cost_ = spread->median / program_.itemsPerTurn;
    }
    return *cost_;
  }

 private:
  MicroProgram program_;
  std::optional<double> cost_;
};

}  // namespace

std::vector<Figure> vmFigures(const Settings&) {
  std::vector<Figure> figures;
  const std::vector<MicroProgram> programs = microPrograms();
  auto scalar = std::make_shared<ScalarCost>(programs.front());
  for (const MicroProgram& program : programs)
    figures.push_back(
        {program.id, program.what, [program, scalar](const Settings& settings) -> Result<std::vector<Row>> {
           double overhead = 0;
           if (program.overheadInstructions > 0) {
             BATON_TRY_ASSIGN(overhead, scalar->get(settings));
             overhead *= program.overheadInstructions;
           }
           BATON_TRY_ASSIGN(const Rounds rounds, roundsOf(program, settings));
           Row row = rowOf(program.id, program.what, rounds, [&](const Round& r) {
             return (r.workloads[0] / r.limit - overhead) / program.itemsPerTurn;
           });
           row.unit = "turns";
           row.seconds /= program.itemsPerTurn;
           if (program.most) {
             row.bar = Bar::AtMost;
             row.limit = *program.most;
           }
           return std::vector<Row>{row};
         }});
  return figures;
}

}  // namespace baton::benchmarks
