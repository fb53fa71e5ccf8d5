#include "fusion/greedy.h"

#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "fusion/axis_links.h"
#include "fusion/clusters.h"
#include "fusion/estimate.h"
#include "fusion/gemm_epilogue.h"
#include "fusion/instruction_traits.h"

namespace ridge {
namespace {

// Times that all edges are looked at: a merge may make another one legal.
constexpr int kMaxRounds = 4;
// Values recomputed: chains of at most this many instructions, for at most
// this many readers.
constexpr int kMaxChain = 24;
constexpr int kMaxTargets = 256;
constexpr int kMaxRecomputeRounds = 3;
// A fold's result that recomputation must read instead of the value is at most
// this part of it.
constexpr int64_t kSmallLeaf = 4;

struct Verdict {
  Decision decision;
  const Instruction* at = nullptr;
  double us = 0;  // of the group, where it is allowed
  int transposed = 0;
  int folds = 0;
  int64_t points = 0;
};

class Greedy {
 public:
  Greedy(const Computation& computation, const StrategyOptions& options)
      : options_(options), c_(computation) {}

  std::vector<PlanPiece> Run() {
    Epilogues();
    Merges();
    Siblings();
    Recompute();
    Horizontal();
    return c_.Pieces();
  }

 private:
  using Path = MergeGraph::Path;

  // ---- Verdicts ----

  Verdict Judge(const Group& group) {
    Verdict v;
    if (group.roots.empty()) return v;  // nothing needs it: no kernel
    GroupAnalysis a = AnalyzeGroup(group.members, group.roots, options_.limits);
    v.decision = a.decision;
    v.at = a.at;
    v.transposed = a.transposed;
    v.folds = a.folds;
    v.points = a.points;
    if (!v.decision.allowed()) return v;
    Group named = group;
    named.pattern = a.pattern;
    named.hero = a.hero;
    named.name = "candidate";
    if (options_.pricer == nullptr) {
      v.us = Estimate(named, a).us;
      return v;
    }
    absl::StatusOr<GroupPrice> price = options_.pricer->Price(named);
    if (price.ok()) {
      v.us = price->us;
    } else {
      v.decision =
          Decision::No(Rule::kNoKernel, std::string(price.status().message()));
      v.at = a.hero;
      // Alone it runs on a plain kernel, whatever that takes.
      v.us = Estimate(named, a).us;
    }
    return v;
  }

  const Verdict& JudgeCluster(int k) {
    auto it = known_.find(k);
    if (it != known_.end() && it->second.first == c_.cluster(k).version) {
      return it->second.second;
    }
    Verdict v = Judge(c_.MakeGroup(k));
    return (known_[k] = {c_.cluster(k).version, std::move(v)}).second;
  }

  void Log(PlanningStep step, int producer, int consumer, const Decision& d,
           const Instruction* at = nullptr, double apart = 0,
           double fused = 0) {
    if (options_.log == nullptr) return;
    DecisionRecord r;
    r.number = static_cast<int64_t>(options_.log->size());
    r.step = step;
    r.producer = &c_.at(producer);
    r.consumer = &c_.at(consumer);
    r.decision = d;
    r.at = at;
    r.us_apart = apart;
    r.us_fused = fused;
    options_.log->push_back(std::move(r));
  }

  static Decision CycleDecision(Path path) {
    return path == Path::kFound
               ? Decision::No(Rule::kCycle)
               : Decision::No(Rule::kSearch,
                              absl::StrCat(MergeGraph::kMaxSearch));
  }

  // ---- Epilogues of dots ----

  void Epilogues() {
    std::vector<bool> taken(c_.size());  // in some product's epilogue
    for (int i = 0; i < c_.size(); ++i) {
      const Instruction& dot = c_.at(i);
      if (!c_.IsAnchor(i) || dot.opcode() != Opcode::kDot) continue;
      if (dot.use_count() == 0 || dot.IsRoot()) continue;
      GemmEpilogueMatch m = MatchGemmEpilogue(dot, options_.limits.numerics);
      if (m.root == &dot) {
        if (m.at != nullptr) {
          Log(PlanningStep::kEpilogue, i, c_.position(m.at), m.decision, m.at);
        }
        continue;
      }
      const bool free = std::none_of(m.members.begin(), m.members.end(),
                                     [&](const Instruction* member) {
                                       return taken[c_.position(member)];
                                     });
      Decision d = free ? JudgeEpilogue(dot, m)
                        : Decision::No(Rule::kEpilogue, "another product's");
      if (!d.allowed()) {
        Log(PlanningStep::kEpilogue, i, c_.position(m.root), d, m.root);
        continue;
      }
      // All or nothing: a part of an activation is of no use.
      std::vector<int> parts;
      for (const Instruction* member : m.members) {
        const int p = c_.position(member);
        taken[p] = true;
        if (p != i && c_.IsAnchor(p)) parts.push_back(p);
      }
      int merged = c_.Find(i);
      for (int p : parts) {
        const Path path = c_.graph().ThirdBetween(merged, c_.Find(p));
        if (path != Path::kNone) {
          d = CycleDecision(path);
          break;
        }
        merged = c_.Merge(merged, c_.Find(p));
      }
      Log(PlanningStep::kEpilogue, i, c_.position(m.root), d);
    }
  }

