#!/bin/sh
# Unpacks packages of a Debian release into a directory, as they are and without what they depend on. Touches nothing but
# that directory, needs no root, and takes the mirror from this machine's own apt configuration; apt checks the signatures.
#
# usage: debian-packages.sh <directory> <suite> <package> ...
set -eu

target=$1
suite=$2
shift 2
keyring=/usr/share/keyrings/debian-archive-keyring.gpg
[ -r "$keyring" ] || { echo "no $keyring: this is not Debian" >&2; exit 1; }

mkdir -p "$target"
work=$(mktemp -d "$target/apt.XXXXXX")
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/lists/partial" "$work/cache/archives/partial" "$work/root"

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
    if private_apt update && (cd "$work" && private_apt download "$@"); then
        for package in "$work"/*.deb; do
            dpkg -x "$package" "$work/root"
        done
        rm -rf "$target/root"
        mv "$work/root" "$target/root"
        exit 0
    fi
done
echo "no Debian mirror of this machine has $* for $suite" >&2
exit 1
