#include <algorithm>
#include <charconv>
#include <mutex>
#include <system_error>
#include <utility>

#include "covshift/base/error.hpp"
#include "covshift/base/names.hpp"
#include "covshift/game/linear_program.hpp"
#include "covshift/game/matrix_game.hpp"
#include "covshift/game/scratch.hpp"

namespace covshift {
namespace {

/// Any cost matrix: a linear program for each example, each started from the one before.
class CostGame final : public MatrixGame {
 public:
  CostGame(CostMatrix costs, std::string name)
      : MatrixGame(std::move(costs)), name_(std::move(name)) {}
  [[nodiscard]] std::string name() const override { return name_; }

  void play(std::size_t n, const double* psi, const int* /*label*/, double* value,
            double* q) const override {
    const auto k = static_cast<std::size_t>(labels());
    Scratch<double> p(actions());
    Loan program(*this);
    for (std::size_t i = 0; i < n; ++i, psi += k, q += k) {
      value[i] = program->solve({psi, k}, {p.data(), p.size()}, {q, k});
    }
  }

  void predict(std::span<const double> psi, std::span<double> p) const override {
    Scratch<double> q(labels());
    Loan program(*this);
    program->solve(psi, p, {q.data(), q.size()});
  }

 private:
  /// A program of the pool: threads never share one, and none is built twice.
  class Loan {
   public:
    explicit Loan(const CostGame& game) : game_(game) {
      const std::lock_guard lock(game_.mutex_);
      if (!game_.idle_.empty()) {
        program_ = std::move(game_.idle_.back());
        game_.idle_.pop_back();
      }
      if (!program_) program_ = std::make_unique<GameProgram>(*game_.costs());
      program_->restart();  // which of several equilibria is found must not depend on the last loan
    }
    ~Loan() {
      const std::lock_guard lock(game_.mutex_);
      game_.idle_.push_back(std::move(program_));
    }
    Loan(const Loan&) = delete;
    Loan& operator=(const Loan&) = delete;
    GameProgram* operator->() { return program_.get(); }

   private:
    const CostGame& game_;
    std::unique_ptr<GameProgram> program_;
  };

  std::string name_;
  mutable std::mutex mutex_;
  mutable std::vector<std::unique_ptr<GameProgram>> idle_;
};

}  // namespace

std::unique_ptr<Game> cost_game(CostMatrix costs, std::string name) {
  return std::make_unique<CostGame>(std::move(costs), std::move(name));
}

std::span<const std::string_view> loss_names() {
  static constexpr std::array<std::string_view, 6> list = {"log",     "zero-one",  "absolute",
                                                           "squared", "abstain:A", "hinge"};
  return list;
}

std::unique_ptr<Game> make_game(const std::string& loss, int labels) {
  if (loss == "log") return log_game(labels);
  if (loss == "zero-one") return zero_one_game(labels);
  if (loss == "absolute") return absolute_game(labels);
  if (loss == "squared") return squared_game(labels);
  if (loss == "hinge") return hinge_game(labels);
  const std::string abstain = "abstain:";
  if (loss.starts_with(abstain)) {
    const std::string text = loss.substr(abstain.size());
    double cost = -1;  // from_chars: the same in every locale
    const auto [rest, status] = std::from_chars(text.data(), text.data() + text.size(), cost);
    if (status != std::errc{} || rest != text.data() + text.size()) {
      fail_input("loss '{}': '{}' is not a number; example: abstain:0.3", loss, text);
    }
    return abstain_game(labels, cost);
  }
  fail_name("the loss", loss, loss_names());
}

}  // namespace covshift
