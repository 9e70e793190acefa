#!/usr/bin/env bash
# test_limits.sh - a file that asks for too much is refused before memory is taken for it: peak and sentence.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

limit=$((200 * 1024)) # KiB of memory in use at the highest
grep -q __asan_init "$TACIT" && limit=$((8 * limit)) # which keeps shadows, and does not give back what is freed
model=(--loss logistic --penalty l2:lambda=0.1 --epsilon 1 --delta 1e-6 --row-norm 1 --seed 1 -o m.json)

# measured FILE COMMAND... : the command's peak of resident memory in KiB goes to FILE; ends as the command does.
cat >measured.py <<'PY'
import resource, subprocess, sys
code = subprocess.run(sys.argv[2:]).returncode
open(sys.argv[1], "w").write(str(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss))
sys.exit(code)
PY
# costly NAME REGEX INPUT ARGS... : INPUT is a command whose output is the table; refused with exit 3 and little memory.
costly() {
  local name=$1 regex=$2 input=$3
  shift 3
  cases=$((cases + 1))
  eval "$input" 2>/dev/null | timeout 600 python3 measured.py peak "$TACIT" "$@" >.out 2>.err
  code=${PIPESTATUS[1]}
  [ "$code" = 3 ] || fail "$name: exit $code, not 3: $(head -c 300 .err)"
  grep -qE -- "^tacit: .*$regex" .err || fail "$name: does not say '$regex': $(head -c 300 .err)"
  [ "$(wc -l <.err)" = 1 ] || fail "$name: not one line"
  [ "$(cat peak)" -lt "$limit" ] || fail "$name: took $(cat peak) KiB"
}
train=(train - --label y "${model[@]}")

# ---- columns ----
costly 'LIBSVM with a large index' 'max-cols' "printf '1 1:1\n-1 2000000000:1\n'" train - "${model[@]}"
costly 'LIBSVM with an index just above' 'max-cols' "printf '1 1:1\n-1 1048577:1\n'" train - "${model[@]}"
costly 'a header of many columns' 'max-cols' "(seq -f c%.0f -s, 1100000; echo 1)" "${train[@]}"
costly 'an array of many columns' 'max-cols' \
  "python3 -c 'import sys; h=b\"{\\\"descr\\\": \\\"<f8\\\", \\\"fortran_order\\\": False, \\\"shape\\\": (2, 2000000000)}\"; sys.stdout.buffer.write(b\"\\x93NUMPY\\1\\0\"+len(h).to_bytes(2,\"little\")+h+bytes(64))'" \
  train - --label 1 "${model[@]}"

# ---- more than the free memory ----
bad 'columns without room, before anything is read' 1 \
  'a fit of 2000000000 columns needs at least [0-9]+ MiB of memory, and [0-9]+ MiB are free; .*--cols' \
  train no-such-file "${model[@]}" --cols 2000000000
bad 'nor is there room below --memory' 1 'and 512 MiB are free; .*--cols.*--memory' train no-such-file "${model[@]}" \
  --cols 5000000 --memory 512M
python3 - <<'PY'
header = b'{"descr": "<f8", "fortran_order": False, "shape": (4294967296, 32)}'
with open("huge.npy", "wb") as file:
    file.write(b"\x93NUMPY\1\0" + len(header).to_bytes(2, "little") + header)
    file.truncate(file.tell() + 4294967296 * 32 * 8)
PY
bad 'an array without room' 1 'the rest of the table needs at least [0-9]+ MiB of memory, and .*--memory' \
  train huge.npy --label 1 "${model[@]}"
if ! grep -q __asan_init "$TACIT"; then # whose shadow is beyond any limit
  (echo a,y; yes '1,1' | head -n 20000000) >long.csv
  cases=$((cases + 1))
  for room in $(seq 220000 20000 400000); do # the program itself takes 100000 or so
    (ulimit -v "$room"; OMP_NUM_THREADS=1 timeout 300 "$TACIT" train long.csv --label y "${model[@]}") >.out 2>.err
    code=$?
    [ "$code" = 1 ] || fail "a table that grows beyond memory: exit $code: $(cat .err)"
    grep -q 'the rest of the table needs at least 64 MiB of memory' .err && break
  done
  grep -q 'on disk with --memory' .err || fail "a table that grows beyond memory: $(cat .err)"
fi

# ---- header and lines ----
costly 'a header of 500 MB of commas' 'max-header' "head -c 500000000 /dev/zero | tr '\\0' ," "${train[@]}"
costly 'a header of commas within its limit' 'max-cols' "(head -c 16000000 /dev/zero | tr '\\0' ,; echo)" "${train[@]}"
costly 'a quoted header without end' 'max-header' "(printf '\"'; head -c 300000000 /dev/zero | tr '\\0' a)" "${train[@]}"
costly 'a record without end' 'max-line' "(printf 'a,y\n'; head -c 300000000 /dev/zero | tr '\\0' 1)" "${train[@]}"
costly 'a quoted record without end' 'max-line' "(printf 'a,y\n\"'; head -c 300000000 /dev/zero | tr '\\0' 1)" \
  "${train[@]}"
