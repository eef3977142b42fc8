// The passes over low-level form. Each takes a function in SSA form and leaves it so;
// register allocation, the last, assigns registers and resolves block parameters.
#pragma once

#include "base/error.h"
#include "compiler/lir/lir.h"

namespace baton::lir {

/// Removes what has no use: instructions without other effects, and parameters of blocks.
void removeDeadCode(Function& function);

/// Replaces copies and block parameters that always get the same value by that value, folds
/// branches on constants, and joins a block to its only predecessor.
void simplify(Function& function);

/// Where an instruction that computes the same from the same operands dominates another,
/// its result is used instead.
void removeRedundancy(Function& function);

/// Takes captures that a closure's function does not read out of the closure. Needs dead code
/// to be gone.
Result<void> pruneCaptures(Module& module);

/// Moves what cannot fail and does not depend on a loop in front of it: constants, scalar
/// arithmetic, extents.
void hoistInvariants(Function& function);

/// Moves a value out of its cell where the cell is certainly written again before anything can
/// look into it: cell_read_ref becomes cell_take_ref, and what changes the value in between finds
/// that nobody else holds it. Where only one arm of a branch writes it, the arm takes it again.
void takeFromCells(Module& module);

/// Lets a kernel write its result over an input that dies there, where its descriptor says
/// that it may: alloc_tensor becomes alloc_reuse.
void reuseInPlace(const Module& module, Function& function);

/// Marks last uses and ends every reference on every path: what dies on an edge is dropped at
/// its end. Must come after all passes that move or remove uses, before allocateRegisters.
void markLastUses(Function& function);

/// Gives every virtual register one of its bank, parameters of the function the first ones,
/// and turns the arguments of jumps into moves. Needs last uses. ErrorCode::Unsupported when
/// a bank overflows.
Result<void> allocateRegisters(Function& function);

}  // namespace baton::lir
