// Writes the table of operators, declarations of the functions that it names, typed
// attribute accessors and docs/operators.md from compiler/ops/*/*.td.
#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <llvm/ADT/StringExtras.h>
#include <llvm/Support/FileSystem.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Support/Path.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/TableGen/Error.h>
#include <llvm/TableGen/Record.h>

#include "tools/tblgen/backends.h"

namespace baton::tblgen {

namespace {

using llvm::Record;

struct Attribute {
  std::string name;
  std::string kind;
  std::string text;  // the default as program text writes it
  std::string doc;
  bool isRequired;
  bool mayBeNone() const { return !isRequired && text == "None"; }
};

struct Operator {
  const Record* record;
  std::string name;
  std::string accessors;
  std::vector<Attribute> attrs;
  std::string text(llvm::StringRef field) const { return record->getValueAsString(field).str(); }
  std::string named(llvm::StringRef field) const {
    return record->getValueAsDef(field)->getValueAsString("Name").str();
  }
  /// Written with other operators, so that nothing else is said of how it is run.
  bool isLegalised() const { return named("Lowering") == "Legal"; }
  /// A kernel that the runtime has.
  bool isLibrary() const { return named("Lowering") == "Library"; }
};

/// In order of name; two of one name or alias are a fatal error.
std::vector<Operator> readOperators(llvm::RecordKeeper& records) {
  std::vector<Operator> operators;
  std::set<std::string> names;
  for (const Record* record : records.getAllDerivedDefinitions("Operator")) {
    Operator op{
        record, record->getValueAsString("Name").str(), record->getValueAsString("Accessors").str(), {}};
    for (const Record* attr : record->getValueAsListOfDefs("Attrs"))
      op.attrs.push_back({attr->getValueAsString("Name").str(),
                          attr->getValueAsDef("Kind")->getValueAsString("Name").str(),
                          attr->getValueAsString("Default").str(), attr->getValueAsString("Doc").str(),
                          attr->getValueAsBit("IsRequired")});
    if ((op.isLegalised() || op.isLibrary()) != record->isValueUnset("Fusion"))
      llvm::PrintFatalError(record->getLoc(), "a fusion kind is for operators that are loops: " + op.name);
    if (op.isLibrary() == op.text("Algorithm").empty())
      llvm::PrintFatalError(record->getLoc(), "an algorithm is for operators of the library: " + op.name);
    if (record->isValueUnset("Formula") || op.text("Formula").empty())
      llvm::PrintFatalError(record->getLoc(), "no formula: " + op.name);
    if (op.text("Formula").find('`') != std::string::npos)
      llvm::PrintFatalError(record->getLoc(), "a formula is shown as code, without backquotes: " + op.name);
    std::vector<std::string> own = {op.name};
    for (llvm::StringRef alias : record->getValueAsListOfStrings("Aliases")) own.push_back(alias.str());
    for (const std::string& name : own)
      if (!names.insert(name).second)
        llvm::PrintFatalError(record->getLoc(), "operator name used twice: " + name);
    operators.push_back(std::move(op));
  }
  std::sort(operators.begin(), operators.end(),
            [](const Operator& a, const Operator& b) { return a.name < b.name; });
  return operators;
}

std::string camel(llvm::StringRef snake, bool isUpper) {
  std::string out;
  for (char c : snake) {
    if (c == '_') {
      isUpper = true;
      continue;
    }
    out += isUpper ? llvm::toUpper(c) : c;
    isUpper = false;
  }
  return out;
}

std::string quoted(llvm::StringRef text) {
  std::string out = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + "\"";
}

/// C++ expression of a default, as an ir::AttrValue.
std::string defaultValue(const Operator& op, const Attribute& attr) {
  if (attr.isRequired || attr.text == "None") return "{}";
  const auto list = [&]() -> std::string {
    llvm::StringRef text = attr.text;
    if (!text.consume_front("[") || !text.consume_back("]"))
      llvm::PrintFatalError(op.record->getLoc(), "default of " + attr.name + " is no list: " + attr.text);
    return "{" + text.str() + "}";
  };
  if (attr.kind == "Bool") return attr.text == "True" ? "true" : "false";
  if (attr.kind == "Int" || attr.kind == "IntOrIntList") return "int64_t{" + attr.text + "}";
  if (attr.kind == "Float") return "double{" + attr.text + "}";
  if (attr.kind == "String") return "std::string(" + quoted(attr.text) + ")";
  if (attr.kind == "DType") return "parseDType(" + quoted(attr.text) + ").value()";
  if (attr.kind == "IntList") return "std::vector<int64_t>" + list();
  if (attr.kind == "FloatList") return "std::vector<double>" + list();
  llvm::PrintFatalError(op.record->getLoc(), "attribute kind without defaults: " + attr.kind);
}

/// The body of a typed accessor and its type.
std::pair<std::string, std::string> accessor(const Operator& op, const Attribute& attr) {
  const std::string name = "(" + quoted(attr.name) + ")";
  if (attr.kind == "IntOrIntList") return {"const ir::AttrValue&", "*attrs.find" + name};
  if (attr.mayBeNone()) {
    if (attr.kind == "Int") return {"std::optional<int64_t>", "attrs.get<int64_t>" + name};
    if (attr.kind == "Float") return {"std::optional<double>", "attrs.get<double>" + name};
    if (attr.kind == "DType") return {"std::optional<DType>", "attrs.get<DType>" + name};
    if (attr.kind == "IntList")
      return {"const std::vector<int64_t>*", "attrs.isNone" + name + " ? nullptr : &attrs.intsOf" + name};
    if (attr.kind == "FloatList")
      return {"const std::vector<double>*", "attrs.isNone" + name + " ? nullptr : &attrs.floatsOf" + name};
    if (attr.kind == "DimList")
      return {"const std::vector<DimExpr>*", "attrs.isNone" + name + " ? nullptr : &attrs.dimsOf" + name};
    llvm::PrintFatalError(op.record->getLoc(), "attribute kind that cannot be None: " + attr.kind);
  }
  if (attr.kind == "Bool") return {"bool", "attrs.boolOf" + name};
  if (attr.kind == "Int") return {"int64_t", "attrs.intOf" + name};
  if (attr.kind == "Float") return {"double", "attrs.floatOf" + name};
  if (attr.kind == "String") return {"const std::string&", "attrs.stringOf" + name};
  if (attr.kind == "DType") return {"DType", "attrs.dtypeOf" + name};
  if (attr.kind == "IntList") return {"const std::vector<int64_t>&", "attrs.intsOf" + name};
  if (attr.kind == "FloatList") return {"const std::vector<double>&", "attrs.floatsOf" + name};
  if (attr.kind == "DimList") return {"const std::vector<DimExpr>&", "attrs.dimsOf" + name};
  llvm::PrintFatalError(op.record->getLoc(), "attribute kind without accessor: " + attr.kind);
}

}  // namespace

void emitOpAttrs(llvm::RecordKeeper& records, llvm::raw_ostream& os) {
  emitNotice("compiler/ops/*/*.td", os);
  std::set<std::string> done;
  for (const Operator& op : readOperators(records)) {
    if (op.attrs.empty() || !done.insert(op.accessors).second) continue;
    os << "/// Attributes of `" << op.name << "`; borrows them.\n";
    const std::string type = camel(op.accessors, true) + "Attrs";
    os << "struct " << type << " {\n  const ir::Attrs& attrs;\n";
    for (const Attribute& attr : op.attrs) {
      const auto [result, body] = accessor(op, attr);
      os << "  /// " << attr.doc << ".\n";
      os << "  " << result << " " << camel(attr.name, false) << "() const { return " << body << "; }\n";
    }
    os << "};\n\n";
  }
}

void emitOpDeclarations(llvm::RecordKeeper& records, llvm::raw_ostream& os) {
  emitNotice("compiler/ops/*/*.td", os);
  std::set<std::string> lines;
  for (const Operator& op : readOperators(records)) {
    lines.insert("Result<std::optional<StructureResult>> " + op.text("Structure") +
                 "Structure(const OpCall& call, StructureContext& context);\n");
    lines.insert("Result<std::vector<TensorDims>> " + op.text("Dims") +
                 "Dims(const OpCall& call, DimsContext& context);\n");
    const std::string lowering = op.named("Lowering");
    if (lowering == "Scalar")
      lines.insert("loop::Value " + op.text("Lower") +
                   "Scalar(const ScalarContext& context, std::span<const loop::Value> inputs);\n");
    else if (lowering == "Element")
      lines.insert("Result<loop::Value> " + op.text("Lower") +
                   "Element(ElementContext& context, std::span<const loop::Value> index);\n");
    else if (!op.isLibrary())
      lines.insert("Result<void> " + op.text("Lower") + lowering + "(" +
                   (op.isLegalised() ? "Expand" : lowering) + "Context& context);\n");
    if (lowering == "Scalar")
      lines.insert("Result<uint64_t> " + op.text("Reference") +
                   "Reference(const ScalarReferenceCall& call, std::span<const uint64_t> inputs);\n");
    else
      lines.insert("Result<void> " + op.text("Reference") + "Reference(ReferenceCall& call);\n");
    if (!op.text("Values").empty())
      lines.insert("std::optional<std::vector<DimExpr>> " + op.text("Values") +
                   "Values(const OpCall& call, DimsContext& context, const TensorDims& result);\n");
  }
  for (const std::string& line : lines) os << line;
}

void emitOpTable(llvm::RecordKeeper& records, llvm::raw_ostream& os) {
  emitNotice("compiler/ops/*/*.td", os);
  for (const Operator& op : readOperators(records)) {
    os << "{\n  OpDef& op = ops.emplace_back();\n  op.name = " << quoted(op.name) << ";\n";
    for (const Record* input : op.record->getValueAsListOfDefs("Inputs"))
      os << "  op.inputs.push_back({" << quoted(input->getValueAsString("Name"))
         << ", DTypeClass::" << input->getValueAsDef("Types")->getValueAsString("Name") << ", "
         << (input->getValueAsBit("IsOptional") ? "true" : "false") << ", "
         << (input->getValueAsBit("IsList") ? "true" : "false") << "});\n";
    for (const Attribute& attr : op.attrs)
      os << "  op.attrs.push_back({" << quoted(attr.name) << ", AttrKind::" << attr.kind << ", "
         << (attr.isRequired ? "true" : "false") << ", " << (attr.mayBeNone() ? "true" : "false") << ", "
         << defaultValue(op, attr) << "});\n";
    for (llvm::StringRef alias : op.record->getValueAsListOfStrings("Aliases"))
      os << "  op.aliases.push_back(" << quoted(alias) << ");\n";
    for (llvm::StringRef attr : op.record->getValueAsListOfStrings("IgnoredAttrs"))
      os << "  op.ignoredAttrs.push_back(" << quoted(attr) << ");\n";
    for (int64_t input : op.record->getValueAsListOfInts("ValueInputs"))
      os << "  op.valueInputs |= 1u << " << input << ";\n";
    if (!op.record->isValueUnset("Fusion")) os << "  op.fusion = FusionKind::" << op.named("Fusion") << ";\n";
    os << "  op.failure = FailureKind::" << op.named("Failure") << ";\n";
    os << "  op.structure = &checkedStructure<&" << op.text("Structure") << "Structure>;\n";
    os << "  op.dims = &" << op.text("Dims") << "Dims;\n";
    if (!op.text("Values").empty()) os << "  op.values = &" << op.text("Values") << "Values;\n";
    const std::string lowering = op.named("Lowering");
    const std::string member = llvm::StringRef(lowering).lower();
    if (op.isLibrary())
      os << "  op.library = " << quoted(op.text("Algorithm")) << ";\n";
    else
      os << "  op." << member << " = &" << op.text("Lower") << lowering << ";\n";
    os << "  op." << (lowering == "Scalar" ? "scalarReference" : "reference") << " = &"
       << op.text("Reference") << "Reference;\n";
    os << "}\n";
  }
}

namespace {

/// Texts by file name, in order of names.
using Programs = std::map<std::string, std::string>;

Programs readPrograms(const std::string& folder) {
  Programs programs;
  std::error_code error;
  for (llvm::sys::fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    const llvm::StringRef name = llvm::sys::path::filename(at->path());
    if (!name.starts_with("operators_") || !name.ends_with(".relay")) continue;
    if (auto file = llvm::MemoryBuffer::getFile(at->path()))
      programs[name.str()] = (*file)->getBuffer().str();
  }
  return programs;
}

/// The program that calls an operator most often, or nothing.
std::string programOf(const Programs& programs, llvm::StringRef op) {
  const std::string call = op.str() + "(";
  std::string found;
  size_t most = 0;
  for (const auto& [name, text] : programs) {
    size_t count = 0;
    for (size_t at = text.find(call); at != std::string::npos; at = text.find(call, at + 1)) {
      const char before = at == 0 ? ' ' : text[at - 1];
      if (!llvm::isAlnum(before) && before != '_' && before != '.') ++count;
    }
    if (count > most) found = name;
    most = std::max(most, count);
  }
  return found;
}

std::string typesOf(const Operator& op) {
  std::vector<std::string> all;
  for (const Record* input : op.record->getValueAsListOfDefs("Inputs")) {
    std::string types = input->getValueAsDef("Types")->getValueAsString("Doc").str();
    if (std::find(all.begin(), all.end(), types) == all.end()) all.push_back(std::move(types));
  }
  return all.empty() ? "none" : llvm::join(all, "; ");
}

/// What the extents of the results are made of.
std::string shapeOf(const Operator& op) {
  std::vector<std::string> values;
  const std::vector<Record*> inputs = op.record->getValueAsListOfDefs("Inputs");
  for (const int64_t input : op.record->getValueAsListOfInts("ValueInputs"))
    values.push_back("*" + inputs[static_cast<size_t>(input)]->getValueAsString("Name").str() + "*");
  if (!values.empty()) return "values of " + llvm::join(values, ", ");
  if (!op.text("Counts").empty()) return "counted: one for each " + op.text("Counts");
  return "extents";
}

void emitOverview(const std::vector<Operator>& ops, const Programs& programs, llvm::raw_ostream& os) {
  os << "\n## All operators\n\n"
        "*Shape* says what the extents of the results follow from, beside attributes: the extents of the "
        "operands, values of some operands, or a count that is taken first. *Values* is the test with values "
        "from elsewhere (numpy, or plain Python).\n\n"
        "| operator | types | shape | values |\n|---|---|---|---|\n";
  for (const Operator& op : ops) {
    const std::string program = programOf(programs, op.name);
    os << "| `" << op.name << "` | " << typesOf(op) << " | " << shapeOf(op) << " | "
       << (program.empty() ? "none" : "[" + program + "](../tests/run/programs/" + program + ")") << " |\n";
  }
}

}  // namespace

void emitOpDocs(llvm::RecordKeeper& records, const std::string& programs, llvm::raw_ostream& os) {
  os << "# Operators\n\n"
        "Generated by `baton-tblgen` from `compiler/ops/*/*.td`. What holds for all of them - wrap-around "
        "integers, NaN, order of reductions, rounding - is in `semantics.md`. Inputs of one operator have "
        "one "
        "element type unless the table of inputs says otherwise; `r` is the rank of the data.\n\n"
        "*Fails* says for which elements an operator ends in a program error: that is found out as it "
        "runs. *Errors* lists, beside types, ranks and extents that do not fit, which attributes and "
        "extents are wrong: such a call is rejected by the compiler where they are known, and otherwise "
        "is a program error before the operator runs.\n";
  const std::vector<Operator> ops = readOperators(records);
  emitOverview(ops, readPrograms(programs), os);
  for (const Operator& op : ops) {
    os << "\n## " << op.name << "\n\n" << op.text("Summary") << ".\n\n";
    os << "`" << op.text("Formula") << "`\n\n";
    os << "Inputs: ";
    bool first = true;
    for (const Record* input : op.record->getValueAsListOfDefs("Inputs")) {
      os << (first ? "" : "; ") << "*" << input->getValueAsString("Name") << "*"
         << (input->getValueAsBit("IsOptional") ? " (optional)" : "")
         << (input->getValueAsBit("IsList") ? " (a tuple of tensors)" : "") << ": "
         << input->getValueAsDef("Types")->getValueAsString("Doc");
      first = false;
    }
    os << (first ? "none.\n" : ".\n");
    if (!op.attrs.empty()) {
      os << "\n| attribute | kind | default | meaning |\n|---|---|---|---|\n";
      for (const Attribute& attr : op.attrs)
        os << "| `" << attr.name << "` | " << attr.kind << " | "
           << (attr.isRequired ? "required"
                               : "`" + (attr.kind == "String" ? quoted(attr.text) : attr.text) + "`")
           << " | " << attr.doc << " |\n";
    }
    os << "\n"
       << (op.isLegalised() ? "Written with other operators (`legalize` in `passes.md`). "
           : op.isLibrary() ? "A kernel of the runtime, never fused. "
                            : "Fusion: " + llvm::StringRef(op.named("Fusion")).lower() + ". ")
       << op.record->getValueAsDef("Failure")->getValueAsString("Doc").str() << ".";
    if (!op.text("Errors").empty()) os << " Errors: " << op.text("Errors") << ".";
    const auto aliases = op.record->getValueAsListOfStrings("Aliases");
    if (!aliases.empty()) os << " Also found as `" << llvm::join(aliases, "`, `") << "`.";
    os << "\n";
  }
}

}  // namespace baton::tblgen
