#!/usr/bin/env bash
# check_wasm.sh - the program of the page that verifies links, and says of a model, a study and a forgery what `tacit verify` says.
#
#   tools/check_wasm.sh TACIT      packages: tools/setup.sh wasm host.  The host is wasm/verify.js, as on the page, in node.
#
# Exit code 77, and a sentence, where a tool is missing, or the sources of jansson and libsodium cannot be fetched.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1
tacit=$(realpath "${1:-build/release/tacit}")
skip() { echo "check_wasm.sh: SKIPPED: $1" && exit 77; }
for tool in clang wasm-ld llvm-ar node; do command -v "$tool" >/dev/null || skip "no $tool (tools/setup.sh wasm host)"; done
[ -d /usr/lib/wasm32-wasi ] || [ -d /usr/lib/wasi-sysroot ] || skip "no wasi-libc (tools/setup.sh wasm)"
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT
tools/wasm.sh --quick >"$work/made" 2>&1 || {
  grep -qE '^E: |Could not resolve' "$work/made" && skip "Debian's sources cannot be fetched"
  cat "$work/made" && exit 1
}
cp tests/files/solver_dpmetric.json "$work/model.json"
cp tests/files/study.json "$work"
sed -E 's/"epsilon": ?[0-9.e-]+/"epsilon":0.25/' "$work/model.json" >"$work/forgery.json"
cd "$work" || exit 1
node - "$OLDPWD" "$tacit" model.json forgery.json study.json <<'HOST'
const [root, tacit, ...files] = process.argv.slice(2);
const { readFileSync } = require("fs"), { spawnSync } = require("child_process");
const { verifyFile } = require(`${root}/wasm/verify.js`);
const program = new WebAssembly.Module(readFileSync(`${root}/build/wasm/quick.wasm`));
const rounded = (text) => text.replace(/-?\d+\.\d+(?:e[-+]?\d+)?|-?\d+e[-+]?\d+/g, (number) => Number(number).toPrecision(6)); // another libm
(async () => {
  for (const file of files) {
    const native = spawnSync(tacit, ["verify", file, "--json"], { encoding: "utf8" });
    const said = await verifyFile(program, new Uint8Array(readFileSync(file)), true, file);
    if (said.code !== native.status || rounded(said.out + said.error) !== rounded(native.stdout + native.stderr) || !said.out) {
      console.log(`${file}: the page says\n${said.code} ${said.out}${said.error}\nand tacit verify\n${native.status} ${native.stdout}${native.stderr}`);
      process.exitCode = 1;
    } else console.log(`${file}: exit code ${said.code}, ${said.out.length} characters of JSON, both the same`);
  }
})().catch((fault) => { console.log(fault); process.exitCode = 1; });
HOST
