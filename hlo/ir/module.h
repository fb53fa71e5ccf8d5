// Module, Computation and Instruction: the HLO graph as plain data.
//
// Ownership. A Module owns everything: computations, instructions, strings
// and arrays (in an arena), shapes (interned). Pointers to instructions and
// computations stay valid until the Module dies, also after removal (a removed
// instruction is only unlinked). Module::Clone gives value semantics.
//
// Order. A computation's instructions form a list in which operands precede
// users; passes keep it so by inserting before the first user. Iteration,
// and with it everything Ridge decides, follows this order, never addresses.
#ifndef RIDGE_HLO_IR_MODULE_H_
#define RIDGE_HLO_IR_MODULE_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/container/inlined_vector.h"
#include "absl/container/node_hash_set.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "hlo/ir/attribute.h"
#include "hlo/ir/literal.h"
#include "hlo/ir/opcode.h"
#include "hlo/ir/shape.h"

namespace ridge {

class Computation;
class Instruction;
class Module;

// Where the text of something began; 1-based, 0 where it came from no text.
struct SourceLocation {
  int32_t line = 0;
  int32_t column = 0;
};

// One use of an instruction: user->operand(operand_index) is it.
struct Use {
  Instruction* user;
  int32_t operand_index;
};

class Instruction {
 public:
  Instruction(const Instruction&) = delete;
  Instruction& operator=(const Instruction&) = delete;

  Opcode opcode() const { return opcode_; }
  absl::string_view name() const { return name_; }
  // Unique within the module, dense from 0; below Module::id_bound().
  int32_t id() const { return id_; }
  Computation* parent() const { return parent_; }
  Module* module() const;
  SourceLocation location() const { return location_; }
  void set_location(SourceLocation l) { location_ = l; }

  const Shape& shape() const { return *shape_; }
  void set_shape(const Shape& shape);
  // `shape` must be interned in the same module (Module::Intern).
  void set_interned_shape(const Shape* shape) { shape_ = shape; }
  void set_name(absl::string_view name);
  // For parsers: the name lies in the module and is known to be unique.
  void set_arena_name(absl::string_view name) { name_ = name; }

  absl::Span<Instruction* const> operands() const { return operands_; }
  Instruction* operand(int64_t i) const { return operands_[i]; }
  int64_t operand_count() const { return operands_.size(); }
  void AddOperand(Instruction* operand);
  void ReplaceOperand(int64_t i, Instruction* replacement);
  // Every use, in no particular but a deterministic order. A user that reads
  // this twice appears twice.
  absl::Span<const Use> uses() const { return uses_; }
  // Users without repetition, ordered by id.
  std::vector<Instruction*> users() const;
  int64_t use_count() const { return uses_.size(); }
  // Points every use at `replacement`, and the computation's root as well.
  void ReplaceAllUsesWith(Instruction* replacement);

  // ---- Attributes ----
  absl::Span<const Attribute> attributes() const { return attributes_; }
  const AttrValue* FindAttr(AttrId id) const;
  bool has(AttrId id) const { return FindAttr(id) != nullptr; }
  // Sets or replaces. Spans and string views must live in the module's arena;
  // the typed setters below copy into it.
  void SetAttr(AttrId id, AttrValue value);
  void RemoveAttr(AttrId id);
  // Copies what the attributes hold in another module's arena into this one's.
  void RehomeAttributes();
  // For parsers: `attributes` become all there are; their ids must differ.
  void TakeAttributes(std::vector<Attribute>* attributes) {
    attributes_.assign(std::make_move_iterator(attributes->begin()),
                       std::make_move_iterator(attributes->end()));
  }

