#!/usr/bin/env bash
# test_meet.sh - tacit train --meet: ranks without mpirun make the model of one process, and agree or say why not.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
if [ ! -e "$(dirname "$TACIT")/libtacit_tls.so" ]; then
  echo 'skipped: libtacit_tls.so is not there'
  exit 77
fi

"$TACIT" generate --rows 2000 --seed 3 -o p.csv >/dev/null
tail -n +2 p.csv >records
head -1 p.csv | tee a.csv b.csv >c.csv
head -700 records >>a.csv
tail -n +701 records | head -5 >>b.csv
tail -n +706 records >>c.csv
head -c 32 /dev/urandom >secret
common=(--schema p.schema.json --loss logistic --epsilon 1 --delta 1e-6 --seed 5 --threads 1)
port=$((10000 + RANDOM % 20000))

# meet RANKS ARGS... : that many ranks; rank 0 writes many.json, output of rank K in out.K and err.K, exit codes in `codes`.
# Arguments in extra[K] are added for rank K.
declare -A extra=()
meet() {
  local n=$1 k pids=()
  shift
  port=$((port + 1))
  rm -f many.json
  for ((k = n - 1; k >= 0; k--)); do
    # shellcheck disable=SC2086  # words
    timeout 300 "$TACIT" train "$@" ${extra[$k]:-} -o many.json --meet "127.0.0.1:$port" --ranks "$n" --rank "$k" \
      --meet-timeout 60 --secret secret >"out.$k" 2>"err.$k" </dev/null &
    pids[k]=$!
  done
  codes=
  for ((k = 0; k < n; k++)); do
    wait "${pids[k]}"
    codes+="$? "
  done
}

# same NAME RANKS ARGS... : all ranks end well, and the model has the bytes of one.json.
same() {
  local name=$1 n=$2
  shift 2
  cases=$((cases + 1))
  meet "$n" "$@"
  [ "$codes" = "$(printf '0 %.0s' $(seq "$n"))" ] || fail "$name, $n ranks: exits $codes: $(head -c 300 err.0)"
  cmp -s one.json many.json || fail "$name: $n ranks made another model than one"
  [ ! -s out.1 ] || fail "$name: rank 1 printed something"
}

while read -r solver penalty ranks; do
  settings=("${common[@]}" --solver "$solver" --penalty "$penalty")
  ok "$solver alone" train p.csv "${settings[@]}" -o one.json
  same "$solver" "$ranks" p.csv "${settings[@]}"
done <<'LIST'
auto none 2
dpsgd:epochs=2 l2:lambda=1e-3 3
objpert l2:lambda=1e-3 2
LIST
same 'parts' 3 a.csv b.csv c.csv "${settings[@]}"

# differ NAME CODE REGEX : ranks that are not one program or do not hold one table; all end with that code and sentence.
differ() {
  cases=$((cases + 1))
  meet 2 p.csv "${settings[@]}"
  [ "$codes" = "$2 $2 " ] || fail "$1: exits $codes, not $2"
  grep -qE "^tacit: .*$3" err.0 && grep -qE "^tacit: .*$3" err.1 || fail "$1: $(head -c 300 err.0 err.1)"
  [ ! -e many.json ] || fail "$1: left a model"
}
ok 'ledger' ledger L --init --epsilon 10 --delta 1e-4 --for-tests
settings=("${common[@]}" --solver dpgd:steps=5 --penalty none --ledger L)
extra=([1]='--row-norm 3') && differ 'another row norm' 2 'rank 1 differs from rank 0 in --row-norm'
extra=([0]='--label-bound -1') && differ 'what rank 0 refuses' 2 'differs|refused'
extra=()
head -1900 p.csv >q.csv
cases=$((cases + 1))
port=$((port + 1))
"$TACIT" train q.csv "${settings[@]}" -o many.json --meet 127.0.0.1:$port --ranks 2 --rank 1 --secret secret >out.1 2>err.1 &
"$TACIT" train p.csv "${settings[@]}" -o many.json --meet 127.0.0.1:$port --ranks 2 --rank 0 --secret secret >out.0 2>err.0
code=$?
wait $!
[ "$code.$?" = 3.3 ] || fail "another file: exits $code.$?"
grep -q 'the contents of' err.0 && grep -q 'the contents of' err.1 || fail "another file: $(cat err.0 err.1)"
check 'a refusal charges nothing' test "$("$TACIT" ledger L --json | grep -c '"id"')" = 0
settings=("${common[@]}" --solver dpgd:steps=5 --penalty none --ledger L)
ok 'alone with a ledger' train p.csv "${settings[@]}" -o charged.json
meet 3 p.csv "${settings[@]}"
check 'three ranks are one charge' test "$codes$("$TACIT" ledger L --json | grep -o '"id"' | wc -l)" = '0 0 0 2'
ok 'the model of three ranks verifies' verify many.json --ledger L

