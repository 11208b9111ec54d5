#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Rules of the tree that no compiler checks. Prints every breach as file:line and exits 1.

    check_tree.py ROOT          checks the tracked (or, outside git, all) sources under ROOT
    check_tree.py --self-test   proves that each rule can fail
"""
import pathlib
import re
import subprocess
import sys
import tempfile

# Folder -> what its sources may include by a rooted path. A new edge is a deliberate change to this table.
# Longest prefix wins. "std" (angle brackets) is free, but for the bans below.
EDGES = {
    "plugin/base": {"base"},
    "plugin/include": {"interframe"},
    "plugin/model": {"base", "model", "interframe_kernels"},
    "plugin/memory": {"base", "memory", "model", "interframe_kernels"},
    "plugin/engine": {"base", "engine", "model", "memory", "telemetry", "interframe_kernels"},
    "plugin/telemetry": {"base", "telemetry", "memory"},
    "plugin/interop": {"base", "interop", "memory"},
    "plugin/schedule": {"base", "schedule", "engine", "memory", "model", "interop", "telemetry", "interframe_kernels"},
    "plugin/abi": {"base", "abi", "model", "engine", "schedule", "memory", "interop", "telemetry", "interframe",
                   "interframe_kernels"},
    "kernels": {"interframe_kernels", "common", "reference", "bench", "indexer", "sparse_attention", "paged_attention", "moe",
                "linear", "delta_net", "conv", "norm", "hyper_connection", "ple", "sampling"},
    "ui": {"interframe", "interframe_overlay", "shared", "panels"},
    "host_app": {"interframe", "interframe_overlay", "shared", "gfx", "passes", "plugin_host", "interop", "chat"},
    "tools": {"base", "model", "engine", "memory", "schedule", "telemetry", "interframe", "interframe_kernels", "tools"},
}
# Third-party headers that only some folders may name.
THIRD_PARTY = {
    r"^(vulkan|GLFW|glm)/": {"ui", "host_app", "shaders", "tests/ui", "tests/host_app"},
    r"^(imgui|implot)": {"ui", "host_app", "tests/ui", "tests/host_app"},
    r"^(cuda|cuda_runtime|cub/|cooperative_groups)": {"kernels", "tests/kernels"},
    r"^pcre2": {"plugin/model"},
    r"^nlohmann/": {"plugin/model", "plugin/telemetry", "tools", "tests", "host_app", "kernels/bench"},
    r"^(unistd|sys/|fcntl|dlfcn|sched\.h|pthread|windows\.h|bcrypt)": {"plugin/base", "plugin/include", "tests", "host_app",
                                                                "tools"},
}
BANNED_NAME = re.compile(r"(^|[_-])(fast|optimized|new|helpers?|utils?|managers?|misc|final)([_.-]|$)")
CODE = {".h", ".hpp", ".c", ".cpp", ".cu", ".cuh", ".glsl", ".vert", ".frag", ".comp"}
TEXT = CODE | {".txt", ".cmake", ".py", ".sh", ".md", ".json", ".in", ""}
# Limits of length in lines.
LIMITS = {".cpp": 500, ".cu": 400, ".cuh": 500}
FORBIDDEN = [
    (re.compile(r"(?<![\w/.])/(work|root|home)/[\w.]"), "path of one machine"),
    (re.compile(r"\b(pypi\.org|pythonhosted\.org|deb\.debian\.org|archive\.ubuntu\.com|crates\.io|npmjs\.org)\b"),
     "host name of a package registry"),
]
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')


def edges_of(path: str):
    best = ""
    for folder in EDGES:
        if path.startswith(folder + "/") and len(folder) > len(best):
            best = folder
    return best, EDGES.get(best)


def check_file(root: pathlib.Path, path: str, breaches: list) -> None:
    suffix = pathlib.PurePath(path).suffix
    if BANNED_NAME.search(pathlib.PurePath(path).name):
        breaches.append(f"{path}: banned word in a file name")
    if suffix not in TEXT or path == "LICENSE" or path.endswith("OFL.txt"):
        return
    try:
        lines = (root / path).read_text(encoding="utf-8").split("\n")
    except UnicodeDecodeError:
        return
    if suffix in CODE | {".cmake", ".py", ".sh"} or path.endswith("CMakeLists.txt"):
        if not any("SPDX-License-Identifier: Apache-2.0" in line for line in lines[:3]):
            breaches.append(f"{path}:1: no SPDX line")
    if len(lines) - 1 > LIMITS.get(suffix, 1 << 30):
        breaches.append(f"{path}: {len(lines) - 1} lines, limit {LIMITS[suffix]}")
    folder, allowed = edges_of(path)
    for number, line in enumerate(lines, 1):
        for pattern, what in FORBIDDEN:
            if not path.startswith("tests/lint/") and pattern.search(line):
                breaches.append(f"{path}:{number}: {what}")
        match = INCLUDE.match(line) if suffix in CODE else None
        if not match:
            continue
        kind, target = match.groups()
        for pattern, folders in THIRD_PARTY.items():
            if re.search(pattern, target) and not any(path.startswith(f + "/") for f in folders):
                breaches.append(f"{path}:{number}: {target} is not for this folder")
        if kind == '"' and allowed is not None:
            first = target.split("/")[0]
            if "/" in target and first not in allowed:
                breaches.append(f"{path}:{number}: {folder} must not include {target} (table in tests/lint/check_tree.py)")
            if ".." in target.split("/"):
                breaches.append(f"{path}:{number}: relative include {target}")


def check(root: pathlib.Path) -> list:
    try:
        names = subprocess.run(["git", "-C", str(root), "ls-files", "-z"], check=True, capture_output=True).stdout.decode()
        paths = [p for p in names.split("\0") if p]
    except (OSError, subprocess.CalledProcessError):
        paths = [str(p.relative_to(root)) for p in root.rglob("*") if p.is_file()]
    breaches: list = []
    for path in paths:
        if (root / path).is_file():
            check_file(root, path, breaches)
            if (root / path).stat().st_size > 2 * 1024 * 1024:
                breaches.append(f"{path}: over 2 MiB")
    return breaches


def self_test() -> int:
    cases = {
        "plugin/base/a.h": ('// SPDX-License-Identifier: Apache-2.0\n#include "model/x.h"\n', "must not include"),
        "plugin/engine/a.cpp": ("// SPDX-License-Identifier: Apache-2.0\n#include <vulkan/vulkan.h>\n", "not for this folder"),
        "kernels/reference/a.cpp": ('// SPDX-License-Identifier: Apache-2.0\n#include "base/status.h"\n', "must not include"),
        "ui/b.cpp": ("int x;\n", "no SPDX"),
        "plugin/base/string_utils.h": ("// SPDX-License-Identifier: Apache-2.0\n", "banned word"),
        "docs/a.md": ("see /wo" + "rk/main/x\n", "path of one machine"),
        "scripts/a.sh": ("# SPDX-License-Identifier: Apache-2.0\ncurl https://py" + "pi.org/x\n", "registry"),
        "plugin/model/long.cpp": ("// SPDX-License-Identifier: Apache-2.0\n" + "\n" * 600, "lines, limit"),
    }
    failed = 0
    for path, (text, expected) in cases.items():
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            (root / path).parent.mkdir(parents=True)
            (root / path).write_text(text)
            breaches = []
            check_file(root, path, breaches)
            if not any(expected in b for b in breaches):
                print(f"self-test: {path} should breach '{expected}', got {breaches}")
                failed += 1
    return failed


def main() -> int:
    if sys.argv[1:] == ["--self-test"]:
        return 1 if self_test() else 0
    breaches = check(pathlib.Path(sys.argv[1]).resolve())
    print("\n".join(breaches))
    return 1 if breaches else 0


if __name__ == "__main__":
    sys.exit(main())
