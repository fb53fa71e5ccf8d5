#include "hlo/text/shape_parser.h"

#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "hlo/text/hash.h"

namespace ridge {
namespace {

// Dynamic dimensions are kept in a 64-bit mask.
constexpr size_t kMaxRank = 64;

bool FailType(Scanner* s, const char* at, absl::string_view word) {
  std::vector<absl::string_view> names;
  for (const absl::string_view name : {
#define V(e, text, ...) absl::string_view(text),
           RIDGE_ELEMENT_TYPES(V)
#undef V
       }) {
    if (name != "tuple") names.push_back(name);
  }
  s->set_position(at);
  return s->Fail(at, "element-type",
                 absl::StrCat("expected an element type, found ", s->Found(),
                              DidYouMean(word, names)));
}

bool ParseIntsUntil(Scanner* s, char close, std::vector<int64_t>* out) {
  while (!s->Eat(close)) {
    if (!out->empty() && !s->Expect(',', "layout", "between the numbers")) {
      return false;
    }
    int64_t v;
    if (!s->Int(&v, "layout", "a number")) return false;
    out->push_back(v);
  }
  return true;
}

// One number in parentheses.
bool ParseParenthesised(Scanner* s, int64_t* value) {
  return s->Expect('(', "layout", "after the layout suffix") &&
         s->Int(value, "layout", "a number") &&
         s->Expect(')', "layout", "after the number");
}

bool ParseTypeInParens(Scanner* s, ElementType* type) {
  if (!s->Expect('(', "layout", "before the type")) return false;
  s->SkipSpace();
  const char* at = s->position();
  absl::string_view word = s->Name();
  std::optional<ElementType> found = ElementTypeFromName(word);
  if (!found.has_value() || !IsUnsigned(*found)) {
    return s->Fail(
        at, "layout",
        absl::StrCat("expected an unsigned integer type, found `", word, "`"));
  }
  *type = *found;
  return s->Expect(')', "layout", "after the type");
}

bool ParseTiles(Scanner* s, LayoutExtras* extras) {
  if (s->Peek() != '(') {
    return s->FailHere(
        "layout", absl::StrCat("expected `(` after `T`, found ", s->Found()));
  }
  while (s->Eat('(')) {
    std::vector<int64_t>& tile = extras->tiles.emplace_back();
    while (!s->Eat(')')) {
      if (!tile.empty() && !s->Expect(',', "layout", "between tile sizes")) {
        return false;
      }
      if (s->Eat('*')) {
        tile.push_back(LayoutExtras::kCombine);
        continue;
      }
      int64_t v;
      const char* at = s->position();
      if (!s->Int(&v, "layout", "a tile size")) return false;
      if (v < 0) return s->Fail(at, "layout", "a tile size is negative");
      tile.push_back(v);
    }
  }
  return true;
}

bool ParseSplits(Scanner* s, LayoutExtras* extras) {
  do {
    LayoutExtras::SplitConfig& split = extras->split_configs.emplace_back();
    if (!s->Expect('(', "layout", "after `SC`") ||
        !s->Int(&split.dimension, "layout", "a dimension") ||
        !s->Expect(':', "layout", "after the split dimension") ||
        !ParseIntsUntil(s, ')', &split.split_indices)) {
      return false;
    }
  } while (s->Peek() == '(');
  return true;
}

bool ParseLevelTypes(Scanner* s, LayoutExtras* extras) {
  if (!s->Expect('(', "layout", "after `D`")) return false;
  const char* start = s->position();
  // D(D,C+,S~): one letter with modifiers for each dimension.
  while (s->Peek() != ')') {
    const char* at = s->position();
    bool letter =
        absl::string_view("DCSHBL+~, ").find(*at) != absl::string_view::npos;
    if (!letter || *at == '\0') {
      return s->FailHere("layout", absl::StrCat("expected a dimension level "
                                                "type or `)`, found ",
                                                s->Found()));
    }
    s->set_position(at + 1);
  }
  extras->dim_level_types = std::string(s->TextFrom(start));
  return s->Eat(')');
}

// What follows the `:` of a layout. The order is XLA's, but any is taken.
bool ParseLayoutExtras(Scanner* s, LayoutExtras* extras) {
  while (s->Peek() != '}') {
    const char* at = s->position();
    if (s->EatText("SC")) {
      if (!ParseSplits(s, extras)) return false;
    } else if (s->Eat('D')) {
      if (!ParseLevelTypes(s, extras)) return false;
    } else if (s->Eat('T')) {
      if (!ParseTiles(s, extras)) return false;
    } else if (s->Eat('L')) {
      if (!ParseParenthesised(s, &extras->tail_padding_alignment)) {
        return false;
      }
    } else if (s->Eat('#')) {
      if (!ParseTypeInParens(s, &extras->index_type)) return false;
    } else if (s->Eat('*')) {
      if (!ParseTypeInParens(s, &extras->pointer_type)) return false;
    } else if (s->Eat('E')) {
      if (!ParseParenthesised(s, &extras->element_size_in_bits)) return false;
    } else if (s->Eat('S')) {
      if (!ParseParenthesised(s, &extras->memory_space)) return false;
    } else if (s->Eat('P')) {
      Shape physical;
      if (!s->Expect('(', "layout", "after `P`") || !ParseShape(s, &physical) ||
          !s->Expect(')', "layout", "after the physical shape")) {
        return false;
      }
      extras->physical_shape =
          std::make_shared<const Shape>(std::move(physical));
    } else if (s->Eat('M')) {
      if (!ParseParenthesised(s,
                              &extras->dynamic_shape_metadata_prefix_bytes)) {
        return false;
      }
    } else {
      return s->Fail(at, "layout",
                     absl::StrCat("expected one of D( T( L( #( *( E( S( SC( "
                                  "P( M( or `}` in a layout, found ",
                                  s->Found()));
    }
  }
  return true;
}

bool ParseLayout(Scanner* s, Shape* shape) {
  const char* start = s->position();
  s->Eat('{');
  Layout layout;
  if (s->Peek() != ':') {
    while (true) {
      int64_t v;
      if (!s->Int(&v, "layout", "a dimension number")) return false;
      layout.minor_to_major.push_back(v);
      if (!s->Eat(',')) break;
    }
  }
  if (s->Eat(':')) {
    LayoutExtras extras;
    if (!ParseLayoutExtras(s, &extras)) return false;
    if (!(extras == LayoutExtras())) {
      layout.extras = std::make_shared<const LayoutExtras>(std::move(extras));
    }
  }
  if (!s->Expect('}', "layout", "at the end of the layout")) return false;
  int64_t rank = shape->rank();
  if (static_cast<int64_t>(layout.minor_to_major.size()) != rank) {
    return s->Fail(
        start, "layout",
        absl::StrCat("the layout orders ", layout.minor_to_major.size(),
                     " dimensions, but the shape has ", rank));
  }
  // XLA's parser lets such layouts pass; no buffer can have them.
  uint64_t seen = 0;
  for (int64_t d : layout.minor_to_major) {
    if (d < 0 || d >= rank || ((seen >> d) & 1) != 0) {
      return s->Fail(
          start, "layout",
          absl::StrCat(
              "the layout is no permutation of 0 .. ", rank - 1, ": ", d,
              d < 0 || d >= rank ? " is out of range" : " appears twice"));
    }
    seen |= uint64_t{1} << d;
  }
  // f32[]{:S(0)} is f32[]: there is nothing to tell.
  if (rank > 0 || layout.extras != nullptr) {
    shape->set_layout(std::move(layout));
  }
  return true;
}

// A `{` is a layout only before a digit or `:`; else it opens a body.
bool AtLayout(Scanner* s) {
  if (s->Peek() != '{') return false;
  const char* start = s->position();
  s->Eat('{');
  char c = s->Peek();
  s->set_position(start);
  return c == ':' || IsClass(c, kDigitChar);
}

bool ParseDims(Scanner* s, ElementType type, Shape* shape) {
  DimVector dims;
  uint64_t dynamic = 0;
  if (!s->Eat(']')) {
    do {
      if (dims.size() == kMaxRank) {
        return s->FailHere("rank",
                           absl::StrCat("more than ", kMaxRank,
                                        " dimensions are not supported"));
      }
      if (s->Eat('?')) {
        dims.push_back(Shape::kUnbounded);
        continue;
      }
      if (s->EatText("<=")) dynamic |= uint64_t{1} << dims.size();
      s->SkipSpace();
      const char* at = s->position();
      int64_t v;
      if (!s->Int(&v, "dimension", "a dimension")) return false;
      if (v < 0) {
        return s->Fail(at, "dimension",
                       absl::StrCat("dimension ", v, " is negative"));
      }
      dims.push_back(v);
    } while (s->Eat(','));
    if (!s->Expect(']', "dimension", "after the dimensions")) return false;
  }
  if (!IsArrayType(type)) {
    if (!dims.empty()) {
      return s->FailHere(
          "dimension", absl::StrCat("`", Name(type), "` takes no dimensions"));
    }
    *shape = type == ElementType::kToken ? Shape::Token() : Shape::Opaque();
    return true;
  }
  *shape = Shape::Array(type, dims);
  for (size_t i = 0; i < dims.size(); ++i) {
    if (((dynamic >> i) & 1) != 0) shape->set_dynamic_dim(i, true);
  }
  return true;
}

// The end of the shape text that begins at `p`, found by its brackets alone;
// null where they are not those of a shape.
const char* ShapeTextEnd(const char* p) {
  if (IsClass(*p, kNameStartChar) && !(p[0] == 'b' && p[1] == '(')) {
    while (IsClass(*p, kNameChar)) ++p;
    if (*p != '[') return nullptr;
    while (*p != ']') {
      if (*p == '\0' || *p == '/') return nullptr;
      ++p;
    }
    ++p;
    if (*p != '{' || !(p[1] == ':' || IsClass(p[1], kDigitChar))) return p;
    int depth = 0;
    for (;; ++p) {
      if (*p == '{') ++depth;
      if (*p == '}' && --depth == 0) return p + 1;
      if (*p == '\0' || *p == '/') return nullptr;
    }
  }
  int64_t depth = 0;
  for (;; ++p) {
    if (*p == '(') ++depth;
    if (*p == ')' && --depth == 0) return p + 1;
    if (*p == '\0') return nullptr;
    if (*p == '/') {
      // Comments in long tuples: /*index=5*/.
      if (p[1] != '*') return nullptr;
      for (p += 2; !(p[0] == '*' && p[1] == '/'); ++p) {
        if (*p == '\0') return nullptr;
      }
      ++p;
    }
  }
}

}  // namespace

bool AtShape(Scanner* s) {
  char c = s->Peek();
  if (c == '(') return true;
  const char* p = s->position();
  if (!IsClass(c, kNameStartChar)) return false;
  if (c == 'b' && p[1] == '(') return true;
  const char* end = p;
  while (IsClass(*end, kNameChar)) ++end;
  if (*end == '[') return true;
  // `f32 [2]` is a shape too; other words before a bracket are not.
  if (!IsClass(*end, kSpaceChar)) return false;
  const char* next = end;
  while (IsClass(*next, kSpaceChar)) ++next;
  return *next == '[' &&
         ElementTypeFromName(absl::string_view(p, end - p)).has_value();
}

bool SameUpToDynamic(const Shape& a, const Shape& b) {
  if (a.type() != b.type() || a.rank() != b.rank() ||
      a.tuple_shapes().size() != b.tuple_shapes().size()) {
    return false;
  }
  for (int64_t i = 0; i < a.rank(); ++i) {
    if (a.dim(i) != b.dim(i) && a.dim(i) != Shape::kUnbounded &&
        b.dim(i) != Shape::kUnbounded) {
      return false;
    }
  }
  for (size_t i = 0; i < a.tuple_shapes().size(); ++i) {
    if (!SameUpToDynamic(a.tuple_shape(i), b.tuple_shape(i))) return false;
  }
  return true;
}

bool ParseShape(Scanner* s, Shape* shape) {
  Scanner::Depth depth(s);
  if (!depth.ok()) return false;
  if (s->Eat('(')) {
    std::vector<Shape> elements;
    if (!s->Eat(')')) {
      do {
        if (!ParseShape(s, &elements.emplace_back())) return false;
      } while (s->Eat(','));
      if (!s->Expect(')', "shape", "at the end of the tuple shape")) {
        return false;
      }
    }
    *shape = Shape::Tuple(std::move(elements));
    return true;
  }
  s->SkipSpace();
  const char* at = s->position();
  absl::string_view word = s->Name();
  if (word == "b" && s->Eat('(')) {
    Shape content;
    if (!ParseShape(s, &content) ||
        !s->Expect(')', "shape", "at the end of the buffer shape")) {
      return false;
    }
    if (!content.IsArray()) {
      return s->Fail(at, "shape", "a buffer holds an array");
    }
    *shape = Shape::Buffer(std::move(content));
    return true;
  }
  std::optional<ElementType> type = ElementTypeFromName(word);
  if (!type.has_value()) return FailType(s, at, word);
  if (!s->Expect('[', "shape", "after the element type") ||
      !ParseDims(s, *type, shape)) {
    return false;
  }
  if (!AtLayout(s)) return true;
  if (!shape->IsArray()) {
    return s->FailHere("layout",
                       absl::StrCat("`", Name(*type), "` takes no layout"));
  }
  return ParseLayout(s, shape);
}

const Shape* ShapeReader::Read(Scanner* s) {
  s->SkipSpace();
  const char* start = s->position();
  const char* end = ShapeTextEnd(start);
  if (end == nullptr) {
    Shape shape;
    return ParseShape(s, &shape) ? module_->Intern(shape) : nullptr;
  }
  absl::string_view text(start, end - start);
  uint64_t hash = HashText(text);
  size_t mask = slots_.size() - 1;
  size_t i = hash & mask;
  for (; slots_[i].shape != nullptr; i = (i + 1) & mask) {
    if (slots_[i].hash == hash && slots_[i].text == text) {
      s->set_position(end);
      return slots_[i].shape;
    }
  }
  Shape parsed;
  if (!ParseShape(s, &parsed)) return nullptr;
  const Shape* shape = module_->Intern(parsed);
  // Only spellings that the bracket scan bounds exactly may be looked up.
  if (s->position() != end) return shape;
  slots_[i] = Slot{text, hash, shape};
  if (++used_ * 2 > slots_.size()) Grow();
  return shape;
}

void ShapeReader::Grow() {
  std::vector<Slot> bigger(slots_.size() * 2);
  size_t mask = bigger.size() - 1;
  for (const Slot& slot : slots_) {
    if (slot.shape == nullptr) continue;
    size_t i = slot.hash & mask;
    while (bigger[i].shape != nullptr) i = (i + 1) & mask;
    bigger[i] = slot;
  }
  slots_ = std::move(bigger);
}

}  // namespace ridge
