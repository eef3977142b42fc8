// Kinds of the control instructions: switches, calls, returns, failures.
#include <fmt/format.h>

#include "bytecode/verifier/typing.h"

namespace baton::bytecode {

namespace {

void checkMessage(Typing& typing, MessageIndex message, OperandList<ScalarOperand> values) {
  typing.tables.work += typing.tables.places(message).size();
  for (const MessagePlace& place : typing.tables.places(message)) {
    if (place.value >= values.size()) continue;  // shown as it stands
    const std::optional<Kind> kind = typing.kindOf(values[place.value]);
    if (kind && kind->dtype != place.dtype)
      typing.fail(Rule::MessageValues, [&] {
        return fmt::format("value {} of the message is {}: the message says {}", place.value,
                           typing.text(*kind), dtypeShortName(place.dtype));
      });
  }
}

SignatureIndex directTarget(Typing& typing, FunctionIndex index) {
  const Function& callee = typing.program.functions[index.value()];
  if (callee.isClosure)
    typing.fail(Rule::CallTarget,
                [&] { return fmt::format("@{} takes its closure: it is called through one", callee.name); });
  return callee.signature;
}

std::optional<SignatureIndex> closureTarget(Typing& typing, ReferenceOperand closure) {
  const std::optional<Kind> kind = typing.expect(closure, KindTagValue::Closure, "a closure");
  if (!kind) return std::nullopt;
  return SignatureIndex(kind->index);
}

template <class View>
void checkArguments(Typing& typing, const View& view, SignatureIndex callee) {
  const SplitKinds& params = typing.tables.params(callee);
  typing.checkList(Rule::CallArguments, params.scalars, view.scalars(), "argument");
  typing.checkList(Rule::CallArguments, params.references, view.references(), "argument");
}

template <class View>
void checkCall(Typing& typing, const View& view, SignatureIndex callee) {
  checkArguments(typing, view, callee);
  const SplitKinds& results = typing.tables.results(callee);
  typing.defineList(Rule::CallResults, results.scalars, view.scalarResults());
  typing.defineList(Rule::CallResults, results.references, view.referenceResults());
}

template <class View>
void checkTailCall(Typing& typing, const View& view, SignatureIndex callee) {
  checkArguments(typing, view, callee);
  if (callee == typing.function.signature) return;
  const std::vector<Kind>& own = typing.program.signatures[typing.function.signature.value()].results;
  const std::vector<Kind>& theirs = typing.program.signatures[callee.value()].results;
  typing.tables.work += own.size();
  const auto describe = [&](const std::vector<Kind>& kinds) {
    std::string text;
    for (const Kind& kind : kinds) text += (text.empty() ? "" : ", ") + typing.text(kind);
    return "(" + text + ")";
  };
  bool isGood = own.size() == theirs.size();
  for (size_t i = 0; i < own.size() && isGood; ++i) isGood = isAssignable(theirs[i], own[i]);
  if (!isGood)
    typing.fail(Rule::ReturnValues, [&] {
      return fmt::format("the callee returns {}: this function returns {}", describe(theirs), describe(own));
    });
}

}  // namespace

void verifyInstruction(SwitchTag view, Typing& typing) {
  const std::optional<Kind> kind = typing.kindOf(view.value());
  if (!kind || kind->tag != KindTagValue::Adt) return;
  const TypeDef& type = typing.program.types[kind->index];
  if (view.targets().size() != type.constructors.size())
    typing.fail(Rule::SwitchTargets, [&] {
      return fmt::format("{} targets: `{}` has {} constructors", view.targets().size(), type.name,
                         type.constructors.size());
    });
}

void verifyInstruction(Switch view, Typing& typing) {
  if (view.targets().empty())
    typing.fail(Rule::SwitchTargets,
                [] { return std::string("no targets: the last one is for every other number"); });
}

void verifyInstruction(Ret view, Typing& typing) {
  const SplitKinds& results = typing.tables.results(typing.function.signature);
  typing.checkList(Rule::ReturnValues, results.scalars, view.scalars(), "result");
  typing.checkList(Rule::ReturnValues, results.references, view.references(), "result");
}

void verifyInstruction(TailCall view, Typing& typing) {
  checkTailCall(typing, view, directTarget(typing, view.function()));
}

void verifyInstruction(TailCallClosure view, Typing& typing) {
  if (const auto callee = closureTarget(typing, view.closure())) checkTailCall(typing, view, *callee);
}

void verifyInstruction(Call view, Typing& typing) {
  checkCall(typing, view, directTarget(typing, view.function()));
}

void verifyInstruction(CallClosure view, Typing& typing) {
  if (const auto callee = closureTarget(typing, view.closure())) checkCall(typing, view, *callee);
}

void verifyInstruction(Fail view, Typing& typing) { checkMessage(typing, view.message(), view.values()); }

void verifyInstruction(Check view, Typing& typing) { checkMessage(typing, view.message(), view.values()); }

}  // namespace baton::bytecode
