#!/usr/bin/env bash
# test_npz.sh - NumPy's archives: the arrays X and y by their names; whatever else they hold is refused with the way out.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

python3 -W ignore - <<'PY'
import random, struct, zipfile
random.seed(6)
rows = [[random.uniform(-1, 1) for _ in range(3)] for _ in range(800)]
y = [float(a + b / 2 + random.gauss(0, .3) > 0) for a, b, c in rows]

def npy(values, shape, descr="<f8", fortran=False):
    head = repr({"descr": descr, "fortran_order": fortran, "shape": shape}).encode()
    head += b" " * (63 - (10 + len(head)) % 64) + b"\n"
    code = {"<f8": "d", "<f4": "f", "|i1": "b", "<i4": "i"}[descr]
    return b"\x93NUMPY\1\0" + struct.pack("<H", len(head)) + head + struct.pack(f"<{len(values)}{code}", *values)

flat = [v for row in rows for v in row]
X, Y = npy(flat, (800, 3)), npy(y, (800,))
turned = npy([rows[i][j] for j in range(3) for i in range(800)], (800, 3), fortran=True)
whole = npy([v for row, label in zip(rows, y) for v in [*row, label]], (800, 4))
open("whole.npy", "wb").write(whole)

single = npy(flat, (800, 3), "<f4")[-4 * len(flat):]
open("single.npy", "wb").write(npy([v for row, label in zip(rows, y) for v in [*row, label]], (800, 4), "<f4"))
widened = struct.unpack(f"<{len(flat)}f", single)
open("widened.npy", "wb").write(
    npy([v for i, label in enumerate(y) for v in [*widened[3 * i : 3 * i + 3], label]], (800, 4)))

def save(name, members, how=zipfile.ZIP_STORED):
    with zipfile.ZipFile(name, "w", how) as z:
        for member, content in members:
            z.writestr(member, content)

save("pair.npz", [("X.npy", X), ("y.npy", Y)])
save("packed.npz", [("X.npy", X), ("y.npy", Y)], zipfile.ZIP_DEFLATED)
save("labels_first.npz", [("y.npy", Y), ("X.npy", X)], zipfile.ZIP_DEFLATED)
save("narrow.npz", [("X.npy", turned), ("y.npy", npy([int(v) for v in y], (800, 1), "|i1"))])
save("one.npz", [("arr_0.npy", whole)])
save("both.npz", [("X.npy", whole), ("y.npy", Y)])
save("X_alone.npz", [("X.npy", whole)])
save("X_without.npz", [("X.npy", X)])
save("y_alone.npz", [("y.npy", Y)])
save("others.npz", [("arr_0.npy", X), ("arr_1.npy", Y)])
save("third.npz", [("X.npy", X), ("y.npy", Y), ("z.npy", Y)])
save("other_second.npz", [("X.npy", X), ("weights.npy", Y)])
save("twice.npz", [("X.npy", X), ("X.npy", X)])
save("short.npz", [("X.npy", X), ("y.npy", npy(y[:799], (799,)))])
save("wide.npz", [("X.npy", X), ("y.npy", npy(y + y, (800, 2)))])
save("cut_array.npz", [("X.npy", X), ("y.npy", Y[:-5])])
save("long_array.npz", [("X.npy", X), ("y.npy", Y + b"more")])
save("cut_header.npz", [("X.npy", X[:40]), ("y.npy", Y)])
save("false_size.npz", [("X.npy", npy([], (1 << 40, 3))), ("y.npy", Y)])
save("wide_columns.npz", [("X.npy", npy([], (1, 1 << 40))), ("y.npy", Y)])
save("label.npz", [("X.npy", X), ("y.npy", npy([2e10 if i == 7 else v for i, v in enumerate(y)], (800,)))])
save("nan.npz", [("X.npy", X), ("y.npy", npy([float("nan") if i == 7 else v for i, v in enumerate(y)], (800,)))])
open("cut.npz", "wb").write(open("pair.npz", "rb").read()[:-3000])
PY
settings=(--loss logistic --row-norm 2 --epsilon 2 --delta 1e-6 --seed 4)
weights() { python3 -c 'import json,sys; m = json.load(open(sys.argv[1])); print(m["coefficients"], m["intercept"])' "$1"; }

