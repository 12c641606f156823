#include "covshift/base/file.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <vector>

#include "covshift/base/error.hpp"

namespace covshift {
namespace {

/// Begins the name of each temporary file, before six other characters: hidden, and unlike what
/// anybody would call a file.
constexpr std::string_view draft_mark = ".covshift-draft-";
constexpr std::string_view draft_end = "XXXXXX";  // for mkstemp
constexpr mode_t draft_mode = 0600;               // mkstemp's

[[noreturn]] void fail_write(const std::string& path, const std::string& why) {
  fail_file("cannot write {}: {}; nothing was written", path, why);
}

/// The number of the open file that an entry of /dev/fd (on Linux also of /proc/self/fd) stands
/// for.
std::optional<int> descriptor_of(const std::filesystem::path& path) {
  std::error_code failed;
  if (!std::filesystem::equivalent(path.parent_path(), "/dev/fd", failed)) return std::nullopt;
  const std::string name = path.filename().string();
  int number = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  const bool whole = error == std::errc() && end == name.data() + name.size();
  return whole ? std::optional(number) : std::nullopt;
}

/// The target of a link, also of a dangling one; another path itself. Open files, such as
/// /dev/stdout, are not followed to the file they write to. `failed` for a loop.
std::string followed(std::string path, std::error_code& failed) {
  for (int links = 0; !descriptor_of(path) && std::filesystem::is_symlink(path, failed); ++links) {
    constexpr int most_links = 40;  // as Linux has it
    const std::filesystem::path next = std::filesystem::read_symlink(path, failed);
    if (links == most_links) failed = make_error_code(std::errc::too_many_symbolic_link_levels);
    if (failed) return path;
    path = (std::filesystem::path(path).parent_path() / next).string();
  }
  failed.clear();  // there need not be such a file
  return path;
}

/// True if an open file is a draft that nobody has made something else of or is writing.
bool is_abandoned(int file) {
  struct stat status {};
  return ::fstat(file, &status) == 0 && S_ISREG(status.st_mode) && status.st_uid == ::geteuid() &&
         status.st_nlink == 1 && (status.st_mode & 07777U) == draft_mode &&
         ::flock(file, LOCK_EX | LOCK_NB) == 0;
}

/// Removes the temporary files that killed runs left in a folder.
void remove_abandoned(const std::filesystem::path& folder) {
  std::error_code failed;
  auto entry = std::filesystem::directory_iterator(folder.empty() ? "." : folder, failed);
  for (; !failed && entry != std::filesystem::directory_iterator(); entry.increment(failed)) {
    const std::string name = entry->path().filename().string();
    if (!name.starts_with(draft_mark) || name.size() != draft_mark.size() + draft_end.size()) {
      continue;
    }
    const int file = ::open(entry->path().c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (file < 0) continue;
    if (is_abandoned(file)) ::unlink(entry->path().c_str());
    ::close(file);
  }
}

/// A temporary file that is removed unless it was put in place.
class Draft {
 public:
  explicit Draft(const std::string& path) : target_(path) {
    std::error_code failed;
    const auto status = std::filesystem::status(path, failed);
    if (std::filesystem::is_directory(status)) fail("it is a directory");
    const std::string target = followed(path, failed);
    if (failed) fail(failed.message());
    const bool exists = std::filesystem::exists(status);
    const std::optional<int> open = descriptor_of(target);
    if (!open) target_ = target;  // rename onto the target of a link, not onto the link
    in_place_ = open || (exists && !std::filesystem::is_regular_file(status));
    if (open) {  // at its place in the file, whatever it is, and behind what is in it
      file_ = ::fcntl(*open, F_DUPFD_CLOEXEC, 0);
    } else if (in_place_) {  // pipes and devices cannot be replaced
      file_ = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
    } else {
      remove_abandoned(std::filesystem::path(target_).parent_path());
      create();
      const mode_t mask = ::umask(0);
      ::umask(mask);
      mode_ = exists ? static_cast<mode_t>(status.permissions()) & 07777U : 0666U & ~mask;
    }
    if (file_ < 0) fail(std::strerror(errno));
  }
  ~Draft() {
    if (file_ >= 0) ::close(file_);
    if (!done_ && !in_place_ && file_ >= 0) ::unlink(name_.c_str());
  }
  Draft(const Draft&) = delete;
  Draft& operator=(const Draft&) = delete;

  void write(std::string_view content) {
    while (!content.empty()) {
      const ssize_t n = ::write(file_, content.data(), content.size());
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) fail(std::strerror(errno));
      content.remove_prefix(static_cast<std::size_t>(n));
    }
  }

  void flush() {
    if (in_place_) return;
    if (::fsync(file_) != 0) fail(std::strerror(errno));
  }

  void put_in_place() {
    // Until now its mode says that it is a draft.
    if (!in_place_ &&
        (::fchmod(file_, mode_) != 0 || ::rename(name_.c_str(), target_.c_str()) != 0)) {
      fail(std::strerror(errno));
    }
    done_ = true;
  }

 private:
  /// A new file, locked for as long as this run lives.
  void create() {
    struct stat status {};
    do {
      if (file_ >= 0) ::close(file_);  // another run took it for abandoned before it was locked
      const std::string own = std::string(draft_mark) + std::string(draft_end);
      name_ = (std::filesystem::path(target_).parent_path() / own).string();
      file_ = ::mkstemp(name_.data());
      if (file_ < 0) return;
      static_cast<void>(::flock(file_, LOCK_EX | LOCK_NB));
    } while (::fstat(file_, &status) == 0 && status.st_nlink == 0);
  }

  [[noreturn]] void fail(const std::string& why) const { fail_write(target_, why); }

  std::string target_;
  std::string name_;
  int file_ = -1;
  mode_t mode_ = 0;
  bool in_place_ = false;
  bool done_ = false;
};

}  // namespace

void write_whole(const std::string& path, std::string_view content) {
  Draft draft(path);
  draft.write(content);
  draft.flush();
  draft.put_in_place();
}

void write_whole(std::span<const FileContent> files) {
  std::vector<std::unique_ptr<Draft>> drafts;
  for (const FileContent& file : files) {
    drafts.push_back(std::make_unique<Draft>(file.path));
    drafts.back()->write(file.content);
    drafts.back()->flush();
  }
  for (const auto& draft : drafts) draft->put_in_place();
}

void check_writable(const std::string& path) {
  std::error_code failed;
  const auto status = std::filesystem::status(path, failed);
  if (std::filesystem::is_directory(status)) fail_write(path, "it is a directory");
  std::error_code loop;
  const std::string target = followed(path, loop);
  if (const std::optional<int> open = descriptor_of(target)) {
    const int flags = ::fcntl(*open, F_GETFL);
    if (flags < 0) fail_write(path, std::strerror(errno));
    if ((flags & O_ACCMODE) == O_RDONLY) fail_write(path, "it is open for reading only");
    return;
  }
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) {
    if (::access(path.c_str(), W_OK) != 0) fail_write(path, std::strerror(errno));
    return;
  }
  if (loop) fail_write(path, loop.message());
  const std::filesystem::path parent = std::filesystem::path(target).parent_path();
  const std::string folder = parent.empty() ? std::string(".") : parent.string();
  if (!std::filesystem::is_directory(folder, failed)) {
    fail_file("{}: there is no folder {}; make it first", path, folder);
  }
  if (::access(folder.c_str(), W_OK | X_OK) != 0) {
    fail_file("{}: nothing can be written to the folder {}: {}", path, folder,
              std::strerror(errno));
  }
}

