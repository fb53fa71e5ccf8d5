#include "hlo/proto/module_proto.h"

#include <algorithm>
#include <queue>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "google/protobuf/io/coded_stream.h"
#include "google/protobuf/io/tokenizer.h"
#include "google/protobuf/io/zero_copy_stream_impl_lite.h"
#include "google/protobuf/stubs/logging.h"
#include "google/protobuf/text_format.h"
#include "hlo/base/file.h"
#include "hlo/base/status_macros.h"
#include "hlo/ir/opcode_rules.h"
#include "hlo/proto/attribute_proto.h"
#include "hlo/proto/header_proto.h"
#include "hlo/proto/hlo.pb.h"
#include "hlo/proto/module_message.h"
#include "hlo/proto/shape_proto.h"
#include "hlo/proto/unique_names.h"

namespace ridge {
namespace {

using proto_internal::ComputationIds;
using proto_internal::ComputationsById;
using proto_internal::ReadModule;
using proto_internal::WriteModule;

// ---- Writing ---------------------------------------------------------------

// Numbers in the order of the text, so that they do not depend on how the
// module came about.
using InstructionIds = std::vector<int64_t>;  // by Instruction::id()

void WriteInstruction(const Instruction& i, const std::string& name,
                      const ComputationIds& computations,
                      const InstructionIds& ids, bool exact,
                      proto::HloInstructionProto* out) {
  out->set_name(name);
  if (exact && name != i.name()) {
    out->mutable_ridge()->set_name(std::string(i.name()));
  }
  out->set_opcode(std::string(Name(i.opcode())));
  ShapeToProto(i.shape(), out->mutable_shape());
  out->set_id(ids[i.id()]);
  for (const Instruction* operand : i.operands()) {
    out->add_operand_ids(ids[operand->id()]);
  }
  for (const Instruction* p : i.control_predecessors()) {
    out->add_control_predecessor_ids(ids[p->id()]);
  }
  if (i.opcode() == Opcode::kParameter) {
    out->set_parameter_number(i.parameter_number());
  }
  if (i.opcode() == Opcode::kConstant && i.shared_literal() != nullptr) {
    proto_internal::WriteLiteral(i.literal(), out);
  }
  proto_internal::WriteAttributes(i, computations, exact, out);
}

// Takes out the marks of layouts that the text does not give.
void DropImpliedMarks(google::protobuf::Message* message) {
  if (auto* layout = dynamic_cast<proto::LayoutProto*>(message)) {
    layout->clear_ridge_implied();
  }
  const google::protobuf::Reflection* reflection = message->GetReflection();
  std::vector<const google::protobuf::FieldDescriptor*> fields;
  reflection->ListFields(*message, &fields);
  for (const google::protobuf::FieldDescriptor* field : fields) {
    if (field->cpp_type() !=
        google::protobuf::FieldDescriptor::CPPTYPE_MESSAGE) {
      continue;
    }
    if (!field->is_repeated()) {
      DropImpliedMarks(reflection->MutableMessage(message, field));
      continue;
    }
    for (int k = 0; k < reflection->FieldSize(*message, field); ++k) {
      DropImpliedMarks(reflection->MutableRepeatedMessage(message, field, k));
    }
  }
}

// Computations that fusions, and that asynchronous starts, call.
struct Callees {
  absl::flat_hash_set<const Computation*> fused;
  absl::flat_hash_set<const Computation*> async;
};

Callees FindCallees(const Module& module) {
  Callees callees;
  for (const Computation* c : module.computations()) {
    for (const Instruction* i : c->instructions()) {
      if (i->opcode() == Opcode::kFusion) callees.fused.insert(i->calls());
      if (i->opcode() == Opcode::kAsyncStart) callees.async.insert(i->calls());
    }
  }
  return callees;
}

}  // namespace

proto::HloModuleProto proto_internal::WriteModule(const Module& module,
                                                  bool exact) {
  proto::HloModuleProto out;
  proto_internal::WriteHeader(module, exact, &out);
  ComputationIds computations;
  InstructionIds ids(static_cast<size_t>(module.id_bound()), 0);
  int64_t next_computation = 1;
  int64_t next_instruction = 1;
  for (const Computation* c : module.computations()) {
    computations[c] = next_computation++;
    for (const Instruction* i : c->instructions()) {
      ids[i->id()] = next_instruction++;
    }
  }
  const std::vector<std::string> names = proto_internal::UniqueNames(module);
  const Callees callees = FindCallees(module);
  for (const Computation* c : module.computations()) {
    const bool fused = callees.fused.contains(c);
    proto::HloComputationProto* computation = out.add_computations();
    computation->set_name(std::string(c->name()));
    computation->set_id(computations[c]);
    computation->set_execution_thread(c->execution_thread().empty()
                                          ? "main"
                                          : std::string(c->execution_thread()));
    computation->set_is_fusion_computation(fused);
    proto_internal::WriteProgramShape(*c, computation->mutable_program_shape());
    if (c->root() != nullptr) computation->set_root_id(ids[c->root()->id()]);
    const bool sugar = callees.async.contains(c) && c->IsSingleOperation();
    if (exact && sugar != c->is_async_sugar()) {
      computation->mutable_ridge()->set_async_sugar(c->is_async_sugar());
    }
    for (const Instruction* i : c->instructions()) {
      WriteInstruction(*i, names[i->id()], computations, ids, exact,
                       computation->add_instructions());
    }
    if (c->IsEntry()) {
      out.set_entry_computation_name(std::string(c->name()));
      out.set_entry_computation_id(computations[c]);
    }
    // The order of the text is the schedule.
    if (module.is_scheduled() && !fused) {
      auto& sequence =
          (*out.mutable_schedule()->mutable_sequences())[computations[c]];
      for (const Instruction* i : c->instructions()) {
        sequence.add_instruction_ids(ids[i->id()]);
      }
    }
  }
  if (!exact) DropImpliedMarks(&out);
  return out;
}

namespace {

proto::HloProto Wrapped(proto::HloModuleProto module) {
  proto::HloProto out;
  *out.mutable_hlo_module() = std::move(module);
  return out;
}

std::string Serialize(const google::protobuf::Message& message) {
  std::string bytes;
  google::protobuf::io::StringOutputStream stream(&bytes);
  google::protobuf::io::CodedOutputStream coded(&stream);
  coded.SetSerializationDeterministic(true);
  message.SerializeToCodedStream(&coded);
  coded.Trim();
  return bytes;
}

// ---- Reading ---------------------------------------------------------------

template <typename... Args>
absl::Status Invalid(const Args&... args) {
  return absl::InvalidArgumentError(absl::StrCat(args...));
}

// A name as HLO text writes it: a letter or _, then letters, digits, _ . -, and
// no type. Changed as XLA changes them.
std::string Sanitized(absl::string_view name) {
  std::string result(name);
  for (char& c : result) {
    if (!absl::ascii_isalnum(c) && c != '_' && c != '.' && c != '-') c = '_';
  }
  if (!result.empty() && !absl::ascii_isalpha(result[0]) && result[0] != '_') {
    result.insert(result.begin(), '_');
  }
  if (ElementTypeFromName(result).has_value()) result += '_';
  return result;
}

// The order of `count` nodes in which each comes after its predecessors, and
// otherwise as given. False where there is a cycle.
bool StableOrder(const std::vector<std::vector<int>>& successors,
                 std::vector<int> waiting, std::vector<int>* order) {
  std::priority_queue<int, std::vector<int>, std::greater<int>> ready;
  for (size_t k = 0; k < waiting.size(); ++k) {
    if (waiting[k] == 0) ready.push(static_cast<int>(k));
  }
  while (!ready.empty()) {
    const int k = ready.top();
    ready.pop();
    order->push_back(k);
    for (int s : successors[static_cast<size_t>(k)]) {
      if (--waiting[static_cast<size_t>(s)] == 0) ready.push(s);
    }
  }
  return order->size() == waiting.size();
}

using IndexById = absl::flat_hash_map<int64_t, int>;

// The nodes `ids` as predecessors of node `k`.
absl::Status AddEdges(const google::protobuf::RepeatedField<int64_t>& ids,
                      int k, const IndexById& index, absl::string_view what,
                      std::vector<std::vector<int>>* successors,
                      std::vector<int>* waiting) {
  for (int64_t id : ids) {
    auto it = index.find(id);
    if (it == index.end()) {
      return Invalid(what, " ", id, " does not exist");
    }
    (*successors)[static_cast<size_t>(it->second)].push_back(k);
    ++(*waiting)[static_cast<size_t>(k)];
  }
  return absl::OkStatus();
}

class ComputationReader {
 public:
  ComputationReader(const proto::HloComputationProto& in,
                    const proto::HloModuleProto& module_in,
                    const ComputationsById& computations, Module* module)
      : in_(in),
        module_in_(module_in),
        computations_(computations),
        module_(module) {}

