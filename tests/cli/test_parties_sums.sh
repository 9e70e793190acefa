#!/usr/bin/env bash
# test_parties_sums.sh - gram_parties between processes: the model is the simulation's, and every byte is accounted for.
. "$(dirname "${BASH_SOURCE[0]}")/parties.sh"
everybody=(alice bob carol dave)
authority authority
key server && sign server authority 2 IP:127.0.0.1
for name in "${everybody[@]}"; do key "$name" && sign "$name" authority 2 "DNS:$name"; done
head -c 32 /dev/urandom >secret

# 211 records of seven columns, none longer than its party's part of the norm 6.
rows=211 columns=7
awk -v n=$rows 'BEGIN { srand(3); print "key,c1,c2,c3,c4,c5,c6,c7,y"
  for (i = 0; i < n; i++) {
    printf "p%d", i
    sum = 0
    for (j = 1; j <= 7; j++) { x = 2 * rand() - 1; sum += (j % 3 - 1) * x; printf ",%.6f", x }
    printf ",%.6f\n", sum / 4 + 0.1 * (2 * rand() - 1)
  } }' >all.csv
cut -d, -f2- all.csv >pooled.csv
# part NAME FIRST WIDTH LABELLED : the party's columns, its rows in an order of its own
part() {
  local fields=1,$(($2 + 1))-$(($2 + $3))
  [ "$4" = 0 ] || fields+=,9
  (head -1 all.csv && tail -n +2 all.csv | sort -R --random-source=<(yes "$1")) | cut -d, -f"$fields" >"$1.csv"
}
# parts LABELLED WIDTH... : one file a party; LABELLED: all, or one (alice)
parts() {
  local labelled=$1 first=1 k=0 width
  shift
  for width; do
    part "${everybody[k]}" $first "$width" "$([ "$labelled" = all ] || [ $k = 0 ] && echo 1 || echo 0)"
    first=$((first + width)) k=$((k + 1))
  done
}

terms=(--loss squared --penalty l1ball:radius=1 --epsilon 4 --delta 1e-6 --row-norm 6 --label-bound 3)
serve() { # K [OPTION...]
  local parties=$1
  shift
  port=$((port + 1))
  merge "${terms[@]}" --timeout 30 -o model.json --solver gram_parties "$@"
  "$TACIT" serve --listen 127.0.0.1:$port --parties "$parties" --cert server.pem --private-key server.key --ca authority.pem \
    "${merged[@]}" >serve.out 2>serve.err &
  server=$!
}
party() { # NAME [OPTION...]
  local name=$1
  shift
  merge --key key --secret secret --loss squared --epsilon 4 --delta 1e-6 --timeout 30 --seed 7 --solver gram_parties \
    --listen 127.0.0.1:0 "$@"
  "$TACIT" party "$name.csv" --connect 127.0.0.1:$port --cert "$name.pem" --private-key "$name.key" --ca authority.pem \
    "${merged[@]}" >"$name.out" 2>"$name.err"
}
weights() { sed -n '/"coefficients"/,/\]/p' "$1"; }
simulate() { # K [OPTION...] : simulation.json
  merge "${terms[@]}" --label y --no-intercept --seed 7 --solver gram_parties:parties="$1" -o simulation.json "${@:2}"
  ok "simulation of $1" train pooled.csv "${merged[@]}"
}
# as_simulated NAME K LABELS NUMBER... : parties come in this order, and the weights are those of simulation.json
as_simulated() {
  local name=$1 parties=$2 labels=$3 who processes=() k
  shift 3
  rm -f model.json
  serve "$parties" --solver "gram_parties:labels=$labels"
  for k; do
    who=${everybody[k]}
    local label=(--label y)
    [ "$labels" = all ] || [ "$k" = 0 ] || label=()
    party "$who" "${label[@]}" --solver "gram_parties:labels=$labels" --transcript "$who.jsonl" &
    processes+=($!)
    sleep 0.05
  done
  ends "$name" $server 0 "party: epsilon 4" serve.out
  for k in "${processes[@]}"; do check "$name: a party is done" wait "$k"; done
  check "$name: the weights are the simulation's" test "$(weights model.json)" = "$(weights simulation.json)"
}

# ---- the same model, whoever has which columns, comes when, and holds the labels ----------------------------

