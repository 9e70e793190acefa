#!/usr/bin/env python3
"""wasm_page.py VERIFY.WASM OUT - wasm/verify.html with its program, its script and the look of the report pages inside."""

import ast
import base64
import gzip
import pathlib
import re
import sys

root = pathlib.Path(__file__).resolve().parents[1]
style = (root / "extra/report/report_style.c").read_text()
texts = re.findall(r'^\s+("(?:[^"\\]|\\.)*")(?=;?$)', style.split("tct_report_style[] =")[1].split(";\n")[0] + ";", re.M)
parts = {
    "STYLE": "".join(ast.literal_eval(text) for text in texts).rstrip("\n"),
    "VERSION": re.search(r"project\(tacit VERSION (\S+)", (root / "CMakeLists.txt").read_text())[1],
    "SCRIPT": (root / "wasm/verify.js").read_text().rstrip("\n"),
    "MODULE": base64.b64encode(gzip.compress(pathlib.Path(sys.argv[1]).read_bytes(), 9, mtime=0)).decode(),
}
page = re.sub("@([A-Z]+)@", lambda found: parts[found[1]], (root / "wasm/verify.html").read_text())
pathlib.Path(sys.argv[2]).write_text(page)