  absl::StatusOr<Computation*> Read() {
    if (in_.instructions_size() == 0) return Invalid("it has no instructions");
    RIDGE_RETURN_IF_ERROR(IndexIds());
    std::vector<int> order;
    RIDGE_RETURN_IF_ERROR(Order(&order));
    computation_ = module_->AddComputation(Sanitized(in_.name()));
    if (in_.execution_thread() != "main") {
      computation_->set_execution_thread(in_.execution_thread());
    }
    for (int k : order) {
      const proto::HloInstructionProto& instruction = in_.instructions(k);
      const absl::Status status = ReadInstruction(instruction);
      if (!status.ok()) {
        return Annotate(status,
                        absl::StrCat("instruction ", instruction.name()));
      }
    }
    auto root = instructions_.find(in_.root_id());
    if (root == instructions_.end()) {
      return Invalid("root_id ", in_.root_id(), " does not exist");
    }
    computation_->set_root(root->second);
    for (size_t n = 0; n < computation_->parameters().size(); ++n) {
      if (computation_->parameters()[n] == nullptr) {
        return Invalid("parameter ", n, " is missing");
      }
    }
    return computation_;
  }

 private:
  absl::Status IndexIds() {
    for (int k = 0; k < in_.instructions_size(); ++k) {
      if (!index_.insert({in_.instructions(k).id(), k}).second) {
        return Invalid("two instructions have id ", in_.instructions(k).id());
      }
    }
    return absl::OkStatus();
  }

