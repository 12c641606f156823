// The HTML page of a result.
#include "covshift/report/report.hpp"

#include <nanobind/stl/string.h>

#include <nlohmann/json.hpp>

#include "covshift/base/file.hpp"
#include "python/bind/bind.hpp"

namespace covshift::python {

void bind_report(nanobind::module_& m) {
  namespace nb = nanobind;
  m.def(
      "write_report",
      [](const std::string& path, const std::string& kind, const std::string& title,
         const std::string& data) {
        const nb::gil_scoped_release release;
        write_whole(path, report_page(kind, title, nlohmann::ordered_json::parse(data)));
      },
      nb::arg("path"), nb::arg("kind"), nb::arg("title"), nb::arg("data"));
}

}  // namespace covshift::python
