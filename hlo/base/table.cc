#include "hlo/base/table.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"

namespace ridge {
namespace {

constexpr absl::string_view kGap = "  ";
constexpr absl::string_view kEllipsis = "…";

// The first byte of a UTF-8 character, as opposed to those that continue it.
bool IsFirstByte(char c) { return (static_cast<unsigned char>(c) >> 6) != 2; }

std::string Pad(const std::string& text, Align align, int width) {
  const std::string space(std::max(0, width - DisplayWidth(text)), ' ');
  return align == Align::kLeft ? text + space : space + text;
}

// "1.23", "12.3", "123": three significant digits of 0 <= value < 1000.
std::string ThreeDigits(double value) {
  if (value < 9.995) return absl::StrFormat("%.2f", value);
  if (value < 99.95) return absl::StrFormat("%.1f", value);
  return absl::StrFormat("%.0f", value);
}

struct Unit {
  double size;
  absl::string_view name;
};

// `value` in the largest unit that leaves at least 1, or the smallest there
// is. `units` are in ascending order.
std::string InUnits(double value, const std::vector<Unit>& units) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  const double magnitude = std::fabs(value);
  size_t i = 0;
  // 999.6 prints as 1000, so it already belongs to the next unit.
  while (i + 1 < units.size() &&
         (magnitude >= units[i + 1].size ||
          (magnitude / units[i].size >= 999.5 &&
           units[i + 1].size / units[i].size <= 1000))) {
    ++i;
  }
  std::string result = value < 0 ? "-" : "";
  absl::StrAppend(&result, ThreeDigits(magnitude / units[i].size));
  if (!units[i].name.empty()) absl::StrAppend(&result, " ", units[i].name);
  return result;
}

}  // namespace

int DisplayWidth(absl::string_view text) {
  return static_cast<int>(std::count_if(text.begin(), text.end(), IsFirstByte));
}

std::string Truncate(absl::string_view text, int width) {
  if (DisplayWidth(text) <= width) return std::string(text);
  if (width <= 0) return "";
  size_t size = 0;
  int kept = 0;
  while (size < text.size()) {
    if (IsFirstByte(text[size]) && kept++ == width - 1) break;
    ++size;
  }
  return absl::StrCat(text.substr(0, size), kEllipsis);
}

Table::Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

void Table::AddRow(std::vector<std::string> cells) {
  cells.resize(columns_.size());
  for (size_t i = 0; i < cells.size(); ++i) {
    for (char& c : cells[i]) {
      if (c == '\n' || c == '\t' || c == '\r') c = ' ';
    }
    if (columns_[i].max_width > 0) {
      cells[i] = Truncate(cells[i], columns_[i].max_width);
    }
  }
  rows_.push_back({/*is_rule=*/false, std::move(cells)});
  ++num_rows_;
}

void Table::AddRule() { rows_.push_back({/*is_rule=*/true, {}}); }

std::string Table::ToString() const {
  std::vector<std::string> titles;
  std::vector<int> widths;
  for (const Column& column : columns_) {
    titles.push_back(column.title);
    widths.push_back(DisplayWidth(column.title));
  }
  for (const Row& row : rows_) {
    for (size_t i = 0; i < row.cells.size(); ++i) {
      widths[i] = std::max(widths[i], DisplayWidth(row.cells[i]));
    }
  }

  std::string text;
  const auto append_line = [&](const std::vector<std::string>& cells) {
    std::string line;
    for (size_t i = 0; i < cells.size(); ++i) {
      if (i > 0) absl::StrAppend(&line, kGap);
      absl::StrAppend(&line, Pad(cells[i], columns_[i].align, widths[i]));
    }
    line.erase(line.find_last_not_of(' ') + 1);
    absl::StrAppend(&text, line, "\n");
  };
  std::vector<std::string> rule;
  for (int width : widths) rule.push_back(std::string(width, '-'));

  append_line(titles);
  append_line(rule);
  for (const Row& row : rows_) append_line(row.is_rule ? rule : row.cells);
  return text;
}

std::string HumanBytes(int64_t bytes) {
  if (bytes > -1024 && bytes < 1024) return absl::StrCat(bytes, " B");
  constexpr double kKi = 1024.0;
  return InUnits(static_cast<double>(bytes), {{kKi, "KiB"},
                                              {kKi * kKi, "MiB"},
                                              {kKi * kKi * kKi, "GiB"},
                                              {kKi * kKi * kKi * kKi, "TiB"}});
}

std::string HumanMicros(double micros) {
  if (micros == 0) return "0 µs";
  return InUnits(micros, {{1e-3, "ns"}, {1, "µs"}, {1e3, "ms"}, {1e6, "s"}});
}

std::string HumanCount(double count, absl::string_view unit) {
  const std::vector<std::string> prefixes = {"", "k", "M", "G", "T", "P", "E"};
  std::vector<std::string> names;
  for (const std::string& prefix : prefixes) {
    names.push_back(absl::StrCat(prefix, unit));
  }
  std::vector<Unit> units;
  double size = 1;
  for (const std::string& name : names) {
    units.push_back({size, name});
    size *= 1000;
  }
  // Whole numbers below 1000 have no decimals.
  if (std::fabs(count) < 1000 && count == std::floor(count)) {
    return unit.empty() ? absl::StrFormat("%.0f", count)
                        : absl::StrFormat("%.0f %s", count, unit);
  }
  return InUnits(count, units);
}

}  // namespace ridge
