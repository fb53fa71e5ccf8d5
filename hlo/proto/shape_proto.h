// Shapes, layouts and literals to and from XLA's messages.
#ifndef RIDGE_HLO_PROTO_SHAPE_PROTO_H_
#define RIDGE_HLO_PROTO_SHAPE_PROTO_H_

#include <vector>

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

// How the text of a literal differs from its values: by leaf, in order.
struct LiteralSpelling {
  std::vector<int> elided;
  std::vector<int> abbreviated;
};

void LiteralToProto(const Literal& literal, proto::LiteralProto* out,
                    LiteralSpelling* spelling = nullptr);
// Memory is taken only for values that the message holds; elided leaves may
// have none.
absl::StatusOr<Literal> LiteralFromProto(const proto::LiteralProto& in,
                                         const LiteralSpelling& spelling = {});

}  // namespace ridge

#endif  // RIDGE_HLO_PROTO_SHAPE_PROTO_H_
