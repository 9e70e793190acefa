#!/usr/bin/env bash
# site.sh - the documentation as a site in build/site: search, light and dark, no network when it is read.
#
# MkDocs (PyPI) goes into build/site-venv.  A link that leads nowhere stops it.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
venv=${TACIT_SITE_VENV:-build/site-venv}
if [ ! -x "$venv/bin/mkdocs" ]; then
  { python3 -m venv "$venv" && "$venv/bin/pip" install --quiet --disable-pip-version-check mkdocs==1.6.1; } ||
    { echo "site: MkDocs cannot be installed here (pip install mkdocs==1.6.1 failed); the pages can be read in docs/." >&2; exit 1; }
fi
rm -rf build/site build/site-pages
mkdir -p build/site-pages
python3 tools/site.py build/site-pages
"$venv/bin/mkdocs" build --quiet --strict --config-file build/site-pages/mkdocs.yml --site-dir "$PWD/build/site"
[ ! -e build/wasm/verify.html ] || cp build/wasm/verify.html build/site/
made=$(find build/site -name '*.html' ! -name 404.html ! -name verify.html | wc -l) pages=$(find build/site-pages/pages -name '*.md' | wc -l)
[ "$made" = "$pages" ] || { echo "site: $pages pages went in and $made came out; see build/site-pages/mkdocs.yml." >&2; exit 1; }
echo "site: build/site/index.html, $made pages"
