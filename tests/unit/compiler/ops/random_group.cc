#include "tests/unit/compiler/ops/random_group.h"

#include <fmt/format.h>

#include "tests/unit/compiler/ops/random_tensors.h"

namespace baton::ops::test {

using Ints = std::vector<int64_t>;

namespace {

ir::Attrs attr(std::string_view name, ir::AttrValue value) {
  ir::Attrs out;
  out.set(name, std::move(value));
  return out;
}

/// Grows a group from matrices and vectors of a few extents, so that most things fit together.
class GroupGenerator {
 public:
  GroupGenerator(RandomGroup& group, uint64_t seed)
      : program_(group.program), inputs_(group.inputs), random_(seed) {}

  /// False where types do not fit.
  bool run() {
    isSymbolic_ = random_.chance(50);
    dtype_ = random_.pick<DType>({DType::F32, DType::F32, DType::F32, DType::F16, DType::I32});
    n_ = random_.pick<int64_t>({0, 1, 2, 5, 9, 20});
    m_ = random_.pick<int64_t>({1, 3, 7, 18, 70});
    nDim_ = isSymbolic_ ? program_.symbol("n") : DimExpr::constant(n_);
    mDim_ = isSymbolic_ && random_.chance(50) ? program_.symbol("m") : DimExpr::constant(m_);
    addParam({nDim_, mDim_}, {n_, m_});
    addParam({nDim_, mDim_}, {n_, m_});
    addParam({mDim_}, {m_});
    addParam({nDim_, DimExpr::constant(1)}, {n_, 1});
    addParam({mDim_, mDim_}, {m_, m_});
    addParam({}, {});
    if (isSymbolic_ && random_.chance(40)) {
      const bool isOne = random_.chance(50);
      addParam({program_.symbol("u"), mDim_}, {isOne ? 1 : n_, m_});
    }
    const int64_t count = random_.between(1, 9);
    for (int64_t i = 0; i < count && !program_.typeError(); ++i) addCall();
    // Errors of type are no part of this test: the last call is left out then.
    if (program_.typeError()) return false;
    for (int64_t i = random_.between(1, 3); i > 0; --i)
      program_.result(random_.chance(70) ? values_.back() : random_.pick(values_));
    return true;
  }

  std::string text() const {
    return "steps" + trace_ + (isSymbolic_ ? " symbolic " : " ") + std::to_string(n_) + "x" +
           std::to_string(m_);
  }

 private:
  void addParam(std::vector<DimExpr> dims, std::vector<int64_t> shape) {
    values_.push_back(program_.param(dtype_, std::move(dims)));
    inputs_.push_back(random_.tensor(dtype_, std::move(shape)));
  }

  Handle any() { return random_.chance(50) ? values_.back() : random_.pick(values_); }
  int rankOf(Handle handle) { return program_.typeOf(handle)->rank(); }
  bool isNumber(Handle handle) { return program_.typeOf(handle)->dtype() == dtype_; }

  Handle anyNumber() {
    for (int i = 0; i < 20; ++i) {
      const Handle handle = any();
      if (isNumber(handle)) return handle;
    }
    return values_[0];
  }

  void addCall() {
    const bool isFloat = baton::isFloat(dtype_);
    const Handle x = anyNumber();
    const int rank = rankOf(x);
    const int64_t kind = random_.between(0, 15);
    trace_ += fmt::format(" {}", kind);
    std::vector<Handle> made;
    if (kind <= 3) {
      const std::string name = random_.pick<std::string>({"add", "subtract", "multiply", "maximum"});
      made = program_.calls(name, {x, anyNumber()});
    } else if (kind <= 5) {
      made = program_.calls(isFloat
                                ? random_.pick<std::string>({"tanh", "negative", "exp", "nn.relu", "sigmoid"})
                                : random_.pick<std::string>({"negative", "abs", "nn.relu"}),
                            {x});
    } else if (kind <= 7 && rank > 0) {
      // One draw after another: the order of a call's arguments is the compiler's.
      ir::Attrs attrs = attr("axis", Ints{random_.between(0, rank - 1)});
      attrs.set("keepdims", random_.chance(60));
      made = program_.calls(random_.pick<std::string>({"sum", "max", "min"}), {x}, attrs);
    } else if (kind == 8 && rank > 0 && isFloat) {
      made = program_.calls("nn.softmax", {x}, attr("axis", random_.between(-1, rank - 1)));
    } else if (kind == 9 && rank > 0) {
      made = program_.calls("nn.dense", {x, values_[4]});
    } else if (kind == 10 && rank > 0) {
      made = program_.calls("concatenate", {x, x, x}, attr("axis", random_.between(0, rank - 1)));
    } else if (kind == 11 && rank > 0) {
      made = program_.calls("transpose", {x});
    } else if (kind == 12) {
      made = program_.calls("expand_dims", {x}, attr("axis", random_.between(0, rank)));
    } else if (kind == 13 && rank > 0) {
      made = program_.calls("reverse", {x}, attr("axis", random_.between(0, rank - 1)));
    } else if (kind == 14) {
      made = program_.calls("where", {program_.call("less", {x, values_[5]}), x, anyNumber()});
    } else if (kind == 15 && rank > 1) {
      std::vector<DimExpr> flat = {DimExpr::constant(-1)};
      made = program_.calls("reshape", {x}, attr("newshape", flat));
    }
    if (!program_.typeError()) values_.insert(values_.end(), made.begin(), made.end());
  }

  GroupProgram& program_;
  std::vector<Tensor>& inputs_;
  Random random_;
  bool isSymbolic_ = false;
  DType dtype_ = DType::F32;
  int64_t n_ = 0;
  int64_t m_ = 0;
  DimExpr nDim_;
  DimExpr mDim_;
  std::vector<Handle> values_;
  std::string trace_;
};

}  // namespace

std::unique_ptr<RandomGroup> randomGroup(uint64_t seed) {
  auto group = std::make_unique<RandomGroup>();
  GroupGenerator generator(*group, seed);
  if (!generator.run()) return nullptr;
  group->text = generator.text() + " seed " + std::to_string(seed);
  group->broken = group->program.checkObligations(group->inputs);
  group->expected = group->program.evaluate(group->inputs);
  return group;
}

}  // namespace baton::ops::test
