#!/usr/bin/env bash
# party_kills.sh - sessions of which one process is killed or asked to end, or one party cannot pay: nobody pays before
# all have reserved.
#
#   TACIT=build/release/tacit [KILLS=200] [BROKE=50] [SEED=1] tests/fault/party_kills.sh
#
# Half of the moments are spread over 1.2 times the shortest of four measured sessions.  The others follow a frame of a
# party, of any number up to the twelfth, by up to 30 ms.  After each session the rows of all ledgers are compared with
# each other, with what left the parties, and with every sentence that was said.
. "$(dirname "${BASH_SOURCE[0]}")/../cli/parties.sh"
exec 3>&1 2>/dev/null # the shell tells of killed jobs
RANDOM=${SEED:-71}
round=0 story=
fail() {
  failures=$((failures + 1))
  printf >&3 'FAIL %s %s: %s\n' "$round" "$story" "$*"
}
authority authority
key server && sign server authority 2 IP:127.0.0.1
everybody=(alice bob carol)
for name in "${everybody[@]}"; do key $name && sign $name authority 2 "DNS:$name"; done
head -c 32 /dev/urandom >secret
awk 'BEGIN { srand(3); split("alice bob carol", name); for (k in name) print "key,u,v,y" >(name[k] ".csv")
  for (i = 0; i < 60; i++) { y = rand(); for (k in name) printf "p%d,%.6f,%.6f,%.6f\n", i, rand(), rand(), y >(name[k] ".csv") } }'

