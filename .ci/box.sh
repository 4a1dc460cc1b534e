#!/usr/bin/env bash
# The probe of the box: hundreds of ways out are tried in `claw server bash` against a foreign
# process, foreign files and sockets, with and without namespaces, and with the Landlock of older
# kernels, as the user of this run and, if that is root, as an ordinary user as well.
# Usage: .ci/box.sh PATH/TO/claw
set -euo pipefail
here="$(cd "$(dirname "$0")" && pwd)"
. "$here/lib.sh"
claw="$(realpath "$1")"

# Not below /tmp, in whose place a command has a folder of its own.
work="$(mktemp -d /var/tmp/claw-box.XXXXXX)"
trap 'rm -rf "$work"' EXIT
chmod 755 "$work"
cp "$claw" "$here/box/outside.py" "$here/box/ways.py" "$here/box/looking.py" "$here/box/staying.py" "$here/box/opened.py" "$here/box/older.py" "$here/../docs/box.md" "$work/"
python="$(command -v /usr/bin/python3 || command -v python3)"

probe() { # USER OPTION...
    local user="$1" folder
    shift
    folder="$(mktemp -d "$work/$user.XXXXXX")"
    chown "$user" "$folder"
    local words=("$python" "$work/outside.py" "$work/claw" "$work/box.md" "$folder" "$@")
    if [ "$(id -un)" = "$user" ]; then "${words[@]}"; else setpriv --reuid "$user" --regid "$user" --clear-groups -- "${words[@]}"; fi
}

failed=0
users=("$(id -un)")
if [ "$(id -u)" = 0 ]; then
    id claw-probe >/dev/null 2>&1 || useradd --no-create-home claw-probe
    users+=(claw-probe)
fi
for user in "${users[@]}"; do
    probe "$user" || failed=1
    probe "$user" --without-namespaces || failed=1
    # As on older kernels: Debian 12 has 2, Ubuntu 24.04 has 4.
    for abi in 2 4 7; do
        probe "$user" --landlock "$abi" || failed=1
        probe "$user" --landlock "$abi" --without-namespaces || failed=1
    done
    probe "$user" --landlock 0 || failed=1
done
exit "$failed"
