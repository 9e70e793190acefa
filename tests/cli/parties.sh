# parties.sh - what the tests of sessions between parties share: certificates, ports, and how a process ends.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
if ! command -v openssl >/dev/null || [ ! -e "$(dirname "$TACIT")/libtacit_tls.so" ]; then
  echo "skipped: openssl or libtacit_tls.so is not there"
  exit 77
fi
port=$((10000 + RANDOM % 20000)) # below those that the system gives to clients

# listening PORT PROCESS : waits, without a connection, until the process listens there on 127.0.0.1 or has ended.
listening() {
  local address
  address=$(printf '0100007F:%04X' "$1")
  while kill -0 "$2" 2>/dev/null; do
    grep -q ": $address [0-9A-F:]* 0A" /proc/net/tcp && return
    sleep 0.05
  done
}

quiet() { openssl "$@" >openssl.log 2>&1 || { cat openssl.log; exit 1; }; }
key() { quiet req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout "$1.key" -out "$1.csr" -subj "/CN=${2:-$1}"; }
authority() { quiet req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout "$1.key" -out "$1.pem" -subj "/CN=$1" -days 2; }
# sign NAME AUTHORITY DAYS SAN
sign() {
  echo "subjectAltName=$4" >"$1.ext"
  quiet x509 -req -in "$1.csr" -CA "$2.pem" -CAkey "$2.key" -CAcreateserial -out "$1.pem" -days "$3" -extfile "$1.ext"
}
# ends NAME PROCESS CODE REGEX FILE : the process exits with CODE, and the file says REGEX in one line.
ends() {
  cases=$((cases + 1))
  wait "$2"
  local got=$?
  [ "$got" = "$3" ] || fail "$1: exit $got, not $3: $(head -c 300 "$5")"
  grep -qE -- "$4" "$5" || fail "$1: does not say '$4': $(head -c 400 "$5")"
}

