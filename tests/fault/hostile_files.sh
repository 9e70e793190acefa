#!/usr/bin/env bash
# hostile_files.sh - files that nobody should name as ledger, anchor or registry: every command ends, and no epsilon is
# lost.
#
#   TACIT=build/release/tacit [LIMIT=10] tests/fault/hostile_files.sh
#
# The limit in seconds is the point of this test: what waits for ever is what it is for.  An idle machine keeps LIMIT=2.
set -uo pipefail
: "${TACIT:?set TACIT to the program}"
TACIT=$(readlink -f "$TACIT") exec python3 "${BASH_SOURCE[0]%.sh}.py" "${LIMIT:-60}" "$@"
