#!/usr/bin/env bash
# test_parties.sh - tacit serve and tacit party over TLS: a run, and everybody who must be turned away.
. "$(dirname "${BASH_SOURCE[0]}")/parties.sh"

# ---- certificates, records -----------------------------------------------------------------------

authority authority
authority stranger
for name in server alice bob elsewhere; do key $name; done
sign server authority 2 IP:127.0.0.1
sign elsewhere authority 2 DNS:elsewhere.example
sign alice authority 2 DNS:alice
sign bob authority 2 DNS:bob
key mallory bob && sign mallory stranger 2 DNS:bob
key late bob && sign late authority -1 DNS:bob
key twin alice && sign twin authority 2 DNS:alice
head -c 32 /dev/urandom >secret
head -c 32 /dev/urandom >other_secret

# The same people in two orders, their columns apart.
awk 'BEGIN { srand(3); print "key,u,v,y" >"a.csv"; print "key,s,t,y" >"rest.csv"
  for (i = 0; i < 400; i++) {
    u = 2 * rand() - 1; v = 2 * rand() - 1; s = 2 * rand() - 1; t = 2 * rand() - 1
    y = 0.5 * u - 0.4 * s + 0.05 * (2 * rand() - 1)
    printf "p%d,%.6f,%.6f,%.6f\n", i, u, v, y >"a.csv"
    printf "p%d,%.6f,%.6f,%.6f\n", i, s, t, y >"rest.csv"
  } }'
(head -1 rest.csv && tail -n +2 rest.csv | sort -r) >b.csv
sed 's/^p17,/q17,/' b.csv >missing.csv
awk -F, 'NR == 9 { $4 = "0.77" } { print }' OFS=, b.csv >labels.csv
head -300 b.csv >short.csv

terms=(--loss squared --penalty l1ball:radius=1 --epsilon 4 --delta 1e-6 --row-norm 2 --label-bound 1)
serve() { # NAME [OPTION...] : in the background, said in serve.err
  local name=$1
  shift
  port=$((port + 1))
  merge "${terms[@]}" --timeout 60 -o model.json "$@"
  "$TACIT" serve --listen 127.0.0.1:$port --parties 2 --cert "$name.pem" --private-key "$name.key" --ca authority.pem \
    "${merged[@]}" >serve.out 2>serve.err &
  server=$!
  listening $port $server
}
party() { # NAME FILE [OPTION...]
  local name=$1 file=$2
  shift 2
  merge --key key --secret secret --label y --loss squared --epsilon 4 --delta 1e-6 --timeout 60 "$@"
  "$TACIT" party "$file" --connect 127.0.0.1:$port --cert "$name.pem" --private-key "$name.key" --ca authority.pem \
    "${merged[@]}" >"$name.out" 2>"$name.err"
}
# ---- a run ------------------------------------------------------------------------------------------

ok "a ledger" ledger a.ledger --init --epsilon 10 --delta 1e-5
serve server
party bob b.csv --transcript bob.jsonl &
other=$!
party alice a.csv --ledger a.ledger --transcript alice.jsonl -o alice.json
check "alice is done" [ $? = 0 ]
ends "bob is done" $other 0 . bob.out
ends "the server is done" $server 0 "party: epsilon" serve.out
check "both hold the same model" test "$(grep -v '"head"\|"run"\|"ledger"' alice.json | tr -d ' },\n')" = "$(tr -d ' },\n' <model.json)"
ok "the model is verified" verify model.json
ok "with the ledger" verify alice.json --ledger a.ledger
ok "the run is in the ledger" ledger a.ledger --json
says "one run" dpfw_parties
# What left alice: a hello without a record in it, three answers, and releases of known size.
check "every message is of a known kind" test -z "$(grep -vE '^\{"to":0,"type":"(hello|accept|reserved|choice|column)","bytes":[0-9]+,"frame":"[0-9a-f]+"\}$' alice.jsonl)"
steps=$(grep -oE 'steps=[0-9]+' model.json | cut -d= -f2 | sort -u)
columns=$(grep -oE 'columns=[0-9]+' model.json | cut -d= -f2 | sort -u)
check "a choice a round" test "$(grep -c '"choice","bytes":32,' alice.jsonl)" = "$steps"
check "no more columns than promised" test "$(grep -c '"column"' alice.jsonl)" -le "$columns"
check "one hello, accept and reserved" test "$(grep -cE '"(hello|accept|reserved)"' alice.jsonl)" = 3
check "the keys are not in it" test -z "$(xxd -r -p <<<"$(grep -oE '"frame":"[0-9a-f]+' alice.jsonl | cut -d'"' -f4)" | grep -aoE 'p17|p399')"