# ---- who may come ----
cases=$((cases + 1))
head -c 32 /dev/urandom >other
port=$((port + 1))
"$TACIT" train p.csv "${common[@]}" -o many.json --meet 127.0.0.1:$port --ranks 2 --rank 1 --secret other 2>err.1 >out.1 &
"$TACIT" train p.csv "${common[@]}" -o none.json --meet 127.0.0.1:$port --ranks 2 --rank 0 --secret secret --meet-timeout 6 2>err.0 >out.0
code=$?
wait $!
[ "$code.$?" = 1.1 ] || fail "another secret: exits $code.$?"
grep -q 'does not take rank 1' err.1 && grep -q '1 of 1 other ranks did not come' err.0 || fail "another secret: $(cat err.0 err.1)"
[ ! -e none.json ] || fail 'another secret: a model'

# ---- what another TLS program gets: nothing, but with the key of the secret, TLS 1.3 and its one suite ----
if command -v openssl >/dev/null && command -v python3 >/dev/null; then
  cat >key.py <<'KEY'
# The key of 3 ranks: BLAKE2b over fields, each with its kind and length (docs/decisions/one-transport.md).
import hashlib, struct
fields = ((b"K", open("secret", "rb").read()), (b"T", b"ranks 2"), (b"T", b"key"), (b"O", struct.pack("=I", 0x01020304)),
          (b"R", struct.pack(">Q", 3)))
print(hashlib.blake2b(b"".join(k + struct.pack(">Q", len(v)) + v for k, v in fields), digest_size=32).hexdigest())
KEY
  port=$((port + 1))
  "$TACIT" train p.csv "${common[@]}" -o none.json --meet 127.0.0.1:$port --ranks 3 --rank 0 --secret secret --meet-timeout 60 2>err.0 >out.0 &
  ours=$!
  key=$(python3 key.py)
  suite=(-ciphersuites TLS_CHACHA20_POLY1305_SHA256)
  stranger() { # OPTIONS... : its words in said
    timeout 20 openssl s_client -connect 127.0.0.1:$port "$@" </dev/null >said 2>&1
  }
  for _ in $(seq 1000); do
    stranger -tls1_3
    grep -q 'CONNECTED' said && break
    sleep 0.05
  done
  refused() {
    check "a stranger with $*: $(head -c 300 said)" grep -qE 'alert|Cipher is \(NONE\)' said
    check "a stranger with $* has no session" test "$(grep -cE '^(Reused|New), TLSv1\.3, Cipher is TLS_' said)" = 0
  }
  refused no key
  while read -r -a words; do
    stranger "${words[@]}"
    refused "${words[*]}"
  done <<LIST
-tls1_2
-tls1_2 -psk $key -psk_identity 1
-tls1_3 ${suite[*]} -psk ${key//[0-7]/8} -psk_identity 1
-tls1_3 -ciphersuites TLS_AES_128_GCM_SHA256 -psk $key -psk_identity 1
-tls1_3 ${suite[*]} -groups P-256 -psk $key -psk_identity 1
LIST
  stranger -tls1_3 "${suite[@]}" -psk "$key" -psk_identity 1
  check "who has the key is let in: $(head -c 600 said)" grep -q 'Reused, TLSv1.3, Cipher is TLS_CHACHA20_POLY1305_SHA256' said
  check 'by a fresh exchange' grep -q 'Server Temp Key: X25519' said
  kill "$ours"
  wait "$ours"
fi

# ---- what is wrong at once ----
bad 'no rank' 2 'needs --rank' train p.csv "${common[@]}" -o m.json --meet localhost:1 --ranks 2 --secret secret
bad 'no secret' 2 'needs --rank' train p.csv "${common[@]}" -o m.json --meet localhost:1 --ranks 2 --rank 0
bad 'a rank too many' 2 'one less than --ranks' train p.csv "${common[@]}" -o m.json --meet localhost:1 --ranks 2 --rank 2 --secret secret
bad 'one rank' 2 '2 to 1024' train p.csv "${common[@]}" -o m.json --meet localhost:1 --ranks 1 --rank 0 --secret secret
bad 'no address' 2 'give --meet' train p.csv "${common[@]}" -o m.json --rank 0
bad 'no port' 2 'not HOST:PORT' train p.csv "${common[@]}" -o m.json --meet localhost --ranks 2 --rank 1 --secret secret
bad 'a short secret' 2 'shorter than 32' train p.csv "${common[@]}" -o m.json --meet localhost:1 --ranks 2 --rank 1 --secret /dev/null
bad 'a port that is taken by nobody' 1 'does not answer' train p.csv "${common[@]}" -o m.json --meet 127.0.0.1:1 --ranks 2 --rank 1 --secret secret --meet-timeout 1
bad 'an address of another host' 1 'cannot listen' train p.csv "${common[@]}" -o m.json --meet 192.0.2.1:7000 --ranks 2 --rank 0 --secret secret

finish
