#include "equal_modules.h"

#include <unordered_map>

#include <fmt/format.h>

#include "compiler/ir/op.h"

namespace baton::run {
namespace {

/// The alternative of `rhs` that has the type of `x`.
template <class T>
const T& like(const T&, const ir::Rhs& rhs) {
  return std::get<T>(rhs);
}

class Comparison {
 public:
  Comparison(const ir::Module& a, const ir::Module& b) : a_(a), b_(b) {}

  std::string run() {
    if (!same(a_.typeDefs.size(), b_.typeDefs.size(), "number of types")) return found_;
    for (size_t i = 0; i < a_.typeDefs.size() && found_.empty(); ++i) typeDef(a_.typeDefs[i], b_.typeDefs[i]);
    if (!same(a_.functions.size(), b_.functions.size(), "number of functions")) return found_;
    for (size_t i = 0; i < a_.functions.size() && found_.empty(); ++i)
      function(a_.functions[i], b_.functions[i]);
    return found_;
  }

 private:
  bool fail(std::string what) {
    if (found_.empty()) found_ = where_ + ": " + std::move(what);
    return false;
  }
  template <class T>
  bool same(const T& x, const T& y, const char* what) {
    return x == y || fail(what);
  }
  template <class T>
  bool map(std::unordered_map<T, T>& known, T x, T y, const char* what) {
    return known.try_emplace(x, y).first->second == y || fail(what);
  }

  void generics(const std::vector<ir::TypeVarId>& x, const std::vector<ir::TypeVarId>& y) {
    if (!same(x.size(), y.size(), "number of type parameters")) return;
    for (size_t i = 0; i < x.size(); ++i) map(typeVars_, x[i], y[i], "type parameters");
  }

  bool dim(const DimExpr& x, const DimExpr& y) {
    if (x.asSymbol() == ir::kAnyDim || y.asSymbol() == ir::kAnyDim)
      return same(x.asSymbol() == y.asSymbol(), true, "unknown extents");
    if (x.asSymbol() && y.asSymbol()) return map(symbols_, *x.asSymbol(), *y.asSymbol(), "extents");
    deferred_.emplace_back(x, y);
    return true;
  }
  /// Expressions are compared when all symbols have been seen alone.
  void finishDims() {
    for (const auto& [x, y] : deferred_) {
      const DimExpr mapped = x.substitute([&](DimSymbol symbol) -> std::optional<DimExpr> {
        const auto known = symbols_.find(symbol);
        return known == symbols_.end() ? std::nullopt : std::optional(DimExpr::symbol(known->second));
      });
      same(mapped, y, "extents that are expressions");
    }
    deferred_.clear();
  }

  bool type(ir::TypeRef rootX, ir::TypeRef rootY) {
    if ((rootX == nullptr) != (rootY == nullptr)) return fail("a declared type");
    if (rootX == nullptr) return true;
    std::vector<std::pair<ir::TypeRef, ir::TypeRef>> stack{{rootX, rootY}};
    while (!stack.empty()) {
      const auto [x, y] = stack.back();
      stack.pop_back();
      if (!same(x->kind(), y->kind(), "kinds of types")) return false;
      if (!same(x->elements().size(), y->elements().size(), "parts of types")) return false;
      for (size_t i = 0; i < x->elements().size(); ++i)
        stack.emplace_back(x->elements()[i], y->elements()[i]);
      switch (x->kind()) {
        case ir::TypeKind::Tensor:
          if (!same(x->dtype(), y->dtype(), "element types") || !same(x->rank(), y->rank(), "ranks"))
            return false;
          for (size_t i = 0; i < x->dims().size(); ++i)
            if (!dim(x->dims()[i], y->dims()[i])) return false;
          break;
        case ir::TypeKind::Function: stack.emplace_back(x->result(), y->result()); break;
        case ir::TypeKind::Adt:
          if (!same(x->definition(), y->definition(), "data types")) return false;
          break;
        case ir::TypeKind::Var:
          if (!map(typeVars_, x->variable(), y->variable(), "type parameters")) return false;
          break;
        case ir::TypeKind::Tuple:
        case ir::TypeKind::Ref:
        case ir::TypeKind::Array:
        case ir::TypeKind::Hole: break;
      }
    }
    return true;
  }

  void typeDef(const ir::TypeDef& x, const ir::TypeDef& y) {
    where_ = "type " + x.name;
    same(x.name, y.name, "names");
    same(x.doc, y.doc, "documentation");
    same(x.isExtern, y.isExtern, "extern");
    generics(x.generics, y.generics);
    if (!same(x.constructors.size(), y.constructors.size(), "number of constructors")) return;
    for (size_t i = 0; i < x.constructors.size(); ++i) {
      same(x.constructors[i].name, y.constructors[i].name, "names of constructors");
      if (!same(x.constructors[i].fields.size(), y.constructors[i].fields.size(), "number of fields")) return;
      for (size_t f = 0; f < x.constructors[i].fields.size(); ++f)
        type(x.constructors[i].fields[f], y.constructors[i].fields[f]);
    }
    finishDims();
  }

