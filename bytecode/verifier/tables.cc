#include "bytecode/verifier/tables.h"

#include <unordered_set>

#include <fmt/format.h>

#include "base/checked_math.h"
#include "bytecode/isa/encoder.h"
#include "bytecode/vmasm/printer.h"
#include "kernels/abi/descriptor_check.h"

namespace baton::bytecode {

namespace {

class TablesCheck {
 public:
  TablesCheck(const Program& program, Reporter& reporter) : p_(program), reporter_(reporter) {}

  void run() {
    for (uint32_t i = 0; i < p_.kinds.size(); ++i) kind(fmt::format("kind k{}", i), p_.kinds[i], i);
    for (uint32_t i = 0; i < p_.signatures.size(); ++i) {
      kinds(fmt::format("signature sig{}", i), p_.signatures[i].params);
      kinds(fmt::format("signature sig{}", i), p_.signatures[i].results);
    }
    for (uint32_t i = 0; i < p_.types.size(); ++i) type(i);
    for (uint32_t i = 0; i < p_.constants.size(); ++i)
      constant(fmt::format("constant c{}", i), p_.constants[i]);
    kernels();
    images();
    functions();
    entryPoints();
    debug();
    for (const TestCase& test : p_.tests)
      if (!entryNames_.contains(test.entryPoint))
        reporter_.report(Rule::TestEntry, fmt::format("test `{}` is for `{}`, which is no entry point",
                                                      test.name, test.entryPoint));
  }

 private:
  using Names = std::unordered_set<std::string_view>;

  void index(Rule rule, const std::string& owner, const char* what, uint32_t index, size_t count) {
    if (index >= count)
      reporter_.report(rule, fmt::format("{}: {} {} out of range: there are {}", owner, what, index, count));
  }

  /// `kindCount`: kinds that a cell or an array may name.
  void kind(const std::string& owner, const Kind& kind, size_t kindCount) {
    switch (kind.tag) {
      case KindTagValue::Scalar:
      case KindTagValue::Storage: return;
      case KindTagValue::Tensor:
        if (kind.rank > kMaxRank)
          reporter_.report(Rule::Rank, fmt::format("{}: rank {}: at most {}", owner, kind.rank, kMaxRank));
        return;
      case KindTagValue::Adt: return dataType(owner, kind.index);
      case KindTagValue::Closure:
        index(Rule::KindIndex, owner, "signature", kind.index, p_.signatures.size());
        if (kind.function)
          index(Rule::KindIndex, owner, "function", kind.function->value(), p_.functions.size());
        return;
      case KindTagValue::Cell:
      case KindTagValue::Array:
        index(Rule::KindIndex, owner, "kind", kind.index, p_.kinds.size());
        if (kind.index < p_.kinds.size() && kind.index >= kindCount)
          reporter_.report(Rule::KindOrder,
                           fmt::format("{}: its content k{} is not declared before it", owner, kind.index));
        return;
    }
  }

  /// Arrays have kinds of their own.
  void dataType(const std::string& owner, uint32_t type) {
    index(Rule::KindIndex, owner, "type", type, p_.types.size());
    if (type < p_.types.size() && p_.types[type].isArray)
      reporter_.report(Rule::TypeShape, fmt::format("{}: type t{} is an array", owner, type));
  }

  void arrayType(const std::string& owner, const ValueType& type) {
    index(Rule::KindIndex, owner, "type", type.type.value(), p_.types.size());
    index(Rule::KindIndex, owner, "kind", type.content.value(), p_.kinds.size());
    if (type.type.value() >= p_.types.size() || type.content.value() >= p_.kinds.size()) return;
    const TypeDef& array = p_.types[type.type.value()];
    if (!isArrayShape(array))
      return reporter_.report(Rule::TypeShape,
                              fmt::format("{}: type t{} is no array", owner, type.type.value()));
    if (kindOf(array.constructors[0].fields[0].type) != p_.kinds[type.content.value()])
      reporter_.report(Rule::TypeShape, fmt::format("{}: elements of type t{} are not of kind k{}", owner,
                                                    type.type.value(), type.content.value()));
  }
  static bool isArrayShape(const TypeDef& type) {
    return type.isArray && type.constructors.size() == 1 && type.constructors[0].fields.size() == 1;
  }

  void kinds(const std::string& owner, const std::vector<Kind>& kinds) {
    for (const Kind& one : kinds) kind(owner, one, p_.kinds.size());
  }

