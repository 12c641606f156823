// engine/: fits to rows that several holders have: ranks of MPI, parts on Dask workers. Every
// holder runs the same program on its part, and meets the others in a Reducer.
#pragma once

#include <exception>
#include <functional>
#include <string>

#include "covshift/base/reduce.hpp"

namespace covshift {

/// Runs each holder's own work; if any of it fails, all holders throw the error of the first holder
/// that failed. All holders must call this.
void agree(const Reducer& reducer, const std::function<void()>& work);

/// Runs `work` at the first holder and gives its result, or its error, to all. All holders must
/// call this.
std::string from_first(const Reducer& reducer, const std::function<std::string()>& work);

/// How one holder tells others of an error, and how they throw it. Not for an empty text.
std::string error_text(const std::exception& error);
[[noreturn]] void throw_error(const std::string& text, const std::string& where = {});

}  // namespace covshift