  // Whether a kernel serves the product with its epilogue, and pays: not
  // where a library takes the product alone only.
  Decision JudgeEpilogue(const Instruction& dot, const GemmEpilogueMatch& m) {
    Group fused;
    fused.members = m.members;
    std::sort(fused.members.begin(), fused.members.end(),
              [&](const Instruction* a, const Instruction* b) {
                return c_.position(a) < c_.position(b);
              });
    fused.roots = {m.root};
    const Verdict both = Judge(fused);
    if (!both.decision.allowed()) return both.decision;
    Group product;
    product.members = {&dot};
    product.roots = {&dot};
    Group rest;
    for (const Instruction* i : fused.members) {
      if (i != &dot) rest.members.push_back(i);
    }
    rest.roots = {m.root};
    const double apart = Judge(product).us + Judge(rest).us;
    if (both.us <= apart) return Decision();
    return Decision::No(Rule::kPrice, absl::StrCat(both.us, " us"),
                        absl::StrCat(apart, " us"));
  }

  // ---- Producers and readers ----

  struct Edge {
    int64_t bytes;
    int producer;
    int consumer;
  };

  void Merges() {
    std::vector<Edge> edges;
    for (int i = 0; i < c_.size(); ++i) {
      if (!c_.IsAnchor(i)) continue;
      for (int p : c_.Producers(i)) {
        edges.push_back({c_.at(p).shape().ByteSize(), p, i});
      }
    }
    // The largest values first; among equals in list order.
    std::stable_sort(
        edges.begin(), edges.end(),
        [](const Edge& x, const Edge& y) { return x.bytes > y.bytes; });
    for (int round = 0; round < kMaxRounds; ++round) {
      bool merged = false;
      std::vector<Edge> left;
      for (const Edge& e : edges) {
        const int p = c_.Find(e.producer);
        const int c = c_.Find(e.consumer);
        if (p == c) continue;
        if (Try(PlanningStep::kMerge, e.producer, e.consumer)) {
          merged = true;
        } else {
          left.push_back(e);
        }
      }
      edges = std::move(left);
      if (!merged) break;
    }
  }

  // Merges the clusters of two anchors if that is legal and pays.
  bool Try(PlanningStep step, int producer, int consumer) {
    const int p = c_.Find(producer);
    const int c = c_.Find(consumer);
    const Cluster& a = c_.cluster(p);
    const Cluster& b = c_.cluster(c);
    if (a.wall || b.wall) {
      if (step == PlanningStep::kMerge) {
        Log(step, producer, consumer, Decision::No(Rule::kWall),
            a.wall ? &c_.at(producer) : &c_.at(consumer));
      }
      return false;
    }
    auto [failed, fresh] = failed_.try_emplace({p, c}, a.version, b.version);
    if (!fresh) {
      if (failed->second == std::make_pair(a.version, b.version)) return false;
      failed->second = {a.version, b.version};
    }
    const int64_t size = static_cast<int64_t>(a.own.size() + b.own.size());
    if (size > options_.limits.max_instructions) {
      Log(step, producer, consumer,
          Decision::No(Rule::kSize, size, options_.limits.max_instructions));
      return false;
    }
    const Path path = c_.graph().ThirdBetween(p, c);
    if (path != Path::kNone) {
      Log(step, producer, consumer, CycleDecision(path));
      return false;
    }
    if (step == PlanningStep::kMerge && Plain(p, c)) {
      // The bound only grows; counted anew when it hits the limit.
      int64_t operands = a.inputs + b.inputs;
      if (operands > options_.limits.max_operands) {
        operands = c_.CountOperands(p, c);
      }
      Decision d;
      if (operands > options_.limits.max_operands) {
        d = Decision::No(Rule::kOperands, operands,
                         options_.limits.max_operands);
      }
      Log(step, producer, consumer, d);
      if (!d.allowed()) return false;
      c_.cluster(c_.Merge(p, c)).inputs = operands;
      return true;
    }
    Verdict v = Judge(c_.MakeGroup(p, c));
    const Verdict x = JudgeCluster(p);
    const Verdict y = JudgeCluster(c);
    if (v.decision.allowed() && v.folds > 0 &&
        v.transposed > (x.folds > 0 ? x.transposed : 0) +
                           (y.folds > 0 ? y.transposed : 0)) {
      v.decision = Decision::No(Rule::kTransposed, v.transposed, 0);
    }
    if (v.decision.allowed() && v.us > (x.us + y.us) * (1 + 1e-9)) {
      v.decision = Decision::No(Rule::kPrice, absl::StrCat(v.us, " us"),
                                absl::StrCat(x.us + y.us, " us"));
    }
    Log(step, producer, consumer, v.decision, v.at, x.us + y.us, v.us);
    if (!v.decision.allowed()) return false;
    // Judging may have moved nothing in the graph; the path is still none.
    const int merged = c_.Merge(p, c);
    known_[merged] = {c_.cluster(merged).version, v};
    return true;
  }

