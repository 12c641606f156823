#include "covshift/engine/agree.hpp"

#include "covshift/base/error.hpp"

namespace covshift {
namespace {

constexpr char good = '.';

}  // namespace

std::string error_text(const std::exception& error) {
  const auto* own = dynamic_cast<const Error*>(&error);
  const auto kind = own != nullptr ? static_cast<int>(own->kind()) : 9;
  return fmt::format("{}{}", kind, error.what());
}

void throw_error(const std::string& text, const std::string& where) {
  const int kind = text.front() - '0';
  const std::string message = where + text.substr(1);
  if (kind == 9) throw std::runtime_error(message);
  throw Error(static_cast<Error::Kind>(kind), message);
}

void agree(const Reducer& reducer, const std::function<void()>& work) {
  std::string failure;
  try {
    work();
  } catch (const std::exception& error) {
    failure = error_text(error);
  }
  const std::vector<std::string> all = reducer.gather(std::move(failure));
  for (std::size_t h = 0; h < all.size(); ++h) {
    if (all[h].empty()) continue;
    throw_error(all[h], all.size() > 1 ? fmt::format("part {} of {}: ", h + 1, all.size()) : "");
  }
}

std::string from_first(const Reducer& reducer, const std::function<std::string()>& work) {
  std::string own;
  if (reducer.holder() == 0) {
    try {
      own = good + work();
    } catch (const std::exception& error) {
      own = error_text(error);
    }
  }
  std::string said = reducer.gather(std::move(own)).front();
  if (said.front() != good) throw_error(said);
  return said.substr(1);
}

}  // namespace covshift
