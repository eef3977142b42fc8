#include <catch2/catch.hpp>

#include <algorithm>
#include <random>

#include <fmt/format.h>

#include "compiler/lir/cfg.h"
#include "compiler/lir/parallel_moves.h"
#include "compiler/lir/parser.h"
#include "compiler/lir/passes/passes.h"
#include "compiler/lir/printer.h"
#include "compiler/lir/verifier.h"
#include "tests/unit/compiler/lir/simulator.h"

namespace baton::lir {
namespace {

Module parsed(std::string_view text) {
  Result<Module> module = parseModule(text);
  if (!module.has_value()) FAIL(module.assume_error().message());
  return std::move(module).assume_value();
}

void allocate(Function& function) {
  layOutBlocks(function);
  markLastUses(function);
  REQUIRE(allocateRegisters(function).has_value());
}

TEST_CASE("a counted loop keeps its state in place") {
  Module module = parsed(R"(func @f signature<0> {
b0(%0: i64):
  %1: i64 = const i64, 0x0
  %2: i64 = const i64, 0x1
  jump b1(%1, %1)
b1(%3: i64, %4: i64):
  %5: bool = lt.i64 %3, %0
  branch %5, b2, b3
b2:
  %6: i64 = add.i64 %4, %3
  %7: i64 = add.i64 %3, %2
  jump b1(%7, %6)
b3:
  ret (%4), ()
}
)");
  Function& f = module.functions[0];
  allocate(f);
  CHECK(f.registerCount[0] == 5);
  CHECK(f.registerCount[1] == 0);
  const test::Outcome outcome = test::simulate(f, {10}, {}, true);
  CHECK(outcome.problem.empty());
  CHECK(outcome.scalars == std::vector<int64_t>{45});
  CHECK(outcome.moves <= 2);  // before the loop only
}

TEST_CASE("parameters are in the first registers of their banks") {
  Module module = parsed(R"(func @f signature<0> {
b0(%5: adt<0>, %3: i64, %4: adt<0>, %0: f32):
  ret (%0, %3), (%4, %5)
}
)");
  allocate(module.functions[0]);
  CHECK(print(module) == R"(func @f signature<0> registers(2, 2) {
b0(r0: adt<0>, s0: i64, r1: adt<0>, s1: f32):
  ret (s1!, s0!), (r1!, r0!)
}
)");
}

TEST_CASE("values that change places at a jump go through a spare register") {
  Module module = parsed(R"(func @f signature<0> {
b0(%0: i64, %1: adt<0>, %2: adt<0>):
  %10: i64 = const i64, 0x0
  %11: i64 = const i64, 0x1
  jump b1(%10, %1, %2)
b1(%3: i64, %4: adt<0>, %5: adt<0>):
  %6: bool = lt.i64 %3, %0
  branch %6, b2, b3
b2:
  %7: i64 = add.i64 %3, %11
  jump b1(%7, %5, %4)
b3:
  ret (), (%4, %5)
}
)");
  Function& f = module.functions[0];
  allocate(f);
  CHECK(f.registerCount[1] == 3);
  for (int64_t turns : {0, 1, 2, 5}) {
    const test::Outcome outcome = test::simulate(f, {turns}, {7, 8}, true);
    CHECK(outcome.problem.empty());
    CHECK(outcome.objects == (turns % 2 == 0 ? std::vector<int64_t>{7, 8} : std::vector<int64_t>{8, 7}));
  }
}

TEST_CASE("one value for two parameters is copied and moved") {
  Module module = parsed(R"(func @f signature<0> {
b0(%0: i64, %1: adt<0>):
  jump b1(%1, %1)
b1(%2: adt<0>, %3: adt<0>):
  %4: adt<0> = make_adt 0, type<0>, (%2), (%0)
  ret (), (%4, %3)
}
)");
  allocate(module.functions[0]);
  const test::Outcome outcome = test::simulate(module.functions[0], {3}, {4}, true);
  CHECK(outcome.problem.empty());
  CHECK(outcome.objects == std::vector<int64_t>{43, 4});
  CHECK(outcome.moves == 1);
}

