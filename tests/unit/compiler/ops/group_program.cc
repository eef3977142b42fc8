#include "tests/unit/compiler/ops/group_program.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>

#include <fmt/format.h>

#include "base/checked_math.h"
#include "compiler/ops/call_contexts.h"
#include "kernels/loop/interpreter.h"
#include "kernels/loop/printer.h"

namespace baton::ops::test {

namespace {

size_t countOf(const std::vector<int64_t>& shape) {
  return static_cast<size_t>(checkedElementCount(shape).value());
}

Tensor emptyTensor(DType dtype, std::vector<int64_t> shape) {
  Tensor tensor{dtype, std::move(shape), {}};
  tensor.bytes.resize(countOf(tensor.shape) * static_cast<size_t>(sizeBytes(dtype)));
  return tensor;
}

uint64_t bitsAt(const Tensor& tensor, size_t i) {
  return loadScalar(tensor.bytes.data() + i * static_cast<size_t>(sizeBytes(tensor.dtype)), tensor.dtype);
}

double numberAt(const Tensor& tensor, size_t i) {
  return scalarFromBits<double>(convertScalar(bitsAt(tensor, i), tensor.dtype, DType::F64));
}

/// Memory and messages for a kernel.
struct Host {
  std::vector<GuardedBuffer> blocks;
  GuardedBuffer::Side side = GuardedBuffer::Side::End;
  std::optional<uint32_t> message;
  std::vector<int64_t> values;

