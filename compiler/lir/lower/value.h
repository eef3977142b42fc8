// What the lowering knows of a variable of the IR.
#pragma once

#include <cstdint>

#include "compiler/lir/lir.h"

namespace baton::lir {

/// What a variable of the IR is in low-level form. Nothing is materialised before something
/// needs it in a register.
struct Value {
  enum class Form : uint8_t {
    None,      ///< not bound yet
    Register,  ///< `index` is the Register
    Constant,  ///< `index` is the ir::ConstantId
    Global,    ///< `index` is the ir::GlobalId
    Tuple,     ///< `index` into the tuples of the function
    Dims,      ///< `index` into its shapes: elements of an integer scalar or vector as dims
  };
  Form form = Form::None;
  uint32_t index = 0;

  static Value of(Register reg) { return {Form::Register, reg.value()}; }
  Register reg() const { return Register(index); }
  friend bool operator==(const Value&, const Value&) = default;
};

}  // namespace baton::lir
