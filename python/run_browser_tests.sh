#!/usr/bin/env bash
# run_browser_tests.sh - the report pages and the page that verifies in headless Chromium.   python/run_browser_tests.sh LIBRARY PROGRAM
# Exit code 77 without a browser: tools/setup.sh browser installs one (414 MB), which is why nothing else does.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
for program in chromium chromium-browser google-chrome; do
  if command -v "$program" >/dev/null; then
    export TACIT_TESTS="python/tests/test_browser.py python/tests/test_browser_verify.py"
    exec python/run_tests.sh "$@"
  fi
done
echo "skipped: no chromium; tools/setup.sh browser installs it"
exit 77
