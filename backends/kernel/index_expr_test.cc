#include "backends/kernel/index_expr.h"

#include <random>

#include "gtest/gtest.h"

namespace ridge {
namespace {

// Calls fn for every point of the space.
template <typename Fn>
void ForEachPoint(const std::vector<int64_t>& extents, Fn&& fn) {
  std::vector<int64_t> at(extents.size(), 0);
  for (;;) {
    fn(at);
    size_t d = extents.size();
    while (d > 0 && ++at[d - 1] == extents[d - 1]) at[--d] = 0;
    if (d == 0) return;
  }
}

// An expression as the user asked for it, evaluated without the pool.
struct Plain {
  char op;  // 'v', 'c', '+', '*', '/', '%'
  int64_t value = 0;
  int a = -1, b = -1;
};

int64_t EvaluatePlain(const std::vector<Plain>& e, int at,
                      const std::vector<int64_t>& vars) {
  const Plain& p = e[at];
  auto x = [&] { return EvaluatePlain(e, p.a, vars); };
  switch (p.op) {
    case 'v':
      return vars[p.value];
    case 'c':
      return p.value;
    case '+':
      return x() + EvaluatePlain(e, p.b, vars);
    case '*':
      return x() * p.value;
    case '/': {
      int64_t v = x();
      return (v - ((v % p.value) + p.value) % p.value) / p.value;
    }
    default:
      return ((x() % p.value) + p.value) % p.value;
  }
}

TEST(IndexExprTest, SimplifiedExpressionsKeepTheirValueAtEveryPoint) {
  std::mt19937 rng(7);
  auto pick = [&](int64_t lo, int64_t hi) {
    return std::uniform_int_distribution<int64_t>(lo, hi)(rng);
  };
  for (int round = 0; round < 3000; ++round) {
    std::vector<int64_t> extents;
    for (int v = 0; v < 3; ++v) extents.push_back(pick(1, 12));
    IndexPool pool;
    std::vector<Plain> plain;
    std::vector<IndexId> ids;
    for (int v = 0; v < 3; ++v) {
      plain.push_back({'v', v});
      ids.push_back(pool.Var(v, extents[v]));
    }
    for (int step = 0; step < 12; ++step) {
      int a = pick(0, ids.size() - 1), b = pick(0, ids.size() - 1);
      // Divisors that share factors, as those of reshapes do.
      static constexpr int64_t kDivisors[] = {2, 3, 4, 6, 8, 12, 24, 5};
      int64_t d = kDivisors[pick(0, 7)];
      switch (pick(0, 5)) {
        case 0:
          plain.push_back({'c', pick(-30, 30)});
          ids.push_back(pool.Const(plain.back().value));
          break;
        case 1:
        case 2:
          plain.push_back({'+', 0, a, b});
          ids.push_back(pool.Add(ids[a], ids[b]));
          break;
        case 3:
          plain.push_back({'*', pick(0, 1) ? d : pick(-3, 3), a});
          ids.push_back(pool.Mul(ids[a], plain.back().value));
          break;
        case 4:
          plain.push_back({'/', d, a});
          ids.push_back(pool.FloorDiv(ids[a], d));
          break;
        default:
          plain.push_back({'%', d, a});
          ids.push_back(pool.Mod(ids[a], d));
          break;
      }
    }
    const IndexId last = ids.back();
    const int64_t alignment = pool.KnownAlignment(last, 16);
    int index = static_cast<int>(plain.size()) - 1;
    ForEachPoint(extents, [&](const std::vector<int64_t>& at) {
      int64_t expected = EvaluatePlain(plain, index, at);
      ASSERT_EQ(pool.Evaluate(last, at), expected) << pool.ToString(last);
      ASSERT_GE(expected, pool.range(last).lo) << pool.ToString(last);
      ASSERT_LE(expected, pool.range(last).hi) << pool.ToString(last);
      ASSERT_EQ(expected % alignment, 0) << pool.ToString(last);
      for (int v = 0; v < 3; ++v) {
        std::optional<int64_t> stride = pool.StrideOf(last, v);
        if (!stride || at[v] + 1 >= extents[v]) continue;
        std::vector<int64_t> next = at;
        ++next[v];
        ASSERT_EQ(EvaluatePlain(plain, index, next), expected + *stride);
      }
    });
  }
}

TEST(IndexExprTest, SubstitutionKeepsTheValue) {
  IndexPool pool;
  IndexId v0 = pool.Var(0, 24);
  IndexId e = pool.Add(pool.Mul(pool.Mod(v0, 6), 4), pool.FloorDiv(v0, 6));
  IndexId t = pool.Var(1, 8), j = pool.Var(2, 3);
  IndexId split[] = {pool.Add(pool.Mul(t, 3), j)};
  IndexId s = pool.Substitute(e, split);
  for (int64_t x = 0; x < 24; ++x) {
    int64_t before[] = {x};
    int64_t after[] = {0, x / 3, x % 3};
    EXPECT_EQ(pool.Evaluate(s, after), pool.Evaluate(e, before));
  }
}

TEST(IndexExprTest, MergingIsSeenWhereOneLinearIndexDoes) {
  IndexPool pool;
  IndexId a = pool.Var(0, 5), b = pool.Var(1, 7);
  IndexId linear = pool.Add(pool.Mul(a, 7), b);
  EXPECT_TRUE(pool.CanMerge(pool.Mul(linear, 3), 0, 1, 7));
  EXPECT_TRUE(pool.CanMerge(pool.FloorDiv(linear, 2), 0, 1, 7));
  EXPECT_FALSE(pool.CanMerge(pool.Add(pool.Mul(a, 8), b), 0, 1, 7));
  EXPECT_FALSE(pool.CanMerge(b, 0, 1, 7));
}

// A reshape of row-major [d0,d1,...] to [e0,e1,...]: the indices of the
// latter, delinearised to those of the former, read the same offset.
TEST(IndexExprTest, ReshapesRoundTripToTheLinearIndex) {
  IndexPool pool;
  IndexId v = pool.Var(0, 2 * 3 * 4 * 5);
  IndexId i0 = pool.FloorDiv(v, 20);
  IndexId i1 = pool.Mod(pool.FloorDiv(v, 5), 4);
  IndexId i2 = pool.Mod(v, 5);
  IndexId back = pool.Add(pool.Add(pool.Mul(i0, 20), pool.Mul(i1, 5)), i2);
  EXPECT_EQ(back, v) << pool.ToString(back);
  // ... and through a second reshape, [24, 5] to [6, 20].
  IndexId j0 = pool.FloorDiv(back, 20), j1 = pool.Mod(back, 20);
  EXPECT_EQ(pool.Add(pool.Mul(j0, 20), j1), v);
  EXPECT_EQ(pool.FloorDiv(pool.FloorDiv(v, 4), 5), pool.FloorDiv(v, 20));
  EXPECT_EQ(pool.FloorDiv(pool.Mod(v, 20), 5),
            pool.Mod(pool.FloorDiv(v, 5), 4));
  EXPECT_EQ(pool.Mod(pool.Mod(v, 20), 5), pool.Mod(v, 5));
}

// What an emitter asks: with v = V*t + j, is the access one vector (stride 1
// in j), one value (stride 0), or neither?
class VectorTest : public ::testing::Test {
 protected:
  static constexpr int64_t kLanes = 8;
  std::optional<int64_t> LaneStride(IndexId offset, int64_t extent) {
    IndexId t = pool_.Var(1, extent / kLanes), j = pool_.Var(2, kLanes);
    IndexId split[] = {pool_.Add(pool_.Mul(t, kLanes), j)};
    return pool_.StrideOf(pool_.Substitute(offset, split), 2);
  }
  IndexPool pool_;
  IndexId v_ = pool_.Var(0, 32 * 128 * 4);
};

TEST_F(VectorTest, RowVectorBroadcastOverRowsIsAVector) {
  EXPECT_EQ(LaneStride(pool_.Mod(v_, 128), 32 * 128 * 4), 1);
}

TEST_F(VectorTest, ColumnBroadcastOverTheMinorDimensionIsOneValue) {
  EXPECT_EQ(LaneStride(pool_.FloorDiv(v_, 128), 32 * 128 * 4), 0);
}

TEST_F(VectorTest, MiddleBroadcastOfThreeDimensionsIsOneValue) {
  EXPECT_EQ(LaneStride(pool_.Mod(pool_.FloorDiv(v_, 128), 32), 32 * 128 * 4),
            0);
}

TEST_F(VectorTest, OuterAndInnerWithoutTheMiddleIsAVector) {
  IndexId offset = pool_.Add(pool_.Mul(pool_.FloorDiv(v_, 128 * 32), 128),
                             pool_.Mod(v_, 128));
  EXPECT_EQ(LaneStride(offset, 32 * 128 * 4), 1);
}

TEST_F(VectorTest, TransposeIsStrided) {
  IndexId offset =
      pool_.Add(pool_.Mul(pool_.Mod(v_, 128), 128), pool_.FloorDiv(v_, 128));
  EXPECT_EQ(LaneStride(offset, 32 * 128 * 4), 128);
}

TEST_F(VectorTest, RowsThatNoVectorDividesAreNeither) {
  EXPECT_EQ(LaneStride(pool_.Mod(v_, 12), 32 * 128 * 4), std::nullopt);
}

TEST_F(VectorTest, AlignmentSurvivesTheSplit) {
  IndexId t = pool_.Var(1, 16 * 128), j = pool_.Var(2, kLanes);
  IndexId offset = pool_.Mod(
      pool_.Substitute(v_, {pool_.Add(pool_.Mul(t, kLanes), j)}), 128);
  IndexId first = pool_.Substitute(offset, {-1, -1, pool_.Const(0)});
  EXPECT_EQ(pool_.KnownAlignment(first, 16), 8);
}

TEST(IndexExprTest, VariablesOfOneValueAreZero) {
  IndexPool pool;
  EXPECT_TRUE(pool.IsConst(pool.Var(0, 1), 0));
}

TEST(IndexExprTest, TextIsC) {
  IndexPool pool;
  IndexId v0 = pool.Var(0, 100), v1 = pool.Var(1, 7);
  std::vector<std::string> names = {"row", "col"};
  IndexId e = pool.AddConst(pool.Add(pool.Mul(v0, 7), v1), -3);
  EXPECT_EQ(pool.ToString(e, names), "row * 7 + col - 3");
  EXPECT_EQ(pool.ToString(pool.Mod(pool.Add(v0, v1), 5)), "(v0 + v1) % 5");
  EXPECT_EQ(pool.ToString(pool.FloorDiv(pool.AddConst(v0, -50), 20)),
            "(v0 + 10) / 20 - 3");
  IndexId d = pool.Dynamic(12, {-4, 9});
  EXPECT_EQ(pool.ToString(pool.FloorDiv(d, 4)), "floor_div(d12, 4)");
}

}  // namespace
}  // namespace ridge
