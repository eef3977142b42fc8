// What `vm-dump` shows of an executable: text for people, JSON for programs.
#pragma once

#include <map>
#include <string>

#include "base/error.h"
#include "bytecode/container/reader.h"
#include "bytecode/program.h"

namespace baton::bytecode {

/// Name, producer, counts, sizes: a dozen lines.
std::string dumpSummary(const Program& program);
/// Entry points: documentation, parameters, result, constraints.
std::string dumpSignatures(const Program& program);
/// Functions: kinds, registers, words of code.
std::string dumpFunctions(const Program& program);
std::string dumpConstants(const Program& program);
/// Kernels: descriptors, and where their code is.
std::string dumpKernels(const Program& program);
/// Peak memory of each entry point, as an expression, and as a number where `dims` gives all
/// of its symbols.
std::string dumpMemory(const Program& program, const std::map<std::string, int64_t>& dims);
/// Bytes of each section of a file.
std::string dumpSizes(const std::vector<SectionSize>& sizes);

/// Of a weights file: its tensors by key.
std::string dumpParams(const Params& params);

/// All of a program as one JSON object; code is left out.
std::string dumpJson(const Program& program, const std::vector<SectionSize>& sizes);

/// "list": how a user would write the type, with ADTs and tuples by name.
std::string describeType(const Program& program, const ValueType& type,
                         const std::vector<std::string>& symbolNames,
                         std::span<const EntryPoint::View> views = {});

}  // namespace baton::bytecode
