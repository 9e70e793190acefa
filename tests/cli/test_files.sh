#!/usr/bin/env bash
# test_files.sh - tables as people have them: delimiters, decimal commas, archives, and files of other programs.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

python3 - <<'PY'
import json, random, zipfile
random.seed(1)
rows = [(round(random.random(), 3), round(random.random(), 3)) for _ in range(700)]
def write(name, delimiter, mark=".", end="\n", head="a{0}b{0}y"):
    with open(name, "w", newline="") as file:
        file.write(head.format(delimiter) + end)
        for a, b in rows:
            file.write(delimiter.join([str(a).replace(".", mark), str(b).replace(".", mark), str(int(a + b > 1))]) + end)
write("comma.csv", ",")
write("semicolon.csv", ";")
write("mark.csv", ";", ",")
write("tab.csv", "\t", end="\r\n")
write("bar.csv", "|", head='\ufeff"a"{0}b{0}y')
write("colon.csv", ":")
write("german.csv", ";", head='a{0}"b"{0}y')
zipfile.ZipFile("one.zip", "w", zipfile.ZIP_DEFLATED).write("comma.csv")
with zipfile.ZipFile("two.zip", "w") as z:
    z.write("comma.csv"), z.write("tab.csv")
with zipfile.ZipFile("sheet.xlsx", "w") as z:
    z.writestr("[Content_Types].xml", "<Types/>")
open("table.parquet", "wb").write(b"PAR1" + bytes(90))
open("table.feather", "wb").write(b"ARROW1\0\0" + bytes(90))
open("wide.csv", "wb").write("a,y\n1,0\n".encode("utf-16"))
open("thousands.csv", "w").write("a;y\n1.234,5;1\n")
with open("notes.csv", "w") as file:
    file.write("a;note;b;y\n" + "".join(f'{a};"one;\nand two";{b};{int(a + b > 1)}\n' for a, b in rows))
unit = {"type": "number", "lower": 0, "upper": 1}
columns = [{"name": "a", **unit}, {"name": "note", "type": "ignore"}, {"name": "b", **unit}]
json.dump({"columns": columns, "label": {"name": "y", "values": ["0", "1"], "positive": "1"}}, open("notes.json", "w"))
open("missing.csv", "w").write("a,y\n1,1\nNA,0\n")
PY

settings=(--label y --loss logistic --epsilon 1 --delta 1e-5 --row-norm 2 --seed 1)
model() { # NAME ARGS... : trains, and the coefficients are those of comma.csv
  local name=$1
  shift
  ok "$name" train "$@" "${settings[@]}" -o m.json
  check "$name: the same model" cmp -s m.json comma.json
}
ok 'commas' train comma.csv "${settings[@]}" -o comma.json
model 'semicolons' semicolon.csv
model 'tabs and CRLF' tab.csv
model 'bars, a byte order mark and quotes' bar.csv
model 'a decimal comma' mark.csv --decimal ,
model 'a quoted name' german.csv
model 'another delimiter, named' colon.csv --delimiter :
model 'the delimiter as a word' tab.csv --delimiter tab
model 'an archive of one file' one.zip
if command -v mpirun >/dev/null && [ -e "$(dirname "$TACIT")/libtacit_mpi.so" ]; then
  export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
  export ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0
  settings+=(--schema notes.json --multiline)
  ok 'line ends in quotes' train notes.csv "${settings[@]}" -o notes.model
  check 'two ranks' timeout 300 mpirun -n 2 "$TACIT" train notes.csv "${settings[@]}" -o m.json >/dev/null 2>.err
  check 'two ranks: the same model' cmp -s m.json notes.model
  unset 'settings[-1]' 'settings[-1]' 'settings[-1]'
else
  echo "skipped: two ranks (no Open MPI)"
fi

# ---- a quote too many is one record's own ----
awk 'BEGIN { print "a,b,y"; for (i = 1; i <= 300; i++) print (i % 7) / 7 "," (i == 100 ? "\"" : "") (i % 5) / 5 (i == 150 ? ",\"0\"" : "," i % 2) }' >stray.csv
rows() { python3 -c 'import json, sys; print(json.load(sys.stdin)["rows"])' <.out; }
stray=(train stray.csv "${settings[@]}" --json)
bad 'a stray quote' 3 'stray.csv:101:2: .*--multiline' "${stray[@]}" -o m.json
ok 'a stray quote, malformed records being nothing' "${stray[@]}" --invalid zero -o m.json
check 'takes no other record along' test "$(rows)" = 300
ok 'but where lines may be within quotes' "${stray[@]}" --invalid zero --multiline -o m.json
check 'it takes those up to the next one' test "$(rows)" = 250

refused() { # NAME REGEX ARGS...
  local name=$1 regex=$2
  shift 2
  rm -f m.json
  bad "$name" 3 "$regex" train "$@" "${settings[@]}" -o m.json
  check "$name: no model" test ! -e m.json
}
refused 'a decimal comma that is not announced' 'mark.csv:2:1: .*--decimal ,' mark.csv
refused 'points between thousands' 'thousands.csv:2:1: .*decimal number' thousands.csv --decimal ,
refused 'a comma for both' 'leave --decimal away' comma.csv --decimal ,
refused 'a word for a missing value' 'missing.csv:3:1: .*missing_values' missing.csv
refused 'the wrong delimiter' 'single column, and not "y"; name the delimiter' comma.csv --delimiter ';'
refused 'two files in an archive' 'several files' two.zip
refused 'a spreadsheet' 'spreadsheet.*CSV' sheet.xlsx
refused 'Parquet' 'Parquet.*data frame' table.parquet
refused 'Arrow' 'Arrow.*data frame' table.feather
refused 'UTF-16' 'UTF-16.*UTF-8' wide.csv
for each in aa 1 a '"' e; do
  bad "--delimiter $each" 2 'delimiter is one character' train comma.csv --delimiter "$each" "${settings[@]}" -o m.json
done
bad '--decimal ;' 2 'must be one of' train comma.csv --decimal ';' "${settings[@]}" -o m.json
bad 'a comma for both, named' 2 'both the decimal mark' train comma.csv --decimal , --delimiter , "${settings[@]}" -o m.json
ok 'predictions from another delimiter' predict comma.json semicolon.csv --label y -o a.txt
ok 'predictions' predict comma.json comma.csv --label y -o b.txt
check 'are the same' cmp -s a.txt b.txt
finish
