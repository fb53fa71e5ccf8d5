// Writes one stage of a kernel as host C++.
#ifndef RIDGE_BACKENDS_CPU_STAGE_WRITER_H_
#define RIDGE_BACKENDS_CPU_STAGE_WRITER_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "backends/cpu/stages.h"
#include "backends/kernel/body_writer.h"
#include "backends/kernel/kernel.h"

namespace ridge {

// A fold's results in scratch memory, one array each.
struct Stored {
  int64_t offset = 0;
  uint64_t vars = 0;
};

class StageWriter {
 public:
  StageWriter(const Kernel& kernel, const Stage& stage,
              const std::map<NodeId, Stored>& stored,
              const std::map<NodeId, int64_t>& partial_offset);
  // The stage as a function of this name.
  absl::StatusOr<std::string> Write(const std::string& symbol);

 private:
  struct Nest {
    uint64_t vars = 0;        // inner variables it loops over
    std::vector<Fold> folds;  // all reduced over `vars`
    std::vector<int32_t> stores;
  };

  // ---- The function's head ----

  std::string BufferText() const;
  std::string ScratchText() const;
  std::string FoldTypeOf(NodeId n) const;
  // Outer variables and chunk from the unit's number.
  void Decode();
  int64_t ColumnBlocks() const;

  // ---- Shared pieces ----

  static uint64_t Bit(int32_t v) { return uint64_t{1} << v; }
  std::vector<int32_t> VarsOf(uint64_t mask) const;
  // Row-major number of a point of the variables in `mask`.
  std::string Linear(uint64_t mask) const;
  // Results of earlier stages whose place is known here, and row buffers.
  void DefineStored();
  // Computes here whatever of `targets`' needs does not change further in.
  absl::Status Hoist(absl::Span<const NodeId> targets);
  std::vector<NodeId> FoldValues(const Fold& f) const;
  std::vector<NodeId> FoldInits(const Fold& f) const;
  Opcode Simple(const Fold& f) const;
  ElementType FoldElement(const Fold& f) const;
  std::vector<NodeId> StoreTargets(const Store& s) const;
  int32_t StorePhase(const Store& s) const;
  std::vector<NodeId> NestTargets(const Nest& nest) const;
  std::string Lo(int32_t v) const { return v == stage_.split ? "rdg_lo" : "0"; }
  std::string Hi(int32_t v) const;
  void OpenLoop(int32_t v, const std::string& lo, const std::string& hi,
                const std::string& step = "1");
  void CloseLoop(int32_t v);

  // ---- kPoint ----

  absl::Status WritePoint();
  // Phase by phase: the folds (with the stores that fit into their loop), then
  // the other stores.
  std::vector<Nest> OrderNests() const;
  // Which values of a nest are kept in row buffers for later ones: those that
  // a later nest needs directly and that cost something to compute again.
  void PlanRows(const std::vector<Nest>& nests);
  int Recompute(NodeId root, const absl::flat_hash_set<NodeId>& keep);
  absl::Status WriteNest(const Nest& nest);
  absl::Status WriteInner(const Nest& nest, const std::vector<NodeId>& keeps,
                          int32_t v);
  // The innermost loop in blocks, whose elements are folded together.
  absl::Status WriteBlocks(const Nest& nest, const std::vector<NodeId>& keeps,
                           int32_t v);
  // Rounds of the loop over `outer` whose short innermost loops over `inner`
  // fill one block; 0: each of these is long enough, or not of one length.
  int64_t RoundsOfBlock(const Nest& nest, int32_t outer, int32_t inner) const;
  // Both loops, so that as many rounds are folded together.
  absl::Status WriteRounds(const Nest& nest, const std::vector<NodeId>& keeps,
                           int32_t outer, int32_t inner, int64_t rounds);
  // What was written to the folds' blocks joins their accumulators.
  absl::Status FoldBlocks(const Nest& nest, const std::string& count);
  // The innermost loop in kLanes lanes, each with accumulators of its own.
  absl::Status WriteLanes(const Nest& nest, const std::vector<NodeId>& keeps,
                          int32_t v);
  // The innermost loop of a nest of stores. If all that divides the variable is
  // multiples of some number, it becomes two loops, so that a quotient changes
  // with the outer one only.
  absl::Status WriteStores(const Nest& nest, const std::vector<NodeId>& keeps,
                           int32_t v);
  int64_t Divisor(const Nest& nest, int32_t v);
  // Where comparisons of the variable with constants change their result, such
  // as between the parts of a concatenation: between these points the compiler
  // knows it. Begins with 0, ends with the extent.
  std::vector<int64_t> Breaks(const Nest& nest, int32_t v);
  // Loads that walk along stage_.split in steps of 1 fill a tile in that order
  // first, so that the loops after it have no strided loads.
  absl::Status WriteTransposedLoads(const Nest& nest, int32_t minor);
  std::string TileEnd(int32_t minor) const;
  // The innermost statements. How a fold takes its element: at once, through a
  // block (at block_place_), in a lane, or not here.
  enum class Take : uint8_t { kAtOnce, kBlock, kLane, kNot };
  absl::Status WriteBody(const Nest& nest, const std::vector<NodeId>& keeps,
                         Take take);

