// Dynamic to static: operands that say what an attribute could say, and whose elements are
// numbers, become that attribute.

#include <algorithm>

#include "compiler/ir/op.h"
#include "compiler/ir/walk.h"
#include "compiler/ops/call_contexts.h"
#include "compiler/passes/definitions.h"
#include "compiler/passes/registry.h"

namespace baton::passes {
namespace {

using ir::Atom;

/// An input and the attribute that says the same.
struct StaticForm {
  std::string_view op;
  size_t input;
  std::string_view attr;
};
constexpr StaticForm kStaticForms[] = {
    {"reshape", 1, "newshape"},      {"broadcast_to", 1, "shape"},  {"tile", 1, "reps"},
    {"zeros", 0, "shape"},           {"ones", 0, "shape"},          {"full", 1, "shape"},
    {"one_hot", 3, "depth"},         {"strided_slice", 1, "begin"}, {"strided_slice", 2, "end"},
    {"strided_slice", 3, "strides"},
};

/// The elements of an integer operand when all of them are numbers.
std::optional<std::vector<int64_t>> numbersOf(const ir::Module& module, const ir::Function& function,
                                              const Definitions& definitions, Atom atom) {
  const std::optional<std::vector<DimExpr>> elements =
      ops::elementsOf(module, function, definitions.resolve(atom));
  if (!elements) return std::nullopt;
  std::vector<int64_t> numbers;
  for (const DimExpr& element : *elements) {
    const std::optional<int64_t> number = element.asConstant();
    if (!number) return std::nullopt;
    numbers.push_back(*number);
  }
  return numbers;
}

ir::AttrValue attributeOf(ops::AttrKind kind, const std::vector<int64_t>& numbers) {
  if (kind == ops::AttrKind::Int) return numbers.front();
  if (kind == ops::AttrKind::IntList) return numbers;
  std::vector<DimExpr> dims;
  for (int64_t number : numbers) dims.push_back(DimExpr::constant(number));
  return dims;
}

/// The call without the operands that its attributes can say.
std::optional<ir::CallOp> staticForm(const ir::Module& module, const ir::Function& function,
                                     const Definitions& definitions, const ir::CallOp& call) {
  ir::CallOp result = call;
  size_t first = SIZE_MAX;
  for (const StaticForm& form : kStaticForms) {
    if (form.op != call.op->name || form.input >= call.args.size()) continue;
    const auto spec = std::find_if(call.op->attrs.begin(), call.op->attrs.end(),
                                   [&](const ops::AttrSpec& attr) { return attr.name == form.attr; });
    const std::optional<std::vector<int64_t>> numbers =
        numbersOf(module, function, definitions, call.args[form.input]);
    if (spec == call.op->attrs.end() || !numbers ||
        (spec->kind == ops::AttrKind::Int && numbers->size() != 1))
      return std::nullopt;
    result.attrs.set(form.attr, attributeOf(spec->kind, *numbers));
    first = std::min(first, form.input);
  }
  if (first == SIZE_MAX) return std::nullopt;
  result.args.resize(first);
  return result;
}

Result<void> makeOperandsStatic(ir::Module& module, PassContext& context) {
  for (ir::Function& function : module.functions) {
    const Definitions definitions(function);
    for (ir::BlockId id : ir::blocksInOrder(function, function.body))
      for (ir::Binding& binding : function.block(id).bindings) {
        auto* call = std::get_if<ir::CallOp>(&binding.rhs);
        if (call == nullptr || call->op->valueInputs == 0) continue;
        if (std::optional<ir::CallOp> known = staticForm(module, function, definitions, *call)) {
          *call = std::move(*known);
          context.count("operands that became attributes");
        }
      }
  }
  return success();
}

}  // namespace

constinit const PassInfo kStaticOperandsPass{
    .name = "static-operands",
    .summary = "shapes and the like that are known become attributes",
    .documentation =
        R"(Turns the operands that decide a shape - the new shape of `reshape`, the shape of `broadcast_to`, `zeros`, `ones` and `full`, the repetitions of `tile`, the depth of `one_hot`, begin, end and strides of `strided_slice` - into the attributes that say the same, when all of their elements are numbers: constants, or what typing, inlining and specialisation found out. The operator is then the static one, and nothing makes its operand.

An operator keeps all of these operands when one of them is not known.)",
    .level = 1,
    .run = makeOperandsStatic,
};

}  // namespace baton::passes
