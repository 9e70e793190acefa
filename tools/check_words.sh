#!/usr/bin/env bash
# check_words.sh - pages keep to their ceilings of words and lines, and to the words of docs/reference/words.md.
set -uo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
said=$(tools/count_words.py --check) || while IFS= read -r hit; do complain "$hit"; done <<<"$said"
finish "$said"