  // ---- Folds ----

  // Where a fold is by a function of its own, the folds of the nest run in so
  // many lanes. Such a function may tell its operands apart (the first of equal
  // values wins), so each lane takes kRun neighbours, and the lanes are folded
  // in order after them. Only Ridge's own function of moments is free of order:
  // its lanes take every kLanes-th element and last to the end.
  static constexpr int64_t kLanes = 16;
  static constexpr int64_t kRun = 32;
  bool Ordered(const Nest& nest) const;
  // Folds the lanes into the accumulators.
  absl::Status CloseLanes(const Fold& f);
  bool FitsLanes(const Nest& nest) const;
  bool InLanes(const Fold& f) const { return in_lanes_.contains(f.any); }
  std::string Lane(const Fold& f, size_t r) const;
  // As FoldOne, for the lane `rdg_l`.
  absl::Status FoldLane(const Fold& f, const std::vector<NodeId>& values);
  std::string Acc(const Fold& f, size_t r) const;
  // acc = acc combined with values; `at` subscripts the accumulators.
  absl::Status FoldOne(const Fold& f, const std::vector<NodeId>& values,
                       const std::string& at);
  absl::Status OpenFold(const Fold& f);
  // Names the results, and writes them to scratch where later stages look.
  absl::Status CloseFold(const Fold& f);
  std::string PartialAt(const std::string& chunk, const Fold& f) const;

  // ---- kColumn ----

  absl::Status WriteColumns();
  // Several rows at a time where that is little code, so that the accumulators
  // are loaded and stored less often. The loop over `row` is the innermost one.
  absl::Status WriteColumnRows(int32_t row, int32_t minor,
                               const std::string& at);
  absl::Status CloseColumns(const Fold& f, const std::string& column_loop,
                            const std::string& at);

  // ---- kBox ----

  absl::Status WriteBox();
  // One row, at the point of `walk` and `split` in scope.
  absl::Status WriteBoxRow(const Nest& nest);
  enum class Way : uint8_t { kRow, kSplit, kWalk, kBoth };
  Way WayOf(const Fold& f) const;
  // The accumulators' array, and that of the fold's partial or full results.
  std::string BoxArray(const Fold& f) const;
  absl::Status StoreBox(const Fold& f, const std::string& from);
  std::string StartBox(const Fold& f, const std::string& count) const;

  // ---- kCombine ----

  absl::Status WriteCombine();

  const Kernel& kernel_;
  const Stage& stage_;
  const uint64_t live_;
  const std::map<NodeId, Stored>& stored_;
  const std::map<NodeId, int64_t>& partial_offset_;
  BodyWriter w_;
  const std::string index_;
  absl::flat_hash_set<NodeId> own_;  // results of this stage's folds
  // Folds, by Fold::any: those in lanes, and those whose lanes CloseFold has to
  // fold.
  absl::flat_hash_set<NodeId> in_lanes_;
  absl::flat_hash_set<NodeId> open_lanes_;
  uint64_t bound_ = 0;  // variables that loops here have set
  // Row buffers: which nodes, which of them each nest fills.
  uint64_t row_vars_ = 0;
  std::vector<NodeId> kept_;
  absl::flat_hash_set<NodeId> kept_ready_;
  std::vector<std::vector<NodeId>> keeps_;
  std::string rows_;
  size_t nest_ = 0;
  std::string block_place_;  // where in a block an element goes
};

}  // namespace ridge

#endif  // RIDGE_BACKENDS_CPU_STAGE_WRITER_H_
