// Programs for tests, written with the generated encoders.
#pragma once

#include <initializer_list>
#include <string>
#include <vector>

#include "bytecode/builder.h"
#include "bytecode/isa/instruction.h"

namespace baton::vm::test {

using namespace baton::bytecode;

inline ScalarOperand s(uint16_t index) { return ScalarOperand::of(index); }
inline ReferenceOperand r(uint16_t index) { return ReferenceOperand::of(index); }
/// A last use.
inline ReferenceOperand x(uint16_t index) { return ReferenceOperand::of(index, true); }

using S = std::initializer_list<ScalarOperand>;
using R = std::initializer_list<ReferenceOperand>;

/// Lists for encode().
inline std::span<const ScalarOperand> list(S operands) { return {operands.begin(), operands.size()}; }
inline std::span<const ReferenceOperand> list(R operands) { return {operands.begin(), operands.size()}; }
inline std::span<const Label> labels(std::initializer_list<Label> l) { return {l.begin(), l.size()}; }

}  // namespace baton::vm::test
