#include "hlo/text/generate.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace ridge {
namespace {

// Appends a computation of `count` instructions on one f32[rows,128]
// parameter, in rounds of eight instructions.
void AppendComputation(int64_t index, int64_t count, std::string* out) {
  int64_t rows = 64 << (index % 5);
  std::string matrix = absl::StrCat("f32[", rows, ",128]{1,0}");
  std::string row = absl::StrCat("f32[", rows, "]{0}");
  absl::StrAppend(out, "%layer.", index, " (param.", index, ": f32[", rows,
                  ",128]) -> f32[", rows, ",128] {\n");
  auto name = [&](absl::string_view op, int64_t i) {
    return absl::StrCat("%", op, ".", index, ".", i);
  };
  std::string last = absl::StrCat("%param.", index);
  absl::StrAppend(out, "  ", last, " = ", matrix, " parameter(0)\n");
  std::string zero = name("constant", 0);
  absl::StrAppend(out, "  ", zero, " = f32[] constant(0)\n");
  for (int64_t i = 0; 8 * i + 2 < count; ++i) {
    std::string metadata = absl::StrCat(
        ", metadata={op_type=\"dot_general\" op_name=\"jit(train_step)/layer_",
        index, "/dot_general.", i,
        "\" source_file=\"/models/layers.py\" source_line=", 100 + i % 900,
        "}");
    auto line = [&](const std::string& result, const std::string& shape,
                    const std::string& rest) {
      absl::StrAppend(out, "  ", result, " = ", shape, " ", rest, "\n");
    };
    std::string e = name("exponential", i), r = name("reduce", i),
                b = name("broadcast", i), d = name("divide", i),
                m = name("multiply", i), t = name("transpose", i),
                s = name("dot", i), a = name("add", i);
    std::string flat = absl::StrCat("f32[128,", rows, "]{0,1}");
    line(e, matrix,
         absl::StrCat("exponential(", matrix, " ", last, ")", metadata));
    line(r, row,
         absl::StrCat("reduce(", matrix, " ", e, ", f32[] ", zero,
                      "), dimensions={1}, to_apply=%sum"));
    line(b, matrix,
         absl::StrCat("broadcast(", row, " ", r, "), dimensions={0}"));
    line(d, matrix,
         absl::StrCat("divide(", matrix, " ", e, ", ", matrix, " ", b, ")",
                      metadata));
    line(m, matrix,
         absl::StrCat("multiply(", matrix, " ", d, ", ", matrix, " ", last,
                      ")"));
    line(t, flat,
         absl::StrCat("transpose(", matrix, " ", m, "), dimensions={1,0}"));
    line(s, "f32[128,128]{1,0}",
         absl::StrCat("dot(", flat, " ", t, ", ", matrix, " ", m,
                      "), lhs_contracting_dims={1}, "
                      "rhs_contracting_dims={0}",
                      metadata));
    line(a, matrix,
         absl::StrCat("add(", matrix, " ", d, ", ", matrix, " ", m, ")"));
    last = a;
  }
  absl::StrAppend(out, "  ROOT ", name("copy", 0), " = ", matrix, " copy(",
                  matrix, " ", last, ")\n}\n\n");
}

}  // namespace

std::string GenerateModuleText(int64_t instructions, int64_t per_computation) {
  per_computation = std::max<int64_t>(per_computation, 8);
  int64_t layers = std::max<int64_t>(1, instructions / per_computation);
  int64_t count = std::max<int64_t>(8, instructions / layers - 2);
  std::string out =
      "HloModule generated\n\n%sum (lhs: f32[], rhs: f32[]) -> f32[] {\n"
      "  %lhs = f32[] parameter(0)\n  %rhs = f32[] parameter(1)\n"
      "  ROOT %add = f32[] add(f32[] %lhs, f32[] %rhs)\n}\n\n";
  out.reserve(instructions * 160);
  for (int64_t i = 0; i < layers; ++i) AppendComputation(i, count, &out);
  out += "ENTRY %main () -> f32[] {\n";
  for (int64_t i = 0; i < layers; ++i) {
    int64_t rows = 64 << (i % 5);
    std::string shape = absl::StrCat("f32[", rows, ",128]{1,0}");
    absl::StrAppend(&out, "  %input.", i, " = ", shape,
                    " iota(), "
                    "iota_dimension=1\n");
    absl::StrAppend(&out, "  %call.", i, " = ", shape, " call(", shape,
                    " %input.", i, "), to_apply=%layer.", i, "\n");
  }
  out += "  ROOT %done = f32[] constant(0)\n}\n";
  return out;
}

}  // namespace ridge
