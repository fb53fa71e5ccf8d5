#include "hlo/ir/module.h"

#include <algorithm>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "hlo/ir/opcode_rules.h"

namespace ridge {

// ---- Computation ----------------------------------------------------------

bool Computation::IsEntry() const { return module_->entry() == this; }

bool Computation::IsSingleOperation() const {
  const int64_t count = static_cast<int64_t>(parameters_.size());
  if (root_ == nullptr || root_->operand_count() != count ||
      count_ != count + 1 || !HasAsyncSugar(root_->opcode())) {
    return false;
  }
  for (int64_t i = 0; i < count; ++i) {
    if (root_->operand(i) != parameters_[i]) return false;
  }
  return true;
}

void Computation::set_name(absl::string_view name) {
  name_ = module_->UniqueComputationName(name);
}

void Computation::set_execution_thread(absl::string_view t) {
  execution_thread_ = module_->CopyText(t);
}

void Computation::Link(Instruction* i, Instruction* before) {
  i->parent_ = this;
  i->next_ = before;
  i->previous_ = before == nullptr ? last_ : before->previous_;
  (i->previous_ == nullptr ? first_ : i->previous_->next_) = i;
  (before == nullptr ? last_ : before->previous_) = i;
  ++count_;
}

void Computation::Unlink(Instruction* i) {
  (i->previous_ == nullptr ? first_ : i->previous_->next_) = i->next_;
  (i->next_ == nullptr ? last_ : i->next_->previous_) = i->previous_;
  i->next_ = i->previous_ = nullptr;
  --count_;
}

Instruction* Computation::Add(Opcode opcode, const Shape& shape,
                              absl::Span<Instruction* const> operands,
                              absl::string_view name, Instruction* before) {
  Instruction* i = module_->NewInstruction();
  i->opcode_ = opcode;
  i->shape_ = module_->Intern(shape);
  Link(i, before);
  i->name_ = module_->UniqueInstructionName(name.empty() ? Name(opcode) : name);
  for (Instruction* operand : operands) i->AddOperand(operand);
  return i;
}

Instruction* Computation::AddRaw(Opcode opcode, const Shape* interned_shape,
                                 absl::string_view arena_name) {
  Instruction* i = module_->NewInstruction();
  i->opcode_ = opcode;
  i->shape_ = interned_shape;
  i->name_ = arena_name;
  if (module_->names_indexed_) module_->IndexInstructionName(arena_name);
  Link(i, nullptr);
  return i;
}

Instruction* Computation::AddParameter(int64_t number, const Shape& shape,
                                       absl::string_view name) {
  Instruction* p =
      Add(Opcode::kParameter, shape, {},
          name.empty() ? absl::StrCat("param.", number) : std::string(name));
  p->parameter_number_ = number;
  RegisterParameter(p);
  return p;
}

Instruction* Computation::AddConstant(Literal literal, Instruction* before,
                                      absl::string_view name) {
  Instruction* c = Add(Opcode::kConstant, literal.shape(), {}, name, before);
  c->literal_ = std::make_shared<const Literal>(std::move(literal));
  return c;
}

Instruction* Computation::AddLike(const Instruction& like,
                                  absl::Span<Instruction* const> operands,
                                  const Shape* shape, Instruction* before,
                                  absl::string_view name) {
  Instruction* i = Add(like.opcode_, shape == nullptr ? like.shape() : *shape,
                       operands, name.empty() ? like.name() : name, before);
  i->attributes_ = like.attributes_;
  i->literal_ = like.literal_;
  i->location_ = like.location_;
  i->parameter_number_ = like.parameter_number_;
  return i;
}

void Computation::Remove(Instruction* i) {
  while (!i->operands_.empty()) {
    i->DropUse(i->operands_.size() - 1);
    i->operands_.pop_back();
    i->use_positions_.pop_back();
  }
  while (!i->control_predecessors_.empty()) {
    i->RemoveControlPredecessor(i->control_predecessors_.back());
  }
  if (module_->names_indexed_) module_->ForgetInstructionName(i->name_);
  Unlink(i);
}

void Computation::RegisterParameter(Instruction* p) {
  size_t n = static_cast<size_t>(p->parameter_number_);
  if (parameters_.size() <= n) parameters_.resize(n + 1, nullptr);
  parameters_[n] = p;
}

void Computation::RemoveParameter(int64_t number) {
  Instruction* p = parameters_[number];
  parameters_.erase(parameters_.begin() + number);
  for (size_t i = number; i < parameters_.size(); ++i) {
    if (parameters_[i] != nullptr) {
      parameters_[i]->parameter_number_ = static_cast<int64_t>(i);
    }
  }
  Remove(p);
}

void Computation::MoveBefore(Instruction* i, Instruction* before) {
  if (i == before) return;
  Unlink(i);
  Link(i, before);
}

bool Computation::SortTopologically() {
  // Depth first from each instruction in list order, without recursion.
  enum : uint8_t { kNew, kOpen, kDone };
  std::vector<uint8_t> state(module_->id_bound(), kNew);
  std::vector<Instruction*> order;
  order.reserve(count_);
  struct Frame {
    Instruction* i;
    int64_t next;
  };
  std::vector<Frame> stack;
  for (Instruction* start : instructions()) {
    if (state[start->id()] != kNew) continue;
    stack.push_back({start, 0});
    state[start->id()] = kOpen;
    while (!stack.empty()) {
      Frame& f = stack.back();
      int64_t operand_count = f.i->operand_count();
      int64_t total = operand_count + f.i->control_predecessors_.size();
      if (f.next == total) {
        state[f.i->id()] = kDone;
        order.push_back(f.i);
        stack.pop_back();
        continue;
      }
      Instruction* d = f.next < operand_count
                           ? f.i->operands_[f.next]
                           : f.i->control_predecessors_[f.next - operand_count];
      ++f.next;
      if (state[d->id()] == kOpen) return false;
      if (state[d->id()] == kNew) {
        state[d->id()] = kOpen;
        stack.push_back({d, 0});
      }
    }
  }
  first_ = last_ = nullptr;
  count_ = 0;
  for (Instruction* i : order) Link(i, nullptr);
  return true;
}

std::vector<Instruction*> Computation::InstructionVector() const {
  std::vector<Instruction*> result;
  result.reserve(count_);
  for (Instruction* i : instructions()) result.push_back(i);
  return result;
}

// ---- Module ---------------------------------------------------------------

Module::Module(absl::string_view name) { name_ = CopyText(name); }

void Module::set_name(absl::string_view name) { name_ = CopyText(name); }

char* Module::Allocate(size_t bytes, size_t alignment) {
  size_t at = (block_used_ + alignment - 1) / alignment * alignment;
  if (blocks_.empty() || at + bytes > block_size_) {
    block_size_ = std::max<size_t>(bytes, size_t{1} << 14);
    blocks_.push_back(std::unique_ptr<char[]>(new char[block_size_]));
    at = 0;
  }
  block_used_ = at + bytes;
  return blocks_.back().get() + at;
}

absl::string_view Module::CopyText(absl::string_view text) {
  if (text.empty()) return {};
  char* p = Allocate(text.size(), 1);
  std::memcpy(p, text.data(), text.size());
  return absl::string_view(p, text.size());
}

Ints Module::CopyInts(absl::Span<const int64_t> values) {
  if (values.empty()) return {};
  char* p = Allocate(values.size() * sizeof(int64_t), alignof(int64_t));
  std::memcpy(p, values.data(), values.size() * sizeof(int64_t));
  return Ints(reinterpret_cast<const int64_t*>(p), values.size());
}

absl::string_view Module::AdoptText(std::string text) {
  texts_.push_back(std::move(text));
  return texts_.back();
}

const Shape* Module::Intern(const Shape& shape) {
  return &*shapes_.insert(shape).first;
}

Instruction* Module::NewInstruction() {
  size_t slot = static_cast<size_t>(next_id_) % kChunk;
  if (slot == 0) {
    chunks_.push_back(std::unique_ptr<Instruction[]>(new Instruction[kChunk]));
  }
  Instruction* i = &chunks_.back()[slot];
  i->id_ = next_id_++;
  return i;
}

int64_t Module::instruction_count() const {
  int64_t n = 0;
  for (const Computation* c : order_) n += c->instruction_count();
  return n;
}

absl::string_view Module::header_text(absl::string_view name) const {
  for (const HeaderAttribute& a : header_) {
    if (a.name == name) return a.text;
  }
  return {};
}

void Module::IndexNames() {
  if (names_indexed_) return;
  names_indexed_ = true;
  for (const Computation* c : order_) {
    computation_names_.insert(c->name());
    for (const Instruction* i : c->instructions()) {
      IndexInstructionName(i->name());
    }
  }
}

void Module::IndexInstructionName(absl::string_view name) {
  if (!instruction_names_.insert(name).second) shared_names_.insert(name);
}

void Module::ForgetInstructionName(absl::string_view name) {
  if (!shared_names_.contains(name)) instruction_names_.erase(name);
}

absl::string_view Module::Unique(
    absl::string_view base, absl::flat_hash_set<absl::string_view>* taken) {
  IndexNames();
  if (!taken->contains(base)) {
    absl::string_view kept = CopyText(base);
    taken->insert(kept);
    return kept;
  }
  // Drop a numeric suffix, so that copies of x.1 become x.2, not x.1.1.
  size_t dot = base.rfind('.');
  if (dot != absl::string_view::npos && dot > 0 && dot + 1 < base.size() &&
      std::all_of(base.begin() + dot + 1, base.end(),
                  [](char c) { return c >= '0' && c <= '9'; })) {
    base = base.substr(0, dot);
  }
  int64_t& next = next_suffix_[base];
  while (true) {
    std::string candidate = absl::StrCat(base, ".", ++next);
    if (!taken->contains(candidate)) {
      absl::string_view kept = CopyText(candidate);
      taken->insert(kept);
      return kept;
    }
  }
}

absl::string_view Module::UniqueInstructionName(absl::string_view base) {
  return Unique(base, &instruction_names_);
}

absl::string_view Module::UniqueComputationName(absl::string_view base) {
  return Unique(base, &computation_names_);
}

Computation* Module::AddComputationRaw(absl::string_view arena_name) {
  computations_.push_back(std::unique_ptr<Computation>(new Computation()));
  Computation* c = computations_.back().get();
  c->module_ = this;
  c->name_ = arena_name;
  if (names_indexed_) computation_names_.insert(arena_name);
  order_.push_back(c);
  return c;
}

Computation* Module::AddComputation(absl::string_view name) {
  absl::string_view unique =
      UniqueComputationName(name.empty() ? "computation" : name);
  return AddComputationRaw(unique);
}

Computation* Module::FindComputation(absl::string_view name) const {
  for (Computation* c : order_) {
    if (c->name() == name) return c;
  }
  return nullptr;
}

void Module::RemoveComputation(Computation* computation) {
  order_.erase(std::remove(order_.begin(), order_.end(), computation),
               order_.end());
  if (!names_indexed_) return;
  computation_names_.erase(computation->name());
  for (const Instruction* i : computation->instructions()) {
    ForgetInstructionName(i->name());
  }
}

void Module::MoveComputationLast(Computation* computation) {
  if (order_.back() == computation) return;
  auto it = std::find(order_.rbegin(), order_.rend(), computation);
  std::rotate(it.base() - 1, it.base(), order_.end());
}

void Module::MoveComputationBefore(Computation* computation,
                                   Computation* before) {
  if (computation == before) return;
  order_.erase(std::find(order_.begin(), order_.end(), computation));
  order_.insert(std::find(order_.begin(), order_.end(), before), computation);
}

void Module::RemoveUnreachableComputations() {
  absl::flat_hash_set<const Computation*> reached;
  std::vector<Computation*> stack = {entry_};
  reached.insert(entry_);
  while (!stack.empty()) {
    Computation* c = stack.back();
    stack.pop_back();
    for (const Instruction* i : c->instructions()) {
      for (Computation* called : i->called_computations()) {
        if (called != nullptr && reached.insert(called).second) {
          stack.push_back(called);
        }
      }
    }
  }
  std::vector<Computation*> dropped;
  for (Computation* c : order_) {
    if (!reached.contains(c)) dropped.push_back(c);
  }
  for (Computation* c : dropped) {
    if (!names_indexed_) continue;
    computation_names_.erase(c->name());
    for (const Instruction* i : c->instructions()) {
      ForgetInstructionName(i->name());
    }
  }
  order_.erase(
      std::remove_if(order_.begin(), order_.end(),
                     [&](Computation* c) { return !reached.contains(c); }),
      order_.end());
}

namespace {

// Copies arena-backed values into `to`.
AttrValue Rehome(const AttrValue& value, Module* to) {
  if (const auto* ints = std::get_if<Ints>(&value)) return to->CopyInts(*ints);
  if (const auto* text = std::get_if<absl::string_view>(&value)) {
    return to->CopyText(*text);
  }
  if (const auto* groups =
          std::get_if<std::shared_ptr<const ReplicaGroups>>(&value)) {
    return std::make_shared<const ReplicaGroups>(
        ReplicaGroups{to->CopyText((*groups)->text), (*groups)->groups});
  }
  return value;
}

}  // namespace

void Instruction::RehomeAttributes() {
  for (Attribute& a : attributes_) a.value = Rehome(a.value, module());
}

Computation* Module::CloneComputation(
    const Computation& source,
    absl::flat_hash_map<const Computation*, Computation*>* map,
    absl::string_view name) {
  if (auto it = map->find(&source); it != map->end()) return it->second;
  // Callees first, so that the copy too has them before their callers.
  for (const Instruction* i : source.instructions()) {
    for (const Computation* called : i->called_computations()) {
      if (called != nullptr) CloneComputation(*called, map);
    }
  }
  bool same_module = source.module() == this;
  Computation* copy = AddComputation(name.empty() ? source.name() : name);
  copy->location_ = source.location_;
  copy->is_async_sugar_ = source.is_async_sugar_;
  if (!source.execution_thread_.empty()) {
    copy->set_execution_thread(source.execution_thread_);
  }
  absl::flat_hash_map<const Instruction*, Instruction*> copies;
  copies.reserve(source.instruction_count());
  for (const Instruction* i : source.instructions()) {
    std::vector<Instruction*> operands;
    operands.reserve(i->operand_count());
    for (const Instruction* o : i->operands()) operands.push_back(copies[o]);
    // Names are unique within a computation at least; a copy into another
    // module keeps them, so that profiles can be joined by name.
    Instruction* c;
    if (same_module) {
      c = copy->Add(i->opcode_, i->shape(), operands, i->name());
    } else {
      c = copy->AddRaw(i->opcode_, Intern(i->shape()), CopyText(i->name()));
      for (Instruction* o : operands) c->AddOperand(o);
    }
    c->attributes_ = i->attributes_;
    if (!same_module) {
      for (Attribute& a : c->attributes_) a.value = Rehome(a.value, this);
    }
    c->MapComputations([&](Computation* called) {
      auto it = map->find(called);
      return it == map->end() ? called : it->second;
    });
    c->literal_ = i->literal_;
    c->location_ = i->location_;
    c->parameter_number_ = i->parameter_number_;
    if (i->opcode_ == Opcode::kParameter) copy->RegisterParameter(c);
    for (const Instruction* p : i->control_predecessors_) {
      c->AddControlPredecessor(copies[p]);
    }
    copies[i] = c;
  }
  if (source.root_ != nullptr) copy->root_ = copies[source.root_];
  (*map)[&source] = copy;
  return copy;
}

std::unique_ptr<Module> Module::Clone() const {
  auto copy = std::make_unique<Module>(name_);
  copy->source_file_ = source_file_;
  for (const HeaderAttribute& a : header_) {
    copy->header_.push_back({copy->CopyText(a.name), copy->CopyText(a.text)});
  }
  copy->set_sections(sections_);
  absl::flat_hash_map<const Computation*, Computation*> map;
  for (const Computation* c : order_) copy->CloneComputation(*c, &map);
  if (entry_ != nullptr) copy->entry_ = map[entry_];
  return copy;
}

}  // namespace ridge
