// Functions of floats that are computed in binary64 and rounded once: trigonometric and
// hyperbolic ones, their inverses, and logarithms to other bases.
#include <type_traits>

#include "compiler/ops/declarations.h"
#include "compiler/ops/lowering/lowering.h"
#include "compiler/ops/reference_call.h"
#include "kernels/loop/math/plain.h"

// What a record wants of a function that loop IR and plain.h know by the same name.
#define BATON_FUNCTION_OF_FLOATS(name)                                                                      \
  loop::Value name##Scalar(const ScalarContext& context, std::span<const loop::Value> inputs) {             \
    return computeWide(context, inputs, [](std::span<const loop::Value> in) { return loop::name(in[0]); }); \
  }                                                                                                         \
  Result<uint64_t> name##Reference(const ScalarReferenceCall& call, std::span<const uint64_t> inputs) {     \
    return computeUnary(call.resultType, inputs, [](auto x) {                                               \
      if constexpr (std::is_floating_point_v<decltype(x)>)                                                  \
        return math::name(x);                                                                               \
      else                                                                                                  \
        return x;                                                                                           \
    });                                                                                                     \
  }

namespace baton::ops {

BATON_FUNCTION_OF_FLOATS(log2)
BATON_FUNCTION_OF_FLOATS(log10)
BATON_FUNCTION_OF_FLOATS(sin)
BATON_FUNCTION_OF_FLOATS(cos)
BATON_FUNCTION_OF_FLOATS(tan)
BATON_FUNCTION_OF_FLOATS(asin)
BATON_FUNCTION_OF_FLOATS(acos)
BATON_FUNCTION_OF_FLOATS(atan)
BATON_FUNCTION_OF_FLOATS(sinh)
BATON_FUNCTION_OF_FLOATS(cosh)
BATON_FUNCTION_OF_FLOATS(asinh)
BATON_FUNCTION_OF_FLOATS(acosh)
BATON_FUNCTION_OF_FLOATS(atanh)

}  // namespace baton::ops

#undef BATON_FUNCTION_OF_FLOATS
