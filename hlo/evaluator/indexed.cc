// dynamic-slice, dynamic-update-slice, gather and scatter. Start indices are
// clamped so that slices lie inside (scatter: updates that do not are
// skipped), as HLO says.
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

// Start indices given as `rank` scalars, or as one vector, from operand
// `first` on; clamped to [0, dim - size].
absl::StatusOr<DimVector> StartIndices(const Op& op, int64_t first,
                                       const Shape& from,
                                       absl::Span<const int64_t> sizes) {
  const int64_t rank = from.rank();
  const bool one_vector = op.count() == first + 1 &&
                          op.in(first).shape().IsArray() &&
                          op.in(first).shape().rank() == 1;
  if (!one_vector && op.count() != first + rank) {
    return Invalid("takes ", rank, " start indices, has ", op.count() - first);
  }
  DimVector starts(rank);
  for (int64_t d = 0; d < rank; ++d) {
    const Literal& index = op.in(one_vector ? first : first + d);
    if (!index.shape().IsArray() || !IsInteger(index.shape().type()) ||
        index.shape().ElementCount() != (one_vector ? rank : 1)) {
      return Invalid("start index ", d, " has shape ",
                     index.shape().ToString());
    }
    int64_t at = IndexAt(index, one_vector ? d : 0);
    starts[d] = std::min(std::max<int64_t>(at, 0), from.dim(d) - sizes[d]);
  }
  return starts;
}

int64_t Offset(absl::Span<const int64_t> index,
               absl::Span<const int64_t> strides) {
  int64_t offset = 0;
  for (size_t d = 0; d < index.size(); ++d) offset += index[d] * strides[d];
  return offset;
}

bool InRange(absl::Span<const int64_t> dims, int64_t rank) {
  std::vector<bool> seen(rank, false);
  for (int64_t d : dims) {
    if (d < 0 || d >= rank || seen[d]) return false;
    seen[d] = true;
  }
  return true;
}

bool Contains(absl::Span<const int64_t> dims, int64_t d) {
  return std::find(dims.begin(), dims.end(), d) != dims.end();
}

}  // namespace

absl::StatusOr<Literal> EvalDynamicSlice(const Op& op) {
  if (op.count() < 1 || !op.in(0).shape().IsArray() || !op.shape.IsArray()) {
    return Invalid("takes an array and start indices");
  }
  const Shape& from = op.in(0).shape();
  if (from.type() != op.shape.type() || from.rank() != op.shape.rank()) {
    return Invalid("a slice ", op.shape.ToString(), " of ", from.ToString());
  }
  for (int64_t d = 0; d < from.rank(); ++d) {
    if (op.shape.dim(d) > from.dim(d)) {
      return Invalid("a slice ", op.shape.ToString(), " of ", from.ToString());
    }
  }
  RIDGE_RETURN_IF_ERROR(op.interpreter.CheckFits(op.shape));
  RIDGE_ASSIGN_OR_RETURN(DimVector starts,
                         StartIndices(op, 1, from, op.shape.dims()));
  Literal out = Literal::Zeros(op.shape);
  if (op.shape.ElementCount() == 0) return out;
  DimVector strides = RowMajorStrides(from.dims());
  const int width = StorageBytes(from.type());
  StridedCopy(op.interpreter, op.shape.dims(), width,
              op.in(0).bytes() + Offset(starts, strides) * width, strides,
              out.mutable_bytes(), RowMajorStrides(op.shape.dims()));
  return out;
}

