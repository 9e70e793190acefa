#!/usr/bin/env bash
# pages.sh - manual pages and shell completions, as the program writes them.   tools/pages.sh TACIT FOLDER
set -euo pipefail
tacit=${1:?usage: pages.sh TACIT FOLDER} pages=${2:?usage: pages.sh TACIT FOLDER}
mkdir -p "$pages/man1"
"$tacit" help --manual >"$pages/man1/tacit.1"
for verb in $("$tacit" help | sed -nE 's/^  ([a-z_]+)  .*/\1/p'); do "$tacit" help "$verb" --manual >"$pages/man1/tacit-$verb.1"; done
"$tacit" help --completion bash >"$pages/tacit.bash"
"$tacit" help --completion zsh >"$pages/_tacit"
"$tacit" help --completion fish >"$pages/tacit.fish"
