// Rules of slice, dynamic-slice, dynamic-update-slice, pad and concatenate.
// All exact.
#include <algorithm>

#include "hlo/passes/dimension_groups.h"
#include "hlo/passes/rules.h"
#include "hlo/passes/value_facts.h"

namespace ridge {
namespace {

absl::Span<const int64_t> Dims(const Instruction* i) {
  return i->shape().dims();
}

const SliceRanges& Ranges(const Instruction* i) {
  return *i->boxed<SliceRanges>(AttrId::kSlice);
}

// ---- slice ----

Instruction* SliceFull(Instruction* i, Rewriter& r) {
  return i->shape().Compatible(i->operand(0)->shape()) &&
                 std::all_of(Ranges(i).begin(), Ranges(i).end(),
                             [](const SliceRange& s) { return s.stride == 1; })
             ? i->operand(0)
             : nullptr;
}

Instruction* SliceOfSlice(Instruction* i, Rewriter& r) {
  SliceRanges merged;
  for (int64_t d = 0; d < i->shape().rank(); ++d) {
    const SliceRange& outer = Ranges(i)[d];
    const SliceRange& inner = Ranges(i->operand(0))[d];
    // The last element of a strided slice ends it, not its limit.
    int64_t last = outer.start + (Dims(i)[d] - 1) * outer.stride;
    merged.push_back({inner.start + outer.start * inner.stride,
                      inner.start + last * inner.stride + 1,
                      inner.stride * outer.stride});
  }
  return r.Slice(i->operand(0)->operand(0), std::move(merged));
}

Instruction* SliceOfBroadcast(Instruction* i, Rewriter& r) {
  Instruction* b = i->operand(0);
  if (!Ascends(b->dimensions())) return nullptr;
  SliceRanges ranges;
  for (int64_t d : b->dimensions()) ranges.push_back(Ranges(i)[d]);
  return r.Broadcast(r.Slice(b->operand(0), std::move(ranges)), b->dimensions(),
                     Dims(i));
}

// A slice that lies in one operand of a concatenation, or in several whole
// ones at stride 1.
Instruction* SliceOfConcatenate(Instruction* i, Rewriter& r) {
  Instruction* c = i->operand(0);
  int64_t along = c->dimensions()[0];
  SliceRange range = Ranges(i)[along];
  int64_t last = range.start + (Dims(i)[along] - 1) * range.stride;
  int64_t offset = 0;
  std::vector<Instruction*> inside;
  int64_t first_offset = 0;
  for (Instruction* o : c->operands()) {
    int64_t end = offset + Dims(o)[along];
    if (end > range.start && offset <= last) {
      if (inside.empty()) first_offset = offset;
      inside.push_back(o);
    }
    offset = end;
  }
  if (inside.empty() ||
      inside.size() == static_cast<size_t>(c->operand_count())) {
    return nullptr;
  }
  SliceRanges ranges = Ranges(i);
  ranges[along].start -= first_offset;
  ranges[along].limit = last + 1 - first_offset;
  if (inside.size() == 1) return r.Slice(inside[0], std::move(ranges));
  DimVector dims(Dims(c).begin(), Dims(c).end());
  dims[along] = 0;
  for (const Instruction* o : inside) dims[along] += Dims(o)[along];
  Instruction* part =
      r.AddLike(*c, inside, r.ArrayShape(i->shape().type(), dims));
  return r.Slice(part, std::move(ranges));
}

// Inside what was padded.
Instruction* SliceOfPad(Instruction* i, Rewriter& r) {
  Instruction* pad = i->operand(0);
  const PaddingConfig& padding = *pad->boxed<PaddingConfig>(AttrId::kPadding);
  SliceRanges ranges = Ranges(i);
  for (int64_t d = 0; d < i->shape().rank(); ++d) {
    int64_t last = ranges[d].start + (Dims(i)[d] - 1) * ranges[d].stride;
    int64_t size = Dims(pad->operand(0))[d];
    if (padding[d].interior != 0 || ranges[d].start < padding[d].low ||
        last - padding[d].low >= size) {
      return nullptr;
    }
    ranges[d].start -= padding[d].low;
    ranges[d].limit = last + 1 - padding[d].low;
  }
  return r.Slice(pad->operand(0), std::move(ranges));
}

// Reads less: f(x)[s] = f(x[s]) pays where nothing else needs f(x).
Instruction* SliceOfTranspose(Instruction* i, Rewriter& r) {
  Instruction* t = i->operand(0);
  if (t->use_count() != 1) return nullptr;
  SliceRanges ranges(i->shape().rank());
  for (int64_t d = 0; d < i->shape().rank(); ++d) {
    ranges[t->dimensions()[d]] = Ranges(i)[d];
  }
  return r.Transpose(r.Slice(t->operand(0), std::move(ranges)),
                     t->dimensions());
}

// ---- dynamic-slice, dynamic-update-slice ----

// The start indices where all are known: clamped into [0, size - extent].
std::optional<DimVector> KnownStarts(const Instruction* i, int64_t first_index,
                                     absl::Span<const int64_t> size,
                                     absl::Span<const int64_t> extent) {
  if (i->operand_count() - first_index != static_cast<int64_t>(size.size())) {
    return std::nullopt;  // the form with one index vector
  }
  DimVector starts;
  for (size_t d = 0; d < size.size(); ++d) {
    int64_t start = 0;
    if (size[d] != extent[d]) {
      std::optional<double> v = SplatValue(i->operand(first_index + d));
      if (!v.has_value()) return std::nullopt;
      start =
          std::clamp<int64_t>(static_cast<int64_t>(*v), 0, size[d] - extent[d]);
    }
    starts.push_back(start);
  }
  return starts;
}

Instruction* DynamicSliceOfKnown(Instruction* i, Rewriter& r) {
  std::optional<DimVector> starts =
      KnownStarts(i, 1, Dims(i->operand(0)), Dims(i));
  if (!starts.has_value()) return nullptr;
  SliceRanges ranges;
  for (int64_t d = 0; d < i->shape().rank(); ++d) {
    ranges.push_back({(*starts)[d], (*starts)[d] + Dims(i)[d], 1});
  }
  return r.Slice(i->operand(0), std::move(ranges));
}

Instruction* DynamicSliceOfBroadcast(Instruction* i, Rewriter& r) {
  Instruction* b = i->operand(0);
  if (!Ascends(b->dimensions()) ||
      i->operand_count() != 1 + i->shape().rank()) {
    return nullptr;
  }
  Instruction* x = b->operand(0);
  if (b->dimensions().empty()) return r.Broadcast(x, {}, Dims(i));
  std::vector<Instruction*> operands = {x};
  DimVector sizes;
  for (int64_t d : b->dimensions()) {
    operands.push_back(i->operand(1 + d));
    sizes.push_back(Dims(i)[d]);
  }
  Instruction* small =
      r.AddLike(*i, operands, r.ArrayShape(i->shape().type(), sizes));
  small->set_ints(AttrId::kDynamicSliceSizes, sizes);
  return r.Broadcast(small, b->dimensions(), Dims(i));
}

Instruction* UpdateOfAll(Instruction* i, Rewriter& r) {
  Instruction* update = i->operand(1);
  return update->shape().Compatible(i->shape()) ? update : nullptr;
}

Instruction* UpdateOfNothing(Instruction* i, Rewriter& r) {
  return i->operand(1)->shape().ElementCount() == 0 ? i->operand(0) : nullptr;
}

// Writes back what was read from the same place.
Instruction* UpdateWithOwnSlice(Instruction* i, Rewriter& r) {
  const Instruction* slice = i->operand(1);
  if (slice->opcode() != Opcode::kDynamicSlice ||
      slice->operand(0) != i->operand(0) ||
      slice->operand_count() + 1 != i->operand_count()) {
    return nullptr;
  }
  for (int64_t k = 1; k < slice->operand_count(); ++k) {
    if (slice->operand(k) != i->operand(k + 1)) return nullptr;
  }
  return i->operand(0);
}

// ---- pad ----

bool IsNoPadding(const PaddingDimension& p) {
  return p.low == 0 && p.high == 0 && p.interior == 0;
}

Instruction* PadNothing(Instruction* i, Rewriter& r) {
  const PaddingConfig& padding = *i->boxed<PaddingConfig>(AttrId::kPadding);
  // Interior padding of at most one element pads nothing.
  for (size_t d = 0; d < padding.size(); ++d) {
    if (padding[d].low != 0 || padding[d].high != 0 ||
        (padding[d].interior != 0 && Dims(i)[d] > 1)) {
      return nullptr;
    }
  }
  return i->operand(0);
}

Instruction* PadOfPad(Instruction* i, Rewriter& r) {
  Instruction* inner = i->operand(0);
  if (inner->operand(1) != i->operand(1)) return nullptr;
  PaddingConfig merged = *i->boxed<PaddingConfig>(AttrId::kPadding);
  const PaddingConfig& first = *inner->boxed<PaddingConfig>(AttrId::kPadding);
  for (size_t d = 0; d < merged.size(); ++d) {
    if (IsNoPadding(first[d])) continue;
    if (IsNoPadding(merged[d])) {
      merged[d] = first[d];
      continue;
    }
    if (merged[d].interior != 0 || merged[d].low < 0 || merged[d].high < 0 ||
        first[d].low < 0 || first[d].high < 0) {
      return nullptr;
    }
    merged[d].low += first[d].low;
    merged[d].high += first[d].high;
    merged[d].interior = first[d].interior;
  }
  Instruction* pad =
      r.AddLike(*i, {inner->operand(0), i->operand(1)}, i->shape());
  pad->set_boxed(AttrId::kPadding, std::move(merged));
  return pad;
}

Instruction* PadNegative(Instruction* i, Rewriter& r) {
  // Only cuts: a slice says it better.
  SliceRanges ranges;
  int64_t d = 0;
  for (const PaddingDimension& p : *i->boxed<PaddingConfig>(AttrId::kPadding)) {
    if (p.low > 0 || p.high > 0 || p.interior != 0) return nullptr;
    ranges.push_back({-p.low, Dims(i->operand(0))[d++] + p.high, 1});
  }
  return r.Slice(i->operand(0), std::move(ranges));
}

Instruction* PadEmpty(Instruction* i, Rewriter& r) {
  if (i->operand(0)->shape().ElementCount() != 0) return nullptr;
  return r.Broadcast(i->operand(1), {}, Dims(i));
}

// ---- concatenate ----

Instruction* ConcatenateOne(Instruction* i, Rewriter& r) {
  return i->operand_count() == 1 ? i->operand(0) : nullptr;
}

Instruction* ConcatenateEmpty(Instruction* i, Rewriter& r) {
  std::vector<Instruction*> kept;
  for (Instruction* o : i->operands()) {
    if (o->shape().ElementCount() != 0) kept.push_back(o);
  }
  if (kept.empty() || kept.size() == static_cast<size_t>(i->operand_count())) {
    return nullptr;
  }
  return kept.size() == 1 ? kept[0] : r.AddLike(*i, kept, i->shape());
}

Instruction* ConcatenateOfConcatenate(Instruction* i, Rewriter& r) {
  std::vector<Instruction*> flat;
  for (Instruction* o : i->operands()) {
    bool inner = o->opcode() == Opcode::kConcatenate && o->use_count() == 1 &&
                 o->dimensions() == i->dimensions();
    if (inner) {
      flat.insert(flat.end(), o->operands().begin(), o->operands().end());
    } else {
      flat.push_back(o);
    }
  }
  if (flat.size() == static_cast<size_t>(i->operand_count())) return nullptr;
  return r.AddLike(*i, flat, i->shape());
}

// Neighbouring slices of one value are one slice.
Instruction* ConcatenateOfSlices(Instruction* i, Rewriter& r) {
  int64_t along = i->dimensions()[0];
  auto slice = [](const Instruction* o) {
    return o->opcode() == Opcode::kSlice;
  };
  std::vector<Instruction*> merged;
  SliceRanges run;  // of the last one in `merged`, once it grew
  bool changed = false;
  auto follows = [&](const SliceRanges& a, const SliceRanges& b) {
    for (size_t d = 0; d < a.size(); ++d) {
      if (static_cast<int64_t>(d) == along) {
        if (a[d].stride != 1 || b[d].stride != 1 || a[d].limit != b[d].start) {
          return false;
        }
      } else if (!(a[d] == b[d])) {
        return false;
      }
    }
    return true;
  };
  // First find out whether anything merges: a rule that fails builds nothing.
  for (int64_t k = 1; k < i->operand_count() && !changed; ++k) {
    const Instruction* a = i->operand(k - 1);
    const Instruction* b = i->operand(k);
    changed = slice(a) && slice(b) && a->operand(0) == b->operand(0) &&
              follows(Ranges(a), Ranges(b));
  }
  if (!changed) return nullptr;
  for (int64_t k = 0; k < i->operand_count();) {
    Instruction* o = i->operand(k++);
    if (!slice(o)) {
      merged.push_back(o);
      continue;
    }
    run = Ranges(o);
    Instruction* x = o->operand(0);
    int64_t first = k;
    while (k < i->operand_count() && slice(i->operand(k)) &&
           i->operand(k)->operand(0) == x &&
           follows(run, Ranges(i->operand(k)))) {
      run[along].limit = Ranges(i->operand(k))[along].limit;
      ++k;
    }
    merged.push_back(k == first ? o : r.Slice(x, run));
  }
  if (merged.size() == 1) return merged[0];
  return r.AddLike(*i, merged, i->shape());
}

// Equal values side by side along a broadcast dimension.
Instruction* ConcatenateOfBroadcasts(Instruction* i, Rewriter& r) {
  int64_t along = i->dimensions()[0];
  const Instruction* first = i->operand(0);
  if (first->opcode() != Opcode::kBroadcast) return nullptr;
  for (const Instruction* o : i->operands()) {
    if (o->opcode() != Opcode::kBroadcast ||
        o->operand(0) != first->operand(0) ||
        o->dimensions() != first->dimensions()) {
      return nullptr;
    }
  }
  Ints map = first->dimensions();
  if (!Ascends(map) || std::find(map.begin(), map.end(), along) != map.end()) {
    return nullptr;
  }
  return r.Broadcast(first->operand(0), map, Dims(i));
}

constexpr RewriteRule kRules[] = {
    {"slice-full", Opcode::kSlice, kAnyOpcode, "x[0:n] = x", SliceFull},
    {"slice-of-slice", Opcode::kSlice, Opcode::kSlice, "x[a][b] = x[c]",
     SliceOfSlice},
    {"slice-of-broadcast", Opcode::kSlice, Opcode::kBroadcast,
     "broadcast(x)[s] = broadcast(x[s])", SliceOfBroadcast},
    {"slice-of-concatenate", Opcode::kSlice, Opcode::kConcatenate,
     "concatenate(x, y)[s] = x[s] where s lies in x", SliceOfConcatenate},
    {"slice-of-pad", Opcode::kSlice, Opcode::kPad,
     "pad(x)[s] = x[s] where s lies in x", SliceOfPad},
    {"slice-of-transpose", Opcode::kSlice, Opcode::kTranspose,
     "transpose(x)[s] = transpose(x[s])", SliceOfTranspose},
    {"dynamic-slice-of-known", Opcode::kDynamicSlice, kAnyOpcode,
     "dynamic-slice(x, constants) = slice(x)", DynamicSliceOfKnown},
    {"dynamic-slice-of-broadcast", Opcode::kDynamicSlice, Opcode::kBroadcast,
     "dynamic-slice(broadcast(x)) = broadcast(dynamic-slice(x))",
     DynamicSliceOfBroadcast},
    {"update-of-all", Opcode::kDynamicUpdateSlice, kAnyOpcode,
     "dynamic-update-slice(x: S, u: S) = u", UpdateOfAll},
    {"update-of-nothing", Opcode::kDynamicUpdateSlice, kAnyOpcode,
     "dynamic-update-slice(x, u: [0]) = x", UpdateOfNothing},
    {"update-with-own-slice", Opcode::kDynamicUpdateSlice, kAnyOpcode,
     "dynamic-update-slice(x, dynamic-slice(x, i), i) = x", UpdateWithOwnSlice},
    {"pad-nothing", Opcode::kPad, kAnyOpcode, "pad(x, 0_0) = x", PadNothing},
    {"pad-of-pad", Opcode::kPad, Opcode::kPad, "pad(pad(x, c), c) = pad(x, c)",
     PadOfPad},
    {"pad-negative", Opcode::kPad, kAnyOpcode, "pad(x, -1_-1) = slice(x)",
     PadNegative},
    {"pad-empty", Opcode::kPad, kAnyOpcode, "pad(x: [0], c) = broadcast(c)",
     PadEmpty},
    {"concatenate-one", Opcode::kConcatenate, kAnyOpcode, "concatenate(x) = x",
     ConcatenateOne},
    {"concatenate-empty", Opcode::kConcatenate, kAnyOpcode,
     "concatenate(x, y: [0]) = x", ConcatenateEmpty},
    {"concatenate-of-concatenate", Opcode::kConcatenate, kAnyOpcode,
     "concatenate(concatenate(x, y), z) = concatenate(x, y, z)",
     ConcatenateOfConcatenate},
    {"concatenate-of-slices", Opcode::kConcatenate, kAnyOpcode,
     "concatenate(x[0:k], x[k:n]) = x[0:n]", ConcatenateOfSlices},
    {"concatenate-of-broadcasts", Opcode::kConcatenate, Opcode::kBroadcast,
     "concatenate(broadcast(x), broadcast(x)) = broadcast(x)",
     ConcatenateOfBroadcasts},
};

}  // namespace

absl::Span<const RewriteRule> SliceRules() { return kRules; }

}  // namespace ridge
