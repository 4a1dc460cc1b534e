#!/usr/bin/env bash
# The probe of the box: hundreds of ways out are tried in `claw server bash` against a foreign
# process, foreign files and sockets, with and without namespaces, and with the Landlock of older
# kernels, as the user of this run and, if that is root, as an ordinary user as well. Then a grant
# for hosts, through the whole program: what it lets run, and what that reaches.
# Usage: .ci/box.sh PATH/TO/claw
set -euo pipefail
here="$(cd "$(dirname "$0")" && pwd)"
. "$here/lib.sh"
claw="$(realpath "$1")"

# Not below /tmp, in whose place a command has a folder of its own.
work="$(mktemp -d /var/tmp/claw-box.XXXXXX)"
trap 'rm -rf "$work"' EXIT
chmod 755 "$work"
cp "$claw" "$here/box/outside.py" "$here/box/ways.py" "$here/box/looking.py" "$here/box/staying.py" "$here/box/opened.py" "$here/box/older.py" "$here/box/ubuntu.py" "$here/box/refusing.py" \
    "$here/box/openings.py" "$here/box/granted.py" "$here/../docs/box.md" "$work/"
python="$(command -v /usr/bin/python3 || command -v python3)"

probe() { # USER OPTION...
    local user="$1" folder
    shift
    folder="$(mktemp -d "$work/$user.XXXXXX")"
    chown "$user" "$folder"
    local words=("$python" "$work/outside.py" "$work/claw" "$work/box.md" "$folder" "$@")
    if [ "$(id -un)" = "$user" ]; then "${words[@]}"; else setpriv --reuid "$user" --regid "$user" --clear-groups -- "${words[@]}"; fi
}

# The hosts of a grant have names with dots, so they stand in a hosts file that this
# probe alone sees.
granted() { # USER
    local user="$1" folder
    folder="$(mktemp -d "$work/granted.XXXXXX")"
    chown "$user" "$folder"
    printf '127.0.0.1 localhost one.claw.test two.claw.test other.claw.test\n' >"$work/hosts"
    local words=("$python" "$work/granted.py" "$work/claw" "$folder")
    if [ "$(id -u)" != 0 ]; then
        echo "left out: a grant for hosts, because only root can give this probe a hosts file of its own"
        return
    fi
    [ "$user" = "$(id -un)" ] || words=(setpriv --reuid "$user" --regid "$user" --clear-groups -- "${words[@]}")
    # The words are the shell's own arguments.
    # shellcheck disable=SC2016
    unshare --mount sh -c 'mount --bind "$1" /etc/hosts && shift && exec "$@"' sh "$work/hosts" "${words[@]}"
}

# A system that refuses user namespaces, as Ubuntu 24.04 does: what the doctor says of each
# level is so.
refused() { # USER WHAT ERROR
    local user="$1" folder said
    folder="$(mktemp -d "$work/refused.XXXXXX")"
    chown "$user" "$folder"
    local words=(env -i "HOME=$folder" PATH=/usr/bin:/bin CLAW_AGENT=demo "$python" "$work/refusing.py" "$2" "$3" "$work/claw" doctor)
    [ "$user" = "$(id -un)" ] || words=(setpriv --reuid "$user" --regid "$user" --clear-groups -- "${words[@]}")
    said="$("${words[@]}" 2>&1 || true)"
    for line in "no user namespaces here" "names the error" "level read .* no loopback either" \
        "level write .* also what other programs obey on sight there" "level network .* every network that you reach"; do
        grep -q -- "$line" <<<"$said" || { echo "FAILED: $2 is refused with $3, and the doctor does not say '$line':"$'\n'"$said" >&2; return 1; }
    done
    echo "$user, $2 refused with $3: every level's sentence is so"
}

# Ubuntu 24.04 gives a user namespaces without powers, and has a setting that says so. No such
# system is here, so ubuntu.py answers as its AppArmor does. The doctor names the setting, and each
# level's sentence is so.
ubuntu() { # USER ABI LEVELS CODE-OF-A-COMMAND-THAT-LOOKS
    local user="$1" abi="$2" levels="$3" folder said code=0
    folder="$(mktemp -d "$work/ubuntu.XXXXXX")"
    chown "$user" "$folder"
    local words=(env -i -C "$folder" "HOME=$folder" PATH=/usr/bin:/bin CLAW_AGENT=demo "$python" "$work/older.py" "$abi" --ubuntu shown "$work/claw")
    [ "$user" = "$(id -un)" ] || words=(setpriv --reuid "$user" --regid "$user" --clear-groups -- "${words[@]}")
    # The words are claw's, backticks and all.
    # shellcheck disable=SC2016
    said="$("${words[@]}" ask 'run `ls` to look' 2>&1)" || code=$?
    [ "$code" = "$4" ] || { echo "FAILED: as on Ubuntu 24.04, Landlock $abi, a command that looks ends with $code and not $4: $said" >&2; return 1; }
    said="$("${words[@]}" doctor 2>&1 || true)"
    for line in "AppArmor gives user namespaces to no program without a profile" "level read  *$levels" "level write  *$levels" \
        "level network .* every network that you reach"; do
        grep -q -- "$line" <<<"$said" || { echo "FAILED: as on Ubuntu 24.04, Landlock $abi, the doctor does not say '$line':"$'\n'"$said" >&2; return 1; }
    done
    for setting in shown hidden; do probe "$user" --landlock "$abi" --ubuntu "$setting" || return 1; done
    echo "$user, as on Ubuntu 24.04, Landlock $abi: every level's sentence is so"
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
    granted "$user" || failed=1
    for error in EPERM EACCES; do
        # Root needs no user namespaces for the others.
        [ "$user" = root ] || refused "$user" unshare "$error" || failed=1
        refused "$user" mount "$error" || failed=1
    done
    # Root has the powers already. Ubuntu's first kernel has Landlock 4, its newer ones 6 and 7.
    if [ "$user" != root ]; then
        ubuntu "$user" 4 "not held on this system, so its commands ask" 3 || failed=1
        ubuntu "$user" 7 "held: " 0 || failed=1
    fi
done
exit "$failed"
