#include "random_program.h"

#include <random>
#include <vector>

#include <fmt/format.h>

namespace baton::run {
namespace {

enum class Type : uint8_t {
  Int,
  Float,
  Bool,
  Vector,
  Any,
  List,
  Pair,
  Option,
  Tree,
  Function,
  Numbers,
  Tensors
};
constexpr int kTypes = 12;

const char* name(Type type) {
  switch (type) {
    case Type::Int: return "int32";
    case Type::Float: return "float32";
    case Type::Bool: return "bool";
    case Type::Vector: return "Tensor[(n,), float32]";
    case Type::Any: return "Tensor[(?,), float32]";
    case Type::List: return "List[int32]";
    case Type::Pair: return "(int32, float32)";
    case Type::Option: return "Option[int32]";
    case Type::Tree: return "T";
    case Type::Function: return "fn (int32) -> int32";
    case Type::Numbers: return "Array[int32]";
    case Type::Tensors: return "Array[Tensor[(?,), float32]]";
  }
  return "";
}

struct Variable {
  std::string name;
  Type type;
};

struct Global {
  std::string name;
  std::vector<Type> params;  ///< after the fuel
  Type result;
};

class Generator {
 public:
  explicit Generator(uint64_t seed) : random_(seed) {}
  std::string program();

 private:
  uint32_t pick(uint32_t count) { return static_cast<uint32_t>(random_() % count); }
  bool chance(uint32_t percent) { return pick(100) < percent; }
  std::string fresh(const char* stem) { return fmt::format("%{}{}", stem, counter_++); }
  /// Vectors have the extent n of main, which other functions do not know.
  Type anyType() {
    const Type type = static_cast<Type>(pick(kTypes));
    return type == Type::Vector && !knowsExtent_ ? Type::Int : type;
  }
  std::string expression(Type type, int depth);
  std::string leaf(Type type);
  std::string own(Type type, int depth);
  std::string binding(Type type, int depth);
  std::string branch(Type type, int depth);
  std::string match(Type type, int depth);
  std::string loop(Type type, int depth);
  std::string recursion(Type type, int depth);
  std::string localCall(Type type, int depth);
  std::string globalCall(Type type, int depth);
  std::string cell(Type type, int depth);
  /// A value whose type does not depend on what is made of it.
  std::string scrutinee(Type type, int depth);
  std::string inScope(const Variable& variable, Type type, int depth) {
    return inScope(std::vector{variable}, type, depth);
  }
  std::string inScope(const std::vector<Variable>& variables, Type type, int depth) {
    scope_.insert(scope_.end(), variables.begin(), variables.end());
    std::string text = expression(type, depth);
    scope_.resize(scope_.size() - variables.size());
    return text;
  }

