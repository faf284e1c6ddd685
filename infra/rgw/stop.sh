#!/usr/bin/env bash
# Ends what start.sh DIR started, leaves no process of it and removes DIR. Stopping twice is fine.
# The daemons hold everything in memory, so there is nothing that a gentle end would save.
set -euo pipefail

dir=${1:?usage: stop.sh DIR}
[ -d "$dir" ] || exit 0
dir=$(cd "$dir" && pwd)

# Only processes that still run with our configuration: a pid may have been given away since.
running() {
  local pid
  for pid in $(cat "$dir/pids" 2>/dev/null); do
    if tr '\0' ' ' 2>/dev/null <"/proc/$pid/cmdline" | grep -qF -- "-c $dir/ceph.conf "; then
      echo "$pid"
    fi
  done
}

for pid in $(running); do kill -KILL "$pid" 2>/dev/null || true; done
while [ -n "$(running)" ]; do sleep 0.05; done
rm -rf "$dir" "$dir.lock"