  void valueType(const std::string& owner, const ValueType& type, size_t symbolCount,
                 std::span<const EntryPoint::View> views = {}) {
    switch (type.tag) {
      case ValueType::Tag::Tensor:
        if (type.extents.size() > kMaxRank)
          reporter_.report(Rule::Rank,
                           fmt::format("{}: rank {}: at most {}", owner, type.extents.size(), kMaxRank));
        for (const DimExpr& extent : type.extents) dim(owner, extent, symbolCount);
        return;
      case ValueType::Tag::Adt:
      case ValueType::Tag::Array:
        if (type.tag == ValueType::Tag::Adt)
          dataType(owner, type.type.value());
        else
          arrayType(owner, type);
        if (!type.view) return;
        index(Rule::KindIndex, owner, "view", *type.view, views.size());
        if (*type.view < views.size() && views[*type.view].type != type.type)
          reporter_.report(Rule::TypeShape,
                           fmt::format("{}: view v{} is of another type", owner, *type.view));
        return;
      case ValueType::Tag::Closure:
        return index(Rule::KindIndex, owner, "signature", type.signature.value(), p_.signatures.size());
      case ValueType::Tag::Cell:
        return index(Rule::KindIndex, owner, "kind", type.content.value(), p_.kinds.size());
    }
  }

  void dim(const std::string& owner, const DimExpr& expr, size_t symbolCount) {
    if (!isOverSymbols(expr, symbolCount))
      reporter_.report(
          Rule::Dim,
          fmt::format("{}: `{}` uses a symbol that is not declared, or is too large to be evaluated", owner,
                      printDim(expr, {}).substr(0, 80)));
  }

  void constraints(const std::string& owner, const std::vector<DimConstraint>& constraints,
                   size_t symbolCount) {
    for (const DimConstraint& constraint : constraints) {
      dim(owner, constraint.lhs, symbolCount);
      dim(owner, constraint.rhs, symbolCount);
    }
  }

  /// Non-empty and new.
  void name(Rule rule, const char* what, const std::string& name, Names& names) {
    if (name.empty())
      reporter_.report(rule, fmt::format("{} {} has no name", what, names.size()));
    else if (!names.insert(name).second)
      reporter_.report(rule, fmt::format("two {}s are named `{}`", what, name));
  }

  void type(uint32_t number) {
    const TypeDef& type = p_.types[number];
    const std::string owner = fmt::format("type t{} `{}`", number, type.name);
    if (type.isTuple && type.constructors.size() != 1)
      reporter_.report(Rule::TypeShape,
                       fmt::format("{}: {} constructors: a tuple has one", owner, type.constructors.size()));
    if (type.isArray && (!isArrayShape(type) || type.isTuple || type.isList))
      reporter_.report(Rule::TypeShape,
                       fmt::format("{}: an array has one constructor with one field, its element", owner));
    if (type.constructors.size() > UINT16_MAX)
      reporter_.report(Rule::TypeShape, fmt::format("{}: {} constructors: at most {}", owner,
                                                    type.constructors.size(), UINT16_MAX));
    Names names;
    for (const Constructor& constructor : type.constructors) {
      if (!names.insert(constructor.name).second)
        reporter_.report(Rule::TypeShape,
                         fmt::format("{}: two constructors are named `{}`", owner, constructor.name));
      uint32_t counts[2] = {0, 0};
      for (size_t i = 0; i < constructor.fields.size(); ++i) {
        const Field& field = constructor.fields[i];
        valueType(owner, field.type, SIZE_MAX);
        const bool isScalar = kindOf(field.type).isScalar();
        uint32_t& next = counts[isScalar ? 0 : 1];
        if (field.isScalar != isScalar || field.slot != next)
          reporter_.report(
              Rule::FieldLayout,
              fmt::format("{}: field {} of `{}` is at {}{}: expected {}{}", owner, i, constructor.name,
                          field.isScalar ? 's' : 'r', field.slot, isScalar ? 's' : 'r', next));
        ++next;
      }
      if (counts[0] != constructor.scalarCount || counts[1] != constructor.referenceCount)
        reporter_.report(Rule::FieldLayout,
                         fmt::format("{}: `{}` has {} references and {} scalars, its counts say {} and {}",
                                     owner, constructor.name, counts[1], counts[0],
                                     constructor.referenceCount, constructor.scalarCount));
    }
  }