  bool bool_attr(AttrId id, bool fallback = false) const;
  int64_t int_attr(AttrId id, int64_t fallback = 0) const;
  double float_attr(AttrId id, double fallback = 0) const;
  Ints ints(AttrId id) const;               // empty where absent
  absl::string_view text(AttrId id) const;  // kString and kRaw
  template <typename E>
  E enum_attr(AttrId id, E fallback) const {
    const AttrValue* v = FindAttr(id);
    return v == nullptr ? fallback
                        : static_cast<E>(std::get<EnumValue>(*v).value);
  }
  template <typename T>
  const T* boxed(AttrId id) const {  // null where absent
    const AttrValue* v = FindAttr(id);
    return v == nullptr ? nullptr
                        : std::get<std::shared_ptr<const T>>(*v).get();
  }
  void set_ints(AttrId id, absl::Span<const int64_t> values);
  void set_text(AttrId id, absl::string_view text);
  template <typename T>
  void set_boxed(AttrId id, T value) {
    SetAttr(id, std::make_shared<const T>(std::move(value)));
  }

  // Common ones by name.
  Ints dimensions() const { return ints(AttrId::kDimensions); }
  const Window* window() const { return boxed<Window>(AttrId::kWindow); }
  Computation* to_apply() const { return computation(AttrId::kToApply); }
  Computation* calls() const { return computation(AttrId::kCalls); }
  Computation* computation(AttrId id) const;  // null where absent
  // All computations this instruction refers to, in attribute order of
  // AttrId (so: while gives condition, body).
  std::vector<Computation*> called_computations() const;
  // Replaces references to computations through `fn`.
  void MapComputations(const std::function<Computation*(Computation*)>& fn);
  // The branches of a conditional, either spelling.
  std::vector<Computation*> branches() const;

  // ---- Fields of particular opcodes ----
  int64_t parameter_number() const { return parameter_number_; }
  void set_parameter_number(int64_t n) { parameter_number_ = n; }
  const Literal& literal() const { return *literal_; }  // constant only
  const std::shared_ptr<const Literal>& shared_literal() const {
    return literal_;
  }
  void set_literal(std::shared_ptr<const Literal> l) {
    literal_ = std::move(l);
  }
  int64_t tuple_index() const { return int_attr(AttrId::kIndex); }

  absl::Span<Instruction* const> control_predecessors() const {
    return control_predecessors_;
  }
  void AddControlPredecessor(Instruction* p);
  void RemoveControlPredecessor(Instruction* p);
  bool has_control_successors() const { return control_successor_count_ > 0; }

  bool IsRoot() const;
  bool IsDead() const;  // no uses, not the root, no side effect or control edge
  bool HasSideEffect() const;
  Instruction* next() const { return next_; }
  Instruction* previous() const { return previous_; }

 private:
  friend class Computation;
  friend class Module;
  Instruction() = default;
  void DropUse(int64_t operand_index);

  Opcode opcode_ = Opcode::kParameter;
  int32_t id_ = 0;
  int32_t control_successor_count_ = 0;
  SourceLocation location_;
  absl::string_view name_;
  const Shape* shape_ = nullptr;
  Computation* parent_ = nullptr;
  Instruction* next_ = nullptr;
  Instruction* previous_ = nullptr;
  absl::InlinedVector<Instruction*, 2> operands_;
  // Position of each operand's entry in operand->uses_.
  absl::InlinedVector<int32_t, 2> use_positions_;
  absl::InlinedVector<Use, 2> uses_;
  std::vector<Attribute> attributes_;
  std::vector<Instruction*> control_predecessors_;
  int64_t parameter_number_ = 0;
  std::shared_ptr<const Literal> literal_;
};

class Computation {
 public:
  // A forward range over the instruction list. The current instruction may be
  // removed while iterating.
  class Range {
   public:
    class Iterator {
     public:
      explicit Iterator(Instruction* at)
          : at_(at), next_(at == nullptr ? nullptr : at->next()) {}
      Instruction* operator*() const { return at_; }
      Iterator& operator++() {
        at_ = next_;
        next_ = at_ == nullptr ? nullptr : at_->next();
        return *this;
      }
      bool operator!=(const Iterator& o) const { return at_ != o.at_; }
      bool operator==(const Iterator& o) const { return at_ == o.at_; }

     private:
      Instruction* at_;
      Instruction* next_;
    };
    explicit Range(Instruction* first) : first_(first) {}
    Iterator begin() const { return Iterator(first_); }
    Iterator end() const { return Iterator(nullptr); }

