#include "hlo/text/literal_parser.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "hlo/ir/small_float.h"
#include "hlo/text/shape_parser.h"

namespace ridge {
namespace {

constexpr absl::string_view kRule = "literal";

// A number before it is fitted to its type.
struct Number {
  const char* at = nullptr;
  bool is_integer = false;  // digits alone: `magnitude` is exact
  bool negative = false;
  uint64_t magnitude = 0;
  double value = 0;
  bool has_payload = false;
  uint64_t payload = 0;
};

bool ReadNanPayload(Scanner* s, Number* n) {
  if (*s->position() != '(') return true;
  const char* p = s->position() + 1;
  if (p[0] != '0' || p[1] != 'x') {
    return s->Fail(p, kRule, "expected a NaN payload such as nan(0x1)");
  }
  const char* digits = p + 2;
  auto [end, error] = std::from_chars(digits, s->end(), n->payload, 16);
  if (error != std::errc() || *end != ')' || n->payload == 0) {
    return s->Fail(p, kRule,
                   "the NaN payload is no hexadecimal number of 1 to 64 bits");
  }
  n->has_payload = true;
  s->set_position(end + 1);
  return true;
}

bool ReadNumber(Scanner* s, absl::string_view rule, Number* n) {
  s->SkipSpace();
  n->at = s->position();
  const char* p = n->at;
  n->negative = *p == '-';
  if (n->negative) ++p;
  if (*p == 'i' || *p == 'n') {
    s->set_position(p);
    absl::string_view word = s->Name();
    if (word == "inf" || word == "nan") {
      n->value = word == "inf" ? std::numeric_limits<double>::infinity()
                               : std::numeric_limits<double>::quiet_NaN();
      if (n->negative) n->value = -n->value;
      return word == "inf" || ReadNanPayload(s, n);
    }
    s->set_position(n->at);
  }
  if (!IsClass(*p, kDigitChar) && *p != '.') {
    return s->FailHere(rule,
                       absl::StrCat("expected a number, found ", s->Found()));
  }
  const char* q = p;
  uint64_t magnitude = 0;
  bool overflow = false;
  for (; IsClass(*q, kDigitChar); ++q) {
    overflow |= __builtin_mul_overflow(magnitude, uint64_t{10}, &magnitude) ||
                __builtin_add_overflow(
                    magnitude, static_cast<uint64_t>(*q - '0'), &magnitude);
  }
  if (*q != '.' && *q != 'e' && *q != 'E') {
    n->is_integer = !overflow;
    n->magnitude = magnitude;
    // As in XLA, `-0` is the integer, whose sign is lost; `-0.0` keeps it.
    if (magnitude == 0 && !overflow) {
      s->set_position(q);
      return true;
    }
  }
  auto [end, error] = std::from_chars(n->at, s->end(), n->value);
  if (error == std::errc::invalid_argument) {
    return s->FailHere(rule,
                       absl::StrCat("expected a number, found ", s->Found()));
  }
  if (error == std::errc::result_out_of_range) {
    // Either far too large or too near to zero; strtod tells which.
    n->value = std::strtod(std::string(n->at, end).c_str(), nullptr);
    if (std::isinf(n->value)) {
      return s->Fail(n->at, rule,
                     "the number exceeds the range of a 64-bit float");
    }
  }
  s->set_position(end);
  return true;
}

bool FailRange(Scanner* s, const Number& n, ElementType type,
               absl::string_view range) {
  const char* end = n.at;
  if (*end == '-') ++end;
  while (IsClass(*end, kNameChar) || *end == '+') ++end;
  return s->Fail(
      n.at, kRule,
      absl::StrCat("the value ", absl::string_view(n.at, end - n.at),
                   " is out of range for ", Name(type), ", ", range));
}

// Appends the low bytes of `bits`.
void Append(std::vector<uint8_t>* out, uint64_t bits, int bytes) {
  size_t at = out->size();
  out->resize(at + bytes);
  std::memcpy(out->data() + at, &bits, bytes);
}

bool AppendInteger(Scanner* s, const Number& n, ElementType type,
                   std::vector<uint8_t>* out) {
  if (!n.is_integer) {
    return s->Fail(n.at, kRule,
                   absl::StrCat("an element of ", Name(type),
                                " must be an integer of at most 64 bits"));
  }
  uint64_t bits = n.negative ? uint64_t{0} - n.magnitude : n.magnitude;
  int width = Info(type).bits;
  if (IsPred(type)) {
    bits = n.magnitude != 0;
  } else if (width == 64) {
    // 64-bit integers are read modulo 2^64, as XLA does; a magnitude below
    // -2^63 is nobody's intention.
    if (n.negative && n.magnitude > uint64_t{1} << 63) {
      return FailRange(s, n, type, "whose least value is -2^63");
    }
  } else if (IsSigned(type)) {
    uint64_t limit = (uint64_t{1} << (width - 1)) - (n.negative ? 0 : 1);
    if (n.magnitude > limit) {
      return FailRange(s, n, type,
                       absl::StrCat("which holds -2^", width - 1, " to 2^",
                                    width - 1, "-1"));
    }
  } else if (n.magnitude > (uint64_t{1} << width) - 1 ||
             (n.negative && n.magnitude != 0)) {
    return FailRange(s, n, type,
                     absl::StrCat("which holds 0 to 2^", width, "-1"));
  }
  Append(out, bits, StorageBytes(type));
  return true;
}

double RoundTo(ElementType type, double value) {
  // The 16-bit types are rounded by way of f32, as XLA does.
  bool by_f32 = type == ElementType::kF16 || type == ElementType::kBF16;
  return by_f32 ? static_cast<double>(static_cast<float>(value)) : value;
}

uint64_t EncodeNan(ElementType type, const Number& n) {
  const FloatFormat& f = Format(type);
  uint64_t bits;
  if (f.nan == FloatFormat::Nan::kIeee) {
    uint64_t payload =
        n.has_payload ? n.payload : uint64_t{1} << (f.mantissa_bits - 1);
    bits =
        (((uint64_t{1} << f.exponent_bits) - 1) << f.mantissa_bits) | payload;
  } else {
    bits = EncodeFloat(type, std::numeric_limits<double>::quiet_NaN());
  }
  if (f.has_sign && f.nan != FloatFormat::Nan::kNegativeZero) {
    uint64_t sign = uint64_t{1} << (f.exponent_bits + f.mantissa_bits);
    bits = n.negative ? bits | sign : bits & ~sign;
  }
  return bits;
}

bool FloatBits(Scanner* s, const Number& n, ElementType type, uint64_t* bits) {
  if (std::isnan(n.value)) {
    const FloatFormat& f = Format(type);
    if (n.has_payload && (f.nan != FloatFormat::Nan::kIeee ||
                          n.payload >> f.mantissa_bits != 0)) {
      return s->Fail(n.at, kRule,
                     absl::StrCat("NaN payload 0x", absl::Hex(n.payload),
                                  " does not fit ", Name(type)));
    }
    *bits = EncodeNan(type, n);
    return true;
  }
  if (type == ElementType::kF64) {
    std::memcpy(bits, &n.value, 8);
    return true;
  }
  bool finite;
  if (type == ElementType::kF32) {
    float f = static_cast<float>(n.value);
    *bits = 0;
    std::memcpy(bits, &f, 4);
    finite = std::isfinite(f);
  } else {
    *bits = EncodeFloat(type, RoundTo(type, n.value));
    finite = std::isfinite(DecodeFloat(type, *bits));
  }
  if (!finite && std::isfinite(n.value)) {
    return FailRange(s, n, type, "beyond its largest finite value");
  }
  return true;
}

bool AppendScalar(Scanner* s, ElementType type, std::vector<uint8_t>* out) {
  char c = s->Peek();
  if (c == 't' || c == 'f') {
    const char* at = s->position();
    bool is_true = s->EatWord("true");
    if (is_true || s->EatWord("false")) {
      if (!IsPred(type)) {
        return s->Fail(at, kRule,
                       absl::StrCat("true and false are values of "
                                    "pred, not of ",
                                    Name(type)));
      }
      out->push_back(is_true ? 1 : 0);
      return true;
    }
  }
  if (IsComplex(type)) {
    ElementType part = ComplexComponent(type);
    for (int i = 0; i < 2; ++i) {
      Number n;
      uint64_t bits;
      if (!s->Expect(i == 0 ? '(' : ',', kRule,
                     "in a complex value (re, im)") ||
          !ReadNumber(s, kRule, &n) || !FloatBits(s, n, part, &bits)) {
        return false;
      }
      Append(out, bits, StorageBytes(part));
    }
    return s->Expect(')', kRule, "after a complex value");
  }
  Number n;
  if (!ReadNumber(s, kRule, &n)) return false;
  if (!IsFloat(type)) return AppendInteger(s, n, type, out);
  uint64_t bits;
  if (!FloatBits(s, n, type, &bits)) return false;
  Append(out, bits, StorageBytes(type));
  return true;
}

// A repeating pattern of small non-zero values, which mean nothing.
Literal ElidedLiteral(const Shape& shape, FillBudget* budget) {
  constexpr int64_t kPeriod = 61;  // prime: no dimension lines up with it
  int64_t count = shape.ElementCount();
  int width = StorageBytes(shape.type());
  int64_t bytes = SaturatingMul(count, width);
  Literal literal = Literal::FromBytes(shape, {});
  if (bytes <= budget->left) {
    budget->left -= bytes;
    Shape head_shape = Shape::Array(shape.type(), {kPeriod});
    Literal head = Literal::Zeros(head_shape);
    for (int64_t i = 0; i < kPeriod; ++i) {
      double v = IsFloat(shape.type()) || IsComplex(shape.type())
                     ? static_cast<double>(i + 1) / 64
                     : 1;
      SetDouble(&head, i, v);
    }
    std::vector<uint8_t> data(bytes);
    for (int64_t at = 0; at < bytes; at += kPeriod * width) {
      std::memcpy(data.data() + at, head.bytes(),
                  std::min<int64_t>(kPeriod * width, bytes - at));
    }
    literal = Literal::FromBytes(shape, std::move(data));
  }
  literal.set_elided(true);
  return literal;
}

class ArrayReader {
 public:
  ArrayReader(Scanner* s, const Shape& shape)
      : s_(s), shape_(shape), seen_(shape.rank(), 0) {}

