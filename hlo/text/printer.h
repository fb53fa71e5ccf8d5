// Module to HLO text.
#ifndef RIDGE_HLO_TEXT_PRINTER_H_
#define RIDGE_HLO_TEXT_PRINTER_H_

#include <cstdint>
#include <string>

#include "hlo/ir/module.h"

namespace ridge {

struct PrintOptions {
  enum class Form : uint8_t {
    // %add.1 = f32[2]{0} add(f32[2]{0} %a, f32[2]{0} %b): with the shapes of
    // operands, and signatures of computations.
    kLong,
    // add.1 = f32[2]{0} add(a, b)
    kShort,
    // tmp_2 = f32[2]{0} add(f32[2]{0} tmp_0, f32[2]{0} tmp_1): names and
    // metadata of the input are gone, so that modules that differ in nothing
    // else print alike. Origins stay, as in XLA.
    kCanonical,
  };
  Form form = Form::kLong;
  bool metadata = true;  // never in kCanonical
  bool backend_config = true;
};

// All that is in the module; ParseModule reads it back (but for what the
// options leave out), and so does XLA's parser. Attributes come in the order
// of AttrId whatever order they were set in; raw attributes as they were
// written. Printing the parsed text again gives the same text.
std::string Print(const Module& module, const PrintOptions& options = {});
std::string Print(const Computation& computation,
                  const PrintOptions& options = {});
// One line, without indentation and without ROOT. The canonical form leaves
// out the names of operands.
std::string Print(const Instruction& instruction,
                  const PrintOptions& options = {});

// The value of one attribute, as it stands after `name=`.
std::string PrintAttrValue(const Instruction& instruction, AttrId id,
                           const PrintOptions& options = {});

}  // namespace ridge

#endif  // RIDGE_HLO_TEXT_PRINTER_H_
