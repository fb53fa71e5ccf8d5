#include "backends/kernel/body_writer.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "hlo/base/status_macros.h"

namespace ridge {
namespace {

constexpr int64_t kMaxInt32 = std::numeric_limits<int32_t>::max();

}  // namespace

BodyWriter::BodyWriter(const Kernel& kernel, Dialect dialect)
    : kernel_(kernel),
      dialect_(dialect),
      pool_(*kernel.index),
      index_type_("int32_t"),
      var_count_(static_cast<int64_t>(kernel.vars.size())),
      precision_(PrecisionOf(kernel)) {
  for (int64_t v = 0; v < var_count_; ++v) {
    var_names_.push_back(absl::StrCat("v", v));
    binding_.push_back(-1);
  }
  // Emitters round the space up to whole blocks: leave room for that.
  if (NeedsInt64(kernel) ||
      PointCount(kernel, SpaceMask(kernel)) > kMaxInt32 - (1 << 20)) {
    index_type_ = "int64_t";
  }
  scopes_.emplace_back();
}

bool BodyWriter::IsQuotient(NodeId n) const {
  const Node& node = kernel_.nodes[n];
  return node.kind == NodeKind::kOp && node.opcode == Opcode::kDivide &&
         node.type == ElementType::kF32 && !precision_.exact[n];
}

std::vector<NodeId> BodyWriter::Divisors(
    absl::Span<const NodeId> nodes,
    const std::function<bool(NodeId)>& many) const {
  std::vector<NodeId> divisors;
  if (dialect_ != Dialect::kCuda) return divisors;
  for (NodeId n : nodes) {
    if (!IsQuotient(n) || !many(n)) continue;
    const NodeId divisor = kernel_.nodes[n].operands[1];
    if (!many(divisor)) divisors.push_back(divisor);
  }
  return divisors;
}

absl::Status BodyWriter::EmitReciprocal(NodeId divisor) {
  if (!inverted_.insert(divisor).second) return absl::OkStatus();
  RIDGE_RETURN_IF_ERROR(Emit(divisor));
  Line(absl::StrCat("const rdg_divisor r", divisor, " = rdg_invert(",
                    Name(divisor), ");"));
  scopes_.back().inverted.push_back(divisor);
  return absl::OkStatus();
}

IndexId BodyWriter::NewVar(absl::string_view name, int64_t extent) {
  int64_t number = static_cast<int64_t>(var_names_.size());
  var_names_.emplace_back(name);
  binding_.push_back(-1);
  return pool_.Var(number, extent);
}

void BodyWriter::Bind(int64_t v, IndexId expr) {
  binding_[v] = expr;
  varies_.clear();
}

IndexId BodyWriter::Bound(IndexId expr) {
  return pool_.Substitute(expr, binding_);
}

std::string BodyWriter::Text(IndexId expr) const {
  return pool_.ToString(expr, var_names_);
}

uint64_t BodyWriter::VariesExpr(IndexId expr) {
  uint64_t mask = pool_.VarMask(Bound(expr)) >> var_count_;
  for (int32_t d : pool_.DynamicNodes(expr)) mask |= Varies(d);
  return mask;
}

uint64_t BodyWriter::Varies(NodeId id) {
  auto known = varies_.find(id);
  if (known != varies_.end()) return known->second;
  // Operands precede users: fill in order, without recursion.
  for (NodeId n = 0; n <= id; ++n) {
    if (varies_.contains(n)) continue;
    const Node& node = kernel_.nodes[n];
    uint64_t mask = 0;
    for (NodeId o : node.operands) mask |= varies_[o];
    if (node.guard >= 0) mask |= varies_[node.guard];
    if (node.offset >= 0) {
      mask |= pool_.VarMask(Bound(node.offset)) >> var_count_;
      for (int32_t d : pool_.DynamicNodes(node.offset)) mask |= varies_[d];
    }
    if (node.kind == NodeKind::kReduce) {
      // A fold varies with what it does not fold over: the variables of its
      // operands, seen through the bindings of the variables that remain.
      mask = 0;
      for (int64_t v = 0; v < var_count_; ++v) {
        if (((node.vars >> v) & 1) != 0 && binding_[v] >= 0) {
          mask |= pool_.VarMask(binding_[v]) >> var_count_;
        }
      }
    }
    // Inside a fold's loop nothing is shared with what lies outside of it.
    if ((node.vars >> kernel_.space_vars) != 0) mask = ~uint64_t{0};
    varies_[n] = mask;
  }
  return varies_[id];
}

void BodyWriter::Line(absl::string_view text) {
  text_.append(2 * indent_, ' ');
  absl::StrAppend(&text_, text, "\n");
}

void BodyWriter::Open(absl::string_view line) {
  Line(line);
  ++indent_;
  scopes_.emplace_back();
}

void BodyWriter::Close(absl::string_view line) {
  for (NodeId n : scopes_.back().defined) names_.erase(n);
  for (NodeId n : scopes_.back().inverted) inverted_.erase(n);
  scopes_.pop_back();
  --indent_;
  Line(line);
}

const std::string& BodyWriter::Name(NodeId node) const {
  static const std::string kMissing = "/*missing*/";
  auto it = names_.find(node);
  return it == names_.end() ? kMissing : it->second;
}

bool BodyWriter::InScope(NodeId node) const { return names_.contains(node); }

void BodyWriter::Define(NodeId node, std::string text) {
  if (names_.emplace(node, std::move(text)).second) {
    scopes_.back().defined.push_back(node);
  }
}

std::vector<NodeId> BodyWriter::DirectNeeds(NodeId id) const {
  const Node& node = kernel_.nodes[id];
  std::vector<NodeId> needs(node.operands.begin(), node.operands.end());
  if (node.guard >= 0) needs.push_back(node.guard);
  if (node.offset >= 0) {
    for (int32_t d : pool_.DynamicNodes(node.offset)) needs.push_back(d);
  }
  return needs;
}

std::vector<NodeId> BodyWriter::Needs(absl::Span<const NodeId> roots,
                                      const std::function<bool(NodeId)>& stop) {
  std::vector<char> wanted(kernel_.nodes.size(), 0);
  std::vector<NodeId> stack;
  auto want = [&](NodeId n) {
    if (wanted[n] || InScope(n) || stop(n)) return;
    wanted[n] = 1;
    stack.push_back(n);
  };
  for (NodeId r : roots) want(r);
  while (!stack.empty()) {
    NodeId n = stack.back();
    stack.pop_back();
    for (NodeId d : DirectNeeds(n)) want(d);
  }
  std::vector<NodeId> result;
  for (NodeId n = 0; n < static_cast<NodeId>(wanted.size()); ++n) {
    if (wanted[n]) result.push_back(n);
  }
  return result;
}

absl::Status BodyWriter::Emit(absl::Span<const NodeId> nodes) {
  // A fold's own operands are emitted inside its loop, so the walk stops at
  // folds: they ask for what they need themselves.
  std::vector<char> wanted(kernel_.nodes.size(), 0);
  std::vector<NodeId> stack;
  for (NodeId r : nodes) {
    if (!InScope(r) && !wanted[r]) {
      wanted[r] = 1;
      stack.push_back(r);
    }
  }
  while (!stack.empty()) {
    NodeId n = stack.back();
    stack.pop_back();
    if (kernel_.nodes[n].kind == NodeKind::kReduce) continue;
    for (NodeId d : DirectNeeds(n)) {
      if (!InScope(d) && !wanted[d]) {
        wanted[d] = 1;
        stack.push_back(d);
      }
    }
  }
  for (NodeId n = 0; n < static_cast<NodeId>(wanted.size()); ++n) {
    if (wanted[n] && !InScope(n)) RIDGE_RETURN_IF_ERROR(EmitOne(n));
  }
  return absl::OkStatus();
}

absl::Status BodyWriter::Emit(NodeId node) {
  return Emit(absl::Span<const NodeId>(&node, 1));
}

std::string BodyWriter::BufferName(int32_t buffer) const {
  int inputs = 0;
  for (const KernelBuffer& b : kernel_.buffers) inputs += b.is_output ? 0 : 1;
  return buffer < inputs ? absl::StrCat("in", buffer)
                         : absl::StrCat("out", buffer - inputs);
}

std::string BodyWriter::ParameterText(absl::string_view restrict_kw) const {
  std::vector<std::string> parts;
  // In-place buffers are read and written through two names.
  std::vector<char> aliased(kernel_.buffers.size(), 0);
  for (size_t b = 0; b < kernel_.buffers.size(); ++b) {
    if (kernel_.buffers[b].aliases >= 0) {
      aliased[b] = 1;
      aliased[kernel_.buffers[b].aliases] = 1;
    }
  }
  for (size_t b = 0; b < kernel_.buffers.size(); ++b) {
    const KernelBuffer& buffer = kernel_.buffers[b];
    parts.push_back(absl::StrCat(
        buffer.is_output ? "" : "const ", StorageType(buffer.shape.type()),
        "* ", aliased[b] ? "" : absl::StrCat(restrict_kw, " "),
        BufferName(static_cast<int32_t>(b))));
  }
  return absl::StrJoin(parts, ", ");
}

absl::StatusOr<std::string> BodyWriter::FunctionsText() const {
  std::string text;
  for (size_t f = 0; f < kernel_.functions.size(); ++f) {
    if (kernel_.functions[f].simple.has_value()) continue;
    RIDGE_ASSIGN_OR_RETURN(std::string one,
                           FunctionText(kernel_.functions[f],
                                        absl::StrCat(kernel_.name, "_f", f)));
    text += one;
  }
  return text;
}

std::vector<NodeId> BodyWriter::FoldOf(NodeId reduce) const {
  const Node& node = kernel_.nodes[reduce];
  std::vector<NodeId> results(node.operands.size() / 2, -1);
  for (NodeId n = 0; n < static_cast<NodeId>(kernel_.nodes.size()); ++n) {
    const Node& other = kernel_.nodes[n];
    if (other.kind == NodeKind::kReduce && other.operands == node.operands &&
        other.function == node.function && other.reduced == node.reduced) {
      results[other.result] = n;
    }
  }
  return results;
}

absl::StatusOr<std::string> BodyWriter::CombineStatement(
    const std::vector<NodeId>& group, const std::vector<std::string>& acc,
    const std::vector<std::string>& values) const {
  NodeId any = -1;
  for (NodeId n : group) any = n >= 0 ? n : any;
  const Node& node = kernel_.nodes[any];
  const ScalarFunction& function = kernel_.functions[node.function];
  if (function.simple.has_value() && acc.size() == 1) {
    RIDGE_ASSIGN_OR_RETURN(
        std::string value,
        CombineText(*function.simple, node.type, acc[0], values[0]));
    return absl::StrCat(acc[0], " = ", value, ";");
  }
  std::vector<std::string> results;
  std::string prefix;
  std::string suffix;
  size_t parts = acc.size();
  for (size_t r = 0; r < parts; ++r) {
    std::string temp = absl::StrCat("rdg_t", r);
    ElementType type = kernel_.nodes[node.operands[r]].type;
    absl::StrAppend(&prefix, CarryType(type), " ", temp, "; ");
    absl::StrAppend(&suffix, " ", acc[r], " = ", temp, ";");
    results.push_back(std::move(temp));
  }
  return absl::StrCat("{ ", prefix, kernel_.name, "_f", node.function, "(",
                      absl::StrJoin(acc, ", "), ", ",
                      absl::StrJoin(values, ", "), ", ",
                      absl::StrJoin(results, ", "), ");", suffix, " }");
}

std::string BodyWriter::SplitEquality(const Node& node) {
  if (unrolled_ == 0 || node.opcode != Opcode::kCompare ||
      index_type_ != "int32_t" ||
      (node.direction != ComparisonDirection::kEq &&
       node.direction != ComparisonDirection::kNe)) {
    return "";
  }
  for (int side : {0, 1}) {
    const Node& index = kernel_.nodes[node.operands[side]];
    const NodeId value = node.operands[1 - side];
    if (index.kind != NodeKind::kIndex || Info(index.type).bits != 32 ||
        !IsInteger(index.type) || (Varies(value) & unrolled_) != 0) {
      continue;
    }
    // Modulo 2^32, so that what is compared may be anything.
    IndexId fixed = pool_.Const(0), own = pool_.Const(0);
    const IndexSum sum = pool_.Decompose(Bound(index.offset));
    for (const IndexTerm& term : sum.terms) {
      const bool is_unrolled =
          ((pool_.VarMask(term.atom) >> var_count_) & unrolled_) != 0;
      IndexId& part = is_unrolled ? own : fixed;
      part = pool_.Add(part, pool_.Mul(term.atom, term.factor));
    }
    own = pool_.AddConst(own, sum.constant);
    if (pool_.IsConst(fixed, 0) || pool_.VarMask(own) == 0) return "";
    return absl::StrCat(
        "((uint32_t)", Name(value), " - (uint32_t)(", Text(fixed), ") ",
        node.direction == ComparisonDirection::kEq ? "==" : "!=",
        " (uint32_t)(", Text(own), "))");
  }
  return "";
}

absl::Status BodyWriter::EmitOne(NodeId id) {
  const Node& node = kernel_.nodes[id];
  if (node.kind == NodeKind::kReduce) return EmitReduceLoop(id);
  std::string value;
  switch (node.kind) {
    case NodeKind::kConst:
      // Literals are written where they are used.
      Define(id, ConstText(node.type, node.bits, node.bits_high));
      return absl::OkStatus();
    case NodeKind::kLoad: {
      std::string element = absl::StrCat(BufferName(node.buffer), "[",
                                         Text(Bound(node.offset)), "]");
      value = LoadText(node.type, element);
      if (node.guard >= 0) {
        value = absl::StrCat(Name(node.guard), " ? ", value, " : ",
                             ZeroText(node.type));
      }
      break;
    }
    case NodeKind::kIndex: {
      std::string index =
          absl::StrCat("(int64_t)(", Text(Bound(node.offset)), ")");
      if (index_type_ == "int32_t") {
        index = absl::StrCat("(", Text(Bound(node.offset)), ")");
      }
      Node convert;
      convert.opcode = Opcode::kConvert;
      convert.type = node.type;
      convert.origin = node.origin;
      ElementType from =
          index_type_ == "int32_t" ? ElementType::kS32 : ElementType::kS64;
      RIDGE_ASSIGN_OR_RETURN(value, OpText(convert, {from}, {index}));
      break;
    }
    case NodeKind::kOp: {
      value = SplitEquality(node);
      if (!value.empty()) break;
      std::vector<std::string> operands;
      std::vector<ElementType> types;
      for (NodeId o : node.operands) {
        operands.push_back(Name(o));
        types.push_back(kernel_.nodes[o].type);
      }
      if (IsQuotient(id)) {
        // Within two units in the last place, which HLO's division allows.
        value = inverted_.contains(node.operands[1])
                    ? absl::StrCat("rdg_quotient(", operands[0], ", r",
                                   node.operands[1], ")")
                    : absl::StrCat("rdg_fast_div(", operands[0], ", ",
                                   operands[1], ")");
        break;
      }
      if (precision_.loose[id] && node.type == ElementType::kF32 &&
          (node.opcode == Opcode::kExp || node.opcode == Opcode::kLogistic)) {
        value =
            absl::StrCat(node.opcode == Opcode::kExp ? "rdg_loose_exp("
                                                     : "rdg_loose_logistic(",
                         operands[0], ")");
        break;
      }
      if (dialect_ == Dialect::kHost && node.opcode == Opcode::kConvert &&
          IsPred(types[0]) && IsFloat(node.type)) {
        // The host's compiler has no vector form of a bool as a float.
        value = absl::StrCat("(", operands[0], " ? (", CarryType(node.type),
                             ")1 : (", CarryType(node.type), ")0)");
        break;
      }
      RIDGE_ASSIGN_OR_RETURN(value, OpText(node, types, operands));
      break;
    }
    case NodeKind::kParameter:
      return absl::InternalError("a parameter outside a scalar function");
    case NodeKind::kReduce:
      break;
  }
  std::string comment;
  if (node.origin != nullptr) {
    comment = absl::StrCat("  // ", std::string(node.origin->name()));
  }
  Line(absl::StrCat("const ", CarryType(node.type), " n", id, " = ", value, ";",
                    comment));
  // Dynamic indices are spelled d<n> in index text.
  if (IsInteger(node.type)) {
    Line(absl::StrCat("const ", index_type_, " d", id, " = (", index_type_,
                      ")n", id, ";"));
  }
  Define(id, absl::StrCat("n", id));
  return absl::OkStatus();
}

// Nodes of a fold's step.
constexpr size_t kShortFold = 12;

absl::Status BodyWriter::EmitReduceLoop(NodeId id) {
  const Node& node = kernel_.nodes[id];
  std::vector<NodeId> fold = FoldOf(id);
  size_t parts = node.operands.size() / 2;
  std::vector<NodeId> values(node.operands.begin(),
                             node.operands.begin() + parts);
  std::vector<NodeId> inits(node.operands.begin() + parts, node.operands.end());
  RIDGE_RETURN_IF_ERROR(Emit(inits));
  // What does not change inside the loop is computed before it; but what a
  // fold inside this one needs in its own loop stays there.
  auto before = [&](NodeId m) {
    const uint64_t inner = kernel_.nodes[m].vars & ~SpaceMask(kernel_);
    return (kernel_.nodes[m].vars & node.reduced) == 0 &&
           (inner & ~loop_vars_) == 0;
  };
  std::vector<NodeId> outside;
  for (NodeId n : Needs(values, before)) {
    for (NodeId d : DirectNeeds(n)) {
      if (before(d)) outside.push_back(d);
    }
  }
  RIDGE_RETURN_IF_ERROR(Emit(outside));
  std::vector<std::string> acc;
  for (size_t r = 0; r < parts; ++r) {
    std::string name = fold[r] >= 0 ? absl::StrCat("n", fold[r])
                                    : absl::StrCat("n", id, "_r", r);
    Line(absl::StrCat(CarryType(kernel_.nodes[values[r]].type), " ", name,
                      " = ", Name(inits[r]), ";"));
    acc.push_back(std::move(name));
  }
  const uint64_t around = loop_vars_;
  loop_vars_ |= node.reduced;
  int opened = 0;
  // Loads of several steps at once, where a step is short.
  const bool is_short =
      Needs(values, [&](NodeId m) {
        return before(m) || kernel_.nodes[m].kind == NodeKind::kReduce;
      }).size() <= kShortFold;
  for (int64_t v = 0; v < var_count_; ++v) {
    if (((node.reduced >> v) & 1) == 0) continue;
    const bool is_last = (node.reduced >> v) == 1;
    if (dialect_ == Dialect::kCuda && is_last && is_short) {
      Line("#pragma unroll 8");
    }
    Open(absl::StrCat("for (", index_type_, " v", v, " = 0; v", v, " < ",
                      kernel_.vars[v].extent, "; ++v", v, ") {"));
    ++opened;
  }
  RIDGE_RETURN_IF_ERROR(Emit(values));
  std::vector<std::string> names;
  for (NodeId v : values) names.push_back(Name(v));
  RIDGE_ASSIGN_OR_RETURN(std::string combine,
                         CombineStatement(fold, acc, names));
  Line(combine);
  while (opened-- > 0) Close("}");
  loop_vars_ = around;
  for (size_t r = 0; r < parts; ++r) {
    if (fold[r] >= 0) Define(fold[r], acc[r]);
  }
  return absl::OkStatus();
}

absl::Status BodyWriter::EmitStoreNeeds(const Store& store) {
  std::vector<NodeId> needs = {store.value};
  if (store.guard >= 0) needs.push_back(store.guard);
  for (int32_t d : pool_.DynamicNodes(store.offset)) needs.push_back(d);
  return Emit(needs);
}

absl::Status BodyWriter::EmitStore(const Store& store) {
  RIDGE_RETURN_IF_ERROR(EmitStoreNeeds(store));
  ElementType type = kernel_.buffers[store.buffer].shape.type();
  std::string element = absl::StrCat(BufferName(store.buffer), "[",
                                     Text(Bound(store.offset)), "]");
  if (store.guard >= 0) Open(absl::StrCat("if (", Name(store.guard), ") {"));
  if (store.combine >= 0) {
    RIDGE_RETURN_IF_ERROR(EmitUpdate(store, type, element));
  } else {
    Line(absl::StrCat(element, " = ", StoreText(type, Name(store.value)), ";"));
  }
  if (store.guard >= 0) Close("}");
  return absl::OkStatus();
}

absl::Status BodyWriter::EmitUpdate(const Store& store, ElementType type,
                                    const std::string& element) {
  const ScalarFunction& f = kernel_.functions[store.combine];
  std::string carry(CarryType(type));
  std::string storage(StorageType(type));
  auto combine = [&](const std::string& old) -> absl::StatusOr<std::string> {
    if (f.simple.has_value()) {
      RIDGE_ASSIGN_OR_RETURN(
          std::string value,
          CombineText(*f.simple, type, old, Name(store.value)));
      return absl::StrCat("const ", carry, " updated = ", value, ";");
    }
    return absl::StrCat(carry, " updated; ", kernel_.name, "_f", store.combine,
                        "(", old, ", ", Name(store.value), ", updated);");
  };
  RIDGE_ASSIGN_OR_RETURN(std::string update, combine("old"));
  bool atomic = !store.unique && dialect_ == Dialect::kCuda;
  if (!atomic) {
    Open("{");
    Line(
        absl::StrCat("const ", carry, " old = ", LoadText(type, element), ";"));
    Line(update);
    Line(absl::StrCat(element, " = ", StoreText(type, "updated"), ";"));
    Close("}");
    return absl::OkStatus();
  }
  // Compare and swap until nobody was in between.
  Open("{");
  Line(absl::StrCat(storage, " seen = ", element, ";"));
  Open("while (true) {");
  Line(absl::StrCat("const ", carry, " old = ", LoadText(type, "seen"), ";"));
  Line(update);
  Line(absl::StrCat("const ", storage, " next = ", StoreText(type, "updated"),
                    ";"));
  Line(absl::StrCat("const ", storage, " found = rdg_cas(&", element,
                    ", seen, next);"));
  Line("if (rdg_same(found, seen)) break;");
  Line("seen = found;");
  Close("}");
  Close("}");
  return absl::OkStatus();
}

}  // namespace ridge
