#!/usr/bin/env bash
# Install Debian's PostgreSQL if there is none, and this may install packages. Otherwise say why not: tests of several
# workers are left out then. The tests start a cluster of their own; the one that Debian would make is not made.
set -euo pipefail

if command -v initdb >/dev/null || compgen -G '/usr/lib/postgresql/*/bin/initdb' >/dev/null; then
    exit 0
fi

as_root=()
if ! command -v apt-get >/dev/null; then
    echo "There is no PostgreSQL and no apt-get: several workers are not tested." >&2
    exit 0
elif [[ $EUID -ne 0 ]]; then
    if ! sudo -n true 2>/dev/null; then
        echo "There is no PostgreSQL, and only root may install it: several workers are not tested." >&2
        exit 0
    fi
    as_root=(sudo -n)
fi

echo "Installing PostgreSQL, with which several workers are tested" >&2
"${as_root[@]}" apt-get update -qq
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get install -y -qq --no-install-recommends postgresql-common >/dev/null
"${as_root[@]}" sed -i 's/^#\?create_main_cluster.*/create_main_cluster = false/' /etc/postgresql-common/createcluster.conf
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get install -y -qq --no-install-recommends postgresql >/dev/null
