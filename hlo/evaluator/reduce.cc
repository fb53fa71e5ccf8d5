// reduce: by closed form where the reducer has one, else by running the
// reducer's computation over blocks of outputs at a time, in index order.
#include "hlo/evaluator/reduce.h"

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

constexpr int64_t kElementsPerTask = 1 << 16;

// The input's dimensions with size-1 ones dropped and neighbours of one kind
// merged: kept and reduced ones alternate.
struct Geometry {
  DimVector kept_sizes, kept_strides;
  DimVector reduced_sizes, reduced_strides;
  int64_t kept = 1;
  int64_t reduced = 1;
  bool inner_reduced = false;  // the innermost merged dimension is reduced
};

Geometry MakeGeometry(const Shape& input, const std::vector<bool>& is_reduced) {
  struct Dim {
    int64_t size;
    int64_t stride;
    bool reduced;
  };
  absl::InlinedVector<Dim, 6> dims;
  DimVector strides = RowMajorStrides(input.dims());
  for (int64_t d = 0; d < input.rank(); ++d) {
    if (input.dim(d) == 1) continue;
    if (!dims.empty() && dims.back().reduced == is_reduced[d]) {
      dims.back().size *= input.dim(d);
      dims.back().stride = strides[d];
    } else {
      dims.push_back({input.dim(d), strides[d], is_reduced[d]});
    }
  }
  Geometry g;
  for (const Dim& d : dims) {
    (d.reduced ? g.reduced_sizes : g.kept_sizes).push_back(d.size);
    (d.reduced ? g.reduced_strides : g.kept_strides).push_back(d.stride);
    (d.reduced ? g.reduced : g.kept) *= d.size;
  }
  g.inner_reduced = !dims.empty() && dims.back().reduced;
  return g;
}

int64_t Dot(absl::Span<const int64_t> index, absl::Span<const int64_t> strides,
            size_t n) {
  int64_t offset = 0;
  for (size_t d = 0; d < n; ++d) offset += index[d] * strides[d];
  return offset;
}

struct Input {
  const uint8_t* bytes;
  int width;
  LaneFn load;
  const void* Lanes(int64_t at, int64_t n, void* buffer) const {
    const uint8_t* src = bytes + at * width;
    if (load == nullptr) return src;
    load(src, buffer, n);
    return buffer;
  }
};

// Innermost dimension reduced: every output is a sum of contiguous rows. One
// task is one output and one stretch of its rows.
void ReduceRows(const Interpreter& interpreter, const Geometry& g,
                const Reducer& reducer, const Input& input, uint8_t* acc) {
  const int acc_width = LaneBytes(LaneOf(reducer.accumulator));
  const size_t outer_rank = g.reduced_sizes.size() - 1;
  const int64_t row = g.reduced_sizes.back();
  const int64_t outer = g.reduced / row;
  const int64_t stretch = std::min(row, kElementsPerTask);
  const int64_t stretches = (row + stretch - 1) / stretch;
  std::vector<uint8_t> partial(g.kept * stretches * acc_width);
  const int64_t grain = std::max<int64_t>(
      1, kElementsPerTask / std::max<int64_t>(1, stretch * outer));
  interpreter.Parallel(0, g.kept * stretches, grain, [&](int64_t b, int64_t e) {
    alignas(64) uint8_t buffer[kBlockBytes];
    Odometer kept(g.kept_sizes);
    Odometer reduced(
        absl::MakeConstSpan(g.reduced_sizes).subspan(0, outer_rank));
    for (int64_t t = b; t < e; ++t) {
      kept.Set(t / stretches);
      const int64_t begin = t % stretches * stretch;
      const int64_t end = std::min(row, begin + stretch);
      const int64_t base =
          Dot(kept.index(), g.kept_strides, g.kept_sizes.size());
      uint8_t* out = partial.data() + t * acc_width;
      reducer.clear(out, 1);
      do {
        const int64_t at =
            base + Dot(reduced.index(), g.reduced_strides, outer_rank);
        if (input.load == nullptr) {
          reducer.fold(out, input.bytes + (at + begin) * input.width,
                       end - begin);
          continue;
        }
        for (int64_t i = begin; i < end; i += kBlockElements) {
          const int64_t n = std::min(kBlockElements, end - i);
          reducer.fold(out, input.Lanes(at + i, n, buffer), n);
        }
      } while (reduced.Next());
    }
  });
  for (int64_t k = 0; k < g.kept; ++k) {
    std::memcpy(acc + k * acc_width, partial.data() + k * stretches * acc_width,
                acc_width);
    for (int64_t s = 1; s < stretches; ++s) {
      reducer.combine(acc + k * acc_width,
                      partial.data() + (k * stretches + s) * acc_width, 1);
    }
  }
}

