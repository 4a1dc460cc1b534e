#!/usr/bin/env bash
# packages.sh PROGRAM [TARGET]: all packages of this platform, made of a built program, and each
# installed where there is no Rust: the .deb in a clean root of Debian, where an ordinary user holds
# a conversation with the demo, the wheel in a virtual environment, the npm packages in an empty
# folder. Prints sizes and times. DEB_LEVEL=1 saves most of the minute in which two .debs are made
# small; one for people is made without.
set -euo pipefail
cd "$(dirname "$0")/.."
. .ci/lib.sh
[ "$(uname -s)" = Linux ] || { echo "skipped: these packages are made on Linux"; exit 0; }

as_root() {
    if [ "$(id -u)" = 0 ]; then "$@"; else sudo -n "$@"; fi
}

program="$(readlink -f "$1")"
export DIST="$CI_SCRATCH/dist"
[ -z "${2:-}" ] || export TARGET="$2"
PROGRAM="$program" bash packaging/build.sh >"$CI_SCRATCH/packages.log" 2>&1 || { cat "$CI_SCRATCH/packages.log" >&2; fail "the packages were not made"; }
(cd "$DIST" && sha256sum --quiet -c SHA256SUMS) || fail "a checksum is wrong"
made() { (cd "$DIST" && sha256sum -- *.deb *.whl *.tgz *.tar.gz | sort); }
first="$(made)"
PROGRAM="$program" bash packaging/build.sh >"$CI_SCRATCH/packages.log" 2>&1 || { cat "$CI_SCRATCH/packages.log" >&2; fail "the packages were not made again"; }
second="$(made)"
[ "$first" = "$second" ] || { diff <(echo "$first") <(echo "$second") >&2 || true; fail "the same program made other packages"; }
# A program that needs no library is a static one.
needs="$(dpkg-deb -f "$DIST"/*.deb Depends)"
libraries="$(ldd "$program" 2>/dev/null || true)"
case "$libraries" in
    *libc.so*) expect "what the .deb depends on" "$needs" "libc6 (>= 2." ;;
    *) [ -z "$needs" ] || fail "the .deb of a static program depends on $needs" ;;
esac
ls -l "$DIST" | awk 'NR > 1 { printf "%10d bytes  %s\n", $5, $9 }'

# The bill of materials is what its format says, and names what the program is made of.
python="$CI_SCRATCH/py/bin/python"
"$python" -c 'import cyclonedx.validation.json' 2>/dev/null || "$CI_SCRATCH/py/bin/pip" install -q 'cyclonedx-python-lib[json-validation]'
"$python" - "$DIST"/*.cdx.json <<'PY' || fail "the bill of materials is not CycloneDX 1.6"
import json, sys
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
text = open(sys.argv[1], encoding="utf-8").read()
wrong = JsonStrictValidator(SchemaVersion.V1_6).validate_str(text)
names = {component["name"] for component in json.loads(text)["components"]}
missing = {"rusqlite", "tokio", "rmcp", "claw-mcp-bash"} - names
surplus = {"insta", "proptest", "axum-test"} & names
sys.exit(f"{wrong or ''} missing: {missing} surplus: {surplus}" if wrong or missing or surplus else 0)
PY
echo "ok  the bill of materials"

# What a person types is in the manual, too, so each of these is one that the guide names.
conversation='set -eu
cd
claw --version
printf "/help\n/quit\n" | claw chat >chat.txt 2>&1
grep -q "demo model" chat.txt
code=0; claw ask "write notes/today.md: bread and milk" >ask.txt 2>&1 || code=$?
[ "$code" = 3 ] || { cat ask.txt; echo "exit code $code instead of 3"; exit 1; }
[ ! -e .claw/workspace/notes/today.md ] || { echo "it was written before a yes"; exit 1; }
claw approve "$(claw approvals --json | sed -n "s/.*\"id\":\"\([^\"]*\)\".*/\1/p")" >approve.txt 2>&1 || { cat approve.txt; exit 1; }
[ "$(cat .claw/workspace/notes/today.md)" = "bread and milk" ]
claw audit verify
'

