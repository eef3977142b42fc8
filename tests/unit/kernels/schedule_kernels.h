// Kernels for schedules, and what a schedule makes of one.
#pragma once

#include <string>

#include "kernels/loop/kernel.h"

namespace baton::schedule::test {

loop::Kernel kernelOf(const std::string& text);
/// The body of the kernel that a schedule makes, or why it does not.
std::string applied(const std::string& kernel, const std::string& text);
/// A text with its first `part` exchanged; there has to be one.
std::string replaced(std::string text, const std::string& part, const std::string& by);

inline constexpr const char* kRows = R"(kernel "rows" {
  symbol m = operand 0 axis 0
  symbol n = operand 0 axis 1
  input f32[m, n]
  output f32[m, n]
  for %0 < $m as i {
    for %1 < $n as j {
      %2 = load in0[%0, %1]
      %3 = mul f32 %2, f32(2)
      store out0[%0, %1], %3
    }
  }
})";

/// A blur along columns that goes through a scratch buffer.
inline constexpr const char* kStages = R"(kernel "stages" {
  symbol n = operand 0 axis 0
  input f32[n]
  output f32[n]
  scratch f32[n]
  for %0 < $n as p {
    %1 = load in0[%0]
    %2 = mul f32 %1, f32(3)
    store tmp0[%0], %2
  }
  %3 = sub i64 $n, 1
  for %4 < $n as c {
    %5 = load tmp0[%4]
    %6 = add i64 %4, 1
    %7 = min i64 %6, %3
    %8 = load in0[%7]
    %9 = add f32 %5, %8
    store out0[%4], %9
  }
})";

inline constexpr const char* kProduct = R"(kernel "product" {
  symbol m = operand 0 axis 0
  input f32[m, 24]
  input f32[24, 16]
  output f32[m, 16]
  for %0 < $m as i {
    for %1 < 16 as j {
      local l0 f32
      for %2 < 24 as k {
        %3 = load in0[%0, %2]
        %4 = load in1[%2, %1]
        %5 = get l0
        %6 = fma f32 %3, %4, %5
        set l0, %6
      }
      %7 = get l0
      store out0[%0, %1], %7
    }
  }
})";

/// Rows of products with a matrix of padded rows; what is done with a sum depends on its row, too.
inline constexpr const char* kSums = R"(kernel "sums" {
  symbol m = operand 0 axis 0
  symbol n = operand 0 axis 1
  input f32[m, n]
  input f32[n, 8]
  input f32[m]
  output f32[m, 7]
  for %0 < $m as i {
    %1 = load in2[%0]
    local l0 f32[8]
    for %2 < $n as k {
      %3 = load in0[%0, %2]
      for %4 < 8 as j {
        %5 = load in1[%2, %4]
        %6 = get l0[%4]
        %7 = fma f32 %3, %5, %6
        set l0[%4], %7
      }
    }
    for %8 < 7 as r {
      %9 = get l0[%8]
      %10 = add f32 %9, %1
      store out0[%0, %8], %10
    }
  }
})";

/// Read along the outer loop, written along the inner one.
inline constexpr const char* kTurned = R"(kernel "turned" {
  symbol m = operand 0 axis 0
  symbol n = operand 0 axis 1
  input f32[m, n]
  input f32[n, m]
  output f32[n, m]
  for %0 < $n as i {
    for %1 < $m as j {
      %2 = load in0[%1, %0]
      %3 = load in1[%0, %1]
      %4 = add f32 %2, %3
      store out0[%0, %1], %4
    }
  }
})";

}  // namespace baton::schedule::test