  void constant(const std::string& owner, const Constant& constant) {
    if (constant.extents.size() > kMaxRank)
      reporter_.report(Rule::Rank,
                       fmt::format("{}: rank {}: at most {}", owner, constant.extents.size(), kMaxRank));
    const auto count = checkedElementCount(constant.extents);
    const auto size = count ? checkedMul<int64_t>(*count, sizeBytes(constant.dtype)) : std::nullopt;
    if (!size)
      return reporter_.report(Rule::ConstantSize,
                              fmt::format("{}: its shape is negative or exceeds 64 bits", owner));
    switch (constant.source) {
      case ConstantSource::Inline: {
        // A packing may pad, and what reads it declares the padded extents.
        const auto expected = static_cast<uint64_t>(*size);
        const bool isGood =
            constant.layout.empty() ? constant.bytes.size() == expected : constant.bytes.size() >= expected;
        if (!isGood)
          reporter_.report(Rule::ConstantSize, fmt::format("{}: {} bytes: its shape has {}", owner,
                                                           constant.bytes.size(), expected));
        return;
      }
      case ConstantSource::External:
        if (!constant.bytes.empty() || constant.externalKey.find("::") == std::string::npos)
          reporter_.report(Rule::ConstantKey,
                           fmt::format("{}: key `{}` with {} bytes: expected `scope::key` and none", owner,
                                       constant.externalKey, constant.bytes.size()));
        return;
    }
  }

  void kernels() {
    Names names;
    for (const KernelDescriptor& kernel : p_.kernels) {
      name(Rule::KernelName, "kernel", kernel.name, names);
      if (auto valid = validateDescriptor(kernel); !valid.has_value())
        reporter_.report(Rule::KernelDescriptor, valid.error().message());
    }
    if (!p_.loops.empty() && p_.loops.size() != p_.kernels.size())
      reporter_.report(Rule::KernelTables, fmt::format("{} loop texts: there are {} kernels", p_.loops.size(),
                                                       p_.kernels.size()));
  }

  void images() {
    Names levels;
    for (const NativeImage& image : p_.images) {
      name(Rule::ImageLevel, "image", image.level, levels);
      if (image.entryOffsets.size() != p_.kernels.size())
        reporter_.report(Rule::KernelTables,
                         fmt::format("image `{}` has {} entries: there are {} kernels", image.level,
                                     image.entryOffsets.size(), p_.kernels.size()));
      for (uint32_t offset : image.entryOffsets)
        if (offset != NativeImage::kNoEntry && offset >= image.bytes.size())
          reporter_.report(Rule::ImageEntry,
                           fmt::format("image `{}`: entry {} out of range: the image has {} bytes",
                                       image.level, offset, image.bytes.size()));
    }
  }

  void functions() {
    Names names;
    uint64_t end = 0;
    for (const Function& function : p_.functions) {
      const std::string owner = "@" + function.name;
      name(Rule::FunctionName, "function", function.name, names);
      index(Rule::FunctionSignature, owner, "signature", function.signature.value(), p_.signatures.size());
      kinds(owner, function.captures);
      if (!function.isClosure && !function.captures.empty())
        reporter_.report(Rule::Captures, fmt::format("{} has captures: it is no closure's", owner));
      for (size_t i = 1; i < function.captures.size(); ++i)
        if (function.captures[i - 1].isScalar() && !function.captures[i].isScalar())
          reporter_.report(Rule::Captures,
                           fmt::format("{}: capture {} is a reference after a scalar", owner, i));
      registers(owner, function);
      if (function.codeOffset != end)
        reporter_.report(Rule::CodeRange,
                         fmt::format("{}: code at word {}: expected {}", owner, function.codeOffset, end));
      end += function.codeSize;
    }
    if (end != p_.code.size())
      reporter_.report(Rule::CodeRange,
                       fmt::format("functions have {} words of code: there are {}", end, p_.code.size()));
  }

  void registers(const std::string& owner, const Function& function) {
    uint64_t needs[2] = {0, function.isClosure ? 1u : 0u};
    if (function.signature.value() < p_.signatures.size())
      for (const Kind& param : p_.signatures[function.signature.value()].params)
        ++needs[param.isScalar() ? 0 : 1];
    const uint32_t counts[2] = {function.scalarRegisterCount, function.referenceRegisterCount};
    for (int bank : {0, 1})
      if (counts[bank] > kMaxRegisters || counts[bank] < needs[bank])
        reporter_.report(Rule::RegisterCount,
                         fmt::format("{}: {} registers of bank {}: expected {} to {}", owner, counts[bank],
                                     "sr"[bank], needs[bank], kMaxRegisters));
  }

  void entryPoints() {
    for (const EntryPoint& entry : p_.entryPoints) {
      const std::string owner = fmt::format("entry point `{}`", entry.name);
      name(Rule::EntryName, "entry point", entry.name, entryNames_);
      for (const EntryPoint::Parameter& parameter : entry.parameters)
        valueType(owner, parameter.type, entry.symbols.size(), entry.views);
      valueType(owner, entry.result, entry.symbols.size(), entry.views);
      for (const EntryPoint::View& one : entry.views) view(owner, entry, one);
      constraints(owner, entry.constraints, entry.symbols.size());
      dim(owner, entry.peakMemory.bytes, entry.symbols.size());
      entryFunction(owner, entry);
    }
  }

