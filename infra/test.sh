# `make test`: set-up, then all checks. Whatever happens, the last line on standard output is the closing line.
# Run from the root of the clone.
. ./infra/setup.sh || {
  echo '0 passed, 1 failed'
  exit 1
}
sh infra/debian-packages.sh
exec node infra/test.ts
