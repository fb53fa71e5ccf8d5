#include "hlo/base/table.h"

#include <cmath>
#include <string>

#include "gtest/gtest.h"

namespace ridge {
namespace {

TEST(TableTest, AlignsColumns) {
  Table table({{"kernel", Align::kLeft}, {"time", Align::kRight}, {"note"}});
  table.AddRow({"fusion.1", "12.3 µs", "x"});
  table.AddRow({"copy", "4 µs"});
  table.AddRule();
  table.AddRow({"sum", "16.3 µs"});
  EXPECT_EQ(table.ToString(),
            "kernel       time  note\n"
            "--------  -------  ----\n"
            "fusion.1  12.3 µs  x\n"
            "copy         4 µs\n"
            "--------  -------  ----\n"
            "sum       16.3 µs\n");
  EXPECT_EQ(table.num_rows(), 3);
}

TEST(TableTest, CutsLongCellsAndKeepsRowsOnOneLine) {
  Table table({{"n", Align::kLeft, 5}});
  table.AddRow({"abcdefgh"});
  table.AddRow({"a\nb"});
  EXPECT_EQ(table.ToString(), "n\n-----\nabcd…\na b\n");
}

TEST(TableTest, EmptyTableHasItsTitles) {
  EXPECT_EQ(Table({{"a"}, {"b"}}).ToString(), "a  b\n-  -\n");
}

TEST(TableTest, TruncateCountsCharactersNotBytes) {
  EXPECT_EQ(DisplayWidth("12 µs"), 5);
  EXPECT_EQ(Truncate("µµµ", 3), "µµµ");
  EXPECT_EQ(Truncate("µµµµ", 3), "µµ…");
  EXPECT_EQ(Truncate("ab", 1), "…");
  EXPECT_EQ(Truncate("ab", 0), "");
}

TEST(HumanTest, Bytes) {
  EXPECT_EQ(HumanBytes(0), "0 B");
  EXPECT_EQ(HumanBytes(1023), "1023 B");
  EXPECT_EQ(HumanBytes(1024), "1.00 KiB");
  EXPECT_EQ(HumanBytes(1536), "1.50 KiB");
  EXPECT_EQ(HumanBytes(-1536), "-1.50 KiB");
  EXPECT_EQ(HumanBytes(int64_t{1000} << 10), "1000 KiB");
  EXPECT_EQ(HumanBytes(int64_t{1} << 20), "1.00 MiB");
  EXPECT_EQ(HumanBytes(int64_t{141} << 30), "141 GiB");
  EXPECT_EQ(HumanBytes(int64_t{3} << 40), "3.00 TiB");
}

TEST(HumanTest, Micros) {
  EXPECT_EQ(HumanMicros(0), "0 µs");
  EXPECT_EQ(HumanMicros(0.85), "850 ns");
  EXPECT_EQ(HumanMicros(0.9999), "1.00 µs");
  EXPECT_EQ(HumanMicros(12.34), "12.3 µs");
  EXPECT_EQ(HumanMicros(999.7), "1.00 ms");
  EXPECT_EQ(HumanMicros(4560), "4.56 ms");
  EXPECT_EQ(HumanMicros(1.2e6), "1.20 s");
  EXPECT_EQ(HumanMicros(-12.34), "-12.3 µs");
  EXPECT_EQ(HumanMicros(std::nan("")), "nan");
}

TEST(HumanTest, Count) {
  EXPECT_EQ(HumanCount(12), "12");
  EXPECT_EQ(HumanCount(12, "FLOP"), "12 FLOP");
  EXPECT_EQ(HumanCount(2e9, "FLOP"), "2.00 GFLOP");
  EXPECT_EQ(HumanCount(989e12, "FLOP/s"), "989 TFLOP/s");
}

}  // namespace
}  // namespace ridge
