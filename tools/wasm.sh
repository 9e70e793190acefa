#!/usr/bin/env bash
# wasm.sh - `tacit verify` as one page for any browser: build/wasm/verify.html, which works from file:// and sends nothing.
#
#   tools/wasm.sh              packages: tools/setup.sh wasm.  jansson and libsodium are compiled from Debian's sources.
#   tools/wasm.sh --quick      not optimised, build/wasm/quick.wasm alone: for tools/check_wasm.sh
#
# The page holds the command line's own verb, compiled for WebAssembly (WASI) with the library as it is.  What a browser
# lacks, and what no verification runs (ledgers, noise, the sums of training), is named in wasm/left_out.txt: where it is
# called the program ends, and the page gives no verdict.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
out=build/wasm objects=build/wasm/objects optimise=-Os
[ "${1:-}" != --quick ] || objects=build/wasm/quick optimise=-O0
mkdir -p "$objects" "$out/inc"
cc=(clang --target=wasm32-wasi "$optimise" -std=gnu11 -ffunction-sections -fdata-sections -ffp-contract=off -fno-math-errno
  -fno-trapping-math -w -D_WASI_EMULATED_MMAN -D_WASI_EMULATED_SIGNAL)

# sources NAME : the folder of Debian's source of a package.  apt's own lists stay as they are.
sources() {
  local lists=$PWD/$out/apt list=$PWD/$out/deb-src.list
  local -a apt=(-qq -o Dir::Etc::SourceList="$list" -o Dir::Etc::SourceParts=/dev/null -o Dir::State::Lists="$lists"
    -o Acquire::Retries=3)
  if ! compgen -G "$out/$1-*/configure*" >/dev/null; then
    mkdir -p "$lists/partial"
    echo "deb-src http://deb.debian.org/debian bookworm main" >"$list"
    [ -e "$lists/fetched" ] || { apt-get "${apt[@]}" update && touch "$lists/fetched"; } >&2
    (cd "$out" && apt-get "${apt[@]}" source --download-only "$1" >&2 && tar xf "$1"_*.orig.tar.*)
  fi
  compgen -G "$out/$1-*/" | head -n 1
}

# compile NAME SOURCE... : one object each, where the source or any header is newer; flags are its own.
header=$(find src extra include cli wasm -name '*.h' -printf '%T@ %p\n' | sort -n | tail -n 1 | cut -d' ' -f2)
compile() {
  local prefix=$1 source object
  shift
  for source in "$@"; do
    object=$objects/$prefix-${source//\//_}.o
    [ "$object" -nt "$source" ] && [ "$object" -nt "$header" ] || printf '%s\n' -c "$source" -o "$object"
  done | xargs -r -P "$(nproc)" -n 4 "${cc[@]}" "${flags[@]}"
}

jansson=$(sources jansson) sodium=$(sources libsodium)
rm -rf "$out/inc" && mkdir -p "$out/inc/sodium"
printf '%s\n' '#define HAVE_STDINT_H 1' '#define HAVE_INTTYPES_H 1' '#define HAVE_STRTOLL 1' '#define HAVE_UNISTD_H 1' \
  '#define INITIAL_HASHTABLE_ORDER 3' '#define VERSION "2.14"' >"$out/inc/jansson_private_config.h"
sed -e 's/@json_inline@/inline/; s/@json_have_long_long@/1/; s/@json_have_localeconv@/1/; s/@json_have_atomic_builtins@/1/
  s/@json_have_sync_builtins@/0/; s/@json_parser_depth_limit@/2048/' "$jansson/src/jansson_config.h.in" >"$out/inc/jansson_config.h"
sed -e 's/@VERSION@/1.0.18/; s/@SODIUM_LIBRARY_VERSION_M[A-Z]*@/10/; s/@SODIUM_LIBRARY_MINIMAL_DEF@//' \
  "$sodium/src/libsodium/include/sodium/version.h.in" >"$out/inc/sodium/version.h"

flags=(-DHAVE_CONFIG_H "-I$out/inc" "-I$jansson/src")
compile jansson "$jansson"/src/*.c
core=$sodium/src/libsodium
flags=(-DCONFIGURED=1 -DNATIVE_LITTLE_ENDIAN=1 "-I$out/inc" "-I$out/inc/sodium" "-I$core/include" "-I$core/include/sodium")
compile sodium \
  "$core"/crypto_generichash/{crypto_generichash,blake2b/generichash_blake2}.c \
  "$core"/crypto_generichash/blake2b/ref/{blake2b-ref,blake2b-compress-ref,generichash_blake2b}.c \
  "$core"/crypto_core/hchacha20/core_hchacha20.c "$core"/crypto_verify/sodium/verify.c "$core"/sodium/{codecs,utils,version}.c \
  "$core"/randombytes/randombytes.c

mapfile -t ours < <(git ls-files 'src/*.c' 'extra/*.c' cli/cmd_verify.c cli/text.c | grep -vxFf wasm/left_out.txt)
flags=(-Iinclude -Isrc -Iextra -Icli -Iwasm/include "-I$out/inc" "-I$jansson/src" "-I$core/include" "-I$core/include/sodium"
  -DCLOCK_MONOTONIC_COARSE=CLOCK_MONOTONIC '-DTCT_ARCHIVE_LIBRARY="none"' '-DTCT_LIBRARY_FOLDER="lib"')
compile tacit "${ours[@]}" wasm/verify.c
mapfile -t left_out < <(sed "s|/|_|g; s|.*|$objects/tacit-&.o|" wasm/left_out.txt)
rm -f "$objects/libtacit.a" "${left_out[@]}"
llvm-ar rcs "$objects/libtacit.a" "$objects"/*.o
# Unoptimised: clang would run wasm-opt with other options.
link() {
  "${cc[@]}" -O0 "$objects"/tacit-wasm_*.o "$objects/libtacit.a" -lwasi-emulated-mman -lwasi-emulated-signal -lm \
    -Wl,--gc-sections -Wl,-z,stack-size=1048576 "$1" -o "$objects.wasm"
}
# A function that is left out ends the program where it is called.  Data would be read at address 0: they end this link.
link -Wl,--import-undefined
link -Wl,--unresolved-symbols=ignore-all
[ "$optimise" != -O0 ] || exit 0
wasm-opt -Oz --converge --strip-debug --strip-producers "$objects.wasm" -o "$out/verify.wasm"
/usr/bin/python3 tools/wasm_page.py "$out/verify.wasm" "$out/verify.html"
printf 'wasm: %s, %d KB, %d KB when compressed\n' "$out/verify.html" $(($(stat -c %s "$out/verify.html") / 1024)) \
  $(($(gzip -9c "$out/verify.html" | wc -c) / 1024))
