#include "backends/kernel/index_expr.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "absl/strings/str_cat.h"

namespace ridge {
namespace {

constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
constexpr int64_t kMin = std::numeric_limits<int64_t>::min();

int64_t Saturate(__int128 x) {
  return x > kMax ? kMax : x < kMin ? kMin : static_cast<int64_t>(x);
}

// Wrapping, so that absurd inputs are no undefined behaviour.
int64_t WrapMul(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) *
                              static_cast<uint64_t>(b));
}
int64_t WrapAdd(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) +
                              static_cast<uint64_t>(b));
}

int64_t FloorDivide(int64_t a, int64_t b) {
  int64_t q = a / b;
  return q - (a % b < 0 ? 1 : 0);
}
int64_t FloorModulo(int64_t a, int64_t b) {
  int64_t r = a % b;
  return r < 0 ? r + b : r;
}

bool ProductFits(int64_t a, int64_t b) {
  return static_cast<__int128>(a) * b <= kMax;
}

}  // namespace

IndexId IndexPool::Intern(const IndexNode& node) {
  bool leaf = node.kind == IndexKind::kVar || node.kind == IndexKind::kDynamic;
  Key key(node.kind, node.value, node.a, node.b, leaf ? node.range.lo : 0,
          leaf ? node.range.hi : 0);
  auto [it, inserted] =
      interned_.try_emplace(key, static_cast<IndexId>(nodes_.size()));
  if (!inserted) return it->second;
  Facts facts;
  if (node.kind == IndexKind::kVar) facts.vars = uint64_t{1} << node.value;
  if (node.kind == IndexKind::kDynamic) facts.dynamic = true;
  for (IndexId child : {node.a, node.b}) {
    if (child < 0) continue;
    facts.vars |= facts_[child].vars;
    facts.dynamic |= facts_[child].dynamic;
    facts.tree_size = std::min<int64_t>(
        int64_t{facts.tree_size} + facts_[child].tree_size, 1 << 30);
  }
  nodes_.push_back(node);
  facts_.push_back(facts);
  return it->second;
}

IndexId IndexPool::Const(int64_t value) {
  return Intern({IndexKind::kConst, value, -1, -1, {value, value}});
}

IndexId IndexPool::Var(int64_t n, int64_t extent) {
  if (extent <= 1) return Const(0);
  return Intern({IndexKind::kVar, n, -1, -1, {0, extent - 1}});
}

IndexId IndexPool::Dynamic(int32_t ssa_node, IndexRange range) {
  if (range.lo == range.hi) return Const(range.lo);
  return Intern({IndexKind::kDynamic, ssa_node, -1, -1, range});
}

IndexSum IndexPool::Decompose(IndexId id) const {
  IndexSum sum;
  auto add = [&](IndexId t) {
    const IndexNode& n = nodes_[t];
    if (n.kind == IndexKind::kConst) {
      sum.constant = n.value;
    } else if (n.kind == IndexKind::kMul) {
      sum.terms.push_back({n.a, n.value});
    } else {
      sum.terms.push_back({t, 1});
    }
  };
  while (nodes_[id].kind == IndexKind::kAdd) {
    add(nodes_[id].b);
    id = nodes_[id].a;
  }
  add(id);
  std::reverse(sum.terms.begin(), sum.terms.end());
  return sum;
}

bool IndexPool::TermBefore(const IndexTerm& x, const IndexTerm& y) const {
  auto rank = [&](IndexId atom) {
    const IndexNode& n = nodes_[atom];
    if (n.kind == IndexKind::kVar) return std::make_pair(0, n.value);
    if (n.kind == IndexKind::kDynamic) return std::make_pair(1, n.value);
    return std::make_pair(2, int64_t{atom});
  };
  auto rx = rank(x.atom), ry = rank(y.atom);
  return rx != ry ? rx < ry : x.atom < y.atom;
}

