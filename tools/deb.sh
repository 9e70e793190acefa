#!/usr/bin/env bash
# deb.sh - the Debian packages, built from the last commit with what debian/ says, and looked over by lintian.
#
#   tools/deb.sh [OUT]      OUT: where the packages go (default: build/deb)
#
# Needs dpkg-dev, debhelper and the packages that the build needs; lintian where it is installed.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
command -v dpkg-buildpackage >/dev/null && command -v dh >/dev/null ||
  { echo "deb: dpkg-buildpackage or dh is missing; install dpkg-dev and debhelper." >&2; exit 1; }
out=$(realpath -m "${1:-build/deb}")
version=$(sed -n '1s/.*(\(.*\)-.*).*/\1/p' debian/changelog)
commit=$(git rev-parse HEAD)
rm -rf "$out"
mkdir -p "$out"
git archive --prefix="tacit-$version/" "$commit" ':!debian' | gzip -9n >"$out/tacit_$version.orig.tar.gz"
tar -x -C "$out" -f "$out/tacit_$version.orig.tar.gz"
git archive "$commit" debian | tar -x -C "$out/tacit-$version"
(cd "$out/tacit-$version" && SOURCE_DATE_EPOCH=$(dpkg-parsechangelog -S Timestamp) dpkg-buildpackage -us -uc >"$out/build.log" 2>&1) ||
  { tail -n 30 "$out/build.log"; exit 1; }
rm -rf "$out/tacit-$version"
ls -l "$out"/*.deb
if command -v lintian >/dev/null; then
  lintian --fail-on warning,error "$out"/*.changes && echo "deb: lintian has nothing to say"
else
  echo "deb: lintian is not installed; nothing looked the packages over"
fi
