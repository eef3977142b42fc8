// Programs of scalar instructions, made from a list of mnemonics.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "base/dtype.h"

namespace baton::vm::test {

/// A function for each mnemonic, named like it without the dot: `add_i8(a, b)`.
struct ScalarOps {
  DType type;
  std::vector<std::string_view> binary;       ///< "add": of two, gives the type
  std::vector<std::string_view> comparisons;  ///< gives bool
  std::vector<std::string_view> unary;
};

inline std::string programOf(const ScalarOps& ops) {
  const std::string_view type = dtypeShortName(ops.type);
  std::string text;
  const auto add = [&](std::string_view name, std::string_view result, bool isBinary) {
    text += fmt::format("entry \"{0}\" @{0} {{\n  param \"a\" {1}\n{2}  result {3}\n}}\n", name, type,
                        isBinary ? fmt::format("  param \"b\" {}\n", type) : "", result);
    text += fmt::format("fn @{0} ({1}) -> ({2}) regs s2 r0 {{\n  s0 = {0}.{3} s0{4}\n  ret [s0], []\n}}\n",
                        name, isBinary ? fmt::format("{0}, {0}", type) : std::string(type), result, type,
                        isBinary ? ", s1" : "");
  };
  for (const std::string_view name : ops.binary) add(name, type, true);
  for (const std::string_view name : ops.comparisons) add(name, "bool", true);
  for (const std::string_view name : ops.unary) add(name, type, false);
  return text;
}

/// What is there for each type.
inline std::vector<ScalarOps> allScalarOps() {
  std::vector<ScalarOps> all;
  for (int number = 0; number < kDTypeCount; ++number) {
    const auto type = static_cast<DType>(number);
    ScalarOps ops{type, {"add", "sub", "mul", "min", "max"}, {"lt", "le", "eq", "ne"}, {"neg", "abs"}};
    if (type == DType::Bool) {
      ops = {type, {"and", "or", "xor"}, {"eq", "ne"}, {"not"}};
    } else if (isInteger(type)) {
      for (const std::string_view name :
           {"floor_div", "floor_mod", "trunc_div", "trunc_mod", "and", "or", "xor", "shl", "shr"})
        ops.binary.push_back(name);
      ops.unary.push_back("not");
    } else if (type == DType::F32 || type == DType::F64) {
      for (const std::string_view name : {"div", "floor_mod", "trunc_mod"}) ops.binary.push_back(name);
      for (const std::string_view name : {"sqrt", "floor", "ceil", "trunc", "round"})
        ops.unary.push_back(name);
    } else {
      continue;  // f16 and bf16 have no arithmetic of their own
    }
    all.push_back(std::move(ops));
  }
  return all;
}

/// Instructions that are no arithmetic: extents, choices, conversions, tags, boxes.
inline constexpr std::string_view kChoices = R"vmasm(
type t0 = "Three" {
  "A" ()
  "B" (i64 s0)
  "C" ()
}
message m0 = "{0} is not below {1}"
entry "extent_add" @extent_add {
  param "a" i64
  param "b" i64
  result i64
}
entry "extent_sub" @extent_sub {
  param "a" i64
  param "b" i64
  result i64
}
entry "extent_mul" @extent_mul {
  param "a" i64
  param "b" i64
  result i64
}
entry "ceil_div" @ceil_div {
  param "a" i64
  param "b" i64
  result i64
}
entry "select" @select {
  param "c" bool
  param "a" f64
  param "b" f64
  result f64
}
entry "switch" @switch {
  param "n" i64
  result i64
}
entry "tag" @tag {
  param "n" i64
  result i64
}
entry "bits" @bits {
  param "x" f32
  result i32
}
entry "float" @float {
  param "x" i32
  result f32
}
entry "half_bits" @half_bits {
  param "x" f16
  result u16
}
entry "box" @box {
  param "x" f32
  result f32
}
entry "refuse" @refuse {
  param "a" i64
  param "b" i64
  result i64
}
entry "end" @end {
  param "a" i64
  param "b" i64
  result i64
}
fn @extent_add (i64, i64) -> (i64) regs s2 r0 {
  s0 = extent_add s0, s1
  ret [s0], []
}
fn @extent_sub (i64, i64) -> (i64) regs s2 r0 {
  s0 = extent_sub s0, s1
  ret [s0], []
}
fn @extent_mul (i64, i64) -> (i64) regs s2 r0 {
  s0 = extent_mul s0, s1
  ret [s0], []
}
fn @ceil_div (i64, i64) -> (i64) regs s2 r0 {
  s0 = ceil_div.i64 s0, s1
  ret [s0], []
}
fn @select (bool, f64, f64) -> (f64) regs s3 r0 {
  s0 = select s0, s1, s2
  ret [s0], []
}
fn @switch (i64) -> (i64) regs s1 r0 {
  switch s0, [b0, b1, b2]
b0:
  s0 = const i64, 10
  ret [s0], []
b1:
  s0 = const i64, 11
  ret [s0], []
b2:
  s0 = const i64, 12
  ret [s0], []
}
fn @tag (i64) -> (i64) regs s1 r1 {
  switch s0, [b0, b1, b2]
b0:
  r0 = make_adt 0, t0, [], []
  jump b3
b1:
  r0 = make_adt 1, t0, [], [s0]
  jump b3
b2:
  r0 = make_adt 2, t0, [], []
  jump b3
b3:
  s0 = get_tag r0!
  ret [s0], []
}
fn @bits (f32) -> (i32) regs s1 r0 {
  s0 = bitcast s0, f32, i32
  ret [s0], []
}
fn @float (i32) -> (f32) regs s1 r0 {
  s0 = bitcast s0, i32, f32
  ret [s0], []
}
fn @half_bits (f16) -> (u16) regs s1 r0 {
  s0 = bitcast s0, f16, u16
  ret [s0], []
}
fn @box (f32) -> (f32) regs s1 r1 {
  r0 = box_scalar s0, f32
  s0 = load_scalar r0!, []
  ret [s0], []
}
fn @refuse (i64, i64) -> (i64) regs s3 r0 {
  s2 = lt.i64 s0, s1
  check s2, m0, [s0, s1]
  ret [s0], []
}
fn @end (i64, i64) -> (i64) regs s2 r0 {
  fail m0, [s0, s1]
}
)vmasm";

}  // namespace baton::vm::test
