#!/usr/bin/env bash
# Starts a real S3 server for tests and trials: a Ceph cluster of one monitor, one object daemon in
# memory and one RADOS Gateway, all on 127.0.0.1 with ports of its own and nothing outside DIR.
# No authentication inside of the cluster; its objects are gone when it stops.
#
#   start.sh DIR [OWNER_PID]   DIR is created; with OWNER_PID everything stops when that process ends
#
# Prints S3_ENDPOINT, S3_ACCESS_KEY_ID and S3_SECRET_ACCESS_KEY, one NAME=value a line. Where a server
# runs in DIR already, only prints, so several callers may share one. stop.sh DIR ends it.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
dir=${1:?usage: start.sh DIR [OWNER_PID]}
owner=${2:-}
seconds_to_start=90

"$here/install.sh"
exec 9>"$dir.lock"
flock 9
if [ -e "$dir/env" ]; then
  cat "$dir/env"
  exit 0
fi
"$here/stop.sh" "$dir" # what a start that was killed left
mkdir -p "$dir"
dir=$(cd "$dir" && pwd)
mkdir "$dir/mon" "$dir/osd" "$dir/log" "$dir/run"
: >"$dir/pids"
conf=$dir/ceph.conf

fail() {
  echo "RADOS Gateway did not start: $1. The ends of its logs:" >&2
  tail -n 5 "$dir"/log/* >&2 || true
  "$here/stop.sh" "$dir" || true
  exit 1
}
trap 'fail "line $LINENO failed"' ERR

# Below the range from which the kernel hands out ports to clients.
free_port() {
  local port
  while :; do
    port=$((20000 + RANDOM % 12000))
    (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null || break
  done
  echo "$port"
}

new_id() { cat /proc/sys/kernel/random/uuid; }

# daemon NAME COMMAND...: runs in the background, its output in a log, its pid where stop.sh looks.
daemon() {
  local name=$1
  shift
  setsid "$@" -f </dev/null >"$dir/log/$name.out" 2>&1 9>&- &
  echo "$!" >>"$dir/pids"
}

wait_until() {
  local pid what=$1 deadline=$((SECONDS + seconds_to_start))
  shift
  until "$@" >/dev/null 2>&1; do
    [ "$SECONDS" -lt "$deadline" ] || fail "$what did not answer within $seconds_to_start s"
    for pid in $(cat "$dir/pids"); do
      kill -0 "$pid" 2>/dev/null || fail "a daemon ended while $what was awaited"
    done
    sleep 0.2
  done
}

answers() { (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; }

fsid=$(new_id)
mon_port=$(free_port)
s3_port=$(free_port)
cat >"$conf" <<CONF
[global]
fsid = $fsid
mon initial members = a
mon host = v1:127.0.0.1:$mon_port
public addr = 127.0.0.1
cluster addr = 127.0.0.1
ms bind msgr2 = false
# Nobody else reaches the loopback interface; S3 clients still sign their requests.
auth cluster required = none
auth service required = none
auth client required = none
# One copy of everything on one daemon.
osd pool default size = 1
osd pool default min size = 1
osd pool default pg num = 2
osd pool default pgp num = 2
osd pool default pg autoscale mode = off
osd crush chooseleaf type = 0
mon allow pool size one = true
mon data avail crit = 1
# The host's disk may be nearly full: these three must rise in this order.
mon osd nearfull ratio = 0.97
mon osd backfillfull ratio = 0.98
mon osd full ratio = 0.99
# The daemon is placed below, by hand: its own command at start races with its learning the cluster's
# id, and the monitor then refuses it ("wrong fsid").
osd crush update on start = false
osd class update on start = false
osd objectstore = memstore
memstore device bytes = 4294967296
# A lone monitor need not gather proposals: making the gateway's pools is quicker.
paxos propose interval = 0.05
paxos min wait = 0.01
mon data = $dir/mon
osd data = $dir/osd
run dir = $dir/run
admin socket = $dir/run/\$name.asok
log file = $dir/log/\$name.log
rgw frontends = beast endpoint=127.0.0.1:$s3_port
rgw thread pool size = 32
rgw enable usage log = false
rgw enable lc threads = false
debug rgw = 0
CONF

monmaptool --create --clobber --fsid "$fsid" --addv a "[v1:127.0.0.1:$mon_port]" "$dir/monmap" >/dev/null
ceph-authtool --create-keyring "$dir/mon.keyring" --gen-key -n mon. --cap mon 'allow *' >/dev/null
ceph-mon -c "$conf" -i a --mkfs --monmap "$dir/monmap" --keyring "$dir/mon.keyring"
daemon mon ceph-mon -c "$conf" -i a
wait_until 'the monitor' answers "$mon_port"

# A command that comes before its sender has learnt the cluster's id is refused ("fsid 0 != …"): it is said again.
# Those used here may be said twice.
monitor_does() { ceph -c "$conf" --connect-timeout 10 "$@"; }

osd_id=$(new_id)
wait_until 'the monitor' monitor_does osd new "$osd_id" 0
ceph-osd -c "$conf" -i 0 --mkfs --osd-uuid "$osd_id" >"$dir/log/mkfs.out" 2>&1
wait_until 'the monitor' monitor_does osd crush add osd.0 1.0 root=default host=localhost
daemon osd ceph-osd -c "$conf" -i 0

access_key=$(new_id | tr -d - | cut -c1-20)
secret_key=$(new_id | tr -d -)
daemon rgw radosgw -c "$conf" -n client.rgw
wait_until 'the gateway' answers "$s3_port"
radosgw-admin -c "$conf" -n client.rgw user create --uid=millrace --display-name=millrace \
  --access-key="$access_key" --secret-key="$secret_key" >"$dir/log/user.out" 2>&1

if [ -n "$owner" ]; then
  # The guard outlives this script on purpose; it closes our streams so that no caller waits for it.
  setsid bash -c 'tail --pid="$1" -f /dev/null; exec "$2/stop.sh" "$3"' guard "$owner" "$here" "$dir" \
    </dev/null >/dev/null 2>&1 9>&- &
fi

cat >"$dir/env.part" <<ENV
S3_ENDPOINT=http://127.0.0.1:$s3_port
S3_ACCESS_KEY_ID=$access_key
S3_SECRET_ACCESS_KEY=$secret_key
ENV
mv "$dir/env.part" "$dir/env"
cat "$dir/env"
