#!/usr/bin/env bash
# static.sh [TARGET]: the static program (musl) on a machine without rustup: its own Rust has no
# musl library, so one is built from source in a root of Debian, and Zig from PyPI is the C compiler
# and the linker. Prints the path of the program. Needs root or sudo, mmdebstrap, about 4 GB and
# half an hour of two cores. WORK=FOLDER keeps the root and what was built, so that a second run is
# quicker. With rustup `TARGET=… bash packaging/build.sh` does the same, and needs none of this.
set -euo pipefail
. "$(dirname "$0")/lib.sh"
cd "$ROOT"

target="${1:-x86_64-unknown-linux-musl}"
work="${WORK:-$ROOT/target/static}"
# The oldest release of Debian whose Rust builds claw.
suite="${SUITE:-forky}"
root="$work/root"

as_root() {
    if [ "$(id -u)" = 0 ]; then "$@"; else sudo -n "$@"; fi
}

mkdir -p "$work"
if [ ! -e "$work/made" ]; then
    as_root rm -rf "$root"
    as_root mmdebstrap --quiet --variant=minbase ${APTOPT:+"--aptopt=$APTOPT"} \
        --include=ca-certificates,cargo,rustc,rust-src,python3-venv "$suite" "$root"
    as_root cp /etc/resolv.conf "$root/etc/resolv.conf"
    # A mirror behind a certificate of this machine's own is known to it alone.
    as_root cp -L /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/ca-certificates.crt"
    as_root chroot "$root" sh -c 'python3 -m venv /opt/zig && /opt/zig/bin/pip install -q ziglang==0.17.1 cargo-zigbuild==0.24.1'
    touch "$work/made"
fi

as_root mkdir -p "$root/src-claw"
# What is committed, and nothing that lies about. The times stay, so that cargo builds what changed.
git archive HEAD | as_root tar -x -C "$root/src-claw"
as_root mount --bind /proc "$root/proc"
trap 'as_root umount "$root/proc"' EXIT
# Debian's rustc takes the switches that build its own library; the C parts of musl come from Zig.
as_root chroot "$root" env PATH=/opt/zig/bin:/usr/bin:/bin RUSTC_BOOTSTRAP=1 CARGO_INCREMENTAL=0 \
    CARGO_HTTP_CAINFO=/etc/ssl/certs/ca-certificates.crt RUSTFLAGS="-C link-self-contained=no" \
    sh -c "cd /src-claw && cargo-zigbuild zigbuild -Zbuild-std=std,panic_unwind --release --locked --target $target --bin claw" >&2
program="$root/src-claw/target/$target/release/claw"
[ -z "$(ldd "$program" 2>/dev/null | grep '=>' || true)" ] || { echo "FAILED: $program is not static" >&2; exit 1; }
echo "$program"
