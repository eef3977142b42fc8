// Programs of these tests, as bytecode text; executables are made from it in memory.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <catch2/catch.hpp>

#include "bytecode/container/writer.h"
#include "bytecode/vmasm/parser.h"

namespace baton::test {

/// The bytes of a `.vmexe`.
inline std::vector<std::byte> assemble(std::string_view text) {
  auto program = bytecode::parseVmasm(std::string("vmasm 1\n") + std::string(text));
  if (!program.has_value()) FAIL(program.assume_error().describe());
  auto bytes = bytecode::writeExecutable(program.assume_value());
  if (!bytes.has_value()) FAIL(bytes.assume_error().describe());
  return std::move(bytes).assume_value();
}

inline constexpr std::string_view kProgram = R"vmasm(
meta {
  name "test program"
}
kind k0 = tensor<f32, 1>
type t0 = "List[Tensor[(?, 2), float32]]" list {
  "Cons" (f32[?0, 2] r0, adt<t0> r1)
  "Nil" ()
}
type t1 = "(Tensor[(n, 2), float32], int64)" tuple {
  "" (f32[?0, 2] r0, i64 s0)
}
type t2 = "Shape" {
  "Circle" (f32 s0)
  "Square" (f32 s0, bool s1)
}
type t3 = "Array[Tensor[(?,), float32]]" array {
  "" (f32[?0] r0)
}
constant c0 = f32[2] base64 "AACAPwAAAEA="
entry "pair" @pair {
  doc "the arguments as a tuple"
  symbols [n]
  where n <= 8
  param "x" f32[n, 2]
  param "k" i64
  result split adt<t1>
  peak exact bytes 8*n
}
entry "check" @check {
  symbols [n, m]
  where m <= 3*n
  param "x" f32[n, 2]
  param "y" f32[m, n]
  param "z" f32[2*m]
  result i64
}
entry "cons" @cons {
  symbols [n]
  param "x" f32[n, 2]
  param "xs" adt<t0>
  result adt<t0>
}
entry "area" @area {
  param "shape" adt<t2>
  result f32
}
entry "constant" @constant {
  result f32[2]
}
entry "bump" @bump {
  param "x" f32[4]
  result f32[4]
}
entry "spin" @spin {
  result i64
}
entry "fill" @fill {
  param "n" i64
  result i64
}
entry "append" @append {
  symbols [n]
  view v0 = "Array[Tensor[(n,), float32]]" t3 { (f32[n]) }
  param "x" f32[n]
  param "xs" array<k0, t3, v0>
  result array<k0, t3>
}
fn @pair (tensor<f32, 2>, i64) -> (tensor<f32, 2>, i64) regs s1 r1 {
  ret [s0], [r0!]
}
fn @check (tensor<f32, 2>, tensor<f32, 2>, tensor<f32, 1>) -> (i64) regs s1 r3 {
  s0 = dim r0!, 0
  drop r1!
  drop r2!
  ret [s0], []
}
fn @cons (tensor<f32, 2>, adt<t0>) -> (adt<t0>) regs s0 r2 {
  r0 = make_adt 0, t0, [r0!, r1!], []
  ret [], [r0!]
}
fn @area (adt<t2>) -> (f32) regs s2 r1 {
  switch_tag r0, [b0, b1]
b0:
  s0 = get_field_scalar r0!, 0, 0
  ret [s0], []
b1:
  s0 = get_field_scalar r0!, 1, 0
  s0 = mul.f32 s0, s0
  ret [s0], []
}
fn @constant () -> (tensor<f32, 1>) regs s0 r1 {
  r0 = load_const c0
  ret [], [r0!]
}
fn @bump (tensor<f32, 1>) -> (tensor<f32, 1>) regs s2 r1 {
  s0 = const i64, 1
  s1 = const f32, 9
  r0 = store_outer_scalar r0!, s0, s1
  ret [], [r0!]
}
fn @spin () -> (i64) regs s1 r0 {
b0:
  jump b0
}
fn @fill (i64) -> (i64) regs s3 r1 {
  s1 = const i64, 1024
  r0 = alloc_tensor f32, 0, [s0, s1]
  s2 = dim r0!, 0
  ret [s2], []
}
fn @append (tensor<f32, 1>, array<k0>) -> (array<k0>) regs s0 r2 {
  r1 = array_push_ref r1!, r0!
  ret [], [r1!]
}
)vmasm";

/// "add" adds two vectors with a kernel, which is interpreted.
inline constexpr std::string_view kKernelProgram = R"vmasm(
kernel $sum compiled {
  symbol n = operand 0 axis 0
  input f32[n]
  input f32[n]
  output f32[n]
  loop
    "kernel \"sum\" {\n"
    "  symbol n = operand 0 axis 0\n"
    "  input f32[n]\n"
    "  input f32[n]\n"
    "  output f32[n]\n"
    "  for %0 < $n {\n"
    "    %1 = load in0[%0]\n"
    "    %2 = load in1[%0]\n"
    "    %3 = add f32 %1, %2\n"
    "    store out0[%0], %3\n"
    "  }\n"
    "}\n"
}
entry "add" @add {
  symbols [n]
  param "x" f32[n]
  param "y" f32[n]
  result f32[n]
}
fn @add (tensor<f32, 1>, tensor<f32, 1>) -> (tensor<f32, 1>) regs s1 r3 {
  s0 = dim r0, 0
  r2 = alloc_tensor f32, 0, [s0]
  call_kernel $sum, [r0!, r1!], [r2], []
  ret [], [r2!]
}
)vmasm";

}  // namespace baton::test
