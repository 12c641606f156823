// playground/: the library behind a page in a browser. The page (index.html, page.js) sends
// requests as JSON text; this answers them. Nothing here knows about the browser, so tests call it
// natively.
#pragma once

#include <string>

namespace covshift::playground {

/// The answer to a request, both JSON objects as text. `do` says what is asked:
///   presets  the figures of the paper: {"presets": [{name, title, panels: [...]}]}
///   draw     points from two Gaussians, as CSV: example, seed, known (with the true density ratio
///            as a column), generalization (with log P_gen/P_target) -> {train, target}
///   table    the columns of a file: name, text -> {rows, columns: [{name, numeric, low, high}],
///   notes} fit      what `covshift fit` and `covshift evaluate` would say: train, target ({name,
///   text}),
///            label, x, y (columns), options (flags of `covshift fit` by name), promise, cells,
///            area
///            -> {report, scores, classes, train, target, map, warnings}
/// Errors are {"error": message}.
std::string answer(const std::string& request);

}  // namespace covshift::playground
