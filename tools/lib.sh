# lib.sh - what the scripts of tools/ share: the root of the tree, the list of files, the count of complaints.
# Sourced, after `set -uo pipefail`; changes the directory to the root of the repository.
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1
complaints=0

complain() {
  printf '%s\n' "$1"
  complaints=$((complaints + 1))
}

# The files of the project: git's when this is a clone (new files too), else all but builds.
project_files() {
  if git rev-parse --git-dir >/dev/null 2>&1; then
    git ls-files --cached --others --exclude-standard | while IFS= read -r f; do [ -f "$f" ] && printf '%s\n' "$f"; done
  else
    find . -type f -not -path './build/*' -not -path './out/*' -not -path './.git/*' | sed 's,^\./,,' | sort
  fi
}

# finish PHRASE : says that all is well, or leaves with 1.
finish() {
  if [ "$complaints" != 0 ]; then
    printf '%s: %d complaint(s)\n' "$(basename "$0")" "$complaints"
    exit 1
  fi
  printf '%s: %s\n' "$(basename "$0")" "$1"
}
