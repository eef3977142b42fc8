// Entry points: what may be called from outside, what it must be given, and the check that
// every argument passes before anything runs.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "bytecode/program.h"
#include "vm/type_info.h"

namespace baton::vm {

class Value;

/// Named parts of an error, for programs that want to know more than the message says.
using ErrorDetails = std::vector<std::pair<std::string, std::string>>;

class EntryPoint {
 public:
  EntryPoint(const Executable& executable, const bytecode::EntryPoint& declared, const TypeTable& types);

  struct Parameter {
    std::string name;
    TypeInfo type;
    uint32_t registerIndex;  ///< in the bank of its kind
  };

  const Executable& executable() const { return executable_; }
  const bytecode::EntryPoint& declared() const { return declared_; }
  const std::string& name() const { return declared_.name; }
  const std::string& signatureText() const { return signatureText_; }
  const std::vector<Parameter>& parameters() const { return parameters_; }
  const TypeInfo& result() const { return result_; }
  const std::vector<std::string>& constraintTexts() const { return constraintTexts_; }
  /// SIZE_MAX when there is none of this name.
  size_t findParameter(std::string_view name) const;

  EntryPoint(const EntryPoint&) = delete;
  EntryPoint& operator=(const EntryPoint&) = delete;

  /// InvalidArgument unless the value has the dtype, rank, data type and constant extents of a
  /// parameter, in data too; symbols are left to checkAll.
  Result<void> checkOne(size_t index, const Value& value, ErrorDetails& details) const;
  /// Binds the symbols and checks every extent and constraint; one value per parameter, each of which
  /// has passed checkOne.
  Result<void> checkAll(std::span<const Value* const> values, ErrorDetails& details) const;

 private:
  /// A tensor that every argument has: a parameter or, through tuples, a part of it.
  struct Place {
    uint32_t parameter = kUnbound;
    std::vector<uint32_t> path;  ///< fields of tuples
  };
  struct Binding {  // where a symbol gets its value
    Place place;
    uint32_t axis = 0;
    bool isBound() const { return place.parameter != kUnbound; }
  };
  struct ExtentCheck {
    uint32_t parameter;
    uint32_t axis;
  };
  static constexpr uint32_t kUnbound = UINT32_MAX;
  /// Parts of tuples that are looked at for symbols; no model has as many.
  static constexpr size_t kMaxTupleParts = size_t{1} << 16;

  void bindSymbols();
  bool hasSymbols(const TypeInfo& type) const;
  /// By symbol; of those that nothing binds, nothing.
  using Symbols = std::span<const std::optional<int64_t>>;
  int64_t extentAt(const Binding& binding, std::span<const Value* const> values) const;
  bool isAsDeclared(const DimExpr& dim, int64_t found, Symbols symbols) const;
  Result<void> checkTensor(size_t index, const Value& value, ErrorDetails& details) const;
  std::string bindingText(uint32_t symbol) const;
  /// `place` in the argument; empty: the argument itself.
  Error mismatch(size_t index, const std::string& place, const TypeInfo& type, size_t axis, int64_t found,
                 Symbols symbols, ErrorDetails& details) const;

  const Executable& executable_;
  const bytecode::EntryPoint& declared_;
  const std::vector<FieldTypes> views_;
  std::vector<Parameter> parameters_;
  TypeInfo result_;
  std::string signatureText_;
  std::vector<std::string> constraintTexts_;
  std::vector<Binding> bindings_;    // by symbol
  std::vector<ExtentCheck> checks_;  // extents that are neither constant nor the binding of a symbol
  std::vector<uint32_t> walks_;      // parameters that are data with symbols inside
};

}  // namespace baton::vm
