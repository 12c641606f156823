// covshift-mpi: the program as one of the processes that mpirun starts. Each has a part of the
// rows; the first alone prints and writes.
#include <mpi.h>
#include <sys/mman.h>
#include <unistd.h>

#include <fcntl.h>
#include <array>
#include <chrono>
#include <string>
#include <thread>

#include "cli/program.hpp"
#include "covshift/engine/mpi_reducer.hpp"

namespace {

using namespace covshift;

/// What other processes than the first would say: nothing to stdout; messages are kept in case no
/// other process gives them.
class Silence {
 public:
  Silence() : stderr_(dup(STDERR_FILENO)), kept_(memfd_create("messages", MFD_CLOEXEC)) {
    const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    dup2(nowhere, STDOUT_FILENO);
    dup2(kept_ >= 0 ? kept_ : nowhere, STDERR_FILENO);
    close(nowhere);
  }
  void say() const {
    lseek(kept_, 0, SEEK_SET);
    std::array<char, 4096> bytes{};
    for (ssize_t n = 0; (n = read(kept_, bytes.data(), bytes.size())) > 0;) {
      if (write(stderr_, bytes.data(), static_cast<std::size_t>(n)) < n) return;
    }
  }

 private:
  int stderr_;
  int kept_;
};

/// True if all processes came here within a few seconds: then all know how it ended.
bool all_ended(MPI_Comm processes) {
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Ibarrier(processes, &request);
  const auto late = std::chrono::steady_clock::now() + std::chrono::seconds(3);
  for (;;) {
    int done = 0;
    MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    if (done != 0) return true;
    if (std::chrono::steady_clock::now() > late) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

int run(int argc, char** argv) {
  const MpiReducer reducer(MPI_COMM_WORLD);
  if (reducer.holder() == 0) {
    const int code = cli::run_program(argc, argv, &reducer);
    if (code != 0 && !all_ended(MPI_COMM_WORLD)) MPI_Abort(MPI_COMM_WORLD, code);
    return code;
  }
  const Silence silence;
  const int code = cli::run_program(argc, argv, &reducer);
  // An error that all have was said by the first; one of this process alone leaves the others
  // waiting for it.
  if (code != 0 && !all_ended(MPI_COMM_WORLD)) {
    silence.say();
    MPI_Abort(MPI_COMM_WORLD, code);
  }
  return code;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int code = run(argc, argv);
  MPI_Finalize();
  return code;
}
