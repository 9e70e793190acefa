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
# What axe-core misses in the theme (make accessible): the menu is no landmark, and what scrolls is not reached by key.
find build/site -name '*.html' -exec sed -i -E 's/<div class="navbar /<div role="navigation" aria-label="Pages" class="navbar /; s/<pre( class="formula")?>/<pre\1 tabindex="0">/g' {} +
[ ! -e build/wasm/verify.html ] || cp build/wasm/verify.html build/site/
made=$(find build/site -name '*.html' ! -name 404.html ! -name verify.html | wc -l) pages=$(find build/site-pages/pages -name '*.md' | wc -l)
[ "$made" = "$pages" ] || { echo "site: $pages pages went in and $made came out; see build/site-pages/mkdocs.yml." >&2; exit 1; }
echo "site: build/site/index.html, $made pages"
