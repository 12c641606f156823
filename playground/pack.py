"""Writes the page as one file: pack.py SCRIPT OUTPUT. The module beside SCRIPT is packed with gzip (the
browser unpacks it) and stored in base64."""

import base64
import gzip
import pathlib
import sys

script, output = map(pathlib.Path, sys.argv[1:])
folder = pathlib.Path(__file__).parent
module = gzip.compress(script.with_suffix(".wasm").read_bytes(), 9, mtime=0)
parts = {
    "style": (folder / "page.css").read_text("utf-8"),
    "worker": script.read_text("utf-8") + (folder / "worker.js").read_text("utf-8"),
    "module": base64.b64encode(module).decode(),
    "plane": (folder / "plane.js").read_text("utf-8"),
    "page": (folder / "page.js").read_text("utf-8"),
}
page = (folder / "index.html").read_text("utf-8")
for name, text in parts.items():
    if "</script" in text or "</style" in text:
        raise SystemExit(f"pack.py: the part '{name}' would end its element early")
    page = page.replace("{{" + name + "}}", text)
output.write_text(page, "utf-8")
print(f"{output}: {output.stat().st_size / 1e6:.2f} MB (WebAssembly {script.with_suffix('.wasm').stat().st_size / 1e6:.2f} MB, packed {len(module) / 1e6:.2f} MB)")
