// reduce-window and select-and-scatter.
#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "hlo/base/status_macros.h"
#include "hlo/evaluator/elementwise.h"
#include "hlo/evaluator/handlers.h"
#include "hlo/evaluator/reduce.h"
#include "hlo/evaluator/strided.h"
#include "hlo/evaluator/window.h"

namespace ridge {
namespace eval {
namespace {

// One dimension of a window reduced: `in` holds accumulators of `in_dims`;
// along `d` the result has out_size.
Literal ReduceOneDimension(const Interpreter& interpreter,
                           const Reducer& reducer, const Literal& in, int64_t d,
                           const WindowDimension& w, int64_t out_size) {
  const Shape& from = in.shape();
  DimVector dims(from.dims().begin(), from.dims().end());
  dims[d] = out_size;
  Literal out = Literal::Zeros(Shape::Array(from.type(), dims));
  const int64_t inner = RowMajorStrides(from.dims())[d];
  const int64_t size = from.dim(d);
  const int64_t outer = Product(from.dims().subspan(0, d));
  const int width = StorageBytes(from.type());
  if (out.shape().ElementCount() == 0) return out;
  uint8_t* dst = out.mutable_bytes();
  const bool dense = w.window_dilation == 1 && w.base_dilation == 1;
  const int64_t grain =
      std::max<int64_t>(1, (1 << 15) / std::max<int64_t>(1, w.size * inner));
  interpreter.Parallel(0, outer * out_size, grain, [&](int64_t b, int64_t e) {
    for (int64_t t = b; t < e; ++t) {
      const int64_t o = t % out_size;
      const uint8_t* src = in.bytes() + t / out_size * size * inner * width;
      uint8_t* acc = dst + t * inner * width;
      reducer.clear(acc, inner);
      if (dense && inner == 1) {
        int64_t first = o * w.stride - w.padding_low;
        const int64_t last = std::min(size, first + w.size);
        first = std::max<int64_t>(first, 0);
        if (first < last) {
          reducer.fold_accumulators(acc, src + first * width, last - first);
        }
        continue;
      }
      int64_t first;
      int64_t last;
      WindowRange(w, size, o, &first, &last);
      for (int64_t k = first; k < last; ++k) {
        const int64_t at = WindowPosition(w, size, o, k);
        if (at < 0) continue;
        reducer.combine(acc, src + at * inner * width, inner);
      }
    }
  });
  return out;
}

// A scalar computation of 2N scalars to N, applied to one set at a time.
class Caller {
 public:
  Caller(const Interpreter& interpreter, const ScalarProgram& program)
      : program_(program), workspace_(program, 1) {
    in_.resize(program.parameters().size());
    out_.resize(program.results().size());
    lanes_.resize(program.parameters().size() * 16 + 16);
  }
  // Lanes of parameter k, to be filled.
  uint8_t* lane(int64_t k) { return lanes_.data() + k * 16; }
  void Load(int64_t k, const Literal& from, int64_t i) {
    ElementType type = from.shape().type();
    const int width = StorageBytes(type);
    LaneFn load = LoadFn(type);
    const uint8_t* src = from.bytes() + i * width;
    if (load != nullptr) {
      load(src, lane(k), 1);
    } else {
      std::memcpy(lane(k), src, width);
    }
  }
  void Run() {
    for (size_t k = 0; k < in_.size(); ++k) in_[k] = lane(k);
    program_.Run(&workspace_, in_, 1, absl::MakeSpan(out_));
  }
  const void* out(int64_t k) const { return out_[k]; }
  // The results become the first parameters of the next call.
  void Feedback() {
    uint8_t copy[16];
    std::vector<uint8_t> all(out_.size() * 16);
    for (size_t k = 0; k < out_.size(); ++k) {
      const int width = LaneBytes(LaneOf(program_.results()[k]));
      std::memcpy(copy, out_[k], width);
      std::memcpy(all.data() + k * 16, copy, width);
    }
    for (size_t k = 0; k < out_.size(); ++k) {
      std::memcpy(lane(k), all.data() + k * 16, 16);
    }
  }