# party NAME [OPTION...] and serve: run in this process's place, so that $! is the one to kill
party() {
  local name=$1
  shift
  merge --key key --secret secret --label y --loss squared --epsilon 4 --delta 1e-6 --timeout $patience --solver $solver \
    --ledger $name.ledger --transcript $name.jsonl --listen 127.0.0.1:0 -o $name.json "$@"
  exec "$TACIT" party $name.csv --connect 127.0.0.1:$port --cert $name.pem --private-key $name.key --ca authority.pem \
    "${merged[@]}" >$name.out 2>$name.err
}
serve() {
  exec "$TACIT" serve --listen 127.0.0.1:$port --parties ${#present[@]} --cert server.pem --private-key server.key \
    --ca authority.pem --loss squared --penalty l1ball:radius=1 --epsilon 4 --delta 1e-6 --row-norm 2 --label-bound 1 \
    --timeout $patience --solver $solver -o model.json >server.out 2>server.err
}
# begin SOLVER K : nothing is left of the last session; ledgers of K parties
begin() {
  solver=$1 present=("${everybody[@]:0:$2}") port=$((port + 1)) pids=()
  rm -f ./*.ledger* ./*.jsonl ./*.json ./*.out ./*.err
  for name in "${present[@]}"; do ledger $name; done
}
ledger() { # NAME [OPTION...]
  rm -f $1.ledger
  merge --init --epsilon 100 --delta 1e-3 --filter sum "${@:2}"
  "$TACIT" ledger $1.ledger "${merged[@]}" || fail "no ledger"
}
listen() {
  serve &
  pids=([0]=$!)
  listening $port $!
}
# The rows of a ledger: charges, reservations, the state of the last reservation, what is left.
rows() {
  "$TACIT" ledger "$1" --check >check.out || fail "$1: $(grep FAIL check.out)"
  "$TACIT" ledger "$1" --json | python3 -c 'import json, sys
o = json.load(sys.stdin)
r = o["reservations"]
print(len(o["runs"]), len(r), r[-1]["state"] if r else "none", o["left"]["epsilon"])'
}
# ended : every process is waited for; its exit codes are in code[]
ended() {
  local k
  code=()
  for k in "${!pids[@]}"; do
    for _ in $(seq $((600 + 20 * patience))); do kill -0 "${pids[k]}" || break; sleep 0.1; done
    kill -9 "${pids[k]}" && [ "$k" != "$victim" ] && fail "process $k hangs"
    wait "${pids[k]}"
    code[k]=$?
  done
}
# judge : all ledgers and all sentences together
judge() {
  local k name charges holds state left charged=0 missing=0
  declare -gA of=() stood=()
  for name in "${present[@]}"; do
    read -r charges holds state left < <(rows $name.ledger)
    of[$name]=$charges stood[$name]=$state
    [ "$charges" -le 1 ] && [ "$holds" -le 1 ] || fail "$name has $charges charges, $holds reservations"
    [ "$charges$state" = 1charged ] || [ "$charges" = 0 -a "$state" != charged ] || fail "$name: $charges charges, $state"
    [ "${left%.0}" = "$([ "$charges$state" = 0reserved ] && echo 96 || echo $((100 - 4 * charges)))" ] ||
      fail "$name has $left left, $charges charges, $state"
    charged=$((charged + charges)) missing=$((missing + (holds == 0)))
    [ "$charges" = 1 ] || ! grep -qE '"(masked_[a-z]*|choice|score|column)"' $name.jsonl || fail "$name released uncharged"
  done
  [ $charged = 0 ] || [ $missing = 0 ] || fail "$charged were charged before all had reserved"
  sentences
  sessions=$((sessions + (charged > 0))) free=$((free + (charged == 0)))
}
# sentences : what every survivor says is true
sentences() {
  local k name
  for k in "${!pids[@]}"; do
    name=server
    [ $k = 0 ] || name=${present[k - 1]}
    [ "$k" != "$victim" ] || continue
    if [ "${code[k]}" = 0 ]; then
      [ -s model.json ] || fail "$name ended well, and there is no model"
      [ $k = 0 ] || "$TACIT" verify $name.json --ledger $name.ledger >verify.out || fail "$name: $(tail -1 verify.out)"
      continue
    fi
    [ "$(grep -c '^tacit: ' $name.err)" = 1 ] || fail "$name says $(head -c 300 $name.err)"
    ! grep -q 'no model was made' $name.err || [ ! -e model.json ] || fail "$name says that there is no model"
    [ $k != 0 ] || { [ ! -e model.json ] || fail "the server failed, and there is a model"; continue; }
    case ${of[$name]}$(grep -oE 'this party (was not charged|was charged|.s ledger tells whether)' $name.err) in
      '0this party was not charged' | '1this party was charged') ;;
      0) [ ! -e $name.jsonl ] || fail "$name met the server and says $(cat $name.err)" ;;
      *) fail "$name has ${of[$name]} charges and says $(cat $name.err)" ;;
    esac
    [ "${of[$name]}" = 0 ] || grep -qE 'does not know whether|the server says|not the one of the rounds' $name.err ||
      fail "$name knows too much: $(cat $name.err)"
    [ "${stood[$name]}" != reserved ] || fail "$name stopped and keeps its reservation"
  done
}

# ---- kills -----------------------------------------------------------------------------------------------------------

patience=60 victim=- sessions=0 free=0 shortest=9999999 longest=0
microseconds() { echo "${EPOCHREALTIME/./}"; }
join_all() { for k in $(seq ${#present[@]}); do party "${present[k - 1]}" & pids[k]=$!; done; }
for solver in gram_parties dpfw_parties gram_parties dpfw_parties:steps=20,columns=2; do
  story="whole $solver"
  begin $solver 3
  listen
  began=$(microseconds)
  join_all
  ended
  took=$(($(microseconds) - began))
  [ $took -ge $shortest ] || shortest=$took
  [ $took -le $longest ] || longest=$took
  [ "${code[*]}" = '0 0 0 0' ] || fail "exit codes ${code[*]}"
  judge
done
sessions=0 free=0 patience=$((4 + 2 * longest / 1000000)) # of a slow machine more
solvers=(gram_parties dpfw_parties dpfw_parties:steps=20,columns=2)
for ((round = 1; round <= ${KILLS:-6}; round++)); do
  parties=$((2 + RANDOM % 2))
  begin ${solvers[RANDOM % 3]} $parties
  victim=$((RANDOM % (parties + 1))) frames=0 moment=$(((RANDOM * 32768 + RANDOM) % (shortest * 12 / 10)))
  [ $((round % 2)) = 0 ] || frames=$((1 + RANDOM % 12)) moment=$((RANDOM % 30000))
  seen=${present[RANDOM % parties]}
  signal=$((RANDOM % 2 ? 9 : 15))
  story="$solver, $parties parties, signal $signal to process $victim $moment us after frame $frames of $seen"
  listen
  join_all
  left=()
  while [ ${#left[@]} -lt $frames ] && kill -0 "${pids[victim]}"; do
    [ ! -e $seen.jsonl ] || mapfile -t left <$seen.jsonl
    sleep 0.002
  done
  sleep "$(printf '%d.%06d' $((moment / 1000000)) $((moment % 1000000)))"
  kill -$signal "${pids[victim]}"
  ended
  [ "$signal${code[victim]}" != 15143 ] || signal=9 # before it had begun
  [ $signal = 9 ] || victim=-
  judge
  [ $signal = 15 ] || [ $victim = 0 ] || [ "${stood[${present[victim - 1]}]}" != reserved ] || cp ${present[victim - 1]}.ledger kept.$round
done
kills=$((round - 1)) charged=$sessions
victim=-

# ---- parties that cannot pay ---------------------------------------------------------------------------------------------

# kind of its ledger, or its option, and the exit code of the one who cannot pay
kinds=(small small_delta person other spent seed seed_of_all damaged)
for ((round = 1; round <= ${BROKE:-${#kinds[@]}}; round++)); do
  parties=$((2 + RANDOM % 2)) kind=${kinds[(round - 1) % ${#kinds[@]}]}
  begin ${solvers[RANDOM % 3]} $parties
  who=$((1 + RANDOM % parties)) seed=()
  name=${present[who - 1]}
  story="$kind: $solver, $name of $parties parties"
  case $kind in
    small) ledger $name --epsilon 3.999 ;;
    small_delta) ledger $name --delta 9e-7 ;;
    person) ledger $name --unit person ;;
    other) ledger $name --neighbours replace_one ;;
    spent) # by another run on the same rows
      ledger $name --epsilon 7
      cut -d, -f2- $name.csv >own.rows
      "$TACIT" train own.rows --label y --loss squared --penalty none --solver dpgd:steps=2 --row-norm 2 --label-bound 1 \
        --no-intercept --epsilon 3.5 --delta 1e-6 --ledger $name.ledger -o other.json >other.out || fail "another run" ;;
    damaged) sed -i s/add_remove/add_remote/ $name.ledger ;;
  esac
  before=$(sha256sum $name.ledger)
  listen
  for k in $(seq $parties); do
    seed=()
    [ $kind != seed_of_all ] && [ $kind$k != seed$who ] || seed=(--seed 7)
    party "${present[k - 1]}" "${seed[@]}" &
    pids[k]=$!
  done
  ended
  [ ! -e model.json ] || fail "there is a model"
  [ "$before" = "$(sha256sum $name.ledger)" ] || fail "the ledger of $name was changed"
  [[ $kind = seed* ]] || [ ${code[who]} = "$([ $kind = damaged ] && echo 3 || echo 4)" ] ||
    fail "$name: exit ${code[who]}: $(cat $name.err)"
  [[ $kind != s[mp]* ]] || grep -q 'more than is left' $name.err || fail "$name is refused for another reason: $(cat $name.err)"
  for k in $(seq $parties); do
    name=${present[k - 1]}
    grep -q 'this party was not charged' $name.err || fail "$name says $(cat $name.err)"
    [ $kind = damaged -a $k = $who ] || read -r charges holds state left < <(rows $name.ledger)
    [ "$charges" = $([ $kind$k = spent$who ] && echo 1 || echo 0) ] || fail "$name was charged"
    [[ $kind != seed* ]] || [ "$holds" = 0 ] || fail "$name has reserved in a session with a seed"
    [ "$state" != reserved ] || fail "$name keeps its reservation"
  done
done

# ---- what a killed party had reserved ends by itself ------------------------------------------------------------------------

ends=0
story="afterwards"
[ ! -e "$(ls kept.* | head -1)" ] || sleep $((patience + 2))
for file in kept.*; do
  [ -e "$file" ] || continue
  round=${file#kept.} ends=$((ends + 1))
  [ "$(rows "$file")" = '0 1 ended 100.0' ] || fail "$(rows "$file")"
done
printf >&3 'party_kills: %d kills over %d ms: %d sessions uncharged, %d charged; %d reservations were left and ended; ' \
  "$kills" $((shortest * 12 / 10000)) $((kills - charged)) "$charged" $ends
printf >&3 '%d parties that could not pay; %d failures\n' "${BROKE:-${#kinds[@]}}" "$failures"
[ "$failures" = 0 ]
