// Unboxing: tuples, and data of a known constructor, that are passed to functions and joins
// and only taken apart there become several parameters. What is passed is then never made.

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "base/error.h"
#include "compiler/ir/walk.h"
#include "compiler/passes/call_graph.h"
#include "compiler/passes/definitions.h"
#include "compiler/passes/dims.h"
#include "compiler/passes/edit.h"
#include "compiler/passes/registry.h"

namespace baton::passes {
namespace {

using ir::Atom;
using ir::BlockId;
using ir::GlobalId;
using ir::VarId;

/// A parameter of a function of the module, or of a join.
struct BoxedParam {
  GlobalId function;
  VarId var;
  bool isTuple = false;
  bool isOut = false;                             ///< does not qualify
  std::optional<ir::ConstructorRef> constructor;  ///< data: of all arguments that are made
  std::vector<uint32_t> passedTo;                 ///< parameters that get it as it is
  std::vector<uint32_t> passedFrom;
  std::vector<VarId> parts;
};

class Unboxer {
 public:
  Unboxer(ir::Module& module, PassContext& context) : module_(module), context_(context) {}
  void run();

 private:
  using Key = std::pair<uint32_t, uint32_t>;  // function, variable
  void collect();
  void addParam(GlobalId function, VarId var);
  void look(GlobalId function);
  void lookAtArguments(GlobalId function, const Definitions& definitions, const std::vector<Atom>& args,
                       GlobalId calleeFunction, const std::vector<VarId>& params);
  void settle();
  void open(GlobalId function);
  std::vector<ir::Binding> openParams(ir::Function& function, GlobalId id, std::vector<VarId>& params);
  void openCalls(GlobalId function);
  void openArguments(ir::Function& function, GlobalId id, const Definitions& definitions,
                     const std::vector<VarId>& params, GlobalId calleeFunction, std::vector<Atom>& args,
                     SourceLocation location, std::vector<ir::Binding>& before);
  BoxedParam* find(GlobalId function, VarId var) {
    auto at = index_.find({function.value(), var.value()});
    return at == index_.end() ? nullptr : &params_[at->second];
  }
  bool isOpened(const BoxedParam* param) const { return param != nullptr && !param->isOut; }

  struct KeyHash {
    size_t operator()(const Key& key) const { return (uint64_t{key.first} << 32U) ^ key.second; }
  };

