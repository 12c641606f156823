// A comparison together with the diagnosis of the same rows: what the program's and Python's
// `compare` show, with one answer.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "covshift/compare/compare.hpp"
#include "covshift/data/preparation.hpp"
#include "covshift/diagnose/diagnose.hpp"

namespace covshift {

struct DiagnosedComparison {
  Comparison comparison;
  /// Estimated with the options of the models; recommends what the comparison does.
  Diagnosis diagnosis;
};

/// `options`: its classes, map and what a diagnosis finds are filled in. `axes`: the two columns of
/// the map; empty: the numeric ones that matter most (they moved, and tell the classes apart).
/// Throws Error.
DiagnosedComparison diagnose_and_compare(const Preparation& preparation, const PreparedRows& train,
                                         const PreparedRows& target, const Truth* truth,
                                         CompareOptions options,
                                         const std::vector<std::string>& axes = {});

/// The one answer of terminal, page and --json: what was measured replaces what the diagnosis alone
/// would say. `command`: empty if there are no files.
void answer(const Comparison& c, std::string command, Diagnosis& d);

/// With the fit to use next, as the user writes it.
nlohmann::ordered_json to_json(const DiagnosedComparison& found, const std::string& command);

}  // namespace covshift
