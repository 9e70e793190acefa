#!/usr/bin/env bash
# release.sh - everything that a release consists of, in one folder with checksums; refuses a tree that is not committed.
#
#   tools/release.sh [OUT]      OUT: default build/release-VERSION
#
# sdist and wheel (tools/wheels.sh), Debian packages (tools/deb.sh), the bill of materials, and SHA256SUMS of them all.
# What cannot be made here is named, and the exit code is then 1.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
version=$(sed -n 's/^project(tacit VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
out=$(realpath -m "${1:-build/release-$version}")
[ -z "$(git status --porcelain)" ] || { echo "release: the tree has changes that are not committed; commit or stash them first." >&2; exit 1; }
for said in "$(sed -n 's/^version = "\(.*\)"/\1/p' pyproject.toml)" "$(sed -n '1s/.*(\(.*\)-.*).*/\1/p' debian/changelog)" \
  "$(sed -n 's/^{% set version = "\(.*\)" %}/\1/p' conda/meta.yaml)"; do
  [ "$said" = "$version" ] || { echo "release: CMakeLists.txt says $version and another file says $said; make them agree." >&2; exit 1; }
done
rm -rf "$out"
mkdir -p "$out"
missing=()
tools/wheels.sh "$out" || missing+=("sdist and wheel")
if tools/deb.sh build/deb; then cp build/deb/*.deb build/deb/*.dsc build/deb/*.tar.* "$out/"; else missing+=("Debian packages"); fi
cmake --preset release >/dev/null && cp build/release/tacit.spdx.json "$out/tacit-$version.spdx.json" || missing+=("bill of materials")
(cd "$out" && sha256sum -- * >SHA256SUMS)
cat "$out/SHA256SUMS"
[ ${#missing[@]} = 0 ] || { printf 'release: not made: %s\n' "${missing[@]}" >&2; exit 1; }
echo "release: $out"
