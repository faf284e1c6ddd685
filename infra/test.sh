# `make test`: set-up, then all checks. Whatever happens, the last line on standard output is the closing line.
# Run from the root of the clone.
. ./infra/setup.sh || {
  echo '0 passed, 1 failed'
  exit 1
}
# The S3 tests start a real server. Where it cannot be installed they skip, with the reason printed here.
bash infra/rgw/install.sh || say 'going on without the S3 server'
# The tests of programs run them in a sandbox. Where it cannot be installed they skip, with the reason printed here.
bash infra/sandbox/install.sh || say 'going on without bubblewrap'
# The WebGPU tests need a GPU; this is one in software. Where there is neither they skip and say why.
bash infra/swiftshader/install.sh >/dev/null || say 'going on without a software GPU'
exec node infra/test.ts
