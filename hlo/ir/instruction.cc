#include <algorithm>

#include "hlo/ir/module.h"

namespace ridge {

Module* Instruction::module() const { return parent_->module(); }

void Instruction::set_shape(const Shape& shape) {
  shape_ = module()->Intern(shape);
}

void Instruction::set_name(absl::string_view name) {
  name_ = module()->UniqueInstructionName(name);
}

void Instruction::AddOperand(Instruction* operand) {
  use_positions_.push_back(static_cast<int32_t>(operand->uses_.size()));
  operand->uses_.push_back(Use{this, static_cast<int32_t>(operands_.size())});
  operands_.push_back(operand);
}

void Instruction::DropUse(int64_t operand_index) {
  Instruction* operand = operands_[operand_index];
  int32_t position = use_positions_[operand_index];
  Use last = operand->uses_.back();
  operand->uses_[position] = last;
  last.user->use_positions_[last.operand_index] = position;
  operand->uses_.pop_back();
}

void Instruction::ReplaceOperand(int64_t i, Instruction* replacement) {
  if (operands_[i] == replacement) return;
  DropUse(i);
  operands_[i] = replacement;
  use_positions_[i] = static_cast<int32_t>(replacement->uses_.size());
  replacement->uses_.push_back(Use{this, static_cast<int32_t>(i)});
}

std::vector<Instruction*> Instruction::users() const {
  std::vector<Instruction*> result;
  result.reserve(uses_.size());
  for (const Use& use : uses_) result.push_back(use.user);
  std::sort(result.begin(), result.end(),
            [](const Instruction* a, const Instruction* b) {
              return a->id() < b->id();
            });
  result.erase(std::unique(result.begin(), result.end()), result.end());
  return result;
}

void Instruction::ReplaceAllUsesWith(Instruction* replacement) {
  if (replacement == this) return;
  while (!uses_.empty()) {
    Use use = uses_.back();
    use.user->ReplaceOperand(use.operand_index, replacement);
  }
  if (IsRoot()) parent_->set_root(replacement);
}

const AttrValue* Instruction::FindAttr(AttrId id) const {
  for (const Attribute& a : attributes_) {
    if (a.id == id) return &a.value;
  }
  return nullptr;
}

void Instruction::SetAttr(AttrId id, AttrValue value) {
  for (Attribute& a : attributes_) {
    if (a.id == id) {
      a.value = std::move(value);
      return;
    }
  }
  attributes_.push_back(Attribute{id, std::move(value)});
}

void Instruction::RemoveAttr(AttrId id) {
  for (auto it = attributes_.begin(); it != attributes_.end(); ++it) {
    if (it->id == id) {
      attributes_.erase(it);
      return;
    }
  }
}

bool Instruction::bool_attr(AttrId id, bool fallback) const {
  const AttrValue* v = FindAttr(id);
  return v == nullptr ? fallback : std::get<bool>(*v);
}

int64_t Instruction::int_attr(AttrId id, int64_t fallback) const {
  const AttrValue* v = FindAttr(id);
  return v == nullptr ? fallback : std::get<int64_t>(*v);
}

double Instruction::float_attr(AttrId id, double fallback) const {
  const AttrValue* v = FindAttr(id);
  return v == nullptr ? fallback : std::get<double>(*v);
}

Ints Instruction::ints(AttrId id) const {
  const AttrValue* v = FindAttr(id);
  return v == nullptr ? Ints() : std::get<Ints>(*v);
}

absl::string_view Instruction::text(AttrId id) const {
  const AttrValue* v = FindAttr(id);
  return v == nullptr ? absl::string_view() : std::get<absl::string_view>(*v);
}

void Instruction::set_ints(AttrId id, absl::Span<const int64_t> values) {
  SetAttr(id, module()->CopyInts(values));
}

void Instruction::set_text(AttrId id, absl::string_view text) {
  SetAttr(id, module()->CopyText(text));
}

Computation* Instruction::computation(AttrId id) const {
  const AttrValue* v = FindAttr(id);
  return v == nullptr ? nullptr : std::get<Computation*>(*v);
}

std::vector<Computation*> Instruction::called_computations() const {
  std::vector<std::pair<AttrId, const AttrValue*>> found;
  for (const Attribute& a : attributes_) {
    AttrKind kind = Info(a.id).kind;
    if (kind == AttrKind::kComputation || kind == AttrKind::kComputationList) {
      found.emplace_back(a.id, &a.value);
    }
  }
  std::sort(found.begin(), found.end());
  std::vector<Computation*> result;
  for (const auto& [id, value] : found) {
    if (auto* one = std::get_if<Computation*>(value)) {
      result.push_back(*one);
    } else {
      const auto& list =
          std::get<std::shared_ptr<const std::vector<Computation*>>>(*value);
      result.insert(result.end(), list->begin(), list->end());
    }
  }
  return result;
}

void Instruction::MapComputations(
    const std::function<Computation*(Computation*)>& fn) {
  for (Attribute& a : attributes_) {
    if (auto* one = std::get_if<Computation*>(&a.value)) {
      *one = fn(*one);
    } else if (auto* many = std::get_if<
                   std::shared_ptr<const std::vector<Computation*>>>(
                   &a.value)) {
      std::vector<Computation*> mapped;
      for (Computation* c : **many) mapped.push_back(fn(c));
      a.value =
          std::make_shared<const std::vector<Computation*>>(std::move(mapped));
    }
  }
}

std::vector<Computation*> Instruction::branches() const {
  if (const auto* list =
          boxed<std::vector<Computation*>>(AttrId::kBranchComputations)) {
    return *list;
  }
  return {computation(AttrId::kTrueComputation),
          computation(AttrId::kFalseComputation)};
}

void Instruction::AddControlPredecessor(Instruction* p) {
  if (std::find(control_predecessors_.begin(), control_predecessors_.end(),
                p) != control_predecessors_.end()) {
    return;
  }
  control_predecessors_.push_back(p);
  ++p->control_successor_count_;
}

void Instruction::RemoveControlPredecessor(Instruction* p) {
  auto it =
      std::find(control_predecessors_.begin(), control_predecessors_.end(), p);
  if (it == control_predecessors_.end()) return;
  control_predecessors_.erase(it);
  --p->control_successor_count_;
}

bool Instruction::IsRoot() const { return parent_->root() == this; }

bool Instruction::HasSideEffect() const {
  switch (opcode_) {
    case Opcode::kSend:
    case Opcode::kSendDone:
    case Opcode::kRecv:
    case Opcode::kRecvDone:
    case Opcode::kInfeed:
    case Opcode::kOutfeed:
    case Opcode::kRng:
    case Opcode::kRngGetAndUpdateState:
      return true;
    case Opcode::kCustomCall:
      return bool_attr(AttrId::kCustomCallHasSideEffect);
    default:
      break;
  }
  if (IsCollective(opcode_)) return has(AttrId::kChannelId);
  for (const Computation* called : called_computations()) {
    if (called == nullptr) continue;
    for (const Instruction* i : called->instructions()) {
      if (i->HasSideEffect()) return true;
    }
  }
  return false;
}

bool Instruction::IsDead() const {
  return uses_.empty() && !IsRoot() && opcode_ != Opcode::kParameter &&
         control_predecessors_.empty() && control_successor_count_ == 0 &&
         !HasSideEffect();
}

}  // namespace ridge
