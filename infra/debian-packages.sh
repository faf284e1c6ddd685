# Installs the Debian packages that only tests need, when root on a system with apt. Otherwise says what is
# missing: the tests that need it skip with that reason.
#   radosgw ceph-mon ceph-osd   a real S3 server (Ceph RADOS Gateway)
packages='radosgw ceph-mon ceph-osd'

missing=''
for package in $packages; do
  [ "$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null)" = installed ] || missing="$missing $package"
done
[ -n "$missing" ] || exit 0

if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null 2>&1; then
  echo "millrace: not installed, so the tests that need them skip:$missing" >&2
  exit 0
fi
echo "millrace: installing Debian packages for the tests:$missing" >&2
export DEBIAN_FRONTEND=noninteractive
log=$(mktemp)
# shellcheck disable=SC2086  # a list of words on purpose
if { apt-get update -qq && apt-get install -y -qq --no-install-recommends $missing; } >"$log" 2>&1; then
  rm -f "$log"
else
  tail -n 5 "$log" >&2
  echo "millrace: apt-get failed (whole output: $log); the tests that need$missing skip" >&2
fi
