#!/usr/bin/env bash
# walks.sh - the three walks of docs/guide/three-doors.md, each from an installation to a verified page, with seconds.
#
#   tools/walks.sh WHEEL DATA [BUILD]      WHEEL: of tools/wheels.sh; DATA: the folder of data sets; BUILD: build/release
#
# Each walk has a new virtual environment, or a prefix of its own, in a folder that is removed.  Python packages come
# from the registry or from pip's cache.  The schemas are those of examples/: the time to write one is not in here.
set -euo pipefail
[ $# -ge 2 ] || { sed -n 2,4p "$0" >&2; exit 2; }
wheel=$(realpath "$1") data=$(realpath "$2") top=$(realpath "$(dirname "$0")/..")
build=$(realpath "${3:-$top/build/release}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export TACIT_REGISTRY=none PYTHONWARNINGS=ignore PIP_DISABLE_PIP_VERSION_CHECK=1
cd "$work"

block() { # KIND N : the n-th block of the page
  awk -v kind="$1" -v want="$2" '$0 == "```" { on = 0 } on { print } $0 == "```" kind && ++seen == want { on = 1 }' \
    "$top/docs/guide/three-doors.md"
}
timed() { # WHAT COMMAND... : its seconds; its output goes to the log
  local what=$1 from=$EPOCHREALTIME
  shift
  "$@" >>log 2>&1 || { tail -n 20 log >&2; echo "walks: $what failed" >&2; exit 1; }
  awk -v what="$what" -v a="$from" -v b="$EPOCHREALTIME" 'BEGIN { printf "%-34s %6.1f s\n", what, b - a }'
}
environment() { python3 -m venv "$1" && "$1/bin/pip" install --quiet "$wheel" ${2:-}; }
c_library() { cmake --install "$build" --prefix "$work/usr"; }

block python 1 >hospital.py
block sh 1 >census.sh
block sh 2 >engineer.sh
timed 'hospital: install' environment hospital pandas
for name in diabetes130.csv nist_acs_national2019.csv; do xz -dc "$data/$name.xz" >"$name"; done
xz -dc "$data/adult_train.csv.xz" >adult.csv
hospital/bin/python "$top/examples/make_tables.py" diabetes130.csv nist_acs_national2019.csv
cp "$top"/examples/*.schema.json "$top/examples/engineer.c" .
timed "hospital: $(grep -c . hospital.py) lines of Python" hospital/bin/python hospital.py
timed 'census: install' environment census
PATH=$work/census/bin:$PATH timed "census: $(grep -c '^tacit' census.sh) commands" bash -e census.sh
timed 'engineer: install' c_library
lib=$(dirname "$(find usr -name libtacit.so)")
export C_INCLUDE_PATH=$work/usr/include LIBRARY_PATH=$work/$lib LD_LIBRARY_PATH=$work/$lib
timed "engineer: $(grep -c . engineer.c) lines of C" bash -e engineer.sh
ls back.html education.html adult.html >/dev/null