debian() {
    local root="$CI_SCRATCH/debian" code=0
    if [ ! -e "$root.tar" ]; then
        command -v mmdebstrap >/dev/null || { as_root apt-get update -qq; as_root apt-get install -y -qq --no-install-recommends mmdebstrap >/dev/null; }
        # The release of this machine, by the settings of its own apt. A mirror may fail once.
        local release
        release="$(. /etc/os-release && echo "$VERSION_CODENAME")"
        for attempt in 1 2 3; do
            as_root mmdebstrap --variant=minbase --include=ca-certificates "$release" "$root.part.tar" >"$CI_SCRATCH/debian.log" 2>&1 && break
            echo "--  attempt $attempt at a root of Debian failed:"
            tail -n 15 "$CI_SCRATCH/debian.log"
            [ "$attempt" -lt 3 ] || return 1
        done
        as_root mv "$root.part.tar" "$root.tar"
    fi
    as_root rm -rf "$root"
    as_root mkdir "$root"
    as_root tar -C "$root" -xf "$root.tar"
    as_root cp "$DIST"/*.deb "$root/root/claw.deb"
    local from=$SECONDS
    # Two commands: this one, and `claw chat`.
    as_root chroot "$root" sh -c 'test ! -e /usr/bin/cargo && test ! -e /usr/bin/cc && dpkg -i /root/claw.deb >/dev/null 2>&1' || { echo "dpkg -i failed"; return 1; }
    as_root chroot "$root" useradd -m anna
    # With a /proc of its own, by which claw finds its own program.
    as_root unshare --mount --pid --fork --mount-proc="$root/proc" chroot "$root" su - anna -c "$conversation" || code=$?
    [ "$code" = 0 ] || return 1
    for file in /usr/share/man/man1/claw.1.gz /usr/share/man/man1/claw-ask.1.gz /usr/share/bash-completion/completions/claw \
        /usr/lib/systemd/user/claw.service /usr/share/doc/claw/copyright; do
        [ -e "$root$file" ] || { echo "$file is missing"; return 1; }
    done
    as_root chroot "$root" sh -c 'dpkg -r claw >/dev/null 2>&1 && test ! -e /usr/bin/claw' || { echo "dpkg -r failed"; return 1; }
    as_root rm -rf "$root"
    echo "ok  Debian without Rust: installed, talked to and removed in $((SECONDS - from)) s"
}
debian || fail "the .deb in a clean root of Debian"

# home NAME: an empty one. Each has a name of its own, because the head of an audit that is gone is
# still noted outside of its home.
home() { rm -rf "$CI_SCRATCH/packages-$1" && mkdir -p "$CI_SCRATCH/packages-$1" && echo "$CI_SCRATCH/packages-$1"; }

rm -rf "$CI_SCRATCH/wheel"
python3 -m venv "$CI_SCRATCH/wheel"
"$CI_SCRATCH/wheel/bin/pip" install -q --no-index "$DIST"/*.whl
HOME="$(home wheel)" PATH="$CI_SCRATCH/wheel/bin:$PATH" sh -c "$conversation" || fail "the wheel"
echo "ok  the wheel in a virtual environment"

rm -rf "$CI_SCRATCH/npm-claw"
mkdir -p "$CI_SCRATCH/npm-claw"
PATH="$CI_SCRATCH/py/bin:$PATH" npm install --silent --no-fund --no-audit --offline --omit=optional --prefix "$CI_SCRATCH/npm-claw" \
    "$DIST"/claw-agent-[0-9]*.tgz
code=0
HOME="$(home npm)" PATH="$CI_SCRATCH/npm-claw/node_modules/.bin:$CI_SCRATCH/py/bin:$PATH" claw --version >"$CI_STEP/out" 2>&1 || code=$?
[ "$code" = 1 ] || fail "npm without the package of a platform: exit code $code"
expect "npm without the package of a platform" "$(cat "$CI_STEP/out")" "--include=optional"
PATH="$CI_SCRATCH/py/bin:$PATH" npm install --silent --no-fund --no-audit --offline --omit=optional --prefix "$CI_SCRATCH/npm-claw" \
    "$DIST"/claw-agent-linux-*.tgz
HOME="$(home npm)" PATH="$CI_SCRATCH/npm-claw/node_modules/.bin:$CI_SCRATCH/py/bin:$PATH" sh -c "$conversation" || fail "the npm packages"
echo "ok  the npm packages in an empty folder"
rm -rf "$CI_SCRATCH"/packages-{wheel,npm} "$CI_SCRATCH/wheel" "$CI_SCRATCH/npm-claw"