  BatonKernelContext context() {
    BatonKernelContext context{};
    context.struct_size = sizeof context;
    context.abi_version = BATON_KERNEL_ABI_VERSION;
    context.user = this;
    context.parallel_for = [](const BatonKernelContext* ctx, int64_t extent, int64_t, BatonParallelBody body,
                              void* closure) -> int32_t { return body(ctx, closure, 0, extent); };
    context.scratch = [](const BatonKernelContext* ctx, uint64_t size) -> void* {
      auto* host = static_cast<Host*>(ctx->user);
      return host->blocks.emplace_back(size, 64, host->side).data();
    };
    context.fail = [](const BatonKernelContext* ctx, uint32_t message, const int64_t* values,
                      uint32_t count) {
      auto* host = static_cast<Host*>(ctx->user);
      host->message = message;
      host->values.assign(values, values + count);
    };
    return context;
  }
};

}  // namespace

Tensor tensorOf(DType dtype, std::vector<int64_t> shape, const std::vector<double>& values) {
  Tensor tensor = emptyTensor(dtype, std::move(shape));
  BATON_CHECK(countOf(tensor.shape) == values.size());
  for (size_t i = 0; i < values.size(); ++i)
    storeScalar(tensor.bytes.data() + i * static_cast<size_t>(sizeBytes(dtype)), dtype,
                convertScalar(scalarBits(values[i]), DType::F64, dtype));
  return tensor;
}

std::string textOf(const Tensor& tensor) {
  std::string out;
  for (size_t i = 0; i < countOf(tensor.shape); ++i)
    out += fmt::format("{}{}", i == 0 ? "" : " ", numberAt(tensor, i));
  return out;
}

std::string difference(const Tensor& expected, const Tensor& found) {
  if (expected.dtype != found.dtype || expected.shape != found.shape) return "type or shape";
  for (size_t i = 0; i < countOf(expected.shape); ++i) {
    const uint64_t a = bitsAt(expected, i);
    const uint64_t b = bitsAt(found, i);
    const bool bothNan =
        isFloat(expected.dtype) && std::isnan(numberAt(expected, i)) && std::isnan(numberAt(found, i));
    if (a != b && !bothNan)
      return fmt::format("element {}: {} (0x{:x}) instead of {} (0x{:x})", i, numberAt(found, i), b,
                         numberAt(expected, i), a);
  }
  return "";
}

GroupProgram::GroupProgram() {
  function_.name = "group";
  function_.body = function_.addBlock();
  function_.attrs.set("Primitive", int64_t{1});
}

DimExpr GroupProgram::symbol(const std::string& name) {
  return DimExpr::symbol(module_.dimSymbols.add(name));
}

Handle GroupProgram::param(DType dtype, std::vector<DimExpr> dims,
                           std::optional<std::vector<DimExpr>> values) {
  ir::VarInfo info;
  info.name = fmt::format("p{}", function_.params.size());
  info.type = module_.types.tensor(dtype, std::move(dims));
  info.valueDims = std::move(values);
  const ir::VarId var = function_.addVar(std::move(info));
  function_.params.push_back(var);
  return var;
}

Handle GroupProgram::param(DType dtype, std::initializer_list<int64_t> extents) {
  std::vector<DimExpr> dims;
  for (const int64_t extent : extents) dims.push_back(DimExpr::constant(extent));
  return param(dtype, std::move(dims));
}

Handle GroupProgram::constant(const Tensor& tensor) {
  return module_.addConstant({tensor.dtype, tensor.shape, tensor.bytes, "", ""});
}

std::vector<Handle> GroupProgram::calls(std::string_view name, const std::vector<Handle>& args,
                                        ir::Attrs attrs) {
  const OpDef* op = OpRegistry::instance().find(name);
  BATON_CHECK(op != nullptr);
  ir::Attrs complete = defaultAttrs(*op);
  for (const auto& [key, value] : attrs.entries()) complete.set(key, value);
  std::vector<KnownInput> known;
  DimKnowledge knowledge;
  for (const Handle& arg : args) {
    const ir::TypeRef type = typeOf(arg);
    KnownInput input{type->dtype(), {type->dims().begin(), type->dims().end()}, std::nullopt, std::nullopt};
    for (const DimExpr& dim : input.dims)
      if (dim.asSymbol()) knowledge.addExtent(*dim.asSymbol());
    if (arg.isVar()) input.values = function_.var(arg.var()).valueDims;
    if (arg.isConstant()) {
      const ir::Constant& constant = module_.constant(arg.constant());
      const Tensor tensor{constant.dtype, constant.shape, constant.bytes};
      if (isFloat(constant.dtype) && constant.shape.empty()) input.constantFloat = numberAt(tensor, 0);
      if (!isFloat(constant.dtype) && constant.shape.size() <= 1) {
        input.values.emplace();
        for (size_t i = 0; i < countOf(constant.shape); ++i)
          input.values->push_back(DimExpr::constant(static_cast<int64_t>(bitsAt(tensor, i))));
      }
    }
    known.push_back(std::move(input));
  }
  const OpCall call{op, &complete, args.size()};
  KnownStructure structure(known);
  auto types = op->structure(call, structure);
  KnownDims relations(known, knowledge, UINT32_MAX / 4);
  std::vector<ir::TypeRef> results;
  std::optional<std::vector<DimExpr>> values;
  if (types) {
    auto dims = op->dims(call, relations);
    if (dims) {
      for (size_t i = 0; i < dims.assume_value().size(); ++i)
        results.push_back(
            module_.types.tensor(types.assume_value()->results[i].dtype, dims.assume_value()[i].extents));
      if (op->values != nullptr && results.size() == 1 && results[0]->rank() <= 1)
        values = op->values(call, relations, dims.assume_value()[0]);
    } else {
      typeError_ = dims.assume_error().message();
    }
  } else {
    typeError_ = types.assume_error().message();
  }
  if (results.empty()) return {args.empty() ? Handle() : args[0]};
  const bool isTuple = types.assume_value()->isTuple;
  ir::VarInfo info;
  info.name = fmt::format("v{}", function_.vars.size());
  info.type = isTuple ? module_.types.tuple(results) : results[0];
  info.valueDims = std::move(values);
  ir::Binding binding;
  binding.var = function_.addVar(std::move(info));
  binding.rhs = ir::CallOp{op, std::move(complete), args};
  for (const OpenRequirement& open : relations.open())
    binding.obligations.push_back(
        {open.constraint.lhs, open.constraint.relation, open.constraint.rhs, open.message, open.shown});
  const ir::VarId var = binding.var;
  function_.block(function_.body).bindings.push_back(std::move(binding));
  if (!isTuple) return {var};
  std::vector<Handle> handles;
  for (size_t i = 0; i < results.size(); ++i) {
    ir::VarInfo part;
    part.name = fmt::format("v{}", function_.vars.size());
    part.type = results[i];
    ir::Binding project;
    project.var = function_.addVar(std::move(part));
    project.rhs = ir::Project{var, static_cast<uint32_t>(i)};
    handles.push_back(project.var);
    function_.block(function_.body).bindings.push_back(std::move(project));
  }
  return handles;
}

void GroupProgram::finish() {
  if (isFinished_) return;
  isFinished_ = true;
  if (results_.size() == 1) {
    function_.block(function_.body).result = results_[0];
    return;
  }
  std::vector<ir::TypeRef> types;
  for (const Handle& handle : results_) types.push_back(typeOf(handle));
  ir::VarInfo info;
  info.name = "all";
  info.type = module_.types.tuple(types);
  ir::Binding tuple;
  tuple.var = function_.addVar(std::move(info));
  tuple.rhs = ir::MakeTuple{results_};
  const ir::VarId var = tuple.var;
  function_.block(function_.body).bindings.push_back(std::move(tuple));
  function_.block(function_.body).result = var;
}

void GroupProgram::rewrite(const std::function<void(ir::Module&)>& change) {
  finish();
  module_.functions.push_back(std::move(function_));
  change(module_);
  function_ = std::move(module_.functions.back());
  module_.functions.pop_back();
}

Result<LoweredKernel> GroupProgram::lowerPlain() {
  finish();
  return lowerGroup(module_, function_);
}

Result<LoweredKernel> GroupProgram::lower(bool isNarrow) {
  BATON_TRY_ASSIGN(LoweredKernel lowered, lowerPlain());
  const bool hasOwn = isNarrow && lowered.narrowSchedule;
  BATON_TRY_ASSIGN(lowered.kernel, schedule::apply(std::move(lowered.kernel),
                                                   hasOwn ? *lowered.narrowSchedule : lowered.schedule));
  return lowered;
}

namespace {

using SymbolValues = std::function<std::optional<int64_t>(DimSymbol)>;

std::optional<std::string> firstBroken(const ir::Binding& binding, const SymbolValues& value) {
  for (const ir::Obligation& obligation : binding.obligations) {
    const auto lhs = obligation.lhs.evaluate(value);
    const auto rhs = obligation.rhs.evaluate(value);
    if (!lhs || !rhs || !holds(obligation.relation, lhs.assume_value(), rhs.assume_value()))
      return obligation.message;
  }
  return std::nullopt;
}

std::optional<int64_t> valueIn(const std::map<DimSymbol, int64_t>& symbols, DimSymbol symbol) {
  const auto at = symbols.find(symbol);
  return at == symbols.end() ? std::nullopt : std::optional(at->second);
}

}  // namespace

std::map<DimSymbol, int64_t> GroupProgram::symbolsOf(const std::vector<Tensor>& inputs) const {
  std::map<DimSymbol, int64_t> symbols;
  for (size_t i = 0; i < inputs.size(); ++i) learn(function_.params[i], std::span(&inputs[i], 1), symbols);
  return symbols;
}

std::optional<std::string> GroupProgram::checkObligations(const std::vector<Tensor>& inputs) {
  const std::map<DimSymbol, int64_t> symbols = symbolsOf(inputs);
  const auto value = [&](DimSymbol symbol) { return valueIn(symbols, symbol); };
  for (const ir::Binding& binding : function_.block(function_.body).bindings)
    if (std::optional<std::string> broken = firstBroken(binding, value)) return broken;
  return std::nullopt;
}

std::vector<Tensor> GroupProgram::emptyResults(const std::vector<Tensor>& inputs) {
  const std::map<DimSymbol, int64_t> symbols = symbolsOf(inputs);
  std::vector<Tensor> results;
  for (const Handle& handle : results_) {
    std::vector<int64_t> shape;
    for (const DimExpr& dim : typeOf(handle)->dims())
      shape.push_back(dim.evaluate([&](DimSymbol symbol) { return valueIn(symbols, symbol); }).value());
    results.push_back(emptyTensor(typeOf(handle)->dtype(), std::move(shape)));
  }
  return results;
}

namespace {

/// With symbols replaced by what they stand for.
ir::Attrs withExtents(const ir::Attrs& attrs, const std::map<DimSymbol, int64_t>& symbols) {
  ir::Attrs out;
  for (const auto& [name, value] : attrs.entries()) {
    if (const auto* dims = std::get_if<std::vector<DimExpr>>(&value)) {
      std::vector<DimExpr> numbers;
      for (const DimExpr& dim : *dims)
        numbers.push_back(dim.substitute([&](DimSymbol symbol) -> std::optional<DimExpr> {
          const std::optional<int64_t> value = valueIn(symbols, symbol);
          return value ? std::optional(DimExpr::constant(*value)) : std::nullopt;
        }));
      out.set(name, std::move(numbers));
    } else {
      out.set(name, value);
    }
  }
  return out;
}

}  // namespace

void GroupProgram::learn(ir::VarId var, std::span<const Tensor> values,
                         std::map<DimSymbol, int64_t>& symbols) const {
  const auto match = [&](const DimExpr& dim, int64_t value) {
    if (const std::optional<DimSymbol> symbol = dim.asSymbol()) symbols.try_emplace(*symbol, value);
  };
  const ir::VarInfo& info = function_.var(var);
  for (size_t i = 0; i < values.size(); ++i) {
    const ir::TypeRef type = info.type->isTuple() ? info.type->elements()[i] : info.type;
    for (size_t axis = 0; axis < values[i].shape.size(); ++axis)
      match(type->dims()[axis], values[i].shape[axis]);
  }
  if (!info.valueDims) return;
  for (size_t k = 0; k < info.valueDims->size(); ++k)
    match((*info.valueDims)[k], static_cast<int64_t>(bitsAt(values[0], k)));
}

Outcome GroupProgram::evaluate(const std::vector<Tensor>& inputs) {
  finish();
  std::map<DimSymbol, int64_t> symbols = symbolsOf(inputs);
  std::map<ir::VarId, std::vector<Tensor>> values;
  for (size_t i = 0; i < inputs.size(); ++i) values[function_.params[i]] = {inputs[i]};
  const auto valueOfAtom = [&](const Handle& atom) -> std::vector<Tensor> {
    if (atom.isVar()) return values.at(atom.var());
    const ir::Constant& constant = module_.constant(atom.constant());
    return {Tensor{constant.dtype, constant.shape, constant.bytes}};
  };
  const auto valueOfSymbol = [&](DimSymbol symbol) { return valueIn(symbols, symbol); };
  for (const ir::Binding& binding : function_.block(function_.body).bindings) {
    if (std::optional<std::string> broken = firstBroken(binding, valueOfSymbol))
      return {{}, std::move(broken)};
    std::vector<Tensor> out;
    if (const auto* call = std::get_if<ir::CallOp>(&binding.rhs)) {
      std::vector<Tensor> args;
      for (const Handle& arg : call->args) args.push_back(valueOfAtom(arg)[0]);
      std::vector<TensorView> views;
      for (const Tensor& arg : args) views.push_back(arg.view());
      auto results = evaluateReference(*call->op, withExtents(call->attrs, symbols), views);
      if (!results) return {{}, results.assume_error().message()};
      for (ReferenceResult& result : results.assume_value())
        out.push_back({result.dtype, std::move(result.shape), std::move(result.bytes)});
    } else if (const auto* project = std::get_if<ir::Project>(&binding.rhs)) {
      out.push_back(valueOfAtom(project->tuple)[project->index]);
    } else if (const auto* alias = std::get_if<ir::AtomRhs>(&binding.rhs)) {
      out = valueOfAtom(alias->atom);
    } else {
      for (const Handle& element : std::get<ir::MakeTuple>(binding.rhs).elements)
        out.push_back(valueOfAtom(element)[0]);
    }
    learn(binding.var, out, symbols);
    values[binding.var] = std::move(out);
  }
  return {valueOfAtom(function_.block(function_.body).result), std::nullopt};
}

Outcome GroupProgram::interpret(const LoweredKernel& lowered, const std::vector<Tensor>& inputs,
                                const Outcome& expected, GuardedBuffer::Side side) {
  auto program = loop::InterpretedKernel::compile(lowered.kernel);
  if (!program) return {{}, program.assume_error().message()};
  const auto kernel = [&](const BatonKernelContext* context, void* const* buffers, int64_t* scalars) {
    return program.assume_value().run(context, buffers, scalars);
  };
  return run(lowered, inputs, expected, kernel, side);
}

Outcome GroupProgram::run(const LoweredKernel& lowered, const std::vector<Tensor>& inputs,
                          const Outcome& expected, const KernelRunner& kernel, GuardedBuffer::Side side) {
  const KernelDescriptor& descriptor = lowered.kernel.descriptor;
  std::vector<const Tensor*> operands;
  std::vector<int64_t> scalarInputs;
  for (const Tensor& input : inputs) {
    if (input.shape.empty())
      scalarInputs.push_back(static_cast<int64_t>(bitsAt(input, 0)));
    else
      operands.push_back(&input);
  }
  const std::map<DimSymbol, int64_t> symbols = symbolsOf(inputs);
  for (const DimExpr& dim : lowered.scalarDims) {
    const auto value = dim.evaluate([&](DimSymbol symbol) { return valueIn(symbols, symbol); });
    if (!value) return {{}, value.assume_error().message()};
    scalarInputs.push_back(value.assume_value());
  }
  Outcome outcome;
  for (const Tensor& result : expected.results)
    outcome.results.push_back(emptyTensor(result.dtype, result.shape));
  std::vector<GuardedBuffer> memory;
  std::vector<const Tensor*> shaped = operands;
  for (const Tensor& result : outcome.results)
    if (!result.shape.empty()) shaped.push_back(&result);
  for (size_t i = 0; i < shaped.size(); ++i) {
    const bool isInput = i < operands.size();
    const KernelOperand& operand = isInput ? descriptor.inputs[i] : descriptor.outputs[i - operands.size()];
    const size_t alignment =
        std::max<size_t>(operand.alignmentBytes, static_cast<size_t>(sizeBytes(operand.dtype)));
    memory.emplace_back(shaped[i]->bytes.size(), alignment, side);
    // Canaries: what is not written is seen.
    if (isInput)
      std::copy(shaped[i]->bytes.begin(), shaped[i]->bytes.end(), memory.back().data());
    else
      std::fill_n(memory.back().data(), shaped[i]->bytes.size(), std::byte{0xA5});
  }
  std::vector<void*> buffers;
  for (const GuardedBuffer& each : memory) buffers.push_back(each.data());
  std::vector<int64_t> scalars;
  for (const KernelSymbol& symbol : descriptor.symbols)
    scalars.push_back(symbol.from == KernelSymbol::From::Operand ? shaped[symbol.index]->shape[symbol.axis]
                                                                 : scalarInputs[symbol.index]);
  scalars.insert(scalars.end(), scalarInputs.begin(), scalarInputs.end());
  const size_t firstOutput = scalars.size();
  scalars.resize(firstOutput + descriptor.scalarOutputs.size());
  // Extents as the descriptor says them.
  for (size_t i = 0; i < shaped.size(); ++i) {
    const KernelOperand& operand =
        i < operands.size() ? descriptor.inputs[i] : descriptor.outputs[i - operands.size()];
    for (size_t axis = 0; axis < operand.extents.size(); ++axis) {
      const auto extent = operand.extents[axis].evaluate(
          [&](DimSymbol symbol) { return std::optional<int64_t>(scalars[symbol.value()]); });
      if (!extent || extent.assume_value() != shaped[i]->shape[axis])
        return {{},
                fmt::format("operand {} has another extent along axis {} than its descriptor says", i, axis)};
    }
  }
  Host host;
  host.side = side;
  const BatonKernelContext context = host.context();
  const int32_t status = kernel(&context, buffers.data(), scalars.data());
  if (status != BATON_KERNEL_OK) {
    if (host.message == loop::InterpretedKernel::kIndexOutOfRange)
      return {
          {},
          fmt::format("index {} of extent {} in buffer {}", host.values[0], host.values[1], host.values[2])};
    std::vector<std::string> values;
    for (const int64_t value : host.values) values.push_back(std::to_string(value));
    return {{}, host.message ? formatDimMessage(descriptor.messages[*host.message], values) : "failed"};
  }
  size_t scalar = firstOutput;
  size_t next = operands.size();
  for (Tensor& result : outcome.results) {
    if (result.shape.empty())
      storeScalar(result.bytes.data(), result.dtype, static_cast<uint64_t>(scalars[scalar++]));
    else
      std::copy_n(memory[next++].data(), result.bytes.size(), result.bytes.begin());
  }
  for (size_t i = 0; i < operands.size(); ++i)
    if (!std::equal(operands[i]->bytes.begin(), operands[i]->bytes.end(), memory[i].data()))
      return {{}, fmt::format("input {} was written to", i)};
  return outcome;
}

}  // namespace baton::ops::test