# ---- what reading took at a party stands in its ledger: no copy of the model can leave it out ----

ok "a ledger for other rows" ledger d.ledger --init --epsilon 10 --delta 1e-5
cat >draft.json <<'DRAFT'
{"format": "tacit-schema", "version": 1, "not_private": "a draft", "label": {"name": "y", "lower": -1, "upper": 1},
 "columns": [{"name": "key", "type": "ignore"}, {"name": "u", "type": "number", "lower": -1, "upper": 1},
             {"name": "v", "type": "number", "lower": -1, "upper": 1}]}
DRAFT
serve server
party bob b.csv &
other=$!
party alice a.csv --ledger d.ledger --schema draft.json -o drafted.json
check "alice is done with a draft" [ $? = 0 ]
ends "and bob" $other 0 . bob.out
ends "and the server" $server 0 . serve.out
ok "the model is verified" verify drafted.json --ledger d.ledger
python3 - <<'EDIT'
import json
model = json.load(open("drafted.json"))
assert any(line.startswith("alice: the schema is a draft") for line in model["privacy"]["unaccounted"])
model["privacy"]["unaccounted"] = []
json.dump(model, open("drafted.json", "w"))
EDIT
"$TACIT" verify drafted.json --ledger d.ledger >verified 2>&1
check "what was left out is found" grep -q 'ledger .*leaves out what its entry names as unaccounted' verified

# ---- records that do not match ----------------------------------------------------------------------

# mismatch NAME FILE REGEX [OPTION...] : bob brings FILE; the server says why, and so do both parties
mismatch() {
  local name=$1 file=$2 regex=$3
  shift 3
  serve server
  party alice a.csv --ledger a.ledger &
  local first=$!
  party bob "$file" "$@"
  check "$name: bob fails" [ $? != 0 ]
  ends "$name" $first 1 "$regex" alice.err
  ends "$name" $server 3 "$regex" serve.err
}
mismatch "another person" missing.csv "record keys of 'alice' and 'bob' differ"
mismatch "another secret" b.csv "keys .* differ, or their secrets" --secret other_secret
mismatch "another label" labels.csv "labels of 'alice' and 'bob' differ"
mismatch "fewer people" short.csv "different numbers of records"

# ---- what was agreed ---------------------------------------------------------------------------------

serve server
party alice a.csv --ledger a.ledger &
other=$!
party bob b.csv --epsilon 3
check "bob does not agree to more" [ $? = 4 ]
check "he says so" grep -q "more than this party agrees to" bob.err
ends "alice is told" $other 1 "the server says" alice.err
ends "so is the server" $server 1 "says: this party stopped" serve.err
ok "nothing was charged by all these" ledger a.ledger --json
check "one run is in the ledger" test "$(grep -o '"plan"' .out | wc -l)" = 1

# ---- who is turned away ---------------------------------------------------------------------------------

# turned_away NAME REGEX COMMAND... : alone with a server that waits 8 seconds
turned_away() {
  local name=$1 regex=$2
  shift 2
  serve server --timeout 8
  "$@" </dev/null >command.out 2>&1
  ends "$name" $server 1 "0 of 2 parties.*$regex" serve.err
}
turned_away "a wrong authority" "certificate" party mallory b.csv
check "mallory is told" grep -q "refused\|certificate\|tampered" mallory.err
turned_away "an expired certificate" "expired" party late b.csv

