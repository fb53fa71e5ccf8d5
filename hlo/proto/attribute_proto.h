// Attributes of instructions to and from the fields of XLA's message: a table
// with one row for each attribute. Internal to hlo/proto.
#ifndef RIDGE_HLO_PROTO_ATTRIBUTE_PROTO_H_
#define RIDGE_HLO_PROTO_ATTRIBUTE_PROTO_H_

#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "hlo/ir/module.h"
#include "hlo/proto/hlo.pb.h"

namespace ridge::proto_internal {

using ComputationIds = absl::flat_hash_map<const Computation*, int64_t>;
using ComputationsById = absl::flat_hash_map<int64_t, Computation*>;

// Writes the attributes of `i` into the fields of `out` (opcode, operands and
// shape are the caller's), and what those fields cannot say into out->ridge
// when `exact`.
void WriteAttributes(const Instruction& i, const ComputationIds& ids,
                     bool exact, proto::HloInstructionProto* out);

// Sets the attributes of `i`, whose opcode, operands and shape are there
// already, from the fields of `in`.
absl::Status ReadAttributes(const proto::HloInstructionProto& in,
                            const ComputationsById& computations,
                            Instruction* i);

// The field `literal`, of constants and custom calls, with its spelling.
absl::StatusOr<Literal> ReadLiteral(const proto::HloInstructionProto& in);
void WriteLiteral(const Literal& literal, proto::HloInstructionProto* out);

}  // namespace ridge::proto_internal

#endif  // RIDGE_HLO_PROTO_ATTRIBUTE_PROTO_H_
