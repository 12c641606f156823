#include "covshift/engine/sample.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

#include "covshift/base/lists.hpp"
#include "covshift/base/random.hpp"
#include "covshift/data/rows.hpp"

namespace covshift {
namespace {

constexpr double fewest_of_class = 50;
constexpr std::uint64_t salt = 0x5851f42d4c957f2d;  // different draws for different purposes

/// Numbers as bytes: holders of one fit are machines of one kind.
template <typename T>
void put(const T* from, std::size_t n, std::string& bytes) {
  bytes.append(reinterpret_cast<const char*>(from), n * sizeof(T));
}
template <typename T>
void put(const std::vector<T>& numbers, std::string& bytes) {
  const auto n = static_cast<std::uint64_t>(numbers.size());
  put(&n, 1, bytes);
  put(numbers.data(), numbers.size(), bytes);
}

class Bytes {
 public:
  explicit Bytes(const std::string& bytes) : at_(bytes.data()) {}
  template <typename T>
  std::vector<T> take() {
    std::uint64_t n = 0;
    std::memcpy(&n, at_, sizeof n);
    at_ += sizeof n;
    std::vector<T> numbers(n);
    if (n > 0) std::memcpy(numbers.data(), at_, n * sizeof(T));
    at_ += n * sizeof(T);
    return numbers;
  }

