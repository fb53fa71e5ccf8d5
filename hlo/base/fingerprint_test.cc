#include "hlo/base/fingerprint.h"

#include <string>

#include "gtest/gtest.h"

namespace ridge {
namespace {

// Values from XXH3's own test vectors: a stored key must never change.
TEST(FingerprintTest, IsStable) {
  EXPECT_EQ(FingerprintToHex(Fingerprint64Of("")), "2d06800538d394c2");
  EXPECT_EQ(Fingerprint128Of("").ToHex(), "99aa06d3014798d86001c324468d497f");
}

TEST(FingerprintTest, SmallNumbersKeepTheirLeadingZeros) {
  EXPECT_EQ(FingerprintToHex(0xabc), "0000000000000abc");
  EXPECT_EQ((Fingerprint128{1, 2}).ToHex(), "00000000000000010000000000000002");
}

TEST(FingerprintTest, PartsCountWithTheirLength) {
  EXPECT_NE(Fingerprinter().Add("ab").Add("c").Get128(),
            Fingerprinter().Add("a").Add("bc").Get128());
  EXPECT_NE(Fingerprinter().Add(int64_t{1}).Get64(),
            Fingerprinter().Add(int64_t{2}).Get64());
  EXPECT_EQ(Fingerprinter().Add("ab").Get64(),
            Fingerprinter().Add(std::string("ab")).Get64());
}

}  // namespace
}  // namespace ridge
