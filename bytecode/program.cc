#include "bytecode/program.h"

#include <algorithm>

namespace baton::bytecode {

Kind kindOf(const ValueType& type) {
  switch (type.tag) {
    case ValueType::Tag::Tensor:
      // Extents beyond what a rank can hold are a verifier error; here they must only not wrap to a
      // small rank.
      if (type.extents.empty()) return Kind::scalar(type.dtype);
      return Kind::tensor(type.dtype, static_cast<uint8_t>(std::min<size_t>(type.extents.size(), UINT8_MAX)));
    case ValueType::Tag::Adt: return Kind::adt(type.type);
    case ValueType::Tag::Closure: return Kind::closure(type.signature);
    case ValueType::Tag::Cell: return Kind::cell(type.content);
    case ValueType::Tag::Array: return Kind::array(type.content);
  }
  return {};
}

}  // namespace baton::bytecode
