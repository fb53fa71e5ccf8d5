#include "tools/common/interrupt.h"

#include <signal.h>

#include <atomic>

namespace ridge {
namespace {

// Lock-free, so that a signal handler may set it.
std::atomic<bool> requested{false};
static_assert(std::atomic<bool>::is_always_lock_free);

struct sigaction old_int;
struct sigaction old_term;

void OnSignal(int signal) { requested.store(true); }

}  // namespace

InterruptScope::InterruptScope() {
  requested.store(false);
  struct sigaction action = {};
  action.sa_handler = OnSignal;
  sigemptyset(&action.sa_mask);
  // Back to the default after the first: the second one ends the process.
  action.sa_flags = SA_RESTART | SA_RESETHAND;
  sigaction(SIGINT, &action, &old_int);
  sigaction(SIGTERM, &action, &old_term);
}

InterruptScope::~InterruptScope() {
  sigaction(SIGINT, &old_int, nullptr);
  sigaction(SIGTERM, &old_term, nullptr);
  requested.store(false);
}

bool InterruptScope::InterruptRequested() {
  return requested.load(std::memory_order_relaxed);
}

const std::atomic<bool>* InterruptScope::Flag() { return &requested; }

}  // namespace ridge
