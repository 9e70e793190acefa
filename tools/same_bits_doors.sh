#!/usr/bin/env bash
# same_bits_doors.sh - seeded runs of the command line and of Python: classes, searches, estimates, scores, errors,
# persons, ranks, memory.  same_bits.sh runs it for two builds and compares what it leaves.
#
# usage: same_bits_doors.sh BUILD TABLES OUT    TABLES: a folder of tables, filled by the first call; OUT: a new folder
set -euo pipefail
build=$(cd "${1:?usage: same_bits_doors.sh BUILD TABLES OUT}" && pwd)
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
mkdir -p "$2" "$3"
tables=$(cd "$2" && pwd)
out=$(cd "$3" && pwd)
tacit=$build/tacit
export TACIT_REGISTRY=none OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1

if [ ! -e "$tables/made" ]; then
  "$tacit" generate --rows 2000 --seed 3 -o "$tables/p.csv" >/dev/null
  "$tacit" generate --rows 60000 --seed 5 -o "$tables/q.csv" >/dev/null
  "$tacit" generate --rows 2000 --seed 4 --kind regression -o "$tables/r.csv" >/dev/null
  "$root/tests/cli/three_classes.py" 1500 >"$tables/c.csv"
  "$root/tests/cli/persons_table.py" 1500 >"$tables/v.csv"
  python3 - "$tables" <<'PY'
import json, random, sys
folder = sys.argv[1]
a, b = ({"name": n, "type": "number", "lower": -2, "upper": 2} for n in "ab")
json.dump({"columns": [a, b], "label": {"name": "fruit", "values": ["apple", "pear", "plum"]}}, open(f"{folder}/c.json", "w"))
age = {"name": "age", "type": "number", "lower": 18, "upper": 100}
pressure = {"name": "pressure", "type": "number", "lower": 60, "upper": 200}
ill = {"name": "ill", "values": ["no", "yes"], "positive": "yes"}
json.dump({"columns": [age, pressure, {"name": "patient", "type": "ignore"}], "label": ill}, open(f"{folder}/v.json", "w"))
open_age, open_pressure = ({"name": n, "type": "number", "estimate": True} for n in ("age", "pressure"))
json.dump({"columns": [open_age, open_pressure, {"name": "patient", "type": "ignore"}], "label": ill}, open(f"{folder}/e.json", "w"))
json.dump({"columns": [{**open_age, "missing": "estimate"}, open_pressure, {"name": "patient", "type": "ignore"}], "label": ill}, open(f"{folder}/m.json", "w"))
json.dump({"penalty": ["l2:lambda=1e-3", "l2:lambda=0.1"], "solver": ["auto", "dpgd:clip=0.5,steps=10"]}, open(f"{folder}/grid.json", "w"))
random.seed(9)
with open(f"{folder}/k.csv", "w") as f:
    f.write("x,kind,y\n")
    for _ in range(1500):
        x, kind = random.uniform(-1, 1), random.choice("uuuvvw")
        f.write(f"{x:.3f},{kind},{int(x + (kind == 'u') + random.gauss(0, 1) > .5)}\n")
x = {"name": "x", "type": "number", "lower": -1, "upper": 1}
kind = {"name": "kind", "type": "category", "estimate": True}
json.dump({"columns": [x, kind], "label": {"name": "y", "values": ["0", "1"], "positive": "1"}}, open(f"{folder}/k.json", "w"))
PY
  touch "$tables/made"
fi
cd "$tables"
people=(p.csv --schema p.schema.json) real=(r.csv --schema r.schema.json) fruit=(c.csv --schema c.json)
visits=(v.csv --schema v.json --person patient --rows-per-person 3)
budget=(--epsilon 2 --delta 1e-5 --seed 7 --threads 1)

# run NAME ARG... : what it prints, its exit code, and the model that it writes as OUT/NAME.json, if the words have MODEL.
run() {
  local name=$1 code=0
  shift
  "$tacit" "${@/#MODEL/$out/$name.json}" --json >"$out/$name.said" 2>"$out/$name.err" || code=$?
  echo "exit $code" >>"$out/$name.said"
  # Seconds are not bits; nor is the folder of this side.
  sed -i -E "s#$out/##g; s/\"seconds\": ?\{[^}]*\}/\"seconds\":0/g; s/[0-9.]+ s\b/0 s/g" "$out/$name.said" "$out/$name.err"
}
train() { # train NAME ARG... : and all that reads the model
  run "$1" train "${@:2}" "${budget[@]}" -o MODEL
  [ -e "$out/$1.json" ] || return 0
  run "$1.verify" verify "$out/$1.json"
  run "$1.summary" summary "$out/$1.json" --covariance
}

for loss in logistic hinge smoothed_hinge; do train "one_$loss" "${people[@]}" --loss $loss --penalty l2:lambda=1e-3; done
for loss in squared huber; do train "one_$loss" "${real[@]}" --loss $loss --penalty l2:lambda=1e-3; done
train no_intercept "${real[@]}" --loss squared --no-intercept
train loss_auto "${fruit[@]}" --loss auto
train softmax "${fruit[@]}" --loss softmax --penalty l2:lambda=1e-3
for solver in auto dpgd:steps=20 dpscd objpert dpfw; do
  penalty=l2:lambda=1e-3
  [ "$solver" != dpfw ] || penalty=l1ball:radius=4
  train "classes_${solver%%:*}" "${fruit[@]}" --loss logistic --penalty $penalty --solver "$solver"
