#!/usr/bin/env bash
# accessible.sh - report pages, the page that verifies and the site's start, by axe-core in headless Chromium.
#
#   tools/accessible.sh BUILD      77 and one line where there is no Chromium (tools/setup.sh browser).
#
# axe.min.js comes out of axe-playwright-python (PyPI); nothing else of the package is used, and nothing is installed.
# SCREENS=FOLDER keeps pictures.  Pages that were not made (make wasm, make site) are skipped by name.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
build=$(realpath "$1") axe=build/axe pin=axe-playwright-python==0.1.8
found=no
for program in chromium chromium-browser google-chrome; do ! command -v "$program" >/dev/null || found=yes; done
[ $found = yes ] || { echo "accessible: SKIPPED, nothing was checked: no chromium; tools/setup.sh browser installs it." >&2; exit 77; }
if [ ! -s $axe/axe.min.js ]; then
  mkdir -p $axe
  python3 -m pip download --quiet --disable-pip-version-check --no-deps --dest $axe $pin ||
    { echo "accessible: SKIPPED, nothing was checked: $pin cannot be fetched here." >&2; exit 77; }
  python3 -m zipfile -e $axe/*.whl $axe/whole
  mv $axe/whole/axe_playwright_python/axe.min.js $axe/ && rm -r $axe/whole
fi
export TACIT_AXE=$PWD/$axe/axe.min.js TACIT_TESTS=python/tests/test_browser_axe.py
[ -z "${SCREENS:-}" ] || { mkdir -p "$SCREENS" && TACIT_SCREENS=$(realpath "$SCREENS") && export TACIT_SCREENS; }
exec python/run_tests.sh "$build/libtacit.so" "$build/tacit"
