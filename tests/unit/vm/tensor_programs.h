// A function for each tensor instruction.
#pragma once

#include <string_view>

namespace baton::vm::test {

inline constexpr std::string_view kTensors = R"vmasm(
message m0 = "argument of inner"
entry "reshape" @reshape {
  symbols [n, "?", "?"]
  param "x" f32[n]
  param "rows" i64
  param "columns" i64
  result f32[?1, ?2]
}
entry "slice" @slice {
  symbols [n, m, "?"]
  param "x" f32[n, m]
  param "start" i64
  param "count" i64
  result f32[?2, m]
}
entry "row" @row {
  symbols [n, m]
  param "x" f32[n, m]
  param "index" i64
  result f32[m]
}
entry "store" @store {
  symbols [n, m]
  param "x" f32[n, m]
  param "index" i64
  param "row" f32[m]
  result f32[n, m]
}
entry "load" @load {
  symbols [n, m]
  param "x" f32[n, m]
  param "i" i64
  param "j" i64
  result f32
}
entry "grow" @grow {
  symbols ["?"]
  param "n" i64
  result f32[?0]
}
entry "extend_shared" @extend_shared {
  symbols [n, "?"]
  param "x" f32[n]
  param "extent" i64
  result f32[?1]
}
entry "region" @region {
  param "size" i64
  param "offset" i64
  param "extent" i64
  result i64
}
entry "expect" @expect {
  symbols [n, m]
  param "x" f32[n, m]
  param "rows" i64
  result i64
}
entry "alloc" @alloc {
  param "n" i64
  param "m" i64
  result i64
}
entry "alias" @alias {
  param "n" i64
  result f32
}
fn @reshape (tensor<f32, 1>, i64, i64) -> (tensor<f32, 2>) regs s2 r1 {
  r0 = reshape r0!, [s0, s1]
  ret [], [r0!]
}
fn @slice (tensor<f32, 2>, i64, i64) -> (tensor<f32, 2>) regs s2 r1 {
  r0 = slice_outer r0!, s0, s1
  ret [], [r0!]
}
fn @row (tensor<f32, 2>, i64) -> (tensor<f32, 1>) regs s1 r1 {
  r0 = index_outer r0!, s0
  ret [], [r0!]
}
fn @store (tensor<f32, 2>, i64, tensor<f32, 1>) -> (tensor<f32, 2>) regs s1 r2 {
  r0 = store_outer r0!, s0, r1!
  ret [], [r0!]
}
fn @load (tensor<f32, 2>, i64, i64) -> (f32) regs s2 r1 {
  s0 = load_scalar r0!, [s0, s1]
  ret [s0], []
}
fn @grow (i64) -> (tensor<f32, 1>) regs s6 r1 {
  s1 = const i64, 0
  s2 = const i64, 1
  r0 = alloc_tensor f32, 0, [s1]
b0:
  s3 = lt.i64 s1, s0
  branch s3, b1, b2
b1:
  s4 = add.i64 s1, s2
  r0 = extend_outer r0!, s4
  s5 = cast s1, i64, f32
  r0 = store_outer_scalar r0!, s1, s5
  s1 = move_scalar s4
  jump b0
b2:
  ret [], [r0!]
}
fn @extend_shared (tensor<f32, 1>, i64) -> (tensor<f32, 1>) regs s1 r1 {
  r0 = extend_outer r0!, s0
  ret [], [r0!]
}
fn @region (i64, i64, i64) -> (i64) regs s3 r2 {
  r0 = alloc_storage s0, 6, 0
  r1 = tensor_at r0!, s1, f32, [s2]
  s0 = dim r1!, 0
  ret [s0], []
}
fn @expect (tensor<f32, 2>, i64) -> (i64) regs s2 r1 {
  s1 = const i64, -1
  expect_tensor r0, m0, [s0, s1]
  s0 = dim r0!, 1
  ret [s0], []
}
fn @alloc (i64, i64) -> (i64) regs s2 r1 {
  r0 = alloc_tensor f32, 0, [s0, s1]
  s0 = dim r0!, 1
  ret [s0], []
}
fn @alias (i64) -> (f32) regs s4 r4 {
  s1 = const f32, 5
  s2 = const i64, 0
  r0 = alloc_tensor f32, 0, [s0]
  r0 = store_outer_scalar r0!, s2, s1
  r1 = alloc_reuse r0, f32, [s0]
  s3 = load_scalar r1!, [s2]
  r2 = move r0
  r1 = alloc_reuse r0, f32, [s0]
  s1 = const f32, 7
  r1 = store_outer_scalar r1!, s2, s1
  s1 = load_scalar r0!, [s2]
  s3 = add.f32 s3, s1
  drop r1!
  drop r2!
  ret [s3], []
}
)vmasm";

}  // namespace baton::vm::test