done
for errors in model robust; do
  train "errors_$errors" "${people[@]}" --loss logistic --penalty l2:lambda=1e-2 --errors $errors
  train "errors_real_$errors" "${real[@]}" --loss squared --penalty l2:lambda=1e-2 --errors $errors
done
for solver in auto dpgd dpnewton dpmetric dpfw:steps=20; do
  penalty=l2:lambda=1e-3
  [ "${solver%%:*}" != dpfw ] || penalty=l1ball:radius=4
  train "persons_${solver%%:*}" "${visits[@]}" --loss logistic --penalty $penalty --solver $solver
done
for kinds in bounds bounds,missing; do
  schema=e.json
  [ $kinds = bounds ] || schema=m.json
  train "estimate_${kinds/,/_}" v.csv --schema $schema --loss logistic --estimate $kinds:share=0.2
done
train estimate_lists k.csv --schema k.json --loss logistic --estimate categories
train replace "${people[@]}" --loss logistic --neighbours replace_one
run pure train "${people[@]}" --loss logistic --penalty l2:lambda=1e-2 --epsilon 1 --delta 0 --seed 5 --solver objpert -o MODEL
train memory q.csv --schema q.schema.json --loss logistic --memory 56M # more rows than fit
train memory_classes "${fruit[@]}" --loss logistic --solver dpgd:steps=10 --memory 52M
for f in one_logistic classes_auto softmax; do
  table=p.csv
  [ $f = one_logistic ] || table=c.csv
  [ ! -e "$out/$f.json" ] || run "score_$f" evaluate "$out/$f.json" $table --epsilon 0.5 --delta 1e-6 --seed 3
  [ ! -e "$out/$f.json" ] || run "exact_score_$f" evaluate "$out/$f.json" $table
  [ ! -e "$out/$f.json" ] || "$tacit" predict "$out/$f.json" $table >"$out/predict_$f.txt"
done
[ ! -e "$out/one_squared.json" ] || run score_real evaluate "$out/one_squared.json" r.csv --epsilon 0.5 --delta 1e-6 --seed 3
[ ! -e "$out/persons_auto.json" ] || run score_persons evaluate "$out/persons_auto.json" v.csv --epsilon 0.5 --delta 1e-6 \
  --seed 3 --person patient --rows-per-person 3
for tries in 1 6; do
  run "search_$tries" search "${people[@]}" --candidates grid.json --loss logistic "${budget[@]}" --tries $tries -o MODEL
  run "search_classes_$tries" search "${fruit[@]}" --candidates grid.json --loss logistic "${budget[@]}" --tries $tries -o MODEL
  run "search_persons_$tries" search "${visits[@]}" --candidates grid.json --loss logistic "${budget[@]}" --tries $tries -o MODEL
done
run search_plan search --dry-run --records 5000 --schema p.schema.json --candidates grid.json --loss logistic --epsilon 1 --delta 1e-6
for epsilon in 0.1 1 8; do
  run "plan_$epsilon" train --dry-run --records 50000 --schema p.schema.json --loss logistic --epsilon $epsilon --delta 1e-6
done

# Two and three ranks that meet make the bytes of one process.
head -c 32 /dev/zero | tr '\0' s >secret
port=$((20000 + $$ % 8000))
meet() { # meet NAME RANKS ARG...
  local name=$1 n=$2 k
  port=$((port + 1))
  for ((k = 0; k < n; k++)); do
    timeout 120 "$tacit" train "${@:3}" "${budget[@]}" -o "$out/$name.json" --meet "127.0.0.1:$port" --ranks "$n" --rank $k \
      --secret secret --meet-timeout 60 >/dev/null 2>&1 &
  done
  wait
  [ -e "$out/$name.json" ] || echo "no model" >"$out/$name.json"
}
meet ranks_auto 2 "${people[@]}" --loss logistic
meet ranks_classes 2 "${fruit[@]}" --loss logistic --solver dpgd:steps=10
meet ranks_adassp 3 "${real[@]}" --loss squared --solver adassp
if command -v mpirun >/dev/null && [ -e "$build/libtacit_mpi.so" ]; then
  mpirun --oversubscribe -n 2 "$tacit" train "${people[@]}" --loss logistic "${budget[@]}" -o "$out/mpi.json" >/dev/null 2>&1 ||
    echo "no model" >"$out/mpi.json"
fi

# Python, of the tree that this build was made from, where its virtual environment is.
tree=$(sed -n 's/^CMAKE_HOME_DIRECTORY:INTERNAL=//p' "$build/CMakeCache.txt")
python=
for each in "$tree" "$root"; do [ ! -x "$each/build/venv/bin/python" ] || { python=$each/build/venv/bin/python && break; }; done
if [ -n "$python" ]; then
  TACIT_LIBRARY=$build/libtacit.so PYTHONPATH=$tree/python "$python" -W ignore "$root/tools/same_bits_python.py" "$tables" "$out"
else
  echo "same_bits: Python is left out, since build/venv is missing (tools/setup.sh python)" >&2
fi
rm -f "$out"/*.err
