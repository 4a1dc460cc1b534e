"""npm.py PROGRAM TARGET VERSION DIST: the npm packages, as `@biomejs/biome` has them.

One package a platform carries the program; the package that people name depends on all of them
optionally, so npm fetches the one that fits, and its launcher starts that program.
"""

import gzip
import io
import json
import sys
import tarfile
from pathlib import Path

NAME = "claw-agent"
ROOT = Path(__file__).resolve().parent.parent
# What npm calls a platform: package.json's `os`, `cpu`, `libc`. A program that is linked with musl
# runs everywhere, so it is not bound to a libc.
PLATFORMS = {
    "x86_64-unknown-linux-musl": ("linux-x64", "linux", "x64", None),
    "aarch64-unknown-linux-musl": ("linux-arm64", "linux", "arm64", None),
    "x86_64-unknown-linux-gnu": ("linux-x64", "linux", "x64", "glibc"),
    "aarch64-unknown-linux-gnu": ("linux-arm64", "linux", "arm64", "glibc"),
    "x86_64-apple-darwin": ("darwin-x64", "darwin", "x64", None),
    "aarch64-apple-darwin": ("darwin-arm64", "darwin", "arm64", None),
}
ALL = sorted({platform[0] for platform in PLATFORMS.values()})


def described(name: str, version: str, more: dict) -> dict:
    return {
        "name": name,
        "version": version,
        "description": "A personal agent that asks before it acts",
        "license": "MIT OR Apache-2.0",
        **more,
    }


def write(dist: Path, name: str, version: str, files: dict[str, tuple[bytes, int]]) -> None:
    """A tarball as `npm pack` makes it: every file below `package/`."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for path, (content, mode) in sorted(files.items()):
            entry = tarfile.TarInfo(f"package/{path}")
            entry.size, entry.mode, entry.mtime = len(content), mode, 499162500
            archive.addfile(entry, io.BytesIO(content))
    target = dist / f"{name}-{version}.tgz"
    target.write_bytes(gzip.compress(packed.getvalue(), compresslevel=9, mtime=0))
    print(target)


def main() -> None:
    program, target, version, dist = Path(sys.argv[1]), sys.argv[2], sys.argv[3], Path(sys.argv[4])
    if target not in PLATFORMS:
        sys.exit(f"no npm platform is known for {target}")
    platform, system, cpu, libc = PLATFORMS[target]
    licences = {name: ((ROOT / name).read_bytes(), 0o644) for name in ("LICENSE-MIT", "LICENSE-APACHE")}

    bound = {"os": [system], "cpu": [cpu], **({"libc": [libc]} if libc else {})}
    package = described(f"{NAME}-{platform}", version, {**bound, "files": ["claw"]})
    content = {"claw": (program.read_bytes(), 0o755), "package.json": (json.dumps(package, indent=2).encode(), 0o644)}
    write(dist, f"{NAME}-{platform}", version, {**content, **licences})

    optional = {f"{NAME}-{one}": version for one in ALL}
    package = described(
        NAME,
        version,
        {"bin": {"claw": "claw.js"}, "engines": {"node": ">=18"}, "optionalDependencies": optional},
    )
    content = {
        "claw.js": ((ROOT / "packaging/npm/claw.js").read_bytes(), 0o755),
        "package.json": (json.dumps(package, indent=2).encode(), 0o644),
        "README.md": ((ROOT / "README.md").read_bytes(), 0o644),
    }
    write(dist, NAME, version, {**content, **licences})


main()
