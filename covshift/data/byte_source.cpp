#include "covshift/data/byte_source.hpp"

#include <unistd.h>
#if defined(COVSHIFT_ZLIB)
#include <zlib.h>
#endif

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <limits>
#include <optional>
#include <string_view>
#include <system_error>
#include <vector>

#include "covshift/base/error.hpp"
#include "covshift/base/file.hpp"
#include "covshift/base/large_vector.hpp"

namespace covshift {

namespace {

constexpr std::string_view gzip_magic = "\x1f\x8b";
constexpr std::string_view standard_input = "-";
constexpr std::size_t packed_block = std::size_t{64} << 10U;

struct CloseFile {
  void operator()(std::FILE* file) const noexcept {
    // Nothing was written, so closing cannot lose data.
    static_cast<void>(std::fclose(file));
  }
};
using File = std::unique_ptr<std::FILE, CloseFile>;

std::string system_message(int code) { return std::generic_category().message(code); }

File open_file(const std::string& path) {
  if (path == standard_input) {
    File file(::fdopen(::dup(STDIN_FILENO), "rb"));
    if (!file) fail_file("stdin: cannot be read: {}", system_message(errno));
    return file;
  }
  check_readable(path);
  File file(std::fopen(path.c_str(), "rb"));
  if (!file) fail_file("{}: cannot be opened: {}", path, system_message(errno));
  // Reads are large: a buffer would only add a copy.
  static_cast<void>(std::setvbuf(file.get(), nullptr, _IONBF, 0));
  return file;
}

std::size_t read_file(std::FILE* file, const std::string& path, char* out, std::size_t count) {
  const std::size_t got = std::fread(out, 1, count, file);
  if (got < count && std::ferror(file) != 0) {
    fail_file("{}: cannot be read: {}", path, system_message(errno));
  }
  return got;
}

#if defined(COVSHIFT_ZLIB)
/// Unpacks the members of a gzip file one after another, as gzip does.
class Inflater {
 public:
  Inflater() {
    // 16 asks zlib for the gzip format, with its checksum.
    if (inflateInit2(&stream_, MAX_WBITS + 16) != Z_OK) fail_file("zlib cannot be started");
  }
  ~Inflater() { inflateEnd(&stream_); }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  void reset() {
    inflateReset(&stream_);
    stream_.avail_in = 0;
    between_members_ = false;
  }

  /// `refill(buffer, size)` reads packed bytes and returns their number, 0 at the end.
  template <typename Refill>
  std::size_t read(char* out, std::size_t count, const std::string& path, const Refill& refill) {
    std::size_t done = 0;
    while (done < count) {
      if (stream_.avail_in == 0) {
        input_.resize(packed_block);
        stream_.avail_in = static_cast<uInt>(refill(input_.data(), input_.size()));
        stream_.next_in = reinterpret_cast<Bytef*>(input_.data());
        if (stream_.avail_in == 0) {
          if (between_members_) break;
          fail_file("{}: the gzip file is truncated; download it again", path);
        }
      }
      if (between_members_ && !next_member(path)) continue;
      const std::size_t room =
          std::min<std::size_t>(count - done, std::numeric_limits<uInt>::max());
      stream_.next_out = reinterpret_cast<Bytef*>(out + done);
      stream_.avail_out = static_cast<uInt>(room);
      const int code = inflate(&stream_, Z_NO_FLUSH);
      done += room - stream_.avail_out;
      if (code == Z_STREAM_END) {
        between_members_ = true;
      } else if (code != Z_OK && code != Z_BUF_ERROR) {
        fail_file("{}: the gzip file is damaged ({}); download it again", path,
                  stream_.msg != nullptr ? stream_.msg : "unknown reason");
      }
    }
    return done;
  }

 private:
  /// A member is followed by another one or by padding zeros (some tape tools write them).
  bool next_member(const std::string& path) {
    while (stream_.avail_in > 0 && *stream_.next_in == 0) {
      ++stream_.next_in;
      --stream_.avail_in;
    }
    if (stream_.avail_in == 0) return false;
    if (*stream_.next_in != static_cast<Bytef>(gzip_magic[0])) {
      fail_file("{}: the gzip data is followed by other bytes; download the file again", path);
    }
    inflateReset(&stream_);
    between_members_ = false;
    return true;
  }

