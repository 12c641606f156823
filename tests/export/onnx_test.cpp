#include "covshift/export/onnx.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "covshift/base/error.hpp"
#include "covshift/base/random.hpp"
#include "covshift/base/version.hpp"
#include "covshift/export/graph.hpp"
#include "covshift/export/protobuf.hpp"
#include "covshift/model/envelope.hpp"

namespace covshift {
namespace {

std::string hex(std::string_view bytes) {
  std::string text;
  for (const char c : bytes) text += fmt::format("{:02x}", static_cast<unsigned char>(c));
  return text;
}

/// The examples of the encoding's documentation, and the edges of a byte.
TEST(Protobuf, EncodesAsItsDocumentationSays) {
  EXPECT_EQ(hex(Message().number(1, 150).bytes()), "089601");
  EXPECT_EQ(hex(Message().text(2, "testing").bytes()), "120774657374696e67");
  EXPECT_EQ(hex(Message().message(3, Message().number(1, 150)).bytes()), "1a03089601");
  EXPECT_EQ(hex(Message().number(1, 0).number(1, 127).number(1, 128).bytes()), "0800087f088001");
  EXPECT_EQ(hex(Message().number(20, 2).bytes()), "a00102");  // a key of two bytes
  EXPECT_EQ(hex(Message().number(3, static_cast<std::uint64_t>(-1)).bytes()),
            "18ffffffffffffffffff01");
  EXPECT_EQ(hex(Message().text(1, std::string(300, 'x')).bytes()).substr(0, 6), "0aac02");
}

/// y = softmax(X + 1), as the onnx package itself writes it.
TEST(OnnxGraph, HasTheBytesOfTheStandard) {
  Graph g({"y"});
  const Tensor x = g.input("X", TensorType::number, 2);
  g.output(g.node("Softmax", {x + 1.0}, {{"axis", -1}}), "y", TensorType::number, 2);
  const std::string graph =
      "0a100a01580a0274311202743222034164640a270a0274321202743322"
      "07536f66746d61782a140a046178697318ffffffffffffffffff01a00102"
      "0a110a0274331201792208"
      "4964656e74697479"
      "1208636f767368696674"
      "2a10100b420274314a08000000000000f03f"
      "5a170a01581212"
      "0a10080b120c0a061204726f77730a020802"
      "62170a01791212"
      "0a10080b120c0a061204726f77730a020802";
  const std::string version_field = hex(Message().text(3, version()).bytes());
  EXPECT_EQ(hex(g.file({{"classes", "[]"}})), "08091208636f767368696674" + version_field +
                                                  "3a9c01" + graph + "42040a001013" +
                                                  "720d0a07636c617373657312025b5d");
}

TEST(OnnxGraph, NamesOfInputsAreLeftAloneUnlessTaken) {
  Graph g({"label"});
  EXPECT_EQ(g.input("age in years", TensorType::number, 1).name, "age in years");
  EXPECT_EQ(g.input("label", TensorType::number, 1).name, "label_");
  EXPECT_EQ(g.input("label_", TensorType::number, 1).name, "label__");
  EXPECT_EQ(g.input("", TensorType::number, 1).name, "_");
  const Tensor t1 = g.input("t1", TensorType::number, 1);
  EXPECT_EQ((t1 + 2.0).name, "t3");  // t2 is the number
  EXPECT_EQ((t1 * 2.0).name, "t4");  // stored once
}

constexpr FileFormat format{"covshift model", "model", 2};

std::filesystem::path golden() {
  return std::filesystem::path(__FILE__).parent_path().parent_path() / "model" / "golden";
}

TEST(OnnxFile, EveryGoldenModelIsExported) {
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(golden())) {
    if (entry.path().extension() != ".json") continue;
    ++files;
    const Model model = Model::load(entry.path());
    const std::string file = to_onnx(model);
    EXPECT_EQ(hex(file.substr(0, 12)), "08091208636f767368696674") << entry.path();
    EXPECT_EQ(file, to_onnx(Model::from_text(model.to_text(), "again")));
  }
  EXPECT_GE(files, 13);
}

/// A file that can be read is exported or refused in words, whatever its numbers are: single ones
/// are replaced by others.
TEST(OnnxFile, NoReadableModelEndsTheProgram) {
  const std::vector<nlohmann::json> others = {0, 1, 7, 1e308, -1e-308, true, "given", nullptr};
  Random random(1);
  std::size_t read = 0;
  for (const auto& entry : std::filesystem::directory_iterator(golden())) {
    if (entry.path().extension() != ".json") continue;
    const Model model = Model::load(entry.path());
    nlohmann::json body = model.preparation().to_json();
    body["classifier"] = model.classifier().to_json();
    const nlohmann::json flat = body.flatten();
    std::vector<std::string> keys;
    for (const auto& [key, value] : flat.items()) keys.push_back(key);
    for (int change = 0; change < 60; ++change) {
      nlohmann::json changed = flat;
      changed[keys[random.below(keys.size())]] = others[random.below(others.size())];
      try {
        const Model own = Model::from_text(seal(format, changed.unflatten()), "changed");
        ++read;
        EXPECT_FALSE(to_onnx(own).empty());
      } catch (const Error& e) {
        EXPECT_GT(std::string_view(e.what()).size(), 10U);
      }
    }
  }
  EXPECT_GT(read, 200U);
}

std::string refusal(const std::string& loss, int classes) {
  Random random(3);
  std::vector<double> x;
  std::vector<int> y;
  for (int i = 0; i < 30; ++i) {
    x.push_back(random.normal());
    y.push_back(i % classes);
  }
  Input train(MatrixView::dense(x.data(), x.size(), 1));
  train.labels = y;
  ModelOptions options;
  for (int c = 0; c < classes; ++c) options.classes.push_back(std::to_string(c));
  options.fit.method = "lr";
  options.fit.lambda = LambdaChoice::parse("0.1");
  options.fit.promise = false;
  if (loss == "cost") {
    options.fit.costs = CostMatrix{classes, classes, std::vector<double>(classes * classes, 1.0)};
    for (int c = 0; c < classes; ++c) options.fit.costs->cost[c * (classes + 1)] = 0;
  } else {
    options.fit.loss = loss;
  }
  try {
    return to_onnx(Model::fit(train, nullptr, options)).empty() ? "empty" : "";
  } catch (const Error& e) {
    return e.what();
  }
}

TEST(OnnxFile, WhatHasNoClosedFormSaysSo) {
  for (const char* loss : {"log", "zero-one", "absolute", "squared", "hinge", "abstain:0.5"}) {
    EXPECT_EQ(refusal(loss, 3), "") << loss;
  }
  EXPECT_EQ(refusal("abstain:0.7", 3), "");  // never pays: zero-one
  EXPECT_EQ(refusal("abstain:0.6", 3),
            "the loss abstain:0.6 with 3 classes has no closed form: each prediction is a linear "
            "program, which ONNX has no operator for; predict with covshift, or fit with a cost of "
            "at most 0.5");
  EXPECT_EQ(refusal("cost", 2),
            "the loss 'cost' has no closed form: each prediction is a linear program, which ONNX "
            "has no operator for; predict with covshift, or fit with another loss");
}

}  // namespace
}  // namespace covshift
