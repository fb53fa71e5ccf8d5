#include "backends/cuda/emit/chain_part.h"

#include <functional>
#include <map>
#include <utility>

#include "absl/functional/function_ref.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "backends/cuda/emit/chain.h"
#include "backends/cuda/emit/source_text.h"
#include "hlo/base/status_macros.h"

namespace ridge::cuda {
namespace {

// The text with its identifiers as `rename` gives them.
std::string Renamed(absl::string_view text,
                    absl::FunctionRef<std::string(absl::string_view)> rename) {
  std::string out;
  for (size_t at = 0; at < text.size();) {
    size_t end = at;
    while (end < text.size() && IsIdentifierChar(text[end])) ++end;
    if (end == at) {
      out.push_back(text[at++]);
      continue;
    }
    out += rename(text.substr(at, end - at));
    at = end;
  }
  return out;
}

// `text` from " __launch_bounds__(N) name(parameters" on, to the next kernel.
absl::StatusOr<PartFunction> Parsed(absl::string_view text) {
  PartFunction f;
  const size_t name = text.find(") ") + 2;
  const size_t open = text.find('(', name);
  const size_t close = text.find(')', open);
  RIDGE_RET_CHECK(close != absl::string_view::npos);
  f.name = std::string(text.substr(name, open - name));
  std::vector<std::string> names, types;
  for (absl::string_view parameter :
       absl::StrSplit(text.substr(open + 1, close - open - 1), ", ")) {
    const size_t space = parameter.rfind(' ');
    RIDGE_RET_CHECK(space != absl::string_view::npos);
    names.emplace_back(parameter.substr(space + 1));
    types.emplace_back(parameter.substr(0, space));
  }
  std::map<std::string, std::string, std::less<>> new_names;
  auto take = [&](absl::string_view old) {
    for (size_t p = 0; p < names.size(); ++p) {
      if (names[p] != old || new_names.count(old) != 0) continue;
      const std::string to = absl::StrCat("arg", f.order.size());
      absl::StrAppend(&f.types, f.order.empty() ? "" : ", ", types[p], " ", to);
      new_names[names[p]] = to;
      f.order.push_back(static_cast<int>(p));
    }
  };
  f.body = Renamed(text.substr(close), [&](absl::string_view old) {
    take(old);
    auto it = new_names.find(old);
    return it == new_names.end() ? std::string(old) : it->second;
  });
  for (const std::string& n : names) take(n);
  return f;
}

}  // namespace

int64_t StaticSharedBytes(absl::string_view source) {
  static constexpr absl::string_view kWord = "__shared__ ";
  int64_t sum = 0;
  for (size_t at = source.find(kWord); at != absl::string_view::npos;
       at = source.find(kWord)) {
    source.remove_prefix(at + kWord.size());
    absl::string_view declaration = source.substr(0, source.find(';'));
    int64_t bytes = 16;
    for (const auto& [type, size] :
         {std::pair<absl::string_view, int64_t>{"float ", 4},
          {"double ", 8},
          {"int32_t ", 4},
          {"uint32_t ", 4},
          {"int64_t ", 8},
          {"uint64_t ", 8},
          {"uint16_t ", 2},
          {"int16_t ", 2},
          {"uint8_t ", 1},
          {"int8_t ", 1},
          {"bool ", 1}}) {
      if (absl::StartsWith(declaration, type)) bytes = size;
    }
    for (size_t open = declaration.find('['); open != absl::string_view::npos;
         open = declaration.find('[')) {
      declaration.remove_prefix(open + 1);
      int64_t extent = 1;
      if (absl::SimpleAtoi(declaration.substr(0, declaration.find(']')),
                           &extent)) {
        bytes *= extent;
      }
    }
    sum += bytes;
  }
  return sum;
}

absl::StatusOr<PartText> PartTextOf(const EmittedKernel& kernel) {
  const absl::string_view source = kernel.functions;
  PartText text;
  text.part.has_shared = StaticSharedBytes(source) > 0;
  const std::string clean = absl::StrReplaceAll(
      WithoutComments(source),
      // Links write what later ones read: no array is one function's alone.
      {{" __restrict__", ""}});
  std::vector<absl::string_view> pieces = absl::StrSplit(clean, kKernelHead);
  text.key = std::string(pieces[0]);
  for (size_t f = 1; f < pieces.size(); ++f) {
    RIDGE_ASSIGN_OR_RETURN(PartFunction function, Parsed(pieces[f]));
    int block = 0;
    for (const Launch& l : kernel.launches) {
      if (l.function == function.name) block = l.block;
    }
    absl::StrAppend(&text.key, "#define __syncthreads rdg_meet<", block,
                    ">\nRDG_PART void f", f,
                    "(const rdg_at blockIdx, const rdg_at gridDim, ",
                    "const rdg_at threadIdx, ", function.types, function.body,
                    "#undef __syncthreads\n");
    text.part.functions.push_back(std::move(function));
  }
  return text;
}

}  // namespace ridge::cuda
