#!/usr/bin/env bash
# install_check.sh - how long a bare Debian 12 and a bare Debian 13 take from a package to a trained, verified model.
#
#   tools/install_check.sh [--roots DIR] FILE...      FILE: a wheel, or a .deb of the command line
#
# On a machine that does other work look at the processor time.
#
# Bare roots are made in DIR (default: build/roots) and kept.  They hold python3-venv and certificates, no compiler and
# none of our libraries.  Of each root a copy is used, so every run finds it bare.  A wheel goes through pip with what it
# depends on, from the package index; a .deb through apt.  Needs root (debootstrap, chroot).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
roots=$PWD/build/roots
if [ "${1:-}" = --roots ]; then
  roots=$(realpath -m "$2")
  shift 2
fi
[ $# -gt 0 ] || { echo "install_check: give wheels or .debs, e.g. tools/install_check.sh build/wheels/*.whl build/deb/tacit_*.deb" >&2; exit 2; }
[ "$(id -u)" = 0 ] || { echo "install_check: needs root, for debootstrap and chroot." >&2; exit 1; }
for file; do [ -f "$file" ] || { echo "install_check: there is no $file; build it with make wheels, or make deb." >&2; exit 2; }; done
command -v debootstrap >/dev/null || tools/setup.sh debootstrap
mkdir -p "$roots"

bare() { # SUITE: a root that is made once
  [ -x "$roots/$1/bin/bash" ] && return
  debootstrap --variant=minbase --include=python3-venv,ca-certificates "$1" "$roots/$1" "${DEBIAN_MIRROR:-http://deb.debian.org/debian}" \
    >"$roots/$1.log" 2>&1 || { tail -n 20 "$roots/$1.log"; exit 1; }
}
passing=()
while IFS= read -r name; do passing+=("$name=${!name}"); done < <(compgen -e | grep -iE '^(https?_proxy|no_proxy|PIP_.*)$')
inside() { # ROOT COMMAND
  unshare --mount --pid --fork --propagation private bash -c '
    mount -t proc proc "$0/proc"
    mount --rbind /dev "$0/dev"
    exec chroot "$0" "$@"' "$1" /usr/bin/env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 "${passing[@]}" bash -euc "$2"
}

by_wheel='python3 -m venv /tmp/v && /tmp/v/bin/pip install --quiet --disable-pip-version-check /srv/try/*.whl
cat >/tmp/train.py <<"PY"
import numpy, tacit
X = numpy.random.default_rng(0).uniform(-1, 1, size=(4000, 5))
y = (X[:, 0] - X[:, 1] > 0).astype(int)
model = tacit.PrivateLogisticRegression(epsilon=1.0, delta=1e-6, data_norm=2.3, classes=[0, 1]).fit(X, y)
model.save("/tmp/model.json")
assert tacit.verify("/tmp/model.json")["ok"] and model.score(X, y) > 0.9
PY
/tmp/v/bin/python /tmp/train.py
/tmp/v/bin/tacit verify /tmp/model.json | tail -n 1'
by_deb='apt-get -qq -y --no-install-recommends install /srv/try/*.deb >/tmp/apt.log 2>&1 || { tail /tmp/apt.log; exit 1; }
cd /tmp
seq 4000 | awk "BEGIN { srand(1); print \"a,b,y\" } { a = 2 * rand() - 1; b = 2 * rand() - 1; print a \",\" b \",\" (a - b > 0) }" >t.csv
tacit train t.csv --label y --positive 1 --loss logistic --row-norm 1.5 --epsilon 1 --delta 1e-6 -o model.json >/dev/null
tacit verify model.json | tail -n 1'

TIMEFORMAT='%R s (%U s of processor time in user mode, %S s in the kernel)'
bad=0
for suite in bookworm trixie; do
  bare $suite
  for file; do
    root=$roots/$suite.used
    rm -rf --one-file-system "$root"
    cp -a "$roots/$suite" "$root"
    for each in /etc/resolv.conf /etc/hosts /etc/pip.conf /etc/ssl/certs/ca-certificates.crt; do
      [ ! -e "$each" ] || install -D -m 644 "$(readlink -f "$each")" "$root$each"
    done
    [ ! -d "${PIP_FIND_LINKS:-}" ] || { mkdir -p "$root$PIP_FIND_LINKS" && cp -r "$PIP_FIND_LINKS/." "$root$PIP_FIND_LINKS/"; }
    install -D -t "$root/srv/try" "$file"
    command=$by_wheel
    [ "${file%.deb}" = "$file" ] || { command=$by_deb && inside "$root" 'apt-get -qq update' >/dev/null; }
    if { time inside "$root" "$command"; } 2>"$roots/$suite.time"; then
      echo "install_check: $suite, $(basename "$file"): $(tail -n 1 "$roots/$suite.time") to a verified model, load $(cut -d' ' -f1 /proc/loadavg)"
    else
      cat "$roots/$suite.time"
      echo "install_check: $suite, $(basename "$file"): FAILED"
      bad=1
    fi
    rm -rf --one-file-system "$root"
  done
done
exit $bad
