#include "bytecode/isa/encoder.h"

#include "base/error.h"

namespace baton::bytecode {

namespace {
constexpr uint32_t kUnbound = UINT32_MAX;
}

Label Encoder::newLabel() {
  labelOffsets_.push_back(kUnbound);
  return Label(static_cast<uint32_t>(labelOffsets_.size() - 1));
}

void Encoder::bind(Label label) {
  BATON_CHECK(labelOffsets_[label.value()] == kUnbound);
  labelOffsets_[label.value()] = offset();
}

std::vector<uint64_t> Encoder::finish() {
  for (const Fixup& fixup : fixups_) {
    const uint64_t target = labelOffsets_[fixup.label.value()];
    BATON_CHECK(target != kUnbound);
    words_[fixup.unit / 4] |= target << (16 * (fixup.unit % 4));
  }
  fixups_.clear();
  labelOffsets_.clear();
  return std::move(words_);
}

void Encoder::begin(Opcode opcode) {
  unit_ = 4 * offset();
  put16(static_cast<uint16_t>(opcode));
}

void Encoder::fixed(Label label) {
  align(2);
  fixups_.push_back({unit_, label});
  put32(0);
}

void Encoder::end() { unit_ = 4 * offset(); }

void Encoder::align(uint32_t units) { unit_ = (unit_ + units - 1) & ~(units - 1); }

void Encoder::put16(uint16_t value) {
  if (unit_ / 4 >= words_.size()) words_.push_back(0);
  words_[unit_ / 4] |= uint64_t{value} << (16 * (unit_ % 4));
  ++unit_;
}

void Encoder::put32(uint32_t value) {
  align(2);
  put16(static_cast<uint16_t>(value));
  put16(static_cast<uint16_t>(value >> 16));
}

void Encoder::put64(uint64_t value) {
  align(4);
  words_.push_back(value);
  unit_ += 4;
}

void Encoder::putCount(size_t count) {
  BATON_CHECK(count <= UINT16_MAX);
  put16(static_cast<uint16_t>(count));
}

}  // namespace baton::bytecode
