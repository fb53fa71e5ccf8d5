#include "hlo/testing/reducer.h"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "hlo/passes/call_inliner.h"
#include "hlo/passes/dce.h"
#include "hlo/passes/pipeline.h"
#include "hlo/verify/verify.h"

namespace ridge {
namespace {

// Candidates name instructions by position (computation, index in its list),
// which a clone keeps.
struct Position {
  size_t computation;
  size_t index;
};

Instruction* At(Module& module, Position p) {
  if (p.computation >= module.computations().size()) return nullptr;
  Instruction* i = module.computations()[p.computation]->first();
  for (size_t k = 0; k < p.index && i != nullptr; ++k) i = i->next();
  return i;
}

std::vector<Position> AllPositions(const Module& module) {
  std::vector<Position> result;
  // Callers first, and from the end: the largest cuts.
  for (size_t c = module.computations().size(); c-- > 0;) {
    for (size_t k = module.computations()[c]->instruction_count(); k-- > 0;) {
      result.push_back({c, k});
    }
  }
  return result;
}

void DropUnusedParameters(Module* module) {
  Computation* entry = module->entry();
  for (int64_t k = entry->parameters().size(); k-- > 0;) {
    Instruction* p = entry->parameter(k);
    if (p != nullptr && p->use_count() == 0 && !p->IsRoot()) {
      entry->RemoveParameter(k);
    }
  }
}

class Reducer {
 public:
  Reducer(const Module& module, const FailurePredicate& fails,
          const ReducerOptions& options)
      : best_(module.Clone()), fails_(fails), left_(options.max_attempts) {
    best_->mutable_header()->clear();
  }

  std::unique_ptr<Module> Run() {
    if (!fails_(*best_)) return std::move(best_);
    bool smaller = true;
    while (smaller && left_ > 0) {
      smaller = false;
      smaller |= OpenCalls();
      smaller |= FewerOutputs();
      smaller |= EarlierRoot();
      smaller |= ReplaceInstructions();
      smaller |= OpenLoops();
      smaller |= ShrinkDimensions();
    }
    return std::move(best_);
  }

 private:
  // Accepts `candidate` if it is valid and still fails.
  bool Try(std::unique_ptr<Module> candidate) {
    if (left_ <= 0) return false;
    if (!EliminateDeadCode(candidate.get(), PassOptions()).ok()) return false;
    DropUnusedParameters(candidate.get());
    if (!VerifyStatus(*candidate, AfterPasses()).ok()) return false;
    --left_;
    if (!fails_(*candidate)) return false;
    best_ = std::move(candidate);
    return true;
  }

  bool OpenCalls() {
    std::unique_ptr<Module> candidate = best_->Clone();
    absl::StatusOr<bool> changed = InlineCalls(candidate.get(), PassOptions());
    return changed.ok() && *changed && Try(std::move(candidate));
  }

  // Halves, then single elements, of a tuple root.
  bool FewerOutputs() {
    bool any = false;
    while (best_->entry()->root()->opcode() == Opcode::kTuple &&
           best_->entry()->root()->operand_count() > 1) {
      int64_t n = best_->entry()->root()->operand_count();
      bool smaller = false;
      for (int64_t size = std::max<int64_t>(n / 2, 1); size >= 1 && !smaller;
           size /= 2) {
        for (int64_t from = 0; from < n && !smaller; from += size) {
          std::unique_ptr<Module> candidate = best_->Clone();
          Computation* entry = candidate->entry();
          std::vector<Instruction*> kept;
          std::vector<Shape> shapes;
          for (int64_t k = from; k < std::min(from + size, n); ++k) {
            kept.push_back(entry->root()->operand(k));
            shapes.push_back(kept.back()->shape());
          }
          entry->set_root(
              kept.size() == 1
                  ? kept[0]
                  : entry->Add(Opcode::kTuple, Shape::Tuple(shapes), kept));
          smaller = Try(std::move(candidate));
        }
      }
      if (!smaller) break;
      any = true;
    }
    return any;
  }

  bool EarlierRoot() {
    bool any = false;
    bool smaller = true;
    while (smaller) {
      smaller = false;
      int64_t n = best_->entry()->root()->operand_count();
      for (int64_t k = 0; k < n && !smaller; ++k) {
        std::unique_ptr<Module> candidate = best_->Clone();
        Computation* entry = candidate->entry();
        Instruction* operand = entry->root()->operand(k);
        if (operand->opcode() == Opcode::kParameter) continue;
        entry->set_root(operand);
        smaller = Try(std::move(candidate));
      }
      any |= smaller;
    }
    return any;
  }

  bool ReplaceInstructions() {
    bool any = false;
    for (Position p : AllPositions(*best_)) {
      // Positions after an accepted cut may point elsewhere or nowhere; that
      // only changes the order in which things are tried.
      any |= ReplaceOne(p);
    }
    return any;
  }

