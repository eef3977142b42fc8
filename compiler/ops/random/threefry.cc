// random.threefry_generate and random.threefry_split.
#include <array>

#include <fmt/format.h>

#include "compiler/ops/declarations.h"
#include "compiler/ops/lowering/lowering.h"
#include "compiler/ops/random/random.h"
#include "compiler/ops/reference_call.h"
#include "compiler/ops/relations.h"

namespace baton::ops {

Result<void> checkNumbers(const OpCall& call, StructureContext& context) {
  BATON_TRY(context.requireDType(0, DType::U64));
  BATON_TRY(context.requireRank(0, 1));
  const ir::AttrValue* shape = call.attrs->find("out_shape");
  if (shape != nullptr && call.attrs->isNone("out_shape")) return opError(call, "no out_shape is given");
  const ir::AttrValue* type = call.attrs->find("out_dtype");
  if (type == nullptr) return success();
  const DType dtype = std::get<DType>(*type);
  if (dtype == DType::F32 || dtype == DType::F64) return success();
  return opError(call, fmt::format("out_dtype is {}; expected float32 or float64", dtypeName(dtype)));
}

Result<void> requireKey(const OpCall& call, DimsContext& context) {
  context.blame(0);
  return context.require(context.dims(0)[0], Relation::Eq, DimExpr::constant(kKeyWords),
                         fmt::format("{}: the key has {{0}} elements; expected {{1}}", call.op->name));
}

Result<std::vector<TensorDims>> keyAndNumbersDims(const OpCall& call, DimsContext& context) {
  BATON_TRY(requireKey(call, context));
  BATON_TRY_ASSIGN(std::vector<DimExpr> extents,
                   shapeExtents(call, context, {&call.attrs->dimsOf("out_shape"), 1, "out_shape"}));
  return std::vector<TensorDims>{{{DimExpr::constant(kKeyWords)}}, {std::move(extents)}};
}

ThreefryKey loadKey(const ReferenceCall& call) {
  ThreefryKey key;
  for (size_t i = 0; i < key.size(); ++i) key[i] = call.load(0, static_cast<int64_t>(i));
  return key;
}
void storeKey(const ReferenceCall& call, size_t result, const ThreefryKey& key) {
  for (size_t i = 0; i < key.size(); ++i) call.store(result, static_cast<int64_t>(i), key[i]);
}

Result<std::optional<StructureResult>> threefryGenerateStructure(const OpCall& call,
                                                                 StructureContext& context) {
  BATON_TRY(checkNumbers(call, context));
  const int rank = static_cast<int>(ThreefryGenerateAttrs{*call.attrs}.outShape()->size());
  return StructureResult{{{DType::U64, 1}, {DType::U64, rank}}, true};
}
Result<std::vector<TensorDims>> threefryGenerateDims(const OpCall& call, DimsContext& context) {
  return keyAndNumbersDims(call, context);
}

Result<std::optional<StructureResult>> threefrySplitStructure(const OpCall& call, StructureContext& context) {
  BATON_TRY(checkNumbers(call, context));
  return StructureResult{{{DType::U64, 1}, {DType::U64, 1}}, true};
}
Result<std::vector<TensorDims>> threefrySplitDims(const OpCall& call, DimsContext& context) {
  BATON_TRY(requireKey(call, context));
  return std::vector<TensorDims>(2, TensorDims{{DimExpr::constant(kKeyWords)}});
}

namespace {

using loop::Op;
using loop::Value;

Value word(loop::Builder& b, uint64_t value) { return b.constantBits(DType::U64, value); }
Value shifted(Op op, Value x, uint64_t by) { return x.builder().binary(op, x, word(x.builder(), by)); }
Value rotated(Value x, uint64_t by) { return shifted(Op::Shl, x, by) | shifted(Op::Shr, x, 64 - by); }

std::vector<Value> threefry(std::span<const Value> key, std::vector<Value> x) {
  constexpr uint64_t kRotations[8][2] = {{14, 16}, {52, 57}, {23, 40}, {5, 37},
                                         {25, 33}, {46, 12}, {58, 22}, {32, 32}};
  loop::Builder& b = x[0].builder();
  std::vector<Value> all(key.begin(), key.begin() + 4);
  all.push_back(key[0] ^ key[1] ^ key[2] ^ key[3] ^ word(b, 0x1BD11BDAA9FC1A22));
  for (size_t round = 0; round < 20; ++round) {
    if (round % 4 == 0) {
      for (size_t i = 0; i < 4; ++i) x[i] = x[i] + all[(round / 4 + i) % 5];
      x[3] = x[3] + word(b, round / 4);
    }
    const Value a = x[0] + x[1];
    const Value c = x[2] + x[3];
    x = {a, rotated(x[3], kRotations[round % 8][1]) ^ c, c, rotated(x[1], kRotations[round % 8][0]) ^ a};
  }
  return x;
}

Result<std::vector<Value>> keyOf(ElementContext& context) {
  std::vector<Value> key;
  for (int64_t i = 0; i < kKeyWords; ++i) {
    BATON_TRY_ASSIGN(const Value each, context.read(0, {context.emitter().number(i)}));
    key.push_back(each);
  }
  return key;
}

Value hasLongPath(std::span<const Value> key) {
  return loop::equal(key[8] | key[9], word(key[0].builder(), 0));
}
/// Words 8 and 9, one bit further.
std::array<Value, 2> movedOn(std::span<const Value> key) {
  return {shifted(Op::Shr, key[8], 1), shifted(Op::Shr, key[9], 1) | shifted(Op::Shl, key[8], 63)};
}

/// The key from which `count` elements are made.
std::vector<Value> readyKey(const std::vector<Value>& key, Value count) {
  loop::Builder& b = count.builder();
  const Value zero = word(b, 0);
  const Value isUsedUp = key[7] >= word(b, UINT64_MAX) - count;
  const Value isLong = hasLongPath(key);
  const std::vector<Value> seed = threefry(key, std::vector<Value>(4, word(b, UINT64_MAX)));
  const std::array<Value, 2> next = movedOn(key);
  std::vector<Value> other;  // when it is used up
  for (size_t i = 0; i < 4; ++i) other.push_back(loop::select(isLong, seed[i], key[i]));
  for (size_t i = 4; i < 6; ++i) other.push_back(loop::select(isLong, zero, key[i] | key[i + 4]));
  other.insert(other.end(), {zero, zero, loop::select(isLong, word(b, uint64_t{1} << 63), next[0]),
                             loop::select(isLong, zero, next[1])});
  for (size_t i = 0; i < other.size(); ++i) other[i] = loop::select(isUsedUp, other[i], key[i]);
  return other;
}

/// The one at a place.
Value chosen(Emitter& emitter, std::span<const Value> values, Value place) {
  Value result = values[0];
  for (size_t i = 1; i < values.size(); ++i)
    result = loop::select(loop::equal(place, emitter.number(static_cast<int64_t>(i))), values[i], result);
  return result;
}

}  // namespace

Result<Value> threefryGenerateElement(ElementContext& context, std::span<const Value> index) {
  Emitter& emitter = context.emitter();
  loop::Builder& b = context.builder();
  BATON_TRY_ASSIGN(const std::vector<Value> key, keyOf(context));
  const auto extents = context.resultDims(1);
  const Value number = emitter.dim(product(extents));
  // What is the same for all elements is computed before them.
  const std::vector<Value> ready =
      emitter.at(emitter.deepest(key), [&] { return readyKey(key, loop::cast(number, DType::U64)); });
  if (context.result() == 0) {
    const Value blocks = emitter.floorDiv(emitter.add(number, emitter.number(3)), emitter.number(4));
    std::vector<Value> next = ready;
    next[6] = word(b, 0);
    next[7] = next[7] + loop::cast(emitter.mul(blocks, emitter.number(4)), DType::U64);
    return chosen(emitter, next, index[0]);
  }
  Value linear = emitter.number(0);
  for (size_t axis = 0; axis < index.size(); ++axis)
    linear = emitter.add(emitter.mul(linear, emitter.dim(extents[axis])), index[axis]);
  const Value four = emitter.number(4);
  const Value block = emitter.floorDiv(linear, four);
  const Value isWhole = block < emitter.floorDiv(number, four);
  const Value by = loop::cast(block, DType::U64);
  const Value every = loop::select(isWhole, by, word(b, 0));
  std::vector<Value> counter(ready.begin() + 4, ready.begin() + 8);
  for (size_t i = 0; i < 3; ++i) counter[i] = counter[i] + every;
  counter[3] = counter[3] + loop::select(isWhole, by, by * word(b, 4));
  return chosen(emitter, threefry(ready, std::move(counter)), emitter.floorMod(linear, four));
}

Result<void> threefryGenerateReference(ReferenceCall& call) {
  const auto count = static_cast<uint64_t>(elementCount(call.results[1].shape));
  const ThreefryKey ready = plainReadyKey(loadKey(call), count);
  storeKey(call, 0, plainNextKey(ready, count));
  for (uint64_t i = 0; i < count; ++i)
    call.store(1, static_cast<int64_t>(i), plainRandomBits(ready, count, i));
  return success();
}

Result<Value> threefrySplitElement(ElementContext& context, std::span<const Value> index) {
  Emitter& emitter = context.emitter();
  loop::Builder& b = context.builder();
  BATON_TRY_ASSIGN(const std::vector<Value> key, keyOf(context));
  const bool isRight = context.result() == 1;
  const Value zero = word(b, 0);
  const Value isLong = hasLongPath(key);
  const std::vector<Value> seed = threefry(key, {key.begin() + 4, key.begin() + 8});
  const std::array<Value, 2> next = movedOn(key);
  std::vector<Value> fresh(seed);
  fresh.insert(fresh.end(), {isRight ? word(b, uint64_t{1} << 63) : zero, zero, zero, zero,
                             word(b, uint64_t{1} << 62), zero});
  std::vector<Value> longer(key.begin(), key.begin() + 8);
  if (isRight)
    for (size_t i = 4; i < 6; ++i) longer[i] = longer[i] | key[i + 4];
  longer.insert(longer.end(), {next[0], next[1]});
  for (size_t i = 0; i < longer.size(); ++i) longer[i] = loop::select(isLong, fresh[i], longer[i]);
  return chosen(emitter, longer, index[0]);
}

Result<void> threefrySplitReference(ReferenceCall& call) {
  storeKey(call, 0, plainSplitKey(loadKey(call), false));
  storeKey(call, 1, plainSplitKey(loadKey(call), true));
  return success();
}

}  // namespace baton::ops
