// Terms of structural inference: types without extents, some parts of which are not
// known yet. Union-find over an arena; all traversals have explicit stacks.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "compiler/ir/ir.h"

namespace baton::types {

/// Index into the arena.
struct TermTag;
using Term = StrongIndex<TermTag>;

enum class TermKind : uint8_t {
  Unknown,   ///< anything: a type, a dtype or a rank
  Link,      ///< another term
  DType,     ///< an element type
  Rank,      ///< a number
  Tensor,    ///< children: dtype, rank
  Tuple,     ///< children: elements
  Function,  ///< children: parameters, result last
  Adt,       ///< children: arguments
  Ref,       ///< child: what is inside
  Array,     ///< child: the element
  Rigid,     ///< a generic parameter, inside the definition that it belongs to
};

/// Generic parameters and what they stand for.
using TermEnvironment = std::unordered_map<ir::TypeVarId, Term>;

class TermTable {
 public:
  explicit TermTable(ir::Module& module) : module_(module) {}

  Term unknown();
  Term dtype(DType dtype);
  Term rank(int rank);
  Term tensor(Term dtype, Term rank);
  Term tensor(DType type, int rankValue) { return tensor(dtype(type), rank(rankValue)); }
  /// A tensor of which nothing is known.
  Term anyTensor() { return tensor(unknown(), unknown()); }
  Term tuple(std::vector<Term> elements);
  Term function(std::vector<Term> params, Term result);
  Term adt(ir::TypeDefId definition, std::vector<Term> arguments);
  Term ref(Term pointee);
  Term array(Term element);
  Term rigid(ir::TypeVarId var);

  /// The term that this one stands for.
  Term find(Term term);
  TermKind kind(Term term) { return nodes_[find(term).value()].kind; }
  bool isUnknown(Term term) { return kind(term) == TermKind::Unknown; }
  std::span<const Term> children(Term term) { return nodes_[find(term).value()].children; }
  /// Dtype, rank, definition or generic parameter, as the kind says.
  uint32_t value(Term term) { return nodes_[find(term).value()].value; }
  std::optional<DType> dtypeOf(Term dtypeTerm);
  std::optional<int> rankOf(Term rankTerm);

  /// Makes both equal. On failure gives the innermost parts that differ; what was unified
  /// on the way stays so.
  std::optional<std::pair<Term, Term>> unify(Term a, Term b);

  /// From a written type: holes are unknown, extents are dropped, generic parameters are
  /// looked up in `environment` (and are rigid where it has none).
  Term fromType(ir::TypeRef type, const TermEnvironment& environment);
  /// To a type whose extents are all `?`. Generic parameters are looked up in `arguments`;
  /// nothing when a dtype or rank is unknown. Unknown types become the empty tuple: no
  /// value of theirs is ever looked at.
  std::optional<ir::TypeRef> toType(Term term,
                                    const std::unordered_map<ir::TypeVarId, ir::TypeRef>& arguments);
  /// As in program text, `_` for what is unknown.
  /// Whether a type in it, not a dtype or rank, is unknown.
  bool hasUnknown(Term term);
  std::string print(Term term);

  /// Called with every unknown term that gets a meaning, before it does.
  void setBindHook(std::function<void(Term from, Term to)> hook) { bindHook_ = std::move(hook); }

 private:
  struct Node {
    TermKind kind = TermKind::Unknown;
    uint32_t value = 0;
    std::vector<Term> children;
    /// Nothing inside is unknown, or will be; known to be so.
    bool isClosed = false;
    ir::TypeRef type = nullptr;  ///< once it was asked for, where it depends on nothing
  };
  bool close(Node& node);
  Term add(TermKind kind, uint32_t value, std::vector<Term> children);
  bool occurs(Term unknown, Term in);
  void bind(Term from, Term to);

  ir::Module& module_;
  std::vector<Node> nodes_;
  std::function<void(Term, Term)> bindHook_;
};

}  // namespace baton::types
