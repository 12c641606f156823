#include "covshift/export/graph.hpp"

#include <bit>
#include <cstring>
#include <limits>

#include "covshift/base/error.hpp"
#include "covshift/base/version.hpp"

namespace covshift {
namespace {

// Numbers of the fields in onnx.proto.
namespace model_field {
enum : std::uint32_t {
  ir_version = 1,
  producer_name = 2,
  producer_version = 3,
  graph = 7,
  opset_import = 8,
  metadata = 14
};
}
namespace graph_field {
enum : std::uint32_t { node = 1, name = 2, initializer = 5, input = 11, output = 12 };
}
namespace node_field {
enum : std::uint32_t { input = 1, output = 2, op_type = 4, attribute = 5 };
}
namespace tensor_field {
enum : std::uint32_t { dims = 1, data_type = 2, string_data = 6, name = 8, raw_data = 9 };
}
constexpr std::uint64_t attribute_int = 2;  // AttributeProto.AttributeType

std::uint64_t code(TensorType type) { return static_cast<std::uint64_t>(type); }

/// Little endian, as the standard wants it.
template <typename T>
std::string raw(const std::vector<T>& values) {
  static_assert(std::endian::native == std::endian::little, "bytes would have to be reversed");
  std::string bytes(values.size() * sizeof(T), '\0');
  if (!values.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

/// ValueInfoProto: rows of any number.
Message value_info(const std::string& name, TensorType type, std::size_t columns) {
  Message shape;
  shape.message(1, Message().text(2, "rows"));
  if (columns > 0) shape.message(1, Message().number(1, columns));
  Message tensor;
  tensor.number(1, code(type)).message(2, shape);
  return Message().text(1, name).message(2, Message().message(1, tensor));
}

}  // namespace

std::string Graph::new_name() {
  std::string name;
  do {
    name = fmt::format("t{}", ++count_);
  } while (!taken_.insert(name).second);
  return name;
}

Tensor Graph::input(std::string name, TensorType type, std::size_t columns) {
  while (name.empty() || !taken_.insert(name).second) name.push_back('_');
  inputs_.message(graph_field::input, value_info(name, type, columns));
  return {this, std::move(name)};
}

void Graph::output(const Tensor& x, const std::string& name, TensorType type, std::size_t columns) {
  Message node;
  node.text(node_field::input, x.name).text(node_field::output, name);
  nodes_.message(graph_field::node, node.text(node_field::op_type, "Identity"));
  outputs_.message(graph_field::output, value_info(name, type, columns));
}

Tensor Graph::constant(TensorType type, const std::vector<std::size_t>& dims,
                       const std::vector<std::string>& texts, const std::string& numbers) {
  Message tensor;
  for (const std::size_t n : dims) tensor.number(tensor_field::dims, n);
  tensor.number(tensor_field::data_type, code(type));
  for (const std::string& text : texts) tensor.text(tensor_field::string_data, text);
  constexpr std::size_t small = 100;  // bytes
  const bool shared = tensor.bytes().size() + numbers.size() < small;
  const std::string content = shared ? tensor.bytes() + numbers : std::string();
  if (const auto known = constants_.find(content); known != constants_.end()) return known->second;
  Tensor own{this, new_name()};
  if (shared) constants_.emplace(content, own);
  tensor.text(tensor_field::name, own.name);
  if (type != TensorType::text) tensor.text(tensor_field::raw_data, numbers);
  initializers_.message(graph_field::initializer, tensor);
  return own;
}

Tensor Graph::numbers(const std::vector<double>& values, std::size_t rows) {
  return constant(TensorType::number, {rows, values.size() / rows}, {}, raw(values));
}
Tensor Graph::number(double value) {
  return constant(TensorType::number, {}, {}, raw<double>({value}));
}
Tensor Graph::integers(const std::vector<std::int64_t>& values) {
  return constant(TensorType::integer, {values.size()}, {}, raw(values));
}
Tensor Graph::texts(const std::vector<std::string>& values) {
  return constant(TensorType::text, {values.size()}, values, {});
}
Tensor Graph::row_of_texts(const std::vector<std::string>& values) {
  return constant(TensorType::text, {1, values.size()}, values, {});
}

Tensor Graph::node(const std::string& op, const std::vector<Tensor>& inputs,
                   const Attributes& attributes, std::size_t outputs) {
  Message node;
  for (const Tensor& x : inputs) node.text(node_field::input, x.name);
  Tensor first{this, new_name()};
  node.text(node_field::output, first.name);
  for (std::size_t k = 1; k < outputs; ++k) node.text(node_field::output, new_name());
  node.text(node_field::op_type, op);
  for (const auto& [name, value] : attributes) {
    Message attribute;
    attribute.text(1, name).number(3, static_cast<std::uint64_t>(value));
    node.message(node_field::attribute, attribute.number(20, attribute_int));
  }
  nodes_.message(graph_field::node, node);
  return first;
}

std::string Graph::file(const std::vector<std::pair<std::string, std::string>>& metadata) const {
  // Protocol buffers have no order of fields; readers of ONNX want the nodes sorted, as they are.
  const Message name = Message().text(graph_field::name, "covshift");
  std::string graph;
  for (const Message* part : {&nodes_, &name, &initializers_, &inputs_, &outputs_}) {
    graph.append(part->bytes());
  }
  if (graph.size() > std::numeric_limits<std::int32_t>::max()) {
    fail_input("the model would take {} bytes in ONNX, which cannot hold more than 2 GiB",
               graph.size());
  }
  Message model;
  model.number(model_field::ir_version, onnx_ir_version)
      .text(model_field::producer_name, "covshift")
      .text(model_field::producer_version, version())
      .text(model_field::graph, graph)
      .message(model_field::opset_import, Message().text(1, "").number(2, onnx_opset));
  for (const auto& [key, value] : metadata) {
    model.message(model_field::metadata, Message().text(1, key).text(2, value));
  }
  return model.bytes();
}

namespace {

Tensor binary(const char* op, const Tensor& a, const Tensor& b) {
  return a.graph->node(op, {a, b});
}

}  // namespace

Tensor operator+(const Tensor& a, const Tensor& b) { return binary("Add", a, b); }
Tensor operator-(const Tensor& a, const Tensor& b) { return binary("Sub", a, b); }
Tensor operator*(const Tensor& a, const Tensor& b) { return binary("Mul", a, b); }
Tensor operator/(const Tensor& a, const Tensor& b) { return binary("Div", a, b); }
Tensor operator+(const Tensor& a, double b) { return a + a.graph->number(b); }
Tensor operator-(const Tensor& a, double b) { return a - a.graph->number(b); }
Tensor operator*(const Tensor& a, double b) { return a * a.graph->number(b); }
Tensor operator/(const Tensor& a, double b) { return a / a.graph->number(b); }
Tensor operator-(double a, const Tensor& b) { return b.graph->number(a) - b; }
Tensor operator-(const Tensor& a) { return a.graph->node("Neg", {a}); }

Tensor apply(const char* op, const Tensor& x) { return x.graph->node(op, {x}); }
Tensor clip(const Tensor& x, double low, double high) {
  return x.graph->node("Clip", {x, x.graph->number(low), x.graph->number(high)});
}
Tensor at_least(const Tensor& x, double low) { return binary("Max", x, x.graph->number(low)); }
Tensor at_most(const Tensor& x, double high) { return binary("Min", x, x.graph->number(high)); }
Tensor reaches(const Tensor& x, double y) {
  return as_number(binary("GreaterOrEqual", x, x.graph->number(y)));
}
Tensor same(const Tensor& a, const Tensor& b) { return as_number(binary("Equal", a, b)); }
Tensor is_nan(const Tensor& x) { return apply("IsNaN", x); }
Tensor not_finite(const Tensor& x) { return is_nan(over_row("ReduceSum", x * 0.0)); }
Tensor as_number(const Tensor& x) {
  return x.graph->node("Cast", {x}, {{"to", static_cast<std::int64_t>(TensorType::number)}});
}
Tensor as_boolean(const Tensor& x) {
  return x.graph->node("Cast", {x}, {{"to", static_cast<std::int64_t>(TensorType::boolean)}});
}
Tensor where(const Tensor& condition, const Tensor& yes, const Tensor& no) {
  return condition.graph->node("Where", {condition, yes, no});
}
Tensor times(const Tensor& a, const Tensor& b) { return binary("MatMul", a, b); }
Tensor over_row(const char* op, const Tensor& x) {
  return x.graph->node(op, {x, x.graph->integers({1})}, {{"keepdims", 1}});
}
Tensor columns_of(const Tensor& x, const std::vector<std::int64_t>& columns) {
  return x.graph->node("Gather", {x, x.graph->integers(columns)}, {{"axis", 1}});
}
Tensor beside(const std::vector<Tensor>& parts) {
  return parts.size() == 1 ? parts.front()
                           : parts.front().graph->node("Concat", parts, {{"axis", 1}});
}
Tensor flat(const Tensor& x) { return x.graph->node("Squeeze", {x, x.graph->integers({1})}); }

}  // namespace covshift
