// A graph of ONNX operators, written down as formulas of tensors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "covshift/export/protobuf.hpp"

namespace covshift {

/// What the files say of themselves. Operator set 19 is the first that compares texts; IR version 9
/// belongs to it. onnxruntime reads both since 1.15.
inline constexpr std::uint64_t onnx_opset = 19;
inline constexpr std::uint64_t onnx_ir_version = 9;

/// TensorProto.DataType.
enum class TensorType : std::uint8_t { integer = 7, text = 8, boolean = 9, number = 11 };

class Graph;

/// A tensor of a graph. Rows are those of the data; a number for each row is a single column.
struct Tensor {
  Graph* graph = nullptr;
  std::string name;
};

class Graph {
 public:
  /// Names that inputs and inner tensors leave to the outputs. Inputs come first.
  explicit Graph(std::set<std::string> outputs) : taken_(std::move(outputs)) {}
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  /// Rows of `columns` values. Where the name is taken or empty, underscores are appended.
  Tensor input(std::string name, TensorType type, std::size_t columns);
  /// `columns` 0: a vector, else rows.
  void output(const Tensor& x, const std::string& name, TensorType type, std::size_t columns);

  /// Constants: a matrix row by row, a scalar, vectors, a row of texts.
  Tensor numbers(const std::vector<double>& values, std::size_t rows = 1);
  Tensor number(double value);
  Tensor integers(const std::vector<std::int64_t>& values);
  Tensor texts(const std::vector<std::string>& values);
  Tensor row_of_texts(const std::vector<std::string>& values);

  using Attributes = std::vector<std::pair<std::string, std::int64_t>>;
  Tensor node(const std::string& op, const std::vector<Tensor>& inputs,
              const Attributes& attributes = {}, std::size_t outputs = 1);

  /// The file: a ModelProto with these names and values as its metadata. Throws Error if it is
  /// longer than protocol buffers may be.
  [[nodiscard]] std::string file(
      const std::vector<std::pair<std::string, std::string>>& metadata) const;

 private:
  std::string new_name();
  /// `texts` or the bytes of `numbers`.
  Tensor constant(TensorType type, const std::vector<std::size_t>& dims,
                  const std::vector<std::string>& texts, const std::string& numbers);

  std::set<std::string> taken_;
  std::size_t count_ = 0;
  std::map<std::string, Tensor> constants_;          ///< small ones, by their bytes
  Message nodes_, initializers_, inputs_, outputs_;  ///< fields of a GraphProto
};

// Operators, with ONNX's broadcasting. A number is a scalar of the same graph.
Tensor operator+(const Tensor& a, const Tensor& b);
Tensor operator-(const Tensor& a, const Tensor& b);
Tensor operator*(const Tensor& a, const Tensor& b);
Tensor operator/(const Tensor& a, const Tensor& b);
Tensor operator+(const Tensor& a, double b);
Tensor operator-(const Tensor& a, double b);
Tensor operator*(const Tensor& a, double b);
Tensor operator/(const Tensor& a, double b);
Tensor operator-(double a, const Tensor& b);
Tensor operator-(const Tensor& a);

Tensor apply(const char* op, const Tensor& x);  ///< Exp, Log, Cos, Floor, Abs
Tensor clip(const Tensor& x, double low, double high);
Tensor at_least(const Tensor& x, double low);
Tensor at_most(const Tensor& x, double high);
/// x >= y, as 1 and 0.
Tensor reaches(const Tensor& x, double y);
/// Text or integers that are the same, as 1 and 0.
Tensor same(const Tensor& a, const Tensor& b);
Tensor is_nan(const Tensor& x);  ///< boolean
/// Where rows have a number that is not finite; boolean, a column.
Tensor not_finite(const Tensor& x);
Tensor as_number(const Tensor& x);   ///< of a boolean
Tensor as_boolean(const Tensor& x);  ///< of a number
Tensor where(const Tensor& condition, const Tensor& yes, const Tensor& no);
Tensor times(const Tensor& a, const Tensor& b);  ///< matrices
/// ReduceMax, ReduceMin, ReduceSum of each row.
Tensor over_row(const char* op, const Tensor& x);
Tensor columns_of(const Tensor& x, const std::vector<std::int64_t>& columns);
Tensor beside(const std::vector<Tensor>& parts);
/// A column as a vector.
Tensor flat(const Tensor& x);

}  // namespace covshift