  // Operands and control predecessors before their users; a schedule, where
  // there is one, else the order of ids.
  absl::Status Order(std::vector<int>* order) {
    const int count = in_.instructions_size();
    // Positions in the order wanted.
    std::vector<int> wanted;
    const auto& sequences = module_in_.schedule().sequences();
    const auto sequence = sequences.find(in_.id());
    if (sequence != sequences.end()) {
      std::vector<bool> seen(static_cast<size_t>(count), false);
      for (int64_t id : sequence->second.instruction_ids()) {
        auto it = index_.find(id);
        if (it == index_.end() || seen[static_cast<size_t>(it->second)]) {
          return Invalid(
              "the schedule names instruction ", id,
              it == index_.end() ? ", which does not exist" : " twice");
        }
        seen[static_cast<size_t>(it->second)] = true;
        wanted.push_back(it->second);
      }
      if (static_cast<int>(wanted.size()) != count) {
        return Invalid("the schedule has ", wanted.size(), " of ", count,
                       " instructions");
      }
    } else {
      // XLA writes users before or after as it happens to visit them; its
      // ids have the order of the text.
      for (int k = 0; k < count; ++k) wanted.push_back(k);
      std::sort(wanted.begin(), wanted.end(), [&](int a, int b) {
        return in_.instructions(a).id() < in_.instructions(b).id();
      });
    }
    IndexById position;
    for (int p = 0; p < count; ++p) {
      position[in_.instructions(wanted[static_cast<size_t>(p)]).id()] = p;
    }
    std::vector<std::vector<int>> successors(static_cast<size_t>(count));
    std::vector<int> waiting(static_cast<size_t>(count), 0);
    for (int p = 0; p < count; ++p) {
      const auto& i = in_.instructions(wanted[static_cast<size_t>(p)]);
      absl::Status status = AddEdges(i.operand_ids(), p, position,
                                     "the operand", &successors, &waiting);
      if (status.ok()) {
        status = AddEdges(i.control_predecessor_ids(), p, position,
                          "the control predecessor", &successors, &waiting);
      }
      if (!status.ok()) {
        return Annotate(status, absl::StrCat("instruction ", i.name()));
      }
    }
    std::vector<int> positions;
    if (!StableOrder(successors, std::move(waiting), &positions)) {
      return Invalid("operands and control predecessors form a cycle");
    }
    for (int p : positions) order->push_back(wanted[static_cast<size_t>(p)]);
    return absl::OkStatus();
  }

