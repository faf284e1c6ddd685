#!/usr/bin/env bash
# Makes sure that what runs the programs of models is installed (Debian packages: bubblewrap, 150 kB, and python3).
# Exit 0: it is there; 3: it is missing and this user cannot install it.
set -euo pipefail

missing=()
command -v bwrap >/dev/null || missing+=(bubblewrap)
[ -x /usr/bin/python3 ] || missing+=(python3)
{ command -v prlimit && command -v setpriv; } >/dev/null || missing+=(util-linux)
[ ${#missing[@]} -eq 0 ] && exit 0

if [ "$(id -u)" != 0 ]; then
  echo "The sandbox for programs is not installed and installing it needs root:" \
    "apt-get install ${missing[*]}" >&2
  exit 3
fi
if ! command -v apt-get >/dev/null; then
  echo "The sandbox for programs lacks ${missing[*]} and there is no apt-get here" >&2
  exit 3
fi

echo "installing ${missing[*]}" >&2
export DEBIAN_FRONTEND=noninteractive
apt=(apt-get -qq -o DPkg::Lock::Timeout=300)
{
  "${apt[@]}" update
  "${apt[@]}" install -y --no-install-recommends "${missing[@]}"
} >&2
