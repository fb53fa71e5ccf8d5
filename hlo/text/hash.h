// A fast hash of short texts (names, shapes); not for storing.
#ifndef RIDGE_HLO_TEXT_HASH_H_
#define RIDGE_HLO_TEXT_HASH_H_

#include <cstdint>
#include <cstring>

#include "absl/strings/string_view.h"

namespace ridge {

inline uint64_t MixBits(uint64_t a, uint64_t b) {
  unsigned __int128 product = static_cast<unsigned __int128>(a) * b;
  return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
}

inline uint64_t HashText(absl::string_view text) {
  constexpr uint64_t kOdd1 = 0x9e3779b97f4a7c15u;  // 2^64 / golden ratio
  constexpr uint64_t kOdd2 = 0xd6e8feb86659fd93u;
  const char* p = text.data();
  size_t n = text.size();
  uint64_t h = n * kOdd1;
  uint64_t word;
  for (; n > 8; n -= 8, p += 8) {
    std::memcpy(&word, p, 8);
    h = MixBits(h ^ word, kOdd2);
  }
  // What is left, in loads of fixed sizes, which may overlap: a copy of `n`
  // bytes would be a call.
  if (text.size() >= 8) {
    std::memcpy(&word, p + n - 8, 8);
  } else if (n >= 4) {
    uint32_t first, last;
    std::memcpy(&first, p, 4);
    std::memcpy(&last, p + n - 4, 4);
    word = first | uint64_t{last} << 32;
  } else {
    word = 0;
    for (size_t i = 0; i < n; ++i) {
      word = word << 8 | static_cast<uint8_t>(p[i]);
    }
  }
  return MixBits(h ^ word, kOdd1);
}

}  // namespace ridge

#endif  // RIDGE_HLO_TEXT_HASH_H_
