// The table of options. Names, values and descriptions are in options.cpp; defaults are those of
// the structures that the rows are bound to.
#pragma once

#include "covshift/compare/compare.hpp"
#include "covshift/data/read_table.hpp"
#include "covshift/data/stream.hpp"
#include "covshift/diagnose/diagnose.hpp"
#include "covshift/model/model.hpp"
#include "covshift/options/option.hpp"
#include "covshift/promise/estimate.hpp"
#include "covshift/shift/sampling.hpp"

namespace covshift {

// Rows shared by several commands.
/// `otherwise`: what happens if none are given.
Option views_option(std::string& x, const std::string& otherwise = "");
Option features_option(std::string& x);
Option view_threshold_option(double& x);
Option ratio_option(RatioMethod& x);
Option ratio_lambda_option(RatioLambda& x);
Option scale_option(ScaleKind& x);
Option lambdas_option(std::vector<double>& x);
Option folds_option(int& x);
Option threads_option(int& x);
template <typename Int>
Option seed_option(Int& x) {
  return whole({"--seed", "random_state"}, x, allowed::at_least_0,
               "Random seed for folds and sampling");
}

/// How text files are read.
Options file_options(ReadOptions& o);
/// Files larger than memory.
Options memory_options(MemoryOptions& o);
/// How to read the columns of the training data.
Options column_options(ColumnOptions& o);

/// `fit`, and RobustClassifier.
Options model_options(ModelOptions& o);
/// No views are given.
PreparationOptions for_comparison();
/// A view for each column, every value as it is.
PreparationOptions for_diagnosis();
/// `diagnose`, in the program and in Python.
Options diagnose_options(DiagnoseOptions& o, PreparationOptions& inputs);
/// `compare`, in the program and in Python.
Options compare_options(CompareOptions& o, PreparationOptions& inputs);
/// `estimate`, in the program and in Python.
Options estimate_options(EstimateOptions& o);
/// `sample`, and biased_sample.
Options sampling_options(BiasedSampling& o);
/// Python's estimator for this ratio.
Options ratio_options(RatioMethod method, RatioOptions& o);

/// The tables of the Python package by class or function, with its defaults.
std::vector<std::pair<std::string, Options>> python_options();

}  // namespace covshift
