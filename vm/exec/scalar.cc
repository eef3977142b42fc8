#include "vm/exec/scalar.h"

#include <fmt/format.h>
#include <new>

#include "vm/message.h"

namespace baton::vm {

uint64_t castScalar(uint64_t bits, DType from, DType to) { return convertScalar(bits, from, to); }

uint64_t bitcastScalar(uint64_t bits, DType from, DType to) {
  if (isFloat(from) && !isFloat(to)) {
    const double value = scalarFromBits<double>(convertScalar(bits, from, DType::F64));
    if (value != value) {
      switch (sizeBytes(from)) {
        case 2: bits = from == DType::F16 ? 0x7E00 : 0x7FC0; break;
        case 4: bits = 0x7FC00000; break;
        case 8: bits = 0x7FF8000000000000; break;
      }
    }
  }
  unsigned char storage[8];
  storeScalar(storage, from, bits);
  return loadScalar(storage, to);
}

bool failExtent(Machine& m, const char* operation, int64_t a, int64_t b) try {
  return m.failProgram(
      fmt::format("extent out of range: {} {} {} is negative or exceeds 64 bits", a, operation, b));
} catch (const std::bad_alloc&) {
  return m.lackMemory();
}

bool failDivision(Machine& m, DType type, uint64_t a, uint64_t b) try {
  if (b == 0) return m.failProgram(fmt::format("integer division by zero: {} / 0", formatScalar(type, a)));
  return m.failProgram(fmt::format("integer division overflows {}: {} / {}", dtypeName(type),
                                   formatScalar(type, a), formatScalar(type, b)));
} catch (const std::bad_alloc&) {
  return m.lackMemory();
}

}  // namespace baton::vm
