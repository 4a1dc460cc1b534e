#!/usr/bin/env bash
# The box on a machine that people work on: cargo, npm, uv with pytest, go, git and a push over ssh
# in `claw server bash`, at the least level that does, as the user of this run and, if that is root,
# as an ordinary user with toolchains in a home of its own. What is not on this machine is said and
# left out.
# Usage: .ci/toolbox.sh PATH/TO/claw
set -euo pipefail
here="$(cd "$(dirname "$0")" && pwd)"
. "$here/lib.sh"
claw="$(realpath "$1")"

# Tools that a plain image lacks. A registry that cannot be reached costs its part of the step,
# which then says so.
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    # A server that is installed is not to be started: the test starts its own, on loopback.
    if [ ! -e /usr/sbin/policy-rc.d ]; then
        printf '#!/bin/sh\nexit 101\n' >/usr/sbin/policy-rc.d
        chmod 755 /usr/sbin/policy-rc.d
        own_policy=/usr/sbin/policy-rc.d
    fi
    for program in go npm git sshd; do
        command -v "$program" >/dev/null && continue
        package="$program"
        [ "$program" = go ] && package=golang-go
        [ "$program" = sshd ] && package="openssh-server openssh-client"
        # Two packages are two words.
        # shellcheck disable=SC2086
        apt-get install -y --no-install-recommends $package >"$CI_SCRATCH/apt.log" 2>&1 || echo "not there: $program ($package cannot be installed)"
    done
    [ -z "${own_policy:-}" ] || rm -f "$own_policy"
fi
python="$(command -v /usr/bin/python3 || command -v python3)"
wheels="$CI_SCRATCH/wheels"
mkdir -p "$wheels"
# What PATH calls uv may be a launcher of a version manager, which leads to another home.
if [ ! -x "$CI_SCRATCH/uv/bin/uv" ]; then
    python3 -m pip install --quiet --target "$CI_SCRATCH/uv" uv 2>"$CI_SCRATCH/uv.log" || echo "not there: uv"
fi
python3 -m pip download --quiet --dest "$wheels" pytest 2>"$CI_SCRATCH/pytest.log" || echo "not there: pytest"
uv="$CI_SCRATCH/uv/bin/uv"

# Not below /tmp: a command may have one of its own, which hides what lies there and would prove
# nothing.
work="$(mktemp -d /var/tmp/claw-toolbox.XXXXXX)"
trap 'rm -rf "$work"' EXIT
chmod 755 "$work"
cp "$claw" "$here/toolbox/toolbox.py" "$work/"
cp -r "$wheels" "$work/wheels"
chmod -R a+rX "$work"

# home_of USER: a home with the toolchains of this run's user, as rustup and pip lay them out.
home_of() {
    local user="$1" home="$work/home-$1"
    mkdir -p "$home/.local/bin" "$home/.cargo/registry"
    [ -x "$uv" ] && cp "$uv" "$home/.local/bin/uv"
    if command -v rustup >/dev/null; then
        local rustup cargo toolchain
        rustup="${RUSTUP_HOME:-$HOME/.rustup}" cargo="${CARGO_HOME:-$HOME/.cargo}" toolchain="$(rustc --print sysroot)"
        mkdir -p "$home/.rustup/toolchains/$(basename "$toolchain")" "$home/.cargo/bin"
        cp "$rustup/settings.toml" "$home/.rustup/"
        cp -a "$toolchain/bin" "$toolchain/lib" "$home/.rustup/toolchains/$(basename "$toolchain")/"
        cp -a "$cargo/bin/." "$home/.cargo/bin/"
    fi
    chown -R "$user" "$home"
    echo "$home"
}

failed=0
users=("$(id -un)")
if [ "$(id -u)" = 0 ]; then
    id claw-toolbox >/dev/null 2>&1 || useradd --no-create-home claw-toolbox
    users+=(claw-toolbox)
fi
for user in "${users[@]}"; do
    home="$(home_of "$user")"
    words=(env -i "HOME=$home" "USER=$user" "TMPDIR=$work/tmp-$user"
        "PATH=$home/.cargo/bin:$home/.local/bin:/usr/local/go/bin:/usr/local/bin:/usr/bin:/bin"
        "$python" "$work/toolbox.py" "$work/claw" "$home" "$work/wheels")
    install -d -o "$user" -m 700 "$work/tmp-$user"
    echo "as $user:"
    if [ "$(id -un)" = "$user" ]; then (cd "$home" && "${words[@]}") || failed=1
    else (cd "$home" && setpriv --reuid "$user" --regid "$user" --clear-groups -- "${words[@]}") || failed=1; fi
done
exit "$failed"
