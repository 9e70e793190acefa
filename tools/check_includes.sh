#!/usr/bin/env bash
# check_includes.sh - the include law: which folder may include which (CONTRIBUTING.md, "The include law").
set -uo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

# room -> the rooms of src/ and extra/ whose headers its files may name.  A folder's name stands for all its rooms; its
# own room and tacit.h: always.  A room may only name rooms that stand above it in this list, so no arrow runs upward.
rooms=(core infer event loss la/matrix la/kernels la/exact rng penalty account/curves account second tls ranks
  read/table read/source read/schema read/frame read/format read mech solve solve/shared solve/dual solve/coordinate solve/gradient
  solve/frank_wolfe solve/minimiser solve/onestep solve/cox linear model ledger study train score several estimate descriptive stage certify summary)
extra=(baselines nonprivate formats wire parties session report tools audit)
solver="core infer event la loss penalty account mech solve solve/shared"
declare -A law=(
  [core]="" [infer]="core" [event]="core" [la/matrix]="core" [la/kernels]="core la/matrix loss" [la/exact]="core la/matrix la/kernels"
  [rng]="core" [loss]="core" [penalty]="core"
  [account/curves]="core event" [account]="core event account/curves"
  [second]="core event account/curves"
  [tls]="core" [ranks]="core tls"
  [read/table]="core la/matrix" [read/source]="core" [read/schema]="core read/table read/source"
  [read/frame]="core read/table read/source read/schema" [read/format]="core read/table read/source read/schema"
  [read]="core read/table read/source read/schema read/frame read/format"
  [mech]="core event la rng account ranks"
  [solve]="core infer event la loss penalty account mech" [solve/shared]="core event la loss penalty account mech solve"
  [solve/dual]="$solver" [solve/coordinate]="$solver" [solve/gradient]="$solver" [solve/frank_wolfe]="$solver"
  [solve/minimiser]="$solver" [solve/onestep]="$solver solve/gradient" [solve/cox]="$solver solve/gradient solve/onestep"
  [linear]="core event la loss penalty account mech solve solve/shared"
  [model]="core infer event la loss penalty read/table" [ledger]="core event la/matrix rng account ranks read/table model"
  [study]="core event account second ranks read/table mech model ledger"
  [train]="core infer event la loss penalty account ranks read mech solve model ledger study"
  [several]="core event account read mech model study train score"
  [score]="core event la/matrix loss account mech model ledger study train"
  [estimate]="core event la/matrix account read/table mech model ledger study train"
  [descriptive]="core infer la/matrix read/table"
  [stage]="core event la/matrix account read mech solve solve/shared linear model ledger study train score several estimate descriptive"
  [certify]="core event account second solve model ledger study train several estimate stage"
  [summary]="core infer event la/exact loss penalty solve solve/shared linear model read/schema"
  [baselines]="$solver solve/dual solve/gradient solve/minimiser" [nonprivate]="$solver solve/dual solve/coordinate solve/gradient solve/minimiser"
  [formats]="core read/table read/source read/schema read/format"
  [wire]="core event la rng tls ranks mech" [parties]="$solver wire"
  [session]="core event la rng account tls ranks read mech solve model ledger train certify wire parties"
  [report]="core infer event loss account solve model ledger train certify summary"
  [tools]="core infer loss la rng read model summary train"
  [audit]="core la/matrix mech read/table"
)
for room in "${extra[@]}"; do rooms+=("$room"); done

# What a room must not reach even through other headers: a solver cannot draw noise, and what
# computes epsilon cannot see a row.  A folder's name stands for all its rooms.
declare -A never=([solve]="rng" [baselines]="rng" [nonprivate]="rng" [parties]="rng" [account]="la read" [loss]="rng" [penalty]="rng" [la]="rng")

# within ROOM LIST : is the room, or a folder that it is in, in the list?  solve alone is the room, not its families.
within() {
  local room=$1
  case " $2 " in *" $room "*) return 0 ;; esac
  case "$room" in solve/*) return 1 ;; */*) case " $2 " in *" ${room%%/*} "*) return 0 ;; esac ;; esac
  return 1
}

# The law itself runs downward only.
stood=""
for room in "${rooms[@]}"; do
  for each in ${law[$room]}; do
    for other in "${rooms[@]}"; do
      within "$other" "$each" || continue
      within "$other" "$stood" || complain "the law lets src/$room name src/$other, which stands below it."
    done
  done
  stood+=" $room"
done

# CONTRIBUTING.md tells the same law, a row a room.
for room in "${!law[@]}"; do
  row=$(grep -F "| \`$room/\` |" CONTRIBUTING.md)
  [ "$(sed -E 's/ *\|$//; s/.*\| //' <<<"$row")" = "${law[$room]:-nothing else}" ] ||
    complain "CONTRIBUTING.md: the row of \`$room/\` is to end in '${law[$room]:-nothing else}'."
