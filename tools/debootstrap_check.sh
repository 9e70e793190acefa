#!/usr/bin/env bash
# debootstrap_check.sh - the two commands in a bare Debian 12 that holds git, make and ca-certificates and nothing else.
#
#   tools/debootstrap_check.sh [--keep] [COMMAND ...]      default: 'make demo' 'make check'
#
# TACIT_BARE_PACKAGES=a,b: the root holds these instead; TACIT_BARE_FILES="FILE ...": it gets these in /srv/wheel and no
# clone (tools/wheel_check.sh).
#
# Needs root (debootstrap, chroot).  The bare root is built in build/bare, gets a clone of the last commit
# with ../shared beside it (where this checkout has that), and is removed at the end unless --keep is given.  How packages are
# reached (mirror, proxies, certificates, pip settings) follows this machine's own configuration.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
keep=no
if [ "${1:-}" = --keep ]; then
  keep=yes
  shift
fi
[ $# -gt 0 ] || set -- "make demo" "make check"
[ "$(id -u)" = 0 ] || { echo "debootstrap_check: needs root, for debootstrap and chroot." >&2; exit 1; }
tools/setup.sh debootstrap

suite=bookworm
root=$PWD/build/bare
mirror=${DEBIAN_MIRROR:-$(apt-get indextargets --format '$(SITE) $(RELEASE)' 'Created-By: Packages' |
  awk -v suite=$suite '$2 == suite && $1 ~ /debian/ { print $1; exit }')}
mirror=${mirror:-http://deb.debian.org/debian}

remove_root() { [ ! -e "$root" ] || rm -rf --one-file-system "$root"; }
remove_root
mkdir -p build
echo "debootstrap_check: $suite from $mirror into build/bare"
if ! debootstrap --variant=minbase --include="${TACIT_BARE_PACKAGES:-git,make,ca-certificates}" $suite "$root" "$mirror" >build/bare.log 2>&1; then
  tail -n 20 build/bare.log
  echo "debootstrap_check: debootstrap failed." >&2
  exit 1
fi

# Reachability: the host's Debian sources, apt's Acquire settings (proxies), name service, certificates, pip.
apt-get indextargets --format 'deb $(SITE) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' |
  grep -E " $suite(-updates|-security)? " | grep -E '/debian(-security)?/? ' | sort -u >"$root/etc/apt/sources.list"
[ -s "$root/etc/apt/sources.list" ] || echo "deb $mirror $suite main" >"$root/etc/apt/sources.list"
apt-config dump Acquire | grep -v '^Acquire::IndexTargets' >"$root/etc/apt/apt.conf.d/00host" || true
for file in /etc/resolv.conf /etc/hosts /etc/pip.conf /etc/ssl/certs/ca-certificates.crt; do
  [ ! -e "$file" ] || install -D -m 644 "$(readlink -f "$file")" "$root$file"
done
[ ! -d "${PIP_FIND_LINKS:-}" ] || { mkdir -p "$root$PIP_FIND_LINKS" && cp -r "$PIP_FIND_LINKS/." "$root$PIP_FIND_LINKS/"; }

mkdir -p "$root/srv/tacit"
if [ -n "${TACIT_BARE_FILES:-}" ]; then
  mkdir -p "$root/srv/wheel"
  # shellcheck disable=SC2086  # a list of files
  cp $TACIT_BARE_FILES "$root/srv/wheel/"
else
  git clone -q --no-hardlinks . "$root/srv/tacit"
  [ ! -d ../shared ] || cp -rL ../shared "$root/srv/shared"
fi

passing=()
while IFS= read -r name; do passing+=("$name=${!name}"); done < <(compgen -e | grep -iE '^(https?_proxy|no_proxy|ftp_proxy|PIP_.*)$')

# A mount namespace of its own: whatever is mounted below the root goes when the command ends.
inside() {
  unshare --mount --pid --fork --propagation private bash -c '
    root=$1; shift
    mount -t proc proc "$root/proc"
    mount --rbind /dev "$root/dev"
    exec chroot "$root" "$@"' inside "$root" \
    /usr/bin/env -i HOME=/root PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 "${passing[@]}" \
    /bin/bash -c "cd /srv/tacit && $1"
}

bad=0
for command in "$@"; do
  printf '\n==== bare Debian 12: %s\n' "$command"
  started=$SECONDS
  if inside "$command"; then
    printf '==== %s: succeeded in %d s\n' "$command" $((SECONDS - started))
  else
    printf '==== %s: FAILED\n' "$command"
    bad=1
  fi
done
[ "$keep" = yes ] || remove_root
exit $bad
