#!/bin/sh
# Runs the WebGPU suites and the engine bench on this machine's GPU with what lies beside this file: no network, no
# root, no other Node. Writes results/ beside itself. `run-gpu.sh --help` lists the options and exit statuses.
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd) || exit 2
case "$(uname -s) $(uname -m)" in
  'Linux x86_64') ;;
  *)
    echo "this bundle is for Linux x86_64, not $(uname -s) $(uname -m)" >&2
    exit 2
    ;;
esac
if ! "$here/node/node" --version >/dev/null; then
  echo 'the bundled Node does not start: it needs glibc 2.28 or newer and libstdc++.so.6' >&2
  exit 2
fi
PATH="$here/node:$PATH"
export PATH
exec "$here/node/node" --disable-warning=ExperimentalWarning "$here/tree/infra/gpu-bundle/run.ts" "$here" "$@"