done

# file -> the headers that it names, read once.
declare -A names_of=()
while IFS=: read -r file line; do
  header=${line#*[<\"]}
  names_of[$file]+="${header%%[>\"]*} "
done < <(project_files | grep -E '^(src|extra|cli)/.*\.(c|h|def)$' |
  xargs -r grep -E '^[[:space:]]*#[[:space:]]*include[[:space:]]*["<]' /dev/null)

# root HEADER : the root that has it, or nothing.
root() { if [ -f "src/$1" ]; then echo src; elif [ -f "extra/$1" ]; then echo extra; fi; }

# closure FILE : every header of ours that a file reaches, itself not counted, into the array `reached`.
closure() {
  local -A seen=()
  local queue=("$1") at each
  reached=()
  while [ "${#queue[@]}" -gt 0 ]; do
    at=${queue[0]}
    queue=("${queue[@]:1}")
    for each in ${names_of[$at]:-}; do
      [ -z "${seen[$each]:-}" ] || continue
      at=$(root "$each")
      if [ -n "$at" ]; then
        seen[$each]=1
        reached+=("$each")
        queue+=("$at/$each")
      fi
    done
  done
}

checked=0
while IFS= read -r file; do
  folder=${file#*/}
  folder=${folder%/*}
  top=${folder%%/*}
  checked=$((checked + 1))
  if [ -z "${law[$folder]+set}" ]; then
    complain "$file: the room $folder is not in the include law; add it to tools/check_includes.sh and CONTRIBUTING.md."
    continue
  fi
  for header in ${names_of[$file]:-}; do
    case "$header" in
      tacit.h) continue ;;
      sodium.h)
        case "$folder" in rng | core) ;; *) complain "$file: only rng/ and core/ may include sodium.h." ;; esac
        continue
        ;;
      ../* | ./*) complain "$file: includes \"$header\"; name headers from their root, as in \"core/alloc.h\"." ;;
    esac
    [ -e "src/$header" ] || [ -e "extra/$header" ] || {
      [ -e "${file%/*}/$header" ] && complain "$file: includes \"$header\"; write it from its root, as in \"$folder/$header\"."
      continue
    }
    target=${header%/*}
    case "$file" in src/*) [ -e "src/$header" ] || complain "$file: includes \"$header\"; src/ includes nothing of extra/." ;; esac
    [ "$target" = "$folder" ] || within "$target" "${law[$folder]}" ||
      complain "$file: $folder may not include \"$header\" (it may include: ${law[$folder]:-nothing else})."
  done
  if [ -n "${never[$top]:-}" ]; then
    closure "$file"
    for header in "${reached[@]}"; do
      case " ${never[$top]} " in
        *" ${header%%/*} "*) complain "$file: reaches $header through its includes, and $folder must never see it." ;;
      esac
    done
  fi
done < <(project_files | grep -E '^(src|extra)/.*\.(c|h|def)$')

# At most 16 modules a room: a .c with its .h counts once.
while read -r count room; do
  complain "$room: $count modules; 16 is the ceiling, make a room of what belongs together."
done < <(project_files | grep -E '^(src|extra)/.*\.[ch]$' | sed -E 's,\.[ch]$,,' | sort -u | sed 's,/[^/]*$,,' | uniq -c |
  awk '$1 > 16')

# Randomness has one door.
while IFS= read -r hit; do
  complain "$hit: random bits come from src/rng alone."
done < <(project_files | grep -E '^(src|extra|cli)/.*\.[ch]$' | grep -v '^src/rng/' |
  xargs -r grep -nE '\b(rand|rand_r|random|srand|srandom|drand48|lrand48|arc4random[a-z_]*|getrandom|getentropy|randombytes_[a-z]+)[[:space:]]*\(' /dev/null |
  grep -vE '^[^:]+:[0-9]+:[[:space:]]*(\*|/[*/])' | cut -d: -f1,2)

# The programs and the benches' callers use the public interface like everybody else.
while IFS= read -r file; do
  checked=$((checked + 1))
  for header in ${names_of[$file]:-}; do
    case "$header" in
      tacit.h | cli/*) ;;
      *)
        if [ -n "$(root "$header")" ] || [ -d "src/${header%%/*}" ] && [[ "$header" == */* ]]; then
          complain "$file: the command line may include tacit.h and cli/ headers only, not \"$header\"."
        fi
        ;;
    esac
  done
done < <(project_files | grep -E '^cli/.*\.[ch]$')

[ "$checked" -gt 0 ] || complain "no source file was found"
finish "$checked files keep the include law"