 private:
  const char* at_;
};

template <typename T>
void append(std::vector<T>&& more, std::vector<T>& all) {
  all.insert(all.end(), more.begin(), more.end());
}

/// `count` of n places, one from each of equally long ranges, ascending.
std::vector<std::uint64_t> places(std::uint64_t n, std::uint64_t count, std::uint64_t seed) {
  std::vector<std::uint64_t> picked;
  count = std::min(count, n);
  for (std::uint64_t b = 0; b < count; ++b) {
    const std::uint64_t begin = n * b / count;
    Random random(seed ^ (b + 1) * 0x9e3779b97f4a7c15);
    picked.push_back(begin + random.below(n * (b + 1) / count - begin));
  }
  return picked;
}

/// The part of ascending places that lies in [first, first + n), counted from `first`.
std::vector<std::size_t> own(const std::vector<std::uint64_t>& all, std::uint64_t first,
                             std::uint64_t n) {
  std::vector<std::size_t> mine;
  const auto begin = std::lower_bound(all.begin(), all.end(), first);
  for (auto place = begin; place != all.end() && *place < first + n; ++place) {
    mine.push_back(*place - first);
  }
  return mine;
}

/// How many there are of each kind before this holder's, and at all holders.
struct Counts {
  std::vector<std::uint64_t> before, total;
};
Counts count_all(const std::vector<std::uint64_t>& mine, const Reducer& reducer) {
  std::string piece;
  put(mine, piece);
  const std::vector<std::string> pieces = reducer.gather(std::move(piece));
  Counts counts{std::vector<std::uint64_t>(mine.size()), std::vector<std::uint64_t>(mine.size())};
  for (std::size_t h = 0; h < pieces.size(); ++h) {
    const auto other = Bytes(pieces[h]).take<std::uint64_t>();
    for (std::size_t c = 0; c < mine.size(); ++c) {
      if (h < reducer.holder()) counts.before[c] += other[c];
      counts.total[c] += other[c];
    }
  }
  return counts;
}

}  // namespace

Draw::Draw(const TrainingData& part, const Reducer& reducer, std::size_t most,
           std::size_t held_out_most, unsigned long long seed) {
  const std::size_t own_target = part.target != nullptr ? part.target->rows : 0;
  const Counts sizes = count_all({part.features.rows, own_target}, reducer);
  rows = sizes.total[0];
  target_rows = sizes.total[1];
  all_ = rows <= most && target_rows <= most;
  if (!all_ && held_out_most > 0) {
    const auto leave_out = [&](std::size_t which, std::size_t n) {
      return own(places(sizes.total[which], std::min(held_out_most, sizes.total[which] / 5),
                        seed + salt * (which + 1)),
                 sizes.before[which], n);
    };
    held_out.train = leave_out(0, part.features.rows);
    held_out.target = leave_out(1, own_target);
  }
  // The rest by class, the target's rows being one more.
  const auto classes = static_cast<std::size_t>(std::max(1, part.classes));
  std::vector<std::vector<std::size_t>> members(classes + 1);
  const auto collect = [&](std::size_t n, const std::vector<std::size_t>& left_out,
                           const auto& kind) {
    auto out = left_out.begin();
    for (std::size_t i = 0; i < n; ++i) {
      if (out != left_out.end() && *out == i) {
        ++out;
      } else {
        members[kind(i)].push_back(i);
      }
    }
  };
  collect(part.features.rows, held_out.train, [&](std::size_t i) {
    return part.labels.empty() ? 0 : static_cast<std::size_t>(part.labels[i]);
  });
  collect(own_target, held_out.target, [&](std::size_t) { return classes; });
  std::vector<std::uint64_t> mine;
  mine.reserve(members.size());
  for (const auto& of_class : members) mine.push_back(of_class.size());
  const Counts kinds = count_all(mine, reducer);
  std::uint64_t training = 0;
  for (std::size_t c = 0; c < classes; ++c) training += kinds.total[c];
  const double share =
      training > most ? static_cast<double>(most) / static_cast<double>(training) : 1;
  const auto fewest = static_cast<std::uint64_t>(std::clamp(
      static_cast<double>(most) / (4 * static_cast<double>(classes)), 1.0, fewest_of_class));
  std::vector<std::pair<std::size_t, double>> drawn;  // with the factor of its weight
  bool weighted = false;
  for (std::size_t c = 0; c < classes; ++c) {
    const std::uint64_t n = kinds.total[c];
    const auto fair = static_cast<std::uint64_t>(std::llround(share * static_cast<double>(n)));
    const std::uint64_t count = std::max(fair, std::min(n, fewest));
    const double factor =
        count > fair ? share * static_cast<double>(n) / static_cast<double>(count) : 1;
    weighted = weighted || factor != 1;
    for (const std::size_t k :
         own(places(n, count, seed + salt * (c + 4)), kinds.before[c], members[c].size())) {
      drawn.emplace_back(members[c][k], factor);
    }
  }
  std::sort(drawn.begin(), drawn.end());
  for (const auto& [row, factor] : drawn) {
    sample.train.push_back(row);
    if (weighted) sample.weight.push_back(factor);
  }
  for (const std::size_t k : own(places(kinds.total[classes], most, seed + salt * 3),
                                 kinds.before[classes], members[classes].size())) {
    sample.target.push_back(members[classes][k]);
  }
}

GivenDensities GatheredRows::given() const {
  GivenDensities given{log_ratio, log_generalization};
  for (const auto& [ratio, generalization] : views) given.views.push_back({ratio, generalization});
  return given;
}

std::string Gathered::pack(const MatrixView& x, const GivenDensities& given,
                           const std::vector<std::size_t>& rows) {
  const Matrix own = take_rows(x, rows);
  std::string bytes;
  put(std::vector<std::uint64_t>{own.rows}, bytes);
  put(std::vector<double>(own.values.begin(), own.values.end()), bytes);
  put(own.offsets, bytes);
  put(own.columns, bytes);
  put(take(given.log_ratio, rows), bytes);
  put(take(given.log_generalization, rows), bytes);
  put(std::vector<std::uint64_t>{given.views.size()}, bytes);
  for (const ViewDensities& view : given.views) {
    put(take(view.log_ratio, rows), bytes);
    put(take(view.log_generalization, rows), bytes);
  }
  return bytes;
}

GatheredRows Gathered::unpack(const std::vector<std::string>& pieces, bool sparse, std::size_t cols,
                              bool only_count) {
  GatheredRows all;
  Matrix& matrix = all.matrix;
  matrix.cols = cols;
  matrix.sparse = sparse;
  if (sparse) matrix.offsets.push_back(0);
  for (const std::string& piece : pieces) {
    Bytes bytes(piece);
    all.count += bytes.take<std::uint64_t>().front();
    if (only_count) continue;
    matrix.rows = all.count;
    const std::vector<double> values = bytes.take<double>();
    const std::vector<std::int64_t> offsets = bytes.take<std::int64_t>();
    const auto before = static_cast<std::int64_t>(matrix.values.size());
    for (std::size_t i = 1; i < offsets.size(); ++i) matrix.offsets.push_back(before + offsets[i]);
    matrix.values.insert(matrix.values.end(), values.begin(), values.end());
    append(bytes.take<std::int32_t>(), matrix.columns);
    append(bytes.take<double>(), all.log_ratio);
    append(bytes.take<double>(), all.log_generalization);
    const std::uint64_t views = bytes.take<std::uint64_t>().front();
    all.views.resize(std::max<std::size_t>(all.views.size(), views));
    for (std::uint64_t v = 0; v < views; ++v) {
      append(bytes.take<double>(), all.views[v].first);
      append(bytes.take<double>(), all.views[v].second);
    }
  }
  return all;
}

Gathered::Gathered(const TrainingData& part, const Picked& picked, const Reducer& reducer,
                   Receivers receivers)
    : data_(part) {
  const bool sparse = part.features.storage.index() >= 2;
  const bool only_count = receivers == Receivers::first_holder && reducer.holder() != 0;
  train_ = unpack(reducer.gather(pack(part.features, part.given_train, picked.train)), sparse,
                  part.features.cols, only_count);
  if (part.target != nullptr) {
    target_ = unpack(reducer.gather(pack(*part.target, part.given_target, picked.target)), sparse,
                     part.features.cols, only_count);
    target_view_ = target_.matrix.view();
    target_view_.finite = true;
    data_.target = &target_view_;
    data_.given_target = target_.given();
  }
  std::vector<double> weight = take(part.sample_weight, picked.train);
  // One holder's rows may have weights, and another holder none.
  if (weight.empty()) weight.assign(picked.train.size(), 1.0);
  for (std::size_t i = 0; i < picked.weight.size(); ++i) weight[i] *= picked.weight[i];
  std::string piece;
  put(take(part.labels, picked.train), piece);
  put(weight, piece);
  for (const std::string& other : reducer.gather(std::move(piece))) {
    Bytes bytes(other);
    append(bytes.take<int>(), labels_);
    append(bytes.take<double>(), weight_);
  }
  total_weight_ = std::accumulate(weight_.begin(), weight_.end(), 0.0);
  if (only_count) labels_.clear();
  // Weights of 1 are none.
  if (only_count || std::all_of(weight_.begin(), weight_.end(), [](double w) { return w == 1; })) {
    weight_.clear();
  }
  data_.features = train_.matrix.view();
  data_.features.finite = true;
  data_.labels = labels_;
  data_.sample_weight = weight_;
  data_.given_train = train_.given();
}

}  // namespace covshift
