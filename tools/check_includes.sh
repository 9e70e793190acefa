#!/usr/bin/env bash
# check_includes.sh - the include law: which folder may include which (CONTRIBUTING.md, "The include law").
set -uo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

# folder -> the src folders whose headers its files may name.  Its own folder and tacit.h: always.
declare -A law=(
  [core]="" [la]="core" [rng]="core" [loss]="core" [reg]="core" [account]="core" [team]="core"
  [read]="core la" [mech]="core la rng account team" [solve]="core la loss reg mech account"
  [fit]="core la rng loss reg account team read mech solve"
)

# What a folder must not reach even through other headers: a solver cannot draw noise, and what
# computes epsilon cannot see a row.
declare -A never=([solve]="rng" [account]="la read" [loss]="rng" [reg]="rng" [la]="rng")

# file -> the headers that it names, read once.
declare -A names_of=()
while IFS=: read -r file line; do
  header=${line#*[<\"]}
  names_of[$file]+="${header%%[>\"]*} "
done < <(project_files | grep -E '^(src|cli)/.*\.(c|h|def)$' |
  xargs -r grep -E '^[[:space:]]*#[[:space:]]*include[[:space:]]*["<]' /dev/null)

# closure FILE : every header of src/ that a file reaches, itself not counted, into the array `reached`.
closure() {
  local -A seen=()
  local queue=("$1") at each
  reached=()
  while [ "${#queue[@]}" -gt 0 ]; do
    at=${queue[0]}
    queue=("${queue[@]:1}")
    for each in ${names_of[$at]:-}; do
      if [ -z "${seen[$each]:-}" ] && [ -f "src/$each" ]; then
        seen[$each]=1
        reached+=("$each")
        queue+=("src/$each")
      fi
    done
  done
}

checked=0
while IFS= read -r file; do
  folder=${file#src/}
  folder=${folder%%/*}
  checked=$((checked + 1))
  if [ -z "${law[$folder]+set}" ]; then
    complain "$file: the folder src/$folder is not in the include law; add it to tools/check_includes.sh and CONTRIBUTING.md."
    continue
  fi
  for header in ${names_of[$file]:-}; do
    case "$header" in
      tacit.h) continue ;;
      sodium.h)
        case "$folder" in rng | core) ;; *) complain "$file: only rng/ and core/ may include sodium.h." ;; esac
        continue
        ;;
      ../* | ./*) complain "$file: includes \"$header\"; name headers from src/, as in \"core/alloc.h\"." ;;
    esac
    [ -e "src/$header" ] || [ -d "src/${header%%/*}" ] || {
      [ -e "${file%/*}/$header" ] && complain "$file: includes \"$header\"; write it from src/, as in \"$folder/$header\"."
      continue
    }
    target=${header%%/*}
    case " $folder ${law[$folder]} " in
      *" $target "*) ;;
      *) complain "$file: src/$folder may not include \"$header\" (it may include: ${law[$folder]:-nothing else})." ;;
    esac
  done
  if [ -n "${never[$folder]:-}" ]; then
    closure "$file"
    for header in "${reached[@]}"; do
      case " ${never[$folder]} " in
        *" ${header%%/*} "*) complain "$file: reaches $header through its includes, and src/$folder must never see it." ;;
      esac
    done
  fi
done < <(project_files | grep -E '^src/.*\.(c|h|def)$')

# Randomness has one door.
while IFS= read -r hit; do
  complain "$hit: random bits come from src/rng alone."
done < <(project_files | grep -E '^(src|cli)/.*\.[ch]$' | grep -v '^src/rng/' |
  xargs -r grep -nE '\b(rand|rand_r|random|srand|srandom|drand48|lrand48|arc4random[a-z_]*|getrandom|getentropy|randombytes_[a-z]+)[[:space:]]*\(' /dev/null |
  grep -vE '^[^:]+:[0-9]+:[[:space:]]*(\*|/[*/])' | cut -d: -f1,2)

# The programs and the benches' callers use the public interface like everybody else.
while IFS= read -r file; do
  checked=$((checked + 1))
  for header in ${names_of[$file]:-}; do
    case "$header" in
      tacit.h | cli/*) ;;
      *)
        if [ -e "src/$header" ] || [ -d "src/${header%%/*}" ] && [[ "$header" == */* ]]; then
          complain "$file: the command line may include tacit.h and cli/ headers only, not \"$header\"."
        fi
        ;;
    esac
  done
done < <(project_files | grep -E '^cli/.*\.[ch]$')

[ "$checked" -gt 0 ] || complain "no source file was found"
finish "$checked files keep the include law"
