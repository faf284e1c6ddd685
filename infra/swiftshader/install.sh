#!/usr/bin/env bash
# Makes sure that a software GPU for the WebGPU tests is there: SwiftShader (a Vulkan driver that runs on the CPU) and a
# Vulkan loader, out of Debian's chromium packages. Only three files are kept (6 MB, of 31 to 112 fetched once); nothing
# is installed, so root is not needed. Prints the folder. Exit 3: it is missing and cannot be had here.
# Usage: install.sh [FOLDER]   default: millrace/swiftshader in the user's cache folder
set -euo pipefail

to=${1:-${XDG_CACHE_HOME:-${HOME:-/nonexistent}/.cache}/millrace/swiftshader}
files=(libvk_swiftshader.so vk_swiftshader_icd.json libvulkan.so.1)

complete() {
  local file
  for file in "${files[@]}"; do [ -s "$to/$file" ] || return 1; done
}
complete && echo "$to" && exit 0

cannot() {
  echo "no SwiftShader in $to, and it cannot be fetched: $*" >&2
  exit 3
}
for command in apt-get dpkg-deb; do
  command -v "$command" >/dev/null || cannot "there is no $command here (Debian's chromium package holds it)"
done
mkdir -p "$(dirname "$to")" 2>/dev/null || cannot "$(dirname "$to") cannot be made"

# Beside the target, so that the last step is a rename: another set-up sees all of it or nothing.
work=$(mktemp -d "$to.XXXXXX")
trap 'rm -rf "$work"' EXIT
cd "$work"

fetch() { apt-get -qq -o APT::Sandbox::User=root download "$1" >&2; }
keep() { # what of the files is in the package $1
  local file found
  fetch "$1" || return 0
  dpkg-deb -x "$1"_*.deb unpacked
  for file in "${files[@]}"; do
    found=$(find unpacked -name "$file" | head -n 1)
    [ -z "$found" ] || cp --dereference "$found" "kept/$file"
  done
}
whole() { [ "$(ls kept | wc -l)" = "${#files[@]}" ]; }

echo 'fetching SwiftShader and a Vulkan loader (31 MB, once)' >&2
mkdir kept
# A fresh image has no package lists, and only root may fetch them.
if [ -z "$(apt-cache show chromium-common 2>/dev/null)" ] && [ "$(id -u)" = 0 ]; then
  apt-get -qq -o DPkg::Lock::Timeout=300 update >&2 || true
fi
# Where the files lie differs from release to release of Debian.
for package in chromium-common chromium libvulkan1; do whole || keep "$package"; done
whole || cannot 'the packages chromium-common, chromium and libvulkan1 of this system do not hold it, or cannot be fetched'
mv -T kept "$to" 2>/dev/null || complete || cannot "$to is in the way: remove it"
echo "$to"