# ---- revoked certificates ----
key gone bob && sign gone authority 2 DNS:bob
printf '[ca]\ndefault_ca=here\n[here]\ndatabase=index.txt\ndefault_md=sha256\n' >ca.conf
: >index.txt
quiet ca -config ca.conf -cert authority.pem -keyfile authority.key -revoke gone.pem
quiet ca -config ca.conf -cert authority.pem -keyfile authority.key -gencrl -crldays 2 -out revoked.pem
quiet ca -config ca.conf -cert authority.pem -keyfile authority.key -gencrl -crlsec 1 -out stale.pem
serve server --crl revoked.pem
party gone b.csv --timeout 8
check "a revoked certificate is refused" [ $? != 0 ]
party alice a.csv --crl revoked.pem &
other=$!
party bob b.csv --crl revoked.pem
check "those that are not revoked are let in" [ $? = 0 ]
ends "alice, too" $other 0 . alice.out
ends "the server has its model" $server 0 "party: epsilon" serve.out
sleep 1.2
serve server --crl stale.pem --timeout 6
party bob b.csv --timeout 8
check "a list that is out of date lets nobody in" [ $? != 0 ]
ends "the server says why" $server 1 "CRL has expired" serve.err
serve server --crl authority.pem
ends "a list that is none" $server 1 "list of revoked certificates" serve.err
dial() { timeout 60 openssl s_client -connect 127.0.0.1:$port -CAfile authority.pem "$@"; }
turned_away "no certificate" "did not return a certificate" dial
turned_away "an old TLS" "version|protocol" dial -tls1_2 -cert bob.pem -key bob.key
plain() { printf 'GET / HTTP/1.0\r\n\r\n' >/dev/tcp/127.0.0.1/$port; sleep 0.2; }
turned_away "a plaintext client" "http request|wrong version|TLS" plain

serve elsewhere
party alice a.csv
check "a server whose certificate is for another host" [ $? = 1 ]
check "it says so" grep -q "not valid here" alice.err
kill $server
wait $server

serve server
party twin a.csv &
other=$!
party alice b.csv
ends "two of one name" $server 2 "called 'alice'" serve.err
wait $other

# ---- who is asked to end while others are waited for: long before --timeout, which has another sentence ----

serve server --timeout 40
party alice a.csv --ledger a.ledger --timeout 40 &
other=$!
until grep -q "$(printf '0100007F:%04X' $port) .* 01 " <(awk '{ print $3, $2, $4, "" }' /proc/net/tcp); do sleep 0.05; done
sleep 0.5 # alice waits for the welcome
pkill -TERM -P $other
ends "a party that waits for the server" $other 1 "^tacit: cancelled.*not charged" alice.err
kill $server
ends "a server that waits for parties" $server 1 "^tacit: cancelled" serve.err
port=$((port + 1)) # nobody is there
party alice a.csv --timeout 40 &
other=$!
until grep -qE 'SigCgt:.*[4-7c-f][0-9a-f]{3}$' "/proc/$(pgrep -P $other)/status" 2>/dev/null; do sleep 0.05; done # SIGTERM is caught
sleep 0.5
pkill -TERM -P $other
ends "a party that nobody answers" $other 1 "^tacit: cancelled" alice.err

# ---- who does not answer ---------------------------------------------------------------------------------

serve server --timeout 8
exec 9> >(dial -quiet -cert bob.pem -key bob.key >/dev/null 2>&1) # says nothing until it is closed
party alice a.csv
ends "a silent peer" $server 1 "silent for too long" serve.err
check "alice is told" grep -q "silent for too long" alice.err
exec 9>&-