absl::StatusOr<Literal> EvalDynamicUpdateSlice(const Op& op) {
  if (op.count() < 2 || !op.in(0).shape().IsArray() ||
      !op.in(1).shape().IsArray()) {
    return Invalid("takes an array, an update and start indices");
  }
  const Shape& from = op.in(0).shape();
  const Shape& update = op.in(1).shape();
  RIDGE_RETURN_IF_ERROR(CheckDims("the operand", from, op.shape.dims()));
  if (from.type() != op.shape.type() || update.type() != from.type() ||
      update.rank() != from.rank()) {
    return Invalid("an update ", update.ToString(), " of ", from.ToString());
  }
  for (int64_t d = 0; d < from.rank(); ++d) {
    if (update.dim(d) > from.dim(d)) {
      return Invalid("an update ", update.ToString(), " of ", from.ToString());
    }
  }
  RIDGE_RETURN_IF_ERROR(op.interpreter.CheckFits(op.shape));
  RIDGE_ASSIGN_OR_RETURN(DimVector starts,
                         StartIndices(op, 2, from, update.dims()));
  Literal out = op.Take(0);
  if (update.ElementCount() == 0) return out;
  DimVector strides = RowMajorStrides(op.shape.dims());
  const int width = StorageBytes(op.shape.type());
  // mutable_bytes copies only if someone else still reads the operand.
  uint8_t* bytes = out.mutable_bytes();
  StridedCopy(op.interpreter, update.dims(), width, op.in(1).bytes(),
              RowMajorStrides(update.dims()),
              bytes + Offset(starts, strides) * width, strides);
  return out;
}

namespace {

// How the dimensions of gather's output, or scatter's updates, come about:
// some run over the batch of index vectors, the others over a window of the
// operand. Index vectors select where in the operand the window starts.
struct Indexing {
  const Literal* indices;
  int64_t index_vector_dim;
  DimVector batch_sizes;    // of the index batch, in order
  DimVector batch_strides;  // in indices
  int64_t vector_size;
  int64_t vector_stride;
  DimVector start_index_map;  // operand dimension of each index component
  // Operand dimensions tied to batch dimensions.
  DimVector operand_batching;
  DimVector batching_positions;  // position among the batch sizes
};

absl::Status MakeIndexing(const Literal& indices, int64_t index_vector_dim,
                          Ints start_index_map, Ints operand_batching,
                          Ints indices_batching, const Shape& operand,
                          Indexing* out) {
  const Shape& s = indices.shape();
  if (!s.IsArray() || !IsInteger(s.type())) {
    return Invalid("indices have shape ", s.ToString());
  }
  if (index_vector_dim < 0 || index_vector_dim > s.rank()) {
    return Invalid("index_vector_dim ", index_vector_dim, " of ", s.ToString());
  }
  out->indices = &indices;
  out->index_vector_dim = index_vector_dim;
  DimVector strides = RowMajorStrides(s.dims());
  out->vector_size = 1;
  out->vector_stride = 0;
  DimVector position(s.rank(), -1);
  for (int64_t d = 0; d < s.rank(); ++d) {
    if (d == index_vector_dim) {
      out->vector_size = s.dim(d);
      out->vector_stride = strides[d];
      continue;
    }
    position[d] = static_cast<int64_t>(out->batch_sizes.size());
    out->batch_sizes.push_back(s.dim(d));
    out->batch_strides.push_back(strides[d]);
  }
  if (static_cast<int64_t>(start_index_map.size()) != out->vector_size ||
      !InRange(start_index_map, operand.rank())) {
    return Invalid("the index map does not fit index vectors of ",
                   out->vector_size);
  }
  out->start_index_map.assign(start_index_map.begin(), start_index_map.end());
  if (operand_batching.size() != indices_batching.size() ||
      !InRange(operand_batching, operand.rank()) ||
      !InRange(indices_batching, s.rank())) {
    return Invalid("batching dimensions do not match");
  }
  for (size_t k = 0; k < operand_batching.size(); ++k) {
    int64_t p = position[indices_batching[k]];
    if (p < 0 || Contains(start_index_map, operand_batching[k]) ||
        operand.dim(operand_batching[k]) != s.dim(indices_batching[k])) {
      return Invalid("batching dimension ", k, " does not match");
    }
    out->operand_batching.push_back(operand_batching[k]);
    out->batching_positions.push_back(p);
  }
  return absl::OkStatus();
}

// Where in the operand the window of one index vector starts; not clamped.
void WindowStart(const Indexing& ix, absl::Span<const int64_t> batch,
                 DimVector* start) {
  std::fill(start->begin(), start->end(), 0);
  const int64_t at = Offset(batch, ix.batch_strides);
  for (int64_t k = 0; k < ix.vector_size; ++k) {
    (*start)[ix.start_index_map[k]] =
        IndexAt(*ix.indices, at + k * ix.vector_stride);
  }
  for (size_t k = 0; k < ix.operand_batching.size(); ++k) {
    (*start)[ix.operand_batching[k]] = batch[ix.batching_positions[k]];
  }
}

// Splits the dimensions of output (or updates) into window and batch ones.
struct DimSplit {
  DimVector window_dims, batch_dims;
};
absl::StatusOr<DimSplit> SplitDims(const Shape& shape, Ints window,
                                   const Indexing& ix) {
  if (!InRange(window, shape.rank())) {
    return Invalid("window dimensions are out of range");
  }
  DimSplit l;
  for (int64_t d = 0; d < shape.rank(); ++d) {
    (Contains(window, d) ? l.window_dims : l.batch_dims).push_back(d);
  }
  if (l.batch_dims.size() != ix.batch_sizes.size()) {
    return Invalid(shape.ToString(), " has ", l.batch_dims.size(),
                   " batch dimensions; the indices have ",
                   ix.batch_sizes.size());
  }
  for (size_t k = 0; k < l.batch_dims.size(); ++k) {
    if (shape.dim(l.batch_dims[k]) != ix.batch_sizes[k]) {
      return Invalid("batch dimension ", k, " of ", shape.ToString(),
                     " is not that of the indices");
    }
  }
  return l;
}

DimVector Pick(absl::Span<const int64_t> from, absl::Span<const int64_t> at) {
  DimVector r;
  for (int64_t d : at) r.push_back(from[d]);
  return r;
}

}  // namespace

