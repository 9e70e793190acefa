#!/usr/bin/env bash
# run_tests.sh - the R package's tests against a built libtacit.so.   r/run_tests.sh LIBRARY PROGRAM [FILTER]
# Exit code 77 where R, testthat or what the package imports is missing (tools/setup.sh r).
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
library=$(realpath "$1") && program=$(realpath "$2") || exit 1
build=$(dirname "$library")/r
export TACIT=$program TACIT_R_GUIDE=$PWD/docs/guide/r.md TACIT_REGISTRY=none # the user's own is not for tests
have='for (p in c("testthat", "jsonlite", "generics")) if (!requireNamespace(p, quietly = TRUE)) { cat("skipped: R lacks", p, "\n"); quit(status = 77) }'
command -v R >/dev/null || { echo "skipped: no R"; exit 77; }
Rscript -e "$have" || exit 77
rm -rf "$build" && mkdir -p "$build/library" && cp -r r "$build/source" || exit 1
export TACIT_CFLAGS="-I$PWD/include" TACIT_LIBS="-L$(dirname "$library") -ltacit -Wl,-rpath,$(dirname "$library")"
R CMD INSTALL --preclean --no-docs --no-test-load --library="$build/library" "$build/source" >"$build/install.log" 2>&1 ||
  { cat "$build/install.log"; exit 1; }
cd "$build/source/tests/testthat" || exit 1
export R_LIBS_USER=$build/library NOT_CRAN=true OMP_NUM_THREADS=${OMP_NUM_THREADS:-2} OMP_WAIT_POLICY=passive
exec Rscript -e 'library(tacit); library(testthat); filter <- commandArgs(TRUE)' \
  -e 'test_dir(".", filter = if (length(filter)) filter, reporter = "summary", env = new.env(parent = asNamespace("tacit")))' "${@:3}"
