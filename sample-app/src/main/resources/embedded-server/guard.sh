#!/bin/sh
# Runs a server until every instance of the application has gone, however it went:
# each keeps the pipe "alive" open for writing, and the system closes that end even after kill -9.
# Arguments: the signal that ends the server, and the command that runs it.

# a session of its own, where the system has the command: Ctrl-C in the terminal is meant for the application
if [ -z "$GUARD_DETACHED" ] && command -v setsid >/dev/null 2>&1; then
  export GUARD_DETACHED=yes
  exec setsid sh "$0" "$@"
fi
trap '' HUP INT TERM

# for writing too at first: opening only for reading would wait for ever if all have let go already
exec 3<>alive 4<alive 3>&-

directory=$PWD
signal=$1
shift
"$@" 4<&- &
server=$!
cat <&4 >/dev/null
# The server was not waited for yet, so the number still is its own, even if it ended by itself. The signal is repeated, since a shell
# starts it with some signals ignored, until it has handlers of its own.
while kill -s "$signal" "$server" 2>/dev/null; do
  case $(ps -o stat= -p "$server" 2>/dev/null) in
    '' | Z*) break ;;
  esac
  sleep 1
done
wait "$server"
cd / && rm -rf "$directory"
