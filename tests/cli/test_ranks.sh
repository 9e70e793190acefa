#!/usr/bin/env bash
# test_ranks.sh - mpirun tacit train: the same bits whatever the ranks and the parts, one error, one charge.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
. "$here/ranks.sh"

"$TACIT" generate --rows 3000 --seed 3 -o p.csv >/dev/null
head -1 p.csv >header
tail -n +2 p.csv >records
common=(--loss logistic --epsilon 1 --delta 1e-6 --seed 5 --threads 1)
people=(--schema p.schema.json --intercept "${common[@]}")

# same NAME RANKS ARGS... : a run on that many ranks makes the model $one, byte for byte.
same() {
  local name=$1 n=$2
  shift 2
  cases=$((cases + 1))
  ranks "$n" train "$@" -o many.json --json
  [ "$code" = 0 ] || fail "$name, $n ranks: exit $code: $(head -c 300 .err)"
  cmp -s "$one" many.json || fail "$name: $n ranks made another model than one"
  grep -q "\"ranks\":$n," .out || fail "$name: --json does not say $n ranks"
  rm -f many.json
}

# ---- each solver, one file ----
while read -r solver penalty many; do
  settings=("${people[@]}" --solver "$solver" --penalty "$penalty")
  one=$solver.json
  ok "$solver alone" train p.csv "${settings[@]}" -o "$one"
  for n in $many; do same "$solver" "$n" p.csv "${settings[@]}"; done
done <<'LIST'
dpscd:epochs=5 l2:lambda=1e-3 2 4
dpscd:state=paper,epochs=2,clip=0.1 l2:lambda=1e-2 3
dpsgd:epochs=3 l2:lambda=1e-3 2 4
dpcd:outer=1 l2:lambda=1e-3 2 4
dpcd:order=greedy,outer=2,inner=10 l2:lambda=1e-3 3
dpagd none 2 4
dpagd:batch=500 none 3
objpert l2:lambda=1e-3 2 4
dpfw:steps=30 l1ball:radius=5 2 4
dpgd:steps=20 none 2
dpnewton:steps=5 none 2
outpert l2:lambda=1e-2 2
LIST

# ---- parts, in any cut ----
i=0 from=0
for lines in 700 20 1400 1 879; do
  i=$((i + 1))
  { cat header && head -n "$lines" <(tail -n +$((from + 1)) records); } >"part$i.csv"
  from=$((from + lines))
done
one=objpert.json
settings=("${people[@]}" --solver objpert --penalty l2:lambda=1e-3)
same 'five parts' 1 part[1-5].csv "${settings[@]}"
for n in 2 3 5; do same 'five parts' "$n" part[1-5].csv "${settings[@]}"; done
xz -k part3.csv
same 'a compressed part' 2 part1.csv part2.csv part3.csv.xz part4.csv part5.csv "${settings[@]}"
python3 - <<'PY'
import struct
for name, code, kind, size in (("floats", "f", "<f4", 300), ("doubles", "d", "<f8", 301)):
    head = str({"descr": kind, "fortran_order": False, "shape": (size, 3)}).ljust(117) + "\n"
    values = [v for i in range(size) for v in (i % 2, i * 7 % 5 - 2, i * 3 % 11 / 16)]
    bytes = struct.pack(f"<{3 * size}{code}", *values)
    open(name + ".npy", "wb").write(b"\x93NUMPY\1\0" + struct.pack("<H", 118) + head.encode() + bytes)
PY
one=both.json
settings=("${common[@]}" --label 1 --row-norm 2 --solver objpert --penalty l2:lambda=1e-3)
ok 'parts of floats and of doubles' train floats.npy doubles.npy "${settings[@]}" -o $one
same 'parts of floats and of doubles' 2 floats.npy doubles.npy "${settings[@]}"

# ---- quotes that hold line ends, commas and quotes ----
awk 'NR == 1 { print $0 ",note" } NR > 1 { print $0 ",\"" (NR % 3 ? "a\n,\"\"b" : "c\n\n") NR "\"" }' p.csv >quoted.csv
sed -E 's/("columns" *: *\[)/\1 {"name": "note", "type": "ignore"},/' p.schema.json >quoted.schema.json
settings=(--schema quoted.schema.json --multiline --intercept "${common[@]}" --solver dpgd:steps=5 --penalty none)
one=quoted.json
ok 'quoted alone' train quoted.csv "${settings[@]}" -o "$one"
for n in 2 4; do same 'quoted' "$n" quoted.csv "${settings[@]}"; done

# ---- without that, and with malformed records that are nothing: stray quotes, empty and long lines ----
awk 'NR % 701 == 5 { print "" } NR % 503 == 7 { sub(/[^,]*$/, "\"&") } NR % 997 == 9 { $0 = $0 ",long,long,long,long,long,long,long,long,long,long,long,long" } 1
  END { print "\n" }' p.csv >stray.csv
settings=("${people[@]}" --invalid zero --max-line 90 --solver dpgd:steps=5 --penalty none)
one=stray.json
ok 'stray quotes alone' train stray.csv "${settings[@]}" -o "$one"
for n in 2 4; do same 'stray quotes' "$n" stray.csv "${settings[@]}"; done

# ---- LIBSVM text: comments, empty lines, an index that only the last part has ----
awk 'NR % 97 == 0 { print "# nothing" } NR % 89 == 0 { print "" } { x = (NR * 7919) % 1000 / 1000; printf "%d %d:%.3f %d:%.3f\n", (x > 0.4) * 2 - 1, 1 + NR % 9, x, 11 + NR % 20, 1 - x }
  END { print "1 3000:0.5" }' records >s.libsvm