  absl::Status ReadInstruction(const proto::HloInstructionProto& in) {
    const std::optional<Opcode> opcode = OpcodeFromName(in.opcode());
    if (!opcode.has_value()) {
      return Invalid("unknown opcode \"", in.opcode(), "\"");
    }
    if (!in.has_shape()) return Invalid("it has no shape");
    RIDGE_ASSIGN_OR_RETURN(const Shape shape, ShapeFromProto(in.shape()));
    std::vector<Instruction*> operands;
    for (int64_t id : in.operand_ids()) operands.push_back(instructions_[id]);
    if (*opcode == Opcode::kParameter) {
      const int64_t number = in.parameter_number();
      if (number < 0 || number >= in_.instructions_size()) {
        return Invalid("parameter number ", number, " is outside [0, ",
                       in_.instructions_size(), ")");
      }
      const auto parameters = computation_->parameters();
      if (number < static_cast<int64_t>(parameters.size()) &&
          parameters[number] != nullptr) {
        return Invalid("parameter number ", number, " appears twice");
      }
      if (!operands.empty()) return Invalid("a parameter has no operands");
    }
    Instruction* i = computation_->AddRaw(
        *opcode, module_->Intern(shape),
        UniqueName(in.ridge().name().empty() ? in.name() : in.ridge().name()));
    for (Instruction* operand : operands) i->AddOperand(operand);
    if (*opcode == Opcode::kParameter) {
      i->set_parameter_number(in.parameter_number());
      computation_->RegisterParameter(i);
    }
    for (int64_t id : in.control_predecessor_ids()) {
      i->AddControlPredecessor(instructions_[id]);
    }
    if (*opcode == Opcode::kConstant) {
      if (!in.has_literal()) return Invalid("a constant needs a literal");
      RIDGE_ASSIGN_OR_RETURN(Literal literal, proto_internal::ReadLiteral(in));
      // Layouts may differ: the message's literal is not packed.
      if (literal.shape().Compatible(shape)) *literal.mutable_shape() = shape;
      i->set_literal(std::make_shared<const Literal>(std::move(literal)));
    }
    instructions_[in.id()] = i;
    return proto_internal::ReadAttributes(in, computations_, i);
  }

  // Names are unique in their computation, as in text.
  absl::string_view UniqueName(absl::string_view name) {
    std::string clean = Sanitized(name);
    if (clean.empty()) clean = "unnamed";
    absl::string_view unique = module_->CopyText(clean);
    if (!names_.insert(unique).second) {
      unique = module_->UniqueInstructionName(clean);
      names_.insert(unique);
    }
    return unique;
  }

