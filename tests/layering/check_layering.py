#!/usr/bin/env python3
"""The house rules that a compiler does not check.

  check_layering.py rooms SOURCE_ROOT           includes follow rooms.json, which has no circle
  check_layering.py headers SOURCE_ROOT BUILD   every header compiles on its own
  check_layering.py links COMMAND...            no LLVM among the shared libraries of these
  check_layering.py readmes SOURCE_ROOT         folders with sources have a README of one screen that says how to add one
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
ANY_INCLUDE = re.compile(r'^\s*#\s*include\s+[<"]([^>"]+)[>"]', re.MULTILINE)
COMMENT_OR_STRING = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:[^"\\\n]|\\.)*"', re.DOTALL)
STANDARD_NAME = re.compile(r"\bstd::[a-z_0-9]+|(?<!::)\bu?int(?:8|16|32|64)_t\b")
# Headers that C programs include, too.
C_HEADERS = ("include/baton/baton.h", "include/baton/compiler.h", "include/baton/dlpack.h", "include/baton/kernel_abi.h")
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


def first_included(commands):
    """What the build has compiled before anything else of the same unit: on its own."""
    found = set()
    for entry in commands:
        source = pathlib.Path(entry["file"])
        if source.name.startswith("unity_"):  # it begins with the first of those that it joins
            source = pathlib.Path(INCLUDE.search(source.read_text()).group(1))
        match = ANY_INCLUDE.search(source.read_text(errors="replace"))
        if match:
            found.add(match.group(1))
    return found


def compilation(command):
    """Launcher (such as ccache) and compiler, and the flags, of a command that compiles a source."""
    arguments = shlex.split(command)
    start = next(i for i, a in enumerate(arguments) if re.search(r"(^|/)(c|g|clang)\+\+[-0-9.]*$", a))
    flags = []
    rest = iter(arguments[start + 1:])
    for argument in rest:
        if argument in ("-o", "-c", "-MF", "-MT"):
            next(rest)
        elif argument not in ("-MD", "-MMD"):
            flags.append(argument)
    return arguments[:start + 1], flags + ["-O0"]


def as_c(compiler, flags):
    kept = [a for a in flags if not a.startswith("-std=") and a != "-fvisibility-inlines-hidden"]
    return compiler[:-1] + ["cc"], kept + ["-std=c99"]


def standard_names(root, headers):
    """Names of the standard library of which a header includes no declaration, itself or by headers of ours.

    The compiler does not see that: it has all standard headers precompiled."""
    provided = json.loads((pathlib.Path(__file__).parent / "standard_headers.json").read_text())
    declaring = {}
    for header, names in provided.items():
        for name in names:
            declaring.setdefault(name, set()).add(header)
    includes = {}

    def system_includes(path):
        if path not in includes:
            includes[path] = set()  # ends circles
            text = (pathlib.Path(root) / path).read_text()
            found = set(SYSTEM_INCLUDE.findall(text))
            for included in INCLUDE.findall(text):
                target = included if not included.startswith("baton/") else "include/" + included
                if (pathlib.Path(root) / target).is_file():  # not a generated one
                    found |= system_includes(target)
            includes[path] = found
        return includes[path]

    problems = []
    for path in headers:
        text = COMMENT_OR_STRING.sub(" ", (pathlib.Path(root) / path).read_text())
        for name in sorted(set(STANDARD_NAME.findall(text))):
            name = name.removeprefix("std::")
            if name not in declaring:
                problems.append(f"{path}: std::{name} is not in tests/layering/standard_headers.json")
            elif not declaring[name] & system_includes(path):
                problems.append(f"{path}: uses {name} and does not include <{'> or <'.join(sorted(declaring[name]))}>")
    return problems


def precompile(entries, stubs, headers):
    """All standard headers, compiled once for the headers of ours that come after them.

    A compiler ignores what was compiled with macros that it does not have itself: only those of all rooms count."""
    names = sorted({name for path in headers for name in SYSTEM_INCLUDE.findall(path.read_text())})
    names = [name for name in names if not name.startswith(("llvm/", "lld/", "sanitizer/", "baton/"))]
    together = stubs / "standard.h"
    stubs.mkdir(parents=True, exist_ok=True)
    together.write_text("".join(f"#include <{name}>\n" for name in names))
    compiler, flags = compilation(entries[0]["command"])
    others = [compilation(entry["command"])[1] for entry in entries[1:]]
    flags = [flag for flag in flags if not flag.startswith("-D") or all(flag in each for each in others)]
    subprocess.run(compiler[-1:] + flags + ["-x", "c++-header", str(together), "-o", f"{together}.gch"], check=True,
                   cwd=entries[0]["directory"])
    return together


def check_headers(root, build):
    commands = json.loads((pathlib.Path(build) / "compile_commands.json").read_text())
    rooms = json.loads((pathlib.Path(__file__).parent / "rooms.json").read_text())

    # One command per room: a header of codegen needs codegen's flags.
    command_of = {}
    for entry in commands:
        room = room_of(os.path.relpath(entry["file"], root).replace(os.sep, "/"), rooms)
        if room is None:  # a unity source lies in the build folder, in the folder of its target
            room = room_of(os.path.relpath(entry["file"], build).replace(os.sep, "/"), rooms)
        if room and not entry["file"].endswith(".c"):
            command_of.setdefault(room, entry)

    # A room whose sources are not part of this build (the compiler's in a runtime-only one)
    # may lack what its headers need.
    with_sources = {room_of(path, rooms) for path in sources(root, (".cc",))}
    left_out = with_sources - set(command_of)
    headers = [p for p in sources(root, (".h", ".hpp")) if room_of(p, rooms) not in left_out]
    if not headers:
        return ["no headers found"]

    proven = first_included(commands)
    stubs = pathlib.Path(build) / "layering"
    together = precompile(list(command_of.values()), stubs, [pathlib.Path(root) / path for path in headers])

    def check(path):
        entry = command_of.get(room_of(path, rooms)) or command_of["base"]
        compiler, flags = compilation(entry["command"])
        # Without a compiler cache, which knows nothing of precompiled headers.
        checks = [] if path in proven else [(".cc", compiler[-1:], flags + ["-include", str(together), "-fsyntax-only"])]
        if path in C_HEADERS:
            checks.append((".c", *as_c(compiler, flags + ["-fsyntax-only"])))
        for suffix, compiler, flags in checks:
            stub = stubs / (path + suffix)
            stub.parent.mkdir(parents=True, exist_ok=True)
            stub.write_text(f'#include "{path.removeprefix("include/")}"\n')
            result = subprocess.run(compiler + flags + [str(stub)], text=True, capture_output=True,
                                    cwd=entry["directory"])
            if result.returncode != 0:
                return f"{path} does not compile on its own ({suffix}):\n{result.stderr[:1500]}"
        return None

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        problems = [problem for problem in pool.map(check, headers) if problem]
    return problems + standard_names(root, headers)


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


SOURCES = (".h", ".hpp", ".cc", ".c", ".td", ".inc", ".py", ".cmake", ".relay", ".vmasm", ".test", "CMakeLists.txt")
SCREEN_LINES = 45
# Folders of what a program writes, or of nothing but what tests read: the README above describes them.
DATA_FOLDER = re.compile(r"(^|/)(generated|expected|data|corpus)$|^tests/verifier/[^/]+$")
# Where a README goes on after its first screen, with a table of many rows: the heading over it.
LONG_TABLES = {"tests": "## What others test"}
# How to add one, in these or other words.
ADDING = re.compile(r"\b(add|new|teach)\b", re.IGNORECASE)


def check_readmes(root):
    problems = []
    for folder, folders, files in os.walk(root):
        relative = os.path.relpath(folder, root)
        inside = "" if relative == "." else relative.replace(os.sep, "/") + "/"
        folders[:] = sorted(f for f in folders if not f.startswith((".", "__")) and f != "build"
                            and not DATA_FOLDER.search(inside + f))
        if not inside or not any(f.endswith(SOURCES) for f in files):
            continue
        readme = pathlib.Path(folder, "README.md")
        if not readme.is_file():
            problems.append(f"{relative}: has sources and no README.md")
            continue
        lines = readme.read_text().splitlines()
        if not lines or not lines[0].startswith("# "):
            problems.append(f"{relative}/README.md: the first line is no title")
        if not ADDING.search("\n".join(lines)):
            problems.append(f"{relative}/README.md: does not say how to add one")
        if LONG_TABLES.get(relative) in lines:
            lines = lines[:lines.index(LONG_TABLES[relative])]
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
