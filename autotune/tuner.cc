#include "autotune/tuner.h"

#include <algorithm>
#include <chrono>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "backends/runtime/physical.h"
#include "cost_model/group_pricer.h"
#include "fusion/plan_io.h"
#include "fusion/proposals.h"
#include "fusion/strategies.h"
#include "hlo/base/status_macros.h"
#include "hlo/evaluator/compare.h"
#include "hlo/evaluator/error_bound.h"
#include "hlo/evaluator/inputs.h"

namespace ridge {
namespace {

double Seconds() {
  using Clock = std::chrono::steady_clock;
  return std::chrono::duration<double>(Clock::now().time_since_epoch()).count();
}

class Tuner {
 public:
  Tuner(const Module& written, const Module& canonical, Backend* backend,
        const DeviceDescription& device, TuningDatabase* database,
        const TuneOptions& options)
      : written_(written),
        canonical_(canonical),
        backend_(backend),
        database_(database),
        options_(options),
        pricer_(device),
        deadline_(Seconds() + options.budget_s) {
    limits_.numerics = options.numerics;
  }

  absl::StatusOr<TuneResult> Run() {
    RIDGE_RETURN_IF_ERROR(Prepare());
    StrategyOptions planning;
    planning.pricer = &pricer_;
    planning.limits = limits_;
    RIDGE_ASSIGN_OR_RETURN(Plan greedy,
                           MakePlan(canonical_, "greedy", planning));
    RIDGE_ASSIGN_OR_RETURN(Plan none, MakePlan(canonical_, "none", planning));
    greedy.note = "greedy";
    none.note = "no fusion";
    Consider(std::move(greedy));
    Consider(std::move(none));
    RIDGE_RETURN_IF_ERROR(MeasureIfOpen(0));
    best_ = 0;
    RIDGE_RETURN_IF_ERROR(MeasureIfOpen(1));
    Adopt(1);
    // Rounds of local changes of the best plan so far.
    while (!Stop()) {
      size_t before = best_;
      RIDGE_RETURN_IF_ERROR(Round());
      if (best_ == before) break;
    }
    return Rank();
  }

 private:
  bool Stop() {
    if (options_.interrupted != nullptr && *options_.interrupted) {
      stopped_ = true;
    }
    if (Seconds() > deadline_) stopped_ = true;
    return stopped_;
  }

  void Say(const std::string& line) {
    if (options_.progress) options_.progress(line);
  }

  absl::Status Prepare() {
    InputOptions inputs;
    inputs.seed = options_.seed;
    RIDGE_ASSIGN_OR_RETURN(std::vector<Literal> arguments,
                           MakeInputs(written_, inputs));
    RIDGE_ASSIGN_OR_RETURN(BoundedValue bounded,
                           EvaluateWithBounds(written_, arguments));
    tolerances_ = TolerancesOf(bounded);
    expected_ = std::move(bounded.value);
    arguments_ = FlattenLiterals(arguments);
    environment_ = EnvironmentOf(backend_->state());
    return absl::OkStatus();
  }

  // Prices a plan and takes it in, unless it is known; its number, or -1.
  int Consider(Plan plan) {
    std::string fingerprint = FingerprintPlan(canonical_, plan);
    if (!seen_.insert(fingerprint).second) return -1;
    Candidate c;
    for (const ComputationPlan& one : plan.computations) {
      for (const Group& g : one.groups) {
        absl::StatusOr<GroupPrice> price = pricer_.Price(g);
        if (!price.ok()) {
          c.failure = absl::StrCat("no kernel: ", price.status().message());
          break;
        }
        c.predicted_us += price->us;
      }
    }
    c.plan = std::move(plan);
    candidates_.push_back(std::move(c));
    fingerprints_.push_back(std::move(fingerprint));
    return static_cast<int>(candidates_.size()) - 1;
  }

