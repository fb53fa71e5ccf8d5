// Parallel loops on one pool of threads for the whole process.

#ifndef RIDGE_HLO_BASE_THREAD_POOL_H_
#define RIDGE_HLO_BASE_THREAD_POOL_H_

#include <cstdint>

#include "absl/functional/function_ref.h"

namespace ridge {

// How many threads a ParallelFor can use, the caller's among them: the
// environment's RIDGE_THREADS if that is a positive number, else the number of
// cores that this process may use. Read once, at first use.
int NumThreads();

// Calls body(b, e) for ranges that together cover [begin, end) once, each of
// `grain` elements (the last may be shorter), on several threads; returns when
// all are done. The ranges do not depend on the number of threads, so partial
// results kept per range combine the same way on every machine.
//
// Give a grain worth some 10 µs of work or more: handing out a range costs
// about 0.1 µs, waking the pool some 10 µs. A range that fits one grain runs
// on the caller's thread alone. Calls may be nested; the caller always works
// along, so this cannot deadlock. If a body throws, ranges not yet begun are
// dropped and the first exception is rethrown to the caller.
void ParallelFor(int64_t begin, int64_t end, int64_t grain,
                 absl::FunctionRef<void(int64_t, int64_t)> body);

}  // namespace ridge

#endif  // RIDGE_HLO_BASE_THREAD_POOL_H_
