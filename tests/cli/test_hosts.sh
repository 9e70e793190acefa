#!/usr/bin/env bash
# test_hosts.sh - ranks and parties on several hosts: network namespaces with addresses of their own behind a router.
#
# A slow relay stands between hosts, a link that goes down for a moment loses packets, and a host vanishes for good.
# All traffic stays in namespaces of this process's own.  Skipped where namespaces are not allowed.
. "$(dirname "${BASH_SOURCE[0]}")/parties.sh"

id=tct$$
space() { ip netns exec "$id$1" "${@:2}"; }
if ! command -v ip >/dev/null || ! ip netns add "${id}r" 2>/dev/null; then
  echo "skipped: network namespaces are not allowed here"
  exit 77
fi
children=()
gone() {
  [ "${#children[@]}" = 0 ] || kill "${children[@]}" 2>/dev/null
  for host in r 1 2 3; do ip netns del "$id$host" 2>/dev/null; done
  cd / && rm -rf "$work"
}
trap gone EXIT
# Host K has 10.219.K.2, and the router between them 10.219.K.1.
up() {
  local k
  ip -n "${id}r" link set lo up
  ip netns exec "${id}r" sh -c 'echo 1 >/proc/sys/net/ipv4/ip_forward' || return 1
  for k in 1 2 3; do
    ip netns add "$id$k" && ip -n "$id$k" link set lo up || return 1
    ip link add "v$k" netns "$id$k" type veth peer name "v$k" netns "${id}r" || return 1
    ip -n "$id$k" addr add "10.219.$k.2/24" dev "v$k" && ip -n "$id$k" link set "v$k" up || return 1
    ip -n "${id}r" addr add "10.219.$k.1/24" dev "v$k" && ip -n "${id}r" link set "v$k" up || return 1
    ip -n "$id$k" route add default via "10.219.$k.1" || return 1
  done
}
if ! up 2>up.err; then
  echo "skipped: hosts cannot be made of namespaces here ($(tail -1 up.err))"
  exit 77
fi

# delay LISTEN_AT TO_HOST : in the router's namespace, every piece of a stream comes 5 ms late.
cat >delay.py <<'RELAY'
import socket, sys, threading, time
def pump(a, b):
    try:
        while data := a.recv(65536):
            time.sleep(0.005)
            b.sendall(data)
    except OSError:
        pass
    for end in (a, b):
        try: end.shutdown(socket.SHUT_RDWR)
        except OSError: pass
ear = socket.create_server((sys.argv[1], int(sys.argv[2])), backlog=64)
print("ready", flush=True)
while True:
    came = ear.accept()[0]
    for _ in range(200):
        try: on = socket.create_connection((sys.argv[3], int(sys.argv[2]))); break
        except OSError: time.sleep(0.05)
    for pair in ((came, on), (on, came)): threading.Thread(target=pump, args=pair, daemon=True).start()
RELAY
delay() {
  space r timeout 300 python3 delay.py "$1" "$port" "$2" >delay.out 2>delay.err &
  children+=($!)
  until grep -q ready delay.out; do sleep 0.05; done
}

"$TACIT" generate --rows 2000 --seed 3 -o p.csv >/dev/null
head -c 32 /dev/urandom >ranks.secret
common=(--schema p.schema.json --loss logistic --epsilon 1 --delta 1e-6 --threads 1)

# rank K ADDRESS ARGS... : rank K on host K+1, in the background; its process in pids[K].
rank() {
  local k=$1 at=$2
  shift 2
  space $((k + 1)) timeout -k 1 100 "$TACIT" train p.csv "${common[@]}" "$@" -o model.json --meet "$at:$port" --ranks 3 --rank "$k" \
    --secret ranks.secret >"out.$k" 2>"err.$k" </dev/null &
  pids[k]=$!
  children+=($!)
}
pids=()
all() { # waits for the three; exit codes in $codes
  local k
  codes=
  for k in 0 1 2; do
    wait "${pids[k]}"
    codes+="$? "
  done
}

# ---- ranks on three hosts, one of them behind the slow relay ----
ok 'one process' train p.csv "${common[@]}" --solver dpgd:steps=20 --penalty none --seed 5 -o one.json
delay 10.219.3.1 10.219.1.2
for k in 0 1; do rank $k 10.219.1.2 --solver dpgd:steps=20 --penalty none --seed 5; done
rank 2 10.219.3.1 --solver dpgd:steps=20 --penalty none --seed 5
all
check "three hosts are done: $codes $(head -c 300 err.0)" [ "$codes" = '0 0 0 ' ]
check 'three hosts make the model of one process' cmp -s one.json model.json
rm -f model.json