simulate 2
parts all 1 6
as_simulated "two parties" 2 all 0 1
ok "it is verified" verify model.json
check "and says that the parties were apart" grep -q '"apart": true' model.json
check "no process was trusted with all" test -z "$(grep Simulated model.json)"
check "the claim says on what it rests" grep -q "The claim rests on parties.conditions" model.json
check "the server is, and it says so" grep -q "conspires with no party" model.json
check "and so are the parties" grep -q "brings its own part of each record to its norm" model.json
cp alice.jsonl before.jsonl
parts one 5 2
as_simulated "one has the labels" 2 one 1 0
simulate 3
parts all 4 1 2
as_simulated "bob, carol, alice" 3 all 1 2 0
as_simulated "carol, alice, bob" 3 all 2 0 1
as_simulated "alice, carol, bob" 3 all 0 2 1
parts one 1 1 5
as_simulated "carol, bob, alice" 3 one 2 1 0
simulate 4
parts one 2 1 1 3
as_simulated "dave, bob, alice, carol" 4 one 3 1 0 2
parts all 3 1 2 1
as_simulated "carol, dave, alice, bob" 4 all 2 3 0 1

# Every party clips its own part; the simulation splits seven columns into three and four.
simulate 2 --row-norm 1.2
parts all 3 4
rm -f model.json
serve 2 --row-norm 1.2
party bob --label y &
other=$!
party alice --label y
ends "short parts" $server 0 "party: epsilon" serve.out
check "bob is done" wait $other
check "each clips as the simulation does" test "$(weights model.json)" = "$(weights simulation.json)"

# ---- every byte that leaves -----------------------------------------------------------------------------------

# frames NAME K WIDTH : what left, as "to type bytes", is what a party of WIDTH columns among K has to say
cells=$((columns * (columns + 1) / 2 + columns))
sent() { sed -E 's/^\{"to":([0-9]+),"type":"([a-z_]+)","bytes":([0-9]+),.*/\1 \2 \3/' "$1.jsonl" | sed -E 's/hello [0-9]+/hello/' | sort; }
due() { # NUMBER K WIDTH
  local k
  printf '%s\n' "0 hello" "0 accept 26" "0 reserved 26" "0 seed 56" "0 masked_share $((24 + 8 * cells))"
  for k in $(seq "$2"); do
    [ "$k" = "$1" ] || printf '%s\n' "$k proof 56" "$k key 56" "$k masked_columns $((24 + 8 * rows * $3))"
  done
}
simulate 4
parts all 3 1 2 1
as_simulated "four parties again" 4 all 0 1 2 3
widths=(3 1 2 1)
for k in 0 1 2 3; do
  check "${everybody[k]}: these frames and no other" test "$(sent "${everybody[k]}")" = "$(due $((k + 1)) 4 "${widths[k]}" | sort)"
done
frames() { sed -nE "s/.*\"type\":\"$2\".*\"frame\":\"[0-9a-f]{48}([0-9a-f]+)\".*/\1/p" "$1"; }
check "the keys of records are in no frame" test -z "$(cut -d'"' -f10 alice.jsonl | xxd -r -p | grep -aoE 'p17,|p199')"
# One seed of the noise, one party, two sessions: masks and keys are others.
for kind in seed key masked_columns masked_share proof; do
  check "another session has another $kind" test "$(frames before.jsonl $kind | head -1)" != "$(frames alice.jsonl $kind | head -1)"
done
check "no two parties have one seed" test "$(for k in 0 1 2 3; do frames "${everybody[k]}.jsonl" seed; done | sort -u | wc -l)" = 4
check "a party says the same to all peers" test "$(frames alice.jsonl masked_columns | sort -u | wc -l)" = 1

# ---- what was agreed on ----------------------------------------------------------------------------------------

parts all 3 4
for name in alice bob; do ok "a ledger" ledger $name.ledger --init --for-tests --epsilon 10 --delta 1e-5; done
# refused NAME CODE REGEX SERVER PARTY... : alice agreed to these, and the server asks for that
refused() {
  local name=$1 expected=$2 regex=$3 solver=$4
  shift 4
  serve 2 --solver "$solver"
  party bob --label y --ledger bob.ledger --solver "${solver%%:*}" &
  local other=$!
  party alice --label y --ledger alice.ledger "$@"
  local got=$?
  check "$name: exit $expected, not $got" [ $got = "$expected" ]
  check "$name: it says so" grep -qE -- "$regex" alice.err
  ends "$name: bob is told" $other 1 "the server says" bob.err
  ends "$name: so is the server" $server 1 "this party stopped" serve.err
}
refused "another solver" 2 "asks for gram_parties, this party agreed to dpfw_parties" gram_parties --solver dpfw_parties
refused "less trust" 2 "asks for dpfw_parties, this party agreed to gram_parties" dpfw_parties
refused "more noise of the server" 2 "server_noise=yes, this party agreed to no" gram_parties:server_noise=yes \
  --solver gram_parties:server_noise=no
refused "more budget" 4 "more than this party agrees to" gram_parties --epsilon 3

