// Attributes that name computations. The message has one list of ids, whose
// order depends on the opcode.
#include <memory>

#include "absl/strings/str_cat.h"
#include "hlo/base/status_macros.h"
#include "hlo/proto/attribute_codec.h"

namespace ridge::proto_internal {
namespace {

using W = WriteContext;
using R = ReadContext;
using V = AttrValue;
using List = std::vector<Computation*>;

int64_t IdOf(const W& w, const Computation* computation) {
  auto it = w.ids.find(computation);
  return it == w.ids.end() ? -1 : it->second;
}

absl::StatusOr<Computation*> Called(const R& c, int k) {
  if (k >= c.message.called_computation_ids_size()) {
    return absl::InvalidArgumentError(
        absl::StrCat(Name(c.instruction->opcode()), " needs ", k + 1,
                     " called_computation_ids, found ",
                     c.message.called_computation_ids_size()));
  }
  const int64_t id = c.message.called_computation_ids(k);
  auto it = c.computations.find(id);
  if (it == c.computations.end()) {
    return absl::InvalidArgumentError(
        absl::StrCat("there is no computation with id ", id,
                     " before the one that calls it"));
  }
  return it->second;
}

// Computation k of the list.
template <int k>
absl::Status ReadOne(const R& c, V* v) {
  RIDGE_ASSIGN_OR_RETURN(Computation * computation, Called(c, k));
  *v = computation;
  return absl::OkStatus();
}

// Ids are written at their place whatever the order of the attributes.
template <int k>
void WriteOne(const W& w, const V& v, Message* m) {
  auto* ids = m->mutable_called_computation_ids();
  while (ids->size() <= k) ids->Add(-1);
  ids->Set(k, IdOf(w, std::get<Computation*>(v)));
}

void WriteList(const W& w, const V& v, Message* m) {
  for (const Computation* computation :
       *std::get<std::shared_ptr<const List>>(v)) {
    m->add_called_computation_ids(IdOf(w, computation));
  }
}

absl::Status ReadList(const R& c, V* v) {
  List list;
  for (int k = 0; k < c.message.called_computation_ids_size(); ++k) {
    RIDGE_ASSIGN_OR_RETURN(Computation * computation, Called(c, k));
    list.push_back(computation);
  }
  *v = std::make_shared<const List>(std::move(list));
  return absl::OkStatus();
}

bool Always(const R&) { return true; }
bool HasOne(const R& c) { return c.message.called_computation_ids_size() > 0; }

// A conditional on pred names its two branches.
bool OnPred(const R& c) {
  return c.instruction->operand_count() > 0 &&
         IsPred(c.instruction->operand(0)->shape().type());
}

const Codec kCodecs[] = {
    {AttrId::kToApply, WriteOne<0>,
     [](const R& c) {
       // Custom calls with several computations have called_computations.
       return c.instruction->opcode() != Opcode::kCustomCall ||
              c.message.called_computation_ids_size() == 1;
     },
     ReadOne<0>},
    {AttrId::kCalledComputations, WriteList,
     [](const R& c) { return c.message.called_computation_ids_size() > 1; },
     ReadList},
    {AttrId::kCalls, WriteOne<0>,
     [](const R& c) {
       return HasOne(c) || c.instruction->opcode() == Opcode::kFusion ||
              c.instruction->opcode() == Opcode::kAsyncStart;
     },
     ReadOne<0>},
    {AttrId::kBody, WriteOne<0>, Always, ReadOne<0>},
    {AttrId::kCondition, WriteOne<1>, Always, ReadOne<1>},
    {AttrId::kSelect, WriteOne<0>, Always, ReadOne<0>},
    {AttrId::kScatter, WriteOne<1>, Always, ReadOne<1>},
    {AttrId::kTrueComputation, WriteOne<0>, OnPred, ReadOne<0>},
    {AttrId::kFalseComputation, WriteOne<1>, OnPred, ReadOne<1>},
    {AttrId::kBranchComputations, WriteList,
     [](const R& c) { return !OnPred(c); }, ReadList},
};

}  // namespace

absl::Span<const Codec> CallCodecs() { return kCodecs; }

}  // namespace ridge::proto_internal
