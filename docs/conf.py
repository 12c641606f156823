"""The site: `make docs` builds it from these pages into build/docs/html (scripts/docs.sh)."""

import re
from pathlib import Path

from sphinx_gallery.sorting import FileNameSortKey

HERE = Path(__file__).parent
PROJECT = HERE.parent

project = "covshift"
author = "covshift maintainers"
project_copyright = "covshift maintainers"
version = release = re.search(r"project\(covshift VERSION ([0-9.]+)", (PROJECT / "CMakeLists.txt").read_text())[1]

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.autosummary", "numpydoc", "sphinx_gallery.gen_gallery", "breathe"]
exclude_patterns = ["requirements.txt", "templates", "gallery/*.ipynb", "gallery/*.py", "gallery/*.md5"]
templates_path = ["templates"]
myst_heading_anchors = 3
myst_enable_extensions = ["colon_fence"]
suppress_warnings = ["config.cache",  # the gallery's sort key is a class
                     "duplicate_declaration.cpp"]  # each header opens the one namespace

html_theme = "furo"
html_title = f"covshift {release}"
html_static_path = ["pictures"]
html_copy_source = False
html_show_sphinx = False
# Nothing is loaded from elsewhere when a page is viewed: furo, the search and the pictures are files of the site.
html_theme_options = {"navigation_with_keys": True}

# Every reference must resolve. Types of other packages cannot: their inventories are not on this machine.
nitpicky = True
nitpick_ignore_regex = [
    (r"py:.*", r"(numpy|np|npt|pandas|scipy|sklearn|matplotlib|collections|typing|os|pathlib|types)\..*"),
    (r"py:.*", r"(optional|default.*|array.*|ndarray.*|of shape.*|shape.*|n_\w+|\(.*|.*\)|\{.*|.*\}|callable|str|int|float|bool|None|object|dict|list|tuple|sequence|estimator|self|path-like|data frame|DataFrame|bytes|Any|ArrayLike|NDArray|.*[ \[\]\"'`].*)"),
    (r"py:.*", r"(covshift\._.*|_\w+|[A-Z]\w*(Like|Input|Name|Array)|Frame|Table|Axes|Figure|PathLike)"),
    (r"cpp:.*", r".*"),  # Doxygen documents the public headers; std and Eigen have pages elsewhere
]
autodoc_typehints = "none"  # numpydoc lists the types
numpydoc_show_class_members = False
autosummary_generate = True

breathe_projects = {"covshift": str(PROJECT / "build/docs/doxygen/xml")}
breathe_default_project = "covshift"
breathe_show_include = False

sphinx_gallery_conf = {
    "examples_dirs": str(PROJECT / "examples"),
    "gallery_dirs": "gallery",
    "filename_pattern": r"/\d_\w+\.py",
    "within_subsection_order": FileNameSortKey,
    "download_all_examples": False,
    "show_memory": False,
    "abort_on_example_error": True,
    "remove_config_comments": True,
}
