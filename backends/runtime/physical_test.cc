#include "backends/runtime/physical.h"

#include <cstdint>
#include <cstring>
#include <vector>

#include "gtest/gtest.h"

namespace ridge {
namespace {

Shape WithLayout(ElementType type, std::vector<int64_t> dims,
                 std::vector<int64_t> minor_to_major) {
  Shape shape = Shape::Array(type, dims);
  Layout layout;
  layout.minor_to_major.assign(minor_to_major.begin(), minor_to_major.end());
  shape.set_layout(layout);
  return shape;
}

// Element i of the row-major array has the bytes of i.
std::vector<uint8_t> Numbered(const Shape& shape) {
  int width = StorageBytes(shape.type());
  std::vector<uint8_t> bytes(PhysicalBytes(shape));
  for (int64_t i = 0; i < shape.ElementCount(); ++i) {
    std::memcpy(&bytes[i * width], &i, std::min(width, 8));
  }
  return bytes;
}

TEST(PhysicalTest, ColumnMajorMatrixIsTransposed) {
  Shape shape = WithLayout(ElementType::kS32, {2, 3}, {0, 1});
  std::vector<int32_t> rows = {0, 1, 2, 10, 11, 12};
  std::vector<int32_t> physical(6);
  ToPhysical(shape, reinterpret_cast<uint8_t*>(rows.data()),
             reinterpret_cast<uint8_t*>(physical.data()));
  EXPECT_EQ(physical, (std::vector<int32_t>{0, 10, 1, 11, 2, 12}));
}

TEST(PhysicalTest, ElementsLieWhereTheLayoutsStridesSay) {
  for (ElementType type :
       {ElementType::kPred, ElementType::kBF16, ElementType::kF32,
        ElementType::kF64, ElementType::kC128}) {
    Shape shape = WithLayout(type, {3, 40, 5, 37}, {1, 3, 0, 2});
    DimVector strides = ElementStrides(shape);
    std::vector<uint8_t> rows = Numbered(shape);
    std::vector<uint8_t> physical(rows.size());
    ToPhysical(shape, rows.data(), physical.data());
    const int width = StorageBytes(type);
    int64_t i = 0;
    for (int64_t a = 0; a < 3; ++a) {
      for (int64_t b = 0; b < 40; ++b) {
        for (int64_t c = 0; c < 5; ++c) {
          for (int64_t d = 0; d < 37; ++d, ++i) {
            int64_t at = a * strides[0] + b * strides[1] + c * strides[2] +
                         d * strides[3];
            ASSERT_EQ(
                std::memcmp(&physical[at * width], &rows[i * width], width), 0)
                << Name(type) << " element " << i;
          }
        }
      }
    }
    std::vector<uint8_t> back(rows.size());
    FromPhysical(shape, physical.data(), back.data());
    EXPECT_EQ(back, rows);
  }
}

TEST(PhysicalTest, UnitDimensionsMayLieAnywhere) {
  EXPECT_TRUE(IsRowMajor(WithLayout(ElementType::kF32, {1, 7, 1}, {1, 0, 2})));
  EXPECT_FALSE(IsRowMajor(WithLayout(ElementType::kF32, {2, 7}, {0, 1})));
}

TEST(PhysicalTest, EmptyArraysHaveNoBytes) {
  Shape shape = WithLayout(ElementType::kF32, {0, 7}, {0, 1});
  EXPECT_EQ(PhysicalBytes(shape), 0);
  EXPECT_EQ(LiteralFromPhysical(shape, nullptr).byte_size(), 0u);
}

TEST(PhysicalTest, TuplesFlattenInOrderAndBack) {
  Literal a = FullLiteral(Shape::Scalar(ElementType::kF32), 1);
  Literal b = FullLiteral(Shape::Scalar(ElementType::kS32), 2);
  Literal c = FullLiteral(Shape::Scalar(ElementType::kF64), 3);
  Literal tuple = Literal::Tuple({a, Literal::Tuple({b}), c});
  std::vector<Literal> leaves = FlattenLiterals({tuple});
  ASSERT_EQ(leaves.size(), 3u);
  EXPECT_EQ(leaves[1], b);
  size_t next = 0;
  EXPECT_EQ(UnflattenLiteral(tuple.shape(), leaves, &next), tuple);
  EXPECT_EQ(next, 3u);
}

}  // namespace
}  // namespace ridge