  bool Read(FillBudget* budget, Literal* literal) {
    ElementType type = shape_.type();
    int64_t rank = shape_.rank();
    int64_t level = 0;
    Reserve();
    do {
      char c = s_->Peek();
      const char* at = s_->position();
      if (c == '{') {
        if (level == rank) {
          return s_->Fail(at, kRule,
                          absl::StrCat("the literal nests deeper than its ",
                                       rank, " dimensions"));
        }
        if (level > 0 && !Count(level - 1)) return false;
        ++level;
        s_->set_position(at + 1);
      } else if (c == '}' && level > 0) {
        --level;
        if (seen_[level] != shape_.dim(level)) {
          return s_->Fail(
              at, kRule,
              absl::StrCat("dimension ", level, " of ", shape_.ToString(),
                           " has ", shape_.dim(level),
                           " elements, the literal gives ", seen_[level]));
        }
        seen_[level] = 0;
        s_->set_position(at + 1);
      } else if (c == ',' && level > 0) {
        s_->set_position(at + 1);
      } else if (c == '.' && s_->EatText("...")) {
        if (level != 1 || seen_[0] != 0) {
          return s_->Fail(at, kRule,
                          "`...` must stand alone in the outermost braces");
        }
        if (!s_->Expect('}', kRule, "after `...`")) return false;
        *literal = ElidedLiteral(shape_, budget);
        return true;
      } else {
        // A number or word in place of the braces.
        if (level == 0 && rank > 0 &&
            (c == '-' || IsClass(c, kDigitChar | kNameStartChar))) {
          return ReadAbbreviated(budget, literal);
        }
        if (level != rank) {
          return s_->FailHere(
              kRule, absl::StrCat("expected ", rank, " nested braces for ",
                                  shape_.ToString(), ", found ", s_->Found(),
                                  " inside ", level));
        }
        if (rank > 0 && !Count(rank - 1)) return false;
        if (!AppendScalar(s_, type, &data_)) return false;
      }
    } while (level > 0);
    *literal = Literal::FromBytes(shape_, std::move(data_));
    return true;
  }

