// The parser's inside: one object per module, its parts in several files.
//   parser.cc              text checks, module, computations, recovery
//   header_parser.cc       HloModule line, sections of source locations
//   instruction_parser.cc  one instruction, its operands
//   async_parser.cc        <op>-start and its like
//   attribute_parser.cc    values of attributes by kind
//   instruction_checks.cc  rules that tie several parts of an instruction
#ifndef RIDGE_HLO_TEXT_PARSER_IMPL_H_
#define RIDGE_HLO_TEXT_PARSER_IMPL_H_

#include <bitset>
#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "hlo/ir/module.h"
#include "hlo/ir/opcode_rules.h"
#include "hlo/text/literal_parser.h"
#include "hlo/text/parser.h"
#include "hlo/text/scanner.h"
#include "hlo/text/shape_parser.h"
#include "hlo/text/symbol_table.h"

namespace ridge {

class Parser {
 public:
  // `text` must lie in `module` (Module::AdoptText).
  Parser(absl::string_view text, const ParseOptions& options, Module* module)
      : s_(text, options.first_line),
        options_(options),
        module_(module),
        shapes_(module) {}

  // False if there were errors; the module is then not to be used.
  bool Run();
  const std::vector<Diagnostic>& errors() const { return s_.errors(); }

 private:
  // One computation while it is read.
  struct Scope {
    Computation* computation = nullptr;
    SymbolTable names;
    std::vector<Instruction*> parameters;
    // Instructions without a name in the text; named when the scope closes.
    std::vector<Instruction*> anonymous;
    Instruction* root = nullptr;
    bool is_lone = false;  // of a lone instruction: operands become parameters
    size_t errors_before = 0;  // there were these when it was opened
  };

  // What stands left of `=`.
  struct Label {
    absl::string_view name;
    const char* at = nullptr;
    bool is_root = false;
  };

  // An instruction whose parts are being collected.
  struct Draft {
    Opcode opcode = Opcode::kParameter;
    // Set for the sugar: the opcode that async-* wraps.
    std::optional<Opcode> wrapped;
    const Shape* shape = nullptr;  // null: to be inferred
    const char* start = nullptr;   // of the right-hand side
    const char* opcode_at = nullptr;
    const char* operands_at = nullptr;
    const char* attributes_at = nullptr;
    absl::InlinedVector<Instruction*, 8> operands;
    std::vector<Attribute> attributes;
    // Where each attribute's value begins, for messages.
    std::vector<const char*> attribute_at;
    std::vector<Instruction*> control_predecessors;
    std::bitset<kAttrCount + 1> seen;
    int64_t parameter_number = 0;
    std::shared_ptr<const Literal> literal;
    bool uses_broken = false;  // an operand is a placeholder

    void Clear();
    const AttrValue* Find(AttrId id) const;
    const char* At(AttrId id) const;  // null where absent
  };

  // ---- parser.cc ----
  bool AtModule();
  bool AtComputation();
  void ParseComputations();
  bool ParseComputation();
  bool ParseSignature(const Shape** result, const char** result_at);
  // `{ instructions }`; the position is at the `{`.
  bool ParseBody(Scope* scope);
  bool CloseScope(Scope* scope, const char* open);
  static std::string AnonymousName(const Scope& sc, const Instruction& i);
  void NameAnonymous();
  void RecoverInstruction(const char* start);
  bool SkipToNextComputation();
  int32_t LaterDefinition(absl::string_view name, const char* at,
                          absl::string_view marks);
  bool TooManyErrors() const {
    return static_cast<int64_t>(s_.errors().size()) >= options_.max_errors;
  }
  Scope* OpenScope(Computation* computation);
  void ReleaseScope() { --open_scopes_; }
  Scope* scope() { return &scopes_[open_scopes_ - 1]; }
  bool ParseLoneInstruction();

  // ---- header_parser.cc ----
  bool ParseHeader();
  bool ParseHeaderAttribute();
  bool SkipHeaderValue(absl::string_view name);
  bool ParseSections();

