// Rules between the parts of one instruction that XLA's parser enforces by
// itself, whether or not the module is verified later.
#include "absl/strings/str_cat.h"
#include "hlo/text/parser_impl.h"

namespace ridge {
namespace {

int64_t LeafCount(const Shape& shape) {
  int64_t leaves = 0;
  ForEachLeaf(shape, [&](const Shape&, const ShapeIndex&) { ++leaves; });
  return leaves;
}

bool IsAsync(Opcode opcode) {
  return opcode == Opcode::kAsyncStart || opcode == Opcode::kAsyncUpdate ||
         opcode == Opcode::kAsyncDone;
}

}  // namespace

bool Parser::CheckInstruction(const Draft& draft) {
  if (draft.seen[static_cast<size_t>(AttrId::kParameterReplication)] &&
      !CheckParameterReplication(draft)) {
    return false;
  }
  // Of attributes that exclude each other at most one may be there.
  absl::Span<const AttrId> exclusive = ExclusiveAttrs(draft.opcode);
  const AttrId* first = nullptr;
  for (const AttrId& id : exclusive) {
    if (!draft.seen[static_cast<size_t>(id)]) continue;
    if (first != nullptr) {
      return s_.Fail(draft.At(id), "attribute-conflict",
                     absl::StrCat("`", Name(*first), "` and `", Name(id),
                                  "` exclude each other"));
    }
    first = &id;
  }
  switch (draft.opcode) {
    case Opcode::kInfeed:
      if (draft.shape->IsTuple() && !draft.shape->tuple_shapes().empty()) {
        return true;
      }
      return s_.Fail(draft.start, "infeed",
                     absl::StrCat("the shape of an infeed is a tuple (data, "
                                  "token), found ",
                                  draft.shape->ToString()));
    case Opcode::kBroadcast:
      if (draft.seen[static_cast<size_t>(AttrId::kDimensions)] ||
          draft.operands[0]->shape().IsScalar()) {
        return true;
      }
      return s_.Fail(draft.attributes_at, "attribute-missing",
                     "`broadcast` of a non-scalar needs the attribute "
                     "`dimensions`");
    case Opcode::kCustomCall:
      return CheckCustomCall(draft);
    case Opcode::kConditional:
      return CheckConditional(draft);
    case Opcode::kCollectivePermute:
    case Opcode::kCollectivePermuteStart:
    case Opcode::kAllReduce:
    case Opcode::kAllReduceStart:
    case Opcode::kReduceScatter:
      return CheckCollective(draft);
    default:
      return !IsAsync(draft.opcode) || CheckAsync(draft);
  }
}

bool Parser::CheckParameterReplication(const Draft& draft) {
  if (draft.shape == nullptr) return true;
  absl::string_view text =
      std::get<absl::string_view>(*draft.Find(AttrId::kParameterReplication));
  // {true,false}: one more value than commas.
  int64_t values = text.find('e') == absl::string_view::npos ? 0 : 1;
  for (char c : text) values += c == ',' ? 1 : 0;
  int64_t leaves = LeafCount(*draft.shape);
  if (values == leaves) return true;
  return s_.Fail(draft.At(AttrId::kParameterReplication),
                 "parameter_replication",
                 absl::StrCat("the shape has ", leaves,
                              " leaf buffers, parameter_replication has ",
                              values, " values"));
}

bool Parser::CheckCustomCall(const Draft& draft) {
  if (const AttrValue* v = draft.Find(AttrId::kApiVersion);
      v != nullptr && std::get<EnumValue>(*v).value == 0) {
    return s_.Fail(draft.At(AttrId::kApiVersion), "api_version",
                   "API_VERSION_UNSPECIFIED cannot be asked for");
  }
  const AttrValue* v = draft.Find(AttrId::kOperandLayoutConstraints);
  if (v == nullptr) return true;
  const auto& constraints =
      *std::get<std::shared_ptr<const std::vector<Shape>>>(*v);
  const char* at = draft.At(AttrId::kOperandLayoutConstraints);
  if (constraints.size() != draft.operands.size()) {
    return s_.Fail(at, "operand_layout_constraints",
                   absl::StrCat("expected a constraint for each of ",
                                draft.operands.size(), " operands, found ",
                                constraints.size()));
  }
  for (size_t i = 0; i < constraints.size(); ++i) {
    const Shape& shape = draft.operands[i]->shape();
    if (SameUpToDynamic(shape, constraints[i])) continue;
    return s_.Fail(
        at, "operand_layout_constraints",
        absl::StrCat("constraint ", i, " is ", constraints[i].ToString(),
                     ", operand ", i, " is ", shape.ToString()));
  }
  return true;
}

bool Parser::CheckConditional(const Draft& draft) {
  constexpr absl::string_view kRule = "conditional";
  if (draft.operands.empty()) {
    return s_.Fail(draft.operands_at, kRule,
                   "`conditional` needs an operand to choose by");
  }
  const Shape& index = draft.operands[0]->shape();
  if (!index.IsScalar() ||
      (!IsPred(index.type()) && index.type() != ElementType::kS32)) {
    return s_.Fail(draft.operands_at, kRule,
                   absl::StrCat("the first operand chooses the branch: it "
                                "must be pred[] or s32[], found ",
                                index.ToString()));
  }
  absl::Span<const absl::Span<const AttrId>> alternatives =
      AttrAlternatives(draft.opcode);
  absl::Span<const AttrId> wanted = alternatives[IsPred(index.type()) ? 0 : 1];
  absl::Span<const AttrId> other = alternatives[IsPred(index.type()) ? 1 : 0];
  for (AttrId id : other) {
    if (!draft.seen[static_cast<size_t>(id)]) continue;
    return s_.Fail(draft.At(id), kRule,
                   absl::StrCat("`", Name(id), "` does not go with a ",
                                index.ToString(), " first operand"));
  }
  for (AttrId id : wanted) {
    if (draft.seen[static_cast<size_t>(id)]) continue;
    return s_.Fail(draft.attributes_at, "attribute-missing",
                   absl::StrCat("`conditional` on ", index.ToString(),
                                " needs the attribute `", Name(id), "`"));
  }
  size_t branches = 2;
  if (const AttrValue* v = draft.Find(AttrId::kBranchComputations)) {
    branches =
        std::get<std::shared_ptr<const std::vector<Computation*>>>(*v)->size();
  }
  if (branches == 0) {
    return s_.Fail(draft.At(AttrId::kBranchComputations), kRule,
                   "`conditional` needs at least one branch");
  }
  if (draft.operands.size() == branches + 1) return true;
  return s_.Fail(
      draft.operands_at, "operand-count",
      absl::StrCat("`conditional` with ", branches, " branches takes ",
                   branches + 1, " operands, found ", draft.operands.size()));
}

bool Parser::CheckCollective(const Draft& draft) {
  if (const AttrValue* v = draft.Find(AttrId::kSourceTargetPairs)) {
    for (const auto& pair : *std::get<std::shared_ptr<const IntLists>>(*v)) {
      if (pair.size() == 2) continue;
      return s_.Fail(draft.At(AttrId::kSourceTargetPairs),
                     "source_target_pairs",
                     absl::StrCat("expected pairs {source,target}, found a "
                                  "list of ",
                                  pair.size()));
    }
  }
  const AttrValue* global = draft.Find(AttrId::kUseGlobalDeviceIds);
  if (global != nullptr && std::get<bool>(*global) &&
      draft.Find(AttrId::kChannelId) == nullptr &&
      draft.Find(AttrId::kMode) == nullptr) {
    return s_.Fail(draft.At(AttrId::kUseGlobalDeviceIds),
                   "use_global_device_ids",
                   "use_global_device_ids=true needs a channel_id");
  }
  return true;
}

}  // namespace ridge