// Innermost dimension kept: a tile of neighbouring outputs is accumulated row
// by row. Where there are few tiles, the rows are split as well.
void ReduceColumns(const Interpreter& interpreter, const Geometry& g,
                   const Reducer& reducer, const Input& input, uint8_t* acc) {
  constexpr int64_t kRowsPerLevel = 128;
  const int acc_width = LaneBytes(LaneOf(reducer.accumulator));
  const int64_t columns = g.kept_sizes.empty() ? 1 : g.kept_sizes.back();
  const size_t outer_rank = g.kept_sizes.empty() ? 0 : g.kept_sizes.size() - 1;
  const int64_t outer = g.kept / columns;
  const int64_t tile = std::min(columns, kBlockElements);
  const int64_t tiles = (columns + tile - 1) / tile;
  int64_t splits = 1;
  int64_t rows = g.reduced;
  if (outer * tiles < 16) {
    rows = std::max<int64_t>(64, kElementsPerTask / tile);
    rows = std::min(rows, g.reduced);
    splits = (g.reduced + rows - 1) / rows;
  }
  std::vector<uint8_t> partial(splits > 1 ? splits * g.kept * acc_width : 0);
  const int64_t grain = std::max<int64_t>(
      1, kElementsPerTask / std::max<int64_t>(1, tile * rows));
  interpreter.Parallel(
      0, splits * outer * tiles, grain, [&](int64_t b, int64_t e) {
        alignas(64) uint8_t buffer[kBlockBytes];
        alignas(64) uint8_t level[kBlockBytes];
        Odometer kept(absl::MakeConstSpan(g.kept_sizes).subspan(0, outer_rank));
        Odometer reduced(g.reduced_sizes);
        for (int64_t t = b; t < e; ++t) {
          const int64_t split = t / (outer * tiles);
          const int64_t o = t / tiles % outer;
          const int64_t c = t % tiles * tile;
          const int64_t n = std::min(tile, columns - c);
          kept.Set(o);
          const int64_t base =
              c + Dot(kept.index(), g.kept_strides, outer_rank);
          uint8_t* out = (splits > 1 ? partial.data() : acc) +
                         (split * g.kept + o * columns + c) * acc_width;
          reducer.clear(out, n);
          const int64_t end = std::min(g.reduced, (split + 1) * rows);
          reduced.Set(split * rows);
          int64_t r = split * rows;
          while (r < end) {
            const int64_t stop = std::min(end, r + kRowsPerLevel);
            reducer.clear(level, n);
            for (; r < stop; ++r, reduced.Next()) {
              const int64_t at = base + Dot(reduced.index(), g.reduced_strides,
                                            g.reduced_sizes.size());
              reducer.accumulate(level, input.Lanes(at, n, buffer), n);
            }
            reducer.combine(out, level, n);
          }
        }
      });
  if (splits == 1) return;
  std::memcpy(acc, partial.data(), g.kept * acc_width);
  for (int64_t s = 1; s < splits; ++s) {
    reducer.combine(acc, partial.data() + s * g.kept * acc_width, g.kept);
  }
}

Literal ReduceSimple(const Interpreter& interpreter, const Geometry& g,
                     const Reducer& reducer, const Literal& in,
                     const Literal& init, const Shape& shape) {
  // One accumulator an output, which starts from the initial value.
  Shape acc_shape = shape;
  acc_shape.set_type(reducer.accumulator);
  Literal acc = Literal::Zeros(acc_shape);
  if (g.kept == 0) return ConvertTo(acc, shape);
  ElementType type = in.shape().type();
  Input input{in.bytes(), StorageBytes(type), LoadFn(type)};
  uint8_t* a = acc.mutable_bytes();
  if (g.reduced == 0) {
    reducer.clear(a, g.kept);
  } else if (g.inner_reduced) {
    ReduceRows(interpreter, g, reducer, input, a);
  } else {
    ReduceColumns(interpreter, g, reducer, input, a);
  }
  Literal start = ConvertTo(init, Shape::Scalar(reducer.accumulator));
  const int width = LaneBytes(LaneOf(reducer.accumulator));
  for (int64_t k = 0; k < g.kept; ++k) {
    reducer.combine(a + k * width, start.bytes(), 1);
  }
  return ConvertTo(acc, shape);
}

