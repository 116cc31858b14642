#!/usr/bin/env bash
# Install Debian's Chromium if there is none, and this may install packages. Otherwise say why not: tests of pages are
# left out then.
set -euo pipefail

for name in "${BOTLINT_CHROMIUM:-}" chromium chromium-browser google-chrome-stable google-chrome; do
    if [[ -n $name ]] && command -v "$name" >/dev/null; then
        exit 0
    fi
done

as_root=()
if ! command -v apt-get >/dev/null; then
    echo "There is no Chromium and no apt-get: pages are not tested in a browser." >&2
    exit 0
elif [[ $EUID -ne 0 ]]; then
    if ! sudo -n true 2>/dev/null; then
        echo "There is no Chromium, and only root may install one: pages are not tested in a browser." >&2
        exit 0
    fi
    as_root=(sudo -n)
fi

echo "Installing Chromium, with which pages are tested" >&2
"${as_root[@]}" apt-get update -qq
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get install -y -qq --no-install-recommends chromium fonts-dejavu-core >/dev/null
