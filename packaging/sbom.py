"""sbom.py TARGET VERSION DIST: the bill of materials of the program (CycloneDX 1.6, JSON).

Every crate that is compiled into it, as Cargo.lock holds it: no crate of tests or of build scripts.
"""

import json
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def cargo(*words: str) -> str:
    return subprocess.run(["cargo", *words], cwd=ROOT, check=True, capture_output=True, text=True).stdout


def checksums() -> dict[tuple[str, str], str]:
    """SHA-256 of each crate's archive, from Cargo.lock."""
    found = {}
    for block in (ROOT / "Cargo.lock").read_text(encoding="utf-8").split("[[package]]"):
        words = dict(re.findall(r'^(name|version|checksum) = "(.*)"$', block, re.M))
        if "checksum" in words:
            found[words["name"], words["version"]] = words["checksum"]
    return found


def compiled_in(metadata: dict) -> list[dict]:
    """The packages that the program `claw` is linked from: its normal dependencies, and theirs."""
    nodes = {node["id"]: node for node in metadata["resolve"]["nodes"]}
    packages = {package["id"]: package for package in metadata["packages"]}
    first = next(package["id"] for package in metadata["packages"] if package["name"] == "claw")
    seen, left = set(), [first]
    while left:
        one = left.pop()
        if one in seen:
            continue
        seen.add(one)
        for dependency in nodes[one]["deps"]:
            macro = any("proc-macro" in target["kind"] for target in packages[dependency["pkg"]]["targets"])
            if not macro and any(kind["kind"] is None for kind in dependency["dep_kinds"]):
                left.append(dependency["pkg"])
    return sorted((packages[one] for one in seen), key=lambda package: (package["name"], package["version"]))


def main() -> None:
    target, version, dist = sys.argv[1], sys.argv[2], Path(sys.argv[3])
    metadata = json.loads(cargo("metadata", "--format-version=1", "--locked", f"--filter-platform={target}"))
    digests, components = checksums(), []
    for package in compiled_in(metadata):
        name, of = package["name"], package["version"]
        component = {"type": "library", "bom-ref": f"{name}@{of}", "name": name, "version": of}
        if package.get("license"):
            component["licenses"] = [{"expression": package["license"].replace("/", " OR ")}]
        if package["source"]:
            component["purl"] = f"pkg:cargo/{name}@{of}"
        if (name, of) in digests:
            component["hashes"] = [{"alg": "SHA-256", "content": digests[name, of]}]
        components.append(component)
    bom = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {"component": {"type": "application", "bom-ref": "claw", "name": "claw", "version": version}},
        "components": [component for component in components if component["name"] != "claw"],
    }
    file = dist / f"claw-{version}.cdx.json"
    file.write_text(json.dumps(bom, indent=1) + "\n", encoding="utf-8")
    print(f"{file}: {len(bom['components'])} crates")


main()