  z_stream stream_{};
  std::vector<char> input_;
  bool between_members_ = false;
};
#else
/// There is no zlib: a gzip file is refused.
class Inflater {
 public:
  Inflater() { fail_file("gzip files need zlib, which this build lacks; unpack the file first"); }
  void reset() {}
  template <typename Refill>
  std::size_t read(char* /*out*/, std::size_t /*count*/, const std::string& /*path*/,
                   const Refill& /*refill*/) {
    return 0;
  }
};
#endif

}  // namespace

struct ByteSource::State {
  File file;
  /// The stored file, if it cannot be read twice: large ones are kept where large vectors are.
  std::optional<std::vector<char, LargeAllocator<char>>> memory;
  std::size_t position = 0;         ///< in `memory`
  std::uint64_t left = UINT64_MAX;  ///< of a selected part
  std::unique_ptr<Inflater> inflater;
  std::uint64_t size = 0;
};

ByteSource::ByteSource(const std::string& path, Encoding encoding, bool text)
    : path_(path == standard_input ? "stdin" : path), state_(std::make_unique<State>()) {
  open(path);
  if (text) decode(encoding);
}

ByteSource::ByteSource(std::string name, std::string bytes, Encoding encoding)
    : path_(std::move(name)), state_(std::make_unique<State>()) {
  state_->memory.emplace(bytes.begin(), bytes.end());
  state_->size = bytes.size();
  begin(bytes.substr(0, gzip_magic.size()));
  decode(encoding);
}

/// Text in another encoding is translated as a whole: such files are few and small.
void ByteSource::decode(Encoding encoding) {
  std::string head;
  if (encoding == Encoding::detect) {
    read(head, 2);
    rewind();
    if (!has_utf16_mark(head)) return;
  }
  if (encoding == Encoding::utf8) return;
  std::string bytes;
  constexpr std::size_t block = std::size_t{1} << 20U;
  while (read(bytes, block) == block) {
  }
  State& s = *state_;
  s.inflater.reset();
  bytes = to_utf8(bytes, encoding, path_);
  s.memory.emplace(bytes.begin(), bytes.end());
  s.size = s.memory->size();
  rewind();
}

void ByteSource::open(const std::string& path) {
  State& s = *state_;
  s.file = open_file(path);
  std::error_code size_error;
  const auto size = std::filesystem::file_size(path, size_error);
  std::string head;
  if (std::fseek(s.file.get(), 0, SEEK_SET) != 0) {
    s.memory.emplace();
    std::size_t got = packed_block;
    while (got == packed_block) {
      const std::size_t before = s.memory->size();
      s.memory->resize(before + packed_block);
      got = read_file(s.file.get(), path_, s.memory->data() + before, packed_block);
      s.memory->resize(before + got);
    }
    head.assign(s.memory->data(), std::min(gzip_magic.size(), s.memory->size()));
  } else {
    head.resize(gzip_magic.size());
    head.resize(read_file(s.file.get(), path_, head.data(), head.size()));
  }
  if (!size_error) s.size = size;
  begin(head);
}

/// Unpacks or not, as the first bytes say.
void ByteSource::begin(const std::string& head) {
  State& s = *state_;
  if (head == gzip_magic) {
    s.inflater = std::make_unique<Inflater>();
    s.size = 0;  // of the packed bytes
  } else if (path_.ends_with(".gz")) {
    fail_file("{}: this is not a gzip file; drop the .gz from its name if it is plain text", path_);
  }
  rewind();
}

ByteSource::~ByteSource() = default;

bool ByteSource::divisible() const { return !state_->memory && !state_->inflater; }

void ByteSource::select(std::uint64_t begin, std::uint64_t end) {
  State& s = *state_;
  if (::fseeko(s.file.get(), static_cast<off_t>(begin), SEEK_SET) != 0) {
    fail_file("{}: byte {} cannot be read: {}", path_, begin, system_message(errno));
  }
  s.left = end - begin;
}

void ByteSource::rewind() {
  State& s = *state_;
  s.position = 0;
  s.left = UINT64_MAX;
  if (!s.memory && std::fseek(s.file.get(), 0, SEEK_SET) != 0) {
    fail_file("{}: cannot be read again from its start: {}", path_, system_message(errno));
  }
  if (s.inflater) s.inflater->reset();
}

std::uint64_t ByteSource::plain_size() const { return state_->size; }

std::size_t ByteSource::read(std::string& out, std::size_t count) {
  State& s = *state_;
  const auto stored = [&](char* to, std::size_t wanted) {
    if (!s.memory) {
      const auto part = static_cast<std::size_t>(std::min<std::uint64_t>(wanted, s.left));
      const std::size_t read = read_file(s.file.get(), path_, to, part);
      if (s.left != UINT64_MAX) s.left -= read;
      return read;
    }
    const std::size_t got = std::min(wanted, s.memory->size() - s.position);
    // Of an empty text (a mark of UTF-16 alone) there is no address to copy from.
    if (got > 0) std::memcpy(to, s.memory->data() + s.position, got);
    s.position += got;
    return got;
  };
  // Room for more than a plain file holds would be cleared for nothing.
  const std::uint64_t known = s.memory ? s.memory->size() : s.size;
  const std::size_t most =
      s.inflater || known == 0 ? count : std::min<std::uint64_t>(count, known + 1);
  const std::size_t before = out.size();
  std::size_t got = most;
  while (got == most && out.size() - before < count) {
    const std::size_t end = out.size();
    const std::size_t wanted = std::min(most, before + count - end);
    out.resize(end + wanted);
    char* const to = out.data() + end;
    got = s.inflater ? s.inflater->read(to, wanted, path_, stored) : stored(to, wanted);
    out.resize(end + got);
  }
  return out.size() - before;
}

}  // namespace covshift
