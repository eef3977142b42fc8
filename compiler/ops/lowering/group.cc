#include "compiler/ops/lowering/group.h"

#include <algorithm>
#include <cstring>
#include <set>

#include <fmt/format.h>

#include "base/checked_math.h"

namespace baton::ops {

namespace {

/// What a variable stands for: one tensor, or a tuple of tensors.
struct Bound {
  std::vector<TensorId> tensors;
  bool isTuple = false;
};

Error unsupported(const ir::Function& function, const std::string& message) {
  return Error(ErrorCode::Unsupported, fmt::format("group {}: {}", function.name, message));
}

std::string identifier(const std::string& name) {
  std::string out;
  for (const char c : name) {
    const bool isFine =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.';
    out += isFine ? c : '_';
  }
  if (out.empty() || (out[0] >= '0' && out[0] <= '9') || out[0] == '.') out.insert(out.begin(), '_');
  return out;
}

class GroupBuilder final : public ExpandContext {
 public:
  GroupBuilder(ir::Module& module, const ir::Function& function) : module_(module), function_(function) {}

  Result<Group> run() {
    BATON_TRY(parameters());
    collectFacts();
    for (const ir::Binding& binding : function_.block(function_.body).bindings) BATON_TRY(bind(binding));
    BATON_TRY_ASSIGN(const Bound result, operand(function_.block(function_.body).result));
    group_.results = result.tensors;
    describe();
    return std::move(group_);
  }

  // ExpandContext
  const OpCall& call() const override { return expanding_; }
  TensorId input(size_t index) const override { return expandedInputs_[index]; }
  DType resultType(size_t result) const override { return expandedResults_[result].dtype; }
  std::vector<DimExpr> resultDims(size_t result) const override { return expandedResults_[result].dims; }
  DType dtype(TensorId tensor) const override { return group_.dtype(tensor); }
  std::vector<DimExpr> dims(TensorId tensor) const override {
    const auto dims = group_.dims(tensor);
    return {dims.begin(), dims.end()};
  }
  TensorId scalar(DType dtype, double value) override {
    GroupTensor tensor;
    tensor.source = GroupTensor::Source::Constant;
    tensor.known.dtype = dtype;
    tensor.bits = convertScalar(scalarBits(value), DType::F64, dtype);
    if (isFloat(dtype))
      tensor.known.constantFloat = value;
    else
      tensor.known.values = {{DimExpr::constant(static_cast<int64_t>(tensor.bits))}};
    return addTensor(std::move(tensor));
  }
  void become(std::vector<TensorId> results) override { became_ = std::move(results); }
  Result<std::vector<TensorId>> makeAll(std::string_view name, const ir::Attrs& attrs,
                                        const std::vector<TensorId>& inputs) override {
    const OpDef* op = OpRegistry::instance().find(name);
    BATON_CHECK(op != nullptr);
    ir::Attrs complete = completeAttrs(*op, attrs);
    const std::vector<KnownInput> known = knownInputs(inputs);
    // What fails for certain is checked by the caller: this kernel never runs.
    KnownDims relations(known, group_.knowledge, kFirstFresh, CertainFailure::StaysOpen);
    BATON_TRY_ASSIGN(CallResults made, inferCall({op, &complete, inputs.size()}, known, relations));
    return addCall(op, std::move(complete), inputs, std::move(made.tensors));
  }

 private:
  static constexpr uint32_t kFirstFresh = UINT32_MAX / 2;

  TensorId addTensor(GroupTensor tensor) {
    group_.tensors.push_back(std::move(tensor));
    return TensorId(static_cast<uint32_t>(group_.tensors.size() - 1));
  }

  std::vector<KnownInput> knownInputs(const std::vector<TensorId>& inputs) const {
    std::vector<KnownInput> known;
    for (const TensorId input : inputs) known.push_back(group_.tensor(input).known);
    return known;
  }