serve server --timeout 10
printf 'TCT1 this is not a message of the program' >garbage
exec 9> >(dial -quiet -cert bob.pem -key bob.key >/dev/null 2>&1)
cat garbage >&9
party alice a.csv
ends "bytes that are no message" $server 1 "no message of this program|type [0-9]+ where|out of its turn" serve.err
exec 9>&-

# Somebody between: one bit of the Nth protected record is turned, on its way up or down.
cat >between.py <<'BETWEEN'
import socket, sys, threading

here, there, record, way = int(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
listener = socket.create_server(("127.0.0.1", here))
client, _ = listener.accept()
server = socket.create_connection(("127.0.0.1", there))

def exactly(source, count):
    got = b""
    while len(got) < count:
        more = source.recv(count - len(got))
        if not more:
            raise EOFError
        got += more
    return got

def carry(source, sink, turn):
    seen = 0
    try:
        while True:
            head = exactly(source, 5)
            body = bytearray(exactly(source, int.from_bytes(head[3:5], "big")))
            seen += head[0] == 23
            if turn and head[0] == 23 and seen == record:
                body[len(body) // 2] ^= 4
                print("turned", len(body), flush=True)
            sink.sendall(head + body)
    except (EOFError, OSError):
        try:
            sink.shutdown(socket.SHUT_WR)
        except OSError:
            pass

up = threading.Thread(target=carry, args=(client, server, way == "up"))
up.start()
carry(server, client, way == "down")
up.join()
BETWEEN
for way in up down; do
  serve server --timeout 10
  real=$port
  port=$((port + 1))
  rm -f model.json
  python3 between.py "$port" "$real" 12 $way >between.out 2>&1 &
  between=$!
  listening $port $between
  party bob b.csv &
  other=$!
  (port=$real && party alice a.csv)
  cases=$((cases + 1))
  wait $other && fail "a bit turned on its way $way: bob made a model of it"
  ends "a bit turned on its way $way" $server 1 "tampered with" serve.err
  wait $between
  check "a bit was turned on its way $way" grep -q turned between.out
  check "no model is made of a turned bit" [ ! -e model.json ]
done

serve server --solver dpfw_parties:steps=30000,columns=1
party alice a.csv --ledger a.ledger &
other=$!
("$TACIT" party b.csv --connect 127.0.0.1:$port --cert bob.pem --private-key bob.key --ca authority.pem --key key \
  --secret secret --label y --loss squared --epsilon 4 --delta 1e-6 >/dev/null 2>&1 & echo $! >bob.pid; wait) 2>/dev/null &
for _ in $(seq 500); do
  "$TACIT" ledger a.ledger --json 2>/dev/null | grep -o '"plan"' | wc -l | grep -q 2 && break
  sleep 0.1
done
sleep 0.2
rm -f model.json
kill -9 "$(cat bob.pid)"
ends "a party that dies" $server 1 "vanished|closed the connection|broke" serve.err
ends "the other is told" $other 1 "the server says" alice.err
check "no model is made" [ ! -e model.json ]
ok "what was charged stays charged" ledger a.ledger --json
check "two runs" test "$(grep -o '"plan"' .out | wc -l)" = 2

# ---- usage --------------------------------------------------------------------------------------------------

bad "no address" 2 "--listen HOST:PORT is missing" serve --parties 2 "${terms[@]}" -o m.json
bad "no certificate" 2 "--cert, --private-key and --ca" serve --listen 127.0.0.1:1 --parties 2 "${terms[@]}" -o m.json
bad "how many" 2 "--parties K" serve --listen 127.0.0.1:1 "${terms[@]}" -o m.json
bad "no secret" 2 "--secret is missing" party a.csv --loss squared --label y --epsilon 1 --delta 1e-6
bad "no such key" 3 "no column \"id\"" party a.csv --loss squared --label y --epsilon 1 --delta 1e-6 --secret secret --key id
bad "no file for the key" 1 "private key" serve --listen 127.0.0.1:$port --parties 2 --cert alice.pem --private-key bob.key \
  --ca authority.pem "${terms[@]}" -o m.json
finish
