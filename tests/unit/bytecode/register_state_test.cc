#include "bytecode/verifier/register_state.h"

#include <catch2/catch.hpp>

#include <map>
#include <random>

namespace baton::bytecode {
namespace {

/// Kinds 5 and 6 have kind 7 in common; others have nothing.
class TestJoiner final : public KindJoiner {
 public:
  RegisterValue joinReferences(RegisterValue a, RegisterValue b) override {
    const auto isClosure = [](RegisterValue value) { return value >= 5 && value <= 7; };
    return isClosure(a) && isClosure(b) ? 7 : kInconsistent;
  }
};

/// The same, dense and without sharing.
struct Model {
  std::map<uint32_t, RegisterValue> values[2];
  RegisterValue get(int bank, uint32_t index) const {
    const auto found = values[bank].find(index);
    return found == values[bank].end() ? kUndefined : found->second;
  }
};

RegisterValue joinOf(int bank, RegisterValue a, RegisterValue b, KindJoiner& joiner) {
  if (a == b) return a;
  if (a == kUnknown || b == kUnknown) return kUnknown;
  const bool emptyA = a == kUndefined || a == kMoved;
  const bool emptyB = b == kUndefined || b == kMoved;
  if (emptyA && emptyB) return kUndefined;
  if (bank == 0) return emptyA ? a : emptyB ? b : kDiffers;
  if (emptyA || emptyB || a == kInconsistent || b == kInconsistent) return kInconsistent;
  return joiner.joinReferences(a, b);
}

TEST_CASE("states agree with a dense model under random writes and joins") {
  std::mt19937 random(3);
  StatePool pool;
  TestJoiner joiner;
  {
    std::vector<std::pair<RegisterState, Model>> states;
    states.emplace_back(RegisterState(pool), Model());
    const uint32_t indices[] = {0, 1, 31, 32, 33, 1023, 1024, 5000, 32767};
    for (int step = 0; step < 20000; ++step) {
      auto& [state, model] = states[random() % states.size()];
      switch (random() % 8) {
        case 0:
          if (states.size() < 12)
            states.emplace_back(RegisterState(state), Model(model));
          else
            states.pop_back();
          break;
        case 1: {
          const auto& [other, otherModel] = states[random() % states.size()];
          bool changes = false;
          const Model theirs = otherModel;
          for (int bank : {0, 1})
            for (uint32_t index : indices) {
              const RegisterValue joined =
                  joinOf(bank, model.get(bank, index), theirs.get(bank, index), joiner);
              changes |= joined != model.get(bank, index);
              model.values[bank][index] = joined;
            }
          CHECK(state.joinWith(other, joiner) == changes);
          break;
        }
        default: {
          const int bank = static_cast<int>(random() % 2);
          const uint32_t index = indices[random() % std::size(indices)];
          RegisterValue value = random() % 10;
          if (value == (bank == 0 ? kInconsistent : kDiffers)) value = kUndefined;
          state.set(static_cast<RegisterBank>(bank), index, value);
          model.values[bank][index] = value;
        }
      }
      for (const auto& [checked, expected] : states) {
        uint32_t held = 0;
        for (int bank : {0, 1})
          for (uint32_t index : indices) {
            REQUIRE(checked.get(static_cast<RegisterBank>(bank), index) == expected.get(bank, index));
            held += bank == 1 && expected.get(bank, index) >= kFirstKind;
          }
        REQUIRE(checked.heldReferences() == held);
      }
    }
  }
  CHECK(pool.liveCount() == 0);
}

TEST_CASE("registers that became inconsistent are found, and forgotten on demand") {
  StatePool pool;
  TestJoiner joiner;
  RegisterState a(pool);
  RegisterState b(pool);
  a.set(RegisterBank::Reference, 40, 9);
  a.set(RegisterBank::Reference, 7, 5);
  b.set(RegisterBank::Reference, 7, 6);
  CHECK(a.joinWith(b, joiner));
  CHECK(a.hasInconsistent());
  CHECK(a.get(RegisterBank::Reference, 7) == 7);
  CHECK(a.findReferences([](RegisterValue value) { return value == kInconsistent; }) ==
        std::vector<uint32_t>{40});
  a.forgetInconsistent();
  CHECK_FALSE(a.hasInconsistent());
  CHECK(a.get(RegisterBank::Reference, 40) == kUnknown);
  CHECK(a.heldReferences() == 1);
}

}  // namespace
}  // namespace baton::bytecode
