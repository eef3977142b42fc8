#!/bin/sh
# check_demo.sh DEMO EXECUTABLE TREES COUNT SUM: runs the demo over COUNT trees; it must succeed, name
# them all, and end with the sum of all hidden states, which is the same on every machine.
set -eu
output=$("$1" "$2" "$3" "$4")
printf '%s\n' "$output"
printf '%s\n' "$output" | grep -q "^all  *$4 " || { echo "check_demo: not all $4 trees ran" >&2; exit 1; }
last=$(printf '%s\n' "$output" | tail -n 1)
[ "$last" = "sum of all hidden states: $5" ] || { echo "check_demo: expected the sum $5, found: $last" >&2; exit 1; }
