// Programs of operators for tests: built op by op, evaluated by the reference versions, and
// lowered to one kernel that is interpreted.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "baton/kernel_abi.h"
#include "compiler/ir/ir.h"
#include "compiler/ops/lowering/kernel_lowering.h"
#include "compiler/ops/reference.h"
#include "tests/unit/compiler/ops/guarded_buffer.h"

namespace baton::ops::test {

struct Tensor {
  DType dtype = DType::F32;
  std::vector<int64_t> shape;
  std::vector<std::byte> bytes;
  TensorView view() const { return {dtype, shape, bytes.data()}; }
};

Tensor tensorOf(DType dtype, std::vector<int64_t> shape, const std::vector<double>& values);
/// "1 2 nan" in the order of the elements.
std::string textOf(const Tensor& tensor);
/// Bit for bit, but all NaNs are one. Empty, or what differs.
std::string difference(const Tensor& expected, const Tensor& found);

/// What a run gave: results, or the message of a program error.
struct Outcome {
  std::vector<Tensor> results;
  std::optional<std::string> error;
};

using KernelRunner = std::function<int32_t(const BatonKernelContext*, void* const*, int64_t*)>;

/// Handles of tensors of a program.
using Handle = ir::Atom;

class GroupProgram {
 public:
  GroupProgram();

  DimExpr symbol(const std::string& name);
  Handle param(DType dtype, std::vector<DimExpr> dims,
               std::optional<std::vector<DimExpr>> values = std::nullopt);
  Handle param(DType dtype, std::initializer_list<int64_t> extents);
  Handle constant(const Tensor& tensor);
  /// Attributes that are not given have their defaults. Several results: see `calls`.
  Handle call(std::string_view op, std::vector<Handle> args, ir::Attrs attrs = {}) {
    return calls(op, args, attrs)[0];
  }
  std::vector<Handle> calls(std::string_view op, const std::vector<Handle>& args, ir::Attrs attrs = {});
  void result(Handle handle) { results_.push_back(handle); }
  /// Types that do not fit: the message. Building goes on with nonsense.
  const std::optional<std::string>& typeError() const { return typeError_; }
  const ir::Function& function() const { return function_; }
  ir::TypeRef typeOf(Handle handle) { return module_.typeOf(function_, handle); }

  /// Ends building. Types of parameters and results must stay.
  void rewrite(const std::function<void(ir::Module&)>& change);
  Result<LoweredKernel> lowerPlain();
  /// With its schedule applied, for narrow vectors or wide ones.
  Result<LoweredKernel> lower(bool isNarrow = false);
  /// Every operator by its reference version.
  Outcome evaluate(const std::vector<Tensor>& inputs);
  /// The whole as one kernel, by whatever runs it. Result shapes are those of `evaluate`. All memory
  /// that the kernel sees is guarded on `side`.
  Outcome run(const LoweredKernel& lowered, const std::vector<Tensor>& inputs, const Outcome& expected,
              const KernelRunner& kernel, GuardedBuffer::Side side = GuardedBuffer::Side::End);
  /// The same in the interpreter.
  Outcome interpret(const LoweredKernel& lowered, const std::vector<Tensor>& inputs, const Outcome& expected,
                    GuardedBuffer::Side side = GuardedBuffer::Side::End);
  /// Results of the shapes that the types say for these inputs.
  std::vector<Tensor> emptyResults(const std::vector<Tensor>& inputs);
  /// Symbols by their values for these inputs; obligations that do not hold give a message.
  std::optional<std::string> checkObligations(const std::vector<Tensor>& inputs);

 private:
  void finish();
  /// What the extents and elements of a variable with these values say of symbols.
  void learn(ir::VarId var, std::span<const Tensor> values, std::map<DimSymbol, int64_t>& symbols) const;
  std::map<DimSymbol, int64_t> symbolsOf(const std::vector<Tensor>& inputs) const;

  ir::Module module_;
  ir::Function function_;
  std::vector<Handle> results_;
  std::optional<std::string> typeError_;
  bool isFinished_ = false;
};

}  // namespace baton::ops::test