// Any reducer, `program` over blocks of outputs; elements in index order.
void ReduceByProgram(const Op& op, const Geometry& g,
                     const ScalarProgram& program,
                     absl::Span<Literal> results) {
  const int64_t count = static_cast<int64_t>(results.size());
  const int64_t grain = std::max<int64_t>(
      1, std::min(kBlockElements,
                  kElementsPerTask / std::max<int64_t>(1, 8 * g.reduced)));
  std::vector<uint8_t*> out_bytes;
  for (Literal& r : results) out_bytes.push_back(r.mutable_bytes());
  op.interpreter.Parallel(0, g.kept, grain, [&](int64_t b, int64_t e) {
    const int64_t tile = std::min(kBlockElements, e - b);
    ScalarProgram::Workspace workspace(program, tile);
    // Accumulators twice over, elements once.
    std::vector<std::vector<uint8_t>> acc(count), next(count), x(count);
    std::vector<uint8_t> gathered(tile * 16);
    for (int64_t k = 0; k < count; ++k) {
      acc[k].resize(tile * 16);
      next[k].resize(tile * 16);
      x[k].resize(tile * 16);
    }
    std::vector<const void*> in(2 * count);
    std::vector<const void*> out(count);
    std::vector<int64_t> base(tile);
    Odometer kept(g.kept_sizes);
    Odometer reduced(g.reduced_sizes);
    for (int64_t o = b; o < e; o += tile) {
      const int64_t n = std::min(tile, e - o);
      kept.Set(o);
      bool contiguous = true;
      for (int64_t i = 0; i < n; ++i, kept.Next()) {
        base[i] = Dot(kept.index(), g.kept_strides, g.kept_sizes.size());
        contiguous = contiguous && base[i] == base[0] + i;
      }
      for (int64_t k = 0; k < count; ++k) {
        uint8_t buffer[16];
        const Literal& init = op.in(count + k);
        const int width = LaneBytes(LaneOf(init.shape().type()));
        const void* lanes = LoadBlock(init, 0, 1, buffer);
        for (int64_t i = 0; i < n; ++i) {
          std::memcpy(acc[k].data() + i * width, lanes, width);
        }
      }
      for (int64_t r = 0; r < g.reduced; ++r, reduced.Next()) {
        const int64_t offset =
            Dot(reduced.index(), g.reduced_strides, g.reduced_sizes.size());
        for (int64_t k = 0; k < count; ++k) {
          const Literal& operand = op.in(k);
          in[k] = acc[k].data();
          ElementType type = operand.shape().type();
          if (contiguous) {
            in[count + k] =
                LoadBlock(operand, base[0] + offset, n, x[k].data());
            continue;
          }
          const int width = StorageBytes(type);
          LaneFn load = LoadFn(type);
          uint8_t* to = load == nullptr ? x[k].data() : gathered.data();
          for (int64_t i = 0; i < n; ++i) {
            std::memcpy(to + i * width,
                        operand.bytes() + (base[i] + offset) * width, width);
          }
          if (load != nullptr) load(gathered.data(), x[k].data(), n);
          in[count + k] = x[k].data();
        }
        program.Run(&workspace, in, n, absl::MakeSpan(out));
        for (int64_t k = 0; k < count; ++k) {
          std::memcpy(next[k].data(), out[k],
                      n * LaneBytes(LaneOf(program.results()[k])));
        }
        acc.swap(next);
      }
      for (int64_t k = 0; k < count; ++k) {
        ElementType type = results[k].shape().type();
        uint8_t* to = out_bytes[k] + o * StorageBytes(type);
        LaneFn store = StoreFn(type);
        if (store != nullptr) {
          store(acc[k].data(), to, n);
        } else {
          std::memcpy(to, acc[k].data(), n * StorageBytes(type));
        }
      }
    }
  });
}

// A reducer that is no program of scalars: one interpreted call an element.
absl::Status ReduceByCalls(const Op& op, const Geometry& g,
                           const Computation& reducer,
                           absl::Span<Literal> results) {
  const int64_t count = static_cast<int64_t>(results.size());
  Odometer kept(g.kept_sizes);
  auto scalar = [&](const Literal& from, int64_t at) {
    ElementType type = from.shape().type();
    const uint8_t* p = from.bytes() + at * StorageBytes(type);
    return Literal::FromBytes(Shape::Scalar(type),
                              std::vector<uint8_t>(p, p + StorageBytes(type)));
  };
  for (int64_t o = 0; o < g.kept; ++o, kept.Next()) {
    const int64_t base = Dot(kept.index(), g.kept_strides, g.kept_sizes.size());
    std::vector<Literal> acc;
    for (int64_t k = 0; k < count; ++k) acc.push_back(op.in(count + k));
    Odometer reduced(g.reduced_sizes);
    for (int64_t r = 0; r < g.reduced; ++r, reduced.Next()) {
      const int64_t at = base + Dot(reduced.index(), g.reduced_strides,
                                    g.reduced_sizes.size());
      std::vector<Literal> arguments = std::move(acc);
      for (int64_t k = 0; k < count; ++k) {
        arguments.push_back(scalar(op.in(k), at));
      }
      RIDGE_ASSIGN_OR_RETURN(Literal value,
                             op.interpreter.Run(reducer, std::move(arguments)));
      acc.clear();
      if (value.shape().IsTuple()) {
        for (const Literal& v : value.elements()) acc.push_back(v);
      } else {
        acc.push_back(std::move(value));
      }
      if (static_cast<int64_t>(acc.size()) != count) {
        return Invalid("the reducer gives ", acc.size(), " values for ", count);
      }
    }
    for (int64_t k = 0; k < count; ++k) {
      if (acc[k].shape().type() != results[k].shape().type()) {
        return Invalid("the reducer's type is not the result's");
      }
      const int width = StorageBytes(results[k].shape().type());
      std::memcpy(results[k].mutable_bytes() + o * width, acc[k].bytes(),
                  width);
    }
  }
  return absl::OkStatus();
}

}  // namespace

