"""wheel.py PROGRAM TARGET VERSION DIST: a wheel that carries the program, as `uv` and `ruff` do.

The binary distribution format of PyPA: a zip with the program under *.data/scripts, which pip puts
into the environment's bin folder. Needs the standard library alone.
"""

import base64
import hashlib
import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

NAME = "claw_agent"
ROOT = Path(__file__).resolve().parent.parent


def platform_tag(target: str, program: Path) -> str:
    """The platforms that pip installs it on (PEP 600, PEP 656)."""
    arch = target.split("-")[0]
    if target.endswith("-musl"):
        # No library of the system is needed, so it runs with glibc, too.
        return f"manylinux_2_17_{arch}.manylinux2014_{arch}.musllinux_1_1_{arch}"
    if target.endswith("-linux-gnu"):
        return f"manylinux_{newest_glibc(program)}_{arch}"
    if target.endswith("-apple-darwin"):
        return "macosx_11_0_arm64" if arch == "aarch64" else "macosx_10_12_x86_64"
    sys.exit(f"no wheel platform is known for {target}")


def newest_glibc(program: Path) -> str:
    """The oldest glibc that has every symbol the program asks for; 2.17 where it asks for none."""
    linked = subprocess.run(["ldd", str(program)], capture_output=True, text=True, check=False)
    if "libc.so" not in linked.stdout:
        return "2_17"
    found = re.findall(rb"GLIBC_(\d+)\.(\d+)", program.read_bytes())
    major, minor = max((int(major), int(minor)) for major, minor in found)
    return f"{major}_{minor}"


def metadata(version: str) -> str:
    return (
        "Metadata-Version: 2.4\n"
        "Name: claw-agent\n"
        f"Version: {version}\n"
        "Summary: A personal agent that asks before it acts\n"
        "License-Expression: MIT OR Apache-2.0\n"
        "License-File: LICENSE-MIT\n"
        "License-File: LICENSE-APACHE\n"
        "Requires-Python: >=3.8\n"
        "Description-Content-Type: text/markdown\n"
        "\n" + (ROOT / "README.md").read_text(encoding="utf-8")
    )


def main() -> None:
    program, target, version, dist = Path(sys.argv[1]), sys.argv[2], sys.argv[3], Path(sys.argv[4])
    tag = f"py3-none-{platform_tag(target, program)}"
    info, data = f"{NAME}-{version}.dist-info", f"{NAME}-{version}.data"
    tags = "".join(f"Tag: py3-none-{one}\n" for one in tag.removeprefix("py3-none-").split("."))
    files = {
        f"{data}/scripts/claw": program.read_bytes(),
        f"{info}/METADATA": metadata(version).encode(),
        f"{info}/WHEEL": f"Wheel-Version: 1.0\nGenerator: claw\nRoot-Is-Purelib: false\n{tags}".encode(),
    }
    for licence in ("LICENSE-MIT", "LICENSE-APACHE"):
        files[f"{info}/licenses/{licence}"] = (ROOT / licence).read_bytes()
    record = "".join(
        f"{name},sha256={base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b'=').decode()},{len(content)}\n"
        for name, content in files.items()
    )
    files[f"{info}/RECORD"] = (record + f"{info}/RECORD,,\n").encode()
    wheel = dist / f"{NAME}-{version}-{tag}.whl"
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, content in files.items():
            entry = zipfile.ZipInfo(name, date_time=(1980, 1, 1, 0, 0, 0))
            entry.compress_type = zipfile.ZIP_DEFLATED
            mode = 0o755 if name.endswith("/scripts/claw") else 0o644
            entry.external_attr = (0o100000 | mode) << 16
            archive.writestr(entry, content)
    print(os.fspath(wheel))


main()
