// One program with everything that asks for memory, for sweeps over refused requests.
#pragma once

#include <string_view>

namespace baton::test {

/// @mixed(n, x, l): a kernel into a fresh tensor, a grown view, a cell, a closure and a list cell in
/// each of n turns; then deep recursion, and a kernel over x's memory where nobody else holds it.
/// Gives (a list of n + 1 tensors before l, a tensor like x of threes, 3000).
inline constexpr std::string_view kMixed = R"vmasm(
kind k0 = tensor<f32, 1>
kernel $fill compiled {
  symbol n = operand 0 axis 0
  output f32[n]
  scalar_inputs [f32]
  loop
    "kernel \"fill\" {\n"
    "  symbol n = operand 0 axis 0\n"
    "  output f32[n]\n"
    "  scalar_input f32\n"
    "  scratch f32[n]\n"
    "  for %0 < $n { store tmp0[%0], arg0 }\n"
    "  for %1 < $n {\n"
    "    %2 = load tmp0[%1]\n"
    "    store out0[%1], %2\n"
    "  }\n"
    "}\n"
}
type t0 = "List[Tensor[(?,), float32]]" list {
  "Cons" (f32[?0] r0, adt<t0> r1)
  "Nil" ()
}
type t1 = "(List[Tensor[(?,), float32]], Tensor[(?,), float32], int64)" tuple {
  "" (adt<t0> r0, f32[?0] r1, i64 s0)
}
constant c0 = f32[2] base64 "AACAPwAAAEA="
entry "mixed" @mixed {
  doc "Everything."
  symbols [m]
  where m <= 100000
  param "n" i64
  param "x" f32[m]
  param "l" adt<t0>
  result adt<t1>
}
fn @mixed (i64, tensor<f32, 1>, adt<t0>) -> (adt<t1>) regs s5 r6 {
  r2 = load_const c0
  r1 = make_adt 0, t0, [r2!, r1!], []
  s1 = const i64, 1
  s2 = const i64, 0
b0:
  s3 = lt.i64 s2, s0
  branch s3, b1, b2
b1:
  s0 = sub.i64 s0, s1
  s4 = const f32, 3
  r2 = alloc_tensor f32, 0, [s0]
  call_kernel $fill, [], [r2], [s4]
  r3 = move r0
  r3 = extend_outer r3!, s0
  drop r3!
  r3 = cell_new_ref k0, r2!
  r4 = make_closure @unwrap, [r3!], []
  r2 = call_closure r4!, [], []
  r1 = make_adt 0, t0, [r2!, r1!], []
  jump b0
b2:
  s0 = dim r0, 0
  s4 = const f32, 3
  r2 = alloc_reuse r0!, f32, [s0]
  call_kernel $fill, [], [r2], [s4]
  s4 = const i64, 3000
  s4 = call @deep, [s4], []
  r1 = make_adt 0, t1, [r1!, r2!], [s4]
  ret [], [r1!]
}
fn @unwrap closure [cell<k0>] () -> (tensor<f32, 1>) regs s0 r2 {
  r1 = capture_ref r0!, 0
  r0 = cell_read_ref r1!
  ret [], [r0!]
}
fn @deep (i64) -> (i64) regs s3 r0 {
  s1 = const i64, 0
  s2 = eq.i64 s0, s1
  branch s2, b1, b0
b0:
  s1 = const i64, 1
  s2 = sub.i64 s0, s1
  s2 = call @deep, [s2], []
  s0 = add.i64 s2, s1
  ret [s0], []
b1:
  ret [s1], []
}
)vmasm";

}  // namespace baton::test