  bool atom(const ir::Atom& x, const ir::Atom& y) {
    if (!same(x.kind(), y.kind(), "kinds of operands")) return false;
    switch (x.kind()) {
      case ir::Atom::Kind::Var: return map(vars_, x.var(), y.var(), "variables");
      case ir::Atom::Kind::Global: return same(x.global(), y.global(), "functions");
      case ir::Atom::Kind::Constant: break;
    }
    const ir::Constant& c = a_.constant(x.constant());
    const ir::Constant& d = b_.constant(y.constant());
    return same(c.dtype, d.dtype, "element types of constants") &&
           same(c.shape, d.shape, "shapes of constants") && same(c.bytes, d.bytes, "constants") &&
           same(c.name, d.name, "names of weights") &&
           (!c.isExternal() || same(c.externalKey, d.externalKey, "keys of weights"));
  }
  void atoms(const std::vector<ir::Atom>& x, const std::vector<ir::Atom>& y) {
    if (!same(x.size(), y.size(), "number of operands")) return;
    for (size_t i = 0; i < x.size(); ++i)
      if (!atom(x[i], y[i])) return;
  }

  bool attrs(const ir::Attrs& x, const ir::Attrs& y) {
    if (!same(x.entries().size(), y.entries().size(), "number of attributes")) return false;
    for (size_t i = 0; i < x.entries().size(); ++i) {
      const auto& [nameX, valueX] = x.entries()[i];
      const auto& [nameY, valueY] = y.entries()[i];
      if (!same(nameX, nameY, "names of attributes")) return false;
      const auto* dimsX = std::get_if<std::vector<DimExpr>>(&valueX);
      const auto* dimsY = std::get_if<std::vector<DimExpr>>(&valueY);
      if (dimsX != nullptr && dimsY != nullptr && dimsX->size() == dimsY->size()) {
        for (size_t d = 0; d < dimsX->size(); ++d) dim((*dimsX)[d], (*dimsY)[d]);
        continue;
      }
      const auto* realX = std::get_if<double>(&valueX);
      const auto* realY = std::get_if<double>(&valueY);
      const bool areNan = realX != nullptr && realY != nullptr && *realX != *realX && *realY != *realY;
      if (!areNan && !same(valueX, valueY, "attributes")) return false;
    }
    return true;
  }

  void var(ir::VarId x, ir::VarId y) {
    if (!map(vars_, x, y, "variables")) return;
    type(f_->var(x).declaredType, g_->var(y).declaredType);
  }

  void pattern(ir::PatternId rootX, ir::PatternId rootY) {
    std::vector<std::pair<ir::PatternId, ir::PatternId>> stack{{rootX, rootY}};
    while (!stack.empty()) {
      const ir::Pattern& x = f_->pattern(stack.back().first);
      const ir::Pattern& y = g_->pattern(stack.back().second);
      stack.pop_back();
      if (!same(x.kind, y.kind, "kinds of patterns")) return;
      if (x.kind == ir::Pattern::Kind::Var) var(x.var, y.var);
      if (x.kind == ir::Pattern::Kind::Constructor)
        same(x.constructor, y.constructor, "constructors of patterns");
      if (!same(x.children.size(), y.children.size(), "parts of patterns")) return;
      for (size_t i = x.children.size(); i-- > 0;) stack.emplace_back(x.children[i], y.children[i]);
    }
  }

