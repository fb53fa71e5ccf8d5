// sort and topk. A merge sort of our own: it is stable, and a comparator that
// is no order (NaN under <, or anything a user writes) cannot lead it astray.
#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "hlo/base/status_macros.h"
#include "hlo/evaluator/elementwise.h"
#include "hlo/evaluator/handlers.h"
#include "hlo/evaluator/strided.h"

namespace ridge {
namespace eval {
namespace {

// Sorts order[0..n) so that less(b, a) holds for no neighbours a, b.
template <typename Less>
void MergeSort(int64_t* order, int64_t* scratch, int64_t n, const Less& less) {
  constexpr int64_t kRun = 8;
  for (int64_t b = 0; b < n; b += kRun) {
    const int64_t e = std::min(n, b + kRun);
    for (int64_t i = b + 1; i < e; ++i) {
      int64_t x = order[i];
      int64_t j = i;
      for (; j > b && less(x, order[j - 1]); --j) order[j] = order[j - 1];
      order[j] = x;
    }
  }
  int64_t* from = order;
  int64_t* to = scratch;
  for (int64_t run = kRun; run < n; run *= 2) {
    for (int64_t b = 0; b < n; b += 2 * run) {
      const int64_t m = std::min(n, b + run);
      const int64_t e = std::min(n, b + 2 * run);
      int64_t i = b;
      int64_t j = m;
      for (int64_t k = b; k < e; ++k) {
        if (j >= e || (i < m && !less(from[j], from[i]))) {
          to[k] = from[i++];
        } else {
          to[k] = from[j++];
        }
      }
    }
    std::swap(from, to);
  }
  if (from != order) std::copy_n(from, n, order);
}

// One line of a literal as lanes.
struct Line {
  std::vector<uint8_t> stored;
  std::vector<uint8_t> lanes;
  int width;  // stored
  int lane_width;
  LaneFn load;
  const uint8_t* at(int64_t i) const { return data() + i * lane_width; }
  const uint8_t* data() const {
    return load == nullptr ? stored.data() : lanes.data();
  }
};

Line MakeLine(ElementType type, int64_t n) {
  Line line;
  line.width = StorageBytes(type);
  line.lane_width = LaneBytes(LaneOf(type));
  line.load = LoadFn(type);
  line.stored.resize(n * line.width);
  if (line.load != nullptr) line.lanes.resize(n * line.lane_width);
  return line;
}

void ReadLine(const uint8_t* base, int64_t stride, int64_t n, Line* line) {
  const int w = line->width;
  for (int64_t i = 0; i < n; ++i) {
    std::memcpy(line->stored.data() + i * w, base + i * stride * w, w);
  }
  if (line->load != nullptr) {
    line->load(line->stored.data(), line->lanes.data(), n);
  }
}

template <typename T>
void SortByKey(const T* keys, bool less, int64_t* order, int64_t* scratch,
               int64_t n) {
  if (less) {
    MergeSort(order, scratch, n,
              [&](int64_t a, int64_t b) { return keys[a] < keys[b]; });
  } else {
    MergeSort(order, scratch, n,
              [&](int64_t a, int64_t b) { return keys[a] > keys[b]; });
  }
}

template <typename Int, typename Float>
void SortByTotalOrder(const Float* keys, bool less, int64_t* order,
                      int64_t* scratch, int64_t n) {
  std::vector<Int> ordered(n);
  using Unsigned = std::make_unsigned_t<Int>;
  for (int64_t i = 0; i < n; ++i) {
    Int b;
    std::memcpy(&b, &keys[i], sizeof(b));
    ordered[i] =
        b ^ static_cast<Int>(
                static_cast<Unsigned>(b >> (8 * sizeof(Int) - 1)) >> 1);
  }
  SortByKey(ordered.data(), less, order, scratch, n);
}

// False where the lane has no order.
bool SortLine(const ScalarProgram::SimpleCompare& compare, Lane lane,
              const uint8_t* keys, int64_t* order, int64_t* scratch,
              int64_t n) {
  const bool less = compare.direction == ComparisonDirection::kLt;
  switch (lane) {
    case Lane::kPred:
      SortByKey(keys, less, order, scratch, n);
      return true;
    case Lane::kS32:
      SortByKey(reinterpret_cast<const int32_t*>(keys), less, order, scratch,
                n);
      return true;
    case Lane::kU32:
      SortByKey(reinterpret_cast<const uint32_t*>(keys), less, order, scratch,
                n);
      return true;
    case Lane::kS64:
      SortByKey(reinterpret_cast<const int64_t*>(keys), less, order, scratch,
                n);
      return true;
    case Lane::kU64:
      SortByKey(reinterpret_cast<const uint64_t*>(keys), less, order, scratch,
                n);
      return true;
    case Lane::kF32:
      if (compare.total_order) {
        SortByTotalOrder<int32_t>(reinterpret_cast<const float*>(keys), less,
                                  order, scratch, n);
      } else {
        SortByKey(reinterpret_cast<const float*>(keys), less, order, scratch,
                  n);
      }
      return true;
    case Lane::kF64:
      if (compare.total_order) {
        SortByTotalOrder<int64_t>(reinterpret_cast<const double*>(keys), less,
                                  order, scratch, n);
      } else {
        SortByKey(reinterpret_cast<const double*>(keys), less, order, scratch,
                  n);
      }
      return true;
    default:
      return false;
  }
}

absl::Status CheckSort(const Op& op, int64_t count) {
  if (count < 1) return Invalid("takes operands, has none");
  const Shape& first = op.in(0).shape();
  for (int64_t k = 0; k < count; ++k) {
    if (!op.in(k).shape().IsArray()) {
      return Invalid("operand ", k, " is not an array");
    }
    RIDGE_RETURN_IF_ERROR(
        CheckDims(absl::StrCat("operand ", k), op.in(k).shape(), first.dims()));
    const bool tuple = op.shape.IsTuple();
    if (tuple ? static_cast<int64_t>(op.shape.tuple_shapes().size()) != count
              : count != 1) {
      return Invalid("the result has shape ", op.shape.ToString());
    }
    const Shape& result = tuple ? op.shape.tuple_shape(k) : op.shape;
    if (!result.Compatible(op.in(k).shape())) {
      return Invalid("result ", k, " has shape ", result.ToString());
    }
  }
  return op.interpreter.CheckFits(op.shape);
}

}  // namespace

absl::StatusOr<SortLines> SortLinesOf(const Op& op) {
  RIDGE_RETURN_IF_ERROR(CheckSort(op, op.count()));
  const Shape& shape = op.in(0).shape();
  Ints dims = op.instruction.dimensions();
  if (dims.size() != 1 || dims[0] < 0 || dims[0] >= shape.rank() ||
      op.instruction.to_apply() == nullptr) {
    return Invalid("takes one dimension and a comparator");
  }
  SortLines lines;
  lines.dim = dims[0];
  lines.length = shape.dim(lines.dim);
  lines.stride = RowMajorStrides(shape.dims())[lines.dim];
  lines.lines = lines.length == 0 ? 0 : shape.ElementCount() / lines.length;
  return lines;
}

namespace {

// The comparator on positions of the current line, by interpreting it.
class CalledComparator {
 public:
  CalledComparator(const Op& op, const std::vector<Line>& lines)
      : op_(op), lines_(lines) {}
  bool operator()(int64_t a, int64_t b) {
    if (!status_.ok()) return false;
    std::vector<Literal> arguments;
    for (int64_t k = 0; k < op_.count(); ++k) {
      for (int64_t i : {a, b}) {
        const uint8_t* p = lines_[k].stored.data() + i * lines_[k].width;
        arguments.push_back(
            Literal::FromBytes(Shape::Scalar(op_.in(k).shape().type()),
                               std::vector<uint8_t>(p, p + lines_[k].width)));
      }
    }
    absl::StatusOr<Literal> value =
        op_.interpreter.Run(*op_.instruction.to_apply(), std::move(arguments));
    if (value.ok() &&
        !(value->shape().IsScalar() && IsPred(value->shape().type()))) {
      value = Invalid("the comparator gives ", value->shape().ToString());
    }
    if (!value.ok()) {
      status_ = value.status();
      return false;
    }
    return value->data<uint8_t>()[0] != 0;
  }
  const absl::Status& status() const { return status_; }

