#include "bytecode/container/archive_reader.h"

#include <fmt/format.h>
#include <msgpack.hpp>

#include "bytecode/container/describe.h"

namespace baton::bytecode {

namespace {

/// Arrays within arrays; structures are nested about ten deep.
constexpr size_t kMaxNesting = 32;
/// Terms that rebuilding the dim expressions of one section may touch; real ones need few.
constexpr uint64_t kMaxDimWork = uint64_t{1} << 24;

/// Accepts what is complete, not nested too deeply, and made of the types that we write. It
/// stores nothing: with it passed, unpacking cannot be made to allocate for content that is
/// not there.
struct WellFormed : msgpack::null_visitor {
  size_t depth = 0;
  bool start_array(uint32_t) { return ++depth <= kMaxNesting; }
  bool end_array() {
    --depth;
    return true;
  }
  bool start_map(uint32_t) { return false; }
  bool visit_bin(const char*, uint32_t) { return false; }
  bool visit_ext(const char*, uint32_t) { return false; }
  bool visit_float32(float) { return false; }
  bool visit_float64(double) { return false; }
  void parse_error(size_t, size_t) {}
  void insufficient_bytes(size_t, size_t) {}
};

/// The first error stops everything after it; readers of single values then do nothing.
class ArchiveReader {
 public:
  explicit ArchiveReader(ArchiveOptions options) : options_(options) {}

  bool failed() const { return !error_.empty(); }
  const std::string& error() const { return error_; }

  void read(const msgpack::object& object, bool& flag) {
    if (object.type != msgpack::type::BOOLEAN) return fail("a boolean", object);
    flag = object.via.boolean;
  }
  template <std::integral T>
  void read(const msgpack::object& object, T& number) {
    if constexpr (std::is_signed_v<T>) {
      if (object.type == msgpack::type::NEGATIVE_INTEGER && object.via.i64 >= std::numeric_limits<T>::min()) {
        number = static_cast<T>(object.via.i64);
        return;
      }
    }
    if (object.type != msgpack::type::POSITIVE_INTEGER ||
        object.via.u64 > static_cast<uint64_t>(std::numeric_limits<T>::max()))
      return fail(fmt::format("an integer of {} bits", 8 * sizeof(T)), object);
    number = static_cast<T>(object.via.u64);
  }
  template <class E>
    requires std::is_enum_v<E>
  void read(const msgpack::object& object, E& enumerator) {
    uint64_t number = 0;
    read(object, number);
    if (failed()) return;
    if (number > static_cast<uint64_t>(kLastValue<E>)) return fail("a known value", object);
    enumerator = static_cast<E>(number);
  }
  template <class Tag>
  void read(const msgpack::object& object, StrongIndex<Tag>& index) {
    uint32_t number = 0;
    read(object, number);
    index = StrongIndex<Tag>(number);
  }
  void read(const msgpack::object& object, std::string& text) {
    if (object.type != msgpack::type::STR) return fail("a string", object);
    text.assign(object.via.str.ptr, object.via.str.size);
  }
  template <class T>
  void read(const msgpack::object& object, std::optional<T>& optional) {
    optional.reset();
    if (object.type == msgpack::type::NIL) return;
    T value{};
    read(object, value);
    optional = value;
  }
  template <class T>
  void read(const msgpack::object& object, std::vector<T>& list) {
    if (object.type != msgpack::type::ARRAY) return fail("a list", object);
    list.clear();
    list.reserve(object.via.array.size);
    for (uint32_t i = 0; i < object.via.array.size && !failed(); ++i)
      read(object.via.array.ptr[i], list.emplace_back());
  }
  void read(const msgpack::object& object, DimExpr& expr) {
    std::vector<int64_t> code;
    read(object, code);
    if (failed()) return;
    std::vector<DimExpr> stack;
    for (size_t i = 0; i < code.size(); ++i) {
      if (code[i] == kDimConstant || code[i] == kDimSymbol) {
        if (i + 1 == code.size()) return fail("a complete dim expression", object);
        const int64_t number = code[++i];
        if (code[i - 1] == kDimConstant)
          stack.push_back(DimExpr::constant(number));
        else if (number >= 0 && number <= UINT32_MAX)
          stack.push_back(DimExpr::symbol(DimSymbol(static_cast<uint32_t>(number))));
        else
          return fail("a symbol", object);
        continue;
      }
      if (stack.size() < 2) return fail("two operands of a dim operation", object);
      const DimExpr b = std::move(stack.back());
      stack.pop_back();
      DimExpr& a = stack.back();
      const uint64_t sizeA = a.terms().size() + 1;
      const uint64_t sizeB = b.terms().size() + 1;
      if (code[i] == kDimAdd) {
        dimWork_ += sizeA + sizeB;
        a = a + b;
      } else if (code[i] == kDimMultiply) {
        dimWork_ += sizeA * sizeB;
        a = a * b;
      } else if (code[i] >= kDimOpaque && code[i] <= kDimOpaque + static_cast<int64_t>(DimOp::TooLarge)) {
        dimWork_ += 64 * (sizeA + sizeB);
        a = DimExpr::opaque(static_cast<DimOp>(code[i] - kDimOpaque), a, b);
      } else {
        return fail("a dim operation", object);
      }
      if (dimWork_ > kMaxDimWork) return fail("dim expressions of a reasonable size", object);
    }
    if (stack.size() != 1) return fail("one dim expression", object);
    expr = std::move(stack[0]);
  }
  template <class T>
    requires std::is_class_v<T>
  void read(const msgpack::object& object, T& structure) {
    if constexpr (kIsTagged<T>) {
      // The tag comes first, because the description depends on it.
      structure = T();
      if (object.type != msgpack::type::ARRAY || object.via.array.size == 0)
        return fail("a structure", object);
      read(object.via.array.ptr[0], structure.tag);
      if (failed()) return;
    }
    structure_ = &object;
    describe(*this, structure);
  }