  /// A view has the fields of its type.
  void view(const std::string& owner, const EntryPoint& entry, const EntryPoint::View& view) {
    if (view.type.value() >= p_.types.size())
      return index(Rule::KindIndex, owner, "type", view.type.value(), p_.types.size());
    for (const std::vector<ValueType>& fields : view.fields)
      for (const ValueType& field : fields) valueType(owner, field, entry.symbols.size(), entry.views);
    const std::vector<Constructor>& constructors = p_.types[view.type.value()].constructors;
    bool isSame = view.fields.size() == constructors.size();
    for (size_t c = 0; isSame && c < constructors.size(); ++c) {
      isSame = view.fields[c].size() == constructors[c].fields.size();
      for (size_t i = 0; isSame && i < view.fields[c].size(); ++i)
        isSame = kindOf(view.fields[c][i]) == kindOf(constructors[c].fields[i].type);
    }
    if (!isSame)
      reporter_.report(Rule::TypeShape, fmt::format("{}: a view of type t{} has other fields than the type",
                                                    owner, view.type.value()));
  }

  void entryFunction(const std::string& owner, const EntryPoint& entry) {
    if (entry.function.value() >= p_.functions.size())
      return index(Rule::EntryFunction, owner, "function", entry.function.value(), p_.functions.size());
    const Function& function = p_.functions[entry.function.value()];
    if (function.isClosure)
      return reporter_.report(Rule::EntryFunction,
                              fmt::format("{}: @{} is the function of a closure", owner, function.name));
    if (function.signature.value() >= p_.signatures.size()) return;  // reported above
    const Signature& signature = p_.signatures[function.signature.value()];

    bool hasCell = entry.result.tag == ValueType::Tag::Cell;
    std::vector<Kind> params;
    for (const EntryPoint::Parameter& parameter : entry.parameters) {
      params.push_back(kindOf(parameter.type));
      hasCell |= parameter.type.tag == ValueType::Tag::Cell;
    }
    if (hasCell)
      reporter_.report(Rule::EntrySignature, fmt::format("{}: a cell cannot be passed in or out", owner));
    if (params != signature.params)
      reporter_.report(Rule::EntrySignature,
                       fmt::format("{}: parameters are not those of @{}", owner, function.name));

    std::vector<Kind> results;
    if (!entry.resultIsSplit) {
      results.push_back(kindOf(entry.result));
    } else {
      const bool isTuple = entry.result.tag == ValueType::Tag::Adt &&
                           entry.result.type.value() < p_.types.size() &&
                           p_.types[entry.result.type.value()].constructors.size() == 1;
      if (!isTuple)
        return reporter_.report(Rule::EntrySignature, fmt::format("{}: a split result is no tuple", owner));
      for (const Field& field : p_.types[entry.result.type.value()].constructors[0].fields)
        results.push_back(kindOf(field.type));
    }
    if (results != signature.results)
      reporter_.report(Rule::EntrySignature,
                       fmt::format("{}: results are not those of @{}", owner, function.name));
  }

  void place(const std::string& owner, const DebugInfo::Place& place, size_t siteCount) {
    index(Rule::Debug, owner, "file", place.file, p_.debug.files.size());
    index(Rule::Debug, owner, "name", place.name, p_.debug.names.size());
    if (place.inlinedAt != 0) index(Rule::Debug, owner, "inline site", place.inlinedAt - 1, siteCount);
  }

  void debug() {
    const DebugInfo& debug = p_.debug;
    for (size_t i = 0; i < debug.inlineSites.size(); ++i)
      place(fmt::format("inline site {}", i), debug.inlineSites[i], i);
    for (size_t i = 0; i < debug.positions.size(); ++i) {
      const DebugInfo::Position& position = debug.positions[i];
      const std::string owner = fmt::format("position {}", i);
      index(Rule::Debug, owner, "function", position.function.value(), p_.functions.size());
      place(owner, position, debug.inlineSites.size());
      if (position.function.value() < p_.functions.size())
        index(Rule::Debug, owner, "word", position.pc, p_.functions[position.function.value()].codeSize);
      if (i == 0) continue;
      const DebugInfo::Position& before = debug.positions[i - 1];
      if (before.function > position.function ||
          (before.function == position.function && before.pc > position.pc))
        reporter_.report(Rule::Debug, fmt::format("{} comes after a later one", owner));
    }
  }

  const Program& p_;
  Reporter& reporter_;
  Names entryNames_;
};

}  // namespace

void checkTables(const Program& program, Reporter& reporter) { TablesCheck(program, reporter).run(); }

}  // namespace baton::bytecode