# ---- mpirun across the hosts: its remote agent enters a namespace, and gives it a name of its own ----
if command -v mpirun >/dev/null && [ -e "$(dirname "$TACIT")/libtacit_mpi.so" ]; then
  cat >agent.sh <<AGENT
#!/bin/sh
# agent.sh ADDRESS WORDS... : what ssh would do
host=\$(echo "\$1" | cut -d. -f3)
shift
exec ip netns exec "$id\$host" unshare --uts sh -c "hostname host\$host; \$*"
AGENT
  chmod +x agent.sh
  over=(--allow-run-as-root -n 3 --host 10.219.1.2,10.219.2.2,10.219.3.2 --mca plm_rsh_agent "$PWD/agent.sh" --mca pml ob1
    --mca btl tcp,self --mca btl_tcp_if_include 10.219.0.0/16 --mca oob_tcp_if_include 10.219.0.0/16 --mca oob tcp)
  mpi() { # SECONDS ARGS... : rank 0 is on host 1, where mpirun is
    space 1 unshare --uts sh -c 'hostname host1; exec "$@"' - timeout -k 1 "$1" mpirun "${over[@]}" \
      sh -c 'hostname >>hosts.out; exec "$@"' - "$TACIT" train p.csv "${common[@]}" "${@:2}" -o model.json >mpi.out 2>mpi.err </dev/null
  }
  mpi 100 --solver dpgd:steps=20 --penalty none --seed 5
  check "mpirun on three hosts: $(head -c 500 mpi.err)" [ $? = 0 ]
  check "a rank ran on every host: $(sort hosts.out | tr '\n' ' ')" [ "$(sort hosts.out | tr '\n' ' ')" = 'host1 host2 host3 ' ]
  check 'mpirun over three hosts makes the model of one process' cmp -s one.json model.json
  rm -f model.json
else
  echo 'skipped: no mpirun here, or a program without it: ranks under mpirun on several hosts'
fi

# ---- a link that is down for a moment: packets are lost, and sent again ----
long=(--solver dpsgd:epochs=500,batch=100 --penalty none)
ok 'one process' train p.csv "${common[@]}" "${long[@]}" --seed 5 -o one.json
port=$((port + 1))
for k in 0 1 2; do rank $k 10.219.1.2 "${long[@]}" --seed 5 --meet-timeout 30; done
for _ in 1 2 3; do
  sleep 0.3
  ip -n "${id}r" link set v2 down
  sleep 0.2
  ip -n "${id}r" link set v2 up
done
all
check "an interrupted link: $codes $(head -c 300 err.0)" [ "$codes" = '0 0 0 ' ]
check 'an interrupted link changes no byte' cmp -s one.json model.json
rm -f model.json

# ---- a host that vanishes ----
ok 'ledger' ledger L --init --epsilon 10 --delta 1e-4
port=$((port + 1))
for k in 0 1 2; do rank $k 10.219.1.2 --solver dpsgd:epochs=100000,batch=100 --penalty none --meet-timeout 12 --ledger L; done
charges() { "$TACIT" ledger L --json | grep -o '"id"' | wc -l; }
for _ in $(seq 300); do
  [ "$(charges)" = 0 ] || break
  sleep 0.1
done
sleep 0.5
ip -n "${id}r" link set v3 down
all
check "a vanished host ends all: $codes" [ "$codes" = '1 1 1 ' ]
check "rank 0 names it: $(cat err.0)" grep -q 'rank 2 of this run has ended or does not answer' err.0
check "the vanished one ends, too: $(cat err.2)" grep -q 'rank 0 of this run has ended' err.2
check 'no model, one charge' test "$(ls model.json* 2>/dev/null | wc -l).$(charges)" = 0.1
ip -n "${id}r" link set v3 up
ip -n "${id}3" route replace default via 10.219.3.1

# ---- a server and two parties ----
authority authority
for name in server alice bob; do key $name; done
sign server authority 2 IP:10.219.1.2,IP:10.219.3.1
sign alice authority 2 DNS:alice
sign bob authority 2 DNS:bob
awk 'BEGIN { srand(3); print "key,u,v,y" >"a.csv"; print "key,s,t,y" >"b.csv"
  for (i = 0; i < 400; i++) {
    u = 2 * rand() - 1; v = 2 * rand() - 1; s = 2 * rand() - 1; t = 2 * rand() - 1; y = 0.5 * u - 0.4 * s
    printf "p%d,%.6f,%.6f,%.6f\n", i, u, v, y >"a.csv"; printf "p%d,%.6f,%.6f,%.6f\n", i, s, t, y >"b.csv" } }'
