// What the world knows of a kernel: its operands, their extents as expressions over a few
// symbols, its scalars. The loader derives the check that runs before every call from it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/dim.h"
#include "base/dtype.h"

namespace baton {

/// Where the code of a kernel comes from.
enum class KernelSource : uint8_t {
  Compiled = 0,  ///< in the file: native images, loop IR, or both
  Library = 1,   ///< kernels/library, by name
  External = 2,  ///< registered by the embedding program, by name
};

/// A symbol of the descriptor takes its value from an extent of an operand, or from a
/// scalar input (`axis` unused).
struct KernelSymbol {
  enum class From : uint8_t { Operand = 0, Scalar = 1 };
  std::string name;
  From from = From::Operand;
  uint32_t index = 0;  ///< operand (inputs first) or scalar input
  uint32_t axis = 0;
  friend bool operator==(const KernelSymbol&, const KernelSymbol&) = default;
};

struct KernelOperand {
  DType dtype = DType::F32;
  uint8_t device = 0;
  uint32_t alignmentBytes = 1;   ///< that the code assumes of the data pointer
  std::vector<DimExpr> extents;  ///< over DimSymbol(i) = symbols[i] of the descriptor
  /// Outputs: inputs (by index) that it may share memory with, element for element.
  std::vector<uint32_t> mayAlias;
  /// Axis along which rows do not depend on each other, if there is one.
  std::optional<uint32_t> independentAxis;
  friend bool operator==(const KernelOperand&, const KernelOperand&) = default;
};

/// Scalars of a call: first the values of `symbols` (int64), then `scalarInputs`, then
/// `scalarOutputs`. The bytecode supplies scalarInputs only.
struct KernelDescriptor {
  std::string name;
  KernelSource source = KernelSource::Compiled;
  std::vector<KernelSymbol> symbols;
  std::vector<KernelOperand> inputs;
  std::vector<KernelOperand> outputs;
  std::vector<DType> scalarInputs;
  std::vector<DType> scalarOutputs;
  std::vector<std::string> messages;  ///< for BatonKernelContext::fail; {0} {1} are int64 values
  /// Must hold of the symbols before the kernel may run (beside what the operands say).
  std::vector<DimConstraint> constraints;
  friend bool operator==(const KernelDescriptor&, const KernelDescriptor&) = default;
};

}  // namespace baton