  // Elementwise over one shape in one memory order: a round trip through
  // memory is saved and nothing lost.
  bool Plain(int p, int c) {
    const Cluster& a = c_.cluster(p);
    const Cluster& b = c_.cluster(c);
    if (!a.plain || !b.plain) return false;
    const Instruction& x = c_.at(a.own[0]);
    const Instruction& y = c_.at(b.own[0]);
    return x.shape().SameDims(y.shape()) &&
           PhysicalDims(x.shape()) == PhysicalDims(y.shape());
  }

  // ---- Siblings ----

  // Values by position, and the anchors that read each, through what rides
  // along.
  void Siblings() {
    std::vector<std::vector<int>> readers(c_.size());
    for (int i = 0; i < c_.size(); ++i) {
      if (!c_.IsAnchor(i) || c_.cluster(c_.Find(i)).wall) continue;
      absl::flat_hash_set<int> seen;
      std::vector<int> stack = {i};
      while (!stack.empty()) {
        const int at = stack.back();
        stack.pop_back();
        for (const Instruction* o : c_.at(at).operands()) {
          const int p = c_.position(o);
          if (!seen.insert(p).second) continue;
          if (!c_.IsAnchor(p) && RidesAlong(*o)) {
            stack.push_back(p);
          } else if (o->shape().IsArray() && o->shape().ElementCount() > 1) {
            readers[p].push_back(i);
          }
        }
      }
    }
    for (int round = 0; round < 2; ++round) {
      bool merged = false;
      for (int value = 0; value < c_.size(); ++value) {
        const int64_t elements =
            readers[value].size() < 2 ? 0 : c_.at(value).shape().ElementCount();
        int last = -1;
        for (int reader : readers[value]) {
          const int k = c_.Find(reader);
          if (c_.cluster(k).wall || JudgeCluster(k).points != elements) {
            continue;
          }
          // Each with the one before it that is over the value's space.
          if (last >= 0 && c_.Find(last) != k) {
            if (Try(PlanningStep::kSibling, last, reader)) merged = true;
          }
          last = reader;
        }
      }
      if (!merged) break;
    }
  }

  // ---- Recomputation ----

  void Recompute() {
    for (int round = 0; round < kMaxRecomputeRounds; ++round) {
      bool changed = false;
      for (int k = c_.size() - 1; k >= 0; --k) {
        if (!c_.IsAnchor(k) || c_.Find(k) != k || c_.cluster(k).wall) continue;
        for (int r : c_.Roots(k)) {
          if (!c_.IsBuffer(r) && Unstore(k, r)) changed = true;
        }
      }
      if (!changed) break;
    }
  }