absl::StatusOr<Literal> EvalGather(const Op& op) {
  RIDGE_RETURN_IF_ERROR(CheckArrays(op, 2));
  const Instruction& i = op.instruction;
  const Shape& from = op.in(0).shape();
  if (from.type() != op.shape.type()) {
    return Invalid("gathers ", Name(op.shape.type()), " from ",
                   Name(from.type()));
  }
  RIDGE_RETURN_IF_ERROR(op.interpreter.CheckFits(op.shape));
  Ints sizes = i.ints(AttrId::kSliceSizes);
  Ints collapsed = i.ints(AttrId::kCollapsedSliceDims);
  Ints operand_batching = i.ints(AttrId::kOperandBatchingDims);
  Indexing ix;
  RIDGE_RETURN_IF_ERROR(MakeIndexing(
      op.in(1), i.int_attr(AttrId::kIndexVectorDim, op.in(1).shape().rank()),
      i.ints(AttrId::kStartIndexMap), operand_batching,
      i.ints(AttrId::kStartIndicesBatchingDims), from, &ix));
  if (static_cast<int64_t>(sizes.size()) != from.rank() ||
      !InRange(collapsed, from.rank())) {
    return Invalid("slice_sizes or collapsed_slice_dims do not fit ",
                   from.ToString());
  }
  RIDGE_ASSIGN_OR_RETURN(DimSplit layout,
                         SplitDims(op.shape, i.ints(AttrId::kOffsetDims), ix));
  // Window dimensions of the output, in order, are the operand's that stay.
  DimVector window_of;  // operand dimensions
  for (int64_t d = 0; d < from.rank(); ++d) {
    const bool gone = Contains(collapsed, d) || Contains(operand_batching, d);
    if (sizes[d] < 0 || sizes[d] > from.dim(d) || (gone && sizes[d] > 1)) {
      return Invalid("slice size ", sizes[d], " in dimension ", d, " of ",
                     from.ToString());
    }
    if (!gone) window_of.push_back(d);
  }
  if (window_of.size() != layout.window_dims.size()) {
    return Invalid("offset_dims has ", layout.window_dims.size(),
                   " dimensions for windows of ", window_of.size());
  }
  for (size_t k = 0; k < window_of.size(); ++k) {
    if (op.shape.dim(layout.window_dims[k]) != sizes[window_of[k]]) {
      return Invalid("offset dimension ", k, " is not the slice size");
    }
  }
  Literal out = Literal::Zeros(op.shape);
  const int64_t total = op.shape.ElementCount();
  // Windows of no elements, or of an empty operand, leave zeros.
  if (total == 0 || from.ElementCount() == 0) return out;
  for (int64_t d : collapsed) {
    if (sizes[d] == 0) return out;
  }
  const int width = StorageBytes(op.shape.type());
  const DimVector out_strides = RowMajorStrides(op.shape.dims());
  const DimVector src_strides = RowMajorStrides(from.dims());
  const DimVector batch_out = Pick(out_strides, layout.batch_dims);
  const DimVector window_sizes = Pick(op.shape.dims(), layout.window_dims);
  const DimVector window_dst = Pick(out_strides, layout.window_dims);
  const DimVector window_src = Pick(src_strides, window_of);
  const int64_t batches = Product(ix.batch_sizes);
  uint8_t* dst = out.mutable_bytes();
  const int64_t grain =
      std::max<int64_t>(1, (1 << 14) / std::max<int64_t>(1, total / batches));
  EvalOptions one_thread;
  one_thread.max_threads = 1;
  op.interpreter.Parallel(0, batches, grain, [&](int64_t b, int64_t e) {
    const Interpreter inner(one_thread);
    DimVector start(from.rank());
    Odometer batch(ix.batch_sizes);
    batch.Set(b);
    for (int64_t n = b; n < e; ++n, batch.Next()) {
      WindowStart(ix, batch.index(), &start);
      for (int64_t d = 0; d < from.rank(); ++d) {
        start[d] =
            std::min(std::max<int64_t>(start[d], 0), from.dim(d) - sizes[d]);
      }
      StridedCopy(inner, window_sizes, width,
                  op.in(0).bytes() + Offset(start, src_strides) * width,
                  window_src, dst + Offset(batch.index(), batch_out) * width,
                  window_dst);
    }
  });
  return out;
}

