// A transformer encoder layer with the gradient that JAX derives for it: the
// gradient is what small changes of the parameters do to the loss.
#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <vector>

#include "hlo/evaluator/evaluator.h"
#include "hlo/evaluator/inputs.h"
#include "hlo/text/parser.h"

namespace ridge {
namespace {

// (16 parameters, input, target) -> (loss, gradient by each parameter).
constexpr char kModule[] = "hlo/evaluator/testdata/encoder_value_and_grad.hlo";
constexpr int kParameters = 16;
constexpr double kStep = 0x1p-10;

class GradientTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto module = ReadModule(kModule);
    ASSERT_TRUE(module.ok()) << module.status();
    module_ = *std::move(module);
    auto arguments = MakeInputs(*module_);
    ASSERT_TRUE(arguments.ok()) << arguments.status();
    arguments_ = *std::move(arguments);
    // Weights small enough that the softmax does not saturate.
    for (int p = 0; p < kParameters; ++p) {
      for (float& x : arguments_[p].mutable_data<float>()) x /= 8;
    }
    options_.precision = EvalPrecision::kF64;
  }

  Literal Run() {
    auto result = Evaluate(*module_, arguments_, options_);
    EXPECT_TRUE(result.ok()) << result.status();
    return *std::move(result);
  }

  // With element e of parameter p set to x, which it stays.
  double LossAt(int p, int64_t e, float x) {
    arguments_[p].mutable_data<float>()[e] = x;
    return GetDouble(Run().elements()[0], 0);
  }

  std::unique_ptr<Module> module_;
  std::vector<Literal> arguments_;
  EvalOptions options_;
};

TEST_F(GradientTest, IsTheSlopeOfTheLoss) {
  const Literal result = Run();
  ASSERT_EQ(result.elements().size(), kParameters + 1);
  for (int p = 0; p < kParameters; ++p) {
    const Literal& gradient = result.elements()[p + 1];
    const int64_t count = gradient.shape().ElementCount();
    for (int64_t e : {int64_t{0}, count / 3, count - 1}) {
      const float x = arguments_[p].data<float>()[e];
      const float right = x + static_cast<float>(kStep);
      const float left = x - static_cast<float>(kStep);
      const double rise = LossAt(p, e, right) - LossAt(p, e, left);
      arguments_[p].mutable_data<float>()[e] = x;
      const double slope =
          rise / (static_cast<double>(right) - static_cast<double>(left));
      EXPECT_NEAR(GetDouble(gradient, e), slope, 1e-5 * std::abs(slope) + 1e-7)
          << "parameter " << p << " element " << e;
    }
  }
}

}  // namespace
}  // namespace ridge
