#include <catch2/catch.hpp>

#include "kernels/loop/parser.h"
#include "kernels/loop/verifier.h"

namespace baton::loop {
namespace {

/// The message for a body in a kernel with some of everything; empty when it verifies.
std::string verdict(const std::string& body) {
  Result<Kernel> parsed = parseKernel(R"(kernel "k" {
    symbol n = operand 0 axis 0
    input f32[n] output f32[n] output f16[n, n] scalar_input i32 scalar_output i64
    message "m" scratch f32[n]
  )" + body + "\n}");
  if (!parsed.has_value()) FAIL(parsed.error().message());
  Result<void> result = verify(parsed.value());
  if (result.has_value()) return "";
  CHECK(result.error().code() == ErrorCode::VerifyFailed);
  return result.error().message();
}

TEST_CASE("loop verifier: accepts what is right") {
  CHECK(verdict("") == "");
  CHECK(verdict("for %0 < $n { %1 = load in0[%0] store out0[%0], %1 store tmp0[%0], %1 }") == "");
  CHECK(verdict("%0 = floordiv i64 $n, 3") == "");
  CHECK(verdict("%0 = floordiv i64 $n, 0 or_fail 0") == "");
  CHECK(verdict("%0 = reduce argmax (%1 < 3, %2 < 4) { yield %2 } set_scalar 0, %0") == "");
  CHECK(verdict("%0 = reduce sum () { yield f32(1) }") == "");
}

TEST_CASE("loop verifier: scopes") {
  CHECK(verdict("for %0 < $n { %1 = add i64 %0, 1 } set_scalar 0, %1") ==
        "kernel k: node 5 (set_scalar): operand 4 is not defined here");
  CHECK(verdict("for %0 < $n { } set_scalar 0, %0") ==
        "kernel k: node 3 (set_scalar): operand 1 is not defined here");
  CHECK(verdict("if true { local l0 i64 } set l0, 1") ==
        "kernel k: node 4 (set): local 0 is not declared here");
}

TEST_CASE("loop verifier: types") {
  CHECK(verdict("%0 = add i64 $n, i32(1)") == "kernel k: node 2 (add): operand of type i32: expected i64");
  CHECK(verdict("%0 = add i32 $n, 1") == "kernel k: node 2 (add): result of type i32");
  CHECK(verdict("%0 = div i64 $n, 1") == "kernel k: node 2 (div): operand of type i64");
  CHECK(verdict("%0 = load out1[0, 0] %1 = add f16 %0, %0") == "kernel k: node 2 (add): operand of type f16");
  CHECK(verdict("%0 = bitcast i32 $n") == "kernel k: node 1 (bitcast): i64 as i32");
  CHECK(verdict("%0 = select i64 $n, 1, 2") ==
        "kernel k: node 3 (select): operand of type i64: expected bool");
  CHECK(verdict("for %0 < arg0 { }") == "kernel k: node 2 (for): operand of type i32: expected i64");
  CHECK(verdict("%0 = reduce all (%1 < 3) { yield %1 }") ==
        "kernel k: node 2 (reduce): expected a bool to reduce");
  CHECK(verdict("%0 = load out1[0, 0] %1 = reduce max () { yield %0 }") ==
        "kernel k: node 2 (reduce): value of type f16");
}

TEST_CASE("loop verifier: memory") {
  CHECK(verdict("store in0[0], f32(1)") == "kernel k: node 2 (store): an input is written");
  CHECK(verdict("%0 = load out1[0]") == "kernel k: node 1 (load): 1 operands: expected 2");
  CHECK(verdict("store out0[0], f64(1)") == "kernel k: node 2 (store): operand of type f64: expected f32");
  CHECK(verdict("parallel %0 < $n { set_scalar 0, 1 }") ==
        "kernel k: node 4 (set_scalar): a scalar output is set in a parallel or vectorized loop or a "
        "reduction");
  CHECK(verdict("local l0 i64 parallel %0 < $n { set l0, 1 }") ==
        "kernel k: node 5 (set): a local declared outside a parallel loop is set inside it");
  CHECK(verdict("local l0 i64 vectorized %0 < $n { set l0, 1 }") ==
        "kernel k: node 5 (set): a scalar local declared outside a vectorized loop is set inside it");
  CHECK(verdict("%0 = reduce sum (%1 < 3) { store out0[0], f32(0) yield %1 }") ==
        "kernel k: node 5 (store): a reduction stores");
  CHECK(verdict("local l0 i64[16000, 0] set l0[0, 0], 1") == "");
  CHECK(verdict("local l0 i64[16000, 16000]") ==
        "kernel k: local 0 is too large: at most 16384 elements are allowed");
}

TEST_CASE("loop verifier: divisions, messages and loops") {
  CHECK(verdict("%0 = floordiv i64 1, $n") ==
        "kernel k: node 2 (floordiv): division that can fail has no message");
  CHECK(verdict("%0 = truncmod i64 1, -1") ==
        "kernel k: node 2 (truncmod): division that can fail has no message");
  CHECK(verdict("%0 = floordiv i64 1, $n or_fail 1") ==
        "kernel k: node 2 (floordiv): message 1 out of range: there are 1");
  CHECK(verdict("fail 7") == "kernel k: node 0 (fail): message 7 out of range: there are 1");
  CHECK(verdict("unrolled %0 < $n { }") ==
        "kernel k: node 2 (for): an unrolled loop needs a constant extent of at most 1024");
  CHECK(verdict("parallel %0 < $n grain 0 { }") ==
        "kernel k: node 2 (for): a parallel loop needs a grain of at least 1");
}

TEST_CASE("loop verifier: the descriptor is checked too") {
  Result<Kernel> parsed = parseKernel("kernel \"k\" { symbol n = operand 3 axis 0 }");
  REQUIRE(parsed.has_value());
  CHECK(verify(parsed.value()).error().message() == "kernel k: symbol n comes from operand 3: there are 0");
}

}  // namespace
}  // namespace baton::loop