namespace {

struct ScatterWindow {
  DimVector sizes;        // of the window
  DimVector src_strides;  // in updates
  DimVector dst_strides;  // in the operand
  DimVector operand_dims;
};

// Runs the combiner on one window of every operand.
class Combiner {
 public:
  Combiner(const Op& op, const Computation& computation,
           std::vector<Literal>* results)
      : op_(op),
        computation_(computation),
        program_(op.interpreter.Program(computation)),
        count_(static_cast<int64_t>(results->size())),
        results_(*results) {
    for (Literal& r : results_) bytes_.push_back(r.mutable_bytes());
    if (program_ != nullptr) {
      workspace_ = std::make_unique<ScalarProgram::Workspace>(*program_, 1);
    }
    // `return update`: a copy.
    const Instruction* root = computation.root();
    overwrites_ = count_ == 1 && root != nullptr &&
                  root->opcode() == Opcode::kParameter &&
                  root->parameter_number() == 1;
  }

  absl::Status Check() const {
    if (program_ == nullptr) return absl::OkStatus();
    if (static_cast<int64_t>(program_->parameters().size()) != 2 * count_ ||
        static_cast<int64_t>(program_->results().size()) != count_) {
      return Invalid("the combiner does not take 2 x ", count_, " scalars");
    }
    for (int64_t k = 0; k < count_; ++k) {
      Lane lane = LaneOf(results_[k].shape().type());
      if (LaneOf(program_->parameters()[k]) != lane ||
          LaneOf(program_->parameters()[count_ + k]) != lane ||
          LaneOf(program_->results()[k]) != lane) {
        return Invalid("the combiner does not match the operands' types");
      }
    }
    return absl::OkStatus();
  }

  absl::Status Window(const ScatterWindow& w, int64_t src, int64_t dst) {
    if (Product(w.sizes) == 0) return absl::OkStatus();
    if (overwrites_) {
      const Literal& update = op_.in(count_ + 1);
      const int width = StorageBytes(update.shape().type());
      StridedCopy(op_.interpreter, w.sizes, width, update.bytes() + src * width,
                  w.src_strides, bytes_[0] + dst * width, w.dst_strides);
      return absl::OkStatus();
    }
    Odometer at(w.sizes);
    do {
      RIDGE_RETURN_IF_ERROR(Element(src + Offset(at.index(), w.src_strides),
                                    dst + Offset(at.index(), w.dst_strides)));
    } while (at.Next());
    return absl::OkStatus();
  }

