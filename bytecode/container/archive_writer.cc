#include "bytecode/container/archive_writer.h"

#include <msgpack.hpp>

#include "bytecode/container/describe.h"

namespace baton::bytecode {

namespace {

/// The bytes of a section, as msgpack's packer wants a stream.
struct Buffer {
  std::vector<std::byte> bytes;
  void write(const char* data, size_t size) {
    const auto* first = reinterpret_cast<const std::byte*>(data);
    bytes.insert(bytes.end(), first, first + size);
  }
};

class ArchiveWriter {
 public:
  template <class... Fields>
  void operator()(const Fields&... fields) {
    packer_.pack_array(sizeof...(Fields));
    (value(fields), ...);
  }

  void value(bool flag) {
    if (flag)
      packer_.pack_true();
    else
      packer_.pack_false();
  }
  template <std::integral T>
  void value(T number) {
    if constexpr (std::is_signed_v<T>)
      packer_.pack_int64(number);
    else
      packer_.pack_uint64(number);
  }
  template <class E>
    requires std::is_enum_v<E>
  void value(E enumerator) {
    packer_.pack_uint64(static_cast<uint64_t>(enumerator));
  }
  template <class Tag>
  void value(StrongIndex<Tag> index) {
    packer_.pack_uint64(index.value());
  }
  void value(const std::string& text) {
    packer_.pack_str(static_cast<uint32_t>(text.size()));
    packer_.pack_str_body(text.data(), static_cast<uint32_t>(text.size()));
  }
  template <class T>
  void value(const std::optional<T>& optional) {
    if (optional)
      value(*optional);
    else
      packer_.pack_nil();
  }
  template <class T>
  void value(const std::vector<T>& list) {
    packer_.pack_array(static_cast<uint32_t>(list.size()));
    for (const T& element : list) value(element);
  }
  void value(const DimExpr& expr) {
    std::vector<int64_t> code;
    appendSum(code, expr.terms());
    value(code);
  }
  template <class T>
    requires std::is_class_v<T>
  void value(const T& structure) {
    describe(*this, structure);
  }

  std::vector<std::byte> take() { return std::move(buffer_.bytes); }

 private:
  // Recursion is bounded: by the logarithm of the size, and by kMaxDimDepth.
  static void appendSum(std::vector<int64_t>& code, std::span<const DimExpr::Term> terms) {
    if (terms.empty()) {
      code.insert(code.end(), {kDimConstant, 0});
    } else if (terms.size() == 1) {
      appendTerm(code, terms[0]);
    } else {
      appendSum(code, terms.first(terms.size() / 2));
      appendSum(code, terms.subspan(terms.size() / 2));
      code.push_back(kDimAdd);
    }
  }
  static void appendTerm(std::vector<int64_t>& code, const DimExpr::Term& term) {
    bool isFirst = true;
    if (term.coefficient != 1 || term.factors.empty()) {
      code.insert(code.end(), {kDimConstant, term.coefficient});
      isFirst = false;
    }
    for (const DimExpr::Factor& factor : term.factors) {
      if (factor.opaque) {
        appendSum(code, factor.opaque->a.terms());
        appendSum(code, factor.opaque->b.terms());
        code.push_back(kDimOpaque + static_cast<int64_t>(factor.opaque->op));
      } else {
        code.insert(code.end(), {kDimSymbol, int64_t{factor.symbol.value()}});
      }
      if (!isFirst) code.push_back(kDimMultiply);
      isFirst = false;
    }
  }

  Buffer buffer_;
  msgpack::packer<Buffer> packer_{buffer_};
};

template <class T>
std::vector<std::byte> pack(const T& value) {
  ArchiveWriter writer;
  writer.value(value);
  return writer.take();
}

}  // namespace

std::vector<std::byte> packMeta(const Meta& meta) { return pack(meta); }

std::vector<std::byte> packTypes(const Program& program) {
  return pack(
      TypesSection{program.kinds, program.types, program.signatures, program.entryPoints, program.messages});
}

std::vector<std::byte> packFunctions(const std::vector<Function>& functions) { return pack(functions); }

std::vector<std::byte> packConstants(const std::vector<StoredConstant>& constants) { return pack(constants); }

std::vector<std::byte> packKernels(const Program& program) {
  return pack(KernelsSection{program.kernels, program.images});
}

std::vector<std::byte> packLoops(const std::vector<std::string>& loops) { return pack(loops); }

std::vector<std::byte> packDebug(const DebugInfo& debug) { return pack(debug); }

std::vector<std::byte> packTests(const std::vector<TestCase>& tests) { return pack(tests); }

}  // namespace baton::bytecode
