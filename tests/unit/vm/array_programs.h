// A function for each array instruction.
#pragma once

#include <string_view>

namespace baton::vm::test {

/// sum(n): 0 + ... + n-1, through an array. rows(x, n): n times x in an array. push(a, x) and
/// set(a, i, x) give the array before and after. get, length, stack, concat, unstack, split as the
/// instructions do; nested(n) is [[0], [0, 1], ...].
inline constexpr std::string_view kArrays = R"vmasm(
kind k0 = i64
kind k1 = tensor<f32, 1>
kind k2 = array<k0>
kind k3 = tensor<f32, 2>
type t0 = "Array[int64]" array {
  "" (i64)
}
type t1 = "Array[Tensor[(?,), float32]]" array {
  "" (f32[?0])
}
type t2 = "Array[Array[int64]]" array {
  "" (array<k0, t0>)
}
type t3 = "(Array[int64], Array[int64])" tuple {
  "" (array<k0, t0>, array<k0, t0>)
}
type t4 = "(Array[Tensor[(?,), float32]], Array[Tensor[(?,), float32]])" tuple {
  "" (array<k1, t1>, array<k1, t1>)
}
type t5 = "Array[Tensor[(?, ?), float32]]" array {
  "" (f32[?0, ?1])
}
entry "sum" @sum {
  param "n" i64
  result i64
}
entry "rows" @rows {
  symbols [m]
  param "n" i64
  param "x" f32[m]
  result array<k1, t1>
}
entry "push" @push {
  symbols [m]
  param "a" array<k1, t1>
  param "x" f32[m]
  result adt<t4>
}
entry "set" @set {
  param "a" array<k0, t0>
  param "i" i64
  param "x" i64
  result adt<t3>
}
entry "set_row" @set_row {
  symbols [m]
  param "a" array<k1, t1>
  param "i" i64
  param "x" f32[m]
  result adt<t4>
}
entry "get" @get {
  symbols [p]
  param "a" array<k1, t1>
  param "i" i64
  result f32[p]
}
entry "get_number" @get_number {
  param "a" array<k0, t0>
  param "i" i64
  result i64
}
entry "length" @length {
  param "a" array<k1, t1>
  result i64
}
entry "stack" @stack {
  symbols [p, q]
  param "a" array<k1, t1>
  param "extent" i64
  result f32[p, q]
}
entry "stack_numbers" @stack_numbers {
  symbols [p]
  param "a" array<k0, t0>
  result i64[p]
}
entry "concat" @concat {
  symbols [p]
  param "a" array<k1, t1>
  result f32[p]
}
entry "concat_rows" @concat_rows {
  symbols [p, q]
  param "a" array<k3, t5>
  param "extent" i64
  result f32[p, q]
}
entry "unstack" @unstack {
  symbols [n, m]
  param "x" f32[n, m]
  result array<k1, t1>
}
entry "split" @split {
  symbols [n, m, k]
  param "x" f32[n, m]
  param "counts" i32[k]
  result array<k3, t5>
}
entry "nested" @nested {
  param "n" i64
  result array<k2, t2>
}
fn @sum (i64) -> (i64) {
  s1 = const i64, 0
  s2 = const i64, 1
  s5 = const i64, 0
  r0 = array_new k0
  s3 = lt.i64 s1, s0
  branch s3, b0, b1
b0:
  r0 = array_push_scalar r0!, s1
  s1 = add.i64 s1, s2
  s3 = lt.i64 s1, s0
  branch s3, b0, b1
b1:
  s1 = array_length r0
  s0 = const i64, 0
  jump b2
b2:
  s3 = lt.i64 s0, s1
  branch s3, b3, b4
b3:
  s4 = array_get_scalar r0, s0
  s5 = add.i64 s5, s4
  s0 = add.i64 s0, s2
  jump b2
b4:
  drop r0!
  ret [s5], []
}
fn @rows (i64, tensor<f32, 1>) -> (array<k1>) {
  s1 = const i64, 0
  s2 = const i64, 1
  r1 = array_new k1
  jump b0
b0:
  s3 = lt.i64 s1, s0
  branch s3, b1, b2
b1:
  r1 = array_push_ref r1!, r0
  s1 = add.i64 s1, s2
  jump b0
b2:
  drop r0!
  ret [], [r1!]
}
fn @push (array<k1>, tensor<f32, 1>) -> (adt<t4>) {
  r2 = array_push_ref r0, r1!
  r3 = make_adt 0, t4, [r0!, r2!], []
  ret [], [r3!]
}
fn @set (array<k0>, i64, i64) -> (adt<t3>) {
  r1 = array_set_scalar r0, s0, s1
  r2 = make_adt 0, t3, [r0!, r1!], []
  ret [], [r2!]
}
fn @set_row (array<k1>, i64, tensor<f32, 1>) -> (adt<t4>) {
  r2 = array_set_ref r0, s0, r1!
  r3 = make_adt 0, t4, [r0!, r2!], []
  ret [], [r3!]
}
fn @get (array<k1>, i64) -> (tensor<f32, 1>) {
  r1 = array_get_ref r0!, s0
  ret [], [r1!]
}
fn @get_number (array<k0>, i64) -> (i64) {
  s1 = array_get_scalar r0!, s0
  ret [s1], []
}
fn @length (array<k1>) -> (i64) {
  s0 = array_length r0!
  ret [s0], []
}
fn @stack (array<k1>, i64) -> (tensor<f32, 2>) {
  r1 = stack_array r0!, f32, [s0]
  ret [], [r1!]
}
fn @stack_numbers (array<k0>) -> (tensor<i64, 1>) {
  r1 = stack_array r0!, i64, []
  ret [], [r1!]
}
fn @concat (array<k1>) -> (tensor<f32, 1>) {
  r1 = concat_array r0!, f32, []
  ret [], [r1!]
}
fn @concat_rows (array<k3>, i64) -> (tensor<f32, 2>) {
  r1 = concat_array r0!, f32, [s0]
  ret [], [r1!]
}
fn @unstack (tensor<f32, 2>) -> (array<k1>) {
  r1 = unstack_array r0!, k1
  ret [], [r1!]
}
fn @split (tensor<f32, 2>, tensor<i32, 1>) -> (array<k3>) {
  r2 = split_array r0!, r1!, k3
  ret [], [r2!]
}
fn @nested (i64) -> (array<k2>) {
  s1 = const i64, 0
  s2 = const i64, 1
  r0 = array_new k2
  r1 = array_new k0
  jump b0
b0:
  s3 = lt.i64 s1, s0
  branch s3, b1, b2
b1:
  r1 = array_push_scalar r1!, s1
  r0 = array_push_ref r0!, r1
  s1 = add.i64 s1, s2
  jump b0
b2:
  drop r1!
  ret [], [r0!]
}
)vmasm";

}  // namespace baton::vm::test
