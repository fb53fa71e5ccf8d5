#include "hlo/base/thread_pool.h"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>

#include "absl/functional/function_ref.h"
#include "absl/strings/numbers.h"

// std::mutex rather than absl::Mutex: the distribution's Abseil is not built
// with ThreadSanitizer, which would not see what absl::Mutex orders.

namespace ridge {
namespace {

// One ParallelFor. Shared, since a worker may look at it once more after the
// caller has returned, only to find that nothing is left.
struct Loop {
  Loop(int64_t begin, int64_t end, int64_t grain,
       absl::FunctionRef<void(int64_t, int64_t)> body)
      : begin(begin),
        end(end),
        grain(grain),
        num_chunks((end - begin - 1) / grain + 1),
        body(body) {}

  const int64_t begin;
  const int64_t end;
  const int64_t grain;
  const int64_t num_chunks;
  const absl::FunctionRef<void(int64_t, int64_t)> body;

  std::atomic<int64_t> next_chunk{0};
  std::atomic<bool> failed{false};

  std::mutex mutex;
  std::condition_variable all_done;
  int64_t num_done = 0;          // Guarded by mutex.
  std::exception_ptr exception;  // Guarded by mutex.

  // Does chunks until none is left to begin.
  void Work() {
    int64_t done_here = 0;
    for (;;) {
      const int64_t chunk = next_chunk.fetch_add(1, std::memory_order_relaxed);
      if (chunk >= num_chunks) break;
      if (!failed.load(std::memory_order_relaxed)) Run(chunk);
      ++done_here;
    }
    if (done_here == 0) return;
    std::lock_guard<std::mutex> lock(mutex);
    num_done += done_here;
    if (num_done == num_chunks) all_done.notify_all();
  }

  void Run(int64_t chunk) {
    const int64_t b = begin + chunk * grain;
    const int64_t e = end - b > grain ? b + grain : end;
    try {
      body(b, e);
    } catch (...) {
      failed.store(true, std::memory_order_relaxed);
      std::lock_guard<std::mutex> lock(mutex);
      if (!exception) exception = std::current_exception();
    }
  }

  bool HasChunks() const {
    return next_chunk.load(std::memory_order_relaxed) < num_chunks;
  }

  void Wait() {
    std::unique_lock<std::mutex> lock(mutex);
    all_done.wait(lock, [this] { return num_done == num_chunks; });
  }
};

class Pool {
 public:
  // Never destroyed: its threads live as long as the process.
  static Pool& Get() {
    static Pool* pool = new Pool(NumThreads() - 1);
    return *pool;
  }

  // Lets workers join in. The loop is taken off the queue by the first worker
  // that finds nothing left to begin in it.
  void Submit(const std::shared_ptr<Loop>& loop) {
    const int64_t helpers =
        std::min<int64_t>(loop->num_chunks - 1, num_workers_);
    {
      std::lock_guard<std::mutex> lock(mutex_);
      queue_.push_back(loop);
    }
    if (helpers >= num_workers_) {
      work_there_.notify_all();
    } else {
      for (int64_t i = 0; i < helpers; ++i) work_there_.notify_one();
    }
  }

  // Frees the loop at the end of its ParallelFor, were no worker to look.
  void Remove(const std::shared_ptr<Loop>& loop) {
    std::lock_guard<std::mutex> lock(mutex_);
    auto it = std::find(queue_.begin(), queue_.end(), loop);
    if (it != queue_.end()) queue_.erase(it);
  }

 private:
  explicit Pool(int num_workers) : num_workers_(num_workers) {
    for (int i = 0; i < num_workers; ++i) {
      std::thread([this] { Serve(); }).detach();
    }
  }

  void Serve() {
    for (;;) {
      std::shared_ptr<Loop> loop;
      {
        std::unique_lock<std::mutex> lock(mutex_);
        work_there_.wait(lock, [&] {
          while (!queue_.empty() && !queue_.front()->HasChunks()) {
            queue_.pop_front();
          }
          return !queue_.empty();
        });
        loop = queue_.front();
      }
      loop->Work();
    }
  }

  const int num_workers_;
  std::mutex mutex_;
  std::condition_variable work_there_;
  std::deque<std::shared_ptr<Loop>> queue_;  // Guarded by mutex_.
};

int CountThreads() {
  constexpr int kMost = 1024;
  const char* wanted = std::getenv("RIDGE_THREADS");
  int value = 0;
  if (wanted != nullptr && absl::SimpleAtoi(wanted, &value) && value > 0) {
    return std::min(value, kMost);
  }
  // The cores that this process may run on, fewer than the machine's under
  // taskset or in a container.
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof(set), &set) == 0) {
    return std::clamp(CPU_COUNT(&set), 1, kMost);
  }
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

}  // namespace

int NumThreads() {
  static const int num_threads = CountThreads();
  return num_threads;
}

void ParallelFor(int64_t begin, int64_t end, int64_t grain,
                 absl::FunctionRef<void(int64_t, int64_t)> body) {
  if (begin >= end) return;
  grain = std::max<int64_t>(grain, 1);
  if (end - begin <= grain) {
    body(begin, end);
    return;
  }
  if (NumThreads() == 1) {
    for (int64_t b = begin; b < end;) {
      const int64_t e = end - b > grain ? b + grain : end;
      body(b, e);
      b = e;
    }
    return;
  }
  auto loop = std::make_shared<Loop>(begin, end, grain, body);
  Pool& pool = Pool::Get();
  pool.Submit(loop);
  loop->Work();
  loop->Wait();
  pool.Remove(loop);
  if (loop->exception) std::rethrow_exception(loop->exception);
}

}  // namespace ridge
