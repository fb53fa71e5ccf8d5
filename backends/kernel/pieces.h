// Concatenations of pieces of one size, made together. Rotary embedding is
//   out = concatenate(x1 * c - x2 * s, x2 * c + x1 * s)
// over halves x1 and x2 of x. Over the space of `out`, a point belongs to one
// piece, and what both need is read for both. Over the space of one piece, a
// point makes the element of every piece and stores each at its place:
//
//   v0 = rows, v1 = 128                  v0 = rows, v1 = 64
//   n0 = v1 < 64                         n0 = load x[v0*128 + v1]
//   n1 = load x[v0*128 + v1] if n0       n1 = load x[v0*128 + v1 + 64]
//   ... eight loads in all               ... four loads in all
//   store out[v0*128 + v1] = n20         store out[v0*128 + v1] = n6
//                                        store out[v0*128 + v1 + 64] = n9
#ifndef RIDGE_BACKENDS_KERNEL_PIECES_H_
#define RIDGE_BACKENDS_KERNEL_PIECES_H_

#include "backends/kernel/kernel.h"

namespace ridge {

// Brings a finished kLoop kernel to that form, if its pieces share enough of
// what they read and lie on whole vectors; else leaves it alone. Returns
// whether it did. For kernels without reductions, each store over the whole
// space.
bool TakePiecesTogether(Kernel* kernel);

// Whether some output has several stores, one a piece.
bool HasPieces(const Kernel& kernel);

}  // namespace ridge

#endif  // RIDGE_BACKENDS_KERNEL_PIECES_H_
