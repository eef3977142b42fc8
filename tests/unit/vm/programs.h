// Programs that several tests run.
#pragma once

#include <string_view>

namespace baton::vm::test {

/// fib(n); loop(n) adds 0 .. n-1; depth(n) is n, by recursion n deep; tail(n) the same by
/// tail calls; forever(n) does not end; divide(n) is 100 / n.
inline constexpr std::string_view kScalars = R"vmasm(
entry "fib" @fib {
  param "n" i64
  result i64
}
entry "loop" @loop {
  param "n" i64
  result i64
}
entry "depth" @depth {
  param "n" i64
  result i64
}
entry "tail" @tail {
  param "n" i64
  result i64
}
entry "forever" @forever {
  param "n" i64
  result i64
}
entry "divide" @outer {
  param "n" i64
  result i64
}
fn @fib (i64) -> (i64) regs s4 r0 {
  s1 = const i64, 2
  s2 = lt.i64 s0, s1
  branch s2, b1, b0
b0:
  s2 = sub.i64 s0, s1
  s3 = const i64, 1
  s3 = sub.i64 s0, s3
  s3 = call @fib, [s3], []
  s2 = call @fib, [s2], []
  s0 = add.i64 s2, s3
  ret [s0], []
b1:
  ret [s0], []
}
fn @loop (i64) -> (i64) regs s5 r0 {
  s1 = const i64, 0
  s2 = const i64, 1
  s3 = const i64, 0
b0:
  s4 = lt.i64 s1, s0
  branch s4, b1, b2
b1:
  s3 = add.i64 s3, s1
  s1 = add.i64 s1, s2
  jump b0
b2:
  ret [s3], []
}
fn @depth (i64) -> (i64) regs s3 r0 {
  s1 = const i64, 0
  s2 = eq.i64 s0, s1
  branch s2, b1, b0
b0:
  s1 = const i64, 1
  s2 = sub.i64 s0, s1
  s2 = call @depth, [s2], []
  s0 = add.i64 s2, s1
  ret [s0], []
b1:
  ret [s1], []
}
fn @tail (i64) -> (i64) regs s2 r0 {
  s1 = const i64, 0
  tail_call @tail_from, [s0, s1], []
}
fn @tail_from (i64, i64) -> (i64) regs s4 r0 {
  s2 = const i64, 0
  s3 = eq.i64 s0, s2
  branch s3, b1, b0
b0:
  s2 = const i64, 1
  s0 = sub.i64 s0, s2
  s1 = add.i64 s1, s2
  tail_call @tail_from, [s0, s1], []
b1:
  ret [s1], []
}
fn @forever (i64) -> (i64) regs s1 r0 {
b0:
  jump b0
}
fn @outer (i64) -> (i64) regs s1 r0 {
  .loc "model.relay":3:1
  s0 = call @divide, [s0], []
  ret [s0], []
}
fn @divide (i64) -> (i64) regs s2 r0 {
  .loc "model.relay":7:5
  s1 = const i64, 100
  .loc "model.relay":8:9 "divide"
  s0 = trunc_div.i64 s1, s0
  ret [s0], []
}
)vmasm";

/// Lists of i64: build(n) is [0, ..., n-1]; increment maps by recursion; sum folds; nested(n) is
/// n levels of a left-nested pair.
inline constexpr std::string_view kLists = R"vmasm(
type t0 = "List[int64]" list {
  "Cons" (i64 s0, adt<t0> r0)
  "Nil" ()
}
type t1 = "Snoc" {
  "Empty" ()
  "Snoc" (adt<t1> r0, f32[2] r1)
}
entry "build" @build {
  param "n" i64
  result adt<t0>
}
entry "increment" @increment {
  param "xs" adt<t0>
  result adt<t0>
}
entry "sum" @sum {
  param "xs" adt<t0>
  result i64
}
entry "all" @all {
  param "n" i64
  result i64
}
entry "snoc" @snoc {
  param "n" i64
  param "x" f32[2]
  result adt<t1>
}
entry "head" @head {
  param "xs" adt<t0>
  result i64
}
fn @build (i64) -> (adt<t0>) regs s4 r2 {
  s1 = const i64, 1
  s2 = const i64, 0
  r0 = make_adt 1, t0, [], []
b0:
  s3 = eq.i64 s0, s2
  branch s3, b2, b1
b1:
  s0 = sub.i64 s0, s1
  r1 = make_adt 0, t0, [r0!], [s0]
  r0 = move r1!
  jump b0
b2:
  ret [], [r0!]
}
fn @increment (adt<t0>) -> (adt<t0>) regs s2 r2 {
  switch_tag r0, [b0, b1]
b0:
  s0 = get_field_scalar r0, 0, 0
  r1 = get_field_ref r0!, 0, 0
  s1 = const i64, 1
  s0 = add.i64 s0, s1
  r1 = call @increment, [], [r1!]
  r0 = make_adt 0, t0, [r1!], [s0]
  ret [], [r0!]
b1:
  ret [], [r0!]
}
fn @sum (adt<t0>) -> (i64) regs s2 r2 {
  s0 = const i64, 0
b0:
  switch_tag r0, [b1, b2]
b1:
  s1 = get_field_scalar r0, 0, 0
  r1 = get_field_ref r0!, 0, 0
  s0 = add.i64 s0, s1
  r0 = move r1!
  jump b0
b2:
  drop r0!
  ret [s0], []
}
fn @all (i64) -> (i64) regs s1 r1 {
  r0 = call @build, [s0], []
  r0 = call @increment, [], [r0!]
  s0 = call @sum, [], [r0!]
  ret [s0], []
}
fn @snoc (i64, tensor<f32, 1>) -> (adt<t1>) regs s4 r3 {
  s1 = const i64, 1
  s2 = const i64, 0
  r1 = make_adt 0, t1, [], []
b0:
  s3 = eq.i64 s0, s2
  branch s3, b2, b1
b1:
  s0 = sub.i64 s0, s1
  r2 = make_adt 1, t1, [r1!, r0], []
  r1 = move r2!
  jump b0
b2:
  drop r0!
  ret [], [r1!]
}
fn @head (adt<t0>) -> (i64) regs s1 r1 {
  s0 = get_field_scalar r0!, 0, 0
  ret [s0], []
}
)vmasm";