void IndexPool::Collect(IndexSum* sum) const {
  std::stable_sort(
      sum->terms.begin(), sum->terms.end(),
      [this](const auto& x, const auto& y) { return TermBefore(x, y); });
  size_t kept = 0;
  for (size_t i = 0; i < sum->terms.size();) {
    IndexTerm t = sum->terms[i];
    for (++i; i < sum->terms.size() && sum->terms[i].atom == t.atom; ++i) {
      t.factor = WrapAdd(t.factor, sum->terms[i].factor);
    }
    if (t.factor != 0) sum->terms[kept++] = t;
  }
  sum->terms.resize(kept);
}

IndexRange IndexPool::RangeOf(const IndexSum& sum) const {
  __int128 lo = sum.constant, hi = sum.constant;
  for (const IndexTerm& t : sum.terms) {
    const IndexRange& r = nodes_[t.atom].range;
    __int128 x = static_cast<__int128>(r.lo) * t.factor;
    __int128 y = static_cast<__int128>(r.hi) * t.factor;
    lo += std::min(x, y);
    hi += std::max(x, y);
  }
  return {Saturate(lo), Saturate(hi)};
}

// One step of x div c * c + x mod c = x, for any term y mod d: with
// q = y div d, the sum must hold factor*d times every term of q.
bool IndexPool::FoldDivMod(IndexSum* sum) {
  for (const IndexTerm& t : sum->terms) {
    if (nodes_[t.atom].kind != IndexKind::kMod) continue;
    const IndexId y = nodes_[t.atom].a;
    const int64_t d = nodes_[t.atom].value;
    const int64_t scale = WrapMul(t.factor, d);
    IndexSum q = Decompose(FloorDiv(y, d));
    if (q.terms.empty()) continue;
    bool all = true;
    for (const IndexTerm& part : q.terms) {
      all = all && std::any_of(sum->terms.begin(), sum->terms.end(),
                               [&](const IndexTerm& s) {
                                 return s.atom == part.atom &&
                                        s.factor == WrapMul(part.factor, scale);
                               });
    }
    if (!all) continue;
    IndexTerm mod = t;
    for (const IndexTerm& part : q.terms) {
      sum->terms.push_back({part.atom, WrapMul(part.factor, -scale)});
    }
    sum->terms.push_back({mod.atom, WrapMul(mod.factor, -1)});
    IndexSum whole = Decompose(y);
    for (const IndexTerm& part : whole.terms) {
      sum->terms.push_back({part.atom, WrapMul(part.factor, mod.factor)});
    }
    sum->constant = WrapAdd(sum->constant, WrapMul(-scale, q.constant));
    sum->constant = WrapAdd(sum->constant, WrapMul(mod.factor, whole.constant));
    Collect(sum);
    return true;
  }
  return false;
}

IndexId IndexPool::FromSum(IndexSum sum) {
  Collect(&sum);
  while (FoldDivMod(&sum)) {
  }
  if (sum.terms.empty()) return Const(sum.constant);
  IndexId chain = -1;
  for (const IndexTerm& t : sum.terms) {
    IndexSum one;
    one.terms.push_back(t);
    IndexId term =
        t.factor == 1
            ? t.atom
            : Intern({IndexKind::kMul, t.factor, t.atom, -1, RangeOf(one)});
    if (chain < 0) {
      chain = term;
      continue;
    }
    const IndexRange &x = nodes_[chain].range, &y = nodes_[term].range;
    IndexRange r = {Saturate(static_cast<__int128>(x.lo) + y.lo),
                    Saturate(static_cast<__int128>(x.hi) + y.hi)};
    chain = Intern({IndexKind::kAdd, 0, chain, term, r});
  }
  if (sum.constant == 0) return chain;
  IndexRange r = RangeOf(sum);
  IndexId constant = Const(sum.constant);
  return Intern({IndexKind::kAdd, 0, chain, constant, r});
}

