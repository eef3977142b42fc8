#include "bytecode/verifier/register_state.h"

#include <algorithm>
#include <utility>

namespace baton::bytecode {

StatePool::Node* StatePool::allocate() {
  if (free_.empty()) {
    // Room for all nodes, so that free() asks for none.
    free_.reserve(nodeCount_ + nextSlab_);
    Node* slab = slabs_.emplace_back(std::make_unique<Node[]>(nextSlab_)).get();
    nodeCount_ += nextSlab_;
    for (size_t i = nextSlab_; i-- > 0;) free_.push_back(slab + i);
    nextSlab_ = std::min<size_t>(2 * nextSlab_, 1024);
  }
  Node* node = free_.back();
  free_.pop_back();
  *node = Node();
  ++liveCount_;
  return node;
}

void StatePool::free(Node* node) noexcept {
  free_.push_back(node);
  --liveCount_;
}

RegisterState::RegisterState(const RegisterState& other)
    : pool_(other.pool_),
      roots_{other.roots_[0], other.roots_[1]},
      held_(other.held_),
      hasInconsistent_(other.hasInconsistent_) {
  for (Node* root : roots_)
    if (root) ++root->count;
}

RegisterState::RegisterState(RegisterState&& other) noexcept
    : pool_(other.pool_),
      roots_{std::exchange(other.roots_[0], nullptr), std::exchange(other.roots_[1], nullptr)},
      held_(std::exchange(other.held_, 0)),
      hasInconsistent_(other.hasInconsistent_) {}

RegisterState& RegisterState::operator=(RegisterState other) noexcept {
  std::swap(pool_, other.pool_);
  std::swap(roots_, other.roots_);
  std::swap(held_, other.held_);
  std::swap(hasInconsistent_, other.hasInconsistent_);
  return *this;
}

RegisterState::~RegisterState() {
  for (Node* root : roots_) release(root, kLevels - 1);
}

/// Level 0 is the leaves. Recursion is three deep.
void RegisterState::release(Node* node, int level) {
  if (!node || --node->count > 0) return;
  if (level > 0)
    for (Node* child : node->children) release(child, level - 1);
  pool_->free(node);
}

/// The node in the slot, made this state's own.
StatePool::Node* RegisterState::writable(Node*& slot, int level) {
  if (!slot) return slot = pool_->allocate();
  if (slot->count == 1) return slot;
  Node* copy = pool_->allocate();
  if (level > 0) {
    copy->children = slot->children;
    for (Node* child : copy->children)
      if (child) ++child->count;
  } else {
    copy->values = slot->values;
  }
  --slot->count;
  return slot = copy;
}

RegisterValue RegisterState::get(RegisterBank bank, uint32_t index) const {
  const Node* node = roots_[static_cast<int>(bank)];
  for (int level = kLevels - 1; level > 0 && node; --level) node = node->children[index >> (5 * level) & 31];
  return node ? node->values[index & 31] : kUndefined;
}

void RegisterState::set(RegisterBank bank, uint32_t index, RegisterValue value) {
  Node** slot = &roots_[static_cast<int>(bank)];
  for (int level = kLevels - 1; level > 0; --level)
    slot = &writable(*slot, level)->children[index >> (5 * level) & 31];
  RegisterValue& place = writable(*slot, 0)->values[index & 31];
  if (bank == RegisterBank::Reference) held_ += (value >= kFirstKind) - (place >= kFirstKind);
  place = value;
}

RegisterValue RegisterState::joinValues(RegisterValue a, RegisterValue b, RegisterBank bank,
                                        KindJoiner& joiner) {
  if (a == b) return a;
  if (a == kUnknown || b == kUnknown) return kUnknown;
  const auto isEmpty = [](RegisterValue value) { return value == kUndefined || value == kMoved; };
  if (isEmpty(a) && isEmpty(b)) return kUndefined;
  if (bank == RegisterBank::Scalar) {
    // A scalar that is not the same on every path cannot be read, and that is all.
    if (isEmpty(a)) return a;
    if (isEmpty(b)) return b;
    return kDiffers;
  }
  RegisterValue joined = kInconsistent;
  if (a >= kFirstKind && b >= kFirstKind) joined = joiner.joinReferences(a, b);
  if (joined == kInconsistent) hasInconsistent_ = true;
  return joined;
}

bool RegisterState::join(Node*& into, Node* from, int level, RegisterBank bank, KindJoiner& joiner) {
  ++pool_->work;
  if (into == from) return false;
  bool changed = false;
  for (uint32_t i = 0; i < StatePool::kFanout; ++i) {
    if (level > 0) {
      Node* theirs = from ? from->children[i] : nullptr;
      Node* ours = into ? into->children[i] : nullptr;
      if (ours == theirs) continue;
      // Counted here so that `ours` is copied before it is written if others see it too.
      if (ours) ++ours->count;
      Node* joined = ours;
      if (join(joined, theirs, level - 1, bank, joiner)) {
        Node*& slot = writable(into, level)->children[i];
        release(slot, level - 1);
        slot = joined;
        changed = true;
      } else {
        release(joined, level - 1);
      }
      continue;
    }
    ++pool_->work;
    const RegisterValue ours = into ? into->values[i] : kUndefined;
    const RegisterValue theirs = from ? from->values[i] : kUndefined;
    const RegisterValue joined = joinValues(ours, theirs, bank, joiner);
    if (joined == ours) continue;
    writable(into, level)->values[i] = joined;
    if (bank == RegisterBank::Reference) held_ += (joined >= kFirstKind) - (ours >= kFirstKind);
    changed = true;
  }
  return changed;
}

bool RegisterState::joinWith(const RegisterState& other, KindJoiner& joiner) {
  bool changed = false;
  for (RegisterBank bank : {RegisterBank::Scalar, RegisterBank::Reference}) {
    const int root = static_cast<int>(bank);
    changed |= join(roots_[root], other.roots_[root], kLevels - 1, bank, joiner);
  }
  return changed;
}

std::vector<uint32_t> RegisterState::findReferences(bool (*predicate)(RegisterValue)) const {
  std::vector<uint32_t> found;
  const Node* root = roots_[static_cast<int>(RegisterBank::Reference)];
  if (!root) return found;
  for (uint32_t i = 0; i < StatePool::kFanout; ++i) {
    const Node* middle = root->children[i];
    if (!middle) continue;
    for (uint32_t j = 0; j < StatePool::kFanout; ++j) {
      const Node* leaf = middle->children[j];
      if (!leaf) continue;
      for (uint32_t k = 0; k < StatePool::kFanout; ++k)
        if (predicate(leaf->values[k]))
          found.push_back((i * StatePool::kFanout + j) * StatePool::kFanout + k);
    }
  }
  return found;
}

void RegisterState::forgetInconsistent() {
  for (uint32_t index : findReferences([](RegisterValue value) { return value == kInconsistent; }))
    set(RegisterBank::Reference, index, kUnknown);
  hasInconsistent_ = false;
}

}  // namespace baton::bytecode
