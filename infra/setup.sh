# Sourced by every make target, from the root of the clone: puts Node 22.18 or newer first in PATH and makes
# node_modules agree with package-lock.json. Quick when nothing changed; writes only to .node/ and node_modules/.
# Not here: the Debian packages that only tests need (infra/test.sh).

say() { printf 'millrace: %s\n' "$*" >&2; }

# Asks for the ability, not the number: sources run as they are only where Node strips types without a flag.
runs_typescript() {
  "$1" -e 'process.exit(process.features.typescript ? 0 : 1)' >/dev/null 2>&1
}

check_platform() {
  case "$(uname -s) $(uname -m)" in
    'Linux x86_64' | 'Linux aarch64') ;;
    'Darwin arm64') ;;
    *)
      say "no packages for $(uname -s) $(uname -m). Linux x64 is what is tested; Linux arm64 and macOS arm64 may run."
      return 1
      ;;
  esac
  if ldd --version 2>&1 | grep -qi musl; then
    say 'this Linux uses musl; ONNX Runtime needs glibc. Use a Debian, Ubuntu or Fedora image.'
    return 1
  fi
  if ! command -v npm >/dev/null 2>&1; then
    say 'npm is not in PATH. Install Node 20 or newer with npm (Debian: apt-get install nodejs npm) and try again.'
    return 1
  fi
  if ! mkdir -p .node 2>/dev/null || ! [ -w . ]; then
    say "cannot write to $PWD as $(id -un): make a clone of your own, or change its owner."
    return 1
  fi
}

# One set-up at a time. A symbolic link is made whole or not at all, so it never names nobody.
lock_setup() {
  told=''
  until ln -s "$$" .node/lock 2>/dev/null; do
    owner=$(readlink .node/lock) || continue # given back just now
    if kill -0 "$owner" 2>/dev/null; then
      [ "$told" = "$owner" ] || say "another set-up runs here (process $owner); waiting"
      told=$owner
      sleep 1
    else
      rm -f .node/lock
    fi
  done
}

unlock_setup() { rm -f .node/lock; }

# An account without a writable home (nobody, some containers) has no place for npm's cache.
choose_npm_cache() {
  [ -z "${npm_config_cache:-}" ] || return 0
  if ! mkdir -p "${HOME:-/nonexistent}/.npm" 2>/dev/null || ! [ -w "$HOME/.npm" ]; then
    export npm_config_cache="$PWD/.node/npm-cache"
  fi
}

explain_npm_failure() {
  say "$1 failed: npm's own message is above. Usual causes: no network or proxy towards $(npm config get registry),"
  say "a full disk ($(df -Ph . | awk 'NR == 2 { print $4 }') free here, about 1.5 GB needed). Nothing else was changed; run it again."
}

install_node() {
  say "Node $(node --version 2>/dev/null || echo '(none)') is older than 22.18: fetching Node 22 into .node/ (185 MB, once)"
  cp infra/node/package.json infra/node/package-lock.json .node/ &&
    (cd .node && npm ci --ignore-scripts --no-audit --no-fund --no-update-notifier --loglevel=error >&2) || {
    explain_npm_failure 'fetching Node'
    return 1
  }
}

use_own_node() {
  for own in "$PWD"/.node/node_modules/node-linux-*; do
    if runs_typescript "$own/bin/node"; then
      PATH="$own/bin:$PATH"
      npm_config_nodedir="$own"
      export PATH npm_config_nodedir
      return 0
    fi
  done
  return 1
}

bring_node() {
  runs_typescript node && return 0
  use_own_node && return 0
  if [ "$(uname -s)" != Linux ]; then
    say "Node $(node --version 2>/dev/null) is too old: install Node 22.18 or newer and try again."
    return 1
  fi
  install_node || return 1
  use_own_node && return 0
  say 'the fetched Node does not start on this machine. Install Node 22.18 or newer yourself and try again.'
  return 1
}

bring_packages() {
  node infra/installed.ts && return 0
  say 'installing the packages of package-lock.json into node_modules/ (about a minute, once)'
  # The runtime's CUDA files come from a feed that is not npm's, and are not needed here. The fetched Node trusts
  # its own list of authorities only; a network with an authority of its own is known to the system's.
  NODE_USE_SYSTEM_CA=1 ONNXRUNTIME_NODE_INSTALL=skip npm ci --no-audit --no-fund --no-update-notifier --loglevel=error >&2 || {
    explain_npm_failure 'npm ci'
    return 1
  }
  node infra/installed.ts || {
    say 'npm ci ended well, yet node_modules does not agree with package-lock.json: remove node_modules and try again.'
    return 1
  }
}

set_up() {
  runs_typescript node || use_own_node || :
  if runs_typescript node && node infra/installed.ts; then return 0; fi
  check_platform || return 1
  choose_npm_cache
  lock_setup
  trap unlock_setup EXIT
  trap 'exit 130' INT TERM
  bring_node && bring_packages
  outcome=$?
  unlock_setup
  trap - EXIT INT TERM
  return "$outcome"
}

set_up
