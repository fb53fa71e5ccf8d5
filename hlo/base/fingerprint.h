// Hashes that stay the same over processes, machines and releases (XXH3), for
// names of cached files and keys of stored results. Not for security.

#ifndef RIDGE_HLO_BASE_FINGERPRINT_H_
#define RIDGE_HLO_BASE_FINGERPRINT_H_

#include <cstdint>
#include <string>
#include <utility>

#include "absl/strings/string_view.h"

namespace ridge {

struct Fingerprint128 {
  uint64_t high = 0;
  uint64_t low = 0;

  // 32 hexadecimal digits.
  std::string ToHex() const;

  friend bool operator==(const Fingerprint128& a, const Fingerprint128& b) {
    return a.high == b.high && a.low == b.low;
  }
  friend bool operator!=(const Fingerprint128& a, const Fingerprint128& b) {
    return !(a == b);
  }
  friend bool operator<(const Fingerprint128& a, const Fingerprint128& b) {
    return a.high != b.high ? a.high < b.high : a.low < b.low;
  }
  template <typename H>
  friend H AbslHashValue(H h, const Fingerprint128& f) {
    return H::combine(std::move(h), f.high, f.low);
  }
};

uint64_t Fingerprint64Of(absl::string_view bytes);
Fingerprint128 Fingerprint128Of(absl::string_view bytes);

// 16 hexadecimal digits.
std::string FingerprintToHex(uint64_t fingerprint);

// Takes a value in parts. Each part counts with its length, so that ("ab",
// "c") and ("a", "bc") differ.
class Fingerprinter {
 public:
  Fingerprinter& Add(absl::string_view part);
  Fingerprinter& Add(int64_t part);

  uint64_t Get64() const { return Fingerprint64Of(bytes_); }
  Fingerprint128 Get128() const { return Fingerprint128Of(bytes_); }

 private:
  std::string bytes_;
};

}  // namespace ridge

#endif  // RIDGE_HLO_BASE_FINGERPRINT_H_
