// Replays what the fuzzer found, and mutates messages of small modules in
// ways that are the same on every run.
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "hlo/proto/fuzz_check.h"
#include "hlo/proto/module_proto.h"
#include "hlo/text/parser.h"

namespace ridge {
namespace {

namespace fs = std::filesystem;

TEST(ProtoFuzzTest, FindingsStayFixed) {
  const fs::path folder = "hlo/proto/testdata/fuzz";
  if (!fs::exists(folder)) GTEST_SKIP() << "the fuzzer has found nothing";
  for (const auto& entry : fs::directory_iterator(folder)) {
    std::ifstream in(entry.path(), std::ios::binary);
    std::stringstream bytes;
    bytes << in.rdbuf();
    EXPECT_EQ(ProtoProblem(bytes.str()), "") << entry.path();
  }
}

const char* const kModules[] = {
    R"(HloModule m, is_scheduled=true, input_output_alias={ {}: (0, {}) }
add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b)
}
ENTRY e {
  x = f32[2,3]{1,0} parameter(0), sharding={devices=[2,1]<=[2]}
  z = f32[] constant(0)
  r = f32[2]{0} reduce(x, z), dimensions={1}, to_apply=add
  b = f32[2,3]{1,0} broadcast(r), dimensions={0}
  ROOT y = f32[2,3]{1,0} add(x, b), metadata={op_name="n", source_line=3}
})",
    R"(HloModule m
body {
  p = (s32[], f32[4]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  f = f32[4] get-tuple-element(p), index=1
  one = s32[] constant(1)
  j = s32[] add(i, one)
  ROOT t = (s32[], f32[4]) tuple(j, f)
}
cond {
  p = (s32[], f32[4]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  n = s32[] constant(10)
  ROOT l = pred[] compare(i, n), direction=LT
}
ENTRY e {
  x = (s32[], f32[4]) parameter(0)
  ROOT w = (s32[], f32[4]) while(x), condition=cond, body=body
})",
    R"(HloModule m
ENTRY e {
  x = f32[5,7] parameter(0)
  i = s32[2,3] parameter(1)
  g = f32[2,3,7] gather(x, i), offset_dims={2}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=2, slice_sizes={1,7}
  k = f32[3,3,7,7] parameter(2)
  c = s4[3]{0:E(4)} constant({1, -2, 3})
  v = f32[1,8,8,7] parameter(3)
  o = f32[1,6,6,7] convolution(v, k), window={size=3x3}, dim_labels=b01f_01io->b01f
  q = f32[2,3,7] custom-call(g), custom_call_target="f", backend_config={"a":1}
  ROOT t = (f32[2,3,7], f32[1,6,6,7], s4[3]{0:E(4)}) tuple(q, o, c)
})"};

TEST(ProtoFuzzTest, MutatedMessagesAreModulesOrErrors) {
  std::mt19937 random(20240611);
  for (const char* text : kModules) {
    const auto module = ParseModule(text);
    ASSERT_TRUE(module.ok()) << module.status();
    const std::string original = ModuleToProto(**module);
    EXPECT_EQ(ProtoProblem(original), "");
    for (int round = 0; round < 3000; ++round) {
      std::string bytes = original;
      const int changes = 1 + static_cast<int>(random() % 4);
      for (int k = 0; k < changes; ++k) {
        const size_t at = random() % bytes.size();
        switch (random() % 4) {
          case 0:
            bytes[at] = static_cast<char>(random());
            break;
          case 1:
            bytes[at] = static_cast<char>(bytes[at] ^ (1 << (random() % 8)));
            break;
          case 2:
            bytes.erase(at, 1 + random() % 3);
            break;
          default:
            bytes.insert(at, 1, static_cast<char>(random()));
            break;
        }
        if (bytes.empty()) bytes = "\n";
      }
      ASSERT_EQ(ProtoProblem(bytes), "") << "round " << round;
    }
  }
}

}  // namespace
}  // namespace ridge
