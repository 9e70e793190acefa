#!/usr/bin/env bash
# test_parties_hostile.sh - gram_parties against a dishonest server, a dishonest party, and connections that break.
. "$(dirname "${BASH_SOURCE[0]}")/parties.sh"
authority authority
key server && sign server authority 2 IP:127.0.0.1
for name in alice bob; do key $name && sign $name authority 2 "DNS:$name"; done
head -c 32 /dev/urandom >secret
awk 'BEGIN { srand(3); print "key,u,v,y" >"alice.csv"; print "key,s,t,w,y" >"bob.csv"
  for (i = 0; i < 60; i++) {
    y = rand()
    printf "p%d,%.6f,%.6f,%.6f\n", i, rand(), rand(), y >"alice.csv"
    printf "p%d,%.6f,%.6f,%.6f,%.6f\n", i, rand(), rand(), rand(), y >"bob.csv"
  } }'
terms=(--loss squared --penalty l1ball:radius=1 --epsilon 4 --delta 1e-6 --row-norm 2 --label-bound 1 --solver gram_parties)
agreed=(--key key --secret secret --label y --loss squared --epsilon 4 --delta 1e-6 --solver gram_parties)
patience=${PATIENCE:-8} # seconds for one message, at all ends

party() { # NAME [OPTION...]
  local name=$1
  shift
  merge "${agreed[@]}" --timeout "$patience" --ledger $name.ledger --transcript $name.jsonl --listen 127.0.0.1:0 "$@"
  timeout 300 "$TACIT" party "$name.csv" --connect 127.0.0.1:$port --cert "$name.pem" --private-key "$name.key" \
    --ca authority.pem "${merged[@]}" >"$name.out" 2>"$name.err"
}
charged() { "$TACIT" ledger "$1.ledger" --json 2>/dev/null | grep -o '"plan"' | wc -l; }
reserved() { "$TACIT" ledger "$1.ledger" --json 2>/dev/null | grep -o '"end"' | wc -l; }
# fresh : nothing is left of the last run
fresh() {
  local one
  rm -f model.json ./*.ledger* ./*.jsonl
  for one in alice bob; do "$TACIT" ledger $one.ledger --init --epsilon 100 --delta 1e-3 --filter sum >/dev/null || exit 1; done
}
# after NAME : nobody has a model; all reserved before one was charged, and who was charged before its columns left
after() {
  local one spent
  check "$1: no model" [ ! -e model.json ]
  [ "$(charged alice)$(charged bob)" = 00 ] || check "$1: all have reserved" [ "$(reserved alice)$(reserved bob)" = 11 ]
  for one in alice bob; do
    spent=$(charged $one)
    check "$1: $one was not charged twice" [ "$spent" -le 1 ]
    ! grep -qE '"(masked_[a-z]*|choice|score|column)"' $one.jsonl 2>/dev/null || check "$1: $one charged first" [ "$spent" = 1 ]
    check "$1: $one tells what it was charged" test "$(grep -c 'was not charged' $one.err)" != "$spent"
    check "$1: $one says one sentence, $(tr '\n' '|' <$one.err)" test "$(grep -c '^tacit: ' $one.err)" = 1
    check "$1: no control character reaches $one's terminal" test -z "$(tr -d '\n' <$one.err | LC_ALL=C grep -P '[\x00-\x1f\x7f]')"
    check "$1: the masked columns of $one went to its peer alone" test -z "$(grep '"to":0,"type":"masked_columns"' $one.jsonl)"
  done
}
# spoiled NAME WHO REGEX LEFT RELAY... : WHO (alice, bob or serve) says REGEX; no frame of type LEFT left WHO
spoiled() {
  local name=$1 who=$2 regex=$3 left=$4 real other first got given=("$@")
  shift 4
  fresh
  port=$((port + 2))
  real=$((port + 1))
  timeout 300 "$TACIT" serve --listen 127.0.0.1:$real --parties 2 --cert server.pem --private-key server.key --ca authority.pem \
    "${terms[@]}" --timeout "$patience" -o model.json >serve.out 2>serve.err &
  server=$!
  rm -f relay.out
  python3 "$here/relay.py" $port $real "$@" >relay.out 2>&1 &
  local relay=$!
  until grep -q ready relay.out 2>/dev/null; do sleep 0.05; done
  party bob &
  other=$!
  party alice
  first=$?
  wait $other
  got=$?
  # Noise decides whose column a step takes: where the frame never came, the attack is made again.
  if ! grep -q spoiled relay.out && [ "${attempt:-1}" -lt 30 ]; then
    kill $relay $server 2>/dev/null
    wait $relay $server 2>/dev/null
    attempt=$((${attempt:-1} + 1)) spoiled "${given[@]}"
    return
  fi
  check "$name: a party fails: alice $first, bob $got" test $first != 0 -o $got != 0
  check "$name: nobody hangs" test $first != 124 -a $got != 124
  wait $server
  got=$?
  [ "${keeps_model:-}" ] || check "$name: the server fails: $got" test $got != 0 -a $got != 124
  [ -z "${keeps_model:-}" ] || rm -f model.json # the server was honest, and its model is its own
  check "$name: the frame was spoiled" grep -q spoiled relay.out
  cases=$((cases + 1))
  grep -qE -- "$regex" $who.err || fail "$name: $who does not say '$regex': $(head -c 300 $who.err)"
  [ "$left" = - ] || check "$name: no $left left $who" test -z "$(grep "\"type\":\"$left\"" $who.jsonl)"
  kill $relay 2>/dev/null
  wait $relay 2>/dev/null
  [ "${keeps_model:-}" ] || after "$name"
}

# ---- a dishonest server ---------------------------------------------------------------------------------------

down() { # NAME WHO REGEX LEFT TYPE HOW [ARGUMENT]
  spoiled "$1" "$2" "$3" "$4" "$2" down "${@:5}"
}
down "another protocol" alice "no message of this program" hello 32 magic
down "a welcome that is no JSON" alice "unreadable" hello 32 body '{"version"'
down "a welcome beyond all length" alice "longer message than is allowed" hello 32 huge
down "more columns than hellos can name" alice "do not fit this party's records" accept 34 set columns=1000000000
down "columns beyond memory" alice "do not fit this party's records" accept 34 set columns=4611686018427387904
down "other records" alice "do not fit this party's records" accept 34 set rows=61
down "a budget of its own" alice "more than this party agrees to|plan is not what" accept 34 set epsilon=400
down "a plan that is not of these terms" alice "plan is not what" accept 34 set plan='"00"'
down "another's number" alice "do not fit this party's records" accept 34 set index=1
down "a number that nobody has" alice "do not fit this party's records" accept 34 set index=-1
down "one party twice" alice "none of different parties" accept 34 set parties.1.name='"alice"'
down "a party that does not exist" alice "none of different parties" accept 34 set parties='[]'
down "another width of bob's" alice "do not fit this party's records" accept 34 set parties.1.columns=4
down "a seed of everybody" alice "says that everybody has a seed" accept 34 set reproducible=true
down "terms of one party alone" alice "another secret or other terms|parties did not all meet" masked_columns 34 \
  set parties.1.address='"127.0.0.1:9"'
down "a begin before anybody has reserved" alice "type 40 where type 36" reserved 36 type 40
down "go comes twice" bob "type 36 where|out of its turn|out of turn" masked_share 36 twice
down "a product that is too short" bob "another length" masked_share 19 shorter
down "a product that is too long" bob "another length" masked_share 19 longer
down "a product beyond all length" bob "another length" masked_share 19 huge
keeps_model=1
down "a product that is replayed" bob "out of its turn|type 19 where" - 19 twice
down "weights that are no numbers" alice "differs in|not finite|no numbers|no model" - 21 reals nan
down "a model that is not that of the rounds" alice "differs in coefficients" - 38 set coefficients.0=0.7
keeps_model=
down "a reason that paints the terminal" alice "the server says: .\?+\[31mred" accept 34 failure 'x\x1b[31mred\x07'

# ---- a dishonest party, as the server sees it --------------------------------------------------------------------

up() { # NAME REGEX WHO TYPE HOW [ARGUMENT] : the server says REGEX
  spoiled "$1" serve "$2" - "$3" up "${@:4}"
}
up "a hello that is no JSON" "unreadable" alice 33 body '[]'
up "a hello beyond all length" "longer message than is allowed" alice 33 huge
up "columns that have no names" "without a name" alice 33 set features.0=1
up "no columns" "brings no column" alice 33 set features='[]'
up "fewer records" "different numbers of records" bob 33 set rows=-1
up "an address that is none" "says: this party stopped|do not fit" alice 33 set address='"nowhere"'
up "masked columns for the server" "type 17 where type 20" alice 20 type 17
up "a seed that is too short" "another length" bob 18 shorter
up "a share that is too short" "another length" bob 20 shorter
up "a share out of its turn" "out of its turn" bob 20 number
up "a reservation before its turn" "type 37 where" bob 35 type 37
up "a seed of one party" "one has a seed" bob 33 set reproducible=true

# The same parties with dpfw_parties: numbers that are finite, and absurd.
terms=(--loss squared --penalty l1ball:radius=1 --epsilon 4 --delta 1e-6 --row-norm 2 --label-bound 1
  --solver dpfw_parties:steps=4,columns=2,radius=winner)
agreed=(--key key --secret secret --label y --loss squared --epsilon 4 --delta 1e-6)
for number in 1e200 -1e9 nan inf; do
  up "a column of $number" "party [12] sent a column that no records and no noise make" alice 5 reals $number
done
for number in nan inf; do up "a score of $number" "party 1 sent a score that is not finite" alice 3 reals $number; done
terms=(--loss squared --penalty l1ball:radius=1 --epsilon 4 --delta 1e-6 --row-norm 2 --label-bound 1 --solver gram_parties)
agreed=(--key key --secret secret --label y --loss squared --epsilon 4 --delta 1e-6 --solver gram_parties)

# ---- connections that break ---------------------------------------------------------------------------------------

# broken UNCHARGED TYPE:WAY:NAME... : bob's connection is cut there; UNCHARGED 1: nobody may have been charged by then
broken() {
  local free=$1 phase type way what
  shift
  for phase; do
    IFS=: read -r type way what <<<"$phase"
    spoiled "broken at $what" serve "vanished|closed the connection|broke|says: this party stopped|silent" - bob "$way" "$type" cut
    [ "$free" = 0 ] || check "broken at $what: nobody is charged" [ "$(charged alice)$(charged bob)" = 00 ]
  done
}
patience=5
before=(32:down:welcome 33:up:hello 34:down:terms 35:up:accept 36:down:go 37:up:reserved)
broken 1 "${before[@]}" 40:down:begin
broken 0 18:up:seed 19:down:product 20:up:share
# The last frames: the model is made of what was released and paid for, and bob, who is not sent it, cannot know.
unknown() {
  keeps_model=1 spoiled "broken at $1" bob "does not know whether there is a model" - bob down "$2" cut
  check "broken at $1: the server has its model" grep -q "^model" serve.out
  check "broken at $1: alice has her receipt" grep -q "^receipt" alice.out
  check "broken at $1: both have paid" [ "$(charged alice)$(charged bob)" = 11 ]
}
unknown "the weights" 21
unknown "the model" 38
terms=(--loss squared --penalty l1ball:radius=1 --epsilon 4 --delta 1e-6 --row-norm 2 --label-bound 1
  --solver dpfw_parties:steps=4,columns=2)
agreed=(--key key --secret secret --label y --loss squared --epsilon 4 --delta 1e-6)
broken 1 "${before[@]}"
broken 0 40:down:begin 1:down:round 2:up:choice
unknown "the last weights" 6
unknown "its model" 38

# ---- a server without room for its model ---------------------------------------------------------------------------------

fresh
port=$((port + 2))
(ulimit -f 4 && exec "$TACIT" serve --listen 127.0.0.1:$port --parties 2 --cert server.pem --private-key server.key \
  --ca authority.pem "${terms[@]}" --timeout 20 -o model.json >serve.out 2>serve.err) &
server=$!
listening $port $server
party bob --timeout 20 &
other=$!
party alice --timeout 20
ends "a server without room says so" $server 1 "model.json" serve.err
wait $other
check "nobody has reserved for it" [ "$(reserved alice)$(reserved bob)" = 00 ]
check "nothing is left of the model" test -z "$(ls model.json* 2>/dev/null)"

# ---- alice waits with a reservation, for somebody holds bob's ledger -------------------------------------------------

fresh
port=$((port + 2))
python3 -c 'import os, sqlite3, time
held = sqlite3.connect("bob.ledger", isolation_level=None)
held.execute("BEGIN IMMEDIATE")
print("held", flush=True)
while not os.path.exists("let_go"): time.sleep(0.05), os.utime("bob.ledger")  # it moves, so bob waits' >held.out &
holder=$!
until grep -q held held.out; do sleep 0.05; done
timeout 300 "$TACIT" serve --listen 127.0.0.1:$port --parties 2 --cert server.pem --private-key server.key --ca authority.pem \
  "${terms[@]}" --timeout 40 -o model.json >serve.out 2>serve.err &
server=$!
listening $port "$(pgrep -P $server)"
party bob --timeout 40 &
other=$!
(merge "${agreed[@]}" --timeout 40 --ledger alice.ledger
exec "$TACIT" party alice.csv --connect 127.0.0.1:$port --cert alice.pem --private-key alice.key --ca authority.pem \
  "${merged[@]}" >alice.out 2>alice.err) &
alice=$!
for _ in $(seq 300); do [ "$(reserved alice)" = 0 ] || break; sleep 0.1; done
ok "a reservation is shown" ledger alice.ledger
says "its size and its end" '^reserved +epsilon 4, delta 1e-06 until 20[0-9TZ:-]+: dpfw_parties:'
says "what is left beside it" '^left +epsilon 96'
says "nothing is spent" '^spent +epsilon 0'
kill -9 $alice
wait $alice 2>/dev/null
ok "it is exported, and outlives its party" ledger alice.ledger --json
check "as reserved" test "$(field reservations | grep -o "'state': '[a-z]*'")" = "'state': 'reserved'"
if python3 -c 'import jsonschema' 2>/dev/null; then
  check 'the export keeps its schema' python3 -c 'import json, jsonschema, sys
jsonschema.validate(json.load(open(".out")), json.load(open(sys.argv[1])))' "$here/../../docs/reference/format/ledger.schema.json"
fi
ok "a table" generate --rows 50 --seed 1 -o other.csv --schema-output other.json
bad "another run finds less" 4 "beside what is reserved until 20[0-9TZ:-]+ \(budget" train other.csv --schema other.json --loss logistic \
  --solver dpgd:steps=2 --row-norm 4 --epsilon 97 --delta 1e-6 --ledger alice.ledger -o other.model
touch let_go
wait $holder
ends "the server names who is gone" $server 1 "party 'alice'" serve.err
wait $other
check "bob is told that he was not charged" grep -q "this party was not charged" bob.err
check "and was not" [ "$(charged alice)$(charged bob)" = 00 ]
check "he keeps nothing reserved" test -z "$("$TACIT" ledger bob.ledger | grep ^reserved)"
check "no model" [ ! -e model.json ]
finish
