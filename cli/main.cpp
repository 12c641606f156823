#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "cli/program.hpp"

namespace {

/// The number of processes that mpirun or srun started, if one of them did.
int processes() {
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MPI_LOCALNRANKS"}) {
    if (const char* const count = std::getenv(name)) return std::atoi(count);
  }
  // srun --mpi=pmix names the process, and only Slurm says how many there are. Without that name
  // Slurm's counts may be those of a job in which this program runs alone.
  if (std::getenv("PMIX_RANK") == nullptr) return 1;
  for (const char* name : {"SLURM_STEP_NUM_TASKS", "SLURM_NTASKS"}) {
    if (const char* const count = std::getenv(name)) return std::atoi(count);
  }
  return 1;
}

/// Where processes were started to work together, the program that does so takes over, if it was
/// built: it needs MPI's libraries, which this one does not.
void work_together(char** argv) {
  if (processes() < 2) return;
  std::error_code unknown;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", unknown);
  if (!unknown) {
    const std::string other = (self.parent_path() / "covshift-mpi").string();
    execv(other.c_str(), argv);
  }
  static_cast<void>(std::fputs(
      "covshift: started as one of several processes, but built without MPI: each does all of the "
      "work by itself; build with -DCOVSHIFT_MPI=ON to share it\n",
      stderr));
}

}  // namespace

int main(int argc, char** argv) {
  work_together(argv);
  return covshift::cli::run_program(argc, argv, nullptr);
}