serve 2
party bob --label y &
other=$!
merge --key key --secret secret --label y --loss squared --epsilon 4 --delta 1e-6 --timeout 30 --seed 7 --solver gram_parties
"$TACIT" party alice.csv --connect 127.0.0.1:$port --cert alice.pem --private-key alice.key --ca authority.pem \
  "${merged[@]}" >alice.out 2>alice.err
check "nobody can reach alice" [ $? = 1 ]
ends "the server says what is missing" $server 2 "start 'alice' with --listen" serve.err
wait $other

parts one 3 4
serve 2 --solver gram_parties:labels=all
party bob --solver gram_parties:labels=one &
other=$!
party alice --label y
ends "labels of one, where all are to have them" $server 2 "'bob' brings no labels" serve.err
wait $other
parts all 3 4
serve 2 --solver gram_parties:labels=one
party bob --label y --solver gram_parties &
other=$!
party alice --label y
ends "labels of all, where one is to have them" $server 2 "run 'bob' without --label" serve.err
wait $other

ok "nothing was charged by all these" ledger alice.ledger --json
check "no run is in the ledger" test "$(grep -o '"plan"' .out | wc -l)" = 0
rm -f model.json
serve 2 --solver gram_parties:server_noise=yes
party bob --label y --ledger bob.ledger &
other=$!
party alice --label y --ledger alice.ledger -o alice.json
ends "with noise of the server" $server 0 "party: epsilon 4" serve.out
check "bob is done" wait $other
ok "it is verified" verify model.json
check "the server's noise is a condition" grep -q "The server adds its noise before" model.json
ok "and in the ledger of its party" verify alice.json --ledger alice.ledger

# ---- somebody between -----------------------------------------------------------------------------------------

# The authority has signed certificates of both names for somebody, who sits where alice said that she would be.
key false_alice alice && sign false_alice authority 2 DNS:alice
key false_bob bob && sign false_bob authority 2 DNS:bob
cat >between.py <<'BETWEEN'
import socket, ssl, sys, threading

here, there = int(sys.argv[1]), int(sys.argv[2])
def context(side, name):
    c = ssl.SSLContext(side)
    c.load_cert_chain(name + ".pem", name + ".key")
    c.load_verify_locations("authority.pem")
    c.check_hostname = False
    c.verify_mode = ssl.CERT_REQUIRED
    return c

listener = socket.create_server(("127.0.0.1", here))
listener.settimeout(60)
print("ready", flush=True)
bob = context(ssl.PROTOCOL_TLS_SERVER, "false_alice").wrap_socket(listener.accept()[0], server_side=True)
alice = context(ssl.PROTOCOL_TLS_CLIENT, "false_bob").wrap_socket(socket.create_connection(("127.0.0.1", there)))
print("between", flush=True)

def carry(source, sink):
    try:
        while got := source.recv(65536):
            sink.sendall(got)
            print("carried", len(got), flush=True)
    except OSError:
        pass
    try:
        sink.close()
    except OSError:
        pass

threading.Thread(target=carry, args=(alice, bob), daemon=True).start()
carry(bob, alice)
BETWEEN
real=$((port + 7)) here=$((port + 8))
python3 between.py $here $real >between.out 2>&1 &
between=$!
until grep -q ready between.out 2>/dev/null; do sleep 0.05; done
rm -f model.json
serve 2
party bob --label y --ledger bob.ledger &
other=$!
party alice --label y --ledger alice.ledger --listen 127.0.0.1:$real --announce 127.0.0.1:$here --transcript alice.jsonl
check "alice meets nobody" [ $? != 0 ]
ends "somebody between the parties" $other 1 "'alice' has another secret|party 'alice'|the server says" bob.err
check "alice saw it" grep -qE "'bob' has another secret or other terms, or somebody is between" alice.err
ends "the server is told" $server 1 "this party stopped" serve.err
check "it was between them" grep -q carried between.out
check "no masked column went out" test -z "$(grep -E 'masked|seed' alice.jsonl)"
check "no model is made" [ ! -e model.json ]
ok "nothing was charged" ledger alice.ledger --json
check "one run is in the ledger" test "$(grep -o '"plan"' .out | wc -l)" = 1
kill $between 2>/dev/null
wait $between 2>/dev/null

bad "an address that is announced only" 2 "give --listen" party alice.csv --connect 127.0.0.1:1 --cert alice.pem \
  --private-key alice.key --ca authority.pem --key key --secret secret --label y --loss squared --epsilon 1 --delta 1e-6 \
  --announce 127.0.0.1:2
bad "an address that nobody can reach" 2 "give --announce" party alice.csv --connect 127.0.0.1:1 --cert alice.pem \
  --private-key alice.key --ca authority.pem --key key --secret secret --label y --loss squared --epsilon 1 --delta 1e-6 \
  --listen 0.0.0.0:0
finish
