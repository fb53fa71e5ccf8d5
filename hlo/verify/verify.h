// The verifier: is a module that parses also valid? Shapes as inferred,
// callees that fit their callers, asynchronous chains, collectives, aliasing.
// It reads a Module and changes nothing; parsing does not depend on it, so
// that an invalid module can still be shown.
//
// The rules are those of XLA's HloVerifier. XLA switches some of them on or
// off by the stage of compilation, which text does not tell; VerifyOptions
// names these and says what is assumed.
#ifndef RIDGE_HLO_VERIFY_VERIFY_H_
#define RIDGE_HLO_VERIFY_VERIFY_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "hlo/ir/module.h"

namespace ridge {

struct VerifyError {
  SourceLocation where;     // 0:0 where the module came from no text
  std::string instruction;  // or computation; "" for the module as a whole
  std::string rule;         // short and stable: "shape", "async-pair", ...
  std::string message;      // what was found and what is allowed
};

struct VerifyOptions {
  // Operands and result of an instruction that cannot change layouts must
  // have one layout. True after layout assignment, not before it.
  bool layout_sensitive = false;
  // f32 and bf16 may meet in one instruction, as while XLA lowers precision.
  bool allow_mixed_precision = false;
  // `?` dimensions.
  bool allow_unbounded_dynamism = true;
  // metadata's scheduling_name, where given, is the instruction's name.
  bool verify_names_unchanged = true;
  // In a scheduled module each send is followed by its recv (or the other way
  // round) before another collective begins.
  bool verify_collective_deadlocks = true;
  // Devices that run the module, where its header does not say; 0: not known,
  // and not checked against.
  int64_t replica_count = 0;
  int64_t num_partitions = 0;
  // More errors than this are not reported.
  int64_t max_errors = 20;
};

// All errors found, in the order of the text; empty for a valid module. Time
// is near-linear in the size of the module.
std::vector<VerifyError> Verify(const Module& module,
                                const VerifyOptions& options = {});

// OK, or InvalidArgument with the first error: "line:column: name: message
// [rule]".
absl::Status VerifyStatus(const Module& module,
                          const VerifyOptions& options = {});

std::string ToString(const VerifyError& error);

}  // namespace ridge

#endif  // RIDGE_HLO_VERIFY_VERIFY_H_