  /// Blocks inside are put on the stack.
  void rhs(const ir::Rhs& left, const ir::Rhs& right) {
    if (!same(left.index(), right.index(), "forms of bindings")) return;
    struct Visitor {
      Comparison& c;
      const ir::Rhs& right;
      void operator()(const ir::AtomRhs& x) { c.atom(x.atom, like(x, right).atom); }
      void operator()(const ir::CallOp& x) {
        c.same(x.op, like(x, right).op, "operators");
        c.attrs(x.attrs, like(x, right).attrs);
        c.atoms(x.args, like(x, right).args);
      }
      void operator()(const ir::CallGlobal& x) {
        c.same(x.callee, like(x, right).callee, "callees");
        c.atoms(x.args, like(x, right).args);
      }
      void operator()(const ir::CallValue& x) {
        c.atom(x.callee, like(x, right).callee);
        c.atoms(x.args, like(x, right).args);
      }
      void operator()(const ir::CallJoin& x) {
        c.map(c.vars_, x.join, like(x, right).join, "joins");
        c.atoms(x.args, like(x, right).args);
      }
      void operator()(const ir::Construct& x) {
        c.same(x.constructor, like(x, right).constructor, "constructors");
        c.atoms(x.args, like(x, right).args);
      }
      void operator()(const ir::MakeTuple& x) { c.atoms(x.elements, like(x, right).elements); }
      void operator()(const ir::Project& x) {
        c.same(x.index, like(x, right).index, "fields");
        c.atom(x.tuple, like(x, right).tuple);
      }
      void operator()(const ir::If& x) {
        c.atom(x.condition, like(x, right).condition);
        c.work_.emplace_back(x.elseBlock, like(x, right).elseBlock);
        c.work_.emplace_back(x.thenBlock, like(x, right).thenBlock);
      }
      void operator()(const ir::Match& x) {
        c.atom(x.scrutinee, like(x, right).scrutinee);
        c.same(x.complete, like(x, right).complete, "kinds of matches");
        if (!c.same(x.clauses.size(), like(x, right).clauses.size(), "number of clauses")) return;
        for (size_t i = 0; i < x.clauses.size(); ++i) {
          c.pattern(x.clauses[i].pattern, like(x, right).clauses[i].pattern);
          c.work_.emplace_back(x.clauses[i].block, like(x, right).clauses[i].block);
        }
      }
      void operator()(const ir::Lambda& x) {
        const ir::Lambda& y = like(x, right);
        c.generics(x.generics, y.generics);
        c.attrs(x.attrs, y.attrs);
        c.same(x.isJoin, y.isJoin, "joins");
        c.same(x.isLoop, y.isLoop, "loops");
        if (!c.same(x.params.size(), y.params.size(), "number of parameters")) return;
        for (size_t i = 0; i < x.params.size(); ++i) c.var(x.params[i], y.params[i]);
        c.type(x.declaredResult, y.declaredResult);
        c.work_.emplace_back(x.body, y.body);
      }
      void operator()(const ir::NestedBlock& x) { c.work_.emplace_back(x.block, like(x, right).block); }
      void operator()(const ir::ArrayOp& x) {
        c.same(x.operation, like(x, right).operation, "operations on arrays");
        c.atoms(x.args, like(x, right).args);
      }
      void operator()(const ir::MakeRef& x) { c.atom(x.value, like(x, right).value); }
      void operator()(const ir::ReadRef& x) { c.atom(x.cell, like(x, right).cell); }
      void operator()(const ir::WriteRef& x) {
        c.atom(x.cell, like(x, right).cell);
        c.atom(x.value, like(x, right).value);
      }
    };
    std::visit(Visitor{*this, right}, left);
  }

  void function(const ir::Function& f, const ir::Function& g) {
    where_ = "@" + f.name;
    f_ = &f;
    g_ = &g;
    vars_.clear();
    symbols_.clear();
    same(f.name, g.name, "names");
    same(f.doc, g.doc, "documentation");
    same(f.entryNames, g.entryNames, "names of parameters");
    generics(f.generics, g.generics);
    attrs(f.attrs, g.attrs);
    if (!same(f.params.size(), g.params.size(), "number of parameters")) return;
    for (size_t i = 0; i < f.params.size(); ++i) var(f.params[i], g.params[i]);
    type(f.declaredResult, g.declaredResult);
    if (!same(f.where.size(), g.where.size(), "number of constraints")) return;
    for (size_t i = 0; i < f.where.size(); ++i) {
      dim(f.where[i].lhs, g.where[i].lhs);
      same(f.where[i].relation, g.where[i].relation, "constraints");
      dim(f.where[i].rhs, g.where[i].rhs);
    }
    work_ = {{f.body, g.body}};
    while (!work_.empty() && found_.empty()) {
      const ir::Block& x = f.block(work_.back().first);
      const ir::Block& y = g.block(work_.back().second);
      work_.pop_back();
      if (!same(x.bindings.size(), y.bindings.size(), "number of bindings")) return;
      for (size_t i = 0; i < x.bindings.size() && found_.empty(); ++i) {
        var(x.bindings[i].var, y.bindings[i].var);
        rhs(x.bindings[i].rhs, y.bindings[i].rhs);
      }
      atom(x.result, y.result);
    }
    finishDims();
  }

  const ir::Module& a_;
  const ir::Module& b_;
  const ir::Function* f_ = nullptr;
  const ir::Function* g_ = nullptr;
  std::string where_;
  std::string found_;
  std::unordered_map<ir::VarId, ir::VarId> vars_;
  std::unordered_map<DimSymbol, DimSymbol> symbols_;
  std::unordered_map<ir::TypeVarId, ir::TypeVarId> typeVars_;
  std::vector<std::pair<DimExpr, DimExpr>> deferred_;
  std::vector<std::pair<ir::BlockId, ir::BlockId>> work_;
};

}  // namespace

std::string difference(const ir::Module& a, const ir::Module& b) { return Comparison(a, b).run(); }

}  // namespace baton::run
