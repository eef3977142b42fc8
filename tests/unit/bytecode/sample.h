// Text that uses every construct of the format; not a valid program.
#pragma once

#include <string_view>

namespace baton::bytecode {

inline constexpr std::string_view kEverything = R"vmasm(vmasm 1
meta {
  name "kitchen sink"
  compiler "baton 0.1.0"
  flags "-O3"
  target "x86-64-v3"
  target "x86-64-v4"
}
kind k0 = tensor<f32, 2>
kind k1 = cell<k0>
kind k2 = array<k0>
kind k3 = storage<1>
kind k4 = tensor<f32, 2, 1>
signature sig0 = (tensor<f32, 2>, i64) -> (tensor<f32, 2>)
signature sig1 = (closure<sig0>) -> (i64)
message m0 = "first"
message m1 = "first"
message m2 = "x = {0:i64}\n\"quoted\" \x01"
site 0 = "m.relay":8:2 "outer"
site 1 = "m.relay":9:5 "inner" inlined 0
type t0 = "List[Tensor[(?, 4), float32]]" list {
  "Cons" (f32[?0, 4] r0, adt<t0> r1)
  "Nil" ()
}
type t1 = "(f32, closure, ref)" tuple {
  "" (f32 s0, closure<sig0> r0, cell<k0> r1) counts r7 s9
}
constant c0 = f32[2, 2] base64
  "AAAAAAAAgD8AAABAAABAQA=="
constant c1 = u8[0] base64 ""
constant c2 = f32[512, 2048] layout "panels64" external "encoder::w"
kernel $dense compiled {
  symbol n = operand 0 axis 0
  symbol m = scalar 0
  input f32[n, 4*m] align 64
  output f32[n, 2048] device 1 alias [0] independent 0
  scalar_inputs [i64, f32]
  scalar_outputs [i64]
  message "bad {0}"
  where n <= 512
  where floor_mod(n, 8) == 0
  loop
    "kernel dense {\n"
    "}\n"
}
kernel $"odd name" library {
  loop ""
}
image "x86-64-v3" features ["avx2", "fma"] entries [16, none] base64
  "w8M="
entry "main" @main {
  doc "what it does\n"
  symbols [n, "?", m, m]
  where n <= 512
  where 4*n + ?3 > min(?1, ?2) - 2
  param "x" f32[n, ?1]
  param "n" i64
  result split adt<t0>
  peak bound bytes 4*n*n + ceil_div(n, 2) "recursion"
}
fn @main (tensor<f32, 2>, i64) -> (tensor<f32, 2>) regs s4 r3 {
  .loc "m.relay":3:7 "add"
  s1 = dim r0, 1
  .loc "m.relay":4:1 inlined 1
  s2 = const f32, 0.5
  s3 = lt.i64 s0, s1!
  branch s3, b0, b1
b0:
  r1 = call @"other fn", [s0], [r0!]
  ret [], [r1!]
b1:
  check s3, m1, [s0]
  fail "first", []
  .word 0x0000000000000fff
  jump +9999
}
fn @"other fn" closure [tensor<f32, 2>, i64] (tensor<f32, 2>, i64) -> (tensor<f32, 2>) regs s1 r2 {
  ret [], [r1!]
}
test "one" entry "main" inputs ["2x2xf32=1 2 3 4", "i64=3"] output "2x2xf32=1 2 3 4"
)vmasm";

}  // namespace baton::bytecode