  absl::Status MeasureIfOpen(size_t k) {
    Candidate& c = candidates_[k];
    if (!c.failure.empty() || c.measured_us > 0) return absl::OkStatus();
    TuningKey key{c.plan.module_fingerprint, fingerprints_[k], environment_};
    RIDGE_ASSIGN_OR_RETURN(std::optional<TuningResult> known,
                           database_->Find(key));
    if (known.has_value()) {
      c.measured_us = known->median_us;
      c.spread = known->spread;
      c.failure = known->failure;
      c.from_database = true;
      Say(absl::StrFormat("%s: %.1f us (known)", c.plan.note, c.measured_us));
      return absl::OkStatus();
    }
    TuningResult result = Measure(&c.plan);
    if (result.failure == kInterrupted) return absl::OkStatus();
    c.measured_us = result.median_us;
    c.spread = result.spread;
    c.failure = result.failure;
    Say(c.failure.empty()
            ? absl::StrFormat("%s: predicted %.1f us, measured %.1f us +- "
                              "%.1f%%",
                              c.plan.note, c.predicted_us, c.measured_us,
                              50 * c.spread)
            : absl::StrCat(c.plan.note, ": ", c.failure));
    return database_->Store(key, result);
  }

  static constexpr char kInterrupted[] = "interrupted";

  // Also notes what the compiler says of the plan's kernels.
  TuningResult Measure(Plan* plan) {
    TuningResult r;
    absl::StatusOr<std::unique_ptr<Executable>> executable =
        backend_->Compile(canonical_, *plan, CompileOptions());
    if (!executable.ok()) {
      r.failure =
          absl::StrCat("did not compile: ", executable.status().message());
      return r;
    }
    plan->built = BuiltKernelsOf((*executable)->steps(), /*of_plan=*/true);
    absl::StatusOr<std::vector<Literal>> outputs =
        (*executable)->Run(arguments_);
    if (!outputs.ok()) {
      r.failure = absl::StrCat("did not run: ", outputs.status().message());
      return r;
    }
    size_t next = 0;
    Literal got =
        UnflattenLiteral(written_.entry()->root()->shape(), *outputs, &next);
    absl::StatusOr<Comparison> same = CompareWith(tolerances_, got, expected_);
    if (!same.ok() || !same->ok) {
      r.failure = absl::StrCat(
          "wrong result: ",
          same.ok() ? same->ToString() : std::string(same.status().message()));
      return r;
    }
    MeasureOptions m;
    m.per_kernel = false;
    m.interrupted = options_.interrupted;
    absl::StatusOr<Measurement> measured =
        (*executable)->Measure(arguments_, m);
    if (!measured.ok()) {
      r.failure = absl::IsCancelled(measured.status())
                      ? kInterrupted
                      : absl::StrCat("could not be timed: ",
                                     measured.status().message());
      return r;
    }
    r.median_us = measured->total().median_us();
    r.spread = measured->total().spread();
    return r;
  }

  bool Usable(size_t k) const {
    return candidates_[k].failure.empty() && candidates_[k].measured_us > 0;
  }

  // The noise of two measurements, as a fraction: half of the larger spread,
  // at least 1%.
  static double Noise(const Candidate& a, const Candidate& b) {
    return std::max(0.01, std::max(a.spread, b.spread) / 2);
  }

  // Candidate k becomes the best one if it is faster beyond the noise, also
  // when both are measured once more.
  void Adopt(size_t k) {
    if (!Usable(k)) return;
    if (!Usable(best_)) {
      best_ = k;
      return;
    }
    Candidate& c = candidates_[k];
    Candidate& b = candidates_[best_];
    if (c.measured_us >= b.measured_us * (1 - Noise(c, b))) return;
    if (!c.from_database || !b.from_database) {
      TuningResult again_b = Measure(&b.plan);
      TuningResult again_c = Measure(&c.plan);
      if (!again_b.failure.empty() || !again_c.failure.empty()) return;
      b.measured_us = std::min(b.measured_us, again_b.median_us);
      c.measured_us = std::max(c.measured_us, again_c.median_us);
      if (c.measured_us >= b.measured_us * (1 - Noise(c, b))) return;
    }
    best_ = k;
  }