  /// The fields of the structure that read() was called for.
  template <class... Fields>
  void operator()(Fields&... fields) {
    const msgpack::object& object = *structure_;
    if (object.type != msgpack::type::ARRAY) return fail("a structure", object);
    const uint32_t count = object.via.array.size;
    if (count > sizeof...(Fields) || (count < sizeof...(Fields) && !options_.isOlder))
      return fail(fmt::format("{} fields", sizeof...(Fields)), object);
    uint32_t next = 0;
    (field(object, next, fields), ...);
  }

 private:
  template <class T>
  void field(const msgpack::object& object, uint32_t& next, T& value) {
    if (failed() || next >= object.via.array.size) return;
    read(object.via.array.ptr[next++], value);
  }
  void fail(const std::string& expected, const msgpack::object& found) {
    if (failed()) return;
    error_ = "expected " + expected + ", found " + describeObject(found);
  }
  static std::string describeObject(const msgpack::object& object) {
    switch (object.type) {
      case msgpack::type::NIL: return "nil";
      case msgpack::type::BOOLEAN: return object.via.boolean ? "true" : "false";
      case msgpack::type::POSITIVE_INTEGER: return fmt::format("{}", object.via.u64);
      case msgpack::type::NEGATIVE_INTEGER: return fmt::format("{}", object.via.i64);
      case msgpack::type::STR: return "a string";
      case msgpack::type::ARRAY: return fmt::format("a list of {}", object.via.array.size);
      default: return "something else";
    }
  }

  ArchiveOptions options_;
  const msgpack::object* structure_ = nullptr;
  std::string error_;
  uint64_t dimWork_ = 0;
};

template <class T>
Result<void> unpack(std::span<const std::byte> bytes, ArchiveOptions options, T&& into) {
  const char* data = reinterpret_cast<const char*>(bytes.data());
  const auto malformed = [](const std::string& message) { return Error(ErrorCode::Malformed, message); };
  try {
    size_t offset = 0;
    WellFormed check;
    if (!msgpack::parse(data, bytes.size(), offset, check))
      return malformed("metadata is not well-formed msgpack");
    if (offset != bytes.size())
      return malformed(fmt::format("metadata ends at byte {} of {}", offset, bytes.size()));
    const auto reference = [](msgpack::type::object_type, size_t, void*) { return true; };
    const size_t most = bytes.size();
    const msgpack::object_handle handle =
        msgpack::unpack(data, bytes.size(), reference, nullptr,
                        msgpack::unpack_limit(most, most, most, most, most, kMaxNesting + 1));
    ArchiveReader reader(options);
    reader.read(handle.get(), into);
    if (reader.failed()) return malformed(reader.error());
    return success();
  } catch (const std::bad_alloc&) {
    return Error(ErrorCode::OutOfMemory, fmt::format("no memory for {} bytes of metadata", bytes.size()));
  } catch (const std::exception& exception) {
    return malformed(fmt::format("metadata is not well-formed msgpack: {}", exception.what()));
  }
}

}  // namespace

Result<void> unpackMeta(std::span<const std::byte> bytes, ArchiveOptions options, Meta& meta) {
  return unpack(bytes, options, meta);
}

Result<void> unpackTypes(std::span<const std::byte> bytes, ArchiveOptions options, Program& program) {
  const TypesSection section{program.kinds, program.types, program.signatures, program.entryPoints,
                             program.messages};
  return unpack(bytes, options, section);
}

Result<void> unpackFunctions(std::span<const std::byte> bytes, ArchiveOptions options,
                             std::vector<Function>& functions) {
  return unpack(bytes, options, functions);
}

Result<void> unpackConstants(std::span<const std::byte> bytes, ArchiveOptions options,
                             std::vector<StoredConstant>& constants) {
  return unpack(bytes, options, constants);
}

Result<void> unpackKernels(std::span<const std::byte> bytes, ArchiveOptions options, Program& program) {
  const KernelsSection section{program.kernels, program.images};
  return unpack(bytes, options, section);
}

Result<void> unpackLoops(std::span<const std::byte> bytes, ArchiveOptions options,
                         std::vector<std::string>& loops) {
  return unpack(bytes, options, loops);
}

Result<void> unpackDebug(std::span<const std::byte> bytes, ArchiveOptions options, DebugInfo& debug) {
  return unpack(bytes, options, debug);
}

Result<void> unpackTests(std::span<const std::byte> bytes, ArchiveOptions options,
                         std::vector<TestCase>& tests) {
  return unpack(bytes, options, tests);
}

}  // namespace baton::bytecode
