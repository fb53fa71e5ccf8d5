// Lets a long-running tool stop in good order at Ctrl-C.
//
//   InterruptScope interrupt;
//   while (!interrupt.Requested() && !queue.empty()) { ... }
//   // print what was found so far

#ifndef RIDGE_TOOLS_COMMON_INTERRUPT_H_
#define RIDGE_TOOLS_COMMON_INTERRUPT_H_

#include <atomic>

namespace ridge {

// While one exists, the first SIGINT or SIGTERM only sets a flag; the second
// ends the process as usual. At most one at a time. Blocking system calls are
// restarted, not failed with EINTR.
class InterruptScope {
 public:
  InterruptScope();
  ~InterruptScope();
  InterruptScope(const InterruptScope&) = delete;
  InterruptScope& operator=(const InterruptScope&) = delete;

  bool Requested() const { return InterruptRequested(); }

  // For code that has no scope at hand; false where none exists. Cheap, and
  // safe on any thread.
  static bool InterruptRequested();
  // The same as a flag that libraries below the tools can poll; never null.
  static const std::atomic<bool>* Flag();
};

}  // namespace ridge

#endif  // RIDGE_TOOLS_COMMON_INTERRUPT_H_
