// Statements at the top of the text, but functions.
#include <fmt/format.h>

#include "bytecode/vmasm/parser_impl.h"

namespace baton::bytecode {

Parser::Parser(std::vector<Token> tokens, const VmasmParseOptions& options)
    : tokens_(std::move(tokens)), options_(options) {}

/// Functions and kernels may be used before their declaration: their names come first. The
/// first of several equal names counts.
void Parser::collectNames() {
  uint32_t functionCount = 0;
  uint32_t kernelCount = 0;
  for (size_t i = 0; i + 2 < tokens_.size(); ++i) {
    const bool isFunction = tokens_[i].is("fn") && tokens_[i + 1].is("@");
    const bool isKernel = tokens_[i].is("kernel") && tokens_[i + 1].is("$");
    if (!isFunction && !isKernel) continue;
    const Token& token = tokens_[i + 2];
    std::string name(token.text);
    if (token.kind == TokenKind::String)
      if (auto unescaped = unescapeString(token); unescaped.has_value()) name = std::move(unescaped.value());
    auto& names = isFunction ? functionNames_ : kernelNames_;
    names.try_emplace(std::move(name), isFunction ? functionCount++ : kernelCount++);
  }
}

Result<Program> Parser::parse() {
  collectNames();
  if (!takeIf("vmasm")) return unexpected("`vmasm 1`");
  const Token version = peek();
  BATON_TRY_ASSIGN(const uint64_t number, this->number(UINT32_MAX, "a version"));
  if (number != 1)
    return Error(ErrorCode::Incompatible, fmt::format("{}:{}: text of version {}: this build reads version 1",
                                                      version.line, version.column, number));
  while (peek().kind != TokenKind::End) BATON_TRY(statement());
  if (!program_.loops.empty()) program_.loops.resize(program_.kernels.size());
  return std::move(program_);
}

Result<void> Parser::statement() {
  if (takeIf("fn")) return function();
  if (takeIf("meta")) return meta();
  if (takeIf("type")) return type();
  if (takeIf("constant")) return constant();
  if (takeIf("kernel")) return kernel();
  if (takeIf("image")) return image();
  if (takeIf("entry")) return entryPoint();
  if (takeIf("test")) return test();
  if (takeIf("position")) {
    DebugInfo::Position position;
    BATON_TRY_ASSIGN(const uint64_t function, number(UINT32_MAX, "a function number"));
    BATON_TRY_ASSIGN(const uint64_t pc, number(UINT32_MAX, "a word offset"));
    BATON_TRY_ASSIGN(position, this->position());
    position.function = FunctionIndex(static_cast<uint32_t>(function));
    position.pc = static_cast<uint32_t>(pc);
    program_.debug.positions.push_back(position);
    return success();
  }
  return tableEntry();
}

// kind k0 = f32; signature sig0 = () -> (); message m0 = ""; source #0 = ""; label #0 = ""
Result<void> Parser::tableEntry() {
  if (takeIf("kind")) {
    BATON_TRY(nextIndex("k", program_.kinds.size()));
    BATON_TRY_ASSIGN(const Kind one, kind());
    program_.kinds.push_back(one);
    return success();
  }
  if (takeIf("signature")) {
    BATON_TRY(nextIndex("sig", program_.signatures.size()));
    BATON_TRY_ASSIGN(Signature one, signature());
    addSignature(std::move(one));
    return success();
  }
  if (takeIf("message")) {
    BATON_TRY(nextIndex("m", program_.messages.size()));
    BATON_TRY_ASSIGN(auto text, string());
    messages_.add(program_.messages, std::move(text));
    return success();
  }
  const bool isSource = peek().is("source");
  if (!isSource && !peek().is("label"))
    return unexpected(
        "a statement (meta kind signature message source label type constant kernel image entry fn position "
        "test)");
  take();
  auto& table = isSource ? program_.debug.files : program_.debug.names;
  BATON_TRY(expect("#"));
  const Token at = peek();
  BATON_TRY_ASSIGN(const uint64_t number, this->number(UINT32_MAX, "a number"));
  if (number != table.size())
    return errorAt(at,
                   fmt::format("expected {}, found {}: entries are numbered in order", table.size(), number));
  BATON_TRY(expect("="));
  BATON_TRY_ASSIGN(auto text, string());
  (isSource ? files_ : names_).add(table, std::move(text));
  return success();
}

Result<void> Parser::meta() {
  BATON_TRY(expect("{"));
  while (!takeIf("}")) {
    if (takeIf("name")) {
      BATON_TRY_ASSIGN(program_.meta.name, string());
    } else if (takeIf("compiler")) {
      BATON_TRY_ASSIGN(program_.meta.compilerVersion, string());
    } else if (takeIf("flags")) {
      BATON_TRY_ASSIGN(program_.meta.flags, string());
    } else if (takeIf("target")) {
      BATON_TRY_ASSIGN(auto target, string());
      program_.meta.targets.push_back(std::move(target));
    } else {
      return unexpected("`name`, `compiler`, `flags`, `target` or `}`");
    }
  }
  return success();
}

// constant c0 = f32[2, 3] layout "panels" base64 "..."
Result<void> Parser::constant() {
  BATON_TRY(nextIndex("c", program_.constants.size()));
  Constant constant;
  BATON_TRY_ASSIGN(constant.dtype, dtype());
  if (peek().is("[")) {
    BATON_TRY(list("[", "]", [&]() -> Result<void> {
      BATON_TRY_ASSIGN(const int64_t extent, signedNumber());
      constant.extents.push_back(extent);
      return success();
    }));
  }
  if (takeIf("layout")) {
    BATON_TRY_ASSIGN(constant.layout, string());
  }
  if (takeIf("external")) {
    constant.source = ConstantSource::External;
    BATON_TRY_ASSIGN(constant.externalKey, string());
  } else {
    BATON_TRY_ASSIGN(constant.bytes, bytes());
  }
  program_.constants.push_back(std::move(constant));
  return success();
}

Result<KernelOperand> Parser::kernelOperand(const SymbolScope& scope) {
  KernelOperand operand;
  BATON_TRY_ASSIGN(operand.dtype, dtype());
  BATON_TRY_ASSIGN(operand.extents, extents(scope));
  while (true) {
    if (takeIf("device")) {
      BATON_TRY_ASSIGN(const uint64_t device, number(UINT8_MAX, "a device"));
      operand.device = static_cast<uint8_t>(device);
    } else if (takeIf("align")) {
      BATON_TRY_ASSIGN(const uint64_t alignment, number(UINT32_MAX, "an alignment"));
      operand.alignmentBytes = static_cast<uint32_t>(alignment);
    } else if (takeIf("alias")) {
      BATON_TRY(list("[", "]", [&]() -> Result<void> {
        BATON_TRY_ASSIGN(const uint64_t input, number(UINT32_MAX, "an input"));
        operand.mayAlias.push_back(static_cast<uint32_t>(input));
        return success();
      }));
    } else if (takeIf("independent")) {
      BATON_TRY_ASSIGN(const uint64_t axis, number(UINT32_MAX, "an axis"));
      operand.independentAxis = static_cast<uint32_t>(axis);
    } else {
      return operand;
    }
  }
}

Result<void> Parser::kernel() {
  BATON_TRY(expect("$"));
  KernelDescriptor kernel;
  BATON_TRY_ASSIGN(kernel.name, nameOrString());
  if (takeIf("compiled"))
    kernel.source = KernelSource::Compiled;
  else if (takeIf("library"))
    kernel.source = KernelSource::Library;
  else if (takeIf("external"))
    kernel.source = KernelSource::External;
  else
    return unexpected("`compiled`, `library` or `external`");
  const auto dtypes = [&](std::vector<DType>& into) {
    return list("[", "]", [&]() -> Result<void> {
      BATON_TRY_ASSIGN(const DType one, dtype());
      into.push_back(one);
      return success();
    });
  };
  SymbolScope scope;
  BATON_TRY(expect("{"));
  while (!takeIf("}")) {
    if (takeIf("symbol")) {
      KernelSymbol symbol;
      BATON_TRY_ASSIGN(symbol.name, nameOrString());
      BATON_TRY(expect("="));
      if (takeIf("scalar"))
        symbol.from = KernelSymbol::From::Scalar;
      else
        BATON_TRY(expect("operand"));
      BATON_TRY_ASSIGN(const uint64_t index, number(UINT32_MAX, "a number"));
      symbol.index = static_cast<uint32_t>(index);
      if (takeIf("axis")) {
        BATON_TRY_ASSIGN(const uint64_t axis, number(UINT32_MAX, "an axis"));
        symbol.axis = static_cast<uint32_t>(axis);
      }
      scope.add(symbol.name);
      kernel.symbols.push_back(std::move(symbol));
    } else if (takeIf("input")) {
      BATON_TRY_ASSIGN(auto operand, kernelOperand(scope));
      kernel.inputs.push_back(std::move(operand));
    } else if (takeIf("output")) {
      BATON_TRY_ASSIGN(auto operand, kernelOperand(scope));
      kernel.outputs.push_back(std::move(operand));
    } else if (takeIf("scalar_inputs")) {
      BATON_TRY(dtypes(kernel.scalarInputs));
    } else if (takeIf("scalar_outputs")) {
      BATON_TRY(dtypes(kernel.scalarOutputs));
    } else if (takeIf("message")) {
      BATON_TRY_ASSIGN(auto message, string());
      kernel.messages.push_back(std::move(message));
    } else if (takeIf("where")) {
      BATON_TRY_ASSIGN(auto one, constraint(scope));
      kernel.constraints.push_back(std::move(one));
    } else if (takeIf("loop")) {
      program_.loops.resize(program_.kernels.size() + 1);
      if (peek().kind != TokenKind::String) return unexpected("a string");
      while (peek().kind == TokenKind::String) {
        BATON_TRY_ASSIGN(const std::string line, string());
        program_.loops.back() += line;
      }
    } else {
      return unexpected(
          "`symbol`, `input`, `output`, `scalar_inputs`, `scalar_outputs`, `message`, `where`, `loop` or "
          "`}`");
    }
  }
  program_.kernels.push_back(std::move(kernel));
  return success();
}

// image "x86-64-v3" features ["avx2"] entries [0, none] base64 "..."
Result<void> Parser::image() {
  NativeImage image;
  BATON_TRY_ASSIGN(image.level, string());
  BATON_TRY(expect("features"));
  BATON_TRY_ASSIGN(image.requiredFeatures, stringList());
  BATON_TRY(expect("entries"));
  BATON_TRY(list("[", "]", [&]() -> Result<void> {
    uint64_t offset = NativeImage::kNoEntry;
    if (!takeIf("none")) {
      BATON_TRY_ASSIGN(offset, number(NativeImage::kNoEntry - 1, "an offset"));
    }
    image.entryOffsets.push_back(static_cast<uint32_t>(offset));
    return success();
  }));
  BATON_TRY_ASSIGN(image.bytes, bytes());
  program_.images.push_back(std::move(image));
  return success();
}

Result<void> Parser::entryPoint() {
  EntryPoint entry;
  BATON_TRY_ASSIGN(entry.name, string());
  BATON_TRY_ASSIGN(const uint32_t function, reference("@", functionNames_));
  entry.function = FunctionIndex(function);
  SymbolScope scope;
  BATON_TRY(expect("{"));
  while (!takeIf("}")) {
    if (takeIf("doc")) {
      BATON_TRY_ASSIGN(entry.documentation, string());
    } else if (takeIf("symbols")) {
      BATON_TRY(list("[", "]", [&]() -> Result<void> {
        BATON_TRY_ASSIGN(auto symbol, nameOrString());
        scope.add(symbol);
        entry.symbols.push_back(std::move(symbol));
        return success();
      }));
    } else if (takeIf("where")) {
      BATON_TRY_ASSIGN(auto one, constraint(scope));
      entry.constraints.push_back(std::move(one));
    } else if (takeIf("view")) {
      BATON_TRY_ASSIGN(auto one, view(scope, entry.views.size()));
      entry.views.push_back(std::move(one));
    } else if (takeIf("param")) {
      EntryPoint::Parameter parameter;
      BATON_TRY_ASSIGN(parameter.name, string());
      BATON_TRY_ASSIGN(parameter.type, valueType(scope));
      entry.parameters.push_back(std::move(parameter));
    } else if (takeIf("result")) {
      entry.resultIsSplit = takeIf("split");
      BATON_TRY_ASSIGN(entry.result, valueType(scope));
    } else if (takeIf("peak")) {
      if (takeIf("exact"))
        entry.peakMemory.known = EntryPoint::PeakMemory::Known::Exact;
      else if (takeIf("bound"))
        entry.peakMemory.known = EntryPoint::PeakMemory::Known::Bound;
      else
        BATON_TRY(expect("unknown"));
      if (takeIf("bytes")) {
        BATON_TRY_ASSIGN(entry.peakMemory.bytes, dim(scope));
      }
      if (peek().kind == TokenKind::String) {
        BATON_TRY_ASSIGN(entry.peakMemory.reason, string());
      }
    } else {
      return unexpected("`doc`, `symbols`, `where`, `view`, `param`, `result`, `peak` or `}`");
    }
  }
  program_.entryPoints.push_back(std::move(entry));
  return success();
}

// view v0 = "List[Tensor[(n,), f32]]" t0 { (f32[n], adt<t0, v0>) () }
Result<EntryPoint::View> Parser::view(const SymbolScope& scope, size_t count) {
  BATON_TRY(nextIndex("v", count));
  EntryPoint::View view;
  BATON_TRY_ASSIGN(view.name, string());
  BATON_TRY_ASSIGN(const uint32_t type, index("t"));
  view.type = TypeIndex(type);
  BATON_TRY(expect("{"));
  while (!takeIf("}")) {
    std::vector<ValueType>& fields = view.fields.emplace_back();
    BATON_TRY(list("(", ")", [&]() -> Result<void> {
      BATON_TRY_ASSIGN(auto field, valueType(scope));
      fields.push_back(std::move(field));
      return success();
    }));
  }
  return view;
}

Result<void> Parser::test() {
  TestCase test;
  BATON_TRY_ASSIGN(test.name, string());
  BATON_TRY(expect("entry"));
  BATON_TRY_ASSIGN(test.entryPoint, string());
  BATON_TRY(expect("inputs"));
  BATON_TRY_ASSIGN(test.inputs, stringList());
  BATON_TRY(expect("output"));
  BATON_TRY_ASSIGN(test.output, string());
  program_.tests.push_back(std::move(test));
  return success();
}

Result<uint32_t> Parser::tableUse(StringTable& table, std::vector<std::string>& list) {
  if (takeIf("#")) {
    BATON_TRY_ASSIGN(const uint64_t index, number(UINT32_MAX, "a number"));
    return static_cast<uint32_t>(index);
  }
  BATON_TRY_ASSIGN(auto text, string());
  return table.intern(list, std::move(text));
}

// "model.relay":3:7 "add", after `.loc` or in a position; function and pc are the caller's.
Result<DebugInfo::Position> Parser::position() {
  DebugInfo::Position position;
  if (program_.debug.names.empty()) names_.intern(program_.debug.names, "");
  BATON_TRY_ASSIGN(position.file, tableUse(files_, program_.debug.files));
  BATON_TRY(expect(":"));
  BATON_TRY_ASSIGN(const uint64_t line, number(UINT32_MAX, "a line"));
  BATON_TRY(expect(":"));
  BATON_TRY_ASSIGN(const uint64_t column, number(UINT32_MAX, "a column"));
  position.line = static_cast<uint32_t>(line);
  position.column = static_cast<uint32_t>(column);
  if (peek().kind == TokenKind::String || peek().is("#")) {
    BATON_TRY_ASSIGN(position.name, tableUse(names_, program_.debug.names));
  }
  return position;
}

}  // namespace baton::bytecode
