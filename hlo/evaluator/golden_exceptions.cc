#include "hlo/evaluator/golden_exceptions.h"

#include <algorithm>
#include <cmath>
#include <memory>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "hlo/base/status_macros.h"

namespace ridge {
namespace {

const std::vector<GoldenException>& Table() {
  static const auto& kTable = *new std::vector<GoldenException>{
      // clang-format off
      {"xla__hlo__evaluator__hlo_evaluator_test.cc__L6038__HloEvaluatorTes"
       "t.PreserveFusionOutputLayout",
       GoldenReason::kBitcastLayout},
      {"xla__hlo__evaluator__hlo_evaluator_test.cc__L6059__HloEvaluatorTes"
       "t.PreserveMOFusionOutputLayout",
       GoldenReason::kBitcastLayout},
      {"xla__service__while_loop_simplifier_test.cc__L405__WhileLoopSimpli"
       "fierTest.LoopWithEmptyTupleNotSimplified",
       GoldenReason::kEndless},
      {"xla__service__while_loop_simplifier_test.cc__L744__WhileLoopSimpli"
       "fierTest.FlattenNestedTuple",
       GoldenReason::kEndless},
      {"xla__service__while_util_test.cc__L145__WhileUtilTest.MakeInstruct"
       "ionLiveInWithOriginalValue",
       GoldenReason::kEndless},
      {"xla__service__gpu__transforms__gemm_rewriter_test.cc__L231__GemmRe"
       "writeTest.ReduceOfBatchDot",
       GoldenReason::kMoreExact},
      {"zoo/math_zoo",
       GoldenReason::kMoreExact},
      {"xla__service__elemental_ir_emitter_test.cc__L204__ElementalIrEmitt"
       "erExecutionTest.DivideComplexNumbersWithFiniteNormRhs",
       GoldenReason::kNanConstant},
      {"xla__service__elemental_ir_emitter_test.cc__L226__ElementalIrEmitt"
       "erExecutionTest.DivideComplexNumbersWithZeroNormRhs",
       GoldenReason::kNanConstant},
      {"small/gelu_mlp_grad_bf16",
       GoldenReason::kNarrowSums},
      {"xla__service__debug__unstable_reduction_detector_test.cc__L32__kUn"
       "stableReductionHloModule",
       GoldenReason::kNarrowSums},
      {"xla__service__debug__unstable_reduction_detector_test.cc__L49__kUn"
       "stableReductionNoMetadataHloModule",
       GoldenReason::kNarrowSums},
      {"xla__service__gpu__tests__reduce_fold_zero_add",
       GoldenReason::kNarrowSums},
      {"xla__service__gpu__transforms__conv_rewriter_test.cc__L805__ConvRe"
       "writerTest.TestInvalidTypes",
       GoldenReason::kNarrowSums},
      {"xla__service__gpu__transforms__cudnn_fused_conv_rewriter_test.cc__"
       "L1995__CudnnFusedConvRewriterHloTest.FuseElu",
       GoldenReason::kNarrowSums},
      {"xla__service__gpu__transforms__cudnn_fused_conv_rewriter_test.cc__"
       "L2042__CudnnFusedConvRewriterHloTest.DontFuseEluIfMultipleUses",
       GoldenReason::kNarrowSums},
      {"xla__service__gpu__transforms__dot_strength_reduction_test.cc__L10"
       "2__DotStrengthReductionTest.UpcastInReductionF8E4M3FN",
       GoldenReason::kNarrowSums},
      {"xla__service__gpu__transforms__gemm_rewriter_fp8_test.cc__L1797__P"
       "arameterizedFp8GemmRewriteTest.ScaledABScaledDMatrixBiasWithDAmaxF"
       "8",
       GoldenReason::kNarrowSums},
      {"xla__service__gpu__transforms__gemm_rewriter_fp8_test.cc__L1877__P"
       "arameterizedFp8GemmRewriteTest.ScaledABScaledDVectorBiasF8",
       GoldenReason::kNarrowSums},
      {"xla__service__gpu__transforms__gemm_rewriter_fp8_test.cc__L195__Pa"
       "rameterizedFp8GemmRewriteTest.DoNotRewriteToF8OnPreAda",
       GoldenReason::kNarrowSums},
      {"xla__service__gpu__transforms__gemm_rewriter_fp8_test.cc__L271__Pa"
       "rameterizedFp8GemmRewriteTest.UnscaledABUnscaledDF8",
       GoldenReason::kNarrowSums},
      {"xla__service__gpu__transforms__gemm_rewriter_fp8_test.cc__L327__Pa"
       "rameterizedFp8GemmRewriteTest.UnscaledABUnscaledDMatrixBiasF8",
       GoldenReason::kNarrowSums},
      {"xla__tests__collective_pipeliner_execution_test.cc__L1233__Collect"
       "ivePipelinerExecutionTest.ForwardSinkDependentPipelineableCollecti"
       "ves",
       GoldenReason::kNarrowSums},
      {"xla__hlo__transforms__simplifiers__algebraic_simplifier_test.cc__L"
       "12707__AlgebraicSimplifierTest.ReduceBroadcastScalarToBroadcastMul"
       "tiply",
       GoldenReason::kSaturated},
      {"xla__hlo__experimental__auto_sharding__auto_sharding_test.cc__L200"
       "8__AutoShardingTest.ReduceTest",
       GoldenReason::kStart},
      {"xla__hlo__parser__hlo_parser_test.cc__L671__ReduceWindowScalar",
       GoldenReason::kStart},
      {"xla__service__debug__unstable_reduction_detector_test.cc__L65__kNo"
       "OpUnstableReductionHloModule",
       GoldenReason::kStart},
      {"xla__service__gpu__hlo_fusion_analysis_test.cc__L169__HloFusionAna"
       "lysisTest.ReductionEpilogueFusionPartiallyFusedInConsumer",
       GoldenReason::kStart},
      {"xla__tests__reduce_test.cc__L1056__ReduceHloTest.ReduceWithEpilogu"
       "eMultiOutputFusion",
       GoldenReason::kStart},
      {"zoo/matmul_epilogues",
       GoldenReason::kUnrounded},
      {"xla__service__hlo_instruction_test.cc__L3081__HloInstructionTest.U"
       "nfuseInstruction",
       GoldenReason::kUnwritten},
      {"xla__service__hlo_instruction_test.cc__L3111__HloInstructionTest.U"
       "nfuseInstruction2",
       GoldenReason::kUnwritten},
      {"xla__service__hlo_instruction_test.cc__L3147__HloInstructionTest.U"
       "nfuseInstructionWithConstantOperand",
       GoldenReason::kUnwritten},
      // clang-format on
  };
  return kTable;
}

void Leaves(const Literal& literal, std::vector<const Literal*>* leaves) {
  if (literal.shape().IsTuple()) {
    for (const Literal& e : literal.elements()) Leaves(e, leaves);
  } else if (literal.shape().IsArray()) {
    leaves->push_back(&literal);
  }
}

// The stored leaves beside those of a bounded evaluation.
struct Outputs {
  BoundedValue bounded;
  std::vector<const Literal*> stored, value, bound;
};
absl::StatusOr<std::unique_ptr<Outputs>> Evaluated(
    const Module& module, absl::Span<const Literal> arguments,
    const Literal& stored) {
  auto o = std::make_unique<Outputs>();
  RIDGE_ASSIGN_OR_RETURN(o->bounded, EvaluateWithBounds(module, arguments));
  Leaves(stored, &o->stored);
  Leaves(o->bounded.value, &o->value);
  Leaves(o->bounded.bound, &o->bound);
  return o;
}

absl::Status CheckMoreExact(const Module& module,
                            absl::Span<const Literal> arguments,
                            const Literal& stored) {
  RIDGE_ASSIGN_OR_RETURN(auto o, Evaluated(module, arguments, stored));
  EvalOptions wide;
  wide.precision = EvalPrecision::kF64;
  RIDGE_ASSIGN_OR_RETURN(Literal exact, Evaluate(module, arguments, wide));
  std::vector<const Literal*> exacts;
  Leaves(exact, &exacts);
  for (size_t k = 0; k < o->stored.size(); ++k) {
    const ElementType type = o->stored[k]->shape().type();
    const double u =
        IsFloat(type) ? std::ldexp(1.0, -Info(type).mantissa_bits) : 0;
    for (int64_t i = 0; i < o->stored[k]->shape().ElementCount(); ++i) {
      const double s = GetDouble(*o->stored[k], i);
      const double v = GetDouble(*o->value[k], i);
      const double x = GetDouble(*exacts[k], i);
      const double slack = GetDouble(*o->bound[k], i) + 4 * u * std::fabs(x);
      if (std::min(v, x) - slack <= s && s <= std::max(v, x) + slack) continue;
      return absl::InternalError(absl::StrCat("output ", k, " element ", i,
                                              ": stored ", s, ", evaluated ", v,
                                              ", in double ", x));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckStart(const Module& module,
                        absl::Span<const Literal> arguments,
                        const Literal& stored) {
  for (int times = 0; times <= 64; ++times) {
    std::unique_ptr<Module> copy = module.Clone();
    std::vector<Literal> scaled(arguments.begin(), arguments.end());
    bool found = false;
    auto scale = [&](const Literal& init) {
      found = found || GetDouble(init, 0) != 0;
      return FullLiteral(init.shape(), times * GetDouble(init, 0));
    };
    absl::flat_hash_set<const Instruction*> done;
    for (const Instruction* i : copy->entry()->instructions()) {
      if (Info(i->opcode()).op_class != OpClass::kReduce) continue;
      Instruction* init = i->operand(i->operand_count() - 1);
      if (!done.insert(init).second) continue;
      if (init->opcode() == Opcode::kConstant) {
        init->set_literal(
            std::make_shared<const Literal>(scale(init->literal())));
      } else if (init->opcode() == Opcode::kParameter) {
        Literal& a = scaled[init->parameter_number()];
        a = scale(a);
      }
    }
    if (!found && times > 0) break;
    RIDGE_ASSIGN_OR_RETURN(Comparison again,
                           CompareWithEvaluator(*copy, scaled, stored));
    if (again.ok) return absl::OkStatus();
  }
  return absl::InternalError("no multiple of its start explains the outputs");
}

Shape WithoutLayout(const Shape& shape) {
  Shape s = shape;
  s.SetDefaultLayout();
  return s;
}

absl::Status CheckBitcastLayout(const Module& module,
                                absl::Span<const Literal> arguments,
                                const Literal& stored) {
  std::unique_ptr<Module> copy = module.Clone();
  bool bitcast = false;
  for (Computation* c : copy->computations()) {
    for (Instruction* i : c->instructions()) {
      bitcast = bitcast || i->opcode() == Opcode::kBitcast;
      i->set_shape(WithoutLayout(i->shape()));
    }
  }
  if (!bitcast) return absl::InternalError("has no bitcast");
  RIDGE_ASSIGN_OR_RETURN(Comparison again,
                         CompareWithEvaluator(*copy, arguments, stored));
  return again.ok ? absl::OkStatus() : absl::InternalError(again.ToString());
}

absl::Status CheckUnwritten(const Module& module, const Literal& stored) {
  bool passes = false;
  for (const Computation* c : module.computations()) {
    if (c->IsEntry() || c->root()->opcode() != Opcode::kTuple) continue;
    for (const Instruction* o : c->root()->operands()) {
      passes = passes || o->opcode() == Opcode::kParameter;
    }
  }
  if (!passes) return absl::InternalError("no fusion passes a parameter on");
  std::vector<const Literal*> leaves;
  Leaves(stored, &leaves);
  for (const Literal* l : leaves) {
    for (int64_t i = 0; i < l->shape().ElementCount(); ++i) {
      const double x = std::fabs(GetDouble(*l, i));
      if (x != 0 && x < 1e-30) return absl::OkStatus();
    }
  }
  return absl::InternalError("every stored number could come from the inputs");
}

// OK if the outputs of a changed copy are within its bound.
absl::Status Explains(const Module& changed,
                      absl::Span<const Literal> arguments,
                      const Literal& stored) {
  RIDGE_ASSIGN_OR_RETURN(Comparison again,
                         CompareWithEvaluator(changed, arguments, stored));
  return again.ok ? absl::OkStatus() : absl::InternalError(again.ToString());
}

absl::Status CheckEndless(const Module& module,
                          absl::Span<const Literal> arguments,
                          const Literal& stored) {
  EvalOptions options;
  options.max_steps = 1000;
  absl::Status status = Evaluate(module, arguments, options).status();
  if (status.code() != absl::StatusCode::kResourceExhausted) {
    return absl::InternalError(
        absl::StrCat("the loop ends: ", status.ToString()));
  }
  for (bool step : {false, true}) {
    std::unique_ptr<Module> copy = module.Clone();
    Computation* entry = copy->entry();
    for (Instruction* i : entry->instructions()) {
      if (i->opcode() != Opcode::kWhile) continue;
      Instruction* state = i->operand(0);
      if (step) {
        state = entry->Add(Opcode::kCall, i->shape(), {state}, "step", i);
        state->SetAttr(AttrId::kToApply, i->computation(AttrId::kBody));
      }
      i->ReplaceAllUsesWith(state);
    }
    RIDGE_RETURN_IF_ERROR(Explains(*copy, arguments, stored));
  }
  return absl::OkStatus();
}

bool IsNarrow(const Instruction* i) {
  return i->shape().IsArray() && IsFloat(i->shape().type()) &&
         Info(i->shape().type()).bits < 32;
}

absl::Status CheckUnrounded(const Module& module,
                            absl::Span<const Literal> arguments,
                            const Literal& stored) {
  // The k-th pair, until there is none.
  for (int64_t k = 0;; ++k) {
    std::unique_ptr<Module> copy = module.Clone();
    int64_t seen = 0;
    Instruction* convert = nullptr;
    for (Instruction* i : copy->entry()->instructions()) {
      if (i->opcode() == Opcode::kConvert && IsNarrow(i->operand(0)) &&
          i->shape().type() == ElementType::kF32 &&
          Info(i->operand(0)->opcode()).op_class == OpClass::kElementwise &&
          i->operand(0)->operand_count() == 2 && seen++ == k) {
        convert = i;
      }
    }
    if (convert == nullptr) break;
    Computation* c = copy->entry();
    Instruction* narrow = convert->operand(0);
    std::vector<Instruction*> wide;
    for (Instruction* o : narrow->operands()) {
      Shape shape = o->shape();
      shape.set_type(ElementType::kF32);
      wide.push_back(c->Add(Opcode::kConvert, shape, {o}, "wide", convert));
    }
    Instruction* result =
        c->Add(narrow->opcode(), convert->shape(), wide, "unrounded", convert);
    convert->ReplaceAllUsesWith(result);
    if (Explains(*copy, arguments, stored).ok()) return absl::OkStatus();
  }
  return absl::InternalError("no rounding left out explains the outputs");
}

absl::Status CheckSaturated(const Module& module,
                            absl::Span<const Literal> arguments,
                            const Literal& stored) {
  const Instruction* sum = module.entry()->root();
  if (sum->opcode() != Opcode::kReduce ||
      sum->operand(0)->opcode() != Opcode::kBroadcast ||
      !sum->operand(0)->operand(0)->shape().IsScalar()) {
    return absl::InternalError("does not add up copies of one number");
  }
  RIDGE_ASSIGN_OR_RETURN(Literal exact, Evaluate(module, arguments));
  std::unique_ptr<Module> copy = module.Clone();
  copy->entry()->set_root(copy->entry()->root()->operand(0)->operand(0));
  RIDGE_ASSIGN_OR_RETURN(Literal term, Evaluate(*copy, arguments));
  for (int64_t i = 0; i < stored.shape().ElementCount(); ++i) {
    const double s = GetDouble(stored, i);
    Literal next = FullLiteral(term.shape(), s + GetDouble(term, 0));
    if (GetDouble(next, 0) == s &&
        std::fabs(s) < std::fabs(GetDouble(exact, i))) {
      continue;
    }
    return absl::InternalError(absl::StrCat("element ", i, ": stored ", s,
                                            ", with one more term ",
                                            GetDouble(next, 0)));
  }
  return absl::OkStatus();
}

absl::Status CheckNanConstant(const Module& module,
                              absl::Span<const Literal> arguments,
                              const Literal& stored) {
  std::unique_ptr<Module> copy = module.Clone();
  for (Instruction* i : copy->entry()->instructions()) {
    if (i->opcode() != Opcode::kConstant ||
        i->shape().type() != ElementType::kC64) {
      continue;
    }
    Literal literal = i->literal();
    absl::Span<float> parts = literal.mutable_data<float>();
    for (size_t k = 0; k < parts.size(); k += 2) {
      if (std::isnan(parts[k])) parts[k + 1] = parts[k];
    }
    i->set_literal(std::make_shared<const Literal>(std::move(literal)));
  }
  return Explains(*copy, arguments, stored);
}

}  // namespace

absl::Span<const GoldenException> GoldenExceptions() { return Table(); }

const GoldenException* FindGoldenException(absl::string_view module) {
  for (const GoldenException& e : Table()) {
    if (e.module == module) return &e;
  }
  return nullptr;
}

absl::Status CheckGoldenException(const GoldenException& exception,
                                  const Module& module,
                                  absl::Span<const Literal> arguments,
                                  const Literal& stored) {
  switch (exception.reason) {
    case GoldenReason::kNarrowSums: {
      BoundOptions options;
      options.narrow_sums_in_f32 = false;
      RIDGE_ASSIGN_OR_RETURN(
          Comparison again,
          CompareWithEvaluator(module, arguments, stored, options));
      return again.ok ? absl::OkStatus()
                      : absl::InternalError(again.ToString());
    }
    case GoldenReason::kMoreExact:
      return CheckMoreExact(module, arguments, stored);
    case GoldenReason::kStart:
      return CheckStart(module, arguments, stored);
    case GoldenReason::kBitcastLayout:
      return CheckBitcastLayout(module, arguments, stored);
    case GoldenReason::kUnwritten:
      return CheckUnwritten(module, stored);
    case GoldenReason::kEndless:
      return CheckEndless(module, arguments, stored);
    case GoldenReason::kUnrounded:
      return CheckUnrounded(module, arguments, stored);
    case GoldenReason::kSaturated:
      return CheckSaturated(module, arguments, stored);
    case GoldenReason::kNanConstant:
      return CheckNanConstant(module, arguments, stored);
  }
  return absl::InternalError("no such reason");
}

}  // namespace ridge
