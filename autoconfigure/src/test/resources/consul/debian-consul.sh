#!/bin/sh
# Puts the consul program of Debian 11 into a directory: later releases of Debian have no such package, but it runs on
# them as it is. Touches nothing but that directory, needs no root, and takes the mirror from this machine's own apt
# configuration; apt checks the signatures.
#
# usage: debian-consul.sh <directory>
set -eu

target=$1
suite=bullseye
keyring=/usr/share/keyrings/debian-archive-keyring.gpg
[ -r "$keyring" ] || { echo "no $keyring: this is not Debian" >&2; exit 1; }

mkdir -p "$target"
work=$(mktemp -d "$target/apt.XXXXXX")
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/lists/partial" "$work/cache/archives/partial"

private_apt() {
    apt-get -q \
        -o Dir::Etc::sourcelist="$work/sources.list" -o Dir::Etc::sourceparts=/dev/null \
        -o Dir::State::Lists="$work/lists" -o Dir::Cache="$work/cache" \
        -o Acquire::Languages=none -o Acquire::Retries=2 -o APT::Sandbox::User="$(id -un)" "$@"
}

# 'http://mirror/debian/dists/bookworm/InRelease' ... -> http://mirror/debian
mirrors=$(apt-get update --print-uris 2>/dev/null |
    sed -n "s|^'\(.*/debian\)/*dists/[^/ ]*/InRelease'.*|\1|p" | sort -u)

for mirror in $mirrors; do
    echo "deb [signed-by=$keyring] $mirror $suite main" >"$work/sources.list"
    if private_apt update && (cd "$work" && private_apt download consul); then
        dpkg -x "$work"/consul_*.deb "$work/root"
        mv -f "$work/root/usr/bin/consul" "$target/consul"
        exit 0
    fi
done
echo "no Debian mirror of this machine has consul for $suite" >&2
exit 1
