#include "compiler/types/term.h"

#include <algorithm>
#include <unordered_set>

#include <fmt/format.h>

namespace baton::types {

using ir::TypeKind;
using ir::TypeRef;

Term TermTable::add(TermKind kind, uint32_t value, std::vector<Term> children) {
  nodes_.push_back({kind, value, std::move(children), false, nullptr});
  close(nodes_.back());
  return Term(static_cast<uint32_t>(nodes_.size() - 1));
}

/// Whether nothing is unknown in the node, as far as its children tell.
bool TermTable::close(Node& node) {
  if (node.isClosed || node.kind == TermKind::Unknown) return node.isClosed;
  node.isClosed = std::all_of(node.children.begin(), node.children.end(),
                              [&](Term child) { return nodes_[find(child).value()].isClosed; });
  return node.isClosed;
}

Term TermTable::unknown() { return add(TermKind::Unknown, 0, {}); }
Term TermTable::dtype(DType dtype) { return add(TermKind::DType, static_cast<uint32_t>(dtype), {}); }
Term TermTable::rank(int rank) { return add(TermKind::Rank, static_cast<uint32_t>(rank), {}); }
Term TermTable::tensor(Term dtype, Term rank) { return add(TermKind::Tensor, 0, {dtype, rank}); }
Term TermTable::tuple(std::vector<Term> elements) { return add(TermKind::Tuple, 0, std::move(elements)); }
Term TermTable::function(std::vector<Term> params, Term result) {
  params.push_back(result);
  return add(TermKind::Function, 0, std::move(params));
}
Term TermTable::adt(ir::TypeDefId definition, std::vector<Term> arguments) {
  return add(TermKind::Adt, definition.value(), std::move(arguments));
}
Term TermTable::ref(Term pointee) { return add(TermKind::Ref, 0, {pointee}); }
Term TermTable::array(Term element) { return add(TermKind::Array, 0, {element}); }
Term TermTable::rigid(ir::TypeVarId var) { return add(TermKind::Rigid, var.value(), {}); }

Term TermTable::find(Term term) {
  Term root = term;
  while (nodes_[root.value()].kind == TermKind::Link) root = nodes_[root.value()].children[0];
  while (nodes_[term.value()].kind == TermKind::Link) {
    Term next = nodes_[term.value()].children[0];
    nodes_[term.value()].children[0] = root;
    term = next;
  }
  return root;
}

std::optional<DType> TermTable::dtypeOf(Term term) {
  if (kind(term) != TermKind::DType) return std::nullopt;
  return static_cast<DType>(value(term));
}

std::optional<int> TermTable::rankOf(Term term) {
  if (kind(term) != TermKind::Rank) return std::nullopt;
  return static_cast<int>(value(term));
}

bool TermTable::occurs(Term unknown, Term in) {
  // What is closed has been looked at for good: growing types are not walked again and again.
  std::vector<Term> stack{in};
  std::unordered_set<Term> seen;
  while (!stack.empty()) {
    Term term = find(stack.back());
    if (term == unknown) return true;
    if (children(term).empty() || close(nodes_[term.value()]) || !seen.insert(term).second) {
      stack.pop_back();
      continue;
    }
    // Met once more when its children are done, and closed if they are.
    stack.insert(stack.end(), children(term).begin(), children(term).end());
  }
  return false;
}

void TermTable::bind(Term from, Term to) {
  if (bindHook_) bindHook_(from, to);
  nodes_[from.value()] = {TermKind::Link, 0, {to}, false, nullptr};
}

std::optional<std::pair<Term, Term>> TermTable::unify(Term a, Term b) {
  std::vector<std::pair<Term, Term>> work{{a, b}};
  // Composites that were made one on the way: taken apart again on failure, or a message
  // would show both sides as equal.
  std::vector<std::pair<Term, Node>> linked;
  auto fail = [&](Term x, Term y) {
    while (!linked.empty()) {
      nodes_[linked.back().first.value()] = std::move(linked.back().second);
      linked.pop_back();
    }
    return std::pair{x, y};
  };
  while (!work.empty()) {
    auto [x, y] = work.back();
    work.pop_back();
    x = find(x);
    y = find(y);
    if (x == y) continue;
    if (isUnknown(x) || isUnknown(y)) {
      if (!isUnknown(x)) std::swap(x, y);
      if (occurs(x, y)) return fail(x, y);
      bind(x, y);
      continue;
    }
    const Node& left = nodes_[x.value()];
    const Node& right = nodes_[y.value()];
    if (left.kind != right.kind || left.value != right.value || left.children.size() != right.children.size())
      return fail(x, y);
    for (size_t i = left.children.size(); i-- > 0;) work.emplace_back(left.children[i], right.children[i]);
    // What is equal is compared once: types may share parts many times over.
    if (!left.children.empty()) {
      linked.emplace_back(x, std::move(nodes_[x.value()]));
      nodes_[x.value()] = {TermKind::Link, 0, {y}, false, nullptr};
    }
  }
  return std::nullopt;
}

Term TermTable::fromType(TypeRef root, const TermEnvironment& environment) {
  // Post-order; holes are unknown once per occurrence, so parts are not shared.
  struct Frame {
    TypeRef type;
    std::vector<Term> done;
  };
  std::vector<Frame> stack{{root, {}}};
  for (;;) {
    Frame& frame = stack.back();
    TypeRef type = frame.type;
    size_t parts = type->isTensor() ? 0 : type->elements().size() + (type->isFunction() ? 1 : 0);
    if (frame.done.size() < parts) {
      size_t next = frame.done.size();
      stack.push_back({next < type->elements().size() ? type->elements()[next] : type->result(), {}});
      continue;
    }
    Term term;
    std::vector<Term> done = std::move(frame.done);
    switch (type->kind()) {
      case TypeKind::Tensor: term = tensor(type->dtype(), type->rank()); break;
      case TypeKind::Tuple: term = tuple(std::move(done)); break;
      case TypeKind::Function: term = add(TermKind::Function, 0, std::move(done)); break;
      case TypeKind::Adt: term = adt(type->definition(), std::move(done)); break;
      case TypeKind::Ref: term = ref(done[0]); break;
      case TypeKind::Array: term = array(done[0]); break;
      case TypeKind::Var: {
        auto known = environment.find(type->variable());
        term = known == environment.end() ? rigid(type->variable()) : known->second;
        break;
      }
      case TypeKind::Hole: term = unknown(); break;
    }
    stack.pop_back();
    if (stack.empty()) return term;
    stack.back().done.push_back(term);
  }
}

std::optional<TypeRef> TermTable::toType(Term root,
                                         const std::unordered_map<ir::TypeVarId, TypeRef>& arguments) {
  std::unordered_map<Term, TypeRef> done;
  std::vector<Term> stack{find(root)};
  ir::TypeTable& types = module_.types;
  auto isDone = [&](Term term) {
    if (done.contains(term)) return true;
    if (TypeRef known = nodes_[term.value()].type) return done.emplace(term, known).second;
    return false;
  };
  while (!stack.empty()) {
    Term term = stack.back();
    if (isDone(term)) {
      stack.pop_back();
      continue;
    }
    TermKind of = kind(term);
    TypeRef type = nullptr;
    if (of == TermKind::Tensor) {
      std::optional<DType> element = dtypeOf(children(term)[0]);
      std::optional<int> rank = rankOf(children(term)[1]);
      if (!element || !rank) return std::nullopt;
      type = types.tensor(*element,
                          std::vector<DimExpr>(static_cast<size_t>(*rank), DimExpr::symbol(ir::kAnyDim)));
    } else if (of == TermKind::Rigid) {
      auto known = arguments.find(ir::TypeVarId(value(term)));
      type = known == arguments.end() ? types.variable(ir::TypeVarId(value(term))) : known->second;
    } else if (of == TermKind::Unknown) {
      type = types.unit();
    } else {
      bool ready = true;
      for (Term child : children(term)) {
        child = find(child);
        if (isDone(child)) continue;
        stack.push_back(child);
        ready = false;
      }
      if (!ready) continue;
      std::vector<TypeRef> parts;
      for (Term child : children(term)) parts.push_back(done.at(find(child)));
      if (of == TermKind::Tuple) {
        type = types.tuple(std::move(parts));
      } else if (of == TermKind::Function) {
        TypeRef result = parts.back();
        parts.pop_back();
        type = types.function(std::move(parts), result);
      } else if (of == TermKind::Adt) {
        type = types.adt(ir::TypeDefId(value(term)), std::move(parts));
      } else if (of == TermKind::Array) {
        type = types.array(parts[0]);
      } else {
        BATON_CHECK(of == TermKind::Ref);
        type = types.ref(parts[0]);
      }
    }
    // One that generic parameters are in differs from instance to instance.
    if (close(nodes_[term.value()]) && (arguments.empty() ? !type->isOpen() : of == TermKind::Tensor))
      nodes_[term.value()].type = type;
    done.emplace(term, type);
    stack.pop_back();
  }
  return done.at(find(root));
}

bool TermTable::hasUnknown(Term root) {
  std::unordered_set<Term> seen;
  std::vector<Term> stack{find(root)};
  while (!stack.empty()) {
    const Term term = stack.back();
    stack.pop_back();
    if (!seen.insert(term).second) continue;
    if (kind(term) == TermKind::Unknown) return true;
    if (kind(term) == TermKind::Tensor) continue;
    for (Term child : children(term)) stack.push_back(find(child));
  }
  return false;
}

std::string TermTable::print(Term root) {
  struct Piece {
    std::optional<Term> term;
    std::string text;
  };
  std::string out;
  std::vector<Piece> stack{{root, {}}};
  while (!stack.empty()) {
    Piece piece = std::move(stack.back());
    stack.pop_back();
    if (!piece.term) {
      out += piece.text;
      continue;
    }
    if (out.size() > 400) return out + "...";
    Term term = *piece.term;
    auto pushList = [&](std::span<const Term> list) {
      for (size_t i = list.size(); i-- > 0;) {
        stack.push_back({list[i], {}});
        if (i > 0) stack.push_back({std::nullopt, ", "});
      }
    };
    std::span<const Term> parts = children(term);
    switch (kind(term)) {
      case TermKind::Unknown:
      case TermKind::Link: out += '_'; break;
      case TermKind::DType: out += dtypeName(static_cast<DType>(value(term))); break;
      case TermKind::Rank: out += fmt::format("rank {}", value(term)); break;
      case TermKind::Tensor: {
        std::optional<DType> element = dtypeOf(parts[0]);
        std::optional<int> rank = rankOf(parts[1]);
        std::string name = element ? std::string(dtypeName(*element)) : "_";
        if (rank == 0) {
          out += name;
          break;
        }
        std::string dims = rank ? "?" : "...";
        for (int i = 1; i < rank.value_or(0); ++i) dims += ", ?";
        out += fmt::format("Tensor[({}{}), {}]", dims, rank == 1 ? "," : "", name);
        break;
      }
      case TermKind::Tuple:
        out += '(';
        stack.push_back({std::nullopt, parts.size() == 1 ? ",)" : ")"});
        pushList(parts);
        break;
      case TermKind::Function:
        out += "fn (";
        stack.push_back({parts.back(), {}});
        stack.push_back({std::nullopt, ") -> "});
        pushList(parts.first(parts.size() - 1));
        break;
      case TermKind::Adt:
        out += module_.typeDef(ir::TypeDefId(value(term))).name;
        if (parts.empty()) break;
        out += '[';
        stack.push_back({std::nullopt, "]"});
        pushList(parts);
        break;
      case TermKind::Ref:
        out += "ref(";
        stack.push_back({std::nullopt, ")"});
        pushList(parts);
        break;
      case TermKind::Array:
        out += "Array[";
        stack.push_back({std::nullopt, "]"});
        pushList(parts);
        break;
      case TermKind::Rigid: out += module_.typeVarNames.at(value(term)); break;
    }
  }
  return out;
}

}  // namespace baton::types
