// Values of the evaluator from and to the values of text and files.
#pragma once

#include <optional>

#include "base/error.h"
#include "compiler/eval/value.h"
#include "compiler/ir/ir.h"
#include "formats/text_value.h"

namespace baton::eval {

/// The tags of Cons and Nil of the data type `List`; of no other type.
struct ListTags {
  uint32_t cons;
  uint32_t nil;
};
std::optional<ListTags> listTags(const ir::Module& module, ir::TypeRef type);

/// What the text means as a value of the type: constructors are looked up by name in the data
/// type, `[a, b]` is a List or an array. InvalidArgument when it does not fit. Function and cell types
/// have no text.
Result<Value> fromText(ir::Module& module, ir::TypeRef type, const TextValue& text);

/// Lists and arrays come out as `[a, b]`; functions as the constructor `fn`, cells as `ref` of their content.
TextValue toText(ir::Module& module, ir::TypeRef type, const Value& value);

}  // namespace baton::eval