  static KnownInput knownOf(ir::TypeRef type) {
    return {type->dtype(), {type->dims().begin(), type->dims().end()}, std::nullopt, std::nullopt};
  }

  Result<void> parameters() {
    for (const ir::VarId param : function_.params) {
      const ir::VarInfo& var = function_.var(param);
      if (!var.type->isTensor())
        return unsupported(function_, fmt::format("parameter {} is no tensor", var.name));
      GroupTensor tensor;
      tensor.known = knownOf(var.type);
      tensor.known.values = var.valueDims;
      tensor.source = var.type->isScalar() ? GroupTensor::Source::ScalarInput : GroupTensor::Source::Input;
      std::vector<DType>& scalars = group_.descriptor.scalarInputs;
      tensor.index = static_cast<uint32_t>(var.type->isScalar() ? scalars.size() : inputs_.size());
      const TensorId id = addTensor(std::move(tensor));
      if (var.type->isScalar())
        scalars.push_back(var.type->dtype());
      else
        inputs_.push_back(id);
      bound_[param] = {{id}, false};
    }
    return success();
  }

  /// Facts that the caller checks before it runs the kernel.
  void collectFacts() {
    std::vector<DimSymbol> extents;
    const auto addType = [&](ir::TypeRef type) {
      for (const DimExpr& dim : type->dims()) dim.collectSymbols(extents);
    };
    for (const ir::VarInfo& var : function_.vars) {
      if (var.type->isTensor()) addType(var.type);
      if (var.type->isTuple())
        for (const ir::TypeRef element : var.type->elements())
          if (element->isTensor()) addType(element);
    }
    std::vector<DimSymbol> plain;
    for (const ir::VarInfo& var : function_.vars)
      if (var.type->isTensor())
        for (const DimExpr& dim : var.type->dims())
          if (dim.asSymbol()) plain.push_back(*dim.asSymbol());
    for (const DimSymbol symbol : extents)
      if (std::find(plain.begin(), plain.end(), symbol) != plain.end()) group_.knowledge.addExtent(symbol);
    // A fact that contradicts another means a kernel that never runs.
    for (const DimConstraint& constraint : function_.where)
      static_cast<void>(group_.knowledge.assume(constraint));
    for (const ir::Binding& binding : function_.block(function_.body).bindings)
      for (const ir::Obligation& obligation : binding.obligations)
        static_cast<void>(group_.knowledge.assume({obligation.lhs, obligation.relation, obligation.rhs}));
  }

  Result<Bound> operand(const ir::Atom& atom) {
    if (atom.isVar()) {
      const auto found = bound_.find(atom.var());
      if (found == bound_.end()) return unsupported(function_, "a variable from outside the group");
      return found->second;
    }
    if (atom.isConstant()) return constant(atom.constant());
    return unsupported(function_, "a function as a value");
  }

  Result<Bound> constant(ir::ConstantId id) {
    const ir::Constant& constant = module_.constant(id);
    GroupTensor tensor;
    tensor.source = GroupTensor::Source::Constant;
    if (constant.isExternal()) return unsupported(function_, "an external constant inside the group");
    tensor.known = knownConstant(constant);
    const int64_t count = checkedElementCount(constant.shape).value_or(0);
    const auto size = static_cast<size_t>(sizeBytes(constant.dtype));
    for (int64_t i = 0; i < count; ++i) {
      if (i > 0 && std::memcmp(constant.bytes.data(), constant.bytes.data() + static_cast<size_t>(i) * size,
                               size) != 0)
        tensor.source = GroupTensor::Source::Opaque;
    }
    tensor.bits = count > 0 ? loadScalar(constant.bytes.data(), constant.dtype) : 0;
    return Bound{{addTensor(std::move(tensor))}, false};
  }

