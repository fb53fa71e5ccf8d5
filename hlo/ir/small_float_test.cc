#include "hlo/ir/small_float.h"

#include <cmath>

#include "gtest/gtest.h"

namespace ridge {
namespace {

constexpr ElementType kSmall[] = {
    ElementType::kF4E2M1FN,      ElementType::kF8E3M4,
    ElementType::kF8E4M3,        ElementType::kF8E4M3FN,
    ElementType::kF8E4M3B11FNUZ, ElementType::kF8E4M3FNUZ,
    ElementType::kF8E5M2,        ElementType::kF8E5M2FNUZ,
    ElementType::kF8E8M0FNU,     ElementType::kF16,
    ElementType::kBF16};

TEST(SmallFloatTest, EveryFiniteValueSurvivesARoundTrip) {
  for (ElementType t : kSmall) {
    for (uint64_t bits = 0; bits < (uint64_t{1} << Info(t).bits); ++bits) {
      double v = DecodeFloat(t, bits);
      if (!std::isfinite(v)) continue;
      EXPECT_EQ(EncodeFloat(t, v), bits) << Name(t) << " " << bits;
    }
  }
}

TEST(SmallFloatTest, HalfwayRoundsToEvenAndNeighboursToNearest) {
  for (ElementType t : kSmall) {
    if (t == ElementType::kF8E8M0FNU) continue;  // powers of two: below
    uint64_t positive = uint64_t{1} << (Info(t).bits - 1);
    for (uint64_t bits = 0; bits + 1 < positive; ++bits) {
      double a = DecodeFloat(t, bits);
      double b = DecodeFloat(t, bits + 1);
      if (!std::isfinite(a) || !std::isfinite(b)) continue;
      double mid = (a + b) / 2;
      uint64_t even = (bits & 1) == 0 ? bits : bits + 1;
      EXPECT_EQ(EncodeFloat(t, mid), even) << Name(t) << " " << mid;
      EXPECT_EQ(EncodeFloat(t, std::nextafter(mid, a)), bits) << Name(t);
      EXPECT_EQ(EncodeFloat(t, std::nextafter(mid, b)), bits + 1) << Name(t);
    }
  }
}

TEST(SmallFloatTest, KnownLimits) {
  EXPECT_EQ(DecodeFloat(ElementType::kF8E4M3FN, 0x7e), 448);
  EXPECT_TRUE(std::isnan(DecodeFloat(ElementType::kF8E4M3FN, 0x7f)));
  EXPECT_EQ(DecodeFloat(ElementType::kF8E5M2, 0x7b), 57344);
  EXPECT_TRUE(std::isinf(DecodeFloat(ElementType::kF8E5M2, 0x7c)));
  EXPECT_TRUE(std::isnan(DecodeFloat(ElementType::kF8E5M2FNUZ, 0x80)));
  EXPECT_EQ(DecodeFloat(ElementType::kF8E4M3FNUZ, 0x7f), 240);
  EXPECT_EQ(DecodeFloat(ElementType::kF4E2M1FN, 0x7), 6);
  EXPECT_EQ(DecodeFloat(ElementType::kF8E8M0FNU, 127), 1);
  EXPECT_EQ(EncodeFloat(ElementType::kF16, 65520), 0x7c00);
  EXPECT_EQ(EncodeFloat(ElementType::kF16, 65519), 0x7bff);
  EXPECT_EQ(EncodeFloat(ElementType::kF8E4M3FN, 1e9), 0x7f);
}

}  // namespace
}  // namespace ridge
