// What can be said of memory and launches without a device. The rest is in
// device_selftest, which runs on a GPU.

#include <cstdint>
#include <cstring>
#include <vector>

#include "backends/cuda/driver/memory.h"
#include "backends/cuda/driver/module.h"
#include "gtest/gtest.h"

namespace ridge::cuda {
namespace {

TEST(ArenaLayoutTest, PartsAreAlignedAndDoNotOverlap) {
  ArenaLayout layout;
  EXPECT_EQ(layout.Reserve(1), 0u);
  EXPECT_EQ(layout.Reserve(256), 256u);
  EXPECT_EQ(layout.Reserve(0), 512u);
  EXPECT_EQ(layout.Reserve(257), 512u);
  EXPECT_EQ(layout.Reserve(4), 1024u);
  EXPECT_EQ(layout.size(), 1028u);
}

TEST(PoisonTest, IsNanInEveryFloatAndNoBool) {
  const uint32_t word = 0x01010101u * kPoisonByte;
  float f32;
  std::memcpy(&f32, &word, sizeof(f32));
  EXPECT_NE(f32, f32);
  // bf16, f16, f8e4m3 and f8e5m2: all exponent bits set, mantissa not zero.
  EXPECT_EQ(word & 0xffff, 0xffffu);
}

TEST(KernelArgsTest, ValuesKeepTheirOrderAlignmentAndContent) {
  struct alignas(64) Map {
    uint64_t words[16];
  };
  KernelArgs args;
  args.Add(int32_t{7}).Add(uint64_t{0x123456789abcdef0}).Add(uint8_t{3});
  Map map = {};
  map.words[15] = 42;
  args.Add(map).Add(2.5f);
  const std::vector<void*> pointers = args.Pointers();
  ASSERT_EQ(pointers.size(), 5u);
  EXPECT_EQ(*static_cast<int32_t*>(pointers[0]), 7);
  EXPECT_EQ(*static_cast<uint64_t*>(pointers[1]), 0x123456789abcdef0u);
  EXPECT_EQ(*static_cast<uint8_t*>(pointers[2]), 3);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(pointers[3]) % 64, 0u);
  EXPECT_EQ(static_cast<Map*>(pointers[3])->words[15], 42u);
  EXPECT_EQ(*static_cast<float*>(pointers[4]), 2.5f);
}

TEST(KernelArgsTest, AValueCanBeReplaced) {
  KernelArgs args;
  args.Add(uint64_t{1}).Add(uint64_t{2});
  args.Set(1, uint64_t{3});
  EXPECT_EQ(*static_cast<uint64_t*>(args.Pointers()[0]), 1u);
  EXPECT_EQ(*static_cast<uint64_t*>(args.Pointers()[1]), 3u);
}

}  // namespace
}  // namespace ridge::cuda
