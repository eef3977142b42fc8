// Writes described structures as msgpack.
#pragma once

#include <vector>

#include "base/error.h"
#include "bytecode/program.h"

namespace baton::bytecode {

struct StoredConstant;

// One function per section; the bytes depend on the content alone.
std::vector<std::byte> packMeta(const Meta& meta);
std::vector<std::byte> packTypes(const Program& program);
std::vector<std::byte> packFunctions(const std::vector<Function>& functions);
std::vector<std::byte> packConstants(const std::vector<StoredConstant>& constants);
std::vector<std::byte> packKernels(const Program& program);
std::vector<std::byte> packLoops(const std::vector<std::string>& loops);
std::vector<std::byte> packDebug(const DebugInfo& debug);
std::vector<std::byte> packTests(const std::vector<TestCase>& tests);

}  // namespace baton::bytecode