 private:
  absl::Status Element(int64_t src, int64_t dst) {
    if (program_ == nullptr) return ElementByCall(src, dst);
    alignas(16) uint8_t lanes[2][8][16];
    const void* in_small[16];
    const void* out_small[8];
    if (count_ > 8) return ElementByCall(src, dst);
    for (int64_t k = 0; k < count_; ++k) {
      ElementType type = results_[k].shape().type();
      const int width = StorageBytes(type);
      LaneFn load = LoadFn(type);
      const uint8_t* from[2] = {bytes_[k] + dst * width,
                                op_.in(count_ + 1 + k).bytes() + src * width};
      for (int side = 0; side < 2; ++side) {
        if (load != nullptr) {
          load(from[side], lanes[side][k], 1);
        } else {
          std::memcpy(lanes[side][k], from[side], width);
        }
        in_small[side * count_ + k] = lanes[side][k];
      }
    }
    program_->Run(workspace_.get(), absl::MakeConstSpan(in_small, 2 * count_),
                  1, absl::MakeSpan(out_small, count_));
    for (int64_t k = 0; k < count_; ++k) {
      ElementType type = results_[k].shape().type();
      const int width = StorageBytes(type);
      LaneFn store = StoreFn(type);
      if (store != nullptr) {
        store(out_small[k], bytes_[k] + dst * width, 1);
      } else {
        std::memcpy(bytes_[k] + dst * width, out_small[k], width);
      }
    }
    return absl::OkStatus();
  }

  absl::Status ElementByCall(int64_t src, int64_t dst) {
    std::vector<Literal> arguments;
    for (int side = 0; side < 2; ++side) {
      for (int64_t k = 0; k < count_; ++k) {
        ElementType type = results_[k].shape().type();
        const int width = StorageBytes(type);
        const uint8_t* p = side == 0
                               ? bytes_[k] + dst * width
                               : op_.in(count_ + 1 + k).bytes() + src * width;
        arguments.push_back(Literal::FromBytes(
            Shape::Scalar(type), std::vector<uint8_t>(p, p + width)));
      }
    }
    RIDGE_ASSIGN_OR_RETURN(
        Literal value, op_.interpreter.Run(computation_, std::move(arguments)));
    for (int64_t k = 0; k < count_; ++k) {
      if (value.shape().IsTuple() &&
          static_cast<int64_t>(value.elements().size()) != count_) {
        return Invalid("the combiner gives ", value.shape().ToString());
      }
      const Literal& v = value.shape().IsTuple() ? value.elements()[k] : value;
      ElementType type = results_[k].shape().type();
      if (!v.shape().IsScalar() || v.shape().type() != type) {
        return Invalid("the combiner gives ", value.shape().ToString());
      }
      const int width = StorageBytes(type);
      std::memcpy(bytes_[k] + dst * width, v.bytes(), width);
    }
    return absl::OkStatus();
  }

  const Op& op_;
  const Computation& computation_;
  const ScalarProgram* program_;
  int64_t count_;
  std::vector<Literal>& results_;
  std::vector<uint8_t*> bytes_;
  std::unique_ptr<ScalarProgram::Workspace> workspace_;
  bool overwrites_ = false;
};

}  // namespace

absl::StatusOr<Literal> EvalScatter(const Op& op) {
  if (op.instruction.to_apply() == nullptr) {
    return Invalid("takes N operands, indices, N updates and a combiner");
  }
  return ScatterWith(op, *op.instruction.to_apply());
}

