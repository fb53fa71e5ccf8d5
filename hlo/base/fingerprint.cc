#include "hlo/base/fingerprint.h"

#include <xxhash.h>

#include <cstdint>
#include <string>

#include "absl/strings/str_format.h"

namespace ridge {
namespace {

// Little-endian whatever the machine.
void AppendInt(uint64_t value, std::string* bytes) {
  for (int i = 0; i < 8; ++i) {
    bytes->push_back(static_cast<char>(value >> (8 * i)));
  }
}

}  // namespace

std::string Fingerprint128::ToHex() const {
  return absl::StrFormat("%016x%016x", high, low);
}

uint64_t Fingerprint64Of(absl::string_view bytes) {
  return XXH3_64bits(bytes.data(), bytes.size());
}

Fingerprint128 Fingerprint128Of(absl::string_view bytes) {
  const XXH128_hash_t hash = XXH3_128bits(bytes.data(), bytes.size());
  return {hash.high64, hash.low64};
}

std::string FingerprintToHex(uint64_t fingerprint) {
  return absl::StrFormat("%016x", fingerprint);
}

Fingerprinter& Fingerprinter::Add(absl::string_view part) {
  AppendInt(part.size(), &bytes_);
  bytes_.append(part.data(), part.size());
  return *this;
}

Fingerprinter& Fingerprinter::Add(int64_t part) {
  AppendInt(8, &bytes_);
  AppendInt(static_cast<uint64_t>(part), &bytes_);
  return *this;
}

}  // namespace ridge
