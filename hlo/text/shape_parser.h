// Shapes in text: f32[2,<=8]{1,0:T(8,128)S(1)}, tuples, buffers.
#ifndef RIDGE_HLO_TEXT_SHAPE_PARSER_H_
#define RIDGE_HLO_TEXT_SHAPE_PARSER_H_

#include <vector>

#include "absl/strings/string_view.h"
#include "hlo/ir/module.h"
#include "hlo/text/scanner.h"

namespace ridge {

// True if a shape begins here: `(`, or a word followed by `[`, or `b(`.
bool AtShape(Scanner* s);

// Equal but for layouts and for which dimensions are dynamic; an unbounded
// dimension equals any. XLA compares declared shapes like this.
bool SameUpToDynamic(const Shape& a, const Shape& b);

// Reads one shape. False (with the error recorded) if there is none, or it is
// not one: unknown type, a layout that is no permutation of the dimensions.
bool ParseShape(Scanner* s, Shape* shape);

// Reads shapes of one module, parsing each spelling once: a module repeats
// few spellings many times, so that a look-up by text replaces most parsing.
class ShapeReader {
 public:
  explicit ShapeReader(Module* module) : module_(module), slots_(kFirstSize) {}

  // The interned shape at the scanner's position; null after an error.
  const Shape* Read(Scanner* s);

 private:
  static constexpr size_t kFirstSize = 256;  // a power of two
  struct Slot {
    absl::string_view text;
    uint64_t hash = 0;
    const Shape* shape = nullptr;
  };
  void Grow();

  Module* module_;
  std::vector<Slot> slots_;
  size_t used_ = 0;
};

}  // namespace ridge

#endif  // RIDGE_HLO_TEXT_SHAPE_PARSER_H_