bool same_place(const std::string& one, const std::string& other) {
  if (same_file(one, other)) return true;
  const auto place = [](const std::string& path) {
    std::error_code failed;
    const std::string target = followed(path, failed);
    const std::filesystem::path whole = std::filesystem::absolute(target, failed);
    const std::filesystem::path clean = std::filesystem::weakly_canonical(whole, failed);
    return clean.empty() ? whole.lexically_normal() : clean;
  };
  return place(one) == place(other);
}

bool same_file(const std::string& one, const std::string& other) {
  // std::filesystem::equivalent compares no pipes, but standard output may be one.
  struct stat a {};
  struct stat b {};
  return ::stat(one.c_str(), &a) == 0 && ::stat(other.c_str(), &b) == 0 && a.st_dev == b.st_dev &&
         a.st_ino == b.st_ino;
}

void check_readable(const std::string& path) {
  std::error_code failed;
  const auto status = std::filesystem::status(path, failed);
  if (failed == std::errc::too_many_symbolic_link_levels) {
    fail_file("{}: this is a link that leads back to itself; name a file", path);
  }
  if (!std::filesystem::exists(status)) {
    fail_file("{}: there is no such file; check the path", path);
  }
  if (std::filesystem::is_directory(status)) {
    fail_file("{}: this is a directory; name a file in it", path);
  }
}

std::string read_whole(const std::string& path) {
  check_readable(path);
  std::ifstream in(path, std::ios::binary);
  if (!in) fail_file("{}: cannot be opened: {}", path, std::strerror(errno));
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace covshift