settings=("${common[@]}" --row-norm 1 --solver dpfw:steps=20 --penalty l1ball:radius=3)
one=s.json
ok 'libsvm alone' train s.libsvm "${settings[@]}" -o "$one"
for n in 2 4; do same 'libsvm' "$n" s.libsvm "${settings[@]}"; done
settings=("${common[@]}" --row-norm 1 --solver objpert --penalty l2:lambda=1e-2) # 3000 features: conjugate gradients
one=w.json
ok 'libsvm alone' train s.libsvm "${settings[@]}" -o "$one"
for n in 3; do same 'wide libsvm' "$n" s.libsvm "${settings[@]}"; done

# ---- NumPy arrays: rows by their place, in either width; one part or three ----
python3 - <<'ARRAYS'
import struct

def save(name, rows, kind, fortran=False):
    width = len(rows[0])
    head = "{'descr': '<%s', 'fortran_order': %s, 'shape': (%d, %d), }" % (kind, fortran, len(rows), width)
    head += " " * (-(len(head) + 11) % 64) + "\n"
    order = zip(*rows) if fortran else rows
    body = b"".join(struct.pack("<%d%s" % (len(line), "f" if kind == "f4" else "d"), *line) for line in order)
    with open(name, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + body)

rows = [[((i * k * 7919) % 1000) / 1000 - 0.5 for k in range(1, 9)] + [1 if (i * 31) % 7 > 3 else -1] for i in range(1, 2002)]
save("d.npy", rows, "f8"), save("s.npy", rows, "f4"), save("columns.npy", rows, "f8", True)
save("d1.npy", rows[:1], "f8"), save("d2.npy", rows[1:1500], "f8"), save("d3.npy", rows[1500:], "f8")
rows[1990][2] = float("nan")
save("nan.npy", rows, "f8")
ARRAYS
settings=(--label 9 "${common[@]}" --row-norm 1.5 --solver dpgd:steps=5 --penalty none)
for array in d s; do
  one=$array.json
  ok "array $array alone" train $array.npy "${settings[@]}" -o "$one"
  for n in 2 4; do same "array $array" "$n" $array.npy "${settings[@]}"; done
done
one=d.json
for n in 1 2 3; do same 'array in parts' "$n" d[1-3].npy "${settings[@]}"; done

# ---- one error for all, with the line of the whole file ----
# refused NAME CODE REGEX RANKS ARGS... : exits CODE, says one sentence of ours, writes no model.
refused() {
  local name=$1 expected=$2 regex=$3 n=$4
  shift 4
  cases=$((cases + 1))
  rm -f refused.json
  ranks "$n" train "$@" -o refused.json
  [ "$code" = "$expected" ] || fail "$name: exit $code, not $expected: $(grep '^tacit:' .err | head -c 300)"
  [ "$(grep -c '^tacit: ' .err)" = 1 ] || fail "$name: not one sentence: $(grep '^tacit' .err)"
  grep -qE "^tacit: .*$regex" .err || fail "$name: $(grep '^tacit' .err | head -c 300)"
  [ ! -e refused.json ] || fail "$name: left a model"
}
settings=("${people[@]}" --solver dpsgd --penalty none)
awk 'NR == 2700 { sub(/^[^,]*/, "abc") } 1' p.csv >bad.csv
for n in 2 4; do refused 'a bad row of the last rank' 3 'bad.csv:2700:1:' "$n" bad.csv "${settings[@]}"; done
awk 'NR > 1 { $1 = "x" $1 } 1' FS=, OFS=, part5.csv >broken5.csv
refused 'a bad part' 3 'broken5.csv:2:1:' 3 part[1-4].csv broken5.csv "${settings[@]}"
xz -k p.csv
refused 'a compressed file' 2 'compressed' 2 p.csv.xz "${settings[@]}"
arrays=("${common[@]}" --label 9 --row-norm 1.5 --solver dpgd:steps=5 --penalty none)
refused 'an array by columns' 2 'C order' 2 columns.npy "${arrays[@]}"
refused 'a bad element of the last rank' 3 'nan.npy:1991:3' 3 nan.npy "${arrays[@]}"
refused 'fewer parts than ranks' 2 'shared out' 3 part1.csv part2.csv "${settings[@]}"
refused 'no such file' 1 'cannot open' 2 nowhere.csv "${settings[@]}"
refused 'a setting' 2 '--epsilon' 2 p.csv --loss logistic --epsilon -1
refused 'a solver that needs all rows' 2 'primaldpscd needs all rows' 2 p.csv "${people[@]}" --solver primaldpscd --penalty l2:lambda=1e-2
refused 'statistics' 2 'schema' 2 p.csv "${people[@]}" --solver dpsgd --scale standard
printf 'a,y\n1,0\n' >other.csv
refused 'parts of two tables' 3 'one table|no column' 2 part1.csv other.csv --label high_income "${common[@]}" --positive yes --row-norm 9 --solver dpsgd --invalid zero

# ---- one charge; a refusal charges nothing ----
ok 'ledger' ledger L --init --epsilon 1.5 --delta 1e-4 --filter sum --for-tests
ranks 4 train p.csv "${settings[@]}" --ledger L -o charged.json
check 'four ranks are one run' test "$code.$("$TACIT" ledger L --json | grep -o '"id"' | wc -l)" = 0.1
refused 'a second run' 4 '.' 2 p.csv "${settings[@]}" --ledger L
check 'a refused run is no run' test "$("$TACIT" ledger L --json | grep -o '"id"' | wc -l)" = 1
refused 'a bad row' 3 'bad.csv' 2 bad.csv "${settings[@]}" --ledger L
ok 'the model of four ranks verifies' verify charged.json --ledger L

finish
