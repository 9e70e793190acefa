#!/usr/bin/env bash
# newest.sh - scikit-learn's own checks on its newest release, and the newest pyright on the pages a caller copies from.
#
#   tools/newest.sh [BUILD]      BUILD: build/release
#
# The packages go into build/newest, by pip.  The checks on the pinned release are among the tests of `make check`.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
build=$(realpath "${1:-build/release}") venv=$PWD/build/newest
[ -x "$venv/bin/python" ] || python3 -m venv "$venv"
"$venv/bin/python" -m pip install --quiet --disable-pip-version-check --upgrade \
  scikit-learn numpy scipy pandas polars pyarrow pytest "pyright[nodejs]"
"$venv/bin/python" -c 'import sklearn; print("scikit-learn", sklearn.__version__)'
PYTHONPATH=$PWD/python TACIT_LIBRARY=$build/libtacit.so TACIT_REGISTRY=none \
  "$venv/bin/python" -m pytest -q -p no:cacheprovider -c pyproject.toml python/tests/test_checks.py | tail -n 1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for page in frames three-doors; do
  awk '$0 == "```" { on = 0 } on { print } $0 == "```python" { on = 1 }' "docs/guide/$page.md" >"$work/$page.py"
done
printf 'import tacit\ntacit.account("gaussian:noise=1", "one")\n' >"$work/wrong.py"
printf '{"extraPaths": ["%s"], "useLibraryCodeForTypes": false}' "$PWD/python" >"$work/pyrightconfig.json"
cd "$work"
check() { "$venv/bin/pyright" --pythonpath "$venv/bin/python" "$@"; }
check frames.py three-doors.py
if check wrong.py >wrong.log; then
  echo "newest: pyright does not see a text where a number belongs; it looks at nothing" >&2
  exit 1
fi
echo 'and a text for delta is an error'
