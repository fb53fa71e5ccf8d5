// The host dialect, compiled with the system's compiler, against the evaluator:
// every elementwise opcode in every type, over special and random values.
#include "backends/kernel/scalar_text.h"

#include <dlfcn.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "hlo/base/status_macros.h"
#include "hlo/evaluator/compare.h"
#include "hlo/evaluator/evaluator.h"
#include "hlo/ir/module.h"

namespace ridge {
namespace {

// One operation in one combination of types.
struct Operation {
  Node node;
  std::vector<ElementType> operands;
};

std::string NameOf(const Operation& op) {
  std::string name =
      absl::StrCat(Name(op.node.opcode), " ", Name(op.node.type), " of");
  for (ElementType t : op.operands) absl::StrAppend(&name, " ", Name(t));
  if (op.node.opcode == Opcode::kCompare) {
    absl::StrAppend(&name, " ", static_cast<int>(op.node.direction),
                    op.node.total_order ? " total" : "");
  }
  return name;
}

constexpr ElementType kFloats[] = {
    ElementType::kF32,      ElementType::kF64,       ElementType::kBF16,
    ElementType::kF16,      ElementType::kF8E4M3FN,  ElementType::kF8E5M2,
    ElementType::kF4E2M1FN, ElementType::kF8E4M3FNUZ};
constexpr ElementType kIntegers[] = {
    ElementType::kS4,  ElementType::kS8, ElementType::kS16, ElementType::kS32,
    ElementType::kS64, ElementType::kU4, ElementType::kU8,  ElementType::kU16,
    ElementType::kU32, ElementType::kU64};

std::vector<ElementType> AllTypes() {
  std::vector<ElementType> types = {ElementType::kPred, ElementType::kC64};
  for (ElementType t : kFloats) types.push_back(t);
  for (ElementType t : kIntegers) types.push_back(t);
  return types;
}

// Every operation that has a text. Whether there should be one is the
// evaluator's word: see EveryOperationHasText.
std::vector<Operation> Operations() {
  std::vector<Operation> all;
  auto add = [&](Node node, std::vector<ElementType> operands) {
    all.push_back({std::move(node), std::move(operands)});
  };
  for (int i = 0; i < kOpcodeCount; ++i) {
    const Opcode opcode = static_cast<Opcode>(i);
    if (!IsElementwise(opcode) || opcode == Opcode::kStochasticConvert) {
      continue;
    }
    for (ElementType type : AllTypes()) {
      Node node;
      node.opcode = opcode;
      node.type = type;
      std::vector<ElementType> operands(std::max<int>(Info(opcode).arity, 1),
                                        type);
      switch (opcode) {
        case Opcode::kCompare:
          node.type = ElementType::kPred;
          for (int d = 0; d < 6; ++d) {
            node.direction = static_cast<ComparisonDirection>(d);
            if (IsComplex(type) && d > 1) continue;
            node.total_order = false;
            add(node, operands);
            node.total_order = true;
            if (IsFloat(type)) add(node, operands);
          }
          continue;
        case Opcode::kConvert:
          for (ElementType to : AllTypes()) {
            node.type = to;
            if (to != type) add(node, {type});
          }
          continue;
        case Opcode::kIsFinite:
          node.type = ElementType::kPred;
          break;
        case Opcode::kReal:
        case Opcode::kImag:
          if (!IsComplex(type)) continue;
          node.type = ComplexComponent(type);
          break;
        case Opcode::kAbs:
          node.type = ComplexComponent(type);
          break;
        case Opcode::kComplex:
          if (type != ElementType::kF32) continue;
          node.type = ElementType::kC64;
          break;
        case Opcode::kSelect:
          operands = {ElementType::kPred, type, type};
          break;
        case Opcode::kReducePrecision:
          node.exponent_bits = 5;
          node.mantissa_bits = 3;
          break;
        default:
          break;
      }
      add(node, operands);
    }
  }
  return all;
}

// Values of a type worth trying, as storage bytes, `n` of them in an order
// that depends on `seed`.
Literal Samples(ElementType type, int64_t n, uint64_t seed) {
  Literal l = Literal::Zeros(Shape::Array(type, {n}));
  std::mt19937_64 rng(seed);
  static const double kSpecial[] = {
      0.0,           -0.0,         1.0,          -1.0,      0.5,
      -0.5,          1.5,          -1.5,         2.5,       -2.5,
      2.0,           3.0,          7.0,          -7.0,      8.0,
      -8.0,          31.0,         32.0,         63.0,      64.0,
      127.0,         128.0,        -128,         255.0,     256.,
      1e-3,          -1e-3,        1e-20,        1e-40,     1e-300,
      88.0,          -88.0,        90.,          -104.,     1e5,
      -1e5,          1e10,         1e30,         1e300,     2147483648.0,
      -2147483648.0, 2147483647.0, 4294967296.0, 9.3e18,    -9.3e18,
      1.9e19,        0.1,          0.9999999,    1.0000001, 3.14159265,
      1.5707963,     0.0078125,    65504.0,      65520.0,   448.0,
      465.0,         57344.0,      6.0};
  constexpr int64_t kCount = sizeof(kSpecial) / sizeof(double);
  const double inf = std::numeric_limits<double>::infinity();
  for (int64_t i = 0; i < n; ++i) {
    const uint64_t pick = rng() % 8;
    if (pick == 0 && (IsInteger(type) || IsFloat(type))) {
      // Any bits, where all of them mean something.
      if (IsFloat(type) && Info(type).bits < 8) continue;
      if (IsInteger(type) && Info(type).bits < 8) {
        SetDouble(&l, i, static_cast<double>(rng() % 16) - 8);
        continue;
      }
      const uint64_t bits = rng();
      const int width = StorageBytes(type);
      std::memcpy(l.mutable_bytes() + i * width, &bits, width);
      // One NaN will do: what lies in the others nobody has to keep.
      if (IsFloat(type) && std::isnan(GetDouble(l, i))) {
        SetDouble(&l, i, std::nan(""));
      }
      continue;
    }
    double value = pick == 1   ? inf
                   : pick == 2 ? (rng() % 2 ? -inf : std::nan(""))
                   : pick < 5  ? static_cast<double>(rng() % 8001) / 1000 - 4
                               : kSpecial[rng() % kCount];
    SetDouble(&l, i, value);
    if (IsComplex(type)) {
      l.mutable_data<float>()[2 * i + 1] =
          static_cast<float>(rng() % 8001) / 1000 - 4;
      if (!std::isfinite(l.data<float>()[2 * i])) {
        l.mutable_data<float>()[2 * i] = 1;
      }
    }
  }
  return l;
}

std::unique_ptr<Module> ModuleOf(const Operation& op, int64_t n) {
  auto module = std::make_unique<Module>("op");
  Computation* c = module->AddComputation("op");
  module->set_entry(c);
  std::vector<Instruction*> parameters;
  for (size_t k = 0; k < op.operands.size(); ++k) {
    parameters.push_back(c->AddParameter(k, Shape::Array(op.operands[k], {n})));
  }
  Instruction* i =
      c->Add(op.node.opcode, Shape::Array(op.node.type, {n}), parameters);
  if (op.node.opcode == Opcode::kCompare) {
    i->SetAttr(AttrId::kDirection,
               EnumValue{static_cast<int32_t>(op.node.direction)});
    if (op.node.total_order) {
      i->SetAttr(AttrId::kComparisonType,
                 EnumValue{static_cast<int32_t>(ComparisonOrder::kTotalOrder)});
    }
  }
  if (op.node.opcode == Opcode::kReducePrecision) {
    i->SetAttr(AttrId::kExponentBits, int64_t{op.node.exponent_bits});
    i->SetAttr(AttrId::kMantissaBits, int64_t{op.node.mantissa_bits});
  }
  c->set_root(i);
  return module;
}

// The operation as a loop over arrays.
absl::StatusOr<std::string> LoopText(const Operation& op, size_t number) {
  std::vector<std::string> names;
  std::string text =
      absl::StrCat("extern \"C\" void op", number, "(const void* const* in, ",
                   "void* out, long n) {\n  for (long i = 0; i < n; ++i) {\n");
  for (size_t k = 0; k < op.operands.size(); ++k) {
    const ElementType t = op.operands[k];
    names.push_back(absl::StrCat("x", k));
    absl::StrAppend(&text, "    const ", CarryType(t), " x", k, " = ",
                    LoadText(t, absl::StrCat("((const ", StorageType(t),
                                             "*)in[", k, "])[i]")),
                    ";\n");
  }
  RIDGE_ASSIGN_OR_RETURN(std::string value,
                         OpText(op.node, op.operands, names));
  absl::StrAppend(&text, "    const ", CarryType(op.node.type), " y = ", value,
                  ";\n    ((", StorageType(op.node.type),
                  "*)out)[i] = ", StoreText(op.node.type, "y"), ";\n  }\n}\n");
  return text;
}

using LoopFn = void (*)(const void* const*, void*, long);

// Compiles `source` and loads it, for the life of the process.
absl::StatusOr<void*> Compile(const std::string& source) {
  const char* tmp = std::getenv("TEST_TMPDIR");
  const std::filesystem::path folder =
      tmp != nullptr ? std::filesystem::path(tmp)
                     : std::filesystem::temp_directory_path();
  const std::string stem = (folder / "ridge_scalar_text_test").string();
  std::ofstream(stem + ".cc") << source;
  const std::string command =
      absl::StrCat("c++ -std=c++17 -O1 -w -ffp-contract=off -fPIC -shared ",
                   stem, ".cc -o ", stem, ".so");
  if (std::system(command.c_str()) != 0) {
    return absl::InternalError(absl::StrCat("does not compile: ", stem, ".cc"));
  }
  void* library = dlopen((stem + ".so").c_str(), RTLD_NOW);
  if (library == nullptr) return absl::InternalError(dlerror());
  return library;
}

TEST(ScalarTextTest, HostCodeAnswersAsTheEvaluator) {
  constexpr int64_t kSamples = 2000;
  std::string source = ScalarPrelude(Dialect::kHost);
  std::vector<Operation> operations;
  for (const Operation& op : Operations()) {
    absl::StatusOr<std::string> text = LoopText(op, operations.size());
    const bool defined = [&] {
      std::unique_ptr<Module> module = ModuleOf(op, 1);
      std::vector<Literal> one;
      for (ElementType t : op.operands) one.push_back(Samples(t, 1, 1));
      return Evaluate(*module, one).ok();
    }();
    if (!defined) continue;
    // What the evaluator can do, generated code can.
    EXPECT_TRUE(text.ok()) << NameOf(op) << ": " << text.status();
    if (!text.ok()) continue;
    source += *text;
    operations.push_back(op);
  }
  ASSERT_GT(operations.size(), 500);
  absl::StatusOr<void*> library = Compile(source);
  ASSERT_EQ(library.status(), absl::OkStatus());
  for (size_t k = 0; k < operations.size(); ++k) {
    const Operation& op = operations[k];
    auto fn = reinterpret_cast<LoopFn>(
        dlsym(*library, absl::StrCat("op", k).c_str()));
    ASSERT_NE(fn, nullptr);
    std::vector<Literal> arguments;
    std::vector<const void*> in;
    for (size_t o = 0; o < op.operands.size(); ++o) {
      arguments.push_back(Samples(op.operands[o], kSamples, 10 * k + o));
    }
    for (const Literal& a : arguments) in.push_back(a.bytes());
    Literal got = Literal::Zeros(Shape::Array(op.node.type, {kSamples}));
    fn(in.data(), got.mutable_bytes(), kSamples);
    std::unique_ptr<Module> module = ModuleOf(op, kSamples);
    absl::StatusOr<Comparison> comparison =
        CompareWithEvaluator(*module, arguments, got);
    ASSERT_EQ(comparison.status(), absl::OkStatus()) << NameOf(op);
    EXPECT_TRUE(comparison->ok) << NameOf(op) << ": " << comparison->ToString();
  }
}

}  // namespace
}  // namespace ridge