   private:
    Instruction* first_;
  };

  Module* module() const { return module_; }
  absl::string_view name() const { return name_; }
  void set_name(absl::string_view name);
  // For parsers: the name lies in the module and is known to be unique.
  void set_arena_name(absl::string_view name) { name_ = name; }
  SourceLocation location() const { return location_; }
  void set_location(SourceLocation l) { location_ = l; }
  // execution_thread="..." ; empty means the main thread.
  absl::string_view execution_thread() const { return execution_thread_; }
  void set_execution_thread(absl::string_view t);
  // True for the computation that an <op>-start of the text stands for: it
  // has no text of its own, and is printed as <op>-start again while it is a
  // single operation.
  bool is_async_sugar() const { return is_async_sugar_; }
  void set_async_sugar(bool sugar) { is_async_sugar_ = sugar; }

  Range instructions() const { return Range(first_); }
  Instruction* first() const { return first_; }
  Instruction* last() const { return last_; }
  int64_t instruction_count() const { return count_; }
  Instruction* root() const { return root_; }
  void set_root(Instruction* root) { root_ = root; }
  // Parameters by number; null where a number is missing.
  absl::Span<Instruction* const> parameters() const { return parameters_; }
  Instruction* parameter(int64_t i) const { return parameters_[i]; }
  bool IsEntry() const;
  // One operation on all the parameters, in order: what <op>-start can stand
  // for.
  bool IsSingleOperation() const;

  // Appends, or inserts before `before`. The name is copied; when it is taken
  // or empty the module makes a unique one. Operands must already be here.
  Instruction* Add(Opcode opcode, const Shape& shape,
                   absl::Span<Instruction* const> operands,
                   absl::string_view name = "", Instruction* before = nullptr);
  // For parsers: name and shape already lie in the module, nothing is checked.
  Instruction* AddRaw(Opcode opcode, const Shape* interned_shape,
                      absl::string_view arena_name);
  Instruction* AddParameter(int64_t number, const Shape& shape,
                            absl::string_view name = "");
  Instruction* AddConstant(Literal literal, Instruction* before = nullptr,
                           absl::string_view name = "");
  // A copy of `like` with other operands and, if given, another shape:
  // attributes, literal and location come along (computations and shapes are
  // those of the same module).
  Instruction* AddLike(const Instruction& like,
                       absl::Span<Instruction* const> operands,
                       const Shape* shape = nullptr,
                       Instruction* before = nullptr,
                       absl::string_view name = "");

  // Unlinks an instruction that has no uses and is not the root.
  void Remove(Instruction* instruction);
  // Registers `parameter` under its number.
  void RegisterParameter(Instruction* parameter);
  // Removes parameter `number`; later ones move down by one.
  void RemoveParameter(int64_t number);
  void MoveBefore(Instruction* instruction, Instruction* before);
  // Restores "operands precede users" (stable); false if there is a cycle.
  bool SortTopologically();
  std::vector<Instruction*> InstructionVector() const;

 private:
  friend class Module;
  Computation() = default;
  void Link(Instruction* instruction, Instruction* before);
  void Unlink(Instruction* instruction);

  Module* module_ = nullptr;
  absl::string_view name_;
  absl::string_view execution_thread_;
  SourceLocation location_;
  bool is_async_sugar_ = false;
  Instruction* first_ = nullptr;
  Instruction* last_ = nullptr;
  Instruction* root_ = nullptr;
  int64_t count_ = 0;
  std::vector<Instruction*> parameters_;
};

class Module {
 public:
  explicit Module(absl::string_view name = "module");
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;

  absl::string_view name() const { return name_; }
  void set_name(absl::string_view name);
  // The file this was read from, for messages; may be empty.
  const std::string& source_file() const { return source_file_; }
  void set_source_file(std::string f) { source_file_ = std::move(f); }

