#!/usr/bin/env bash
# check_format.sh - every C file is as clang-format 14 leaves it; with --fix, makes it so.
set -uo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
tool=$(command -v clang-format-14 || command -v clang-format) || {
  echo "check_format.sh: clang-format is missing; run tools/setup.sh static"
  exit 1
}
mapfile -t files < <(project_files | grep -E '\.(c|h)$')
if [ "${1:-}" = --fix ]; then exec "$tool" -i "${files[@]}"; fi
"$tool" --dry-run -Werror "${files[@]}" || complain "run: make format"
finish "${#files[@]} files"
