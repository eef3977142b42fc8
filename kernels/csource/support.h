/* What the C source of kernels is written with. The meaning of each operation is that of loop IR: integers
 * wrap, floats are rounded once per operation, results are the same to the bit wherever this is compiled. */
#include <baton/kernel_abi.h>
#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#if FLT_EVAL_METHOD != 0
#error "floats must be computed in their own precision"
#endif
#ifdef __FAST_MATH__
#error "floats must be computed as written: no -ffast-math"
#endif
#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#elif defined(__GNUC__)
#pragma GCC optimize("fp-contract=off")
#endif
#if defined(__GNUC__)
#define B_FUNCTION static inline __attribute__((unused))
#else
#define B_FUNCTION static inline
#endif

/* f16 and bf16 are storage types. */
typedef uint16_t f16;
typedef uint16_t bf16;

/* ---- memory */

#define B_MEMORY(name, type)                                                           \
  B_FUNCTION type load_##name(const void* buffer, int64_t index) {                     \
    type value;                                                                        \
    memcpy(&value, (const char*)buffer + index * (int64_t)sizeof value, sizeof value); \
    return value;                                                                      \
  }                                                                                    \
  B_FUNCTION void store_##name(void* buffer, int64_t index, type value) {              \
    memcpy((char*)buffer + index * (int64_t)sizeof value, &value, sizeof value);       \
  }
B_MEMORY(i8, int8_t)
B_MEMORY(i16, int16_t)
B_MEMORY(i32, int32_t)
B_MEMORY(i64, int64_t)
B_MEMORY(u8, uint8_t)
B_MEMORY(u16, uint16_t)
B_MEMORY(u32, uint32_t)
B_MEMORY(u64, uint64_t)
B_MEMORY(f16, f16)
B_MEMORY(bf16, bf16)
B_MEMORY(f32, float)
B_MEMORY(f64, double)
B_FUNCTION bool load_bool(const void* buffer, int64_t index) { return load_u8(buffer, index) != 0; }
B_FUNCTION void store_bool(void* buffer, int64_t index, bool value) { store_u8(buffer, index, value); }

/* ---- bits. A NaN that becomes an integer is the canonical one. */

B_FUNCTION float f32_of_bits(uint32_t bits) {
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}
B_FUNCTION double f64_of_bits(uint64_t bits) {
  double value;
  memcpy(&value, &bits, sizeof value);
  return value;
}
B_FUNCTION uint32_t bits_of_f32(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return value != value ? UINT32_C(0x7FC00000) : bits;
}
B_FUNCTION uint64_t bits_of_f64(double value) {
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  return value != value ? UINT64_C(0x7FF8000000000000) : bits;
}
B_FUNCTION uint16_t bits_of_f16(f16 value) { return (value & 0x7FFF) > 0x7C00 ? 0x7E00 : value; }
B_FUNCTION uint16_t bits_of_bf16(bf16 value) { return (value & 0x7FFF) > 0x7F80 ? 0x7FC0 : value; }
/* As scalars of a kernel travel: the bits as they are. */
B_FUNCTION int64_t scalar_of_f32(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return (int64_t)bits;
}
B_FUNCTION int64_t scalar_of_f64(double value) {
  int64_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

/* ---- integers; `wide` is not promoted to a signed type */

#define B_INTEGER(name, type, unsigned_type, wide, width, lowest)                                      \
  B_FUNCTION type add_##name(type a, type b) { return (type)((wide)a + (wide)b); }                     \
  B_FUNCTION type sub_##name(type a, type b) { return (type)((wide)a - (wide)b); }                     \
  B_FUNCTION type mul_##name(type a, type b) { return (type)((wide)a * (wide)b); }                     \
  B_FUNCTION bool div_fails_##name(type a, type b) {                                                   \
    return b == 0 || (lowest != 0 && a == lowest && b == (type) - 1);                                  \
  }                                                                                                    \
  B_FUNCTION type truncdiv_##name(type a, type b) { return (type)(a / b); }                            \
  B_FUNCTION type truncmod_##name(type a, type b) { return (type)(a % b); }                            \
  B_FUNCTION type floordiv_##name(type a, type b) {                                                    \
    return (type)(a / b - (a % b != 0 && lowest != 0 && (a < 0) != (b < 0)));                          \
  }                                                                                                    \
  B_FUNCTION type floormod_##name(type a, type b) {                                                    \
    const type rest = (type)(a % b);                                                                   \
    return rest != 0 && lowest != 0 && (rest < 0) != (b < 0) ? (type)(rest + b) : rest;                \
  }                                                                                                    \
  B_FUNCTION type shl_##name(type a, type count) {                                                     \
    return (unsigned_type)count >= width ? (type)0 : (type)((wide)a << (unsigned_type)count);          \
  }                                                                                                    \
  B_FUNCTION type shr_##name(type a, type count) {                                                     \
    return (unsigned_type)count >= width ? (type)(a < 0 ? -1 : 0) : (type)(a >> (unsigned_type)count); \
  }                                                                                                    \
  B_FUNCTION type neg_##name(type a) { return (type)((wide)0 - (wide)a); }                             \
  B_FUNCTION type abs_##name(type a) { return a < 0 ? neg_##name(a) : a; }                             \
  B_FUNCTION type min_##name(type a, type b) { return a < b ? a : b; }                                 \
  B_FUNCTION type max_##name(type a, type b) { return a < b ? b : a; }                                 \
  B_FUNCTION type from_f32_##name(float a) {                                                           \
    if (a != a) return 0;                                                                              \
    if (a >= (float)(UINT64_C(1) << (width - 1)) * (lowest != 0 ? 1.0f : 2.0f))                        \
      return lowest != 0 ? (type) ~(unsigned_type)lowest : (type) - 1;                                 \
    return a <= (float)lowest ? (type)lowest : (type)a;                                                \
  }                                                                                                    \
  B_FUNCTION type from_f64_##name(double a) {                                                          \
    if (a != a) return 0;                                                                              \
    if (a >= (double)(UINT64_C(1) << (width - 1)) * (lowest != 0 ? 1.0 : 2.0))                         \
      return lowest != 0 ? (type) ~(unsigned_type)lowest : (type) - 1;                                 \
    return a <= (double)lowest ? (type)lowest : (type)a;                                               \
  }