IndexId IndexPool::Add(IndexId a, IndexId b) {
  IndexSum sum = Decompose(a);
  IndexSum other = Decompose(b);
  sum.terms.insert(sum.terms.end(), other.terms.begin(), other.terms.end());
  sum.constant = WrapAdd(sum.constant, other.constant);
  return FromSum(std::move(sum));
}

IndexId IndexPool::Mul(IndexId a, int64_t factor) {
  if (factor == 1) return a;
  if (factor == 0) return Const(0);
  IndexSum sum = Decompose(a);
  for (IndexTerm& t : sum.terms) t.factor = WrapMul(t.factor, factor);
  sum.constant = WrapMul(sum.constant, factor);
  return FromSum(std::move(sum));
}

bool IndexPool::SplitByFactor(const IndexSum& rest, int64_t divisor, int64_t* g,
                              IndexSum* high, IndexSum* low) const {
  std::vector<int64_t> candidates;
  for (const IndexTerm& t : rest.terms) {
    int64_t c = std::gcd(t.factor, divisor);
    if (c > 1) candidates.push_back(c);
  }
  std::sort(candidates.begin(), candidates.end(), std::greater<int64_t>());
  candidates.erase(std::unique(candidates.begin(), candidates.end()),
                   candidates.end());
  for (int64_t c : candidates) {
    high->terms.clear();
    low->terms.clear();
    for (const IndexTerm& t : rest.terms) {
      if (t.factor % c == 0) {
        high->terms.push_back({t.atom, t.factor / c});
      } else {
        low->terms.push_back(t);
      }
    }
    high->constant = FloorDivide(rest.constant, c);
    low->constant = FloorModulo(rest.constant, c);
    IndexRange r = RangeOf(*low);
    int64_t window = FloorDivide(r.lo, c);
    if (window != FloorDivide(r.hi, c)) continue;
    high->constant += window;
    low->constant -= window * c;
    *g = c;
    return true;
  }
  return false;
}

// rest: no factor is a multiple of the divisor, 0 <= constant < divisor, and
// the quotient takes several values.
IndexId IndexPool::DivideReduced(const IndexSum& rest, int64_t divisor) {
  int64_t g;
  IndexSum high, low;
  if (SplitByFactor(rest, divisor, &g, &high, &low)) {
    return FloorDiv(FromSum(std::move(high)), divisor / g);
  }
  if (rest.terms.size() == 1 && rest.terms[0].factor == 1) {
    const IndexNode atom = nodes_[rest.terms[0].atom];
    if (atom.kind == IndexKind::kFloorDiv && ProductFits(atom.value, divisor)) {
      IndexId shifted = AddConst(atom.a, WrapMul(rest.constant, atom.value));
      return FloorDiv(shifted, atom.value * divisor);
    }
    if (atom.kind == IndexKind::kMod && rest.constant == 0 &&
        atom.value % divisor == 0) {
      return Mod(FloorDiv(atom.a, divisor), atom.value / divisor);
    }
  }
  IndexId inner = FromSum(rest);
  // Folding may have brought the terms into another shape: look again.
  IndexSum again = Decompose(inner);
  if (again.terms.size() != rest.terms.size()) return FloorDiv(inner, divisor);
  const IndexRange& r = nodes_[inner].range;
  return Intern({IndexKind::kFloorDiv,
                 divisor,
                 inner,
                 -1,
                 {FloorDivide(r.lo, divisor), FloorDivide(r.hi, divisor)}});
}

