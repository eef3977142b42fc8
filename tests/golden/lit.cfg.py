"""Golden tests. A file says what to run in `RUN:` lines and what must come out in `CHECK:`
lines; those that need the compiler say `REQUIRES: compiler`."""
import os

import lit.formats

config.name = "golden"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".relay", ".lir", ".loop", ".vmasm", ".test"]
config.test_source_root = os.path.dirname(__file__)
config.environment["PATH"] = os.pathsep.join([config.baton_bin, config.environment.get("PATH", "")])
for name in ("ASAN_OPTIONS", "UBSAN_OPTIONS", "TSAN_OPTIONS"):
    if name in os.environ:
        config.environment[name] = os.environ[name]
config.substitutions += [("FileCheck", config.baton_filecheck), ("split-file", config.baton_split_file),
                         ("%source", config.baton_source)]
for feature in config.baton_features.split(";"):
    if feature:
        config.available_features.add(feature)