absl::StatusOr<Literal> ScatterWith(const Op& op, const Computation& combiner) {
  const Instruction& i = op.instruction;
  const int64_t count = (op.count() - 1) / 2;
  if (count < 1 || op.count() != 2 * count + 1) {
    return Invalid("takes N operands, indices, N updates and a combiner");
  }
  for (int64_t k = 0; k < op.count(); ++k) {
    if (!op.in(k).shape().IsArray()) {
      return Invalid("operand ", k, " is not an array");
    }
  }
  const Shape to = op.in(0).shape();  // a copy: the operand may be taken
  const Shape& updates = op.in(count + 1).shape();
  for (int64_t k = 0; k < count; ++k) {
    const Shape& result =
        op.shape.IsTuple() &&
                k < static_cast<int64_t>(op.shape.tuple_shapes().size())
            ? op.shape.tuple_shape(k)
            : op.shape;
    RIDGE_RETURN_IF_ERROR(
        CheckDims(absl::StrCat("operand ", k), op.in(k).shape(), to.dims()));
    RIDGE_RETURN_IF_ERROR(CheckDims(absl::StrCat("updates ", k),
                                    op.in(count + 1 + k).shape(),
                                    updates.dims()));
    if (!op.in(k).shape().Compatible(result) ||
        op.in(count + 1 + k).shape().type() != op.in(k).shape().type()) {
      return Invalid("operand, updates and result ", k, " differ in type");
    }
  }
  RIDGE_RETURN_IF_ERROR(op.interpreter.CheckFits(op.shape));
  Ints inserted = i.ints(AttrId::kInsertedWindowDims);
  Ints input_batching = i.ints(AttrId::kInputBatchingDims);
  Indexing ix;
  RIDGE_RETURN_IF_ERROR(MakeIndexing(
      op.in(count),
      i.int_attr(AttrId::kIndexVectorDim, op.in(count).shape().rank()),
      i.ints(AttrId::kScatterDimsToOperandDims), input_batching,
      i.ints(AttrId::kScatterIndicesBatchingDims), to, &ix));
  if (!InRange(inserted, to.rank())) {
    return Invalid("inserted_window_dims are out of range");
  }
  RIDGE_ASSIGN_OR_RETURN(
      DimSplit layout,
      SplitDims(updates, i.ints(AttrId::kUpdateWindowDims), ix));
  const DimVector src_strides = RowMajorStrides(updates.dims());
  const DimVector dst_strides = RowMajorStrides(to.dims());
  ScatterWindow w;
  DimVector extent(to.rank(), 1);  // of the window in the operand
  for (int64_t d = 0; d < to.rank(); ++d) {
    if (Contains(inserted, d) || Contains(input_batching, d)) continue;
    const size_t k = w.operand_dims.size();
    if (k >= layout.window_dims.size() ||
        updates.dim(layout.window_dims[k]) > to.dim(d)) {
      return Invalid("update windows do not fit ", to.ToString());
    }
    extent[d] = updates.dim(layout.window_dims[k]);
    w.sizes.push_back(extent[d]);
    w.src_strides.push_back(src_strides[layout.window_dims[k]]);
    w.dst_strides.push_back(dst_strides[d]);
    w.operand_dims.push_back(d);
  }
  if (w.operand_dims.size() != layout.window_dims.size()) {
    return Invalid("update windows do not fit ", to.ToString());
  }
  std::vector<Literal> results;
  for (int64_t k = 0; k < count; ++k) results.push_back(op.Take(k));
  Combiner combine(op, combiner, &results);
  RIDGE_RETURN_IF_ERROR(combine.Check());
  if (updates.ElementCount() > 0) {
    const DimVector batch_src = Pick(src_strides, layout.batch_dims);
    DimVector start(to.rank());
    Odometer batch(ix.batch_sizes);
    do {
      WindowStart(ix, batch.index(), &start);
      bool inside = true;
      for (int64_t d = 0; d < to.rank(); ++d) {
        inside = inside && start[d] >= 0 && start[d] <= to.dim(d) - extent[d];
      }
      if (!inside) continue;
      RIDGE_RETURN_IF_ERROR(combine.Window(w, Offset(batch.index(), batch_src),
                                           Offset(start, dst_strides)));
    } while (batch.Next());
  }
  if (!op.shape.IsTuple()) return std::move(results[0]);
  return Literal::Tuple(std::move(results));
}

}  // namespace eval
}  // namespace ridge
