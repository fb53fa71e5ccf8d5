// Aligned text tables for a terminal, and numbers for people to read.
//
//   Table table({{"kernel", Align::kLeft, 30}, {"time", Align::kRight}});
//   table.AddRow({"fusion.1", HumanMicros(12.34)});
//   std::cout << table.ToString();
//
//   kernel       time
//   --------  -------
//   fusion.1  12.3 µs

#ifndef RIDGE_HLO_BASE_TABLE_H_
#define RIDGE_HLO_BASE_TABLE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace ridge {

enum class Align { kLeft, kRight };

struct Column {
  std::string title;
  Align align = Align::kLeft;
  // Longer cells are cut to this many characters, the last of them "…".
  // 0: never cut.
  int max_width = 0;
};

class Table {
 public:
  explicit Table(std::vector<Column> columns);

  // Missing cells are empty; cells beyond the last column are dropped. Line
  // breaks and tabs in a cell become spaces.
  void AddRow(std::vector<std::string> cells);

  // A line between the rows before and after, for totals.
  void AddRule();

  int num_rows() const { return num_rows_; }

  // Title line, rule, rows; each line ends in '\n', none in a space.
  std::string ToString() const;

 private:
  struct Row {
    bool is_rule = false;
    std::vector<std::string> cells;
  };

  std::vector<Column> columns_;
  std::vector<Row> rows_;
  int num_rows_ = 0;
};

// Characters (UTF-8 code points) in `text`; one terminal column each for all
// that Ridge prints.
int DisplayWidth(absl::string_view text);

// `text` cut to `width` characters, the last of them "…" if anything was cut.
std::string Truncate(absl::string_view text, int width);

// Three significant digits with a unit. Bytes in powers of 1024: "0 B",
// "1.00 KiB", "141 GiB". Times from µs: "850 ns", "12.3 µs", "4.56 ms",
// "1.20 s". Counts in powers of 1000, `unit` appended: HumanCount(2e9, "FLOP")
// is "2.00 GFLOP".
std::string HumanBytes(int64_t bytes);
std::string HumanMicros(double micros);
std::string HumanCount(double count, absl::string_view unit = "");

}  // namespace ridge

#endif  // RIDGE_HLO_BASE_TABLE_H_
