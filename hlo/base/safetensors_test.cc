#include "hlo/base/safetensors.h"

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "hlo/base/file.h"
#include "hlo/base/status_matchers.h"

namespace ridge {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::string File(const std::string& header, const std::string& data,
                 int64_t claimed_size = -1) {
  uint64_t size = claimed_size < 0 ? header.size() : claimed_size;
  std::string bytes;
  for (int i = 0; i < 8; ++i) {
    bytes.push_back(static_cast<char>(size >> (8 * i)));
  }
  return bytes + header + data;
}

std::string OneTensor(const std::string& dtype, const std::string& shape,
                      const std::string& offsets) {
  return R"({"a":{"dtype":")" + dtype + R"(","shape":)" + shape +
         R"(,"data_offsets":)" + offsets + "}}";
}

TEST(SafeTensorsTest, ReadsTensorsAndMetadata) {
  RIDGE_ASSERT_OK_AND_ASSIGN(
      const SafeTensors file,
      ParseSafeTensors(
          File(R"({"__metadata__":{"k":"v"},)"
               R"("b":{"dtype":"U8","shape":[],"data_offsets":[4,5]},)"
               R"("a":{"dtype":"I16","shape":[2,1],"data_offsets":[0,4]},)"
               R"("e":{"dtype":"F32","shape":[0,3],"data_offsets":[4,4]}}  )",
               "wxyz!")));
  ASSERT_EQ(file.tensors.size(), 3u);
  EXPECT_EQ(file.metadata.at("k"), "v");
  EXPECT_EQ(file.tensors.at("a").dtype, "I16");
  EXPECT_THAT(file.tensors.at("a").shape, ElementsAre(2, 1));
  EXPECT_EQ(file.tensors.at("a").data, "wxyz");
  EXPECT_THAT(file.tensors.at("b").shape, IsEmpty());
  EXPECT_EQ(file.tensors.at("b").data, "!");
  EXPECT_EQ(file.tensors.at("e").data, "");
}

TEST(SafeTensorsTest, WritesWhatItReads) {
  SafeTensors file;
  file.metadata["made"] = "by µ";
  file.tensors["small"] = {"F8_E4M3", {3}, "abc"};
  file.tensors["wide"] = {"C128", {}, std::string(16, 'w')};
  file.tensors["none"] = {"BF16", {4, 0}, ""};
  file.tensors["in.0"] = {"F32", {2}, "12345678"};
  RIDGE_ASSERT_OK_AND_ASSIGN(const std::string bytes,
                             SerializeSafeTensors(file));
  RIDGE_ASSERT_OK_AND_ASSIGN(const SafeTensors again, ParseSafeTensors(bytes));
  EXPECT_EQ(again.metadata, file.metadata);
  ASSERT_EQ(again.tensors.size(), file.tensors.size());
  for (const auto& [name, tensor] : file.tensors) {
    EXPECT_EQ(again.tensors.at(name).dtype, tensor.dtype);
    EXPECT_EQ(again.tensors.at(name).shape, tensor.shape);
    EXPECT_EQ(again.tensors.at(name).data, tensor.data);
  }
  EXPECT_THAT(SerializeSafeTensors(again), IsOkAndHolds(bytes));
  EXPECT_EQ(bytes.find("wwww") % 8, 0u) << "the widest type is not aligned";
}

TEST(SafeTensorsTest, AnEmptyFileIsValid) {
  RIDGE_ASSERT_OK_AND_ASSIGN(const std::string bytes,
                             SerializeSafeTensors(SafeTensors()));
  RIDGE_EXPECT_OK(ParseSafeTensors(bytes));
}

TEST(SafeTensorsTest, RefusesToWriteWhatCannotBeRead) {
  SafeTensors file;
  file.tensors["a"] = {"F32", {2}, "1234"};
  EXPECT_THAT(SerializeSafeTensors(file),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "tensor 'a' has 4 bytes, F32[2] needs 8"));
  file.tensors["a"] = {"F33", {}, "1234"};
  EXPECT_THAT(SerializeSafeTensors(file),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "tensor 'a': unknown dtype 'F33'"));
  file.tensors.clear();
  file.tensors["\xff"] = {"U8", {}, "1"};
  EXPECT_THAT(SerializeSafeTensors(file),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("UTF-8")));
}

struct BadFile {
  std::string bytes;
  std::string message;
};

