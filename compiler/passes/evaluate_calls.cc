// Partial evaluation of calls: a function of the module that is called with constants only is
// run by the evaluator, within a budget of steps, and its result stored.

#include <algorithm>
#include <utility>

#include "compiler/eval/evaluator.h"
#include "compiler/ir/walk.h"
#include "compiler/passes/fold.h"
#include "compiler/passes/registry.h"

namespace baton::passes {
namespace {

using ir::Atom;
using ir::BlockId;
using ir::GlobalId;

class CallEvaluator {
 public:
  CallEvaluator(ir::Module& module, PassContext& context)
      : module_(module),
        context_(context),
        maxBytes_(context.option("max-bytes")),
        evaluator_(module, {.maxSteps = context.option("max-steps"),
                            .maxFrames = 1000,
                            .maxWork = context.option("max-elements")}) {}
  void run();

 private:
  struct Found {
    GlobalId function;
    BlockId block;
    size_t index;
    bool isTuple;
    std::vector<ir::Constant> parts;
  };
  std::optional<std::vector<eval::Value>> argumentsOf(const ir::CallGlobal& call);
  std::optional<Found> evaluate(const ir::CallGlobal& call);
  bool take(const eval::Value& value, size_t limit, std::vector<ir::Constant>& parts) const;
  void replace(Found& found, ConstantPool& pool);

  ir::Module& module_;
  PassContext& context_;
  size_t maxBytes_;
  eval::Evaluator evaluator_;
  size_t inputBytes_ = 0;
};

std::optional<std::vector<eval::Value>> CallEvaluator::argumentsOf(const ir::CallGlobal& call) {
  std::vector<eval::Value> values;
  inputBytes_ = 0;
  for (const Atom& arg : call.args) {
    if (!arg.isConstant()) return std::nullopt;
    const ir::Constant& constant = module_.constant(arg.constant());
    if (constant.isExternal()) return std::nullopt;
    inputBytes_ += constant.bytes.size();
    values.push_back(eval::Value::tensor({constant.dtype, constant.shape, constant.bytes}));
  }
  return values;
}

/// The tensors of a result that is one, or a tuple of them.
bool CallEvaluator::take(const eval::Value& value, size_t limit, std::vector<ir::Constant>& parts) const {
  std::vector<eval::Value> values{value};
  if (value.isTuple()) values = value.fields();
  size_t bytes = 0;
  for (const eval::Value& each : values) {
    if (!each.isTensor()) return false;
    const eval::HostTensor& tensor = each.asTensor();
    bytes += tensor.bytes.size();
    if (bytes > limit) return false;
    parts.push_back({.dtype = tensor.dtype, .shape = tensor.shape, .bytes = tensor.bytes});
  }
  return true;
}

std::optional<CallEvaluator::Found> CallEvaluator::evaluate(const ir::CallGlobal& call) {
  std::optional<std::vector<eval::Value>> values = argumentsOf(call);
  if (!values) return std::nullopt;
  Result<eval::Value> result = evaluator_.call(call.callee, std::move(*values));
  if (!result.has_value()) return std::nullopt;  // it fails where it is reached
  Found found{};
  found.isTuple = result.assume_value().isTuple();
  if (!take(result.assume_value(), std::max(inputBytes_, maxBytes_), found.parts)) return std::nullopt;
  return found;
}

void CallEvaluator::replace(Found& found, ConstantPool& pool) {
  ir::Binding& binding = module_.function(found.function).block(found.block).bindings[found.index];
  std::vector<Atom> atoms;
  for (ir::Constant& part : found.parts) atoms.push_back(pool.add(std::move(part)));
  if (found.isTuple)
    binding.rhs = ir::MakeTuple{std::move(atoms)};
  else
    binding.rhs = ir::AtomRhs{atoms.front()};
}

void CallEvaluator::run() {
  std::vector<Found> all;
  for (uint32_t i = 0; i < module_.functions.size(); ++i) {
    const ir::Function& function = module_.functions[i];
    for (BlockId id : ir::blocksInOrder(function, function.body)) {
      const std::vector<ir::Binding>& bindings = function.block(id).bindings;
      for (size_t k = 0; k < bindings.size(); ++k) {
        const auto* call = std::get_if<ir::CallGlobal>(&bindings[k].rhs);
        if (call == nullptr || !bindings[k].obligations.empty()) continue;
        if (isFusionGroup(module_.function(call->callee))) continue;
        std::optional<Found> found = evaluate(*call);
        if (!found) continue;
        found->function = GlobalId(i);
        found->block = id;
        found->index = k;
        all.push_back(std::move(*found));
      }
    }
  }
  // The evaluator needs the module as it is, so nothing changes before.
  ConstantPool pool(module_);
  for (Found& found : all) replace(found, pool);
  context_.count("calls evaluated", all.size());
}

Result<void> evaluateCalls(ir::Module& module, PassContext& context) {
  CallEvaluator(module, context).run();
  return success();
}

constexpr PassOption kEvaluateCallsOptions[] = {
    {"max-steps", 200000, "bindings that are evaluated, over all calls"},
    {"max-elements", 10000000, "elements that operators read, make and multiply, over all calls"},
    {"max-bytes", 4096, "bytes of the result of a call whose arguments have fewer"},
};

}  // namespace

constinit const PassInfo kEvaluateCallsPass{
    .name = "evaluate-calls",
    .summary = "calls of functions with constants only become their results",
    .documentation =
        R"(Runs functions of the module that are called with constants only, recursion and loops included, and stores what they give: a tensor, or a tuple of tensors. A call that fails stays where it is and fails when it is reached; one that does not end within what is left of the budget, or whose result is large, stays too. Cells inside of such a call are its own, so nobody sees that it ran early.)",
    .level = 2,
    .options = kEvaluateCallsOptions,
    .run = evaluateCalls,
};

}  // namespace baton::passes
