// Feature maps and the features of all views.
#include "covshift/data/features.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>
#include <sstream>

#include "covshift/base/random.hpp"
#include "covshift/data/feature_map.hpp"
#include "covshift/data/rows.hpp"
#include "tests/data/support.hpp"

namespace covshift {
namespace {

using testing::dense;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

Matrix normal_rows(std::size_t rows, std::size_t cols, std::uint64_t seed, double mean = 0) {
  Random random(seed);
  std::vector<double> values(rows * cols);
  for (double& v : values) v = mean + random.normal();
  return dense(rows, cols, values);
}

Matrix as_sparse(const Matrix& x) {
  Matrix out;
  out.rows = x.rows;
  out.cols = x.cols;
  out.sparse = true;
  out.offsets.push_back(0);
  for (std::size_t i = 0; i < x.rows; ++i) {
    for (std::size_t j = 0; j < x.cols; ++j) {
      if (x.values[i * x.cols + j] == 0) continue;
      out.columns.push_back(static_cast<std::int32_t>(j));
      out.values.push_back(x.values[i * x.cols + j]);
    }
    out.offsets.push_back(static_cast<std::int64_t>(out.values.size()));
  }
  return out;
}

Views views_of(std::vector<std::vector<std::int32_t>> columns, std::vector<std::string> maps) {
  Views views;
  for (std::size_t v = 0; v < columns.size(); ++v) views.names.push_back(fmt::format("v{}", v));
  views.columns = std::move(columns);
  views.maps = std::move(maps);
  return views;
}
Views one_view(std::size_t cols, const std::string& maps) {
  std::vector<std::int32_t> columns(cols);
  std::iota(columns.begin(), columns.end(), 0);
  return views_of({columns}, {maps});
}

std::vector<double> row(const Matrix& x, std::size_t i) {
  const auto begin = x.values.begin() + static_cast<std::ptrdiff_t>(i * x.cols);
  return {begin, begin + static_cast<std::ptrdiff_t>(x.cols)};
}

std::string error_of(const std::string& maps) {
  try {
    parse_maps(maps);
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

double distance(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t j = 0; j < a.size(); ++j) sum += (a[j] - b[j]) * (a[j] - b[j]);
  return std::sqrt(sum);
}

/// One specification of every map in the table, and of several together.
std::vector<std::string> all_maps() {
  std::vector<std::string> list = {"linear + nystroem:7 + splines:3"};
  std::istringstream values(map_values());
  for (std::string value; std::getline(values, value, '|') && value != "auto";) {
    const std::size_t size = value.find("[:");
    list.push_back(value.substr(0, size) + (size == std::string::npos ? "" : ":11"));
  }
  return list;
}

TEST(Maps, AreWrittenAsNameSizeAndWidth) {
  const MapSpecs maps = parse_maps(" linear+ nystroem:100 + fourier : 20:1.5");
  ASSERT_EQ(maps.size(), 3U);
  EXPECT_EQ(maps[0], MapSpec{});
  EXPECT_EQ(maps[1], (MapSpec{"nystroem", 100, {}}));
  EXPECT_EQ(maps[2], (MapSpec{"fourier", 20, 1.5}));
  EXPECT_EQ(to_string(maps), "linear + nystroem:100 + fourier:20:1.5");
  EXPECT_TRUE(automatic(parse_maps("auto")));
  for (const std::string& text : all_maps()) EXPECT_EQ(to_string(parse_maps(text)), text);
}

TEST(Maps, RefuseWhatTheyCannotBe) {
  EXPECT_EQ(error_of("nystrom:20"),
            "the map must be linear, quadratic, splines, fourier, nystroem or auto, not 'nystrom'; "
            "did you mean 'nystroem'?");
  EXPECT_THAT(error_of("nystroem:0"),
              HasSubstr("must be a whole number from 1 to 100000, not '0'"));
  EXPECT_THAT(error_of("nystroem:-3"), HasSubstr("not '-3'"));
  EXPECT_THAT(error_of("fourier:"), HasSubstr("not ''"));
  EXPECT_THAT(error_of("linear:3"), HasSubstr("takes no size"));
  EXPECT_THAT(error_of("splines:3:1"), HasSubstr("takes a size, and no more"));
  EXPECT_THAT(error_of("nystroem:3:0"), HasSubstr("must be a positive number, not '0'"));
  EXPECT_THAT(error_of("nystroem:3:inf"), HasSubstr("positive number"));
  EXPECT_THAT(error_of("nystroem:3:1:2"), HasSubstr("a size and a width, and no more"));
  EXPECT_THAT(error_of(""), HasSubstr("not ''"));
  EXPECT_THAT(error_of("linear + auto"), HasSubstr("write it alone"));
  EXPECT_THAT(error_of("linear + linear"), HasSubstr("twice"));
}

TEST(Maps, QuadraticIsTheColumnsAndTheirProducts) {
  const Matrix x = dense(2, 3, {2, 3, 5, 0.1, -7, 0.3});
  const Features features = Features::fit(one_view(3, "quadratic"), {x.view(), {}, nullptr, 0});
  const Matrix y = features.apply(x.view());
  EXPECT_THAT(row(y, 0), ElementsAre(2, 3, 5, 4, 6, 10, 9, 15, 25));
  EXPECT_THAT(row(y, 1), ElementsAre(0.1, -7, 0.3, 0.1 * 0.1, 0.1 * -7, 0.1 * 0.3, -7.0 * -7,
                                     -7 * 0.3, 0.3 * 0.3));
  EXPECT_THAT(features.names(std::vector<std::string>{"a", "b", "c"}),
              ElementsAre("a", "b", "c", "a^2", "a*b", "a*c", "b^2", "b*c", "c^2"));
  const Matrix far = dense(1, 3, {1e200, 1, 1});
  EXPECT_THROW(features.apply(far.view()), Error);
}

TEST(Maps, SplinesBendAtTheQuantiles) {
  // Training 0..8, so its quartiles are 2, 4 and 6; the second column is binary, the third
  // constant.
  Matrix x = dense(9, 3, std::vector<double>(27, 5.0));
  for (std::size_t i = 0; i < 9; ++i) {
    x.values[i * 3] = static_cast<double>(i);
    x.values[i * 3 + 1] = i % 2 == 0 ? 0 : 1;
  }
  const Features features = Features::fit(one_view(3, "splines:3"), {x.view(), {}, nullptr, 0});
  const Matrix at = dense(3, 3, {5, 1, 5, -10, 0, 5, 20, 0, 6});
  const Matrix y = features.apply(at.view());
  EXPECT_THAT(row(y, 0), ElementsAre(5, 3, 1, 0, 1, 5));
  EXPECT_THAT(row(y, 1), ElementsAre(-10, 0, 0, 0, 0, 5));
  EXPECT_THAT(row(y, 2), ElementsAre(20, 18, 16, 14, 0, 6));
  EXPECT_THAT(features.names(std::vector<std::string>{"a", "b", "c"}),
              ElementsAre("a", "a>2", "a>4", "a>6", "b", "c"));
  // A target of any size counts half: the knots move to where both have their quantiles.
  Matrix far = dense(100, 3, std::vector<double>(300, 100.0));
  const MatrixView target = far.view();
  const Features both = Features::fit(one_view(3, "splines:3"), {x.view(), {}, &target, 0});
  EXPECT_THAT(both.names(std::vector<std::string>{"a", "b", "c"}),
              ElementsAre("a", "a>4", "a>8", "b", "b>1", "c"));
}

TEST(Maps, SparseColumnsHaveTheSameQuantiles) {
  Random random(3);
  Matrix x = normal_rows(50, 4, 3);
  for (double& v : x.values) v = random.uniform() < 0.6 ? 0 : v;
  const Matrix sparse = as_sparse(x);
  for (const std::string& maps : all_maps()) {
    const Features one = Features::fit(one_view(4, maps), {x.view(), {}, nullptr, 1});
    const Features other = Features::fit(one_view(4, maps), {sparse.view(), {}, nullptr, 1});
    const Matrix a = one.apply(x.view());
    if (maps == "linear") continue;
    const Matrix b = other.apply(sparse.view());
    ASSERT_EQ(a.cols, b.cols) << maps;
    for (std::size_t i = 0; i < a.values.size(); ++i) {
      ASSERT_NEAR(a.values[i], b.values[i], 1e-9) << maps;
    }
  }
}

/// With every row a landmark, distances of features are those of the kernel's space, up to the
/// scale.
TEST(Maps, NystroemKeepsTheDistancesOfTheKernel) {
  Matrix x = normal_rows(30, 3, 5);
  for (std::size_t i = 0; i < x.rows; ++i) x.values[i * 3] = 1000 + 50 * x.values[i * 3];
  const Features features =
      Features::fit(one_view(3, "nystroem:30:1.3"), {x.view(), {}, nullptr, 2});
  ASSERT_THAT(features.maps(), ElementsAre("nystroem:30:1.3"));
  const Matrix y = features.apply(x.view());
  // Standardised by hand.
  Matrix z = x;
  for (std::size_t j = 0; j < 3; ++j) {
    double mean = 0;
    double variance = 0;
    for (std::size_t i = 0; i < 30; ++i) mean += x.values[i * 3 + j] / 30;
    for (std::size_t i = 0; i < 30; ++i) variance += std::pow(x.values[i * 3 + j] - mean, 2) / 30;
    for (std::size_t i = 0; i < 30; ++i) {
      z.values[i * 3 + j] = (x.values[i * 3 + j] - mean) / std::sqrt(variance);
    }
  }
  double scale = 0;
  for (std::size_t i = 1; i < 30; ++i) {
    const double d = distance(row(z, 0), row(z, i));
    const double expected = std::sqrt(2 - 2 * std::exp(-d * d / (2 * 1.3 * 1.3)));
    const double ratio = distance(row(y, 0), row(y, i)) / expected;
    if (i == 1) scale = ratio;
    ASSERT_NEAR(ratio / scale, 1, 2e-3) << i;  // small eigenvalues are left out
  }
}

// Angles of a few, of some thousands, and beyond what the fast cosine reduces exactly.
TEST(Maps, FourierIsItsFormula) {
  const Matrix x = normal_rows(30, 2, 8);
  for (const char* maps : {"fourier:20:2", "fourier:20:0.001", "fourier:20:1e-9"}) {
    const Features features = Features::fit(one_view(2, maps), {x.view(), {}, nullptr, 3});
    const nlohmann::json map = features.to_json()[0];
    const auto numbers = [&](const nlohmann::json& from, const char* name) {
      return from[name].get<std::vector<double>>();
    };
    const auto mean = numbers(map["columns"], "mean");
    const auto factor = numbers(map["columns"], "factor");
    const auto frequency = numbers(map, "frequencies");
    const auto phase = numbers(map, "phases");
    const auto centre = numbers(map, "centre");
    const auto scale = map["scale"].get<double>();
    const Matrix mapped = features.apply(x.view(), 1);
    for (std::size_t i = 0; i < x.rows; ++i) {
      const double a = (x.values[2 * i] - mean[0]) * factor[0];
      const double b = (x.values[2 * i + 1] - mean[1]) * factor[1];
      for (std::size_t j = 0; j < 20; ++j) {
        const double angle = frequency[2 * j] * a + frequency[2 * j + 1] * b + phase[j];
        // The terms of an angle are known to their last digits.
        const double terms = std::abs(frequency[2 * j] * a) + std::abs(frequency[2 * j + 1] * b);
        const double rounding = 2e-15 + 1e-15 * terms;
        if (rounding > 1) continue;
        EXPECT_NEAR(mapped.values[20 * i + j], scale * (std::cos(angle) - centre[j]),
                    scale * rounding)
            << maps << " angle " << angle;
        EXPECT_LE(std::abs(mapped.values[20 * i + j]), scale * (1 + std::abs(centre[j])) + 1e-12);
      }
    }
  }
}

TEST(Maps, FourierApproximatesTheKernel) {
  const Matrix x = normal_rows(40, 2, 6);
  const Features exact = Features::fit(one_view(2, "nystroem:40:2"), {x.view(), {}, nullptr, 2});
  const Features random = Features::fit(one_view(2, "fourier:20000:2"), {x.view(), {}, nullptr, 2});
  const Matrix a = exact.apply(x.view());
  const Matrix b = random.apply(x.view());
  for (std::size_t i = 1; i < 40; ++i) {
    const double d = distance(row(a, 0), row(a, i));
    ASSERT_NEAR(distance(row(b, 0), row(b, i)) / d, 1, 0.05) << i;
  }
}

TEST(Maps, WithAKernelHaveMeanZeroAndTheVarianceOfTheirColumns) {
  const Matrix x = normal_rows(200, 5, 7, 3);
  const Matrix other = normal_rows(100, 5, 8, 4);
  const MatrixView target = other.view();
  for (const char* maps : {"nystroem:40", "fourier:40"}) {
    const Features features = Features::fit(one_view(5, maps), {x.view(), {}, &target, 2});
    const Matrix y = features.apply(x.view());
    double variance = 0;
    for (std::size_t j = 0; j < y.cols; ++j) {
      double mean = 0;
      double square = 0;
      for (std::size_t i = 0; i < 200; ++i) {
        mean += y.values[i * y.cols + j] / 200;
        square += y.values[i * y.cols + j] * y.values[i * y.cols + j] / 200;
      }
      EXPECT_NEAR(mean, 0, 1e-9) << maps;
      variance += square;
    }
    EXPECT_NEAR(variance, 5, 1e-9) << maps;
  }
}

TEST(Maps, DoNotDependOnTheScaleOfColumnsIfTheyHaveAKernel) {
  const Matrix x = normal_rows(60, 2, 9);
  Matrix moved = x;
  for (std::size_t i = 0; i < 60; ++i) moved.values[i * 2] = 1e4 * x.values[i * 2] - 5e5;
  for (const char* maps : {"nystroem:20", "fourier:20"}) {
    const std::string own = std::string(maps) + ":2";
    const Features one = Features::fit(one_view(2, own), {x.view(), {}, nullptr, 2});
    const Features other = Features::fit(one_view(2, own), {moved.view(), {}, nullptr, 2});
    const Matrix a = one.apply(x.view());
    const Matrix b = other.apply(moved.view());
    for (std::size_t i = 1; i < 60; ++i) {
      ASSERT_NEAR(distance(row(a, 0), row(a, i)), distance(row(b, 0), row(b, i)), 1e-3) << maps;
    }
  }
}

TEST(Maps, LandmarksComeFromBothSamplesAndAreDifferent) {
  const Matrix x = dense(6, 1, {1, 1, 1, 2, 2, 3});
  const Matrix other = dense(3, 1, {3, 4, 4});
  const MatrixView target = other.view();
  // Four different values: a larger size has no more landmarks.
  const Features all = Features::fit(one_view(1, "nystroem:100:1"), {x.view(), {}, &target, 0});
  EXPECT_THAT(all.maps(), ElementsAre("nystroem:4:1"));
  const Features few = Features::fit(one_view(1, "nystroem:2:1"), {x.view(), {}, &target, 0});
  const auto landmarks = few.to_json()[0].at("landmarks").get<std::vector<double>>();
  ASSERT_EQ(landmarks.size(), 2U);
  EXPECT_NE(landmarks[0], landmarks[1]);
}

TEST(Maps, LandmarksAreMeansOfClusters) {
  // Two groups, of which the target is a third.
  const Matrix x = dense(6, 1, {-1, -2, -3, 1, 2, 3});
  const Matrix other = dense(2, 1, {7, 9});
  const MatrixView target = other.view();
  const Features features = Features::fit(one_view(1, "nystroem:3:1"), {x.view(), {}, &target, 0});
  const nlohmann::json map = features.to_json()[0];
  const double factor = map["columns"]["factor"][0].get<double>();
  auto found = map["landmarks"].get<std::vector<double>>();
  std::sort(found.begin(), found.end());
  ASSERT_EQ(found.size(), 3U);
  EXPECT_NEAR(found[0], -2 * factor, 1e-12);
  EXPECT_NEAR(found[1], 2 * factor, 1e-12);
  EXPECT_NEAR(found[2], std::min(8.0, 8 * factor), 1e-12);
}

/// Rows of mostly zeros take another way from 1,000 columns on: a column of zeros more must change
/// nothing, whether rows are mapped together or alone.
TEST(Maps, NystroemOfManyColumnsIsThatOfFew) {
  constexpr std::size_t few = 999;
  const std::size_t rows = 70;
  Random random(17);
  Matrix x = dense(rows, few, std::vector<double>(rows * few, 0.0));
  for (std::size_t i = 0; i < rows; ++i) {
    const std::size_t entries = i % 10 == 0 ? 600 : 20;  // some rows are full
    for (std::size_t e = 0; e < entries; ++e) {
      x.values[i * few + random.below(few)] = 1 + random.normal();
    }
  }
  Matrix wide = dense(rows, few + 1, std::vector<double>(rows * (few + 1), 0.0));
  for (std::size_t i = 0; i < rows; ++i) {
    const std::vector<double> own = row(x, i);
    std::copy(own.begin(), own.end(),
              wide.values.begin() + static_cast<std::ptrdiff_t>(i * wide.cols));
  }
  const Features narrow_map =
      Features::fit(one_view(few, "nystroem:15"), {x.view(), {}, nullptr, 0});
  nlohmann::json json = narrow_map.to_json();
  const auto packed = json[0]["landmarks"].get<std::vector<double>>();
  std::vector<double> landmarks;
  for (std::size_t j = 0; j < packed.size(); ++j) {
    landmarks.push_back(packed[j]);
    if (j % few == few - 1) landmarks.push_back(0);
  }
  json[0]["landmarks"] = landmarks;
  for (const char* member : {"mean", "factor"}) json[0]["columns"][member].push_back(0.0);
  const Features wide_map = Features::from_json(json, one_view(few + 1, "nystroem:15"));
  const Matrix expected = narrow_map.apply(x.view());
  const Matrix found = wide_map.apply(wide.view());
  const Matrix sparse = wide_map.apply(as_sparse(wide).view());
  ASSERT_EQ(found.cols, expected.cols);
  for (std::size_t i = 0; i < found.values.size(); ++i) {
    ASSERT_NEAR(found.values[i], expected.values[i], 1e-9) << i;
    ASSERT_EQ(found.values[i], sparse.values[i]) << i;
  }
  for (const std::size_t i : {0UL, 1UL, 20UL, 33UL}) {
    const Matrix alone = wide_map.apply(dense(1, wide.cols, row(wide, i)).view());
    EXPECT_EQ(row(alone, 0), row(found, i)) << i;
  }
}

TEST(Maps, WithLandmarksChangeLittleWithTheData) {
  const Matrix x = normal_rows(300, 4, 12);
  Random random(1);
  Matrix jittered = x;
  Matrix reversed = x;
  for (double& v : jittered.values) v += 1e-7 * random.normal();
  for (std::size_t i = 0; i < 300; ++i) {
    for (std::size_t j = 0; j < 4; ++j) reversed.values[4 * i + j] = x.values[4 * i + 3 - j];
  }
  const auto distances = [](const Matrix& rows, std::uint64_t seed) {
    const Features features =
        Features::fit(one_view(4, "nystroem:50"), {rows.view(), {}, nullptr, seed});
    const Matrix mapped = features.apply(rows.view());
    std::vector<double> out;
    for (std::size_t i = 1; i < 300; ++i) out.push_back(distance(row(mapped, 0), row(mapped, i)));
    return out;
  };
  const std::vector<double> plain = distances(x, 0);
  for (const auto& other : {distances(jittered, 0), distances(reversed, 0), distances(x, 1)}) {
    for (std::size_t i = 0; i < plain.size(); ++i) ASSERT_NEAR(other[i], plain[i], 1e-5) << i;
  }
}

TEST(Maps, AreTheSameForAWeightOfTwoAsForTheRowTwice) {
  const Matrix x = normal_rows(40, 3, 10);
  Matrix repeated = dense(50, 3, std::vector<double>(150));
  std::vector<double> weight(40, 1.0);
  std::copy(x.values.begin(), x.values.end(), repeated.values.begin());
  for (std::size_t i = 0; i < 10; ++i) {
    weight[i] = 2;
    std::copy_n(x.values.begin() + static_cast<std::ptrdiff_t>(i * 3), 3,
                repeated.values.begin() + static_cast<std::ptrdiff_t>((40 + i) * 3));
  }
  for (const std::string& maps : all_maps()) {
    const Features one = Features::fit(one_view(3, maps), {x.view(), weight, nullptr, 2});
    const Features other = Features::fit(one_view(3, maps), {repeated.view(), {}, nullptr, 2});
    const Matrix a = one.apply(x.view());
    const Matrix b = other.apply(x.view());
    ASSERT_EQ(a.cols, b.cols) << maps;
    for (std::size_t i = 0; i < a.values.size(); ++i) {
      ASSERT_NEAR(a.values[i], b.values[i], 1e-8) << maps;
    }
  }
}

TEST(Maps, OfAConstantViewOrOneRowAreZeroOrTheColumns) {
  for (const std::size_t rows : {1U, 5U}) {
    const Matrix x = dense(rows, 2, std::vector<double>(rows * 2, 0.7));
    for (const std::string& maps : all_maps()) {
      const Features features = Features::fit(one_view(2, maps), {x.view(), {}, nullptr, 0});
      const Matrix y = features.apply(x.view());
      for (const double v : y.values) ASSERT_TRUE(std::isfinite(v)) << maps;
      if (maps.starts_with("nystroem") || maps.starts_with("fourier")) {
        for (const double v : y.values) ASSERT_NEAR(v, 0, 1e-12) << maps;
      }
      if (maps == "splines:11") {
        EXPECT_EQ(y.cols, 2U);
      }
    }
  }
}

TEST(FeaturesOfViews, AreTheSameOneRowAtATimeAfterARoundTripAndInAnyOrderOfFitting) {
  const Matrix x = normal_rows(150, 5, 11);
  Matrix shuffled = x;
  for (std::size_t i = 0; i < 150; ++i) {
    std::copy_n(x.values.begin() + static_cast<std::ptrdiff_t>(((i * 7) % 150) * 5), 5,
                shuffled.values.begin() + static_cast<std::ptrdiff_t>(i * 5));
  }
  for (const std::string& maps : all_maps()) {
    const Views views = views_of({{0, 1, 2}, {1, 2, 3, 4}}, {maps, maps});
    const Features features = Features::fit(views, {x.view(), {}, nullptr, 2});
    const Matrix all = features.apply(x.view());
    const Features loaded =
        Features::from_json(nlohmann::json::parse(features.to_json().dump()), views);
    EXPECT_EQ(loaded.maps(), features.maps());
    const Matrix again = loaded.apply(x.view());
    ASSERT_EQ(again.values.size(), all.values.size());
    EXPECT_TRUE(std::equal(all.values.begin(), all.values.end(), again.values.begin())) << maps;
    for (std::size_t i = 0; i < 150; ++i) {
      ASSERT_EQ(row(features.apply(slice(x.view(), i, 1)), 0), row(all, i)) << maps;
    }
    const Matrix other = Features::fit(views, {shuffled.view(), {}, nullptr, 2}).apply(x.view());
    for (std::size_t i = 0; i < all.values.size(); ++i) {
      ASSERT_NEAR(all.values[i], other.values[i], 1e-9) << maps;
    }
  }
}

TEST(FeaturesOfViews, ParallelThreadsGiveTheSameBits) {
  const Matrix x = normal_rows(1000, 3, 12);
  const Features features = Features::fit(one_view(3, "nystroem:30"), {x.view(), {}, nullptr, 2});
  const Matrix one = features.apply(x.view(), 1);
  const Matrix four = features.apply(x.view(), 4);
  EXPECT_TRUE(std::equal(one.values.begin(), one.values.end(), four.values.begin()));
}

TEST(FeaturesOfViews, DisjointLinearViewsAreTheColumnsThemselves) {
  const Features features(views_of({{1, 3}, {0, 2}}, {"", ""}));
  EXPECT_TRUE(features.identity());
  EXPECT_THAT(features.view_of(), ElementsAre(1, 0, 1, 0));
  const Matrix x = normal_rows(3, 4, 13);
  const FeatureRows rows(features, x.view(), 1);
  EXPECT_EQ(std::get<0>(rows.view().storage).data, x.values.data());
  EXPECT_THAT(features.names(std::vector<std::string>{"a", "b", "c", "d"}),
              ElementsAre("a", "b", "c", "d"));
}

TEST(FeaturesOfViews, OverlappingViewsRepeatTheirColumns) {
  const Features features(views_of({{0, 2}, {0, 1, 2}}, {"linear", ""}));
  EXPECT_FALSE(features.identity());
  EXPECT_THAT(features.view_of(), ElementsAre(0, 0, 1, 1, 1));
  const Matrix x = dense(2, 3, {1, 2, 3, 4, 0, 6});
  const Matrix y = features.apply(x.view());
  EXPECT_THAT(row(y, 0), ElementsAre(1, 3, 1, 2, 3));
  EXPECT_THAT(row(y, 1), ElementsAre(4, 6, 4, 0, 6));
  const Matrix sparse = features.apply(as_sparse(x).view());
  EXPECT_TRUE(sparse.sparse);
  EXPECT_THAT(sparse.columns, ElementsAre(0, 1, 2, 3, 4, 0, 1, 2, 4));
  EXPECT_THAT(features.names(std::vector<std::string>{"a", "b", "c"}),
              ElementsAre("a", "c", "a", "b", "c"));
}

TEST(FeaturesOfViews, MapsAreThoseOfTheViewOrOfTheFit) {
  Views views = with_maps(views_of({{0}, {1}}, {"quadratic", ""}), "auto");
  EXPECT_TRUE(maps_open(views));
  const Matrix x = normal_rows(9, 2, 14);
  EXPECT_THROW(Features::fit(views, {x.view(), {}, nullptr, 0}), Error);
  views = close_maps(views, "linear + splines:2");
  EXPECT_FALSE(maps_open(views));
  EXPECT_THAT(Features::fit(views, {x.view(), {}, nullptr, 0}).maps(),
              ElementsAre("quadratic", "linear + splines:2"));
}

TEST(FeaturesOfViews, DamagedFilesAreRefused) {
  const Matrix x = normal_rows(20, 2, 15);
  const Views views = one_view(2, "nystroem:5 + fourier:4 + splines:3");
  const nlohmann::json good = Features::fit(views, {x.view(), {}, nullptr, 0}).to_json();
  const auto refused = [&](const nlohmann::json& json) {
    try {
      Features::from_json(json, views);
    } catch (const Error&) {
      return true;
    }
    return false;
  };
  EXPECT_FALSE(refused(good));
  EXPECT_TRUE(refused(nlohmann::json::array()));
  EXPECT_TRUE(refused(nlohmann::json::object()));
  for (std::size_t part = 0; part < good.size(); ++part) {
    for (const auto& [key, value] : good[part].items()) {
      nlohmann::json bad = good;
      bad[part].erase(key);
      EXPECT_TRUE(refused(bad)) << key;
      if (!value.is_array()) continue;
      bad = good;
      bad[part][key].push_back(bad[part][key][0]);
      EXPECT_TRUE(refused(bad)) << key;
    }
  }
}

}  // namespace
}  // namespace covshift