  ir::Module& module_;
  PassContext& context_;
  std::vector<BoxedParam> params_;
  std::unordered_map<Key, uint32_t, KeyHash> index_;  // looked up only
  std::vector<std::vector<VarId>> functionParams_;    // before anything was opened
  std::vector<std::unordered_map<VarId, std::vector<VarId>>> joinParams_;
};

void Unboxer::addParam(GlobalId function, VarId var) {
  const ir::TypeRef type = module_.function(function).var(var).type;
  if (!type->isTuple() && !type->isAdt()) return;
  index_.emplace(Key{function.value(), var.value()}, static_cast<uint32_t>(params_.size()));
  params_.push_back({.function = function, .var = var, .isTuple = type->isTuple()});
}

void Unboxer::collect() {
  const CallGraph graph(module_);
  functionParams_.resize(module_.functions.size());
  joinParams_.resize(module_.functions.size());
  for (uint32_t i = 0; i < module_.functions.size(); ++i) {
    const ir::Function& function = module_.functions[i];
    functionParams_[i] = function.params;
    if (isFusionGroup(function)) continue;
    if (!function.isExported && !graph.isValue[i])
      for (VarId param : function.params) addParam(GlobalId(i), param);
    for (BlockId id : ir::blocksInOrder(function, function.body))
      for (const ir::Binding& binding : function.block(id).bindings)
        if (const auto* lambda = std::get_if<ir::Lambda>(&binding.rhs); lambda != nullptr && lambda->isJoin) {
          joinParams_[i].emplace(binding.var, lambda->params);
          for (VarId param : lambda->params) addParam(GlobalId(i), param);
        }
  }
}

/// What a call passes to parameters that may be opened.
void Unboxer::lookAtArguments(GlobalId function, const Definitions& definitions,
                              const std::vector<Atom>& args, GlobalId calleeFunction,
                              const std::vector<VarId>& params) {
  for (size_t i = 0; i < args.size(); ++i) {
    const Atom arg = definitions.resolve(args[i]);
    auto own = arg.isVar() ? index_.find({function.value(), arg.var().value()}) : index_.end();
    auto formal = index_.find({calleeFunction.value(), params[i].value()});
    if (formal == index_.end()) {
      if (own != index_.end()) params_[own->second].isOut = true;
      continue;
    }
    BoxedParam& param = params_[formal->second];
    if (own != index_.end()) {
      param.passedFrom.push_back(own->second);
      params_[own->second].passedTo.push_back(formal->second);
      continue;
    }
    if (param.isTuple) continue;  // can be taken apart before the call
    const auto* made = definitions.as<ir::Construct>(arg);
    if (made == nullptr || (param.constructor && !(*param.constructor == made->constructor)))
      param.isOut = true;
    else
      param.constructor = made->constructor;
  }
}

/// Uses other than taking apart keep a parameter as it is.
void Unboxer::look(GlobalId id) {
  const ir::Function& function = module_.function(id);
  const Definitions definitions(function);
  auto use = [&](const Atom& atom) {
    const Atom end = definitions.resolve(atom);
    if (!end.isVar()) return;
    if (auto at = index_.find({id.value(), end.var().value()}); at != index_.end())
      params_[at->second].isOut = true;
  };
  for (BlockId blockId : ir::blocksInOrder(function, function.body)) {
    const ir::Block& block = function.block(blockId);
    for (const ir::Binding& binding : block.bindings) {
      if (const auto* call = std::get_if<ir::CallGlobal>(&binding.rhs)) {
        lookAtArguments(id, definitions, call->args, call->callee, functionParams_[call->callee.value()]);
      } else if (const auto* jump = std::get_if<ir::CallJoin>(&binding.rhs)) {
        lookAtArguments(id, definitions, jump->args, id, joinParams_[id.value()].at(jump->join));
      } else if (std::holds_alternative<ir::AtomRhs>(binding.rhs) && binding.obligations.empty()) {
        continue;  // counts where it is used
      } else if (std::holds_alternative<ir::Project>(binding.rhs) ||
                 std::holds_alternative<ir::Match>(binding.rhs)) {
        continue;
      } else {
        ir::forEachOperand(binding.rhs, use);
      }
    }
    use(block.result);
  }
}

/// Constructors flow along to data whose constructor only other parameters tell, until two differ.
/// Then a parameter that stays keeps those that are passed to it, and, for data, those that get it.
void Unboxer::settle() {
  std::vector<uint32_t> flow;
  for (uint32_t i = 0; i < params_.size(); ++i)
    if (params_[i].constructor) flow.push_back(i);
  while (!flow.empty()) {
    const uint32_t from = flow.back();
    flow.pop_back();
    for (uint32_t to : params_[from].passedTo) {
      if (params_[to].isTuple || params_[to].isOut) continue;
      if (!params_[to].constructor) {
        params_[to].constructor = params_[from].constructor;
        flow.push_back(to);
      } else if (!(*params_[to].constructor == *params_[from].constructor)) {
        params_[to].isOut = true;
      }
    }
  }
  std::vector<uint32_t> work;
  for (uint32_t i = 0; i < params_.size(); ++i) {
    if (!params_[i].isTuple && !params_[i].constructor) params_[i].isOut = true;
    if (params_[i].isOut) work.push_back(i);
  }
  while (!work.empty()) {
    const uint32_t out = work.back();
    work.pop_back();
    auto follow = [&](uint32_t other) {
      if (params_[other].isOut) return;
      params_[other].isOut = true;
      work.push_back(other);
    };
    for (uint32_t from : params_[out].passedFrom) follow(from);
    if (!params_[out].isTuple)
      for (uint32_t to : params_[out].passedTo) follow(to);
  }
}

/// New parameters. Gives back the values that they make up, for the start of the body.
std::vector<ir::Binding> Unboxer::openParams(ir::Function& function, GlobalId id,
                                             std::vector<VarId>& params) {
  std::vector<VarId> opened;
  std::vector<ir::Binding> made;
  for (VarId var : params) {
    BoxedParam* param = find(id, var);
    if (!isOpened(param)) {
      opened.push_back(var);
      continue;
    }
    const ir::VarInfo info = function.var(var);
    std::vector<ir::TypeRef> types(info.type->elements().begin(), info.type->elements().end());
    if (!param->isTuple) {
      types = module_.fieldTypes(info.type, param->constructor->tag);
      for (ir::TypeRef& type : types) type = openDims(module_, type);
    }
    std::vector<Atom> parts;
    for (size_t i = 0; i < types.size(); ++i) {
      const VarId part = function.addVar(
          {.name = info.name + "_" + std::to_string(i), .type = types[i], .location = info.location});
      param->parts.push_back(part);
      parts.push_back(part);
    }
    opened.insert(opened.end(), param->parts.begin(), param->parts.end());
    if (param->isTuple)
      made.push_back({var, ir::MakeTuple{std::move(parts)}, info.location, {}});
    else
      made.push_back({var, ir::Construct{*param->constructor, std::move(parts)}, info.location, {}});
    context_.count("parameters opened");
  }
  params = std::move(opened);
  return made;
}

void Unboxer::openArguments(ir::Function& function, GlobalId id, const Definitions& definitions,
                            const std::vector<VarId>& params, GlobalId calleeFunction,
                            std::vector<Atom>& args, SourceLocation location,
                            std::vector<ir::Binding>& before) {
  std::vector<Atom> opened;
  for (size_t i = 0; i < args.size(); ++i) {
    BoxedParam* formal = find(calleeFunction, params[i]);
    if (!isOpened(formal)) {
      opened.push_back(args[i]);
      continue;
    }
    const Atom arg = definitions.resolve(args[i]);
    if (BoxedParam* own = arg.isVar() ? find(id, arg.var()) : nullptr; isOpened(own)) {
      opened.insert(opened.end(), own->parts.begin(), own->parts.end());
    } else if (const auto* made = definitions.as<ir::Construct>(arg)) {
      opened.insert(opened.end(), made->args.begin(), made->args.end());
    } else if (const auto* tuple = definitions.as<ir::MakeTuple>(arg)) {
      opened.insert(opened.end(), tuple->elements.begin(), tuple->elements.end());
    } else {
      const ir::TypeRef type = module_.typeOf(function, args[i]);
      for (uint32_t k = 0; k < type->elements().size(); ++k) {
        const VarId part = function.addVar({.name = "p", .type = type->elements()[k], .location = location});
        before.push_back({part, ir::Project{args[i], k}, location, {}});
        opened.push_back(part);
      }
    }
  }
  args = std::move(opened);
}

void Unboxer::openCalls(GlobalId id) {
  ir::Function& function = module_.function(id);
  // Insertions last: until then bindings stand where the definitions say.
  struct Insertion {
    BlockId block;
    size_t index;
    std::vector<ir::Binding> before;
  };
  std::vector<Insertion> insertions;
  const Definitions definitions(function);
  for (BlockId blockId : ir::blocksInOrder(function, function.body))
    for (size_t i = 0; i < function.block(blockId).bindings.size(); ++i) {
      ir::Binding& binding = function.block(blockId).bindings[i];
      std::vector<ir::Binding> before;
      if (auto* call = std::get_if<ir::CallGlobal>(&binding.rhs))
        openArguments(function, id, definitions, functionParams_[call->callee.value()], call->callee,
                      call->args, binding.location, before);
      else if (auto* jump = std::get_if<ir::CallJoin>(&binding.rhs))
        openArguments(function, id, definitions, joinParams_[id.value()].at(jump->join), id, jump->args,
                      binding.location, before);
      if (!before.empty()) insertions.push_back({blockId, i, std::move(before)});
    }
  for (size_t k = insertions.size(); k-- > 0;)
    insert(function.block(insertions[k].block), insertions[k].index, std::move(insertions[k].before));
}

/// New variables for parameters come before arguments that refer to them. Bodies get what the
/// parts make up last, since that moves bindings.
void Unboxer::open(GlobalId id) {
  ir::Function& function = module_.function(id);
  std::vector<std::pair<BlockId, std::vector<ir::Binding>>> made;  // by body
  made.emplace_back(function.body, openParams(function, id, function.params));
  for (BlockId block : ir::blocksInOrder(function, function.body))
    for (ir::Binding& binding : function.block(block).bindings) {
      auto* lambda = std::get_if<ir::Lambda>(&binding.rhs);
      if (lambda == nullptr || !lambda->isJoin) continue;
      made.emplace_back(lambda->body, openParams(function, id, lambda->params));
      ir::TypeRef& type = function.var(binding.var).type;
      type = functionType(module_, function, lambda->params, type->result());
    }
  openCalls(id);
  for (auto& [body, bindings] : made) insert(function.block(body), 0, std::move(bindings));
}

void Unboxer::run() {
  collect();
  if (params_.empty()) return;
  for (uint32_t i = 0; i < module_.functions.size(); ++i) look(GlobalId(i));
  settle();
  if (std::all_of(params_.begin(), params_.end(), [](const BoxedParam& param) { return param.isOut; }))
    return;
  for (uint32_t i = 0; i < module_.functions.size(); ++i) open(GlobalId(i));
}

Result<void> unbox(ir::Module& module, PassContext& context) {
  Unboxer(module, context).run();
  return success();
}

}  // namespace

constinit const PassInfo kUnboxPass{
    .name = "unbox",
    .summary = "tuples and known data as parameters become several parameters",
    .documentation =
        R"(Gives functions that are only called directly, joins and loops the parts of a tuple as parameters of their own, where the tuple is only taken apart or passed on to such a parameter. Data is treated alike where every argument is made of the same constructor, through loops and calls too: a match on it is then decided. The parts are put together again at the start of the body; propagate takes the pieces from there, and what nobody needs as a whole is never made. What is nested is opened by the next run, when that has happened.

Exported functions, functions that are values, and what is stored, returned or captured as a whole keep their parameters.)",
    .level = 2,
    .run = unbox,
};

}  // namespace baton::passes