  // Root r of cluster k is stored for other groups only: they compute it
  // themselves where that is faster for all together.
  bool Unstore(int k, int r) {
    if (!c_.at(r).shape().IsArray()) return false;
    std::vector<int> targets;
    for (int reader : c_.Readers(r)) {
      const int q = c_.Find(reader);
      if (q != k && !c_.Holds(q, r)) targets.push_back(q);
    }
    std::sort(targets.begin(), targets.end());
    targets.erase(std::unique(targets.begin(), targets.end()), targets.end());
    if (targets.empty() || static_cast<int>(targets.size()) > kMaxTargets) {
      return false;
    }
    for (int q : targets) {
      if (c_.cluster(q).wall) return false;
    }
    std::vector<int> chain;
    std::vector<int> leaves;
    if (!Chain(k, r, &chain, &leaves)) return false;
    double apart = JudgeCluster(k).us;
    Verdict rest = Judge(c_.MakeGroup(k, -1, {}, r));
    if (!rest.decision.allowed()) return false;
    double fused = rest.us;
    for (int q : targets) {
      apart += JudgeCluster(q).us;
      Verdict v = Judge(c_.MakeGroup(q, -1, chain));
      if (!v.decision.allowed()) {
        Log(PlanningStep::kRecompute, r, c_.cluster(q).own.back(), v.decision,
            v.at);
        return false;
      }
      fused += v.us;
    }
    Decision d;
    if (fused >= apart * (1 - 1e-9)) {
      d = Decision::No(Rule::kPrice, absl::StrCat(fused, " us"),
                       absl::StrCat(apart, " us"));
    }
    Log(PlanningStep::kRecompute, r, c_.cluster(targets[0]).own.back(), d,
        nullptr, apart, fused);
    if (!d.allowed()) return false;
    for (int q : targets) c_.AddCopies(q, chain, leaves);
    ++c_.cluster(k).version;
    return true;
  }

  // What computes r from what is stored: `chain`, within cluster k; `leaves`
  // are the anchors it reads. Folds are not computed again.
  bool Chain(int k, int r, std::vector<int>* chain, std::vector<int>* leaves) {
    const std::vector<int> roots = c_.Roots(k);
    const Cluster& cluster = c_.cluster(k);
    const int64_t bytes = c_.at(r).shape().ByteSize();
    absl::flat_hash_set<int> seen = {r};
    std::vector<int> stack = {r};
    while (!stack.empty()) {
      const int at = stack.back();
      stack.pop_back();
      const Instruction& x = c_.at(at);
      if (c_.IsAnchor(at)) {
        const bool here =
            std::binary_search(cluster.own.begin(), cluster.own.end(), at) ||
            c_.Holds(k, at);
        const bool stored =
            at != r && std::binary_search(roots.begin(), roots.end(), at);
        if (!here || stored) {
          leaves->push_back(at);
          continue;
        }
        if (x.opcode() == Opcode::kReduce) {
          if (x.shape().ByteSize() * kSmallLeaf > bytes || at == r) {
            return false;
          }
          leaves->push_back(at);
          continue;
        }
        chain->push_back(at);
        if (static_cast<int>(chain->size()) > kMaxChain) return false;
      }
      for (const Instruction* o : x.operands()) {
        const int p = c_.position(o);
        if (!c_.IsAnchor(p) && !RidesAlong(*o)) continue;  // in memory
        if (seen.insert(p).second) stack.push_back(p);
      }
    }
    std::sort(chain->begin(), chain->end());
    return true;
  }

  // ---- Independent groups ----

  // Nothing in the computation waits for it but what hands results on.
  bool IsLast(int k) const {
    for (int i : c_.cluster(k).own) {
      for (int r : c_.Readers(i)) {
        if (c_.Find(r) != k) return false;
      }
    }
    return true;
  }

  // Loops over spaces of one size that only make results of the computation
  // (the steps of an optimizer) share a launch, as many as parameters allow.
  void Horizontal() {
    absl::flat_hash_map<int64_t, int> last;  // by points, an open group
    for (int i = 0; i < c_.size(); ++i) {
      if (!c_.IsAnchor(i) || c_.Find(i) != i || c_.cluster(i).wall ||
          !IsLast(i)) {
        continue;
      }
      const Verdict& v = JudgeCluster(i);
      if (v.folds > 0 || v.transposed > 0 || !v.decision.allowed() ||
          v.points > options_.limits.max_horizontal_points ||
          c_.Roots(i).empty()) {
        continue;
      }
      auto [open, first] = last.try_emplace(v.points, i);
      if (first) continue;
      const int with = c_.Find(open->second);
      open->second = i;
      Try(PlanningStep::kHorizontal, with, i);
    }
  }

  const StrategyOptions& options_;
  Clusters c_;
  absl::flat_hash_map<int, std::pair<int, Verdict>> known_;
  absl::flat_hash_map<std::pair<int, int>, std::pair<int, int>> failed_;
};

}  // namespace

std::vector<PlanPiece> GreedyPieces(const Computation& computation,
                                    const StrategyOptions& options) {
  return Greedy(computation, options).Run();
}

}  // namespace ridge