  Computation* entry() const { return entry_; }
  void set_entry(Computation* c) { entry_ = c; }
  // In text order: callees precede callers.
  absl::Span<Computation* const> computations() const { return order_; }
  // Appends; a taken or empty name is made unique.
  Computation* AddComputation(absl::string_view name);
  Computation* AddComputationRaw(absl::string_view arena_name);
  Computation* FindComputation(absl::string_view name) const;
  void RemoveComputation(Computation* computation);
  // Changes the text order, so that a new callee precedes its callers.
  void MoveComputationBefore(Computation* computation, Computation* before);
  // Puts it after all others. For parsers, which meet callees inside it.
  void MoveComputationLast(Computation* computation);
  // Drops computations that the entry does not reach.
  void RemoveUnreachableComputations();
  // Copies `source` (of this or another module) with the computations it
  // calls, once each through `map` (source to copy); returns the copy.
  Computation* CloneComputation(
      const Computation& source,
      absl::flat_hash_map<const Computation*, Computation*>* map,
      absl::string_view name = "");

  std::unique_ptr<Module> Clone() const;

  // Header attributes but the name, in text order: name and text after '='
  // as written (`is_scheduled`, `input_output_alias`, ...).
  struct HeaderAttribute {
    absl::string_view name;
    absl::string_view text;
  };
  const std::vector<HeaderAttribute>& header() const { return header_; }
  std::vector<HeaderAttribute>* mutable_header() { return &header_; }
  absl::string_view header_text(absl::string_view name) const;  // "" if absent
  bool is_scheduled() const { return header_text("is_scheduled") == "true"; }
  // Sections between header and computations (FileNames, StackFrames, ...),
  // kept as written.
  absl::string_view sections() const { return sections_; }
  void set_sections(absl::string_view text) { sections_ = CopyText(text); }

  // ---- Storage ----
  absl::string_view CopyText(absl::string_view text);
  Ints CopyInts(absl::Span<const int64_t> values);
  const Shape* Intern(const Shape& shape);
  // Keeps `text` alive as long as the module, so that views into it may be
  // used as arena text.
  absl::string_view AdoptText(std::string text);
  int32_t id_bound() const { return next_id_; }
  int64_t instruction_count() const;
  // Makes `base` unique among all instruction names of the module: base,
  // base.1, base.2 ... The result lies in the arena.
  absl::string_view UniqueInstructionName(absl::string_view base);
  absl::string_view UniqueComputationName(absl::string_view base);

 private:
  friend class Computation;
  friend class Instruction;
  Instruction* NewInstruction();
  char* Allocate(size_t bytes, size_t alignment);

  absl::string_view name_;
  std::string source_file_;
  std::vector<HeaderAttribute> header_;
  absl::string_view sections_;
  Computation* entry_ = nullptr;
  std::vector<Computation*> order_;
  std::vector<std::unique_ptr<Computation>> computations_;
  // Instructions live in chunks, so that their addresses never change.
  static constexpr size_t kChunk = 64;
  std::vector<std::unique_ptr<Instruction[]>> chunks_;
  int32_t next_id_ = 0;
  absl::node_hash_set<Shape> shapes_;
  std::deque<std::string> texts_;
  std::vector<std::unique_ptr<char[]>> blocks_;
  size_t block_used_ = 0;
  size_t block_size_ = 0;
  // Names in use and the next suffix to try for a base; filled on first need,
  // so that parsing does not pay for it.
  void IndexNames();
  absl::string_view Unique(absl::string_view base,
                           absl::flat_hash_set<absl::string_view>* taken);
  void IndexInstructionName(absl::string_view name);
  void ForgetInstructionName(absl::string_view name);
  bool names_indexed_ = false;
  absl::flat_hash_set<absl::string_view> instruction_names_;
  // Those that instructions of several computations have had: they stay taken.
  absl::flat_hash_set<absl::string_view> shared_names_;
  absl::flat_hash_set<absl::string_view> computation_names_;
  absl::flat_hash_map<std::string, int64_t> next_suffix_;
};

}  // namespace ridge

#endif  // RIDGE_HLO_IR_MODULE_H_