  Result<std::vector<TensorId>> addCall(const OpDef* op, ir::Attrs attrs, std::vector<TensorId> inputs,
                                        std::vector<KnownInput> results) {
    if (op->legal != nullptr) return unsupported(function_, fmt::format("{} has no kernel", op->name));
    if (op->expand != nullptr) {
      // Expansions are made of calls that are not expanded themselves.
      expanding_ = {op, &attrs, inputs.size()};
      expandedInputs_ = std::move(inputs);
      expandedResults_ = std::move(results);
      BATON_TRY(op->expand(*this));
      return std::move(became_);
    }
    if (group_.calls.size() >= 4 * kMaxGroupSize) return unsupported(function_, "too many operators");
    const auto index = static_cast<uint32_t>(group_.calls.size());
    GroupCall call{op, std::move(attrs), std::move(inputs), {}, {}};
    call.knownInputs = knownInputs(call.inputs);
    for (size_t i = 0; i < results.size(); ++i) {
      GroupTensor tensor;
      tensor.source = GroupTensor::Source::Result;
      tensor.index = index;
      tensor.result = static_cast<uint32_t>(i);
      tensor.known = std::move(results[i]);
      call.results.push_back(addTensor(std::move(tensor)));
    }
    std::vector<TensorId> ids = call.results;
    group_.calls.push_back(std::move(call));
    return ids;
  }

  Result<void> bind(const ir::Binding& binding) {
    Bound result;
    if (const auto* call = std::get_if<ir::CallOp>(&binding.rhs)) {
      if (++operatorCount_ > kMaxGroupSize)
        return unsupported(function_, fmt::format("more than {} operators", kMaxGroupSize));
      std::vector<TensorId> inputs;
      for (const ir::Atom& arg : call->args) {
        BATON_TRY_ASSIGN(const Bound bound, operand(arg));
        inputs.insert(inputs.end(), bound.tensors.begin(), bound.tensors.end());
      }
      const ir::VarInfo& var = function_.var(binding.var);
      std::vector<KnownInput> types;
      result.isTuple = var.type->isTuple();
      if (result.isTuple) {
        for (const ir::TypeRef element : var.type->elements()) types.push_back(knownOf(element));
      } else {
        types.push_back(knownOf(var.type));
        types[0].values = var.valueDims;
      }
      BATON_TRY_ASSIGN(result.tensors, addCall(call->op, call->attrs, std::move(inputs), std::move(types)));
    } else if (const auto* alias = std::get_if<ir::AtomRhs>(&binding.rhs)) {
      BATON_TRY_ASSIGN(result, operand(alias->atom));
    } else if (const auto* tuple = std::get_if<ir::MakeTuple>(&binding.rhs)) {
      result.isTuple = true;
      for (const ir::Atom& element : tuple->elements) {
        BATON_TRY_ASSIGN(const Bound bound, operand(element));
        if (bound.isTuple) return unsupported(function_, "a tuple in a tuple");
        result.tensors.push_back(bound.tensors[0]);
      }
    } else if (const auto* project = std::get_if<ir::Project>(&binding.rhs)) {
      BATON_TRY_ASSIGN(const Bound bound, operand(project->tuple));
      if (!bound.isTuple || project->index >= bound.tensors.size())
        return unsupported(function_, "a projection of what is no tuple");
      result.tensors = {bound.tensors[project->index]};
    } else {
      return unsupported(function_, "a binding that is no operator");
    }
    bound_[binding.var] = std::move(result);
    return success();
  }

