#include "constant_inputs.h"

#include <map>

#include "compiler/passes/dims.h"
#include "compiler/passes/edit.h"

namespace baton::run {
namespace {

/// Names of the callee's extents mean nothing to who calls it.
ir::TypeRef withoutNames(ir::Module& module, ir::TypeRef type) {
  return module.types.rewrite(type, [&](ir::TypeRef leaf) -> ir::TypeRef {
    if (!leaf->isTensor()) return leaf;
    std::vector<DimExpr> dims(leaf->dims().begin(), leaf->dims().end());
    for (DimExpr& dim : dims)
      if (!dim.isConstant()) dim = DimExpr::symbol(ir::kAnyDim);
    return module.types.tensor(leaf->dtype(), std::move(dims));
  });
}

/// Makes values in a block, children first, without recursion.
class Maker {
 public:
  Maker(ir::Module& module, ir::Function& function) : module_(module), function_(function) {}

  Result<ir::Atom> make(ir::TypeRef type, const eval::Value& value) {
    struct Part {
      ir::TypeRef type;
      eval::Value value;
      std::vector<ir::TypeRef> childTypes;
      std::vector<ir::Atom> children;
    };
    auto begin = [&](ir::TypeRef partType, const eval::Value& part) {
      Part result{partType, part, {}, {}};
      if (part.isTuple()) result.childTypes.assign(partType->elements().begin(), partType->elements().end());
      if (part.isData()) result.childTypes = module_.fieldTypes(partType, part.constructor().tag);
      if (part.isArray()) result.childTypes.assign(part.elements().size(), partType->element());
      return result;
    };
    std::vector<Part> stack{begin(type, value)};
    while (true) {
      Part& top = stack.back();
      if (top.children.size() < top.childTypes.size()) {
        const size_t next = top.children.size();
        stack.push_back(begin(top.childTypes[next],
                              top.value.isArray() ? top.value.elements()[next] : top.value.fields()[next]));
        continue;
      }
      if (top.value.isFunction() || top.value.isCell())
        return Error(ErrorCode::InvalidArgument, "a function or a cell cannot be built in");
      const ir::Atom atom = finish(top.type, top.value, std::move(top.children));
      stack.pop_back();
      if (stack.empty()) return atom;
      stack.back().children.push_back(atom);
    }
  }

 private:
  ir::Atom finish(ir::TypeRef type, const eval::Value& value, std::vector<ir::Atom> children) {
    if (value.isTensor()) {
      const eval::HostTensor& tensor = value.asTensor();
      return module_.addConstant({.dtype = tensor.dtype, .shape = tensor.shape, .bytes = tensor.bytes});
    }
    if (value.isTuple()) {
      std::vector<ir::TypeRef> types;
      for (const ir::Atom& child : children) types.push_back(module_.typeOf(function_, child));
      return passes::append(function_, function_.body,
                            {.name = "t", .type = module_.types.tuple(std::move(types))},
                            ir::MakeTuple{std::move(children)});
    }
    type = withoutNames(module_, type);
    if (value.isArray()) {
      ir::Atom array = passes::append(function_, function_.body, {.name = "a", .type = type},
                                      ir::ArrayOp{ir::ArrayOperation::New, {}, {}});
      for (const ir::Atom& child : children)
        array = passes::append(function_, function_.body, {.name = "a", .type = type},
                               ir::ArrayOp{ir::ArrayOperation::Push, {array, child}, {}});
      return array;
    }
    return passes::append(function_, function_.body, {.name = "d", .type = type},
                          ir::Construct{value.constructor(), std::move(children)});
  }

  ir::Module& module_;
  ir::Function& function_;
};

/// Ends a function that calls `entry`, and exports it.
ir::GlobalId exportCaller(ir::Module& module, ir::Function function, ir::CallGlobal call) {
  const ir::Function& callee = module.function(call.callee);
  function.isExported = true;
  function.result = passes::freshDims(module, withoutNames(module, callee.result));
  const ir::VarId result =
      passes::append(function, function.body, {.name = "result", .type = function.result}, std::move(call));
  function.block(function.body).result = result;
  module.functions.push_back(std::move(function));
  return ir::GlobalId(static_cast<uint32_t>(module.functions.size() - 1));
}

}  // namespace

void dropExports(ir::Module& module) {
  for (ir::Function& function : module.functions) function.isExported = false;
}

Result<ir::GlobalId> buildInInputs(ir::Module& module, ir::GlobalId entry,
                                   const std::vector<eval::Value>& inputs) {
  ir::Function function;
  function.name = "with_inputs_built_in";
  function.body = function.addBlock();
  ir::CallGlobal call{entry, {}};
  Maker maker(module, function);
  for (size_t i = 0; i < inputs.size(); ++i) {
    const ir::Function& callee = module.function(entry);
    BATON_TRY_ASSIGN(const ir::Atom atom, maker.make(callee.var(callee.params[i]).type, inputs[i]));
    call.args.push_back(atom);
  }
  return exportCaller(module, std::move(function), std::move(call));
}

std::optional<ir::GlobalId> fixExtents(ir::Module& module, ir::GlobalId entry,
                                       const std::vector<eval::Value>& inputs) {
  const ir::Function& callee = module.function(entry);
  ir::Function function;
  function.name = callee.name + "_of_fixed_extents";
  function.entryNames = callee.entryNames;
  function.body = function.addBlock();
  ir::CallGlobal call{entry, {}};
  bool fixesAny = false;
  for (size_t i = 0; i < inputs.size(); ++i) {
    ir::TypeRef type = passes::freshDims(module, withoutNames(module, callee.var(callee.params[i]).type));
    if (type->isTensor()) {
      std::vector<DimExpr> dims;
      for (const int64_t extent : inputs[i].asTensor().shape) dims.push_back(DimExpr::constant(extent));
      const ir::TypeRef fixed = module.types.tensor(type->dtype(), std::move(dims));
      fixesAny = fixesAny || fixed != type;
      type = fixed;
    }
    const ir::VarId param = function.addVar({.name = callee.entryNames[i], .type = type});
    function.params.push_back(param);
    call.args.emplace_back(param);
  }
  if (!fixesAny) return std::nullopt;
  return exportCaller(module, std::move(function), std::move(call));
}

}  // namespace baton::run