  // ---- instruction_parser.cc ----
  bool ParseInstruction();
  void CheckLabel(const Label& label);
  bool FailLabel(const char* start);
  // The part after `=`; null after an error.
  Instruction* ParseRightHandSide(const Label& label, bool allow_attributes);
  bool ParseOpcode(Draft* draft);
  bool ParseOperands(Draft* draft);
  bool ParseOperandList(Draft* draft);
  Instruction* ParseOperand();
  Instruction* FindOperand(absl::string_view name, const char* at);
  Instruction* LoneParameter(const Shape* shape, absl::string_view name);
  bool CheckArity(const Draft& draft);
  bool ParseAttributes(Draft* draft);
  bool ParseAttribute(Draft* draft);
  bool ParseOrder(Draft* draft, const char* at);
  bool FailAttributeName(const Draft& draft, const char* at,
                         absl::string_view name);
  bool CheckRequired(const Draft& draft);
  bool ParseControlPredecessors(Draft* draft);
  Instruction* Create(const Label& label, Draft* draft);
  bool GiveShape(Instruction* instruction, const Draft& draft);
  // Stands in for an instruction that could not be read, so that its users do
  // not fail as well.
  void AddPlaceholder(const Label& label, const Shape* shape);
  Draft* NewDraft();
  void ReleaseDraft() { --open_drafts_; }

  // ---- async_parser.cc ----
  // Opcodes that are sugar: "custom-call-start" is async-start of custom-call.
  static bool SplitAsync(absl::string_view word, Opcode* opcode,
                         Opcode* wrapped);
  // The rule for an attribute of sugar, which may belong to either operation.
  const AttrRule* FindRule(const Draft& draft, absl::string_view name) const;
  bool Wrap(Draft* draft);
  bool CheckAsync(const Draft& draft);

  // ---- instruction_checks.cc ----
  bool CheckInstruction(const Draft& draft);
  bool CheckCustomCall(const Draft& draft);
  bool CheckConditional(const Draft& draft);
  bool CheckCollective(const Draft& draft);
  bool CheckParameterReplication(const Draft& draft);

  // ---- attribute_parser.cc ----
  bool ParseValue(AttrId id, AttrValue* value);
  bool ParseBool(AttrId id, AttrValue* value);
  bool ParseEnum(AttrId id, int64_t* index);
  bool ParseEnumList(AttrId id, AttrValue* value);
  bool ParseInts(absl::string_view rule, std::vector<int64_t>* out);
  bool ParseIntLists(absl::string_view rule, IntLists* out);
  bool ParseString(AttrId id, AttrValue* value);
  bool ParseComputationRef(AttrId id, Computation** computation);
  bool ParseNestedComputation(Computation** computation);
  bool ParseComputationList(AttrId id, AttrValue* value);
  bool ParseByX(absl::string_view rule, std::vector<int64_t>* out);
  bool ParseWindow(AttrValue* value);
  bool ParseWindowPad(bool sets_rank, Window* window);
  bool ParsePadding(AttrValue* value);
  bool ParseSliceRanges(AttrValue* value);
  bool ParseDimLabels(AttrValue* value);
  bool ParseShapeIndex(absl::string_view rule, ShapeIndex* index);
  bool ParseAliases(AttrValue* value);
  bool ParseReplicaGroups(AttrValue* value);
  bool ParseIotaGroups(std::vector<std::vector<int64_t>>* groups);
  bool ParseShapeList(AttrValue* value);

  Scanner s_;
  const ParseOptions& options_;
  Module* module_;
  ShapeReader shapes_;
  FillBudget fill_budget_;
  // Scopes and drafts are kept for their memory; the first open_* are in use.
  std::deque<Scope> scopes_;
  size_t open_scopes_ = 0;
  std::deque<Draft> drafts_;
  size_t open_drafts_ = 0;
  absl::flat_hash_map<absl::string_view, Computation*> computations_;
  // Computations that the text does not name, named when all are known.
  std::vector<Computation*> anonymous_computations_;
  absl::flat_hash_set<const Instruction*> broken_;
  absl::flat_hash_set<const Computation*> broken_computations_;
  // Replica groups by their text, which modules repeat.
  absl::flat_hash_map<absl::string_view, std::shared_ptr<const ReplicaGroups>>
      replica_groups_;
  int64_t replica_ids_ = 0;  // expanded so far
  // An unclosed computation was left where the next one begins.
  bool at_next_computation_ = false;
  Computation* entry_ = nullptr;
};

}  // namespace ridge

#endif  // RIDGE_HLO_TEXT_PARSER_IMPL_H_
