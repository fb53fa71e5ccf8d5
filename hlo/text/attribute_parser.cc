#include <algorithm>
#include <limits>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "hlo/text/parser_impl.h"
#include "hlo/text/raw_attributes.h"

namespace ridge {
namespace {

// Device ids that replica groups may expand to, over the whole module: more
// than any machine has, far less than memory.
constexpr int64_t kMaxReplicaIds = int64_t{1} << 22;

template <typename T>
AttrValue Boxed(T value) {
  return std::make_shared<const T>(std::move(value));
}

}  // namespace

bool Parser::ParseValue(AttrId id, AttrValue* value) {
  const AttrInfo& info = Info(id);
  switch (info.kind) {
    case AttrKind::kBool:
      return ParseBool(id, value);
    case AttrKind::kInt: {
      int64_t v;
      if (!s_.Int(&v, info.name, "an integer")) return false;
      *value = v;
      return true;
    }
    case AttrKind::kFloat: {
      double v;
      if (!ParseDouble(&s_, &v, info.name)) return false;
      *value = v;
      return true;
    }
    case AttrKind::kEnum: {
      int64_t index;
      if (!ParseEnum(id, &index)) return false;
      *value = EnumValue{static_cast<int32_t>(index)};
      return true;
    }
    case AttrKind::kEnumList:
      return ParseEnumList(id, value);
    case AttrKind::kInts: {
      std::vector<int64_t> ints;
      if (!ParseInts(info.name, &ints)) return false;
      *value = module_->CopyInts(ints);
      return true;
    }
    case AttrKind::kIntLists: {
      IntLists lists;
      if (!ParseIntLists(info.name, &lists)) return false;
      *value = Boxed(std::move(lists));
      return true;
    }
    case AttrKind::kString:
      return ParseString(id, value);
    case AttrKind::kRaw: {
      absl::string_view text;
      if (!ReadRawAttribute(&s_, id, &text)) return false;
      *value = text;
      return true;
    }
    case AttrKind::kComputation: {
      Computation* computation;
      if (!ParseComputationRef(id, &computation)) return false;
      *value = computation;
      return true;
    }
    case AttrKind::kComputationList:
      return ParseComputationList(id, value);
    case AttrKind::kWindow:
      return ParseWindow(value);
    case AttrKind::kPadding:
      return ParsePadding(value);
    case AttrKind::kSliceRanges:
      return ParseSliceRanges(value);
    case AttrKind::kDimLabels:
      return ParseDimLabels(value);
    case AttrKind::kAliasing:
      return ParseAliases(value);
    case AttrKind::kReplicaGroups:
      return ParseReplicaGroups(value);
    case AttrKind::kShape: {
      const Shape* shape = shapes_.Read(&s_);
      if (shape == nullptr) return false;
      *value = Boxed(Shape(*shape));
      return true;
    }
    case AttrKind::kShapeList:
      return ParseShapeList(value);
    case AttrKind::kLiteral: {
      Literal literal;
      if (!ParseShapedLiteral(&s_, &fill_budget_, &literal)) return false;
      *value = Boxed(std::move(literal));
      return true;
    }
  }
  return false;
}

bool Parser::ParseBool(AttrId id, AttrValue* value) {
  if (s_.EatWord("true")) {
    *value = true;
  } else if (s_.EatWord("false")) {
    *value = false;
  } else {
    return s_.FailHere(
        Name(id), absl::StrCat("expected true or false, found ", s_.Found()));
  }
  return true;
}

bool Parser::ParseEnum(AttrId id, int64_t* index) {
  s_.SkipSpace();
  const char* at = s_.position();
  absl::string_view word = s_.Name();
  EnumId enumeration = Info(id).enumeration;
  absl::Span<const absl::string_view> names = EnumNames(enumeration);
  // Precisions and algorithms are spelled in either case in real dumps.
  bool any_case = enumeration == EnumId::kPrecision ||
                  enumeration == EnumId::kDotAlgorithm ||
                  enumeration == EnumId::kRandomAlgorithm;
  for (size_t i = 0; i < names.size(); ++i) {
    if (names[i] == word ||
        (any_case && absl::EqualsIgnoreCase(names[i], word))) {
      *index = static_cast<int64_t>(i);
      return true;
    }
  }
  s_.set_position(at);
  return s_.Fail(at, Name(id),
                 absl::StrCat("expected one of ", absl::StrJoin(names, ", "),
                              ", found ", s_.Found(), DidYouMean(word, names)));
}

bool Parser::ParseEnumList(AttrId id, AttrValue* value) {
  std::vector<int64_t> indices;
  if (!s_.Expect('{', Name(id), "before the list")) return false;
  if (!s_.Eat('}')) {
    do {
      if (!ParseEnum(id, &indices.emplace_back())) return false;
    } while (s_.Eat(','));
    if (!s_.Expect('}', Name(id), "after the list")) return false;
  }
  *value = module_->CopyInts(indices);
  return true;
}

bool Parser::ParseInts(absl::string_view rule, std::vector<int64_t>* out) {
  if (!s_.Expect('{', rule, "before the numbers")) return false;
  if (s_.Eat('}')) return true;
  do {
    if (!s_.Int(&out->emplace_back(), rule, "a number")) return false;
  } while (s_.Eat(','));
  return s_.Expect('}', rule, "after the numbers");
}

bool Parser::ParseIntLists(absl::string_view rule, IntLists* out) {
  if (!s_.Expect('{', rule, "before the lists")) return false;
  if (s_.Eat('}')) return true;
  do {
    if (!ParseInts(rule, &out->emplace_back())) return false;
  } while (s_.Eat(','));
  return s_.Expect('}', rule, "after the lists");
}

bool Parser::ParseString(AttrId id, AttrValue* value) {
  absl::string_view raw;
  s_.SkipSpace();
  const char* at = s_.position();
  if (!s_.QuotedRaw(&raw, Name(id))) return false;
  if (raw.find('\\') == absl::string_view::npos) {
    *value = raw;
    return true;
  }
  std::string unescaped;
  std::string error;
  if (!absl::CUnescape(raw, &unescaped, &error)) {
    return s_.Fail(at, Name(id),
                   absl::StrCat("the string is malformed: ", error));
  }
  *value = module_->CopyText(unescaped);
  return true;
}

bool Parser::ParseComputationRef(AttrId id, Computation** computation) {
  if (s_.Peek() == '{') return ParseNestedComputation(computation);
  const char* at = s_.position();
  absl::string_view name = s_.PrefixedName();
  if (name.empty()) {
    return s_.FailHere(
        Name(id), absl::StrCat("expected a computation, found ", s_.Found()));
  }
  auto it = computations_.find(name);
  if (it != computations_.end()) {
    *computation = it->second;
    return true;
  }
  for (size_t k = 0; k < open_scopes_; ++k) {
    if (scopes_[k].computation->name() != name) continue;
    return s_.Fail(at, "computation-name",
                   absl::StrCat("`", name,
                                "` calls itself: a computation may "
                                "only call those before it"));
  }
  std::vector<absl::string_view> names;
  for (const auto& [known, c] : computations_) names.push_back(known);
  std::sort(names.begin(), names.end());
  int32_t later = LaterDefinition(name, at, "{(");
  return s_.Fail(
      at, "computation-name",
      absl::StrCat("there is no computation `", name, "` before this line",
                   later > 0 ? absl::StrCat("; line ", later,
                                            " defines it, and callees "
                                            "come before their callers")
                             : DidYouMean(name, names)));
}

bool Parser::ParseNestedComputation(Computation** computation) {
  Scanner::Depth depth(&s_);
  if (!depth.ok()) return false;
  Computation* nested = module_->AddComputationRaw("");
  nested->set_location(s_.Locate(s_.position()));
  *computation = nested;
  bool ok = ParseBody(OpenScope(nested));
  ReleaseScope();
  // Callees found inside go before it, also when it comes to names; its caller,
  // still open, goes after.
  anonymous_computations_.push_back(nested);
  module_->MoveComputationLast(nested);
  return ok;
}

bool Parser::ParseComputationList(AttrId id, AttrValue* value) {
  std::vector<Computation*> list;
  if (!s_.Expect('{', Name(id), "before the computations")) return false;
  if (!s_.Eat('}')) {
    do {
      if (!ParseComputationRef(id, &list.emplace_back())) return false;
    } while (s_.Eat(','));
    if (!s_.Expect('}', Name(id), "after the computations")) return false;
  }
  *value = Boxed(std::move(list));
  return true;
}

// 3x3x1
bool Parser::ParseByX(absl::string_view rule, std::vector<int64_t>* out) {
  do {
    if (!s_.Int(&out->emplace_back(), rule, "a number")) return false;
  } while (s_.Eat('x'));
  return true;
}

bool Parser::ParseWindowPad(bool sets_rank, Window* window) {
  size_t i = 0;
  do {
    if (i == window->size()) {
      if (!sets_rank) {
        return s_.FailHere("window",
                           absl::StrCat("`pad` has more dimensions than the "
                                        "window's ",
                                        window->size()));
      }
      window->emplace_back();
    }
    WindowDimension& d = (*window)[i++];
    if (!s_.Int(&d.padding_low, "window", "a padding") ||
        !s_.Expect('_', "window", "between low and high padding") ||
        !s_.Int(&d.padding_high, "window", "a padding")) {
      return false;
    }
  } while (s_.Eat('x'));
  if (i == window->size()) return true;
  return s_.FailHere("window",
                     absl::StrCat("`pad` has ", i, " dimensions, the window ",
                                  window->size()));
}

bool Parser::ParseWindow(AttrValue* value) {
  using Member = int64_t WindowDimension::*;
  struct Field {
    absl::string_view name;
    Member member;
  };
  static constexpr Field kFields[] = {
      {"size", &WindowDimension::size},
      {"stride", &WindowDimension::stride},
      {"lhs_dilate", &WindowDimension::base_dilation},
      {"rhs_dilate", &WindowDimension::window_dilation},
      // No members of this type: handled apart.
      {"pad", nullptr},
      {"rhs_reversal", nullptr},
  };
  constexpr absl::string_view kRule = "window";
  if (!s_.Expect('{', kRule, "before the window")) return false;
  Window window;
  std::bitset<8> seen;
  while (!s_.Eat('}')) {
    s_.SkipSpace();
    const char* at = s_.position();
    absl::string_view name = s_.Name();
    size_t f = 0;
    while (f < std::size(kFields) && kFields[f].name != name) ++f;
    if (f == std::size(kFields)) {
      std::vector<absl::string_view> names;
      for (const Field& field : kFields) names.push_back(field.name);
      s_.set_position(at);
      return s_.Fail(at, kRule,
                     absl::StrCat("expected a field of window (",
                                  absl::StrJoin(names, ", "), "), found ",
                                  s_.Found(), DidYouMean(name, names)));
    }
    if (seen[f]) {
      return s_.Fail(at, kRule, absl::StrCat("`", name, "` is given twice"));
    }
    bool first = seen.none();  // then it decides the rank
    seen[f] = true;
    if (!s_.Expect('=', kRule, "after the field's name")) return false;
    if (name == "pad") {
      if (!ParseWindowPad(first, &window)) return false;
      continue;
    }
    std::vector<int64_t> numbers;
    if (!ParseByX(kRule, &numbers)) return false;
    if (first) window.resize(numbers.size());
    if (numbers.size() != window.size()) {
      return s_.Fail(at, kRule,
                     absl::StrCat("`", name, "` has ", numbers.size(),
                                  " dimensions, the window ", window.size()));
    }
    for (size_t i = 0; i < numbers.size(); ++i) {
      if (kFields[f].member != nullptr) {
        window[i].*kFields[f].member = numbers[i];
      } else {
        window[i].window_reversal = numbers[i] == 1;
      }
    }
  }
  *value = Boxed(std::move(window));
  return true;
}

// 0_1_0x2_0: low, high and interior (0 if left out) of each dimension.
bool Parser::ParsePadding(AttrValue* value) {
  PaddingConfig padding;
  constexpr absl::string_view kRule = "padding";
  char c = s_.Peek();
  bool is_empty =
      c == ',' || c == '}' || c == '%' || IsClass(c, kNameStartChar);
  if (!is_empty) {  // it is for a scalar
    do {
      PaddingDimension& d = padding.emplace_back();
      if (!s_.Int(&d.low, kRule, "a padding") ||
          !s_.Expect('_', kRule, "between low and high padding") ||
          !s_.Int(&d.high, kRule, "a padding") ||
          (s_.Eat('_') && !s_.Int(&d.interior, kRule, "a padding"))) {
        return false;
      }
    } while (s_.Eat('x'));
  }
  *value = Boxed(std::move(padding));
  return true;
}

bool Parser::ParseSliceRanges(AttrValue* value) {
  SliceRanges ranges;
  constexpr absl::string_view kRule = "slice";
  if (!s_.Expect('{', kRule, "before the ranges")) return false;
  if (!s_.Eat('}')) {
    do {
      SliceRange& r = ranges.emplace_back();
      if (!s_.Expect('[', kRule, "before a range [start:limit:stride]") ||
          !s_.Int(&r.start, kRule, "a start") ||
          !s_.Expect(':', kRule, "after the start") ||
          !s_.Int(&r.limit, kRule, "a limit") ||
          (s_.Eat(':') && !s_.Int(&r.stride, kRule, "a stride")) ||
          !s_.Expect(']', kRule, "after a range")) {
        return false;
      }
    } while (s_.Eat(','));
    if (!s_.Expect('}', kRule, "after the ranges")) return false;
  }
  *value = Boxed(std::move(ranges));
  return true;
}

bool Parser::ParseShapeIndex(absl::string_view rule, ShapeIndex* index) {
  std::vector<int64_t> ints;
  if (!ParseInts(rule, &ints)) return false;
  index->assign(ints.begin(), ints.end());
  return true;
}

// {{0}: (1, {2}), {}: (0, {})}
bool Parser::ParseAliases(AttrValue* value) {
  OperandAliases aliases;
  constexpr absl::string_view kRule = "output_to_operand_aliasing";
  if (!s_.Expect('{', kRule, "before the aliases")) return false;
  while (!s_.Eat('}')) {
    OperandAlias& a = aliases.emplace_back();
    if (!ParseShapeIndex(kRule, &a.output_index) ||
        !s_.Expect(':', kRule, "after the output index") ||
        !s_.Expect('(', kRule, "before (operand, {index})") ||
        !s_.Int(&a.operand, kRule, "an operand number") ||
        !s_.Expect(',', kRule, "after the operand number") ||
        !ParseShapeIndex(kRule, &a.operand_index) ||
        !s_.Expect(')', kRule, "after (operand, {index})")) {
      return false;
    }
    if (!s_.Eat(',')) {
      if (!s_.Expect('}', kRule, "after the aliases")) return false;
      break;
    }
  }
  *value = Boxed(std::move(aliases));
  return true;
}

// [groups,size]<=[reshape]T(permutation): device numbers 0.. are laid out in
// the shape `reshape`, transposed, and cut into groups.
bool Parser::ParseIotaGroups(std::vector<std::vector<int64_t>>* groups) {
  constexpr absl::string_view kRule = "replica_groups";
  const char* at = s_.position();
  std::vector<int64_t> tile, reshape, permutation;
  auto list = [&](char close, std::vector<int64_t>* out) {
    do {
      if (!s_.Int(&out->emplace_back(), kRule, "a number")) return false;
      if (out->back() < 0) {
        return s_.FailHere(kRule, "a number before this is negative");
      }
    } while (s_.Eat(','));
    return s_.Expect(close, kRule, "after the numbers");
  };
  s_.Eat('[');
  if (!list(']', &tile)) return false;
  if (tile.size() != 2) {
    return s_.Fail(at, kRule,
                   absl::StrCat("expected [groups,group size], "
                                "found ",
                                tile.size(), " numbers"));
  }
  if (!s_.EatText("<=[")) {
    return s_.FailHere(kRule,
                       absl::StrCat("expected `<=[`, found ", s_.Found()));
  }
  if (!list(']', &reshape)) return false;
  if (s_.EatText("T(") && !list(')', &permutation)) return false;
  if (permutation.empty()) {
    for (size_t i = 0; i < reshape.size(); ++i) permutation.push_back(i);
  }
  std::vector<int64_t> sorted = permutation;
  std::sort(sorted.begin(), sorted.end());
  bool is_permutation = sorted.size() == reshape.size();
  for (size_t i = 0; is_permutation && i < sorted.size(); ++i) {
    is_permutation = sorted[i] == static_cast<int64_t>(i);
  }
  int64_t count = SaturatingMul(tile[0], tile[1]);
  int64_t reshaped = 1;
  for (int64_t d : reshape) reshaped = SaturatingMul(reshaped, d);
  if (!is_permutation || count != reshaped) {
    return s_.Fail(at, kRule,
                   !is_permutation
                       ? "T(...) is no permutation of the dimensions"
                       : absl::StrCat("the groups hold ", count,
                                      " devices, the list has ", reshaped));
  }
  replica_ids_ += count + tile[0];
  if (count > kMaxReplicaIds || tile[0] > kMaxReplicaIds ||
      replica_ids_ > kMaxReplicaIds) {
    return s_.Fail(at, kRule,
                   absl::StrCat("more than ", kMaxReplicaIds,
                                " devices in the module's replica groups"));
  }
  // Strides of the transposed array's dimensions in the original numbering.
  std::vector<int64_t> stride(reshape.size(), 1);
  for (size_t i = reshape.size(); i-- > 1;) {
    stride[i - 1] = stride[i] * reshape[i];
  }
  groups->assign(tile[0], std::vector<int64_t>());
  for (int64_t k = 0; k < count; ++k) {
    int64_t rest = k;
    int64_t device = 0;
    for (size_t i = permutation.size(); i-- > 0;) {
      int64_t size = reshape[permutation[i]];
      device += rest % size * stride[permutation[i]];
      rest /= size;
    }
    (*groups)[k / tile[1]].push_back(device);
  }
  return true;
}

bool Parser::ParseReplicaGroups(AttrValue* value) {
  char c = s_.Peek();
  const char* start = s_.position();
  ReplicaGroups result;
  if (c == '[') {
    if (!ParseIotaGroups(&result.groups)) return false;
  } else if (s_.EatText("mesh[")) {
    // Groups along named mesh axes; they mean nothing on one device.
    s_.set_position(s_.position() - 1);
    if (!SkipBalanced(&s_, "replica_groups")) return false;
    s_.Eat(',');
    if (s_.Peek() == '{' && !SkipBalanced(&s_, "replica_groups")) return false;
  } else if (!ParseIntLists("replica_groups", &result.groups)) {
    return false;
  }
  result.text = s_.TextFrom(start);
  auto [it, is_new] = replica_groups_.try_emplace(result.text);
  if (is_new) {
    it->second = std::make_shared<const ReplicaGroups>(std::move(result));
  }
  *value = it->second;
  return true;
}

bool Parser::ParseShapeList(AttrValue* value) {
  constexpr absl::string_view kRule = "shape-list";
  std::vector<Shape> shapes;
  if (!s_.Expect('{', kRule, "before the shapes")) return false;
  if (!s_.Eat('}')) {
    do {
      const Shape* shape = shapes_.Read(&s_);
      if (shape == nullptr) return false;
      shapes.push_back(*shape);
    } while (s_.Eat(','));
    if (!s_.Expect('}', kRule, "after the shapes")) return false;
  }
  *value = Boxed(std::move(shapes));
  return true;
}

}  // namespace ridge