  absl::Status Round() {
    const Plan base = candidates_[best_].plan;
    std::vector<int> fresh;
    for (const Change& change :
         EnumerateChanges(base, options_.max_priced, options_.seed)) {
      if (Stop()) return absl::OkStatus();
      absl::StatusOr<Plan> plan =
          ApplyChange(canonical_, base, change, limits_);
      if (!plan.ok()) continue;
      int k = Consider(*std::move(plan));
      if (k >= 0 && candidates_[k].failure.empty()) fresh.push_back(k);
    }
    std::stable_sort(fresh.begin(), fresh.end(), [&](int x, int y) {
      return candidates_[x].predicted_us < candidates_[y].predicted_us;
    });
    if (fresh.size() > static_cast<size_t>(options_.max_measured)) {
      fresh.resize(options_.max_measured);
    }
    for (int k : fresh) {
      if (Stop()) return absl::OkStatus();
      RIDGE_RETURN_IF_ERROR(MeasureIfOpen(k));
      Adopt(k);
    }
    return absl::OkStatus();
  }

  // The adopted plan, unless a faster one is beyond the noise: the search may
  // have been stopped before that was measured again.
  size_t Lead() const {
    size_t fastest = best_;
    for (size_t k = 0; k < candidates_.size(); ++k) {
      if (Usable(k) &&
          (!Usable(fastest) ||
           candidates_[k].measured_us < candidates_[fastest].measured_us)) {
        fastest = k;
      }
    }
    const Candidate& f = candidates_[fastest];
    const Candidate& b = candidates_[best_];
    return b.measured_us <= f.measured_us * (1 + Noise(f, b)) ? best_ : fastest;
  }

  TuneResult Rank() {
    TuneResult result;
    result.default_us = candidates_[0].measured_us;
    result.finished = !stopped_;
    std::vector<size_t> order;
    for (size_t k = 0; k < candidates_.size(); ++k) order.push_back(k);
    auto tier = [&](size_t k) {
      return Usable(k) ? 0 : candidates_[k].failure.empty() ? 1 : 2;
    };
    const size_t lead = Lead();
    std::stable_sort(order.begin(), order.end(), [&](size_t x, size_t y) {
      if (tier(x) != tier(y)) return tier(x) < tier(y);
      if (tier(x) == 0 && (x == lead) != (y == lead)) return x == lead;
      if (tier(x) == 0) {
        return candidates_[x].measured_us < candidates_[y].measured_us;
      }
      return candidates_[x].predicted_us < candidates_[y].predicted_us;
    });
    int rank = 0;
    const Candidate* leader = nullptr;
    for (size_t k : order) {
      Candidate c = std::move(candidates_[k]);
      bool tie = leader != nullptr && leader->measured_us > 0 &&
                 c.measured_us > 0 && c.failure.empty() &&
                 c.measured_us <= leader->measured_us * (1 + Noise(c, *leader));
      if (!tie) {
        rank = static_cast<int>(result.candidates.size()) + 1;
      }
      c.rank = rank;
      result.candidates.push_back(std::move(c));
      if (!tie) leader = nullptr;
      if (leader == nullptr) leader_copy_ = result.candidates.back();
      leader = &leader_copy_;
    }
    return result;
  }

  const Module& written_;
  const Module& canonical_;
  Backend* backend_;
  TuningDatabase* database_;
  const TuneOptions& options_;
  CostModelPricer pricer_;
  FusionLimits limits_;
  double deadline_;
  bool stopped_ = false;
  Tolerances tolerances_;
  Literal expected_;
  std::vector<Literal> arguments_;
  std::string environment_;
  std::vector<Candidate> candidates_;
  std::vector<std::string> fingerprints_;
  std::set<std::string> seen_;
  size_t best_ = 0;
  Candidate leader_copy_;
};

}  // namespace

absl::StatusOr<TuneResult> Tune(const Module& written, const Module& canonical,
                                Backend* backend,
                                const DeviceDescription& device,
                                TuningDatabase* database,
                                const TuneOptions& options) {
  return Tuner(written, canonical, backend, device, database, options).Run();
}

}  // namespace ridge
