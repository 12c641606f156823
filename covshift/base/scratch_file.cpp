#include "covshift/base/scratch_file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>
#if defined(__linux__)
#include <linux/magic.h>
#include <sys/vfs.h>
#endif

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "covshift/base/error.hpp"
#include "covshift/base/large_vector.hpp"

namespace covshift {

std::string ScratchFile::default_folder() {
  const char* const named = std::getenv("TMPDIR");  // NOLINT(concurrency-mt-unsafe)
  if (named != nullptr && *named != '\0') return named;
#if defined(__linux__)
  // A file in memory saves none.
  struct statfs status {};
  if (::statfs("/tmp", &status) == 0 && status.f_type == TMPFS_MAGIC) return "/var/tmp";
#endif
  return "/tmp";
}

ScratchFile::ScratchFile(const std::string& folder)
    : folder_(folder.empty() ? default_folder() : folder) {
#if defined(O_TMPFILE)
  file_ = ::open(folder_.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
#endif
  if (file_ < 0) {  // not every file system makes files without a name
    std::string name = folder_ + "/.covshift-cache-XXXXXX";
    file_ = ::mkstemp(name.data());
    if (file_ >= 0) ::unlink(name.c_str());
  }
  if (file_ < 0) fail("no file can be made there", errno);
}

ScratchFile::~ScratchFile() {
  if (file_ >= 0) ::close(file_);
}

void ScratchFile::fail(const std::string& what, int code) const {
  fail_file("{}: {}: {}; name another folder (--cache-dir or the variable TMPDIR)", folder_, what,
            std::strerror(code));
}

void ScratchFile::append(const void* bytes, std::size_t count) {
  const char* from = static_cast<const char*>(bytes);
  while (count > 0) {
    const ssize_t n = ::pwrite(file_, from, count, static_cast<off_t>(size_));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) fail(fmt::format("byte {} of the cache cannot be written", size_), errno);
    from += n;
    count -= static_cast<std::size_t>(n);
    size_ += static_cast<std::size_t>(n);
  }
}

void ScratchFile::reserve(std::size_t count) {
#if defined(__linux__)
  const int code = ::posix_fallocate(file_, 0, static_cast<off_t>(count));
#else
  const int code = ::ftruncate(file_, static_cast<off_t>(count)) == 0 ? 0 : errno;
#endif
  if (code != 0) fail(fmt::format("there is no room for {} bytes", count), code);
  size_ = count;
}

void* ScratchFile::map() const {
  if (size_ == 0) return nullptr;
  void* const memory = ::mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_SHARED, file_, 0);
  if (memory == MAP_FAILED) fail(fmt::format("{} bytes cannot be mapped", size_), errno);
  return memory;
}

namespace {

/// Where large vectors are kept; null: in memory. Set before threads start.
std::string& large_folder() {
  static std::string folder;
  return folder;
}

constexpr std::size_t page = std::size_t{1} << 21U;
std::size_t whole_pages(std::size_t bytes) { return (bytes + page - 1) / page * page; }

}  // namespace

void keep_large_vectors_in(const std::string& folder) {
  if (!folder.empty()) ScratchFile(folder).reserve(page);
  large_folder() = folder;
}

namespace detail {

void* map_large(std::size_t bytes) {
  const std::size_t wanted = whole_pages(bytes);
  if (!large_folder().empty()) {
    ScratchFile file(large_folder());
    file.reserve(wanted);
    return file.map();
  }
  // Maps one page more and unmaps the excess on both sides.
  void* all =
      mmap(nullptr, wanted + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (all == MAP_FAILED) throw std::bad_alloc();
  auto* const begin = static_cast<char*>(all);
  const std::size_t before = (page - reinterpret_cast<std::uintptr_t>(all) % page) % page;
  if (before > 0) static_cast<void>(munmap(begin, before));
  if (before < page) static_cast<void>(munmap(begin + before + wanted, page - before));
#if defined(__linux__)
  // Only advice: failure affects nothing but speed.
  static_cast<void>(madvise(begin + before, wanted, MADV_HUGEPAGE));
#endif
  return begin + before;
}

void unmap_large(void* memory, std::size_t bytes) {
  static_cast<void>(munmap(memory, whole_pages(bytes)));
}

}  // namespace detail
}  // namespace covshift