 private:
  const ScalarProgram& program_;
  ScalarProgram::Workspace workspace_;
  std::vector<uint8_t> lanes_;
  std::vector<const void*> in_;
  std::vector<const void*> out_;
};

void StoreLane(const void* lane, ElementType type, uint8_t* to) {
  LaneFn store = StoreFn(type);
  if (store != nullptr) {
    store(lane, to, 1);
  } else {
    std::memcpy(to, lane, StorageBytes(type));
  }
}

absl::Status CheckWork(int64_t windows, absl::Span<const int64_t> sizes) {
  const int64_t steps = SaturatingMul(windows, Product(sizes));
  if (steps <= kMostWindowSteps) return absl::OkStatus();
  return absl::ResourceExhaustedError(
      absl::StrCat(windows, " windows of ", Product(sizes), " elements"));
}

absl::Status CheckProgram(const ScalarProgram* program, int64_t parameters,
                          int64_t results) {
  if (program == nullptr) {
    return Unsupported("a computation that is not elementwise on scalars");
  }
  if (static_cast<int64_t>(program->parameters().size()) != parameters ||
      static_cast<int64_t>(program->results().size()) != results) {
    return Invalid("the computation takes ", program->parameters().size(),
                   " scalars to ", program->results().size(), "; expected ",
                   parameters, " to ", results);
  }
  return absl::OkStatus();
}

}  // namespace

Literal ReduceWindows(const Interpreter& interpreter, const Reducer& reducer,
                      const Window& window, const Literal& in,
                      const Literal& init, const Shape& shape) {
  Shape acc_shape = in.shape();
  acc_shape.set_type(reducer.accumulator);
  Literal acc = ConvertTo(in, acc_shape);
  for (int64_t d = 0; d < shape.rank(); ++d) {
    const WindowDimension& w = window[d];
    if (w.size == 1 && w.stride == 1 && w.base_dilation == 1 &&
        w.padding_low == 0 && w.padding_high == 0) {
      continue;
    }
    acc = ReduceOneDimension(interpreter, reducer, acc, d, w, shape.dim(d));
  }
  Literal start = ConvertTo(init, Shape::Scalar(reducer.accumulator));
  const int width = StorageBytes(reducer.accumulator);
  const int64_t n = shape.ElementCount();
  uint8_t* a = acc.mutable_bytes();
  for (int64_t i = 0; i < n; ++i) {
    reducer.combine(a + i * width, start.bytes(), 1);
  }
  return ConvertTo(acc, shape);
}

// Padding and holes contribute nothing; every window starts from the initial
// value once.
absl::StatusOr<Literal> EvalReduceWindow(const Op& op) {
  const int64_t count = op.count() / 2;
  const Computation* reducer = op.instruction.to_apply();
  const Window* window = op.instruction.window();
  if (count < 1 || op.count() % 2 != 0 || reducer == nullptr ||
      !op.in(0).shape().IsArray()) {
    return Invalid("takes N arrays, N initial values and a reducer");
  }
  const Shape& from = op.in(0).shape();
  const Window whole(from.rank());
  if (window == nullptr && from.rank() == 0) window = &whole;
  if (window == nullptr ||
      static_cast<int64_t>(window->size()) != from.rank()) {
    return Invalid("the window does not have the rank of ", from.ToString());
  }
  DimVector dims;
  for (int64_t d = 0; d < from.rank(); ++d) {
    dims.push_back(WindowedSize((*window)[d], from.dim(d)));
    if (dims.back() < 0) return Invalid("window dimension ", d, " is empty");
  }
  std::vector<Shape> shapes;
  if (op.shape.IsTuple()) {
    shapes.assign(op.shape.tuple_shapes().begin(),
                  op.shape.tuple_shapes().end());
  } else {
    shapes.push_back(op.shape);
  }
  if (static_cast<int64_t>(shapes.size()) != count) {
    return Invalid("the result has ", shapes.size(), " arrays for ", count);
  }
  RIDGE_RETURN_IF_ERROR(op.interpreter.CheckFits(op.shape));
  const ScalarProgram* program = op.interpreter.Program(*reducer);
  RIDGE_RETURN_IF_ERROR(CheckProgram(program, 2 * count, count));
  bool simple =
      static_cast<int64_t>(program->simple_reducers().size()) == count;
  for (int64_t k = 0; k < count; ++k) {
    RIDGE_RETURN_IF_ERROR(
        CheckDims(absl::StrCat("operand ", k), op.in(k).shape(), from.dims()));
    RIDGE_RETURN_IF_ERROR(CheckDims("the result", shapes[k], dims));
    Lane lane = LaneOf(op.in(k).shape().type());
    if (!op.in(count + k).shape().IsScalar() ||
        LaneOf(op.in(count + k).shape().type()) != lane ||
        LaneOf(program->parameters()[k]) != lane ||
        LaneOf(program->parameters()[count + k]) != lane ||
        LaneOf(program->results()[k]) != lane ||
        LaneOf(shapes[k].type()) != lane) {
      return Invalid("the reducer does not match the operands' types");
    }
    simple =
        simple && FindReducer(program->simple_reducers()[k], lane) != nullptr;
  }
  std::vector<Literal> results;
  if (simple) {
    for (int64_t k = 0; k < count; ++k) {
      const Reducer* r = FindReducer(program->simple_reducers()[k],
                                     LaneOf(op.in(k).shape().type()));
      results.push_back(ReduceWindows(op.interpreter, *r, *window, op.in(k),
                                      op.in(count + k), shapes[k]));
    }
  } else {
    std::vector<uint8_t*> bytes;
    for (const Shape& s : shapes) results.push_back(Literal::Zeros(s));
    for (Literal& r : results) bytes.push_back(r.mutable_bytes());
    DimVector sizes;
    for (const WindowDimension& w : *window) sizes.push_back(w.size);
    const int64_t n = Product(dims);
    RIDGE_RETURN_IF_ERROR(CheckWork(n, sizes));
    const int64_t grain =
        std::max<int64_t>(1, 4096 / std::max<int64_t>(1, Product(sizes)));
    const DimVector strides = RowMajorStrides(from.dims());
    op.interpreter.Parallel(0, n, grain, [&](int64_t b, int64_t e) {
      Caller caller(op.interpreter, *program);
      Odometer out(dims);
      out.Set(b);
      for (int64_t i = b; i < e; ++i, out.Next()) {
        for (int64_t k = 0; k < count; ++k) {
          caller.Load(k, op.in(count + k), 0);
        }
        Odometer at(sizes);
        do {
          int64_t offset = 0;
          for (int64_t d = 0; d < from.rank() && offset >= 0; ++d) {
            int64_t p = WindowPosition((*window)[d], from.dim(d),
                                       out.index()[d], at.index()[d]);
            offset = p < 0 ? -1 : offset + p * strides[d];
          }
          if (offset < 0) continue;
          for (int64_t k = 0; k < count; ++k) {
            caller.Load(count + k, op.in(k), offset);
          }
          caller.Run();
          caller.Feedback();
        } while (at.Next());
        for (int64_t k = 0; k < count; ++k) {
          ElementType type = shapes[k].type();
          StoreLane(caller.lane(k), type, bytes[k] + i * StorageBytes(type));
        }
      }
    });
  }
  if (!op.shape.IsTuple()) return std::move(results[0]);
  return Literal::Tuple(std::move(results));
}

// For each window of the operand, the element that `select` prefers receives
// that window's source value, combined by `scatter`.
absl::StatusOr<Literal> EvalSelectAndScatter(const Op& op) {
  RIDGE_RETURN_IF_ERROR(CheckArrays(op, 3));
  RIDGE_RETURN_IF_ERROR(op.interpreter.CheckFits(op.shape));
  const Shape& from = op.in(0).shape();
  const Shape& source = op.in(1).shape();
  const Computation* select = op.instruction.computation(AttrId::kSelect);
  const Computation* scatter = op.instruction.computation(AttrId::kScatter);
  const Window* window = op.instruction.window();
  const Window whole(from.rank());
  if (window == nullptr && from.rank() == 0) window = &whole;
  if (select == nullptr || scatter == nullptr || window == nullptr ||
      static_cast<int64_t>(window->size()) != from.rank() ||
      !op.in(2).shape().IsScalar()) {
    return Invalid("takes a window, select and scatter computations");
  }
  RIDGE_RETURN_IF_ERROR(CheckDims("the result", op.shape, from.dims()));
  DimVector dims;
  DimVector sizes;
  for (int64_t d = 0; d < from.rank(); ++d) {
    dims.push_back(WindowedSize((*window)[d], from.dim(d)));
    sizes.push_back((*window)[d].size);
    if (dims.back() < 0) return Invalid("window dimension ", d, " is empty");
  }
  RIDGE_RETURN_IF_ERROR(CheckDims("the source", source, dims));
  RIDGE_RETURN_IF_ERROR(CheckWork(Product(dims), sizes));
  const ScalarProgram* selects = op.interpreter.Program(*select);
  const ScalarProgram* combines = op.interpreter.Program(*scatter);
  RIDGE_RETURN_IF_ERROR(CheckProgram(selects, 2, 1));
  RIDGE_RETURN_IF_ERROR(CheckProgram(combines, 2, 1));
  const Lane lane = LaneOf(from.type());
  const Lane source_lane = LaneOf(source.type());
  for (int k = 0; k < 2; ++k) {
    if (LaneOf(selects->parameters()[k]) != lane ||
        LaneOf(combines->parameters()[k]) != source_lane) {
      return Invalid("a computation does not match the operands' types");
    }
  }
  if (!IsPred(selects->results()[0]) ||
      LaneOf(combines->results()[0]) != source_lane ||
      LaneOf(op.shape.type()) != source_lane ||
      LaneOf(op.in(2).shape().type()) != source_lane) {
    return Invalid("a computation does not match the result's type");
  }
  const DimVector strides = RowMajorStrides(from.dims());
  // Sums accumulate in double.
  const Reducer* reducer =
      combines->simple_reducers().empty()
          ? nullptr
          : FindReducer(combines->simple_reducers()[0], source_lane);
  Shape acc_shape = op.shape;
  if (reducer != nullptr) acc_shape.set_type(reducer->accumulator);
  Literal start = ConvertTo(op.in(2), Shape::Scalar(acc_shape.type()));
  Literal acc = Literal::Zeros(acc_shape);
  const int64_t n = op.shape.ElementCount();
  const int width = StorageBytes(acc_shape.type());
  if (n == 0) return ConvertTo(acc, op.shape);
  uint8_t* out = acc.mutable_bytes();
  StridedCopy(op.interpreter, {n}, width, start.bytes(), {0}, out, {1});
  if (source.ElementCount() == 0) return ConvertTo(acc, op.shape);
  Literal typed_source = op.in(1);
  if (reducer != nullptr) {
    Shape s = source;
    s.set_type(reducer->accumulator);
    typed_source = ConvertTo(op.in(1), s);
  }
  Caller chooser(op.interpreter, *selects);
  Caller combiner(op.interpreter, *combines);
  Odometer at(dims);
  int64_t i = 0;
  do {
    int64_t chosen = -1;
    Odometer w(sizes);
    do {
      int64_t offset = 0;
      for (int64_t d = 0; d < from.rank() && offset >= 0; ++d) {
        int64_t p = WindowPosition((*window)[d], from.dim(d), at.index()[d],
                                   w.index()[d]);
        offset = p < 0 ? -1 : offset + p * strides[d];
      }
      if (offset < 0) continue;
      if (chosen < 0) {
        chosen = offset;
        continue;
      }
      chooser.Load(0, op.in(0), chosen);
      chooser.Load(1, op.in(0), offset);
      chooser.Run();
      if (*static_cast<const uint8_t*>(chooser.out(0)) == 0) chosen = offset;
    } while (w.Next());
    if (chosen >= 0 && reducer != nullptr) {
      reducer->combine(out + chosen * width, typed_source.bytes() + i * width,
                       1);
    } else if (chosen >= 0) {
      combiner.Load(0, acc, chosen);
      combiner.Load(1, op.in(1), i);
      combiner.Run();
      StoreLane(combiner.out(0), op.shape.type(), out + chosen * width);
    }
    ++i;
  } while (at.Next());
  return ConvertTo(acc, op.shape);
}

}  // namespace eval
}  // namespace ridge
