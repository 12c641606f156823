#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "cli/commands.hpp"
#include "cli/output.hpp"
#include "covshift/export/graph.hpp"
#include "covshift/export/onnx.hpp"

namespace covshift::cli {
namespace {

void run_export(const std::string& path, const std::string& output, const Common& common) {
  check_model(path);
  refuse_overwriting(output, {path});
  check_output(output, common);
  const std::string file = to_onnx(Model::load(path));
  write_output(output, file);
  if (is_stdout(output)) return;
  if (common.json) {
    print_json({{"output", output},
                {"format", "onnx"},
                {"bytes", file.size()},
                {"opset", onnx_opset},
                {"ir_version", onnx_ir_version}});
  } else if (!common.quiet) {
    fmt::print("{} bytes written to {}: ONNX, operator set {}, IR version {}\n", file.size(),
               printable(output), onnx_opset, onnx_ir_version);
  }
}

}  // namespace

void add_export(CLI::App& app, Common& common) {
  struct Flags {
    std::string model, output;
  };
  auto flags = std::make_shared<Flags>();
  add_command(app, common, "export", "Export a model to ONNX",
              Options{required(text({"MODEL"}, flags->model, "FILE", "Model file written by fit")),
                      required(output_file(flags->output, "ONNX file to write (-: stdout)"))})
      .callback([flags, &common] { run_export(flags->model, flags->output, common); });
}

}  // namespace covshift::cli