TEST_CASE("more live values than registers is an error, not a wrong program") {
  std::string text = "func @f signature<0> {\nb0:\n";
  std::string results;
  for (uint32_t i = 0; i <= bytecode::kMaxRegisters; ++i) {
    text += fmt::format("  %{}: i64 = const i64, 0x{:x}\n", i, i);
    results += fmt::format("{}%{}", i == 0 ? "" : ", ", i);
  }
  Module module = parsed(text + "  ret (" + results + "), ()\n}\n");
  markLastUses(module.functions[0]);
  Result<void> result = allocateRegisters(module.functions[0]);
  REQUIRE(!result.has_value());
  CHECK(result.assume_error().code() == ErrorCode::Unsupported);
}

TEST_CASE("50,000 values in a row take few registers") {
  std::string text = "func @f signature<0> {\nb0(%0: i64):\n";
  for (int i = 1; i <= 50000; ++i) text += fmt::format("  %{}: i64 = add.i64 %{}, %0\n", i, i - 1);
  Module module = parsed(text + "  ret (%50000), ()\n}\n");
  allocate(module.functions[0]);
  CHECK(module.functions[0].registerCount[0] == 2);
}

/// Runs the moves over an array and compares with doing them at once.
void checkMoves(const std::vector<RegisterMove>& moves) {
  constexpr uint16_t kSpare = 20;
  int before[21];
  for (int i = 0; i <= kSpare; ++i) before[i] = i;
  int now[21];
  std::copy(std::begin(before), std::end(before), std::begin(now));
  for (const RegisterMove& move : orderMoves(moves, kSpare)) {
    CHECK(now[move.from] != -1);
    now[move.to] = now[move.from];
    if (move.fromDies) now[move.from] = -1;
  }
  for (const RegisterMove& move : moves) CHECK(now[move.to] == before[move.from]);
}

TEST_CASE("parallel moves: chains, cycles, fans, and what stays") {
  checkMoves({});
  checkMoves({{1, 0, true}, {2, 1, true}, {3, 2, true}});
  checkMoves({{0, 1, true}, {1, 0, true}});
  checkMoves({{0, 1, true}, {1, 2, true}, {2, 0, true}, {5, 6, true}, {6, 5, true}});
  checkMoves({{1, 0, true}, {2, 0, true}, {3, 0, false}});
  checkMoves({{0, 0, true}, {1, 0, true}});
  std::mt19937 random(7);
  for (int round = 0; round < 2000; ++round) {
    std::vector<uint16_t> to(12);
    for (uint16_t i = 0; i < to.size(); ++i) to[i] = i;
    std::shuffle(to.begin(), to.end(), random);
    to.resize(random() % 12);
    std::vector<RegisterMove> moves;
    for (uint16_t t : to) moves.push_back({t, static_cast<uint16_t>(random() % 12), true});
    checkMoves(moves);
  }
}

/// A random function: straight pieces, branches that join with parameters, counted loops.
class RandomFunction {
 public:
  explicit RandomFunction(uint32_t seed) : random_(seed) {}

  std::string text() {
    scalars_ = {newRegister(), newRegister()};
    objects_ = {newRegister(), newRegister(), newRegister()};
    open("b0(" + typed(scalars_, "i64") + ", " + typed(objects_, "adt<0>") + "):\n");
    region(0);
    code_.back() += fmt::format("  ret (%{}, %{}), (%{}, %{})\n", pick(scalars_), pick(scalars_),
                                pick(objects_), pick(objects_));
    std::string out = "func @f signature<0> {\n";
    for (const std::string& block : code_) out += block;
    return out + "}\n";
  }

