// The modules of the shared corpus that run on one device.
#ifndef RIDGE_HLO_TESTING_CORPUS_H_
#define RIDGE_HLO_TESTING_CORPUS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace ridge {

struct CorpusEntry {
  std::string path;  // of the module
  std::string file;  // its name in the index
  int64_t instructions = 0;
};

// Entries of hlo/corpus/index.jsonl under `shared` that are `runnable`, in
// order.
absl::StatusOr<std::vector<CorpusEntry>> RunnableCorpus(
    const std::string& shared);

}  // namespace ridge

#endif  // RIDGE_HLO_TESTING_CORPUS_H_
