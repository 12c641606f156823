// engine/: fits to rows that several holders have: ranks of MPI, parts on Dask workers. Every
// holder runs the same program on its part, and meets the others in a Reducer.
#pragma once

#include <exception>
#include <functional>
#include <string>

#include "covshift/base/reduce.hpp"

namespace covshift {

/// Work that only this holder does, which may fail: then all holders throw the first one's error.
/// A meeting of all holders.
void agree(const Reducer& reducer, const std::function<void()>& work);

/// What `work` says at the first holder, for all; its error likewise. A meeting of all holders.
std::string from_first(const Reducer& reducer, const std::function<std::string()>& work);

/// How one holder tells others of an error, and how they throw it. Not for an empty text.
std::string error_text(const std::exception& error);
[[noreturn]] void throw_error(const std::string& text, const std::string& where = {});

}  // namespace covshift