 private:
  uint32_t newRegister() { return next_++; }
  uint32_t pick(const std::vector<uint32_t>& from) { return from[random_() % from.size()]; }
  static std::string typed(const std::vector<uint32_t>& registers, const char* kind) {
    std::string out;
    for (uint32_t r : registers) out += fmt::format("{}%{}: {}", out.empty() ? "" : ", ", r, kind);
    return out;
  }
  void open(std::string head) { code_.push_back(std::move(head)); }
  size_t current() const { return code_.size() - 1; }

  void statement() {
    const uint32_t r = newRegister();
    switch (random_() % 5) {
      case 0: code_.back() += fmt::format("  %{}: i64 = const i64, 0x{:x}\n", r, random_() % 9); break;
      case 1:
        code_.back() += fmt::format("  %{}: i64 = add.i64 %{}, %{}\n", r, pick(scalars_), pick(scalars_));
        break;
      case 2: code_.back() += fmt::format("  %{}: i64 = get_tag %{}\n", r, pick(objects_)); break;
      default:
        code_.back() += fmt::format("  %{}: adt<0> = make_adt 0, type<0>, (%{}, %{}), (%{})\n", r,
                                    pick(objects_), pick(objects_), pick(scalars_));
        objects_.push_back(r);
        return;
    }
    scalars_.push_back(r);
  }

  void region(int depth) {
    const int length = static_cast<int>(random_() % 5);
    for (int i = 0; i < length; ++i) {
      const uint32_t what = random_() % 6;
      if (depth < 3 && what == 0)
        branch(depth);
      else if (depth < 2 && what == 1)
        loop(depth);
      else
        statement();
    }
  }

  std::string arguments(size_t scalarCount, size_t objectCount) {
    std::string out;
    for (size_t i = 0; i < scalarCount; ++i)
      out += fmt::format("{}%{}", out.empty() ? "" : ", ", pick(scalars_));
    for (size_t i = 0; i < objectCount; ++i)
      out += fmt::format("{}%{}", out.empty() ? "" : ", ", pick(objects_));
    return out;
  }
  std::vector<uint32_t> fresh(size_t count) {
    std::vector<uint32_t> registers;
    for (size_t i = 0; i < count; ++i) registers.push_back(newRegister());
    return registers;
  }
  void add(const std::vector<uint32_t>& s, const std::vector<uint32_t>& o) {
    scalars_.insert(scalars_.end(), s.begin(), s.end());
    objects_.insert(objects_.end(), o.begin(), o.end());
  }

  void branch(int depth) {
    const uint32_t condition = newRegister();
    code_.back() += fmt::format("  %{}: bool = lt.i64 %{}, %{}\n", condition, pick(scalars_), pick(scalars_));
    const size_t head = current();
    const size_t scalarCount = random_() % 3;
    const size_t objectCount = random_() % 3;
    const auto scalars = scalars_;
    const auto objects = objects_;
    size_t ends[2];
    std::string passed[2];
    size_t begins[2];
    for (int arm = 0; arm < 2; ++arm) {
      scalars_ = scalars;
      objects_ = objects;
      open("");
      begins[arm] = current();
      code_.back() = fmt::format("b{}:\n", begins[arm]);
      region(depth + 1);
      ends[arm] = current();
      passed[arm] = arguments(scalarCount, objectCount);
    }
    scalars_ = scalars;
    objects_ = objects;
    code_[head] += fmt::format("  branch %{}, b{}, b{}\n", condition, begins[0], begins[1]);
    joinAt({ends[0], ends[1]}, {passed[0], passed[1]}, scalarCount, objectCount);
  }

  void joinAt(std::vector<size_t> ends, std::vector<std::string> passed, size_t scalarCount,
              size_t objectCount) {
    const auto s = fresh(scalarCount);
    const auto o = fresh(objectCount);
    open("");
    for (size_t i = 0; i < ends.size(); ++i)
      code_[ends[i]] += fmt::format("  jump b{}({})\n", current(), passed[i]);
    code_.back() = fmt::format("b{}({}{}{}):\n", current(), typed(s, "i64"),
                               s.empty() || o.empty() ? "" : ", ", typed(o, "adt<0>"));
    if (s.empty() && o.empty()) code_.back() = fmt::format("b{}:\n", current());
    add(s, o);
  }

