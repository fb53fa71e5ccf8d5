#include <algorithm>
#include <cmath>

#include "hlo/testing/random_builder.h"

namespace ridge::testing {
namespace {

bool HasElements(const Value& v) {
  return v.shape().rank() > 0 && v.shape().ElementCount() > 0;
}

std::vector<Instruction*> StartIndices(RandomBuilder& b, const Shape& of,
                                       absl::Span<const int64_t> sizes) {
  std::vector<Instruction*> starts;
  for (int64_t d = 0; d < of.rank(); ++d) {
    starts.push_back(b.Indices({}, of.dim(d) - sizes[d] + 1).i);
  }
  return starts;
}

DimVector SmallerDims(RandomBuilder& b, const Shape& shape) {
  DimVector dims;
  for (int64_t d : shape.dims()) {
    dims.push_back(b.random().Chance(0.6) ? b.random().Between(1, d) : d);
  }
  return dims;
}

bool MakeDynamicSlice(RandomBuilder& b) {
  std::optional<Value> x = b.Pick(HasElements);
  if (!x.has_value()) return false;
  DimVector sizes = SmallerDims(b, x->shape());
  std::vector<Instruction*> operands = {x->i};
  for (Instruction* s : StartIndices(b, x->shape(), sizes)) {
    operands.push_back(s);
  }
  Instruction* i =
      b.Add(Opcode::kDynamicSlice, Shape::Array(x->type(), sizes), operands);
  i->set_ints(AttrId::kDynamicSliceSizes, sizes);
  b.Push(i, *x);
  return true;
}

bool MakeDynamicUpdateSlice(RandomBuilder& b) {
  std::optional<Value> x = b.Pick(HasElements);
  if (!x.has_value()) return false;
  DimVector sizes = SmallerDims(b, x->shape());
  Value update = b.Like(Shape::Array(x->type(), sizes));
  std::vector<Instruction*> operands = {x->i, update.i};
  for (Instruction* s : StartIndices(b, x->shape(), sizes)) {
    operands.push_back(s);
  }
  Instruction* i = b.Add(Opcode::kDynamicUpdateSlice, x->shape(), operands);
  b.Push(i, std::min(x->low, update.low), std::max(x->high, update.high));
  return true;
}

// Which dimensions of an operand indices choose, for gather and scatter:
// `indexed` dimensions in the order of the index vector; `collapsed` those
// that do not appear in the window.
struct Indexing {
  DimVector indexed;
  DimVector collapsed;
  DimVector window;       // sizes of the dimensions that appear
  DimVector slice_sizes;  // of all dimensions
  DimVector batch;        // dimensions of the indices but for the vector
  Value indices;
  int64_t vector_dim;
};

Indexing RandomIndexing(RandomBuilder& b, const Shape& operand) {
  Indexing x;
  int64_t smallest = 1000;
  for (int64_t d = 0; d < operand.rank(); ++d) {
    bool is_indexed = b.random().Chance(0.5) || d + 1 == operand.rank();
    if (!is_indexed || (d + 1 == operand.rank() && !x.indexed.empty() &&
                        b.random().Chance(0.6))) {
      x.slice_sizes.push_back(operand.dim(d));
      x.window.push_back(operand.dim(d));
      continue;
    }
    x.indexed.push_back(d);
    smallest = std::min(smallest, operand.dim(d));
    if (b.random().Chance(0.7)) {
      x.collapsed.push_back(d);
      x.slice_sizes.push_back(1);
    } else {
      int64_t size = b.random().Between(1, operand.dim(d));
      x.slice_sizes.push_back(size);
      x.window.push_back(size);
    }
  }
  int64_t batch_rank = b.random().Between(0, 2);
  for (int64_t k = 0; k < batch_rank; ++k) {
    x.batch.push_back(b.random().Between(1, 4));
  }
  if (b.random().Chance(0.2) && batch_rank == 1 && x.indexed.size() == 1) {
    x.batch[0] = operand.dim(x.indexed[0]);
  }
  DimVector dims = x.batch;
  x.vector_dim = b.random().Between(0, batch_rank);
  if (x.indexed.size() == 1 && b.random().Chance(0.5)) {
    x.vector_dim = batch_rank;  // implicit
  } else {
    dims.insert(dims.begin() + x.vector_dim,
                static_cast<int64_t>(x.indexed.size()));
  }
  x.indices = b.Indices(dims, smallest);
  return x;
}

// Places `window` dimensions among `batch` ones; returns positions of the
// former and writes all sizes.
DimVector PlaceWindow(RandomBuilder& b, const Indexing& x, DimVector* dims) {
  DimVector positions;
  size_t w = 0;
  size_t n = 0;
  while (w < x.window.size() || n < x.batch.size()) {
    bool take_window =
        n == x.batch.size() || (w < x.window.size() && b.random().Chance(0.4));
    if (take_window) {
      positions.push_back(dims->size());
      dims->push_back(x.window[w++]);
    } else {
      dims->push_back(x.batch[n++]);
    }
  }
  return positions;
}

bool MakeGather(RandomBuilder& b) {
  std::optional<Value> x = b.Pick(HasElements);
  if (!x.has_value()) return false;
  Indexing g = RandomIndexing(b, x->shape());
  DimVector dims;
  DimVector offset = PlaceWindow(b, g, &dims);
  Shape shape = Shape::Array(x->type(), dims);
  if (shape.ElementCount() > 2 * b.options().max_elements) return false;
  Instruction* i = b.Add(Opcode::kGather, shape, {x->i, g.indices.i});
  i->set_ints(AttrId::kOffsetDims, offset);
  i->set_ints(AttrId::kCollapsedSliceDims, g.collapsed);
  i->set_ints(AttrId::kStartIndexMap, g.indexed);
  i->SetAttr(AttrId::kIndexVectorDim, g.vector_dim);
  i->set_ints(AttrId::kSliceSizes, g.slice_sizes);
  b.Push(i, *x);
  return true;
}

bool MakeScatter(RandomBuilder& b) {
  std::optional<Value> x = b.Pick([](const Value& v) {
    return HasElements(v) && !IsComplex(v.type()) && Info(v.type()).bits >= 8;
  });
  if (!x.has_value()) return false;
  Indexing s = RandomIndexing(b, x->shape());
  DimVector dims;
  DimVector window = PlaceWindow(b, s, &dims);
  Shape shape = Shape::Array(x->type(), dims);
  if (shape.ElementCount() > b.options().max_elements) return false;
  Value updates = b.Like(shape);
  // Duplicate indices make the order matter, except for these.
  bool sum = !IsPred(x->type()) && b.random().Chance(0.6);
  Value base = *x;
  if (sum && IsFloat(x->type())) {
    double m =
        Limit(x->type()) / 8 / std::max<int64_t>(shape.ElementCount(), 1);
    updates = b.Clamped(updates, -std::max(m, 0.05), std::max(m, 0.05));
    base = b.Tame(base);
  }
  Opcode op = sum                 ? Opcode::kAdd
              : IsPred(x->type()) ? Opcode::kOr
                                  : Opcode::kMaximum;
  Instruction* i =
      b.Add(Opcode::kScatter, x->shape(), {base.i, s.indices.i, updates.i});
  i->set_ints(AttrId::kUpdateWindowDims, window);
  i->set_ints(AttrId::kInsertedWindowDims, s.collapsed);
  i->set_ints(AttrId::kScatterDimsToOperandDims, s.indexed);
  i->SetAttr(AttrId::kIndexVectorDim, s.vector_dim);
  i->SetAttr(AttrId::kToApply, b.Reducer(op, x->type()));
  double grow = sum ? updates.magnitude() * shape.ElementCount() : 0;
  b.Push(i, std::min(base.low, updates.low) - grow,
         std::max(base.high, updates.high) + grow);
  return true;
}

bool MakeSort(RandomBuilder& b) {
  std::optional<Value> x = b.Pick([](const Value& v) {
    return v.shape().rank() > 0 && !IsComplex(v.type()) && !IsPred(v.type());
  });
  if (!x.has_value()) return false;
  bool pair = b.random().Chance(0.5);
  Shape scalar = Shape::Scalar(x->type());
  Computation* c = b.NewComputation("order");
  Instruction* p = c->AddParameter(0, scalar);
  Instruction* q = c->AddParameter(1, scalar);
  Value second = *x;
  if (pair) {
    second = b.Partner(*x);
    c->AddParameter(2, scalar);
    c->AddParameter(3, scalar);
  }
  Instruction* less =
      c->Add(Opcode::kCompare, Shape::Scalar(ElementType::kPred), {p, q});
  less->SetAttr(AttrId::kDirection,
                EnumValue{static_cast<int32_t>(
                    b.random().Chance(0.5) ? ComparisonDirection::kLt
                                           : ComparisonDirection::kGt)});
  c->set_root(less);
  int64_t along = b.random().Below(x->shape().rank());
  Shape shape = pair ? Shape::Tuple({x->shape(), x->shape()}) : x->shape();
  std::vector<Instruction*> operands = {x->i};
  if (pair) operands.push_back(second.i);
  Instruction* i = b.Add(Opcode::kSort, shape, operands);
  i->set_ints(AttrId::kDimensions, {along});
  i->SetAttr(AttrId::kIsStable, true);
  i->SetAttr(AttrId::kToApply, c);
  if (!pair) {
    b.Push(i, *x);
    return true;
  }
  for (int64_t k : {0, 1}) {
    Instruction* e = b.Add(Opcode::kGetTupleElement, x->shape(), {i});
    e->SetAttr(AttrId::kIndex, k);
    b.Push(e, k == 0 ? *x : second);
  }
  return true;
}

bool MakeTopK(RandomBuilder& b) {
  std::optional<Value> x = b.Pick([](const Value& v) {
    return v.shape().rank() == 1 && v.shape().ElementCount() > 0 &&
           (v.type() == ElementType::kF32 || v.type() == ElementType::kBF16);
  });
  if (!x.has_value() || !b.Uses(ElementType::kS32)) return false;
  int64_t k = b.random().Between(1, x->shape().dim(0));
  Shape values = Shape::Array(x->type(), {k});
  Shape where = Shape::Array(ElementType::kS32, {k});
  Instruction* i = b.Add(Opcode::kTopK, Shape::Tuple({values, where}), {x->i});
  i->SetAttr(AttrId::kK, k);
  i->SetAttr(AttrId::kLargest, b.random().Chance(0.7));
  Instruction* e0 = b.Add(Opcode::kGetTupleElement, values, {i});
  e0->SetAttr(AttrId::kIndex, int64_t{0});
  Instruction* e1 = b.Add(Opcode::kGetTupleElement, where, {i});
  e1->SetAttr(AttrId::kIndex, int64_t{1});
  b.Push(e0, *x);
  b.Push(e1, 0, 0);
  return true;
}

bool MakeRandomBits(RandomBuilder& b) {
  if (!b.Uses(ElementType::kU32)) return false;
  Shape state = Shape::Array(ElementType::kU64, {2});
  Shape bits = b.RandomShape(ElementType::kU32);
  Literal seed = Literal::Zeros(state);
  SetDouble(&seed, 0, static_cast<double>(b.random().Below(1000)));
  SetDouble(&seed, 1, static_cast<double>(b.random().Below(1000)));
  Instruction* key = b.computation()->AddConstant(std::move(seed));
  Instruction* i =
      b.Add(Opcode::kRngBitGenerator, Shape::Tuple({state, bits}), {key});
  i->SetAttr(AttrId::kRngAlgorithm,
             EnumValue{static_cast<int32_t>(b.random().Chance(0.5)
                                                ? RandomAlgorithm::kThreeFry
                                                : RandomAlgorithm::kPhilox)});
  Instruction* e = b.Add(Opcode::kGetTupleElement, bits, {i});
  e->SetAttr(AttrId::kIndex, int64_t{1});
  b.Push(e, 0, 0);
  return true;
}

bool MakeDimensionSize(RandomBuilder& b) {
  std::optional<Value> x = b.Pick(HasElements);
  if (!x.has_value() || !b.Uses(ElementType::kS32)) return false;
  Instruction* i = b.Add(Opcode::kGetDimensionSize,
                         Shape::Scalar(ElementType::kS32), {x->i});
  i->set_ints(AttrId::kDimensions, {b.random().Below(x->shape().rank())});
  b.Push(i, 0, 0);
  return true;
}

constexpr RandomOperation kOperations[] = {
    {"dynamic-slice", 4, false, MakeDynamicSlice},
    {"dynamic-update-slice", 3, false, MakeDynamicUpdateSlice},
    {"gather", 5, false, MakeGather},
    {"scatter", 3, false, MakeScatter},
    {"sort", 2, false, MakeSort},
    {"topk", 1, false, MakeTopK},
    {"rng-bit-generator", 1, false, MakeRandomBits},
    {"get-dimension-size", 1, false, MakeDimensionSize},
};

}  // namespace

absl::Span<const RandomOperation> IndexedOperations() { return kOperations; }

}  // namespace ridge::testing
