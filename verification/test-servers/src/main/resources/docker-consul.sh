#!/bin/sh
# Puts the consul program of a Docker image into a directory. On Linux only: the image has no program for others.
#
# usage: docker-consul.sh <directory> <image>
set -eu

target=$1
image=$2
[ "$(uname -s)" = Linux ] || { echo "the image's program runs on Linux only" >&2; exit 1; }
container=$(docker create "$image")
trap 'docker rm "$container" >/dev/null' EXIT
docker cp "$container":/bin/consul "$target/consul.part"
chmod +x "$target/consul.part"
mv -f "$target/consul.part" "$target/consul"
