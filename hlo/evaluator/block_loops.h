// Loops that make a block kernel of a functor's scalar Apply.
#ifndef RIDGE_HLO_EVALUATOR_BLOCK_LOOPS_H_
#define RIDGE_HLO_EVALUATOR_BLOCK_LOOPS_H_

#include <cstdint>
#include <cstring>

#include "hlo/evaluator/block.h"

namespace ridge {
namespace block {

template <typename Op, typename In, typename Out>
void UnaryLoop(const BlockParams& p, const void* const* in, void* out,
               int64_t n) {
  const In* x = static_cast<const In*>(in[0]);
  Out* o = static_cast<Out*>(out);
  for (int64_t i = 0; i < n; ++i) o[i] = Op::Apply(x[i], p);
}

template <typename Op, typename In, typename Out>
void BinaryLoop(const BlockParams& p, const void* const* in, void* out,
                int64_t n) {
  const In* x = static_cast<const In*>(in[0]);
  const In* y = static_cast<const In*>(in[1]);
  Out* o = static_cast<Out*>(out);
  for (int64_t i = 0; i < n; ++i) o[i] = Op::Apply(x[i], y[i], p);
}

template <typename Op, typename T>
void TernaryLoop(const BlockParams& p, const void* const* in, void* out,
                 int64_t n) {
  const T* x = static_cast<const T*>(in[0]);
  const T* y = static_cast<const T*>(in[1]);
  const T* z = static_cast<const T*>(in[2]);
  T* o = static_cast<T*>(out);
  for (int64_t i = 0; i < n; ++i) o[i] = Op::Apply(x[i], y[i], z[i], p);
}

}  // namespace block
}  // namespace ridge

#endif  // RIDGE_HLO_EVALUATOR_BLOCK_LOOPS_H_