terms=(--loss squared --epsilon 4 --delta 1e-6)
for name in alice bob; do ok "a ledger for $name" ledger $name.L --init --for-tests --epsilon 100 --delta 1e-3; done
spent() { "$TACIT" ledger "$1.L" --json | grep -o '"plan"' | wc -l; }
session() { # TIMEOUT [OPTION...] : server on host 1, alice on host 2, bob on host 3 behind the relay
  port=$((port + 1))
  rm -f model.json
  delay 10.219.3.1 10.219.1.2
  space 1 timeout 100 "$TACIT" serve --listen "10.219.1.2:$port" --parties 2 --cert server.pem --private-key server.key --ca authority.pem \
    "${terms[@]}" --penalty l1ball:radius=1 --row-norm 2 --label-bound 1 --timeout "$1" "${@:2}" -o model.json >serve.out 2>serve.err &
  server=$!
  local name at
  for name in alice bob; do
    at=$([ $name = alice ] && echo 10.219.1.2 || echo 10.219.3.1)
    space "$([ $name = alice ] && echo 2 || echo 3)" timeout 100 "$TACIT" party "$([ $name = alice ] && echo a || echo b).csv" \
      --connect "$at:$port" --key key --secret ranks.secret --label y "${terms[@]}" --timeout "$1" --cert $name.pem --ledger $name.L \
      --private-key $name.key --ca authority.pem >$name.out 2>$name.err &
    eval "$name=\$!"
    children+=($!)
  done
  children+=($server)
}
session 60
ends 'alice on another host' "$alice" 0 . alice.out
ends 'bob behind a slow line' "$bob" 0 . bob.out
ends 'the server' "$server" 0 'party: epsilon' serve.out
ok 'their model verifies' verify model.json

# ---- a party's link is down for moments: what was lost is sent again, and charged once ----
charged() { # BEFORE : both parties have one charge more
  for _ in $(seq 300); do
    [ "$(spent alice).$(spent bob)" = "$(($1 + 1)).$(($1 + 1))" ] && return
    sleep 0.1
  done
  return 1
}
before=$(spent alice)
session 30 --solver dpfw_parties:steps=400,columns=1
check 'the run is charged' charged "$before"
for _ in 1 2 3; do
  ip -n "${id}r" link set v3 down
  sleep 0.3
  ip -n "${id}r" link set v3 up
  ip -n "${id}3" route replace default via 10.219.3.1
  sleep 0.2
done
check 'the session is not over yet' [ ! -e model.json ]
ends 'alice, whose peer was cut off for moments' "$alice" 0 . alice.out
ends 'bob, who was cut off' "$bob" 0 . bob.out
ends 'their server' "$server" 0 'party: epsilon' serve.out
ok 'the model of an interrupted session verifies' verify model.json
check 'an interrupted session is charged once' charged "$before"

# ---- the server's host vanishes ----
session 20 --solver dpfw_parties:steps=30000,columns=1
check 'this run is charged' charged $((before + 1))
sleep 0.5
ip -n "${id}r" link set v1 down
ends 'alice without a server' "$alice" 1 'the server was silent|the peer was silent' alice.err
ends 'bob without a server' "$bob" 1 'the server was silent|the peer was silent|the server says|closed the connection' bob.err
ends 'the server without parties' "$server" 1 'was silent' serve.err
check 'a vanished server: one sentence each' test "$(cat alice.err bob.err serve.err | grep -c '^tacit: ')" = 3
check 'a vanished server: no model' [ ! -e model.json ]
check 'a vanished server: what was charged stays charged' charged $((before + 1))
ip -n "${id}r" link set v1 up
ip -n "${id}1" route replace default via 10.219.1.1

# ---- a party's host vanishes ----
# Bob is cut off until alice has come and gone, so that the session cannot end before.
ip -n "${id}r" link set v3 down
session 10
until space 1 ss -Htn state established | grep -q 10.219.2.2 || ! kill -0 $alice 2>/dev/null; do sleep 0.05; done
sleep 1.5
ip -n "${id}r" link set v2 down
ip -n "${id}r" link set v3 up
ip -n "${id}3" route replace default via 10.219.3.1
ends 'the server of a vanished party' "$server" 1 "party 'alice': the peer was silent" serve.err
wait "$alice" "$bob"
check 'a vanished party: no model' [ ! -e model.json ]

finish