 private:
  // f32[8] constant(1): the first element, zeros for the rest.
  bool ReadAbbreviated(FillBudget* budget, Literal* literal) {
    const char* at = s_->position();
    int64_t bytes =
        SaturatingMul(shape_.ElementCount(), StorageBytes(shape_.type()));
    if (!AppendScalar(s_, shape_.type(), &data_)) return false;
    if (bytes == 0 || bytes > budget->left) {
      return s_->Fail(at, kRule,
                      absl::StrCat("one element does not make a literal of ",
                                   shape_.ToString()));
    }
    budget->left -= bytes;
    data_.resize(bytes);
    *literal = Literal::FromBytes(shape_, std::move(data_));
    literal->set_abbreviated(true);
    return true;
  }
  // One more element or sub-array along dimension `d`.
  bool Count(int64_t d) {
    if (++seen_[d] <= shape_.dim(d)) return true;
    return s_->FailHere(
        kRule,
        absl::StrCat("dimension ", d, " of ", shape_.ToString(), " has ",
                     shape_.dim(d), " elements, the literal gives more"));
  }
  // Every element but the last takes at least two characters ("1,").
  void Reserve() {
    int64_t possible = (s_->end() - s_->position()) / 2 + 1;
    int64_t elements = std::min(shape_.ElementCount(), possible);
    data_.reserve(elements * StorageBytes(shape_.type()));
  }

