// A fit to rows that the processes of an MPI program have:
//     mpirun -n 4 build/examples/mpi_fit
// Every process draws its own rows here; a real one would already have them.
#include <mpi.h>

#include <cstdio>

#include "covshift/covshift.hpp"
#include "covshift/engine/mpi_reducer.hpp"

namespace {

/// Two columns, the first of which has another mean on the target; the class depends on both.
struct OwnRows {
  OwnRows(std::size_t rows, std::uint64_t seed) {
    covshift::Random random(seed);
    for (std::size_t i = 0; i < rows; ++i) {
      const double a = random.normal();
      const double b = random.normal();
      train.insert(train.end(), {a, b});
      labels.push_back(a - b + random.normal() > 0 ? 1 : 0);
      target.insert(target.end(), {random.normal() + 0.5, random.normal()});
    }
  }
  std::vector<double> train, target;
  std::vector<int> labels;
};

int run() {
  const covshift::MpiReducer reducer(MPI_COMM_WORLD);
  const OwnRows own(1000 * (reducer.holder() + 1), reducer.holder());
  const covshift::MatrixView target =
      covshift::MatrixView::dense(own.target.data(), own.labels.size(), 2);
  covshift::TrainingData data;
  data.features = covshift::MatrixView::dense(own.train.data(), own.labels.size(), 2);
  data.labels = own.labels;
  data.classes = 2;
  data.views = covshift::Views::all(2);
  data.target = &target;
  covshift::FitOptions options;
  options.method = "robust";
  const covshift::Classifier model = covshift::fit_parts(data, options, reducer, {.engine = "mpi"});
  if (reducer.holder() == 0) {
    const covshift::FitReport& report = model.report();
    std::printf("%zu processes, %zu rows: objective %.9f, gap %.1e, %zu passes\n",
                report.parts->parts, report.parts->rows, report.solution.objective,
                report.solution.gap, report.parts->passes);
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int code = run();
  MPI_Finalize();
  return code;
}