  bool ReplaceOne(Position p) {
    const Instruction* old = At(*best_, p);
    if (old == nullptr || old->opcode() == Opcode::kParameter ||
        !old->shape().IsArray() || old->use_count() == 0) {
      return false;
    }
    bool in_entry = old->parent()->IsEntry();
    bool trivial = old->opcode() == Opcode::kConstant;
    if (!trivial && !old->IsRoot() && in_entry) {
      std::unique_ptr<Module> candidate = best_->Clone();
      Instruction* i = At(*candidate, p);
      Computation* c = i->parent();
      Instruction* parameter =
          c->AddParameter(c->parameters().size(), i->shape());
      c->MoveBefore(parameter, c->first());
      i->ReplaceAllUsesWith(parameter);
      if (Try(std::move(candidate))) return true;
    }
    if (!trivial) {
      for (int64_t k = 0; k < old->operand_count(); ++k) {
        if (old->operand(k)->shape() != old->shape()) continue;
        std::unique_ptr<Module> candidate = best_->Clone();
        Instruction* i = At(*candidate, p);
        i->ReplaceAllUsesWith(i->operand(k));
        if (Try(std::move(candidate))) return true;
      }
    }
    bool splat = old->opcode() == Opcode::kBroadcast &&
                 old->operand(0)->opcode() == Opcode::kConstant;
    if (trivial && old->shape().IsScalar()) return false;
    if (splat || old->shape().ElementCount() > 4096) return false;
    for (double value : {0.0, 1.0}) {
      std::unique_ptr<Module> candidate = best_->Clone();
      Instruction* i = At(*candidate, p);
      Computation* c = i->parent();
      Instruction* constant = c->AddConstant(
          FullLiteral(Shape::Scalar(i->shape().type()), value), i);
      Instruction* replacement = constant;
      if (i->shape().rank() > 0) {
        replacement = c->Add(Opcode::kBroadcast, i->shape(), {constant}, "", i);
        replacement->set_ints(AttrId::kDimensions, {});
      }
      i->ReplaceAllUsesWith(replacement);
      if (Try(std::move(candidate))) return true;
    }
    return false;
  }

  bool OpenLoops() {
    bool any = false;
    for (Position p : AllPositions(*best_)) {
      const Instruction* old = At(*best_, p);
      if (old == nullptr) continue;
      bool loop = old->opcode() == Opcode::kWhile;
      if (!loop && old->opcode() != Opcode::kConditional) continue;
      int64_t ways = loop ? 1 : old->branches().size();
      for (int64_t k = 0; k < ways; ++k) {
        std::unique_ptr<Module> candidate = best_->Clone();
        Instruction* i = At(*candidate, p);
        Computation* callee =
            loop ? i->computation(AttrId::kBody) : i->branches()[k];
        Instruction* call =
            i->parent()->Add(Opcode::kCall, i->shape(),
                             {i->operand(loop ? 0 : 1 + k)}, "call", i);
        call->SetAttr(AttrId::kToApply, callee);
        i->ReplaceAllUsesWith(call);
        i->parent()->Remove(i);
        if (InlineCalls(candidate.get(), PassOptions()).ok() &&
            Try(std::move(candidate))) {
          any = true;
          break;
        }
      }
    }
    return any;
  }

  // Every dimension of size `from`, wherever it stands, becomes `to`. Most
  // such modules are not valid; those that are, are smaller.
  bool ShrinkDimensions() {
    std::set<int64_t, std::greater<int64_t>> sizes;
    for (const Computation* c : best_->computations()) {
      for (const Instruction* i : c->instructions()) {
        if (!i->shape().IsArray()) continue;
        for (int64_t d : i->shape().dims()) {
          if (d > 1) sizes.insert(d);
        }
      }
    }
    bool any = false;
    for (int64_t from : sizes) {
      for (int64_t to : {1, 2}) {
        if (to >= from) continue;
        std::unique_ptr<Module> candidate = best_->Clone();
        if (Resize(candidate.get(), from, to) && Try(std::move(candidate))) {
          any = true;
          break;
        }
      }
    }
    return any;
  }

  static Shape Resized(Shape shape, int64_t from, int64_t to) {
    if (shape.IsTuple()) {
      for (size_t k = 0; k < shape.tuple_shapes().size(); ++k) {
        *shape.mutable_tuple_shape(k) = Resized(shape.tuple_shape(k), from, to);
      }
      return shape;
    }
    for (int64_t d = 0; d < shape.rank(); ++d) {
      if (shape.dim(d) == from) shape.set_dim(d, to);
    }
    return shape;
  }

  static bool Resize(Module* module, int64_t from, int64_t to) {
    for (Computation* c : module->computations()) {
      for (Instruction* i : c->instructions()) {
        Shape shape = Resized(i->shape(), from, to);
        if (i->opcode() == Opcode::kConstant && shape != i->shape()) {
          // The first elements of the old one.
          if (!shape.IsArray() || shape.ElementCount() == 0) return false;
          const Literal& old = i->literal();
          size_t bytes = shape.ElementCount() * StorageBytes(shape.type());
          if (old.byte_size() < bytes) return false;
          i->set_literal(std::make_shared<const Literal>(Literal::FromBytes(
              shape, std::vector<uint8_t>(old.bytes(), old.bytes() + bytes))));
        }
        i->set_shape(shape);
        for (AttrId id : {AttrId::kDynamicSliceSizes, AttrId::kSliceSizes}) {
          if (!i->has(id) || Info(id).kind != AttrKind::kInts) continue;
          std::vector<int64_t> sizes(i->ints(id).begin(), i->ints(id).end());
          std::replace(sizes.begin(), sizes.end(), from, to);
          i->set_ints(id, sizes);
        }
        if (const SliceRanges* ranges = i->boxed<SliceRanges>(AttrId::kSlice)) {
          SliceRanges shorter = *ranges;
          for (SliceRange& r : shorter) {
            if (r.limit - r.start == from) r.limit = r.start + to;
          }
          i->set_boxed(AttrId::kSlice, std::move(shorter));
        }
      }
    }
    return true;
  }

  std::unique_ptr<Module> best_;
  const FailurePredicate& fails_;
  int64_t left_;
};

}  // namespace

std::unique_ptr<Module> ReduceModule(const Module& module,
                                     const FailurePredicate& fails,
                                     const ReducerOptions& options) {
  return Reducer(module, fails, options).Run();
}

}  // namespace ridge
