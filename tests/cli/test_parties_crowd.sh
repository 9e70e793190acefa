#!/usr/bin/env bash
# test_parties_crowd.sh - good parties get in while others knock, say nothing, or talk nonsense.  All of it on loopback.
. "$(dirname "${BASH_SOURCE[0]}")/parties.sh"
authority authority
key server && sign server authority 2 IP:127.0.0.1
for name in alice bob; do key $name && sign $name authority 2 "DNS:$name"; done
head -c 32 /dev/urandom >secret
awk 'BEGIN { srand(3); print "key,u,y" >"alice.csv"; print "key,s,y" >"bob.csv"
  for (i = 0; i < 60; i++) {
    y = rand()
    printf "p%d,%.6f,%.6f\n", i, rand(), y >"alice.csv"
    printf "p%d,%.6f,%.6f\n", i, rand(), y >"bob.csv"
  } }'
cat >crowd.py <<'CROWD'
"""crowd.py PORT IDLE GARBAGE: sockets that say nothing, and clients that talk nonsense again and again; for 40 seconds."""
import socket, sys, threading, time

port, idle, garbage = map(int, sys.argv[1:4])
until = time.time() + 40
held = []

def knock():
    while time.time() < until:
        try:
            s = socket.create_connection(("127.0.0.1", port), timeout=2)
            s.sendall(b"GET / HTTP/1.0\r\n\r\n" * 20)
            s.recv(100)
            s.close()
        except OSError:
            pass
        time.sleep(0.1)

for _ in range(garbage):
    threading.Thread(target=knock, daemon=True).start()
for _ in range(idle):
    try:
        held.append(socket.create_connection(("127.0.0.1", port), timeout=2))
    except OSError:
        pass
print("crowded", len(held), flush=True)
time.sleep(max(0, until - time.time()))
CROWD
terms=(--loss squared --penalty l1ball:radius=1 --epsilon 4 --delta 1e-6 --row-norm 2 --label-bound 1 --solver gram_parties)
agreed=(--key key --secret secret --label y --loss squared --epsilon 4 --delta 1e-6 --solver gram_parties)
party() { # NAME [OPTION...]
  local name=$1
  shift
  merge "${agreed[@]}" --timeout 30 --listen 127.0.0.1:0 "$@"
  "$TACIT" party "$name.csv" --connect 127.0.0.1:$port --cert "$name.pem" --private-key "$name.key" --ca authority.pem \
    "${merged[@]}" >"$name.out" 2>"$name.err"
}
# crowded NAME FILES IDLE GARBAGE : the server may have FILES open files
crowded() {
  port=$((port + 1))
  rm -f model.json crowd.out
  (ulimit -n "$2" && exec "$TACIT" serve --listen 127.0.0.1:$port --parties 2 --cert server.pem --private-key server.key \
    --ca authority.pem "${terms[@]}" --timeout 30 -o model.json >serve.out 2>serve.err) &
  server=$!
  for _ in $(seq 1200); do (exec 3<>/dev/tcp/127.0.0.1/$port) 2>/dev/null && break; sleep 0.05; done
  python3 crowd.py $port "$3" "$4" >crowd.out 2>&1 &
  local crowd=$! other
  until grep -q crowded crowd.out 2>/dev/null; do sleep 0.05; done
  local began=$EPOCHREALTIME
  party bob &
  other=$!
  party alice
  check "$1: alice is in: $(cat alice.err)" [ $? = 0 ]
  check "$1: so is bob" wait $other
  awk -v name="$1" -v a="$began" -v b="$EPOCHREALTIME" 'BEGIN { printf "%s: both were through after %.2f s\n", name, b - a }'
  ends "$1: the server is done" $server 0 "party: epsilon 4" serve.out
  kill $crowd 2>/dev/null
  wait $crowd 2>/dev/null
}
crowded "an empty street" 1024 0 0
crowded "500 who say nothing and 50 who talk nonsense" 1024 500 50
crowded "no more files than for a few" 40 100 10

# Out of files the server waits for room, and does not ask again at once: of two idle seconds it works a fraction.
port=$((port + 1))
(ulimit -n 30 && exec "$TACIT" serve --listen 127.0.0.1:$port --parties 2 --cert server.pem --private-key server.key \
  --ca authority.pem "${terms[@]}" --timeout 12 -o model.json >serve.out 2>serve.err) &
server=$!
for _ in $(seq 1200); do (exec 3<>/dev/tcp/127.0.0.1/$port) 2>/dev/null && break; sleep 0.05; done
python3 crowd.py $port 200 0 >crowd.out 2>&1 &
crowd=$!
until grep -q crowded crowd.out 2>/dev/null; do sleep 0.05; done
sleep 2
ticks=$(awk '{ print $14 + $15 }' /proc/$server/stat)
kill $crowd
wait $crowd 2>/dev/null
ends "nobody came" $server 1 "0 of 2 parties came in time" serve.err
check "without files it does not spin: $ticks hundredths of a second" [ "$ticks" -lt 100 ]
finish
