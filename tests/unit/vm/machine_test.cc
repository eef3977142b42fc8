#include <catch2/catch.hpp>

#include "assembler.h"
#include "plain_allocator.h"
#include "vm/dispatch.h"

using namespace baton;
using namespace baton::vm;
using namespace baton::vm::test;

namespace {

/// One machine over a program that was built by hand, without loader or verifier.
struct Bench {
  explicit Bench(Program built) : program(std::move(built)) {
    heap = std::move(Heap::create(allocator, allocator, owner)).assume_value();
    machine = std::make_unique<Machine>(*heap, segments);
    machine->program = &program;
    for (const Function& function : program.functions)
      functions.push_back({program.code.data() + function.codeOffset, function.scalarRegisterCount,
                           function.referenceRegisterCount, function.scalarRegisterCount + 16,
                           function.referenceRegisterCount + 16});
    machine->functions = functions.data();
    machine->scalarResults.resize(8);
    machine->referenceResults.resize(8);
  }
  ~Bench() {
    machine->unwind();
    machine.reset();
    segments.trim();
    heap->abandon();
    CHECK(allocator.openBytes == 0);
  }
  Stop run(uint32_t function, std::initializer_list<uint64_t> scalars, Stop (*loop)(Machine&) = runGoto) {
    REQUIRE(machine->enterOutermost(functions[function]).has_value());
    std::copy(scalars.begin(), scalars.end(), machine->scalars);
    machine->fuel = INT64_MAX;
    const Stop stop = loop(*machine);
    machine->unwind();
    return stop;
  }

  PlainAllocator allocator;
  NoOwner owner;
  SegmentCache segments{allocator};
  Program program;
  std::vector<FunctionCode> functions;
  Heap* heap;
  std::unique_ptr<Machine> machine;
};

Program fibProgram() {
  ProgramBuilder builder;
  const FunctionIndex fib =
      builder.declareFunction({"fib", {{Kind::scalar(DType::I64)}, {Kind::scalar(DType::I64)}}});
  Encoder e;
  const Label base = e.newLabel(), step = e.newLabel();
  Const::encode(e, s(1), DType::I64, 2);
  LtI64::encode(e, s(2), s(0), s(1));
  Branch::encode(e, s(2), base, step);
  e.bind(step);
  SubI64::encode(e, s(2), s(0), s(1));
  Const::encode(e, s(3), DType::I64, 1);
  SubI64::encode(e, s(3), s(0), s(3));
  Call::encode(e, fib, list({s(3)}), {}, list({s(3)}), {});
  Call::encode(e, fib, list({s(2)}), {}, list({s(2)}), {});
  AddI64::encode(e, s(0), s(2), s(3));
  Ret::encode(e, list({s(0)}), {});
  e.bind(base);
  Ret::encode(e, list({s(0)}), {});
  builder.defineFunction(fib, 4, 0, e);
  return builder.finish();
}

}  // namespace

TEST_CASE("fib runs in both dispatch loops") {
  Bench bench(fibProgram());
  for (auto* loop : {runGoto, runSwitch}) {
    CHECK(bench.run(0, {20}, loop) == Stop::Finished);
    CHECK(bench.machine->scalarResults[0] == 6765);
  }
}
