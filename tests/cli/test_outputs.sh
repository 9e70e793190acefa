#!/usr/bin/env bash
# test_outputs.sh - no output of any verb replaces a file of its own run, or blocks (outputs.py).
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
umask 022
check 'the outputs of all verbs' python3 "$here/outputs.py" "$TACIT"
finish
