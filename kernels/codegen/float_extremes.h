// The maximum or minimum of many floats in lanes. What makes IEEE 754-2019's maximum more than one
// instruction - NaN, and zeroes of both signs - is gathered on the side and looked at once, at the end.
#pragma once

#include <llvm/IR/IRBuilder.h>

#include <functional>
#include <span>
#include <vector>

namespace baton::codegen {

class FloatExtremes {
 public:
  using Allocate = std::function<llvm::AllocaInst*(llvm::Type*)>;

  /// Of vectors of this type, taken up to `repeat` at a time. `hasMasks`: conditions are in
  /// registers of their own.
  FloatExtremes(llvm::IRBuilder<>& b, bool isMax, llvm::FixedVectorType* type, unsigned repeat, bool hasMasks,
                const Allocate& allocate);

  void take(std::span<llvm::Value* const> vectors);
  /// Of all elements that were taken, and of the identity.
  llvm::Value* finish();

 private:
  /// Partial results, so that what follows each other need not wait.
  struct Partials {
    llvm::Type* type;
    std::vector<llvm::AllocaInst*> slots;
  };
  Partials makePartials(llvm::Constant* start, unsigned count, const Allocate& allocate);
  void update(llvm::AllocaInst* slot, const std::function<llvm::Value*(llvm::Value* old)>& combine);
  llvm::Value* combined(const Partials& partials,
                        const std::function<llvm::Value*(llvm::Value*, llvm::Value*)>& combine);

  llvm::IRBuilder<>& b_;
  const bool isMax_;
  llvm::FixedVectorType* const type_;
  llvm::Type* const bitsType_;
  Partials extremes_;  ///< NaN left out; a zero may have either sign
  Partials signs_;     ///< the elements' bits, anded (of a minimum: ored)
  Partials nans_;      ///< whether there was one
};

}  // namespace baton::codegen