IndexId IndexPool::FloorDiv(IndexId a, int64_t divisor) {
  if (divisor <= 1) return a;
  auto key = std::make_tuple(IndexKind::kFloorDiv, a, divisor);
  if (auto it = memo_.find(key); it != memo_.end()) return it->second;
  IndexSum sum = Decompose(a), quotient, rest;
  // Only exact multiples leave: (7*a + b) div 2 stays a function of 7*a + b,
  // which is one variable once a and b have been merged.
  for (const IndexTerm& t : sum.terms) {
    if (t.factor % divisor == 0) {
      quotient.terms.push_back({t.atom, t.factor / divisor});
    } else {
      rest.terms.push_back(t);
    }
  }
  quotient.constant = FloorDivide(sum.constant, divisor);
  rest.constant = FloorModulo(sum.constant, divisor);
  IndexRange r = RangeOf(rest);
  IndexId result;
  if (FloorDivide(r.lo, divisor) == FloorDivide(r.hi, divisor)) {
    quotient.constant += FloorDivide(r.lo, divisor);
    result = FromSum(std::move(quotient));
  } else {
    IndexId divided = DivideReduced(rest, divisor);
    result = Add(FromSum(std::move(quotient)), divided);
  }
  memo_[key] = result;
  return result;
}

IndexId IndexPool::RemainderReduced(const IndexSum& rest, int64_t divisor) {
  int64_t g;
  IndexSum high, low;
  if (SplitByFactor(rest, divisor, &g, &high, &low)) {
    IndexId major = Mod(FromSum(std::move(high)), divisor / g);
    return Add(Mul(major, g), FromSum(std::move(low)));
  }
  IndexId inner = FromSum(rest);
  IndexSum again = Decompose(inner);
  if (again.terms.size() != rest.terms.size()) return Mod(inner, divisor);
  return Intern({IndexKind::kMod, divisor, inner, -1, {0, divisor - 1}});
}

IndexId IndexPool::Mod(IndexId a, int64_t divisor) {
  if (divisor <= 1) return Const(0);
  auto key = std::make_tuple(IndexKind::kMod, a, divisor);
  if (auto it = memo_.find(key); it != memo_.end()) return it->second;
  IndexSum rest = Decompose(a);
  auto window = [&](IndexSum* sum) {
    IndexRange r = RangeOf(*sum);
    int64_t k = FloorDivide(r.lo, divisor);
    if (k != FloorDivide(r.hi, divisor)) return false;
    sum->constant -= k * divisor;
    return true;
  };
  IndexId result = -1;
  if (window(&rest)) {
    result = FromSum(std::move(rest));
  } else {
    // factor*(x mod m) = factor*x modulo any divisor of factor*m.
    for (bool changed = true; changed;) {
      changed = false;
      IndexSum reduced;
      reduced.constant = rest.constant;
      for (const IndexTerm& t : rest.terms) {
        const IndexNode& atom = nodes_[t.atom];
        if (t.factor % divisor == 0) continue;
        if (atom.kind == IndexKind::kMod &&
            static_cast<__int128>(t.factor) * atom.value % divisor == 0) {
          changed = true;
          IndexSum inner = Decompose(atom.a);
          for (const IndexTerm& i : inner.terms) {
            reduced.terms.push_back({i.atom, WrapMul(i.factor, t.factor)});
          }
          reduced.constant =
              WrapAdd(reduced.constant, WrapMul(inner.constant, t.factor));
        } else {
          reduced.terms.push_back(t);
        }
      }
      reduced.constant = FloorModulo(reduced.constant, divisor);
      rest = std::move(reduced);
      Collect(&rest);
    }
    result = window(&rest) ? FromSum(std::move(rest))
                           : RemainderReduced(rest, divisor);
  }
  memo_[key] = result;
  return result;
}

IndexId IndexPool::Rewrite(IndexId expr,
                           const std::function<IndexId(IndexId)>& leaf) {
  // Children have smaller ids than parents: ascending order is bottom-up.
  std::vector<IndexId> order = {expr};
  absl::flat_hash_map<IndexId, IndexId> done;
  for (size_t i = 0; i < order.size(); ++i) {
    const IndexNode& n = nodes_[order[i]];
    for (IndexId child : {n.a, n.b}) {
      if (child >= 0 && done.try_emplace(child, -1).second) {
        order.push_back(child);
      }
    }
  }
  std::sort(order.begin(), order.end());
  for (IndexId id : order) {
    const IndexNode n = nodes_[id];
    IndexId to = id;
    switch (n.kind) {
      case IndexKind::kConst:
        break;
      case IndexKind::kVar:
      case IndexKind::kDynamic:
        to = leaf(id);
        break;
      case IndexKind::kAdd:
        to = Add(done[n.a], done[n.b]);
        break;
      case IndexKind::kMul:
        to = Mul(done[n.a], n.value);
        break;
      case IndexKind::kFloorDiv:
        to = FloorDiv(done[n.a], n.value);
        break;
      case IndexKind::kMod:
        to = Mod(done[n.a], n.value);
        break;
    }
    done[id] = to;
  }
  return done[expr];
}