Literal ReduceArray(const Interpreter& interpreter, const Reducer& reducer,
                    const Literal& in, const Literal& init,
                    const std::vector<bool>& is_reduced, const Shape& shape) {
  return ReduceSimple(interpreter, MakeGeometry(in.shape(), is_reduced),
                      reducer, in, init, shape);
}

absl::StatusOr<Literal> EvalReduce(const Op& op) {
  const int64_t count = op.count() / 2;
  const Computation* reducer = op.instruction.to_apply();
  if (count < 1 || op.count() % 2 != 0 || reducer == nullptr) {
    return Invalid("takes N arrays, N initial values and a reducer");
  }
  const Shape& from = op.in(0).shape();
  if (!from.IsArray()) return Invalid("operand 0 is not an array");
  std::vector<bool> is_reduced(from.rank(), false);
  for (int64_t d : op.instruction.dimensions()) {
    if (d < 0 || d >= from.rank() || is_reduced[d]) {
      return Invalid("dimensions name ", d, " of ", from.ToString());
    }
    is_reduced[d] = true;
  }
  DimVector kept;
  for (int64_t d = 0; d < from.rank(); ++d) {
    if (!is_reduced[d]) kept.push_back(from.dim(d));
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
  for (int64_t k = 0; k < count; ++k) {
    RIDGE_RETURN_IF_ERROR(
        CheckDims(absl::StrCat("operand ", k), op.in(k).shape(), from.dims()));
    if (!op.in(count + k).shape().IsScalar()) {
      return Invalid("initial value ", k, " is not a scalar");
    }
    RIDGE_RETURN_IF_ERROR(CheckDims("the result", shapes[k], kept));
  }
  const Geometry g = MakeGeometry(from, is_reduced);
  std::vector<Literal> results;
  const ScalarProgram* program = op.interpreter.Program(*reducer);
  // Operands, initial values, parameters and results agree in their lanes.
  auto lanes_agree = [&] {
    if (static_cast<int64_t>(program->parameters().size()) != 2 * count ||
        static_cast<int64_t>(program->results().size()) != count) {
      return false;
    }
    for (int64_t k = 0; k < count; ++k) {
      Lane lane = LaneOf(op.in(k).shape().type());
      if (LaneOf(op.in(count + k).shape().type()) != lane ||
          LaneOf(program->parameters()[k]) != lane ||
          LaneOf(program->parameters()[count + k]) != lane ||
          LaneOf(program->results()[k]) != lane ||
          LaneOf(shapes[k].type()) != lane) {
        return false;
      }
    }
    return true;
  };
  if (program != nullptr && !lanes_agree()) {
    return Invalid("the reducer ", reducer->name(),
                   " does not match the operands' types");
  }
  bool simple =
      program != nullptr &&
      static_cast<int64_t>(program->simple_reducers().size()) == count;
  for (int64_t k = 0; simple && k < count; ++k) {
    const Reducer* r = FindReducer(program->simple_reducers()[k],
                                   LaneOf(op.in(k).shape().type()));
    if (r == nullptr) {
      simple = false;
      results.clear();
      break;
    }
    results.push_back(ReduceSimple(op.interpreter, g, *r, op.in(k),
                                   op.in(count + k), shapes[k]));
  }
  if (!simple) {
    for (const Shape& s : shapes) results.push_back(Literal::Zeros(s));
    if (program != nullptr) {
      ReduceByProgram(op, g, *program, absl::MakeSpan(results));
    } else {
      RIDGE_RETURN_IF_ERROR(
          ReduceByCalls(op, g, *reducer, absl::MakeSpan(results)));
    }
  }
  if (!op.shape.IsTuple()) return std::move(results[0]);
  Literal out = Literal::Tuple(std::move(results));
  *out.mutable_shape() = op.shape;
  return out;
}

}  // namespace eval
}  // namespace ridge