  void loop(int depth) {
    const size_t scalarCount = random_() % 3;
    const size_t objectCount = random_() % 3;
    const uint32_t zero = newRegister();
    const uint32_t one = newRegister();
    const uint32_t turns = newRegister();
    code_.back() += fmt::format(
        "  %{}: i64 = const i64, 0x0\n  %{}: i64 = const i64, 0x1\n  %{}: i64 = const i64, 0x{}\n", zero, one,
        turns, random_() % 4);
    const std::string comma = scalarCount + objectCount == 0 ? "" : ", ";
    code_.back() +=
        fmt::format("  jump b{}(%{}{}{})\n", current() + 1, zero, comma, arguments(scalarCount, objectCount));
    const uint32_t i = newRegister();
    const auto s = fresh(scalarCount);
    const auto o = fresh(objectCount);
    open("");
    const size_t header = current();
    std::string params = typed({i}, "i64");
    if (!s.empty()) params += ", " + typed(s, "i64");
    if (!o.empty()) params += ", " + typed(o, "adt<0>");
    const uint32_t condition = newRegister();
    code_.back() =
        fmt::format("b{}({}):\n  %{}: bool = lt.i64 %{}, %{}\n", header, params, condition, i, turns);
    const auto scalars = scalars_;
    const auto objects = objects_;
    add(s, o);
    open("");
    const size_t body = current();
    code_.back() = fmt::format("b{}:\n", body);
    region(depth + 1);
    const uint32_t next = newRegister();
    code_.back() += fmt::format("  %{}: i64 = add.i64 %{}, %{}\n  jump b{}(%{}{}{})\n", next, i, one, header,
                                next, comma, arguments(scalarCount, objectCount));
    scalars_ = scalars;
    objects_ = objects;
    add(s, o);
    open("");
    code_[header] += fmt::format("  branch %{}, b{}, b{}\n", condition, body, current());
    code_.back() = fmt::format("b{}:\n", current());
  }

  std::mt19937 random_;
  uint32_t next_ = 0;
  std::vector<std::string> code_;
  std::vector<uint32_t> scalars_, objects_;
};

TEST_CASE("random functions compute the same before and after, and own what they hold") {
  for (uint32_t seed = 0; seed < 400; ++seed) {
    const std::string text = RandomFunction(seed).text();
    INFO("seed " << seed << "\n" << text);
    Module module = parsed(text);
    Result<void> verified = verify(module);
    if (!verified.has_value()) FAIL(verified.assume_error().message());
    const std::vector<int64_t> scalars{3, static_cast<int64_t>(seed % 7)};
    const std::vector<int64_t> objects{1, 2, 3};
    const test::Outcome expected = test::simulate(module.functions[0], scalars, objects, false);
    REQUIRE(expected.problem.empty());

    const auto check = [&](const Module& changed, bool checkOwnership) {
      INFO(print(changed));
      const test::Outcome outcome = test::simulate(changed.functions[0], scalars, objects, checkOwnership);
      CHECK(outcome.problem == "");
      REQUIRE(outcome.scalars == expected.scalars);
      REQUIRE(outcome.objects == expected.objects);
    };
    Module optimised = parsed(text);
    Function& f = optimised.functions[0];
    for (void (*pass)(Function&) : {simplify, removeDeadCode, removeRedundancy, hoistInvariants, simplify}) {
      pass(f);
      Result<void> ok = verify(optimised);
      if (!ok.has_value()) FAIL(ok.assume_error().message() << "\n" << print(optimised));
      check(optimised, false);
    }
    markLastUses(f);
    REQUIRE(verify(optimised).has_value());
    check(optimised, true);
    REQUIRE(allocateRegisters(f).has_value());
    check(optimised, true);
    allocate(module.functions[0]);
    check(module, true);
  }
}

}  // namespace
}  // namespace baton::lir
