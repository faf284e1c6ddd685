#!/usr/bin/env bash
# Makes sure that the Ceph daemons of a small RADOS Gateway are installed (Debian packages, about
# 60 MB). Exit 0: they are there; 3: they are missing and this user cannot install them.
set -euo pipefail

missing=()
for command in ceph ceph-authtool ceph-mon ceph-osd monmaptool radosgw radosgw-admin; do
  command -v "$command" >/dev/null || missing+=("$command")
done
[ ${#missing[@]} -eq 0 ] && exit 0

if [ "$(id -u)" != 0 ]; then
  echo "Ceph RADOS Gateway is not installed (no ${missing[*]}) and installing it needs root:" \
    "apt-get install radosgw ceph-mon ceph-osd" >&2
  exit 3
fi
if ! command -v apt-get >/dev/null; then
  echo "Ceph RADOS Gateway is not installed (no ${missing[*]}) and there is no apt-get here" >&2
  exit 3
fi

echo "installing radosgw, ceph-mon and ceph-osd" >&2
export DEBIAN_FRONTEND=noninteractive
apt=(apt-get -qq -o DPkg::Lock::Timeout=300)
{
  "${apt[@]}" update
  "${apt[@]}" install -y --no-install-recommends radosgw ceph-mon ceph-osd
} >&2
