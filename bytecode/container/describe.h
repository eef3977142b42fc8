// The order of fields on disk: one visitor per structure, for writing and for reading. An
// archive stores each call as one array, so that a later minor version can append fields.
#pragma once

#include <concepts>
#include <type_traits>

#include "bytecode/program.h"

namespace baton::bytecode {

template <class T, class U>
concept Like = std::same_as<std::remove_const_t<T>, U>;

template <class A>
void describe(A& archive, Like<Meta> auto& meta) {
  archive(meta.name, meta.compilerVersion, meta.flags, meta.targets);
}

/// Only what belongs to the tag.
template <class A>
void describe(A& archive, Like<Kind> auto& kind) {
  switch (kind.tag) {
    case KindTagValue::Scalar: return archive(kind.tag, kind.dtype);
    case KindTagValue::Tensor: return archive(kind.tag, kind.dtype, kind.rank, kind.device);
    case KindTagValue::Closure: return archive(kind.tag, kind.index, kind.function);
    case KindTagValue::Adt:
    case KindTagValue::Cell:
    case KindTagValue::Array: return archive(kind.tag, kind.index);
    case KindTagValue::Storage: return archive(kind.tag, kind.device);
  }
}

template <class A>
void describe(A& archive, Like<ValueType> auto& type) {
  switch (type.tag) {
    case ValueType::Tag::Tensor: return archive(type.tag, type.dtype, type.extents);
    case ValueType::Tag::Adt: return archive(type.tag, type.type, type.view);
    case ValueType::Tag::Closure: return archive(type.tag, type.signature);
    case ValueType::Tag::Cell: return archive(type.tag, type.content);
    case ValueType::Tag::Array: return archive(type.tag, type.type, type.content, type.view);
  }
}

/// Structures that begin with a tag, which says what follows.
template <class T>
inline constexpr bool kIsTagged = std::same_as<T, Kind> || std::same_as<T, ValueType>;

template <class A>
void describe(A& archive, Like<Field> auto& field) {
  archive(field.type, field.isScalar, field.slot);
}

template <class A>
void describe(A& archive, Like<Constructor> auto& constructor) {
  archive(constructor.name, constructor.fields, constructor.referenceCount, constructor.scalarCount);
}

template <class A>
void describe(A& archive, Like<TypeDef> auto& type) {
  archive(type.name, type.isTuple, type.isList, type.constructors, type.isArray);
}

template <class A>
void describe(A& archive, Like<Signature> auto& signature) {
  archive(signature.params, signature.results);
}

/// The offset of its code is the sum of the sizes before.
template <class A>
void describe(A& archive, Like<Function> auto& function) {
  archive(function.name, function.signature, function.isClosure, function.captures,
          function.scalarRegisterCount, function.referenceRegisterCount, function.codeSize);
}

template <class A>
void describe(A& archive, Like<DimConstraint> auto& constraint) {
  archive(constraint.lhs, constraint.relation, constraint.rhs);
}

template <class A>
void describe(A& archive, Like<EntryPoint::Parameter> auto& parameter) {
  archive(parameter.name, parameter.type);
}

template <class A>
void describe(A& archive, Like<EntryPoint::View> auto& view) {
  archive(view.name, view.type, view.fields);
}

template <class A>
void describe(A& archive, Like<EntryPoint::PeakMemory> auto& peak) {
  archive(peak.known, peak.bytes, peak.reason);
}

template <class A>
void describe(A& archive, Like<EntryPoint> auto& entry) {
  archive(entry.name, entry.function, entry.documentation, entry.symbols, entry.constraints, entry.parameters,
          entry.result, entry.resultIsSplit, entry.peakMemory, entry.views);
}

/// What stands in the types section.
template <class Kinds, class Types, class Signatures, class EntryPoints, class Messages>
struct TypesSection {
  Kinds& kinds;
  Types& types;
  Signatures& signatures;
  EntryPoints& entryPoints;
  Messages& messages;
};

template <class A, class... Ts>
void describe(A& archive, const TypesSection<Ts...>& section) {
  archive(section.kinds, section.types, section.signatures, section.entryPoints, section.messages);
}

/// A constant as stored: where its bytes are, from the start of the data section.
struct StoredConstant {
  DType dtype = DType::F32;
  std::vector<int64_t> extents;
  std::string layout;
  ConstantSource source = ConstantSource::Inline;
  std::string key;
  uint64_t offset = 0;
  uint64_t sizeBytes = 0;
};

template <class A>
void describe(A& archive, Like<StoredConstant> auto& constant) {
  archive(constant.dtype, constant.extents, constant.layout, constant.source, constant.key, constant.offset,
          constant.sizeBytes);
}

template <class A>
void describe(A& archive, Like<KernelSymbol> auto& symbol) {
  archive(symbol.name, symbol.from, symbol.index, symbol.axis);
}

template <class A>
void describe(A& archive, Like<KernelOperand> auto& operand) {
  archive(operand.dtype, operand.device, operand.alignmentBytes, operand.extents, operand.mayAlias,
          operand.independentAxis);
}

template <class A>
void describe(A& archive, Like<KernelDescriptor> auto& kernel) {
  archive(kernel.name, kernel.source, kernel.symbols, kernel.inputs, kernel.outputs, kernel.scalarInputs,
          kernel.scalarOutputs, kernel.messages, kernel.constraints);
}

/// The bytes of image i are native section i.
template <class A>
void describe(A& archive, Like<NativeImage> auto& image) {
  archive(image.level, image.requiredFeatures, image.entryOffsets);
}

template <class Kernels, class Images>
struct KernelsSection {
  Kernels& kernels;
  Images& images;
};

template <class A, class... Ts>
void describe(A& archive, const KernelsSection<Ts...>& section) {
  archive(section.kernels, section.images);
}

template <class A>
void describe(A& archive, Like<DebugInfo::Position> auto& position) {
  archive(position.function, position.pc, position.file, position.line, position.column, position.name,
          position.inlinedAt);
}

template <class A>
void describe(A& archive, Like<DebugInfo::Place> auto& place) {
  archive(place.file, place.line, place.column, place.name, place.inlinedAt);
}

template <class A>
void describe(A& archive, Like<DebugInfo> auto& debug) {
  archive(debug.files, debug.names, debug.positions, debug.inlineSites);
}

template <class A>
void describe(A& archive, Like<TestCase> auto& test) {
  archive(test.name, test.entryPoint, test.inputs, test.output);
}

/// Enumerations on disk: values up to and including this one are known.
template <class E>
inline constexpr E kLastValue = E::unspecified;
template <>
inline constexpr DType kLastValue<DType> = DType::F64;
template <>
inline constexpr KindTagValue kLastValue<KindTagValue> = KindTagValue::Storage;
template <>
inline constexpr ValueType::Tag kLastValue<ValueType::Tag> = ValueType::Tag::Array;
template <>
inline constexpr Relation kLastValue<Relation> = Relation::Ge;
template <>
inline constexpr ConstantSource kLastValue<ConstantSource> = ConstantSource::External;
template <>
inline constexpr KernelSource kLastValue<KernelSource> = KernelSource::External;
template <>
inline constexpr KernelSymbol::From kLastValue<KernelSymbol::From> = KernelSymbol::From::Scalar;
template <>
inline constexpr EntryPoint::PeakMemory::Known kLastValue<EntryPoint::PeakMemory::Known> =
    EntryPoint::PeakMemory::Known::Bound;

// Dim expressions are stored in postfix form, as one flat array of integers.
inline constexpr int64_t kDimConstant = 0;  ///< followed by the value
inline constexpr int64_t kDimSymbol = 1;    ///< followed by the symbol
inline constexpr int64_t kDimAdd = 2;
inline constexpr int64_t kDimMultiply = 3;
inline constexpr int64_t kDimOpaque = 8;  ///< plus the DimOp

}  // namespace baton::bytecode
