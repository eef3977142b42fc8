// The check that runs before every kernel call, derived from the descriptor: symbols take
// their values from the operands' extents and the scalar inputs, and every other extent and
// constraint must agree with them.
#pragma once

#include <cstdint>
#include <vector>

#include "base/error.h"
#include "kernels/abi/descriptor.h"
#include "kernels/abi/dim_program.h"

namespace baton {

/// Immutable; any number of threads may use one. dtypes and ranks are known when a program is
/// loaded, so they are not looked at here.
class CallPlan {
 public:
  /// The descriptor must be valid (validateDescriptor).
  static CallPlan build(const KernelDescriptor& descriptor);

  /// Fills scalars[0 .. symbols) and checks everything. `extents[i]` are the extents of operand
  /// i (inputs, then outputs), none negative; the scalar inputs are already in place behind the
  /// symbols. A few nanoseconds. False when anything disagrees: explain() then says what.
  bool bind(const int64_t* const* extents, int64_t* scalars) const {
    // Mismatches are gathered, not branched on: they are rare.
    for (const Bind& b : binds_) scalars[b.symbol] = extents[b.operand][b.axis];
    for (const ScalarBind& b : scalarBinds_) scalars[b.symbol] = scalars[b.scalar];
    uint64_t different = 0;
    for (const EqualPair& e : equalPairs_)
      different |= static_cast<uint64_t>(extents[e.operand][0] ^ extents[e.earlier][0]) |
                   static_cast<uint64_t>(extents[e.operand][1] ^ extents[e.earlier][1]);
    for (const EqualShape& e : equalShapes_)
      for (uint32_t axis = 0; axis < e.rank; ++axis)
        different |= static_cast<uint64_t>(extents[e.operand][axis] ^ extents[e.earlier][axis]);
    for (const EqualSymbol& e : equalSymbols_)
      different |= static_cast<uint64_t>(extents[e.operand][e.axis] ^ scalars[e.symbol]);
    for (const EqualConstant& e : equalConstants_)
      different |= static_cast<uint64_t>(extents[e.operand][e.axis] ^ e.value);
    for (const Range& r : ranges_)
      different |= static_cast<uint64_t>(scalars[r.symbol] < r.low) |
                   static_cast<uint64_t>(scalars[r.symbol] > r.high);
    if (different != 0) return false;
    return !hasGeneralChecks_ || checkGeneral(extents, scalars);
  }

  /// Whether every data pointer has the alignment that the code assumes.
  bool isAligned(void* const* buffers) const {
    uint64_t low = 0;
    for (const Alignment& a : alignments_) low |= reinterpret_cast<uintptr_t>(buffers[a.operand]) & a.mask;
    return low == 0;
  }

  /// Why bind() said no: names the kernel, the operand, the axis, what was found and expected.
  /// Call with the same arguments.
  Error explain(const KernelDescriptor& descriptor, const int64_t* const* extents, int64_t* scalars) const;
  /// Why isAligned() said no.
  Error explainAlignment(const KernelDescriptor& descriptor, void* const* buffers) const;

 private:
  struct Bind {
    uint32_t symbol, operand, axis;
  };
  struct ScalarBind {
    uint32_t symbol, scalar;
  };
  /// The two extents of an operand are those of an earlier one.
  struct EqualPair {
    uint32_t operand, earlier;
  };
  /// The same for any other rank.
  struct EqualShape {
    uint32_t operand, earlier, rank;
  };
  struct EqualSymbol {
    uint32_t operand, axis, symbol;
  };
  struct EqualConstant {
    uint32_t operand, axis;
    int64_t value;
  };
  struct EqualDim {
    uint32_t operand, axis;
    DimProgram dim;
  };
  struct Constraint {
    DimProgram lhs;
    Relation relation;
    DimProgram rhs;
  };
  /// Constraints of a symbol against constants.
  struct Range {
    uint32_t symbol;
    int64_t low, high;
  };
  struct Alignment {
    uint32_t operand;
    uint64_t mask;
  };

  bool checkGeneral(const int64_t* const* extents, const int64_t* scalars) const;

  std::vector<Bind> binds_;
  std::vector<ScalarBind> scalarBinds_;
  std::vector<EqualPair> equalPairs_;
  std::vector<EqualShape> equalShapes_;
  std::vector<EqualSymbol> equalSymbols_;
  std::vector<EqualConstant> equalConstants_;
  std::vector<Range> ranges_;
  std::vector<EqualDim> equalDims_;
  std::vector<Constraint> constraints_;
  std::vector<Alignment> alignments_;
  bool hasGeneralChecks_ = false;
};

}  // namespace baton