B_INTEGER(i8, int8_t, uint8_t, uint32_t, 8, INT8_MIN)
B_INTEGER(i16, int16_t, uint16_t, uint32_t, 16, INT16_MIN)
B_INTEGER(i32, int32_t, uint32_t, uint32_t, 32, INT32_MIN)
B_INTEGER(i64, int64_t, uint64_t, uint64_t, 64, INT64_MIN)
B_INTEGER(u8, uint8_t, uint8_t, uint32_t, 8, 0)
B_INTEGER(u16, uint16_t, uint16_t, uint32_t, 16, 0)
B_INTEGER(u32, uint32_t, uint32_t, uint32_t, 32, 0)
B_INTEGER(u64, uint64_t, uint64_t, uint64_t, 64, 0)
B_FUNCTION bool min_bool(bool a, bool b) { return a && b; }
B_FUNCTION bool max_bool(bool a, bool b) { return a || b; }

/* ---- floats */

#define B_FLOAT(name, type, suffix)                                                               \
  B_FUNCTION type add_##name(type a, type b) { return a + b; }                                    \
  B_FUNCTION type mul_##name(type a, type b) { return a * b; }                                    \
  B_FUNCTION type copysign_##name(type a, type b) { return copysign##suffix(a, b != b ? 0 : b); } \
  /* IEEE 754-2019: NaN wins, -0 is below 0. */                                                   \
  B_FUNCTION type min_##name(type a, type b) {                                                    \
    if (a != a || b != b) return (type)NAN;                                                       \
    if (a == b) return signbit(a) ? a : b;                                                        \
    return a < b ? a : b;                                                                         \
  }                                                                                               \
  B_FUNCTION type max_##name(type a, type b) {                                                    \
    if (a != a || b != b) return (type)NAN;                                                       \
    if (a == b) return signbit(a) ? b : a;                                                        \
    return a < b ? b : a;                                                                         \
  }
B_FLOAT(f32, float, f)
B_FLOAT(f64, double, )

B_FUNCTION float f32_of_bf16(bf16 a) { return f32_of_bits((uint32_t)a << 16); }
B_FUNCTION bf16 bf16_of_f32(float a) {
  const uint32_t bits = bits_of_f32(a);
  return (bf16)(a != a ? 0x7FC0 : (bits + 0x7FFF + (bits >> 16 & 1)) >> 16);
}
B_FUNCTION float f32_of_f16(f16 a) {
  const uint32_t sign = (uint32_t)(a & 0x8000) << 16;
  const uint32_t magnitude = a & 0x7FFF;
  if (magnitude >= 0x7C00)
    return f32_of_bits(sign | (magnitude == 0x7C00 ? UINT32_C(0x7F800000) : UINT32_C(0x7FC00000)));
  /* Exact: the exponents of f16 are normal ones of f32. */
  const float scaled = f32_of_bits(magnitude << 13) * 0x1p112f;
  return f32_of_bits(sign | bits_of_f32(scaled));
}
B_FUNCTION f16 f16_of_f32(float a) {
  const uint32_t bits = bits_of_f32(a);
  const uint32_t sign = bits >> 16 & 0x8000;
  uint32_t magnitude = bits & UINT32_C(0x7FFFFFFF);
  if (a != a) return 0x7E00;
  if (magnitude >= UINT32_C(0x477FF000)) return (f16)(sign | 0x7C00); /* from 65520 on */
  if (magnitude < UINT32_C(0x38800000)) {
    /* Below the normal numbers: adding 0.5 shifts the last bit of f16 to the last one of f32. */
    const float shifted = f32_of_bits(magnitude) + 0.5f;
    return (f16)(sign | (bits_of_f32(shifted) - bits_of_f32(0.5f)));
  }
  magnitude += UINT32_C(0xFFF) + (magnitude >> 13 & 1);
  return (f16)(sign | ((magnitude - UINT32_C(0x38000000)) >> 13));
}
/* To odd: rounding once more to fewer bits then gives what one rounding would. */
B_FUNCTION float odd_f32_of_f64(double a) {
  const float nearest = (float)a;
  uint32_t bits = (uint32_t)scalar_of_f32(nearest);
  if (a != a) return nearest;
  if (fabs((double)nearest) > fabs(a)) --bits;
  return f32_of_bits(bits | ((double)nearest != a));
}
/* Beyond 2^52 the low bits only matter as "there are some". */
B_FUNCTION float odd_f32_of_i64(int64_t a) {
  if (a <= -(INT64_C(1) << 52) || a >= INT64_C(1) << 52)
    a = (int64_t)(((uint64_t)a & ~UINT64_C(0xFFF)) | (((uint64_t)a & 0xFFF) != 0 ? 0x1000 : 0));
  return odd_f32_of_f64((double)a);
}
B_FUNCTION float odd_f32_of_u64(uint64_t a) {
  if (a >= UINT64_C(1) << 52) a = (a & ~UINT64_C(0xFFF)) | ((a & 0xFFF) != 0 ? 0x1000 : 0);
  return odd_f32_of_f64((double)a);
}