  std::mt19937_64 random_;
  int counter_ = 0;
  bool knowsExtent_ = false;
  std::vector<Variable> scope_;
  std::vector<Global> globals_;
};

std::string Generator::leaf(Type type) {
  std::vector<const Variable*> candidates;
  for (const Variable& variable : scope_)
    if (variable.type == type) candidates.push_back(&variable);
  if (!candidates.empty() && chance(80)) {
    // What is near is used more.
    const size_t back = std::min<size_t>(pick(4), candidates.size() - 1);
    return candidates[candidates.size() - 1 - back]->name;
  }
  switch (type) {
    case Type::Int: return std::to_string(pick(7));
    case Type::Float: return fmt::format("{}.{}f", pick(4), pick(4) * 25);
    case Type::Bool: return chance(50) ? "True" : "False";
    case Type::Vector:
    case Type::Any:
      for (const Variable& variable : scope_)
        if (variable.type == Type::Vector || variable.type == type) return variable.name;
      return "ones(shape=[2], dtype=\"float32\")";
    case Type::List: return chance(50) ? "Nil" : fmt::format("Cons({}, Cons({}, Nil))", pick(9), pick(9));
    case Type::Pair: return fmt::format("({}, {}f)", pick(5), pick(5));
    case Type::Option: return chance(40) ? "None" : fmt::format("Some({})", pick(5));
    case Type::Tree:
      return chance(50) ? fmt::format("Leaf({})", pick(5)) : fmt::format("Node(Leaf({}), Leaf(1))", pick(5));
    case Type::Function: {
      const std::string x = fresh("x");
      return fmt::format("fn ({}: int32) -> int32 {{ {} + {} }}", x, x, pick(5));
    }
    case Type::Numbers:
    case Type::Tensors: {
      const std::string a = fresh("a");
      const std::string empty = fmt::format("{{ let {}: {} = array_new();\n{} }}", a, name(type), a);
      if (chance(30)) return empty;
      return fmt::format("array_push({}, {})", empty, leaf(type == Type::Numbers ? Type::Int : Type::Any));
    }
  }
  return "";
}

std::string Generator::binding(Type type, int depth) {
  const Type bound = anyType();
  const std::string variable = fresh("v");
  const std::string value = expression(bound, depth - 1);
  return fmt::format("{{ let {} = {};\n{} }}", variable, value,
                     inScope(Variable{variable, bound}, type, depth - 1));
}

std::string Generator::branch(Type type, int depth) {
  const std::string condition = expression(Type::Bool, depth - 2);
  const std::string yes = expression(type, depth - 1);
  return fmt::format("if ({}) {{ {} }} else {{ {} }}", condition, yes, expression(type, depth - 1));
}

std::string Generator::scrutinee(Type type, int depth) {
  const std::string variable = fresh("s");
  return fmt::format("{{ let {}: {} = {};\n{} }}", variable, name(type), expression(type, depth), variable);
}

std::string Generator::match(Type type, int depth) {
  const int d = depth - 1;
  switch (pick(5)) {
    case 0: {
      const std::string h = fresh("h"), t = fresh("t"), g = fresh("g");
      const std::string what = scrutinee(Type::List, depth - 2);
      if (chance(50))
        return fmt::format("match ({}) {{ Cons({}, {}) => {{ {} }}, Nil => {{ {} }} }}", what, h, t,
                           inScope({{h, Type::Int}, {t, Type::List}}, type, d), expression(type, d));
      return fmt::format(
          "match ({}) {{ Cons({}, Cons({}, _)) => {{ {} }}, Cons({}, _) => {{ {} }}, _ => {{ {} }} }}", what,
          h, g, inScope({{h, Type::Int}, {g, Type::Int}}, type, d), t,
          inScope(Variable{t, Type::Int}, type, d - 1), expression(type, d - 1));
    }
    case 1: {
      const std::string x = fresh("o");
      const std::string what = scrutinee(Type::Option, depth - 2);
      return fmt::format("match ({}) {{ None => {{ {} }}, Some({}) => {{ {} }} }}", what, expression(type, d),
                         x, inScope(Variable{x, Type::Int}, type, d));
    }
    case 2: {
      const std::string a = fresh("a"), b = fresh("b"), c = fresh("c");
      const std::string what = expression(Type::Tree, depth - 2);
      return fmt::format(
          "match ({}) {{ Node(Leaf({}), {}) => {{ {} }}, Node(_, Leaf({})) => {{ {} }}, {} => {{ {} }} }}",
          what, a, b, inScope({{a, Type::Int}, {b, Type::Tree}}, type, d), c,
          inScope(Variable{c, Type::Int}, type, d - 1), a + "w",
          inScope(Variable{a + "w", Type::Tree}, type, d - 1));
    }
    case 3: {
      const std::string a = fresh("a"), b = fresh("b");
      const std::string what = expression(Type::Pair, depth - 2);
      return fmt::format("match ({}) {{ ({}, {}) => {{ {} }} }}", what, a, b,
                         inScope({{a, Type::Int}, {b, Type::Float}}, type, d));
    }
    default: {
      const std::string a = fresh("a"), b = fresh("b"), r = fresh("r");
      const std::string left = scrutinee(Type::List, depth - 2), right = scrutinee(Type::Option, depth - 2);
      return fmt::format(
          "match (({}, {})) {{ (Cons({}, _), Some({})) => {{ {} }}, (Nil, _) => {{ {} }}, ({}, _) => {{ {} "
          "}} }}",
          left, right, a, b, inScope({{a, Type::Int}, {b, Type::Int}}, type, d), expression(type, d - 1), r,
          inScope(Variable{r, Type::List}, type, d - 1));
    }
  }
}

std::string Generator::loop(Type type, int depth) {
  const std::string f = fresh("loop"), i = fresh("i"), acc = fresh("acc");
  const std::string step = inScope({{i, Type::Int}, {acc, type}}, type, depth - 2);
  const std::string start = expression(type, depth - 2);
  std::string text = fmt::format(
      "{{ let {} = fn ({}: int32, {}: {}) -> {} {{ if ({} < {}) {{ {}({} + 1, {}) }} else {{ {} }} }};\n", f,
      i, acc, name(type), name(type), i, pick(4), f, i, step, acc);
  if (chance(30)) {
    const std::string once = fresh("once");
    const std::string again = expression(type, depth - 2);
    return text +
           fmt::format("let {} = {}(1, {});\n{} }}", once, f, start, inScope(Variable{once, type}, type, 1));
  }
  return text + fmt::format("{}(0, {}) }}", f, start);
}

std::string Generator::recursion(Type type, int depth) {
  const std::string f = fresh("rec"), i = fresh("i"), deeper = fresh("d");
  const std::string base = inScope(Variable{i, Type::Int}, type, depth - 2);
  const std::string combine = inScope({{i, Type::Int}, {deeper, type}}, type, depth - 2);
  const std::string result = fresh("r");
  return fmt::format(
      "{{ let {} = fn ({}: int32) -> {} {{ if ({} <= 0) {{ {} }} else {{ let {} = {}({} - 1);\n{} }} "
      "}};\nlet {} = {}({});\n{} }}",
      f, i, name(type), i, base, deeper, f, i, combine, result, f, pick(4),
      inScope(Variable{result, type}, type, 1));
}

std::string Generator::localCall(Type type, int depth) {
  const std::string f = fresh("f"), x = fresh("x");
  const Type param = anyType();
  const std::string body = inScope(Variable{x, param}, type, depth - 2);
  const std::string first = expression(param, depth - 2);
  if (chance(50))
    return fmt::format("{{ let {} = fn ({}: {}) -> {} {{ {} }};\n{}({}) }}", f, x, name(param), name(type),
                       body, f, first);
  return fmt::format("{{ let {} = fn ({}: {}) -> {} {{ {} }};\nif ({}) {{ {}({}) }} else {{ {}({}) }} }}", f,
                     x, name(param), name(type), body, expression(Type::Bool, 1), f, first, f,
                     expression(param, 1));
}

std::string Generator::globalCall(Type type, int depth) {
  for (const Global& global : globals_) {
    if (global.result != type || chance(40)) continue;
    std::string text = fmt::format("{}({}", global.name, pick(3));
    for (Type param : global.params) text += ", " + expression(param, depth - 2);
    return text + ")";
  }
  return expression(type, depth - 1);
}

std::string Generator::cell(Type type, int depth) {
  const std::string r = fresh("cell"), old = fresh("old");
  const std::string start = expression(type, depth - 2);
  const std::string next = inScope(Variable{old, type}, type, depth - 2);
  return fmt::format("{{ let {} = ref({});\nlet {} = ref_read({});\nref_write({}, {});\nref_read({}) }}", r,
                     start, old, r, r, next, r);
}

/// Expressions of one type only.
std::string Generator::own(Type type, int depth) {
  const int d = depth - 1;
  auto e = [&](Type t) { return expression(t, d); };
  switch (type) {
    case Type::Int:
      switch (pick(11)) {
        case 8: return fmt::format("array_length({})", e(chance(70) ? Type::Numbers : Type::Tensors));
        case 9:
          // Seldom an index that need not be one.
          if (chance(10)) return fmt::format("array_get({}, {})", e(Type::Numbers), e(Type::Int));
          return fmt::format("array_get(array_push({}, {}), 0)", e(Type::Numbers), e(Type::Int));
        case 10:
          // `add` takes any types, so those of the elements must be told.
          return fmt::format("@array_foldl(add, {}, {})", e(Type::Int), scrutinee(Type::Numbers, d));
        case 0: return fmt::format("({} + {})", e(Type::Int), e(Type::Int));
        case 1: return fmt::format("({} - {})", e(Type::Int), e(Type::Int));
        case 2: return fmt::format("({} * {})", e(Type::Int), e(Type::Int));
        case 3: return fmt::format("@length({})", e(Type::List));
        case 4: return fmt::format("@sum({})", e(Type::List));
        case 5: {
          const std::string f = fresh("g");
          return fmt::format("{{ let {} = {};\n{}({}) }}", f, e(Type::Function), f,
                             expression(Type::Int, d - 1));
        }
        case 6: {
          const std::string p = fresh("p");
          return fmt::format("{{ let {} = {};\n{}.0 }}", p, e(Type::Pair), p);
        }
        default:
          return chance(20) ? fmt::format("floor_divide({}, {})", e(Type::Int), e(Type::Int))
                            : fmt::format("cast({}, dtype=\"int32\")", e(Type::Bool));
      }
    case Type::Float:
      switch (pick(5)) {
        case 0: return fmt::format("({} + {})", e(Type::Float), e(Type::Float));
        case 1: return fmt::format("({} * {})", e(Type::Float), e(Type::Float));
        case 2: return fmt::format("sum({})", e(Type::Any));
        case 3: return fmt::format("cast({}, dtype=\"float32\")", e(Type::Int));
        default: return fmt::format("maximum({}, {})", e(Type::Float), e(Type::Float));
      }
    case Type::Bool:
      switch (pick(4)) {
        case 0: return fmt::format("({} < {})", e(Type::Int), e(Type::Int));
        case 1: return fmt::format("({} == {})", e(Type::Int), e(Type::Int));
        case 2: return fmt::format("({} < {})", e(Type::Float), e(Type::Float));
        default: return fmt::format("logical_not({})", e(Type::Bool));
      }
    case Type::Vector:
      switch (pick(6)) {
        case 0: return fmt::format("({} + {})", e(Type::Vector), e(Type::Vector));
        case 1: return fmt::format("({} * {})", e(Type::Vector), e(Type::Float));
        case 2: return fmt::format("nn.relu({})", e(Type::Vector));
        case 3: return fmt::format("tanh({} * {})", e(Type::Vector), e(Type::Vector));
        case 4: return fmt::format("({} - sum({}, keepdims=True))", e(Type::Vector), e(Type::Vector));
        default: return fmt::format("maximum({}, {})", e(Type::Vector), e(Type::Float));
      }
    case Type::Any:
      switch (pick(6)) {
        case 4: return fmt::format("array_get(array_push({}, {}), 0)", e(Type::Tensors), e(Type::Any));
        case 5: return fmt::format("array_concat({})", e(Type::Tensors));
        case 0:
          return fmt::format("concatenate(({}, {}))", e(Type::Any),
                             e(knowsExtent_ ? Type::Vector : Type::Any));
        case 1: return fmt::format("({} + {})", e(Type::Any), e(Type::Float));
        case 2: return fmt::format("nn.relu({} * {})", e(Type::Any), e(Type::Float));
        default: return knowsExtent_ ? e(Type::Vector) : e(Type::Any);
      }
    case Type::List: {
      const std::string x = fresh("m");
      switch (pick(7)) {
        case 6: return fmt::format("@array_to_list({})", e(Type::Numbers));
        case 0: return fmt::format("Cons({}, {})", e(Type::Int), e(Type::List));
        case 1: return fmt::format("@map({}, {})", e(Type::Function), e(Type::List));
        case 2:
          return fmt::format("@filter(fn ({}: int32) -> bool {{ {} }}, {})", x,
                             inScope(Variable{x, Type::Int}, Type::Bool, d - 1), e(Type::List));
        case 3: return fmt::format("@rev({})", e(Type::List));
        case 4: {
          const std::string a = fresh("a");
          return fmt::format("@foldl(fn ({}: List[int32], {}: int32) -> List[int32] {{ {} }}, {}, {})", a, x,
                             inScope({{a, Type::List}, {x, Type::Int}}, Type::List, d - 2), e(Type::List),
                             e(Type::List));
        }
        default: return fmt::format("@concat({}, {})", e(Type::List), e(Type::List));
      }
    }
    case Type::Pair: return fmt::format("({}, {})", e(Type::Int), e(Type::Float));
    case Type::Option: return fmt::format("Some({})", e(Type::Int));
    case Type::Tree:
      return chance(30) ? fmt::format("Leaf({})", e(Type::Int))
                        : fmt::format("Node({}, {})", e(Type::Tree), e(Type::Tree));
    case Type::Numbers:
      switch (pick(5)) {
        case 0: return fmt::format("@array_map({}, {})", e(Type::Function), e(Type::Numbers));
        case 1: return fmt::format("@array_append({}, {})", e(Type::Numbers), e(Type::Numbers));
        case 2:
          return fmt::format("array_set(array_push({}, {}), 0, {})", e(Type::Numbers), e(Type::Int),
                             e(Type::Int));
        case 3: return fmt::format("@array_from_list({})", e(Type::List));
        default: return fmt::format("array_push({}, {})", e(Type::Numbers), e(Type::Int));
      }
    case Type::Tensors:
      switch (pick(4)) {
        case 0: return fmt::format("@array_append({}, {})", e(Type::Tensors), e(Type::Tensors));
        case 1:
          return fmt::format("array_set(array_push({}, {}), 0, {})", e(Type::Tensors), e(Type::Any),
                             e(Type::Any));
        default: return fmt::format("array_push({}, {})", e(Type::Tensors), e(Type::Any));
      }
    case Type::Function: {
      const std::string x = fresh("x");
      if (chance(15)) return fmt::format("@compose({}, {})", e(Type::Function), e(Type::Function));
      return fmt::format("fn ({}: int32) -> int32 {{ {} }}", x,
                         inScope(Variable{x, Type::Int}, Type::Int, d));
    }
  }
  return "";
}

std::string Generator::expression(Type type, int depth) {
  if (depth <= 0) return leaf(type);
  switch (pick(12)) {
    case 0: return leaf(type);
    case 1:
    case 2: return binding(type, depth);
    case 3: return branch(type, depth);
    case 4: return match(type, depth);
    case 5: return chance(40) ? loop(type, depth) : match(type, depth);
    case 6: return chance(40) ? recursion(type, depth) : binding(type, depth);
    case 7: return localCall(type, depth);
    case 8: return globalCall(type, depth);
    case 9: return chance(40) ? cell(type, depth) : own(type, depth);
    default: return own(type, depth);
  }
}

std::string Generator::program() {
  std::string text;
  std::string functions;
  for (int i = 0; i < 3; ++i) {
    Global global{fmt::format("@g{}", i), {}, anyType()};
    const std::string fuel = fresh("fuel");
    std::string header = fmt::format("def {}({}: int32", global.name, fuel);
    scope_.clear();
    for (uint32_t k = 0; k < 1 + pick(2); ++k) {
      const std::string param = fresh("p");
      global.params.push_back(anyType());
      header += fmt::format(", {}: {}", param, name(global.params.back()));
      scope_.push_back({param, global.params.back()});
    }
    const std::string base = expression(global.result, 2);
    // The recursive call, now and then in tail position.
    std::string again = fmt::format("{}({} - 1", global.name, fuel);
    for (Type param : global.params) again += ", " + expression(param, 2);
    again += ")";
    const std::string result = fresh("r");
    const std::string rest = chance(50)
                                 ? again
                                 : fmt::format("let {} = {};\n{}", result, again,
                                               inScope(Variable{result, global.result}, global.result, 2));
    functions += fmt::format("{}) -> {} {{ if ({} <= 0) {{ {} }} else {{ {} }} }}\n", header,
                             name(global.result), fuel, base, rest);
    globals_.push_back(global);
  }
  knowsExtent_ = true;
  scope_ = {
      {"%x", Type::Vector}, {"%i", Type::Int}, {"%b", Type::Bool}, {"%l", Type::List}, {"%t", Type::Tree}};
  const std::string number = expression(Type::Int, 4);
  const std::string list = expression(Type::List, 4);
  const std::string vector = expression(Type::Vector, 4);
  const std::string any = expression(Type::Any, 3);
  const std::string tree = expression(Type::Tree, 3);
  const std::string numbers = expression(Type::Numbers, 3);
  const std::string tensors = expression(Type::Tensors, 3);
  text +=
      "// run: x=2xf32=1 -2; i=i32=3; b=bool=true; l=[i32=1, i32=2, i32=3]; t=Node(Leaf(i32=1), "
      "Node(Leaf(i32=2), Leaf(i32=3)))\n// agrees:\n";
  text += "// run: x=0xf32=; i=i32=0; b=bool=false; l=[]; t=Leaf(i32=-1)\n// agrees:\n";
  text += "import \"prelude\"\ntype T { Leaf(int32), Node(T, T) }\n" + functions;
  text += fmt::format(
      "def @main(%x: Tensor[(n,), float32], %i: int32, %b: bool, %l: List[int32], %t: T)\n"
      "    -> (int32, List[int32], Tensor[(n,), float32], Tensor[(?,), float32], T,\n"
      "        Array[int32], Array[Tensor[(?,), float32]]) "
      "{{\n({},\n{},\n{},\n{},\n{},\n{},\n{})\n}}\n",
      number, list, vector, any, tree, numbers, tensors);
  return text;
}

}  // namespace

std::string randomProgram(uint64_t seed) { return Generator(seed).program(); }

}  // namespace baton::run
