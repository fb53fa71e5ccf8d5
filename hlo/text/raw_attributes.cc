#include "hlo/text/raw_attributes.h"

#include <bitset>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "hlo/text/literal_parser.h"

namespace ridge {
namespace {

enum class FieldKind : uint8_t {
  kInt,
  kNumber,
  kBool,
  kString,
  kBraced,  // anything in braces
  kSharding,
  kMode,
  kTolerance,
};

struct Field {
  absl::string_view name;
  FieldKind kind;
};

// Fields of OpMetadata that XLA's parser reads, with those of newer versions.
constexpr Field kMetadataFields[] = {
    {"op_type", FieldKind::kString},
    {"op_name", FieldKind::kString},
    {"source_file", FieldKind::kString},
    {"source_line", FieldKind::kInt},
    {"source_end_line", FieldKind::kInt},
    {"source_column", FieldKind::kInt},
    {"source_end_column", FieldKind::kInt},
    {"stack_frame_id", FieldKind::kInt},
    {"profile_type", FieldKind::kBraced},
    {"deduplicated_name", FieldKind::kString},
    {"preserve_layout", FieldKind::kBool},
    {"scheduling_name", FieldKind::kString},
    {"size_of_generated_code_in_bytes", FieldKind::kInt},
    {"size_of_memory_working_set_in_bytes", FieldKind::kInt},
};

constexpr Field kDomainFields[] = {
    {"kind", FieldKind::kString},
    {"entry", FieldKind::kSharding},
    {"exit", FieldKind::kSharding},
};

constexpr Field kAccuracyFields[] = {
    {"mode", FieldKind::kMode},
    {"tolerance", FieldKind::kTolerance},
};

constexpr Field kToleranceFields[] = {
    {"atol", FieldKind::kNumber},
    {"rtol", FieldKind::kNumber},
    {"ulps", FieldKind::kInt},
};

constexpr absl::string_view kAccuracyModes[] = {"DEFAULT", "HIGHEST"};
constexpr absl::string_view kGroupModes[] = {"cross_replica", "cross_partition",
                                             "cross_replica_and_partition",
                                             "flattened_id"};
constexpr absl::string_view kShardingWords[] = {
    "replicated", "maximal",   "manual",
    "unknown",    "unreduced", "last_tile_dim_replicate"};

bool SkipSharding(Scanner* s);
bool SkipFields(Scanner* s, absl::Span<const Field> fields,
                absl::string_view rule, int required);

bool SkipWord(Scanner* s, absl::Span<const absl::string_view> allowed,
              absl::string_view rule) {
  s->SkipSpace();
  const char* at = s->position();
  absl::string_view word = s->Name();
  for (absl::string_view a : allowed) {
    if (a == word) return true;
  }
  s->set_position(at);
  return s->Fail(
      at, rule,
      absl::StrCat("expected one of ", absl::StrJoin(allowed, ", "), ", found ",
                   s->Found(), DidYouMean(word, allowed)));
}

bool SkipField(Scanner* s, FieldKind kind, absl::string_view rule) {
  int64_t i;
  double d;
  absl::string_view text;
  switch (kind) {
    case FieldKind::kInt:
      return s->Int(&i, rule, "an integer");
    case FieldKind::kNumber:
      return ParseDouble(s, &d, rule);
    case FieldKind::kBool:
      return SkipWord(s, {"true", "false"}, rule);
    case FieldKind::kString:
      return s->QuotedRaw(&text, rule);
    case FieldKind::kBraced:
      return s->Balanced(&text, rule);
    case FieldKind::kSharding:
      return SkipSharding(s);
    case FieldKind::kMode:
      return SkipWord(s, kAccuracyModes, rule);
    case FieldKind::kTolerance:
      return SkipFields(s, kToleranceFields, rule, 0);
  }
  return false;
}

// {name=value name=value, ...}: separated by blanks or commas. The first
// `required` of `fields` must be there.
bool SkipFields(Scanner* s, absl::Span<const Field> fields,
                absl::string_view rule, int required) {
  s->SkipSpace();
  const char* start = s->position();
  if (!s->Expect('{', rule, "before the fields")) return false;
  std::bitset<32> seen;
  while (!s->Eat('}')) {
    s->Eat(',');
    s->SkipSpace();
    const char* at = s->position();
    absl::string_view name = s->Name();
    size_t f = 0;
    while (f < fields.size() && fields[f].name != name) ++f;
    if (f == fields.size()) {
      std::vector<absl::string_view> names;
      for (const Field& field : fields) names.push_back(field.name);
      s->set_position(at);
      return s->Fail(at, rule,
                     absl::StrCat("expected a field of ", rule, " (",
                                  absl::StrJoin(names, ", "), "), found ",
                                  s->Found(), DidYouMean(name, names)));
    }
    if (seen[f]) {
      return s->Fail(at, rule,
                     absl::StrCat("the field `", name, "` is given twice"));
    }
    seen[f] = true;
    if (!s->Expect('=', rule, "after the field's name") ||
        !SkipField(s, fields[f].kind, rule)) {
      return false;
    }
  }
  for (int f = 0; f < required; ++f) {
    if (seen[f]) continue;
    return s->Fail(start, rule,
                   absl::StrCat("the field `", fields[f].name, "` is missing"));
  }
  return true;
}

bool SkipInts(Scanner* s, char close, absl::string_view rule) {
  int64_t ignored;
  do {
    if (!s->Int(&ignored, rule, "a number")) return false;
  } while (s->Eat(','));
  return close == '\0' || s->Expect(close, rule, "after the numbers");
}

// [2,4]<=[8]T(1,0), or [2,4]0,1,2,...
bool SkipTileAssignment(Scanner* s) {
  if (!s->Expect('[', "sharding", "before the tile dimensions") ||
      !SkipInts(s, ']', "sharding")) {
    return false;
  }
  if (!s->EatText("<=")) return SkipInts(s, '\0', "sharding");
  if (!s->Expect('[', "sharding", "after `<=`") ||
      !SkipInts(s, ']', "sharding")) {
    return false;
  }
  if (!s->EatText("T(")) return true;
  return SkipInts(s, ')', "sharding");
}

bool SkipMetadata(Scanner* s) {
  return SkipFields(s, kMetadataFields, "metadata", 0);
}

// One metadata, or a list of them.
bool SkipMetadataList(Scanner* s) {
  s->SkipSpace();
  const char* start = s->position();
  s->Eat('{');
  bool is_list = s->Peek() == '{';
  if (!is_list) {
    s->set_position(start);
    return SkipMetadata(s);
  }
  do {
    if (!SkipMetadata(s)) return false;
  } while (s->Eat(','));
  return s->Expect('}', "sharding", "after the list of metadata");
}

// {manual, replicated}: types of the last tile dimensions.
bool SkipTileTypes(Scanner* s) {
  if (!s->Expect('{', "sharding", "after last_tile_dims=")) return false;
  if (s->Eat('}')) return true;
  do {
    if (!SkipWord(s,
                  {"replicated", "manual", "maximal", "unknown", "unreduced"},
                  "sharding")) {
      return false;
    }
  } while (s->Eat(','));
  return s->Expect('}', "sharding", "after last_tile_dims");
}

// What is inside the braces of one sharding, up to and with the closing one.
bool SkipSingleSharding(Scanner* s) {
  s->SkipSpace();
  const char* start = s->position();
  bool has_kind = false;
  bool has_device = false;
  bool has_tiles = false;
  absl::string_view kind;
  while (!s->Eat('}')) {
    s->Eat(',');
    s->SkipSpace();
    const char* at = s->position();
    absl::string_view word = s->Name();
    int64_t number;
    if (word == "device" && s->Eat('=')) {
      has_device = true;
      if (!s->Int(&number, "sharding", "a device number")) return false;
    } else if (word == "devices" && s->Eat('=')) {
      has_tiles = true;
      if (!SkipTileAssignment(s)) return false;
    } else if (word == "metadata" && s->Eat('=')) {
      if (!SkipMetadataList(s)) return false;
    } else if (word == "last_tile_dims" && s->Eat('=')) {
      if (!SkipTileTypes(s)) return false;
    } else if (word == "shard_as" || word == "shard_like") {
      if (!s->Int(&number, "sharding", "a shard group number")) return false;
    } else if (word == "maximal_mesh" || word == "mesh") {
      // Named shardings: their axes are for SPMD partitioning alone.
      while (s->Peek() != '}') {
        if (s->AtEnd()) {
          return s->FailHere("sharding", "the sharding is never closed");
        }
        if (!SkipBalanced(s, "sharding")) return false;
      }
      has_kind = true;
    } else {
      s->set_position(at);
      if (!SkipWord(s, kShardingWords, "sharding")) return false;
      if (word != "last_tile_dim_replicate") {
        has_kind = true;
        kind = word;
      }
    }
  }
  if (!has_kind && !has_tiles) {
    return s->Fail(start, "sharding",
                   "a sharding needs devices=, or one of replicated, maximal, "
                   "manual, unknown, unreduced");
  }
  if (kind == "maximal" && !has_device) {
    return s->Fail(start, "sharding", "a maximal sharding needs device=");
  }
  if (has_kind && kind != "maximal" && (has_device || has_tiles)) {
    return s->Fail(
        start, "sharding",
        absl::StrCat("a sharding that is ", kind, " takes no devices"));
  }
  return true;
}

bool SkipSharding(Scanner* s) {
  if (!s->Expect('{', "sharding", "before the sharding")) return false;
  if (s->Peek() != '{') {
    if (s->Eat('}')) return true;  // of an empty tuple
    return SkipSingleSharding(s);
  }
  do {
    if (!s->Expect('{', "sharding", "before a tuple element's sharding") ||
        !SkipSingleSharding(s)) {
      return false;
    }
  } while (s->Eat(','));
  return s->Expect('}', "sharding", "after the shardings of a tuple");
}

// {visualizing_index=1,stat-1=33,stat-2=44}
bool SkipStatistics(Scanner* s) {
  if (!s->Expect('{', "statistics", "before the statistics")) return false;
  while (!s->Eat('}')) {
    s->Eat(',');
    if (s->Name().empty()) {
      return s->FailHere("statistics",
                         absl::StrCat("expected a name, found ", s->Found()));
    }
    double ignored;
    if (!s->Expect('=', "statistics", "after the name") ||
        !ParseDouble(s, &ignored, "statistics")) {
      return false;
    }
  }
  return true;
}

bool SkipBackendConfig(Scanner* s) {
  absl::string_view ignored;
  if (s->Peek() == '"') return s->QuotedRaw(&ignored, "backend_config");
  return s->Balanced(&ignored, "backend_config");
}

}  // namespace

bool SkipBalanced(Scanner* s, absl::string_view rule) {
  // Brackets open at the moment, innermost last.
  std::vector<char> open;
  const char* start = s->position();
  do {
    char c = s->Peek();
    const char* at = s->position();
    if (c == '\0') return s->Fail(start, rule, "what begins here never ends");
    if (c == '"') {
      absl::string_view ignored;
      if (!s->QuotedRaw(&ignored, rule)) return false;
      continue;
    }
    s->set_position(at + 1);
    if (c == '{' || c == '(' || c == '[') {
      open.push_back(c == '{' ? '}' : c == '(' ? ')' : ']');
    } else if (c == '}' || c == ')' || c == ']') {
      if (open.empty() || open.back() != c) {
        s->set_position(at);
        return s->Fail(
            at, rule,
            open.empty()
                ? absl::StrCat("unexpected ", s->Found())
                : absl::StrCat("expected `", absl::string_view(&open.back(), 1),
                               "`, found ", s->Found()));
      }
      open.pop_back();
    }
  } while (!open.empty());
  return true;
}

bool SkipBoolList(Scanner* s) {
  if (!s->Eat('{')) return SkipWord(s, {"true", "false"}, "bool-list");
  if (s->Eat('}')) return true;
  do {
    if (!SkipWord(s, {"true", "false"}, "bool-list")) return false;
  } while (s->Eat(','));
  return s->Expect('}', "bool-list", "after the values");
}

bool SkipFrontendAttributes(Scanner* s) {
  constexpr absl::string_view kRule = "frontend_attributes";
  if (!s->Expect('{', kRule, "before the attributes")) return false;
  if (s->Eat('}')) return true;
  do {
    absl::string_view ignored;
    bool named =
        s->Peek() == '"' ? s->QuotedRaw(&ignored, kRule) : !s->Name().empty();
    if (!named) {
      return s->FailHere(kRule,
                         absl::StrCat("expected a name, found ", s->Found()));
    }
    if (!s->Expect('=', kRule, "after the name")) return false;
    if (s->Peek() == '{' ? !s->Balanced(&ignored, kRule)
                         : !s->QuotedRaw(&ignored, kRule)) {
      return false;
    }
  } while (s->Eat(','));
  return s->Expect('}', kRule, "after the attributes");
}

bool ReadRawAttribute(Scanner* s, AttrId id, absl::string_view* text) {
  s->SkipSpace();
  const char* start = s->position();
  bool ok;
  switch (id) {
    case AttrId::kSharding:
      ok = SkipSharding(s);
      break;
    case AttrId::kMetadata:
      ok = SkipMetadata(s);
      break;
    case AttrId::kFrontendAttributes:
      ok = SkipFrontendAttributes(s);
      break;
    case AttrId::kBackendConfig:
      ok = SkipBackendConfig(s);
      break;
    case AttrId::kStatistics:
      ok = SkipStatistics(s);
      break;
    case AttrId::kParameterReplication:
      if (s->Peek() != '{') {
        return s->FailHere("bool-list",
                           absl::StrCat("expected `{`, found ", s->Found()));
      }
      ok = SkipBoolList(s);
      break;
    case AttrId::kDomain:
      ok = SkipFields(s, kDomainFields, "domain", 3);
      break;
    case AttrId::kResultAccuracy:
      ok = SkipFields(s, kAccuracyFields, "result_accuracy", 0);
      break;
    case AttrId::kMode:
      ok = SkipWord(s, kGroupModes, "mode");
      break;
    default:
      if (s->Peek() != '{') {
        return s->FailHere(Name(id),
                           absl::StrCat("expected `{`, found ", s->Found()));
      }
      ok = SkipBalanced(s, Name(id));
      break;
  }
  *text = s->TextFrom(start);
  return ok;
}

}  // namespace ridge
