#!/usr/bin/env bash
# deb.sh PROGRAM FOLDER TARGET: a package for Debian and Ubuntu of the program and of the pages and
# completions in FOLDER (deb(5), deb-control(5)). DEB_LEVEL=N compresses less than it could.
set -euo pipefail
. "$(dirname "$0")/lib.sh"
program="$1" folder="$2" target="$3"

case "$target" in
    x86_64-*) arch=amd64 ;;
    aarch64-*) arch=arm64 ;;
    riscv64*) arch=riscv64 ;;
    *) echo "no Debian architecture is known for $target" >&2; exit 1 ;;
esac

# The newest symbol of glibc that the program asks for is the oldest glibc that it runs with. A
# static program asks for none.
newest="$(grep -aoE 'GLIBC_[0-9]+\.[0-9]+' "$program" | sort -uV | tail -n 1 | sed 's/GLIBC_//' || true)"
depends=""
# Read to its end: behind a `grep -q` that has found its line, ldd may end by SIGPIPE, which pipefail
# takes for a program without libraries.
libraries="$(ldd "$program" 2>/dev/null || true)"
case "$libraries" in
    *libc.so*) depends="libc6 (>= ${newest:-2.31}), libgcc-s1" ;;
esac

root="$(mktemp -d)"
trap 'rm -rf "$root"' EXIT
chmod 755 "$root"
install -Dm755 "$program" "$root/usr/bin/claw"
install -Dm644 "$PACKAGING/deb/claw.service" "$root/usr/lib/systemd/user/claw.service"
install -Dm644 "$folder/completions/claw" "$root/usr/share/bash-completion/completions/claw"
install -Dm644 "$folder/completions/_claw" "$root/usr/share/zsh/vendor-completions/_claw"
install -Dm644 "$folder/completions/claw.fish" "$root/usr/share/fish/vendor_completions.d/claw.fish"
for page in "$folder"/man/man1/*.1; do
    gzip -n9c "$page" | install -Dm644 /dev/stdin "$root/usr/share/man/man1/$(basename "$page").gz"
done
doc="$root/usr/share/doc/claw"
install -Dm644 "$PACKAGING/deb/copyright" "$doc/copyright"
gzip -n9c "$ROOT/CHANGELOG.md" | install -Dm644 /dev/stdin "$doc/changelog.gz"
install -m644 "$ROOT/README.md" "$doc/README.md"

mkdir -p "$root/DEBIAN"
cat >"$root/DEBIAN/control" <<CONTROL
Package: claw
Version: $(version)
Section: utils
Priority: optional
Architecture: $arch
Maintainer: The claw maintainers <maintainers@users.noreply.a-seed-ac6c5750.example>
Installed-Size: $(du -sk --apparent-size --exclude=DEBIAN "$root" | cut -f 1)
${depends:+Depends: $depends
}Recommends: ca-certificates
Suggests: git
Description: personal agent that asks before it acts
 claw is an agent that you talk to from Telegram, a terminal, an editor or a
 desktop MCP client. It runs commands, changes files and uses any MCP server
 that you have. A change is shown to you first, and exactly what you have seen
 runs, once, after your yes. Commands run in a box that the kernel holds.
CONTROL
(cd "$root" && find usr -type f -print0 | sort -z | xargs -0 md5sum) >"$root/DEBIAN/md5sums"
find "$root" -type d -exec chmod 755 {} +
dpkg-deb --root-owner-group -Zxz ${DEB_LEVEL:+-z"$DEB_LEVEL"} --build "$root" "$DIST/claw_$(version)_$arch.deb" >/dev/null
