// What the files of the verifier share. Internal to hlo/verify.
#ifndef RIDGE_HLO_VERIFY_RULES_H_
#define RIDGE_HLO_VERIFY_RULES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "hlo/ir/module.h"
#include "hlo/verify/verify.h"

namespace ridge::verify {

// One run over one module: facts that several rules need, and the errors.
class Context {
 public:
  Context(const Module& module, const VerifyOptions& options);

  const Module& module() const { return module_; }
  const VerifyOptions& options() const { return options_; }
  int64_t replica_count() const { return replica_count_; }
  int64_t num_partitions() const { return num_partitions_; }

  // Takes the facts below from an instruction; in the order of the text.
  // CheckModuleStructure, which comes first, does so for all.
  void Note(const Instruction& i);

  // Who calls a computation; null where no one does. Instructions in text
  // order, at most one entry for each reference.
  const std::vector<const Instruction*>* Callers(
      const Computation& computation) const;
  // How many computations are called, in the module or not.
  size_t callee_count() const { return callers_.size(); }
  // Collectives, and transfers to and from the host and other devices.
  const std::vector<const Instruction*>& communicating() const {
    return communicating_;
  }
  bool holds_buffers() const { return holds_buffers_; }
  // True when a fusion calls it.
  bool IsFused(const Computation& computation) const;
  bool IsAsync(const Computation& computation) const;

  template <typename... Args>
  void Fail(const Instruction& i, absl::string_view rule, const Args&... args) {
    Add(i.location(), i.name(), rule, absl::StrCat(args...));
  }
  template <typename... Args>
  void Fail(const Computation& c, absl::string_view rule, const Args&... args) {
    Add(c.location(), c.name(), rule, absl::StrCat(args...));
  }
  template <typename... Args>
  void FailModule(absl::string_view rule, const Args&... args) {
    Add({1, 1}, "", rule, absl::StrCat(args...));
  }
  bool Full() const {
    return static_cast<int64_t>(errors_.size()) >= options_.max_errors;
  }
  std::vector<VerifyError> TakeErrors() { return std::move(errors_); }

 private:
  void Add(SourceLocation where, absl::string_view name, absl::string_view rule,
           std::string message);

  const Module& module_;
  const VerifyOptions& options_;
  int64_t replica_count_ = 1;
  int64_t num_partitions_ = 1;
  absl::flat_hash_map<const Computation*, std::vector<const Instruction*>>
      callers_;
  std::vector<const Instruction*> communicating_;
  bool holds_buffers_ = false;
  std::vector<VerifyError> errors_;
};

// Whether the shape is or contains a buffer, `b(...)`.
bool HoldsBuffer(const Shape& shape);

// ---- Rules of one instruction ----
void CheckAttributes(const Instruction& i, Context* context);
// The shape is the one inferred. False when inference failed, in which case
// other rules about operands and shapes would mislead.
bool CheckShape(const Instruction& i, Context* context);
void CheckElementTypes(const Instruction& i, Context* context);
void CheckLayouts(const Instruction& i, Context* context);
void CheckAliasing(const Instruction& i, Context* context);
void CheckCaller(const Instruction& i, Context* context);
void CheckAsyncPair(const Instruction& i, Context* context);
void CheckCollective(const Instruction& i, Context* context);
void CheckMetadata(const Instruction& i, Context* context);

// ---- Rules of a computation ----
void CheckComputation(const Computation& c, Context* context);
void CheckFusedComputation(const Computation& c, Context* context);
// Buffers (`b(...)`) have one writer each.
void CheckBuffers(const Computation& c, Context* context);

// ---- Rules of the module ----
void CheckModuleStructure(Context* context);
void CheckChannels(Context* context);
void CheckCollectiveDeadlocks(Context* context);
void CheckHeader(Context* context);

// "main" for the main thread.
absl::string_view ThreadName(absl::string_view thread);

}  // namespace ridge::verify

#endif  // RIDGE_HLO_VERIFY_RULES_H_
