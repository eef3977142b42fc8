// The declarations at the head of a kernel's text: its descriptor and scratch buffers.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "kernels/loop/kernel.h"
#include "kernels/loop/token_stream.h"

namespace baton::loop {

class DeclarationParser {
 public:
  explicit DeclarationParser(TokenStream& tokens) : tokens_(tokens) {}

  /// Reads declarations into the kernel up to where its statements begin.
  Result<void> run(Kernel& kernel);

  std::optional<DimSymbol> findSymbol(std::string_view name) const;

  // -- What statements have, too. Extents may use the symbols declared so far.
  Result<uint32_t> index(const char* what);
  Result<DType> dtype();
  Result<DimExpr> dim();
  Result<std::vector<DimExpr>> extents();

 private:
  Result<KernelOperand> operand();
  Result<void> symbol(KernelDescriptor& descriptor);
  Result<void> constraint(KernelDescriptor& descriptor);
  /// One declaration; false where the statements begin.
  Result<bool> declaration(Kernel& kernel);

  TokenStream& tokens_;
  std::unordered_map<std::string, uint32_t> symbols_;  // number by name
};

}  // namespace baton::loop
