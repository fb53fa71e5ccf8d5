#include "fusion/merge_graph.h"

#include <random>
#include <set>
#include <utility>
#include <vector>

#include "gtest/gtest.h"

namespace ridge {
namespace {

using Path = MergeGraph::Path;

TEST(MergeGraphTest, ADirectEdgeIsNoThirdNode) {
  MergeGraph g(2);
  g.AddEdge(0, 1);
  EXPECT_EQ(g.ThirdBetween(0, 1), Path::kNone);
}

TEST(MergeGraphTest, ADetourForbidsTheMerge) {
  MergeGraph g(3);
  g.AddEdge(0, 1);
  g.AddEdge(1, 2);
  g.AddEdge(0, 2);
  EXPECT_EQ(g.ThirdBetween(0, 2), Path::kFound);
}

TEST(MergeGraphTest, AMergeMakesDetoursOfOtherEdges) {
  // 0 -> 1, 2 -> 3; with 1 and 2 one node, 0 reaches 3 through it.
  MergeGraph g(4);
  g.AddEdge(0, 1);
  g.AddEdge(2, 3);
  ASSERT_EQ(g.ThirdBetween(0, 3), Path::kNone);
  ASSERT_EQ(g.ThirdBetween(1, 2), Path::kNone);
  g.Merge(1, 2);
  EXPECT_EQ(g.ThirdBetween(0, 3), Path::kFound);
}

// Whether b can be reached from a through at least one other node.
bool Reaches(const MergeGraph& g, const std::set<std::pair<int, int>>& edges,
             int a, int b) {
  std::vector<int> stack = {a};
  std::set<int> seen = {a};
  while (!stack.empty()) {
    const int at = stack.back();
    stack.pop_back();
    for (const auto& [from, to] : edges) {
      if (g.Find(from) != at) continue;
      const int next = g.Find(to);
      if (next == b) {
        if (at != a) return true;
        continue;
      }
      if (seen.insert(next).second) stack.push_back(next);
    }
  }
  return false;
}

TEST(MergeGraphTest, AgreesWithSearchingTheWholeGraph) {
  for (int seed = 0; seed < 3000; ++seed) {
    std::mt19937 random(seed);
    const int n = 3 + static_cast<int>(random() % 9);
    MergeGraph g(n);
    std::set<std::pair<int, int>> edges;
    for (int i = 0; i < n; ++i) {
      for (int j = i + 1; j < n; ++j) {
        if (random() % 4 != 0) continue;
        g.AddEdge(i, j);
        edges.insert({i, j});
      }
    }
    for (int t = 0; t < 30; ++t) {
      const int a = g.Find(static_cast<int>(random() % n));
      const int b = g.Find(static_cast<int>(random() % n));
      if (a == b) continue;
      const bool third = Reaches(g, edges, a, b) || Reaches(g, edges, b, a);
      ASSERT_EQ(g.ThirdBetween(a, b) == Path::kFound, third) << seed;
      if (third) continue;
      if (random() % 2 == 0) {
        g.Merge(a, b);
      } else {
        g.Merge(b, a);
      }
      for (const auto& [from, to] : edges) {
        const int x = g.Find(from);
        const int y = g.Find(to);
        ASSERT_TRUE(x == y || g.Before(x, y)) << seed;
      }
    }
  }
}

}  // namespace
}  // namespace ridge
