#!/usr/bin/env bash
# Makes all packages of one platform into dist/. PROGRAM=FILE takes a program that is built already;
# TARGET=TRIPLE says for which platform, also of a PROGRAM; STATIC=1 links glibc statically.
set -euo pipefail
. "$(dirname "$0")/lib.sh"
cd "$ROOT"

host="$(rustc -vV | sed -n 's/^host: //p')"
target="${TARGET:-$host}"
if [ -z "${PROGRAM:-}" ]; then
    [ "${STATIC:-0}" != 1 ] || export RUSTFLAGS="${RUSTFLAGS:-} -C target-feature=+crt-static"
    cargo build --release --locked --target "$target"
    PROGRAM="$ROOT/target/$target/release/claw"
fi
# Pages and completions are made by a program that runs here.
MAKER="${MAKER:-$PROGRAM}"

rm -rf "$DIST"
mkdir -p "$DIST"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT

name="claw-$(version)-$target"
install -Dm755 "$PROGRAM" "$work/$name/claw"
shared_files "$MAKER" "$work/$name"
install -m644 README.md CHANGELOG.md LICENSE-MIT LICENSE-APACHE "$work/$name/"
# The same program gives the same archive: no names, no times of this machine.
epoch="$(git log -1 --format=%ct 2>/dev/null || echo 0)"
export SOURCE_DATE_EPOCH="${SOURCE_DATE_EPOCH:-$epoch}"
tar --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$SOURCE_DATE_EPOCH" -C "$work" -cf - "$name" | gzip -n9 >"$DIST/$name.tar.gz"

case "$target" in
    *-linux-*) bash "$PACKAGING/deb.sh" "$PROGRAM" "$work/$name" "$target" ;;
esac
python3 "$PACKAGING/wheel.py" "$PROGRAM" "$target" "$(version)" "$DIST"
python3 "$PACKAGING/npm.py" "$PROGRAM" "$target" "$(version)" "$DIST"
python3 "$PACKAGING/sbom.py" "$target" "$(version)" "$DIST"
(cd "$DIST" && sha256sum -- * >"$work/SHA256SUMS" && mv "$work/SHA256SUMS" SHA256SUMS)
ls -l "$DIST"