costly 'a LIBSVM line without end' 'max-line' "(printf '1 1:1\n1 1:'; head -c 300000000 /dev/zero | tr '\\0' 1)" \
  train - "${model[@]}"

costly 'a JSON line without end' 'max-line' "(printf '{\"a\":\"'; head -c 300000000 /dev/zero | tr '\\0' 1)" "${train[@]}"
costly 'a JSON record of many keys' 'more keys than' \
  "(printf '{\"y\":1'; seq -f ',\"c%.0f\":1' 400000 | tr -d '\n'; echo '}')" "${train[@]}"
costly 'a JSON record of many lists' 'nests lists' \
  "(printf '{\"y\":['; yes '[],' | head -n 300000 | tr -d '\n'; echo '[]]}')" "${train[@]}"
costly 'a JSON record that nests deep' 'nests lists' \
  "(printf '{\"y\":'; head -c 1000000 /dev/zero | tr '\\0' '['; echo)" "${train[@]}"
costly 'a later JSON record of many keys' 'more keys than' \
  "(echo '{\"a\":1,\"y\":1}'; printf '{\"y\":1'; seq -f ',\"c%.0f\":1' 200000 | tr -d '\n'; echo '}')" "${train[@]}"
costly 'a JSON text of 30 MB' 'a text stands' \
  "(printf '{\"y\":1,\"a\":\"'; head -c 30000000 /dev/zero | tr '\\0' 1; echo '\"}')" "${train[@]}"

# ---- compressed ----
costly 'a gzip file of equal lines' 'max-expansion' "(echo a,y; yes 1,1 | head -c 400000000) | gzip -9" "${train[@]}"
if command -v xz >/dev/null; then
  costly 'an xz file of equal lines' 'max-expansion' "(echo a,y; yes 1,1 | head -c 400000000) | xz -1" "${train[@]}"
fi

# ---- JSON ----
deep() { head -c 100000 /dev/zero | tr '\0' "$1"; }
(printf '{"columns":'; deep '['; deep ']'; printf '}') >deep.json
costly 'a schema that nests' 'deeper than 64' "echo a,y" train - --schema deep.json --loss logistic "${model[@]:2}"
(printf '{"columns":['; yes '{},' | head -n 3000000 | tr -d '\n'; printf '{}]}') >wide.json
costly 'a schema of many objects' 'more than 262144 lists' "echo a,y" train - --schema wide.json "${model[@]}"
truncate -s 100G holes.json
costly 'a schema of holes' 'no JSON text' "echo a,y" train - --schema holes.json "${model[@]}"
costly 'a schema of zeros without end' 'no JSON text' "echo a,y" train - --schema /dev/zero "${model[@]}"
costly 'a model that nests' 'deeper than 64' : report deep.json -o page.html
costly 'a model of zeros without end' 'no JSON text' : verify /dev/zero
costly 'verify of a model that nests' 'deeper than 64' : verify deep.json

# ---- the options: what is refused goes through with a raised limit, and what is given holds ----
printf 'a,b,c,d,y\n' >wide.csv
for i in 1 2 3 4 5 6 7 8; do echo "0.$i,0.1,0.2,0.3,$((i % 2))" >>wide.csv; done
bad 'a given limit of columns' 3 'wide.csv.*max-cols' train wide.csv --label y "${model[@]}" --max-cols 4
ok 'as many columns as allowed' train wide.csv --label y "${model[@]}" --max-cols 5
bad 'a given limit of the header' 3 'wide.csv.*longer than 8 bytes.*max-header' train wide.csv --label y "${model[@]}" \
  --max-header 8
ok 'a header as long as allowed' train wide.csv --label y "${model[@]}" --max-header 9
bad 'a given limit of lines' 3 'wide.csv.*longer than 16 bytes.*max-line' train wide.csv --label y "${model[@]}" \
  --max-line 16
ok 'lines as long as allowed' train wide.csv --label y "${model[@]}" --max-line 17
awk 'BEGIN { for (i = 0; i < 40; i++) print (i % 2 ? 1 : -1), (i % 3 + 1) ":0.5", (i % 2 ? 2000 : 5) ":0.25" }' >wide.txt
bad 'an index beyond a given limit' 3 'wide.txt:2:3.*max-cols' train wide.txt "${model[@]}" --max-cols 1999
ok 'an index at the limit' train wide.txt "${model[@]}" --max-cols 2000
ok '--cols is no limit of the file' train wide.txt "${model[@]}" --cols 3000 --max-cols 10
(echo a,y; yes 0.5,1 | head -n 6000000; echo 0.5,0) | gzip -9 >equal.csv.gz
bad 'a small file of equal lines' 3 'equal.csv.gz.*more than 250 times' train equal.csv.gz --label y "${model[@]}"
ok 'the same under a raised limit' train equal.csv.gz --label y "${model[@]}" --max-expansion 2000
for text in 0 -1 K 1X 1e400 M1 0.2 12KB; do
  bad "$text bytes" 2 'max-line needs a number of bytes' train wide.csv --label y "${model[@]}" --max-line "$text"
done
ok 'units are powers of 1024' train wide.csv --label y "${model[@]}" --max-line 0.017K
bad 'and not of 1000' 3 'longer than 16 bytes' train wide.csv --label y "${model[@]}" --max-line 0.0161K
finish
