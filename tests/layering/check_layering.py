#!/usr/bin/env python3
"""The house rules that a compiler does not check.

  check_layering.py rooms SOURCE_ROOT           includes follow rooms.json, which has no circle
  check_layering.py headers SOURCE_ROOT BUILD   every header compiles on its own
  check_layering.py links COMMAND...            no LLVM among the shared libraries of these
  check_layering.py readmes SOURCE_ROOT         folders with sources have a README of one screen
"""
import concurrent.futures
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys

INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)
SYSTEM_INCLUDE = re.compile(r'^\s*#\s*include\s+<([^>]+)>', re.MULTILINE)
# Top-level folders that may use anything and that nothing uses.
LEAVES = ("tools", "tests", "benchmarks", "examples", "build", "docs", "cmake")


def room_of(path, rooms):
    """The longest room that holds the path, or None."""
    best = None
    for room in rooms:
        if path.startswith(room + "/") and (best is None or len(room) > len(best)):
            best = room
    return best


def sources(root, suffixes=(".h", ".hpp", ".cc", ".c", ".inc")):
    for folder, folders, files in os.walk(root):
        relative = os.path.relpath(folder, root)
        if relative == ".":
            folders[:] = sorted(f for f in folders if not f.startswith(".") and f not in LEAVES)
        for name in sorted(files):
            if name.endswith(suffixes):
                yield os.path.normpath(os.path.join(relative, name)).replace(os.sep, "/")


def check_rooms(root):
    rooms = json.loads((pathlib.Path(__file__).parent / "rooms.json").read_text())
    problems = []

    # The table itself: known rooms, no circle.
    state = {}

    def visit(room, trail):
        if state.get(room) == "done":
            return
        if room in trail:
            problems.append("circle in rooms.json: " + " -> ".join(trail[trail.index(room):] + [room]))
            return
        for used in rooms[room]:
            if used not in rooms:
                problems.append(f"rooms.json: {room} uses unknown room {used}")
            else:
                visit(used, trail + [room])
        state[room] = "done"

    for room in rooms:
        visit(room, [])

    checked = 0
    for path in sources(root):
        room = room_of(path, rooms)
        if room is None:
            problems.append(f"{path}: in no room of rooms.json")
            continue
        text = (pathlib.Path(root) / path).read_text(errors="replace")
        checked += 1
        for included in INCLUDE.findall(text):
            target = included if not included.startswith("baton/") else "include/" + included
            used = room_of(target, rooms)
            if used is None:
                problems.append(f"{path}: includes \"{included}\", which is in no room")
            elif used != room and used not in rooms[room]:
                problems.append(f"{path}: room {room} may not use {used} (\"{included}\")")
        for included in SYSTEM_INCLUDE.findall(text):
            if included.startswith(("llvm/", "lld/")) and room != "kernels/codegen":
                problems.append(f"{path}: room {room} may not use LLVM (<{included}>)")
            if included == "iostream":
                problems.append(f"{path}: libraries do not use <iostream>")
    if checked == 0:
        problems.append("no sources found")
    return problems


def check_headers(root, build):
    commands = json.loads((pathlib.Path(build) / "compile_commands.json").read_text())
    # Any C++ entry gives compiler and flags; a header of codegen needs codegen's.
    def flags_for(path):
        folder = str(pathlib.Path(root, path).parent)
        best = None
        for entry in commands:
            file = entry["file"]
            if not file.endswith(".cc"):
                continue
            if file.startswith(folder + "/"):
                best = entry
                break
            if best is None and "/base/" in file:
                best = entry
        return best

    def compile_one(path):
        entry = flags_for(path)
        arguments = shlex.split(entry["command"])
        start = next(i for i, a in enumerate(arguments) if re.search(r"(^|/)(c\+\+|g\+\+|clang\+\+)[-0-9.]*$", a))
        arguments = arguments[start:]
        out = []
        skip = False
        for a in arguments:
            if skip:
                skip = False
            elif a in ("-o", "-c", "-MF", "-MT"):
                skip = True
            elif a in ("-MD", "-MMD"):
                pass
            else:
                out.append(a)
        if path.endswith("_abi.h") or path in ("include/baton/baton.h", "include/baton/compiler.h", "include/baton/dlpack.h"):
            kinds = [["-x", "c++"], ["-x", "c", "-std=c99"]]
        else:
            kinds = [["-x", "c++"]]
        for kind in kinds:
            flags = [a for a in out if not (kind[1] == "c" and (a.startswith("-std=") or a == "-fvisibility-inlines-hidden"))]
            if kind[1] == "c":
                flags[0] = "gcc"
            result = subprocess.run(flags + ["-fsyntax-only", "-Wno-pragma-once-outside-header"] + kind + ["-"], input=f'#include "{path if not path.startswith("include/") else path[8:]}"\n',
                                    text=True, capture_output=True, cwd=entry["directory"])
            if result.returncode != 0:
                return f"{path} does not compile on its own ({kind[1]}):\n{result.stderr[:1500]}"
        return None

    # A room whose sources are not part of this build (the compiler's in a runtime-only one)
    # may lack what its headers need.
    rooms = json.loads((pathlib.Path(__file__).parent / "rooms.json").read_text())
    compiled = {room_of(os.path.relpath(entry["file"], root).replace(os.sep, "/"), rooms) for entry in commands}
    with_sources = {room_of(p, rooms) for p in sources(root, (".cc",))}
    left_out = with_sources - compiled
    headers = [p for p in sources(root, (".h", ".hpp")) if room_of(p, rooms) not in left_out]
    if not headers:
        return ["no headers found"]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        return [problem for problem in pool.map(compile_one, headers) if problem]


def check_links(commands):
    problems = []
    for command in commands:
        result = subprocess.run(["ldd", command], text=True, capture_output=True)
        if result.returncode != 0:
            problems.append(f"ldd {command}: {result.stderr.strip()}")
        for line in result.stdout.splitlines():
            if re.search(r"llvm|lld|clang", line, re.IGNORECASE):
                problems.append(f"{command} links {line.strip()}")
    return problems


SOURCES = (".h", ".hpp", ".cc", ".c", ".td", ".py", ".cmake", ".relay", "CMakeLists.txt")
SCREEN_LINES = 45


def check_readmes(root):
    problems = []
    for folder, folders, files in os.walk(root):
        relative = os.path.relpath(folder, root)
        depth = 0 if relative == "." else relative.count(os.sep) + 1
        folders[:] = [] if depth >= 2 else sorted(f for f in folders if not f.startswith(".") and f != "build")
        if depth == 0 or not any(f.endswith(SOURCES) for f in files):
            continue
        readme = pathlib.Path(folder, "README.md")
        if not readme.is_file():
            problems.append(f"{relative}: has sources and no README.md")
            continue
        lines = readme.read_text().splitlines()
        if not lines or not lines[0].startswith("# "):
            problems.append(f"{relative}/README.md: the first line is no title")
        if len(lines) > SCREEN_LINES:
            problems.append(f"{relative}/README.md: {len(lines)} lines, a screen has {SCREEN_LINES}")
    return problems


def main():
    what = sys.argv[1]
    if what == "rooms":
        problems = check_rooms(sys.argv[2])
    elif what == "headers":
        problems = check_headers(sys.argv[2], sys.argv[3])
    elif what == "readmes":
        problems = check_readmes(sys.argv[2])
    else:
        problems = check_links(sys.argv[2:])
    for problem in problems:
        print(problem)
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