  Scanner* s_;
  const Shape& shape_;
  DimVector seen_;
  std::vector<uint8_t> data_;
};

}  // namespace

bool ParseLiteral(Scanner* s, const Shape& shape, FillBudget* budget,
                  Literal* literal) {
  Scanner::Depth depth(s);
  if (!depth.ok()) return false;
  if (shape.IsArray()) {
    if (!shape.IsStatic()) {
      return s->FailHere(kRule, absl::StrCat("a literal cannot have the "
                                             "dynamic shape ",
                                             shape.ToString()));
    }
    return ArrayReader(s, shape).Read(budget, literal);
  }
  if (!shape.IsTuple()) {
    return s->FailHere(kRule, absl::StrCat("there are no literals of type ",
                                           shape.ToString()));
  }
  if (!s->Expect('(', kRule, "before the elements of a tuple literal")) {
    return false;
  }
  std::vector<Literal> elements(shape.tuple_shapes().size());
  for (size_t i = 0; i < elements.size(); ++i) {
    if (i > 0 && !s->Expect(',', kRule, "between tuple elements")) return false;
    if (!ParseLiteral(s, shape.tuple_shape(i), budget, &elements[i])) {
      return false;
    }
  }
  if (!s->Expect(')', kRule, "after the elements of a tuple literal")) {
    return false;
  }
  *literal = Literal::Tuple(std::move(elements));
  *literal->mutable_shape() = shape;
  return true;
}

bool ParseShapedLiteral(Scanner* s, FillBudget* budget, Literal* literal) {
  Scanner::Depth depth(s);
  if (!depth.ok()) return false;
  if (!s->Eat('(')) {
    Shape shape;
    return ParseShape(s, &shape) && ParseLiteral(s, shape, budget, literal);
  }
  std::vector<Literal> elements;
  if (!s->Eat(')')) {
    do {
      if (!ParseShapedLiteral(s, budget, &elements.emplace_back())) {
        return false;
      }
    } while (s->Eat(','));
    if (!s->Expect(')', kRule, "after the elements of a tuple literal")) {
      return false;
    }
  }
  *literal = Literal::Tuple(std::move(elements));
  return true;
}

bool ParseDouble(Scanner* s, double* value, absl::string_view rule) {
  Number n;
  if (!ReadNumber(s, rule, &n)) return false;
  *value = n.value;
  return true;
}

}  // namespace ridge
