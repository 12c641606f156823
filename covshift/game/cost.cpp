#include <algorithm>
#include <array>
#include <mutex>
#include <optional>
#include <utility>

#include "covshift/base/error.hpp"
#include "covshift/base/names.hpp"
#include "covshift/base/number.hpp"
#include "covshift/game/linear_program.hpp"
#include "covshift/game/matrix_game.hpp"
#include "covshift/game/scratch.hpp"

namespace covshift {
namespace {

/// Any cost matrix: a linear program per example, warm-started from the previous one.
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
  /// Borrows a program from the pool, so that threads never share one.
  class Loan {
   public:
    explicit Loan(const CostGame& game) : game_(game) {
      const std::lock_guard lock(game_.mutex_);
      if (!game_.idle_.empty()) {
        program_ = std::move(game_.idle_.back());
        game_.idle_.pop_back();
      }
      if (!program_) program_ = std::make_unique<GameProgram>(*game_.costs());
      program_->restart();  // the equilibrium found must not depend on earlier use
    }
    ~Loan() {
      const std::lock_guard lock(game_.mutex_);
      game_.idle_.push_back(std::move(program_));
    }
    GameProgram* operator->() { return program_.get(); }

   private:
    const CostGame& game_;
    std::unique_ptr<GameProgram> program_;
  };

  std::string name_;
  mutable std::mutex mutex_;
  mutable std::vector<std::unique_ptr<GameProgram>> idle_;
};

/// A loss by name, made from the number of labels or, where the name ends in a parameter
/// (abstain:A), from both. To add a loss: its file, and here its declaration and row.
struct Loss {
  std::string_view name;
  std::unique_ptr<Game> (*make)(int labels);
  std::unique_ptr<Game> (*make_with)(int labels, double parameter) = nullptr;
};
constexpr auto losses = std::to_array<Loss>({{"log", log_game},
                                             {"zero-one", zero_one_game},
                                             {"absolute", absolute_game},
                                             {"squared", squared_game},
                                             {"abstain:A", nullptr, abstain_game},
                                             {"hinge", hinge_game}});

}  // namespace

std::unique_ptr<Game> cost_game(CostMatrix costs, std::string name) {
  return std::make_unique<CostGame>(std::move(costs), std::move(name));
}

std::span<const std::string_view> loss_names() {
  static const auto names = [] {
    std::array<std::string_view, losses.size()> list;
    std::transform(losses.begin(), losses.end(), list.begin(),
                   [](const Loss& l) { return l.name; });
    return list;
  }();
  return names;
}

std::unique_ptr<Game> make_game(const std::string& loss, int labels) {
  for (const Loss& known : losses) {
    if (known.make != nullptr && known.name == loss) return known.make(labels);
    const std::string_view prefix = known.name.substr(0, known.name.find(':') + 1);
    if (known.make_with == nullptr || !loss.starts_with(prefix)) continue;
    const std::string text = loss.substr(prefix.size());
    const std::optional<double> parameter = parse_number(text);
    if (!parameter || trim(text) != text) {
      fail_input("the loss '{}' needs a number, as in {}0.3", loss, prefix);
    }
    return known.make_with(labels, *parameter);
  }
  fail_name("the loss", loss, loss_names());
}

}  // namespace covshift
