#include "backends/runtime/arena.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <queue>
#include <set>
#include <tuple>
#include <utility>

namespace ridge {
namespace {

// The holes below the end of the block, by place and by size.
class FreeList {
 public:
  int64_t Take(int64_t bytes) {
    auto hole = by_size_.lower_bound({bytes, 0});
    if (hole != by_size_.end()) {
      auto [size, at] = *hole;
      Remove(at, size);
      if (size > bytes) Insert(at + bytes, size - bytes);
      return at;
    }
    // Grow, over a hole at the end if there is one.
    int64_t at = end_;
    if (!by_place_.empty()) {
      auto [place, size] = *by_place_.rbegin();
      if (place + size == end_) {
        Remove(place, size);
        at = place;
      }
    }
    end_ = at + bytes;
    return at;
  }

  void Give(int64_t at, int64_t bytes) {
    auto next = by_place_.lower_bound(at);
    if (next != by_place_.end() && at + bytes == next->first) {
      int64_t size = next->second;
      Remove(next->first, size);
      bytes += size;
    }
    auto after = by_place_.lower_bound(at);
    if (after != by_place_.begin()) {
      auto before = std::prev(after);
      if (before->first + before->second == at) {
        int64_t place = before->first;
        int64_t size = before->second;
        Remove(place, size);
        at = place;
        bytes += size;
      }
    }
    Insert(at, bytes);
  }

  int64_t end() const { return end_; }

 private:
  void Insert(int64_t at, int64_t size) {
    by_place_[at] = size;
    by_size_.insert({size, at});
  }
  void Remove(int64_t at, int64_t size) {
    by_place_.erase(at);
    by_size_.erase({size, at});
  }

  std::map<int64_t, int64_t> by_place_;
  std::set<std::pair<int64_t, int64_t>> by_size_;
  int64_t end_ = 0;
};

}  // namespace

ArenaAssignment AssignArenaOffsets(absl::Span<const ArenaRequest> requests,
                                   int64_t alignment) {
  ArenaAssignment result;
  result.offsets.assign(requests.size(), 0);
  std::vector<size_t> order(requests.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    if (requests[a].first != requests[b].first) {
      return requests[a].first < requests[b].first;
    }
    return requests[a].bytes > requests[b].bytes;
  });
  auto rounded = [&](size_t k) {
    return (requests[k].bytes + alignment - 1) / alignment * alignment;
  };
  FreeList free;
  using Ending = std::pair<int64_t, size_t>;  // last step, request
  std::priority_queue<Ending, std::vector<Ending>, std::greater<Ending>> alive;
  for (size_t k : order) {
    while (!alive.empty() && alive.top().first < requests[k].first) {
      size_t done = alive.top().second;
      alive.pop();
      free.Give(result.offsets[done], rounded(done));
    }
    if (requests[k].bytes <= 0) continue;
    result.offsets[k] = free.Take(rounded(k));
    alive.push({requests[k].last, k});
  }
  result.total_bytes = free.end();
  return result;
}

}  // namespace ridge