  const proto::HloComputationProto& in_;
  const proto::HloModuleProto& module_in_;
  const ComputationsById& computations_;
  Module* module_;
  Computation* computation_ = nullptr;
  IndexById index_;
  absl::flat_hash_map<int64_t, Instruction*> instructions_;
  absl::flat_hash_set<absl::string_view> names_;
};

// Callees before callers, else the order of ids.
absl::Status OrderComputations(const proto::HloModuleProto& in,
                               std::vector<int>* order) {
  const int count = in.computations_size();
  std::vector<int> wanted;
  for (int k = 0; k < count; ++k) wanted.push_back(k);
  std::stable_sort(wanted.begin(), wanted.end(), [&](int a, int b) {
    return in.computations(a).id() < in.computations(b).id();
  });
  IndexById position;
  for (int p = 0; p < count; ++p) {
    const int64_t id = in.computations(wanted[static_cast<size_t>(p)]).id();
    if (!position.insert({id, p}).second) {
      return Invalid("two computations have id ", id);
    }
  }
  std::vector<std::vector<int>> successors(static_cast<size_t>(count));
  std::vector<int> waiting(static_cast<size_t>(count), 0);
  for (int p = 0; p < count; ++p) {
    const auto& computation = in.computations(wanted[static_cast<size_t>(p)]);
    for (const auto& i : computation.instructions()) {
      const absl::Status status =
          AddEdges(i.called_computation_ids(), p, position,
                   "the called computation", &successors, &waiting);
      if (!status.ok()) {
        return Annotate(status, absl::StrCat("computation ", computation.name(),
                                             ": instruction ", i.name()));
      }
    }
  }
  std::vector<int> positions;
  if (!StableOrder(successors, std::move(waiting), &positions)) {
    return Invalid("computations call each other in a cycle");
  }
  for (int p : positions) order->push_back(wanted[static_cast<size_t>(p)]);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::unique_ptr<Module>> proto_internal::ReadModule(
    const proto::HloModuleProto& in) {
  auto module = std::make_unique<Module>(Sanitized(in.name()));
  if (in.computations_size() == 0) {
    return Invalid("the message has no computations");
  }
  std::vector<int> order;
  RIDGE_RETURN_IF_ERROR(OrderComputations(in, &order));
  ComputationsById computations;
  for (int k : order) {
    const proto::HloComputationProto& computation = in.computations(k);
    absl::StatusOr<Computation*> read =
        ComputationReader(computation, in, computations, module.get()).Read();
    if (!read.ok()) {
      return Annotate(read.status(),
                      absl::StrCat("computation ", computation.name()));
    }
    computations[computation.id()] = *read;
  }
  auto entry = computations.find(in.entry_computation_id());
  if (entry == computations.end()) {
    return Invalid("entry_computation_id ", in.entry_computation_id(),
                   " does not exist");
  }
  module->set_entry(entry->second);
  const Callees callees = FindCallees(*module);
  for (const proto::HloComputationProto& computation : in.computations()) {
    Computation* c = computations[computation.id()];
    c->set_async_sugar(computation.ridge().has_async_sugar()
                           ? computation.ridge().async_sugar()
                           : callees.async.contains(c) &&
                                 c->IsSingleOperation());
  }
  RIDGE_RETURN_IF_ERROR(proto_internal::ReadHeader(in, module.get()));
  return module;
}

namespace {

// Collects the first error of the text format's parser.
class ErrorCollector : public google::protobuf::io::ErrorCollector {
 public:
  void AddError(int line, google::protobuf::io::ColumnNumber column,
                const std::string& message) override {
    if (!error_.empty()) return;
    // The end of the text is no word that could be quoted.
    error_ = absl::EndsWith(message, "got: ") ||
                     absl::EndsWith(message, "found \"\".")
                 ? "the text ends too early"
                 : absl::StrCat(line + 1, ":", column + 1, ": ", message);
  }
  const std::string& error() const { return error_; }

 private:
  std::string error_;
};

// Deeper messages (tuples in tuples) are an error.
constexpr int kMaxDepth = 100;

bool ParseText(absl::string_view text, google::protobuf::Message* message,
               ErrorCollector* errors) {
  google::protobuf::TextFormat::Parser parser;
  parser.AllowUnknownField(true);
  parser.SetRecursionLimit(kMaxDepth);
  parser.RecordErrorsTo(errors);
  return parser.ParseFromString(std::string(text), message);
}

}  // namespace

std::string ModuleToProto(const Module& module, const ProtoOptions& options) {
  proto::HloModuleProto message = WriteModule(module, options.exact);
  if (options.wrap) return Serialize(Wrapped(std::move(message)));
  return Serialize(message);
}

std::string ModuleToProtoText(const Module& module,
                              const ProtoOptions& options) {
  proto::HloModuleProto message = WriteModule(module, options.exact);
  std::string text;
  if (options.wrap) {
    google::protobuf::TextFormat::PrintToString(Wrapped(std::move(message)),
                                                &text);
  } else {
    google::protobuf::TextFormat::PrintToString(message, &text);
  }
  return text;
}

absl::StatusOr<std::unique_ptr<Module>> ModuleFromProto(
    absl::string_view bytes) {
  // The library would report on stderr what the status says.
  google::protobuf::LogSilencer silencer;
  // Field 1 is a module in one message and a name in the other: only a module
  // has computations.
  proto::HloProto wrapped;
  const int size = static_cast<int>(bytes.size());
  if (bytes.size() > INT32_MAX) return Invalid("more than 2 GiB of bytes");
  if (wrapped.ParseFromArray(bytes.data(), size) &&
      wrapped.hlo_module().computations_size() > 0) {
    return ReadModule(wrapped.hlo_module());
  }
  proto::HloModuleProto message;
  if (!message.ParseFromArray(bytes.data(), size)) {
    return Invalid("the bytes are neither an HloProto nor an HloModuleProto");
  }
  return ReadModule(message);
}

absl::StatusOr<std::unique_ptr<Module>> ModuleFromProtoText(
    absl::string_view text) {
  ErrorCollector ignored;
  proto::HloProto wrapped;
  if (ParseText(text, &wrapped, &ignored) &&
      wrapped.hlo_module().computations_size() > 0) {
    return ReadModule(wrapped.hlo_module());
  }
  ErrorCollector errors;
  proto::HloModuleProto message;
  if (!ParseText(text, &message, &errors)) {
    return Invalid("not the text of an HloProto or HloModuleProto: ",
                   errors.error());
  }
  return ReadModule(message);
}

bool IsProtoFile(absl::string_view path) {
  return absl::EndsWith(path, ".pb") || absl::EndsWith(path, ".pbtxt") ||
         absl::EndsWith(path, ".txtpb");
}

absl::StatusOr<std::unique_ptr<Module>> ModuleFromProtoFile(
    const std::string& path) {
  RIDGE_ASSIGN_OR_RETURN(const std::string contents, ReadFile(path));
  absl::StatusOr<std::unique_ptr<Module>> module =
      absl::EndsWith(path, ".pb") ? ModuleFromProto(contents)
                                  : ModuleFromProtoText(contents);
  if (!module.ok()) return Annotate(module.status(), path);
  (*module)->set_source_file(path);
  return module;
}

}  // namespace ridge
