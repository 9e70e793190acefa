#!/usr/bin/env bash
# check_tidy.sh - clang's warnings in src/, extra/, cli/, tests/ and bench/, as errors, and the checks of .clang-tidy
# (in tests/ and bench/ clang's warnings, and one check, as it wants one).
set -uo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
tool=$(command -v clang-tidy-14 || command -v clang-tidy) || { echo "check_tidy.sh: clang-tidy is missing; run tools/setup.sh static"; exit 1; }
# Sources with headers of Open MPI, OpenSSL or LIBLINEAR are looked at where those are.
absent=/bench_liblinear
mpi=$(pkg-config --cflags ompi-c 2>/dev/null) || absent+='|/mpi_ranks\.c'
tls=$(pkg-config --cflags openssl 2>/dev/null) || absent+='|/tls_openssl\.c'
files=$(project_files | grep -E '^((src|extra|cli)/.*|tests/[a-z]*/test_[a-z_0-9]*|bench/[a-z]*/[a-z_0-9]*)\.c$' | grep -vE "$absent")
# look FOLDERS OPTION... : the warnings are those of CMakeLists.txt.
look() {
  # shellcheck disable=SC2046,SC2086  # files and flags are words
  "$tool" -quiet "${@:2}" $(grep -E "^($1)/" <<<"$files") -- -std=gnu11 -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes \
    -Wpointer-arith -Wvla -Wno-missing-field-initializers '-DTCT_ARCHIVE_LIBRARY="libarchive.so"' '-DTCT_LIBRARY_FOLDER="lib"' \
    $mpi $tls -Iinclude -Isrc -Iextra -Icli -Itests -Ibench/lib -fopenmp 2>/dev/null | grep -E '(error|note):'
}
found=$(look src & look 'extra|cli' & look 'tests|bench' '-checks=-*,clang-diagnostic-*,bugprone-infinite-loop' & wait)
[ -z "$found" ] || complain "$found"
finish "$(wc -l <<<"$files") files"