TEST(SafeTensorsTest, BrokenFilesAreRefusedWithTheReason) {
  const std::vector<BadFile> files = {
      {"", "only 0 bytes"},
      {"1234567", "only 7 bytes"},
      {File("{}", "", 3), "header has 3 bytes, but only 2 follow"},
      {File("{}", "", int64_t{1} << 62), "more than 100000000"},
      {std::string(8, '\xff'), "more than 100000000"},
      {File("", ""), "header is not JSON"},
      {File("{\"a\":", ""), "header is not JSON"},
      {File("{\"\xff\":1}", ""), "header is not JSON"},
      {File("[]", ""), "header is not an object"},
      {File("[[[[[[[[", ""), "nests too deeply"},
      {File(R"({"a":1})", ""), "tensor 'a': not an object"},
      {File(R"({"a":{}})", ""), "tensor 'a': no dtype"},
      {File(R"({"__metadata__":{"a":1}})", ""), "'a' is not a string"},
      {File(R"({"a":{"dtype":"U8","shape":[]}})", ""), "no data_offsets"},
      {File(OneTensor("U9", "[]", "[0,1]"), "x"), "unknown dtype 'U9'"},
      {File(OneTensor("U8", "[-1]", "[0,1]"), "x"), "not a size"},
      {File(OneTensor("U8", "[1.5]", "[0,1]"), "x"), "not a size"},
      {File(OneTensor("U8", "[18446744073709551615]", "[0,1]"), "x"),
       "not a size"},
      {File(OneTensor("U8", "[4294967296,4294967296]", "[0,0]"), ""),
       "shape is too large"},
      {File(OneTensor("F4", "[3]", "[0,1]"), "x"), "12 bits"},
      {File(OneTensor("U8", "[1]", "[1,0]"), "x"), "not a range"},
      {File(OneTensor("U8", "[1]", "[-1,0]"), "x"), "not a range"},
      {File(OneTensor("U8", "[1]", "[0,1]"), ""), "byte 1 of 0"},
      {File(OneTensor("F32", "[1]", "[0,3]"), "xyz"), "F32[1] needs 4"},
      {File(OneTensor("U8", "[1]", "[1,2]"), "xy"), "bytes 0 to 1"},
      {File(OneTensor("U8", "[1]", "[0,1]"), "xy"), "1 bytes at its end"},
      {File(R"({"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]},)"
            R"("b":{"dtype":"U8","shape":[2],"data_offsets":[1,3]}})",
            "xyz"),
       "tensor 'b' overlaps"},
      {File(R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},)"
            R"("a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}})",
            "x"),
       "names tensor 'a' twice"},
  };
  for (const BadFile& file : files) {
    EXPECT_THAT(
        ParseSafeTensors(file.bytes),
        StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(file.message)));
  }
}

TEST(SafeTensorsTest, EveryTruncationIsRefused) {
  SafeTensors file;
  file.tensors["a"] = {"U8", {5}, "abcde"};
  RIDGE_ASSERT_OK_AND_ASSIGN(const std::string bytes,
                             SerializeSafeTensors(file));
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_THAT(ParseSafeTensors(bytes.substr(0, size)),
                StatusIs(absl::StatusCode::kInvalidArgument));
  }
}

TEST(SafeTensorsTest, FilesAreNamedInErrors) {
  const std::string path = ::testing::TempDir() + "/safetensors_test.st";
  SafeTensors file;
  file.tensors["a"] = {"U8", {}, "a"};
  RIDGE_ASSERT_OK(WriteSafeTensors(path, file));
  RIDGE_EXPECT_OK(ReadSafeTensors(path));
  RIDGE_ASSERT_OK(WriteFileAtomic(path, "x"));
  EXPECT_THAT(ReadSafeTensors(path),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("safetensors_test.st: not a valid")));
  EXPECT_THAT(ReadSafeTensors(path + ".none"),
              StatusIs(absl::StatusCode::kNotFound));
  std::filesystem::remove(path);
}

TEST(SafeTensorsTest, ReadsTheReferenceData) {
  const char* shared = std::getenv("RIDGE_SHARED");
  if (shared == nullptr || *shared == '\0') {
    GTEST_SKIP() << "RIDGE_SHARED is not set.";
  }
  int files = 0;
  for (const char* folder : {"small", "zoo", "golden"}) {
    for (const auto& entry : std::filesystem::directory_iterator(
             std::string(shared) + "/hlo/" + folder)) {
      if (entry.path().extension() != ".safetensors") continue;
      ++files;
      RIDGE_ASSERT_OK_AND_ASSIGN(const SafeTensors read,
                                 ReadSafeTensors(entry.path().string()));
      RIDGE_ASSERT_OK_AND_ASSIGN(const std::string bytes,
                                 SerializeSafeTensors(read));
      RIDGE_ASSERT_OK_AND_ASSIGN(const SafeTensors again,
                                 ParseSafeTensors(bytes));
      ASSERT_EQ(again.tensors.size(), read.tensors.size());
      for (const auto& [name, tensor] : read.tensors) {
        ASSERT_EQ(again.tensors.at(name).data, tensor.data);
      }
    }
  }
  EXPECT_GT(files, 1000);
}

}  // namespace
}  // namespace ridge
