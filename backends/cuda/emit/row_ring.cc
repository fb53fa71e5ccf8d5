// RowPasses: the ring of rows in shared memory, and the walk over the rows that
// it feeds. A stage holds, for each row input, `chunks` vectors of each of the
// block's threads, side by side.
#include "absl/strings/str_cat.h"
#include "backends/cuda/emit/row_passes.h"

namespace ridge::cuda {
namespace {

// Vectors in shared memory start at multiples of this.
constexpr int64_t kRingAlignment = 16;

}  // namespace

const char kRingHelpers[] = R"cuda(
template <typename T, int N>
RDG_FN void rdg_copy_async(rdg_vec<T, N>* to, const T* from) {
  constexpr int bytes = sizeof(rdg_vec<T, N>);
  constexpr int piece = bytes % 16 == 0 ? 16 : bytes;
  static_assert(piece == 16 || piece == 8 || piece == 4, "a copy's size");
  const unsigned near = (unsigned)__cvta_generic_to_shared(to);
#pragma unroll
  for (int i = 0; i < bytes; i += piece) {
    if (piece == 16) {
      asm volatile("cp.async.cg.shared.global [%0], [%1], 16;"
                   :: "r"(near + i), "l"((const char*)from + i) : "memory");
    } else {
      asm volatile("cp.async.ca.shared.global [%0], [%1], %2;"
                   :: "r"(near + i), "l"((const char*)from + i), "n"(piece)
                   : "memory");
    }
  }
}
RDG_FN void rdg_copies_commit() {
  asm volatile("cp.async.commit_group;" ::: "memory");
}
// Until all but the last n groups of this thread's copies are there.
template <int n>
RDG_FN void rdg_copies_wait() {
  asm volatile("cp.async.wait_group %0;" :: "n"(n) : "memory");
}
)cuda";

int64_t RowPasses::RingBytes(NodeId load) const {
  const Shape& shape = kernel_.buffers[kernel_.nodes[load].buffer].shape;
  const int64_t bytes = g_.stages * g_.chunks * g_.BlockThreads() * g_.vector *
                        StorageBytes(shape.type());
  return CeilDiv(bytes, kRingAlignment) * kRingAlignment;
}

int64_t RowPasses::RingBytes() const {
  int64_t bytes = 0;
  for (NodeId n : held_) bytes += RingBytes(n);
  return bytes;
}

// Where chunk q of stage `slot` lies, from the thread's first vector.
std::string RowPasses::RingPlace(absl::string_view slot) const {
  return absl::StrCat("(", slot, " * ", g_.chunks, " + q) * ",
                      g_.BlockThreads());
}

void RowPasses::DeclareRing() {
  w_.Line("extern __shared__ __align__(16) unsigned char ring[];");
  int64_t at = 0;
  for (NodeId n : held_) {
    const std::string type = VectorType(n);
    w_.Line(absl::StrCat(type, "* const h", n, " = reinterpret_cast<", type,
                         "*>(ring + ", at, ") + threadIdx.x;"));
    at += RingBytes(n);
  }
}

void RowPasses::DeclareRow(absl::string_view turn) {
  const std::string& index = w_.index_type();
  std::string row(turn);
  if (g_.block_rows > 1) {
    row = absl::StrCat("(", turn, ") * ", g_.block_rows, " + threadIdx.x / ",
                       g_.row_threads);
  }
  if (g_.rows % g_.block_rows == 0) {
    w_.Line(absl::StrCat("const ", index, " r = ", row, ";"));
  } else {
    // Threads past the last row repeat it and store nothing.
    w_.Line(absl::StrCat("const ", index, " row = ", row, ";"));
    w_.Line(absl::StrCat("const bool in_range = row < ", g_.rows, ";"));
    w_.Line(absl::StrCat("const ", index, " r = in_range ? row : ", g_.rows - 1,
                         ";"));
  }
  w_.Line("__builtin_assume(r >= 0);");
}

// A group of copies for every turn, past the last one an empty group: so many
// groups after it, a turn's copies are complete.
void RowPasses::LoadRing(absl::string_view turn, absl::string_view slot) {
  w_.Open(absl::StrCat("if (", turn, " < ", g_.Turns(), ") {"));
  DeclareRow(turn);
  OpenChunks();
  OpenInside();
  for (NodeId n : held_) CopyToRing(n, slot);
  CloseInside();
  w_.Close();
  w_.Close();
  w_.Line("rdg_copies_commit();");
}

void RowPasses::CopyToRing(NodeId n, absl::string_view slot) {
  w_.Line(absl::StrCat("rdg_copy_async(h", n, " + ", RingPlace(slot), ", ",
                       w_.BufferName(kernel_.nodes[n].buffer), " + (",
                       w_.Text(base_[n]), "));"));
}

void RowPasses::Refill(NodeId n) {
  w_.Open(absl::StrCat("if (next < ", g_.Turns(), ") {"));
  DeclareRow("next");
  CopyToRing(n, "slot");
  w_.Close();
}

void RowPasses::OpenWalk(absl::string_view first, absl::string_view step) {
  const std::string& index = w_.index_type();
  w_.Line(absl::StrCat("const ", index, " first = ", first, ";"));
  w_.Line(absl::StrCat("const ", index, " step = ", step, ";"));
  const int64_t ahead = g_.stages - 1;
  const std::string turns =
      absl::StrCat("for (", index, " turn = first; turn < ", g_.Turns(),
                   "; turn += step) {");
  if (ahead == 0) {
    w_.Line("const int slot = 0;");
    w_.Open("{");
    LoadRing("first", "slot");
    w_.Close();
  } else {
    w_.Line("#pragma unroll");
    w_.Open(absl::StrCat("for (int slot = 0; slot < ", ahead, "; ++slot) {"));
    w_.Line(absl::StrCat("const ", index, " turn = first + slot * step;"));
    LoadRing("turn", "slot");
    w_.Close();
  }
  // All blocks have started.
  if (g_.cluster > 1 && !OneMeeting()) w_.Line("rdg_cluster_wait();");
  if (ahead == 0) {
    w_.Open(turns);
    w_.Line(absl::StrCat("const ", index, " next = turn + step;"));
  } else {
    w_.Line("int slot = 0;");
    w_.Open(turns);
    w_.Open("{");
    w_.Line(
        absl::StrCat("const ", index, " next = turn + ", ahead, " * step;"));
    w_.Line(
        absl::StrCat("const int free = slot == 0 ? ", ahead, " : slot - 1;"));
    LoadRing("next", "free");
    w_.Close();
  }
  w_.Line(absl::StrCat("rdg_copies_wait<", ahead, ">();"));
  DeclareRow("turn");
}

void RowPasses::CloseWalk() {
  // With several meetings a turn, nobody is a whole turn ahead of another.
  if (OneMeeting()) {
    if (g_.cluster > 1) {
      w_.Line("rdg_cluster_arrive();");
    } else if (g_.row_threads > 32) {
      w_.Line("__syncthreads();");
    }
  }
  w_.Line(g_.stages == 1 ? "rdg_copies_commit();"
                         : absl::StrCat("slot = slot == ", g_.stages - 1,
                                        " ? 0 : slot + 1;"));
  w_.Close();
  if (g_.cluster > 1 && OneMeeting()) w_.Line("rdg_cluster_wait();");
}

}  // namespace ridge::cuda