/// Closures: apply(a, b) adds through a closure over a; count(n) through a closure that calls itself;
/// escape(a) returns the closure.
inline constexpr std::string_view kClosures = R"vmasm(
signature sig0 = (i64) -> (i64)
entry "apply" @apply {
  param "a" i64
  param "b" i64
  result i64
}
entry "count" @count {
  param "n" i64
  result i64
}
entry "escape" @escape {
  param "a" i64
  result closure<sig0>
}
entry "use" @use {
  param "f" closure<sig0>
  param "b" i64
  result i64
}
fn @apply (i64, i64) -> (i64) regs s2 r1 {
  r0 = make_closure @add, [], [s0]
  s0 = call_closure r0!, [s1], []
  ret [s0], []
}
fn @add closure [i64] (i64) -> (i64) regs s2 r1 {
  s1 = capture_scalar r0!, 0
  s0 = add.i64 s0, s1
  ret [s0], []
}
fn @count (i64) -> (i64) regs s2 r1 {
  s1 = const i64, 3
  r0 = make_closure @step, [], [s1]
  tail_call_closure r0!, [s0], []
}
fn @step closure [i64] (i64) -> (i64) regs s4 r2 {
  s1 = const i64, 0
  s2 = eq.i64 s0, s1
  branch s2, b1, b0
b0:
  s3 = capture_scalar r0, 0
  s1 = const i64, 1
  s0 = sub.i64 s0, s1
  s0 = call_closure r0!, [s0], []
  s0 = add.i64 s0, s3
  ret [s0], []
b1:
  drop r0!
  ret [s1], []
}
fn @escape (i64) -> (closure<sig0>) regs s1 r1 {
  r0 = make_closure @add, [], [s0]
  ret [], [r0!]
}
fn @use (closure<sig0>, i64) -> (i64) regs s1 r1 {
  s0 = call_closure r0!, [s0], []
  ret [s0], []
}
)vmasm";

/// Cells: counter(n) counts in a cell; cycle(n) leaves n cycles through cells behind; leak
/// returns a tuple with a cell in it. taken(what) empties a cell, then writes and reads it (0),
/// reads it (1), empties it again (2), or leaves it so, held by a value that it held (else).
inline constexpr std::string_view kCells = R"vmasm(
kind k0 = i64
kind k1 = adt<t0>
type t0 = "Node" {
  "End" ()
  "Link" (cell<k1> r0)
}
type t1 = "Holder" {
  "Holder" (i64 s0, adt<t0> r0)
}
entry "counter" @counter {
  param "n" i64
  result i64
}
entry "cycle" @cycle {
  param "n" i64
  result i64
}
entry "leak" @leak {
  result adt<t1>
}
entry "taken" @taken {
  param "what" i64
  result i64
}
fn @counter (i64) -> (i64) regs s4 r1 {
  s1 = const i64, 0
  r0 = cell_new_scalar k0, s1
  s2 = const i64, 1
b0:
  s3 = cell_read_scalar r0
  s3 = add.i64 s3, s2
  cell_write_scalar r0, s3
  s3 = lt.i64 s3, s0
  branch s3, b0, b1
b1:
  s0 = cell_read_scalar r0!
  ret [s0], []
}
fn @cycle (i64) -> (i64) regs s4 r3 {
  s1 = const i64, 0
  s2 = const i64, 1
b0:
  r0 = make_adt 0, t0, [], []
  r1 = cell_new_ref k1, r0!
  r2 = make_adt 1, t0, [r1], []
  cell_write_ref r1!, r2!
  s1 = add.i64 s1, s2
  s3 = lt.i64 s1, s0
  branch s3, b0, b1
b1:
  ret [s1], []
}
fn @leak () -> (adt<t1>) regs s1 r2 {
  r0 = make_adt 0, t0, [], []
  r1 = cell_new_ref k1, r0!
  r0 = make_adt 1, t0, [r1!], []
  s0 = const i64, 7
  r1 = make_adt 0, t1, [r0!], [s0]
  ret [], [r1!]
}
fn @taken (i64) -> (i64) regs s1 r3 {
  r0 = make_adt 0, t0, [], []
  r1 = cell_new_ref k1, r0!
  r0 = make_adt 1, t0, [r1], []
  cell_write_ref r1, r0!
  r2 = cell_take_ref r1
  switch s0, [b0, b1, b2, b3]
b0:
  cell_write_ref r1, r2!
  r0 = cell_take_ref r1!
  s0 = get_tag r0!
  ret [s0], []
b1:
  r0 = cell_read_ref r1
  jump b4
b2:
  r0 = cell_take_ref r1
  jump b4
b3:
  r0 = make_adt 0, t0, [], []
b4:
  s0 = get_tag r2!
  drop r1!
  drop r0!
  ret [s0], []
}
)vmasm";

}  // namespace baton::vm::test
