// Holders that are the processes of an MPI communicator. Header only, and not part of
// covshift/covshift.hpp: the library itself does not need MPI.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "covshift/base/reduce.hpp"

namespace covshift {

/// Every process of the communicator makes one, after MPI_Init and before MPI_Finalize, and hands
/// it to fit_parts(). MPI gives all processes the same sums to the last bit, so they stay in step.
/// Errors of MPI end all processes, as is its default.
class MpiReducer final : public Reducer {
 public:
  explicit MpiReducer(MPI_Comm processes) {
    MPI_Comm_dup(processes, &processes_);  // what the caller sends cannot be mixed up with this
    int number = 0;
    MPI_Comm_rank(processes_, &number);
    rank_ = static_cast<std::size_t>(number);
    MPI_Comm_size(processes_, &number);
    size_ = static_cast<std::size_t>(number);
  }
  ~MpiReducer() override {
    int over = 0;
    MPI_Finalized(&over);
    if (over == 0) MPI_Comm_free(&processes_);
  }
  MpiReducer(const MpiReducer&) = delete;
  MpiReducer& operator=(const MpiReducer&) = delete;

  [[nodiscard]] std::size_t holder() const override { return rank_; }
  [[nodiscard]] std::size_t holders() const { return size_; }

  void sum(std::span<double> totals) const override { reduce(totals, MPI_SUM); }
  void max(std::span<double> largest) const override { reduce(largest, MPI_MAX); }

  [[nodiscard]] std::vector<std::string> gather(std::string piece) const override {
    const std::vector<std::uint64_t> sizes = sizes_of(piece);
    std::vector<std::string> pieces(size_);
    pieces[rank_] = std::move(piece);
    for (std::size_t from = 0; from < size_; ++from) {
      pieces[from].resize(sizes[from]);
      each_chunk(pieces[from], [&](char* bytes, int count) {
        MPI_Bcast(bytes, count, MPI_CHAR, static_cast<int>(from), processes_);
      });
    }
    return pieces;
  }

 private:
  static constexpr std::size_t most = std::size_t{1} << 27U;  // MPI counts with an int

  void reduce(std::span<double> numbers, MPI_Op operation) const {
    for (std::size_t first = 0; first < numbers.size(); first += most) {
      const auto count = static_cast<int>(std::min(most, numbers.size() - first));
      MPI_Allreduce(MPI_IN_PLACE, numbers.data() + first, count, MPI_DOUBLE, operation, processes_);
    }
  }
  [[nodiscard]] std::vector<std::uint64_t> sizes_of(const std::string& piece) const {
    const std::uint64_t own = piece.size();
    std::vector<std::uint64_t> sizes(size_);
    MPI_Allgather(&own, 1, MPI_UINT64_T, sizes.data(), 1, MPI_UINT64_T, processes_);
    return sizes;
  }
  template <typename Move>
  static void each_chunk(std::string& bytes, const Move& move) {
    for (std::size_t first = 0; first < bytes.size(); first += most) {
      move(bytes.data() + first, static_cast<int>(std::min(most, bytes.size() - first)));
    }
  }

  MPI_Comm processes_ = MPI_COMM_NULL;
  std::size_t rank_ = 0;
  std::size_t size_ = 1;
};

}  // namespace covshift