/* ---- sums and products of floats, in the order of the numeric contract: blocks of 4096, in each 64
 * partials that are folded by halves; blocks are combined as in adding 1 to a binary number */

#define B_REDUCTION(name, type, combine, identity)                                                    \
  typedef struct {                                                                                    \
    type partials[64];                                                                                \
    type levels[52];                                                                                  \
    int64_t in_block;                                                                                 \
    uint64_t blocks;                                                                                  \
  } name;                                                                                             \
  B_FUNCTION void name##_clear(name* r) {                                                             \
    for (int j = 0; j < 64; ++j) r->partials[j] = identity;                                           \
    r->in_block = 0;                                                                                  \
  }                                                                                                   \
  B_FUNCTION void name##_start(name* r) {                                                             \
    name##_clear(r);                                                                                  \
    r->blocks = 0;                                                                                    \
  }                                                                                                   \
  B_FUNCTION void name##_close(name* r) {                                                             \
    for (int half = 32; half > 0; half /= 2)                                                          \
      for (int j = 0; j < half; ++j) r->partials[j] = combine(r->partials[j], r->partials[j + half]); \
    type value = r->partials[0];                                                                      \
    int level = 0;                                                                                    \
    for (; (r->blocks >> level & 1) != 0; ++level) value = combine(r->levels[level], value);          \
    r->levels[level] = value;                                                                         \
    ++r->blocks;                                                                                      \
    name##_clear(r);                                                                                  \
  }                                                                                                   \
  B_FUNCTION void name##_add(name* r, type x) {                                                       \
    r->partials[r->in_block % 64] = combine(r->partials[r->in_block % 64], x);                        \
    if (++r->in_block == 4096) name##_close(r);                                                       \
  }                                                                                                   \
  B_FUNCTION type name##_finish(name* r) {                                                            \
    if (r->in_block > 0) name##_close(r);                                                             \
    type result = identity;                                                                           \
    bool any = false;                                                                                 \
    for (int level = 0; level < 52; ++level) {                                                        \
      if ((r->blocks >> level & 1) == 0) continue;                                                    \
      result = any ? combine(r->levels[level], result) : r->levels[level];                            \
      any = true;                                                                                     \
    }                                                                                                 \
    return result;                                                                                    \
  }
B_REDUCTION(sum_f32, float, add_f32, 0)
B_REDUCTION(prod_f32, float, mul_f32, 1)
B_REDUCTION(sum_f64, double, add_f64, 0)
B_REDUCTION(prod_f64, double, mul_f64, 1)

/* ---- extents. A zero divisor counts as 1 and sets `*bad`. */

B_FUNCTION int64_t dim_floordiv(int64_t a, int64_t b, bool* bad) {
  *bad |= b == 0;
  return b == 0 ? a : b == -1 ? neg_i64(a) : floordiv_i64(a, b);
}
B_FUNCTION int64_t dim_floormod(int64_t a, int64_t b, bool* bad) {
  *bad |= b == 0;
  return b == 0 || b == -1 ? 0 : floormod_i64(a, b);
}
B_FUNCTION int64_t dim_ceildiv(int64_t a, int64_t b, bool* bad) {
  return add_i64(dim_floordiv(a, b, bad), dim_floormod(a, b, bad) != 0);
}
B_FUNCTION uint64_t size_mul(uint64_t size, int64_t extent, bool* bad) {
  const uint64_t count = extent > 0 ? (uint64_t)extent : 0;
  *bad |= count != 0 && size > (uint64_t)INT64_MAX / count;
  return *bad ? 0 : size * count;
}
