#!/usr/bin/env bash
# check_tidy.sh - clang-tidy with the checks of .clang-tidy (function length and nesting among them) over src/, extra/ and cli/.
set -uo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
tool=$(command -v clang-tidy-14 || command -v clang-tidy) || { echo "check_tidy.sh: clang-tidy is missing; run tools/setup.sh static"; exit 1; }
mapfile -t files < <(project_files | grep -E '^(src|extra|cli)/.*\.c$')
# Sources of Open MPI's library are looked at where its headers are.
mpi=$(pkg-config --cflags ompi-c 2>/dev/null) || mapfile -t files < <(printf '%s\n' "${files[@]}" | grep -v '/mpi_ranks\.c$')
tls=$(pkg-config --cflags openssl 2>/dev/null) || mapfile -t files < <(printf '%s\n' "${files[@]}" | grep -v '/tls_openssl\.c$')
# shellcheck disable=SC2086  # the flags are words
found=$("$tool" -quiet "${files[@]}" -- -std=gnu11 '-DTCT_ARCHIVE_LIBRARY="libarchive.so"' '-DTCT_LIBRARY_FOLDER="lib"' $mpi $tls -Iinclude -Isrc -Iextra -Icli -fopenmp 2>/dev/null | grep -E '(error|note):')
[ -z "$found" ] || complain "$found"
finish "${#files[@]} files"