IndexId IndexPool::Substitute(IndexId expr,
                              absl::Span<const IndexId> replacement) {
  return Rewrite(expr, [&](IndexId leaf) {
    const IndexNode& n = nodes_[leaf];
    bool replaced = n.kind == IndexKind::kVar &&
                    n.value < static_cast<int64_t>(replacement.size()) &&
                    replacement[n.value] >= 0;
    return replaced ? replacement[n.value] : leaf;
  });
}

IndexId IndexPool::RenameDynamic(IndexId expr, absl::Span<const int32_t> to) {
  return Rewrite(expr, [&](IndexId leaf) {
    const IndexNode n = nodes_[leaf];
    return n.kind == IndexKind::kDynamic ? Dynamic(to[n.value], n.range) : leaf;
  });
}

std::vector<int32_t> IndexPool::DynamicNodes(IndexId expr) const {
  std::vector<int32_t> found;
  if (!HasDynamic(expr)) return found;
  std::vector<IndexId> stack = {expr};
  absl::flat_hash_map<IndexId, bool> seen;
  while (!stack.empty()) {
    IndexId id = stack.back();
    stack.pop_back();
    if (!HasDynamic(id) || !seen.try_emplace(id, true).second) continue;
    const IndexNode& n = nodes_[id];
    if (n.kind == IndexKind::kDynamic) {
      found.push_back(static_cast<int32_t>(n.value));
    }
    if (n.a >= 0) stack.push_back(n.a);
    if (n.b >= 0) stack.push_back(n.b);
  }
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

std::optional<int64_t> IndexPool::StrideOf(IndexId expr, int64_t var) const {
  const uint64_t bit = uint64_t{1} << var;
  if ((VarMask(expr) & bit) == 0) return 0;
  int64_t stride = 0;
  for (const IndexTerm& t : Decompose(expr).terms) {
    if (nodes_[t.atom].kind == IndexKind::kVar) {
      if (nodes_[t.atom].value == var) stride += t.factor;
    } else if ((VarMask(t.atom) & bit) != 0) {
      return std::nullopt;
    }
  }
  return stride;
}

bool IndexPool::CanMerge(IndexId expr, int64_t major, int64_t minor,
                         int64_t minor_extent) const {
  const uint64_t bits = (uint64_t{1} << major) | (uint64_t{1} << minor);
  if ((VarMask(expr) & bits) == 0) return true;
  int64_t major_factor = 0, minor_factor = 0;
  for (const IndexTerm& t : Decompose(expr).terms) {
    const IndexNode& atom = nodes_[t.atom];
    if (atom.kind == IndexKind::kVar) {
      if (atom.value == major) major_factor = t.factor;
      if (atom.value == minor) minor_factor = t.factor;
    } else if (atom.a >= 0 && !CanMerge(atom.a, major, minor, minor_extent)) {
      return false;
    }
  }
  return major_factor == WrapMul(minor_factor, minor_extent);
}

int64_t IndexPool::KnownAlignment(IndexId expr, int64_t limit) const {
  auto of = [&](int64_t value) {
    int64_t a = 1;
    while (a < limit && (value & (2 * a - 1)) == 0) a *= 2;
    return a;
  };
  IndexSum sum = Decompose(expr);
  int64_t alignment = of(sum.constant);
  for (const IndexTerm& t : sum.terms) {
    const IndexNode& atom = nodes_[t.atom];
    int64_t inner = 1;
    if (atom.kind == IndexKind::kMod) {
      inner = std::min(of(atom.value), KnownAlignment(atom.a, limit));
    }
    alignment = std::min(alignment, std::min(limit, of(t.factor) * inner));
  }
  return alignment;
}

int64_t IndexPool::Evaluate(IndexId expr, absl::Span<const int64_t> vars,
                            absl::Span<const int64_t> dynamic) const {
  const IndexNode& n = nodes_[expr];
  switch (n.kind) {
    case IndexKind::kConst:
      return n.value;
    case IndexKind::kVar:
      return vars[n.value];
    case IndexKind::kDynamic:
      return dynamic[n.value];
    case IndexKind::kAdd:
      return WrapAdd(Evaluate(n.a, vars, dynamic),
                     Evaluate(n.b, vars, dynamic));
    case IndexKind::kMul:
      return WrapMul(Evaluate(n.a, vars, dynamic), n.value);
    case IndexKind::kFloorDiv:
      return FloorDivide(Evaluate(n.a, vars, dynamic), n.value);
    case IndexKind::kMod:
      return FloorModulo(Evaluate(n.a, vars, dynamic), n.value);
  }
  return 0;
}

std::string IndexPool::ToString(IndexId expr,
                                absl::Span<const std::string> names) const {
  const IndexNode& n = nodes_[expr];
  // Text of an operand of * / %.
  auto factor = [&](IndexId id) {
    std::string text = ToString(id, names);
    return nodes_[id].kind == IndexKind::kAdd ||
                   (nodes_[id].kind == IndexKind::kConst &&
                    nodes_[id].value < 0)
               ? absl::StrCat("(", text, ")")
               : text;
  };
  // A product or quotient as operand of / %, which bind from the left.
  auto dividend = [&](IndexId id) {
    std::string text = ToString(id, names);
    bool bare = nodes_[id].kind == IndexKind::kVar ||
                nodes_[id].kind == IndexKind::kDynamic;
    return bare ? text : absl::StrCat("(", text, ")");
  };
  switch (n.kind) {
    case IndexKind::kConst:
      return absl::StrCat(n.value);
    case IndexKind::kVar:
      return n.value < static_cast<int64_t>(names.size())
                 ? names[n.value]
                 : absl::StrCat("v", n.value);
    case IndexKind::kDynamic:
      return absl::StrCat("d", n.value);
    case IndexKind::kAdd: {
      // A chain is written as one sum, negative terms with a minus.
      std::vector<IndexId> parts;
      IndexId at = expr;
      for (; nodes_[at].kind == IndexKind::kAdd; at = nodes_[at].a) {
        parts.push_back(nodes_[at].b);
      }
      std::string text = ToString(at, names);
      for (auto it = parts.rbegin(); it != parts.rend(); ++it) {
        std::string part = ToString(*it, names);
        if (!part.empty() && part[0] == '-') {
          absl::StrAppend(&text, " - ", part.substr(1));
        } else {
          absl::StrAppend(&text, " + ", part);
        }
      }
      return text;
    }
    case IndexKind::kMul:
      if (n.value == -1) return absl::StrCat("-", factor(n.a));
      if (n.value < 0 && n.value != kMin) {
        return absl::StrCat("-", dividend(n.a), " * ", -n.value);
      }
      return absl::StrCat(dividend(n.a), " * ", n.value);
    case IndexKind::kFloorDiv:
    case IndexKind::kMod: {
      bool div = n.kind == IndexKind::kFloorDiv;
      if (nodes_[n.a].range.lo < 0) {
        return absl::StrCat(div ? "floor_div(" : "floor_mod(",
                            ToString(n.a, names), ", ", n.value, ")");
      }
      return absl::StrCat(dividend(n.a), div ? " / " : " % ", n.value);
    }
  }
  return "";
}

}  // namespace ridge