ok 'one array with a label column' train whole.npy --label 4 "${settings[@]}" -o whole.json
for each in pair packed labels_first narrow; do
  ok "$each" train $each.npz "${settings[@]}" -o $each.json
  check "$each: the same weights" test "$(weights $each.json)" = "$(weights whole.json)"
  ok "$each: verifies" verify $each.json
done
ok 'predictions of the records, labels or not' predict pair.json pair.npz -o a.txt
ok 'and of records alone' predict pair.json X_without.npz -o b.txt
check 'are the same' cmp -s a.txt b.txt
check 'one for each record' test "$(wc -l <a.txt)" = 800
ok 'scores' evaluate pair.json labels_first.npz
ok 'from standard input' train - "${settings[@]}" -o stdin.json <packed.npz
check 'the same weights' test "$(weights stdin.json)" = "$(weights whole.json)"
for each in one X_alone; do
  ok "$each: a label column by number" train $each.npz --label 4 "${settings[@]}" -o $each.json
  check "$each: the same weights" test "$(weights $each.json)" = "$(weights whole.json)"
done
for given in '--solver '{auto,objpert,dpgd,dpsgd,dpcd} '--solver dpscd --penalty l2:lambda=0.01' \
  '--solver dpfw --penalty l1ball:radius=2' '--scale standard'; do
  read -ra words <<<"$given"
  for each in single widened; do
    ok "$given: an array of floats, $each" train $each.npy --label 4 "${words[@]}" "${settings[@]}" -o $each.json
  done
  check "$given: floats have the weights of the same numbers in double precision" \
    test "$(weights single.json)" = "$(weights widened.json)"
done
ok 'parts of both kinds' train single.npy widened.npy --label 4 "${settings[@]}" -o x.json
ok 'parts in double precision' train widened.npy single.npy --label 4 "${settings[@]}" -o y.json
check 'are one table in double precision' test "$(weights x.json)" = "$(weights y.json)"
ok 'and in single precision where it is asked for' \
  train single.npy widened.npy --label 4 --f32 "${settings[@]}" -o x.json
rm x.json y.json
ok 'a label that is none is left out' train label.npz --invalid zero "${settings[@]}" -o zero.json

refused() { # NAME CODE REGEX FILE ARGS...
  bad "$1" "$2" "$3" train "${@:4}" "${settings[@]}" -o x.json
  check "$1: no model" test ! -e x.json
}
refused 'other names' 3 'numpy.savez\(file, X=records, y=labels\)' others.npz --label 1
refused 'a third array' 3 'other arrays than X and y' third.npz
refused 'another second array' 3 'other arrays than X and y' other_second.npz
refused 'X twice' 3 'twice' twice.npz
refused 'no labels' 3 'lacks the array y.*--label' X_without.npz
refused 'no records' 3 'lacks the array X' y_alone.npz
refused 'labels in two places' 3 'leave --label away' both.npz --label 4
refused 'fewer labels than records' 3 'differ in length' short.npz
refused 'labels in two columns' 3 'more than one column' wide.npz
refused 'an array that is cut' 3 'shorter than its header' cut_array.npz
refused 'an array that is too long' 3 'longer than its header' long_array.npz
refused 'a header that is cut' 3 'ends within its header' cut_header.npz
refused 'more rows than there are' 3 'shorter than its header' false_size.npz
refused 'more columns than are allowed' 3 'max-cols' wide_columns.npz
refused 'a label that is no class' 3 'label.npz:8: .*label' label.npz
refused 'a label that is no number' 3 'nan.npz:8: ' nan.npz
refused 'an archive that is cut' 3 'truncated or damaged|shorter' cut.npz
finish
