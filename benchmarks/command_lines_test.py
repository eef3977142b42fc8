"""Runs every command line of run-benchmarks with small sizes, and checks what the JSON says."""

import json
import os
import subprocess
import sys
import tempfile
import unittest

PROGRAM, GROUP = sys.argv[1:3]
del sys.argv[1:3]
FEW = {"B9": ["B9.scalar", "B9.call"], "limits": ["limits.branch"], "kernels": ["kernels.gelu.4KiB"]}[GROUP]


def run(*arguments):
    return subprocess.run([PROGRAM, *arguments], capture_output=True, text=True)


class CommandLines(unittest.TestCase):
    def check_row(self, row):
        number = (int, float)
        for name, kinds in {
            "id": str, "what": str, "unit": str, "median": number, "low": number, "high": number,
            "holds": bool, "secondsPerRun": number, "accepted": int, "discarded": int, "settled": bool,
        }.items():
            self.assertIsInstance(row[name], kinds, (name, row))
        self.assertLessEqual(row["low"], row["high"])
        self.assertLessEqual(row["low"], row["median"])
        if row["bar"] is not None:
            (kind, limit), = row["bar"].items()
            self.assertIn(kind, ("atLeast", "atMost"))
            meets = row["median"] >= limit if kind == "atLeast" else row["median"] <= limit
            self.assertEqual(row["holds"], meets, row)
        self.assertGreater(row["secondsPerRun"], 0, row)

    def test_group_and_json(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "out.json")
            ran = run("--group", GROUP, "--smoke", "--seed", "7", "--json", path)
            self.assertEqual(ran.returncode, 0, ran.stderr)
            with open(path) as file:
                document = json.load(file)
        self.assertEqual((document["schema"], document["seed"], document["smoke"]), (1, 7, True))
        self.assertEqual(set(document["machine"]), {"level", "threads"})
        ids = [row["id"] for row in document["rows"]]
        self.assertEqual(len(ids), len(set(ids)))
        for row in document["rows"]:
            self.assertTrue(row["id"].startswith(GROUP + "."), row)
            self.check_row(row)
            self.assertIn(row["id"], ran.stdout)
        figures = [line.split()[0] for line in run("--list", "--smoke", GROUP).stdout.splitlines()]
        self.assertGreater(len(figures), 0)
        for figure in figures:
            self.assertTrue(any(i == figure or i.startswith(figure + ".") for i in ids), figure)

    def test_some(self):
        ran = run("--smoke", *FEW)
        self.assertEqual(ran.returncode, 0, ran.stderr)
        shown = [line.split()[0] for line in ran.stdout.splitlines()[1:]]
        for wanted in FEW:
            self.assertTrue(any(i == wanted or i.startswith(wanted + ".") for i in shown), shown)
        for i in shown:
            self.assertTrue(any(i == wanted or i.startswith(wanted + ".") for wanted in FEW), i)

    def test_check(self):
        # One sample of a small size may miss its bar; then it is said, and only with --check fatal.
        ran = run("--check", "--smoke", FEW[0])
        self.assertEqual(ran.returncode, 1 if "MISSED" in ran.stdout else 0, ran.stdout + ran.stderr)

    def test_wrong(self):
        for arguments in (["nothing.such"], ["--group"], ["--seed", "x"]):
            self.assertEqual(run(*arguments).returncode, 2, arguments)


unittest.main()
