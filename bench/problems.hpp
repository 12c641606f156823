// Random problems for the benchmarks, from a fixed seed; labels depend on the features, with noise.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "covshift/base/random.hpp"
#include "covshift/learn/problem.hpp"

namespace covshift::bench {

/// A problem with its memory.
struct Made {
  std::unique_ptr<Game> game;
  Matrix x;
  std::vector<float> single;  ///< if not empty, dense features that replace x
  std::vector<int> y;
  std::vector<double> log_weight;
  std::vector<double> log_scale;

  [[nodiscard]] Problem problem(double lambda) const {
    Problem p;
    p.game = game.get();
    p.features = single.empty() ? x.view() : MatrixView::dense(single.data(), x.rows, x.cols);
    p.labels = y;
    p.lambda = lambda;
    p.log_weight = log_weight;
    p.log_scale = log_scale;
    return p;
  }
};

/// "cost" is a random cost matrix without a closed form.
inline std::unique_ptr<Game> game_named(const std::string& loss, int labels) {
  if (loss != "cost") return make_game(loss, labels);
  Random random(5);
  CostMatrix costs{labels, labels, {}};
  for (int i = 0; i < labels; ++i) {
    for (int j = 0; j < labels; ++j) costs.cost.push_back(i == j ? 0 : random.uniform(0.5, 2));
  }
  return cost_game(costs);
}

/// The label with the largest noisy score, for scores rows x labels.
inline std::vector<int> noisy_labels(const std::vector<double>& scores, int labels, double noise,
                                     Random& random) {
  std::vector<int> y;
  for (std::size_t i = 0; i < scores.size() / labels; ++i) {
    int best = 0;
    double top = -INFINITY;
    for (int k = 0; k < labels; ++k) {
      const double score = scores[i * labels + k] + noise * random.normal();
      if (score > top) {
        top = score;
        best = k;
      }
    }
    y.push_back(best);
  }
  return y;
}

/// Dense standard normal features. `shifted`: log weights uniform in [-10, 10] and w r = 1, the
/// robust method's weighting.
inline Made dense_problem(const std::string& loss, std::size_t rows, std::size_t cols, int labels,
                          bool shifted = false) {
  Random random(1);
  Made made;
  made.game = game_named(loss, labels);
  made.x.rows = rows;
  made.x.cols = cols;
  made.x.values.resize(rows * cols);
  std::generate(made.x.values.begin(), made.x.values.end(), [&] { return random.normal(); });
  std::vector<double> truth(cols * labels);
  std::generate(truth.begin(), truth.end(), [&] { return random.normal(); });
  std::vector<double> scores(rows * labels);
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t j = 0; j < cols; ++j) {
      for (int k = 0; k < labels; ++k) {
        scores[i * labels + k] += made.x.values[i * cols + j] * truth[j * labels + k];
      }
    }
  }
  made.y = noisy_labels(scores, labels, 0.7 * std::sqrt(static_cast<double>(cols)), random);
  if (shifted) {
    for (std::size_t i = 0; i < rows; ++i) {
      made.log_weight.push_back(random.uniform(-10, 10));
      made.log_scale.push_back(-made.log_weight.back());
    }
  }
  return made;
}

/// Like text: `entries` words to a row, their columns by Zipf's law, rows of length 1, two classes.
inline Made sparse_problem(const std::string& loss, std::size_t rows, std::size_t cols,
                           std::size_t entries) {
  Random random(2);
  Made made;
  made.game = game_named(loss, 2);
  made.x.rows = rows;
  made.x.cols = cols;
  made.x.sparse = true;
  made.x.offsets.push_back(0);
  std::vector<double> truth(cols);
  std::generate(truth.begin(), truth.end(), [&] { return random.normal(); });
  std::vector<double> scores;
  std::vector<std::int32_t> words;
  for (std::size_t i = 0; i < rows; ++i) {
    words.clear();
    while (words.size() < entries) {
      // Log-uniform ranks: the density falls as 1/rank.
      const double rank = std::pow(static_cast<double>(cols), random.uniform());
      const auto word = static_cast<std::int32_t>(std::min(rank, static_cast<double>(cols))) - 1;
      if (std::find(words.begin(), words.end(), word) == words.end()) words.push_back(word);
    }
    std::sort(words.begin(), words.end());
    // The rarer the word, the more it says: logarithm of the rank, as inverse frequency gives.
    double length2 = 0;
    for (const std::int32_t word : words) length2 += std::pow(std::log(word + 2.0), 2);
    double score = 0;
    for (const std::int32_t word : words) {
      const double value = std::log(word + 2.0) / std::sqrt(length2);
      made.x.columns.push_back(word);
      made.x.values.push_back(value);
      score += value * truth[word];
    }
    made.x.offsets.push_back(static_cast<std::int64_t>(made.x.columns.size()));
    scores.push_back(score);
    scores.push_back(-score);
  }
  made.y = noisy_labels(scores, 2, 0.3, random);
  return made;
}

}  // namespace covshift::bench
