# lib.sh - what the command line's tests share: run a line, compare its exit code and its output.
#
# A test file sources this, calls `check`, `ok` and `bad`, and ends with `finish`.  $TACIT is the program.
set -uo pipefail
export TACIT_REGISTRY=none # the user's own is not for tests
: "${TACIT:?set TACIT to the program}"
TACIT=$(readlink -f "$TACIT")
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
data=${TACIT_DATA:-$here/../../../shared/data}
work=$(mktemp -d) || exit 1
trap 'cd /; rm -rf "$work"' EXIT
cd "$work" || exit 1
cases=0
failures=0
export OMP_NUM_THREADS=${OMP_NUM_THREADS:-2}

fail() {
  failures=$((failures + 1))
  printf 'FAIL %s\n' "$*"
}

# tacit ARGS... : the program; output in $work/.out and .err, exit code in $code.
tacit() {
  "$TACIT" "$@" >"$work/.out" 2>"$work/.err"
  code=$?
}

# merge ARGS... : the array `merged`, in which an option that comes again replaces what it was before: the usual settings
# but for one.  The program takes an option once.
merge() {
  local -A at=()
  merged=()
  while [ $# -gt 0 ]; do
    case $1 in
      --json | --dry-run | --f32 | --intercept | --help | --init | --check | --for-tests) merged+=("$1") ;;
      -o | --*)
        if [ "${at[$1]:-}" ]; then
          merged[at[$1]]=${2-}
        else
          at[$1]=$((${#merged[@]} + 1))
          merged+=("$@")
          merged=("${merged[@]:0:at[$1]+1}")
        fi
        shift
        ;;
      *) merged+=("$1") ;;
    esac
    [ $# = 0 ] || shift
  done
}

# ok NAME ARGS... : exits 0.
ok() {
  local name=$1
  shift
  cases=$((cases + 1))
  tacit "$@"
  [ "$code" = 0 ] || fail "$name: exit $code: $(head -c 300 "$work/.err")"
}

# bad NAME CODE REGEX ARGS... : exits CODE with one sentence on stderr that matches, and nothing on stdout.
bad() {
  local name=$1 expected=$2 regex=$3
  shift 3
  cases=$((cases + 1))
  tacit "$@"
  [ "$code" = "$expected" ] || fail "$name: exit $code, not $expected: $(head -c 300 "$work/.err")"
  [ "$(wc -l <"$work/.err")" = 1 ] || fail "$name: not one line: $(head -c 400 "$work/.err")"
  grep -q '^tacit: ' "$work/.err" || fail "$name: does not begin with 'tacit: ': $(head -c 300 "$work/.err")"
  grep -qE -- "$regex" "$work/.err" || fail "$name: does not say '$regex': $(head -c 300 "$work/.err")"
  [ ! -s "$work/.out" ] || fail "$name: wrote to standard output"
}

# check NAME COMMAND... : the command succeeds.
check() {
  local name=$1
  shift
  cases=$((cases + 1))
  "$@" || fail "$name"
}

# says NAME REGEX : the last standard output matches.
says() {
  cases=$((cases + 1))
  grep -qE -- "$2" "$work/.out" || fail "$1: does not print '$2': $(head -c 300 "$work/.out")"
}

# field NAME [FILE] : a field of a one-line JSON object, the last standard output by default.
field() { python3 -c 'import json,sys; o=json.load(open(sys.argv[2]))
for k in sys.argv[1].split("."): o=o[k]
print(o)' "$1" "${2:-$work/.out}"; }

# within NAME LOW VALUE HIGH
within() {
  cases=$((cases + 1))
  awk -v a="$2" -v x="$3" -v b="$4" 'BEGIN { exit !(x+0 >= a && x+0 <= b) }' || fail "$1: $3 is not in [$2, $4]"
}

finish() {
  printf '%s: %d checks, %d failures\n' "$(basename "$0")" "$cases" "$failures"
  [ "$failures" = 0 ]
}