 private:
  const Op& op_;
  const std::vector<Line>& lines_;
  absl::Status status_;
};

// Sorts lines [begin, end) into `order`.
absl::Status OrderLines(const Op& op, const SortLines& lines,
                        const ScalarProgram* program, int64_t begin,
                        int64_t end, int64_t* orders) {
  const int64_t count = op.count();
  const int64_t n = lines.length;
  std::vector<Line> line;
  for (int64_t k = 0; k < count; ++k) {
    line.push_back(MakeLine(op.in(k).shape().type(), n));
  }
  std::vector<int64_t> scratch(n);
  std::unique_ptr<ScalarProgram::Workspace> workspace;
  std::vector<const void*> in(2 * count);
  if (program != nullptr) {
    workspace = std::make_unique<ScalarProgram::Workspace>(*program, 1);
  }
  auto program_less = [&](int64_t a, int64_t b) {
    for (int64_t k = 0; k < count; ++k) {
      in[2 * k] = line[k].at(a);
      in[2 * k + 1] = line[k].at(b);
    }
    const void* out[1];
    program->Run(workspace.get(), in, 1, out);
    return *static_cast<const uint8_t*>(out[0]) != 0;
  };
  for (int64_t l = begin; l < end; ++l) {
    int64_t* order = orders + l * n;
    for (int64_t k = 0; k < count; ++k) {
      ReadLine(op.in(k).bytes() + lines.at(l, 0) * line[k].width, lines.stride,
               n, &line[k]);
    }
    for (int64_t i = 0; i < n; ++i) order[i] = i;
    if (program == nullptr) {
      CalledComparator less(op, line);
      MergeSort(order, scratch.data(), n,
                [&](int64_t a, int64_t b) { return less(a, b); });
      RIDGE_RETURN_IF_ERROR(less.status());
      continue;
    }
    if (program->simple_compare().has_value()) {
      const auto& compare = *program->simple_compare();
      if (SortLine(compare, LaneOf(op.in(compare.operand).shape().type()),
                   line[compare.operand].data(), order, scratch.data(), n)) {
        continue;
      }
    }
    MergeSort(order, scratch.data(), n, program_less);
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::vector<int64_t>> SortOrder(const Op& op) {
  RIDGE_ASSIGN_OR_RETURN(SortLines lines, SortLinesOf(op));
  const int64_t count = op.count();
  const ScalarProgram* program =
      op.interpreter.Program(*op.instruction.to_apply());
  if (program != nullptr) {
    bool agree =
        static_cast<int64_t>(program->parameters().size()) == 2 * count &&
        program->results().size() == 1 && IsPred(program->results()[0]);
    for (int64_t k = 0; agree && k < count; ++k) {
      Lane lane = LaneOf(op.in(k).shape().type());
      agree = LaneOf(program->parameters()[2 * k]) == lane &&
              LaneOf(program->parameters()[2 * k + 1]) == lane;
    }
    if (!agree) return Invalid("the comparator does not match the operands");
  }
  std::vector<int64_t> orders(lines.lines * lines.length);
  if (program == nullptr) {
    // Interpreting the comparator is not for many threads at once.
    RIDGE_RETURN_IF_ERROR(
        OrderLines(op, lines, program, 0, lines.lines, orders.data()));
    return orders;
  }
  const int64_t grain =
      std::max<int64_t>(1, 4096 / std::max<int64_t>(1, lines.length));
  op.interpreter.Parallel(0, lines.lines, grain, [&](int64_t b, int64_t e) {
    // A program cannot fail.
    OrderLines(op, lines, program, b, e, orders.data()).IgnoreError();
  });
  return orders;
}

absl::StatusOr<Literal> EvalSort(const Op& op) {
  RIDGE_ASSIGN_OR_RETURN(SortLines lines, SortLinesOf(op));
  RIDGE_ASSIGN_OR_RETURN(std::vector<int64_t> orders, SortOrder(op));
  std::vector<Literal> results;
  for (int64_t k = 0; k < op.count(); ++k) {
    const Literal& in = op.in(k);
    results.push_back(Literal::Zeros(in.shape()));
    uint8_t* out = results.back().mutable_bytes();
    const int w = StorageBytes(in.shape().type());
    for (int64_t l = 0; l < lines.lines; ++l) {
      const int64_t* order = orders.data() + l * lines.length;
      for (int64_t i = 0; i < lines.length; ++i) {
        std::memcpy(out + lines.at(l, i) * w,
                    in.bytes() + lines.at(l, order[i]) * w, w);
      }
    }
  }
  if (!op.shape.IsTuple()) return std::move(results[0]);
  return Literal::Tuple(std::move(results));
}

// The k largest (or smallest) of each last-dimension line and where they are,
// best first; of equals, the one that comes first. Floats in total order.
absl::StatusOr<Literal> EvalTopK(const Op& op) {
  if (op.count() < 1 || !op.in(0).shape().IsArray() ||
      op.in(0).shape().rank() < 1 || !op.shape.IsTuple() ||
      op.shape.tuple_shapes().size() != 2) {
    return Invalid("takes an array and gives (values, indices)");
  }
  const Shape& from = op.in(0).shape();
  const Shape& values_shape = op.shape.tuple_shape(0);
  const Shape& indices_shape = op.shape.tuple_shape(1);
  const int64_t n = from.dims().back();
  DimVector dims(from.dims().begin(), from.dims().end());
  dims.back() = values_shape.IsArray() && values_shape.rank() == from.rank()
                    ? values_shape.dims().back()
                    : -1;
  RIDGE_RETURN_IF_ERROR(CheckDims("values", values_shape, dims));
  RIDGE_RETURN_IF_ERROR(CheckDims("indices", indices_shape, dims));
  const int64_t k = dims.back();
  if (k > n || values_shape.type() != from.type() ||
      !IsInteger(indices_shape.type())) {
    return Invalid("the top ", k, " of ", from.ToString());
  }
  RIDGE_RETURN_IF_ERROR(op.interpreter.CheckFits(op.shape));
  ScalarProgram::SimpleCompare compare;
  compare.direction = op.instruction.bool_attr(AttrId::kLargest, true)
                          ? ComparisonDirection::kGt
                          : ComparisonDirection::kLt;
  compare.total_order = true;
  const Lane lane = LaneOf(from.type());
  Literal values = Literal::Zeros(values_shape);
  Literal indices = Literal::Zeros(indices_shape);
  const int64_t lines = n == 0 ? 0 : from.ElementCount() / n;
  Line line = MakeLine(from.type(), n);
  std::vector<int64_t> order(n);
  std::vector<int64_t> scratch(n);
  const int w = line.width;
  for (int64_t l = 0; l < lines; ++l) {
    ReadLine(op.in(0).bytes() + l * n * w, 1, n, &line);
    for (int64_t i = 0; i < n; ++i) order[i] = i;
    if (!SortLine(compare, lane, line.data(), order.data(), scratch.data(),
                  n)) {
      return Unsupported("topk of type ", Name(from.type()));
    }
    for (int64_t i = 0; i < k; ++i) {
      std::memcpy(values.mutable_bytes() + (l * k + i) * w,
                  line.stored.data() + order[i] * w, w);
      SetDouble(&indices, l * k + i, static_cast<double>(order[i]));
    }
  }
  return Literal::Tuple({std::move(values), std::move(indices)});
}

}  // namespace eval
}  // namespace ridge
