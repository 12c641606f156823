// The library without Clp (COVSHIFT_LP=OFF): the same source, under another name.
#define GameProgram GameProgramWithoutClp
#undef COVSHIFT_LP
#include "covshift/game/linear_program.cpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace covshift {
namespace {

TEST(WithoutClp, ACostMatrixIsRefusedInWords) {
  const CostMatrix costs{2, 2, {0, 1, 5, 0}};
  try {
    const GameProgramWithoutClp program(costs);
    FAIL() << "accepted";
  } catch (const Error& e) {
    EXPECT_THAT(e.what(), testing::HasSubstr("lacks the linear programs (Clp)"));
    EXPECT_THAT(e.what(), testing::HasSubstr("zero-one"));
  }
}

}  // namespace
}  // namespace covshift