  /// Symbols in the order in which operands mention them; each takes its value from an
  /// extent that is the symbol itself, or else from a scalar.
  void describe() {
    KernelDescriptor& descriptor = group_.descriptor;
    descriptor.name = identifier(function_.name);
    std::vector<TensorId> operands = inputs_;
    for (const TensorId result : group_.results)
      if (!group_.isScalar(result)) operands.push_back(result);
    std::vector<DimSymbol>& symbols = group_.symbols;
    for (const TensorId operand : operands)
      for (const DimExpr& dim : group_.dims(operand)) dim.collectSymbols(symbols);
    for (const GroupTensor& tensor : group_.tensors)
      for (const DimExpr& dim : tensor.known.dims) dim.collectSymbols(symbols);
    for (const GroupCall& call : group_.calls) {
      for (size_t i = 0; i < call.inputs.size() && i < 32; ++i)
        if ((call.op->valueInputs >> i & 1) != 0 && call.knownInputs[i].values)
          for (const DimExpr& value : *call.knownInputs[i].values) value.collectSymbols(symbols);
      for (const auto& [name, value] : call.attrs.entries())
        if (const auto* dims = std::get_if<std::vector<DimExpr>>(&value))
          for (const DimExpr& dim : *dims) dim.collectSymbols(symbols);
    }
    std::set<std::string> names;
    for (const DimSymbol symbol : symbols) {
      KernelSymbol entry;
      entry.name = identifier(module_.dimSymbols.name(symbol));
      for (int suffix = 1; !names.insert(entry.name).second; ++suffix)
        entry.name = fmt::format("{}_{}", identifier(module_.dimSymbols.name(symbol)), suffix);
      if (!bindToExtent(entry, symbol, operands)) {
        entry.from = KernelSymbol::From::Scalar;
        entry.index = static_cast<uint32_t>(descriptor.scalarInputs.size());
        descriptor.scalarInputs.push_back(DType::I64);
        group_.scalarDims.push_back(DimExpr::symbol(symbol));
      }
      descriptor.symbols.push_back(std::move(entry));
    }
    const auto toKernel = [&](const DimExpr& dim) {
      return dim.substitute([&](DimSymbol symbol) -> std::optional<DimExpr> {
        const auto at = std::find(symbols.begin(), symbols.end(), symbol);
        return DimExpr::symbol(DimSymbol(static_cast<uint32_t>(at - symbols.begin())));
      });
    };
    for (size_t i = 0; i < operands.size(); ++i) {
      KernelOperand operand;
      operand.dtype = group_.dtype(operands[i]);
      operand.alignmentBytes = static_cast<uint32_t>(sizeBytes(operand.dtype));
      for (const DimExpr& dim : group_.dims(operands[i])) operand.extents.push_back(toKernel(dim));
      (i < inputs_.size() ? descriptor.inputs : descriptor.outputs).push_back(std::move(operand));
    }
    for (const TensorId result : group_.results)
      if (group_.isScalar(result)) descriptor.scalarOutputs.push_back(group_.dtype(result));
  }

  bool bindToExtent(KernelSymbol& entry, DimSymbol symbol, const std::vector<TensorId>& operands) const {
    for (size_t operand = 0; operand < operands.size(); ++operand) {
      const auto dims = group_.dims(operands[operand]);
      for (size_t axis = 0; axis < dims.size(); ++axis) {
        if (dims[axis].asSymbol() != symbol) continue;
        entry.from = KernelSymbol::From::Operand;
        entry.index = static_cast<uint32_t>(operand);
        entry.axis = static_cast<uint32_t>(axis);
        return true;
      }
    }
    return false;
  }

  ir::Module& module_;
  const ir::Function& function_;
  Group group_;
  std::vector<TensorId> inputs_;
  std::map<ir::VarId, Bound> bound_;
  size_t operatorCount_ = 0;
  OpCall expanding_{};
  std::vector<TensorId> expandedInputs_;
  std::vector<KnownInput> expandedResults_;
  std::vector<TensorId> became_;
};

}  // namespace

bool Group::areEqual(std::span<const DimExpr> a, std::span<const DimExpr> b) const {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i)
    if (!(a[i] == b[i]) && knowledge.decide(a[i], Relation::Eq, b[i]) != Truth::True) return false;
  return true;
}

Result<Group> buildGroup(ir::Module& module, const ir::Function& primitive) {
  return GroupBuilder(module, primitive).run();
}

}  // namespace baton::ops
