// Shapes, layouts and literals to and from XLA's messages.
#ifndef RIDGE_HLO_PROTO_SHAPE_PROTO_H_
#define RIDGE_HLO_PROTO_SHAPE_PROTO_H_

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "hlo/ir/literal.h"
#include "hlo/ir/shape.h"
#include "hlo/proto/xla_data.pb.h"

namespace ridge {

void ShapeToProto(const Shape& shape, proto::ShapeProto* out);
// InvalidArgument for unknown types, negative or absurd sizes, ranks above 64,
// layouts that are no permutation.
absl::StatusOr<Shape> ShapeFromProto(const proto::ShapeProto& in);

void LiteralToProto(const Literal& literal, proto::LiteralProto* out);
// Memory is taken only for values that the message holds. `elided` says that
// they mean nothing; then the message may hold none.
absl::StatusOr<Literal> LiteralFromProto(const proto::LiteralProto& in,
                                         bool elided);

}  // namespace ridge

#endif  // RIDGE_HLO_PROTO_SHAPE_PROTO_H_
