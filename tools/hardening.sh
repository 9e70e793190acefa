#!/usr/bin/env bash
# hardening.sh - how binaries are hardened, read from the binaries themselves; 1 where one of ours lacks what the build asks for.
#
#   tools/hardening.sh PATH...      a file, a folder of them, a wheel or a .deb
#
# CET is the note that all parts of a binary allow control-flow enforcement.  It is missing, and not asked for, where the
# C run time itself has none.
set -euo pipefail
[ $# -gt 0 ] || { echo "hardening: give a binary, a folder, a wheel or a .deb, e.g. tools/hardening.sh build/release/tacit" >&2; exit 2; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
yes() { grep -qE "$2" <<<"$1" && echo yes || echo no; }
bad=0
cet_asked=$(yes "$(readelf -nW "$(${CC:-cc} -print-file-name=crti.o)" 2>/dev/null)" IBT)

row() { # a file of ELF
  local segments dynamic symbols kind line cet
  segments=$(readelf -lW "$1") dynamic=$(readelf -dW "$1") symbols=$(nm -D "$1") kind=$(readelf -hW "$1" | awk '/Type:/ { print $2 }')
  cet=$(yes "$(readelf -nW "$1" 2>/dev/null)" IBT)
  line="$(yes "$segments" GNU_RELRO) $(yes "$dynamic" 'BIND_NOW|NOW') $([ "$kind" = DYN ] && echo yes || echo no)"
  line+=" $(grep -q 'GNU_STACK.* RW ' <<<"$segments" && echo yes || echo no) $(yes "$symbols" __stack_chk_fail)"
  # shellcheck disable=SC2086  # words
  printf '%-30s %-6s %-9s %-4s %-9s %-16s %-8s %s\n' "$(basename "$1")" $line "$(yes "$symbols" '_chk(@|$)')" "$cet"
  # Where a library is looked for: an empty entry is the current folder, and a relative one begins there.
  while IFS= read -r entry; do
    case $entry in
      /* | '$ORIGIN'*) ;;
      *) echo "$1: RUNPATH has '$entry', which is looked up from the current folder" >&2 && bad=1 ;;
    esac
  done < <(sed -nE 's/.*\((RUNPATH|RPATH)\).*\[(.*)\]$/\2:/p' <<<"$dynamic" | tr ':' '\n' | head -n -1)
  case $(basename "$1") in
    tacit* | libtacit*) [[ " $line " != *" no "* ]] && { [ "$cet_asked" = no ] || [ "$cet" = yes ]; } || bad=1 ;; # others were built elsewhere
  esac
}

printf '%-30s %-6s %-9s %-4s %-9s %-16s %-8s %s\n' binary RELRO BIND_NOW PIE NX_stack stack_protector FORTIFY CET
for path; do
  case $path in
    *.whl) python3 -m zipfile -e "$path" "$work/$(basename "$path")" && path=$work/$(basename "$path") ;;
    *.deb) dpkg-deb -x "$path" "$work/$(basename "$path")" && path=$work/$(basename "$path") ;;
  esac
  [ -e "$path" ] || { echo "hardening: there is no $path; build it first." >&2; exit 2; }
  while IFS= read -r file; do
    [ "$(head -c 4 "$file" | tail -c 3 | tr -d '\0')" != ELF ] || row "$file"
  done < <(find "$path" -type f ! -name '*.a' ! -name '*.py' | LC_ALL=C sort)
done
[ "$cet_asked" = yes ] || echo "CET: this system's own crti.o has no such note, so no program linked with it can have one"
exit $bad
