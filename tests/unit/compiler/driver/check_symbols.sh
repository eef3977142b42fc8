#!/bin/sh
# check_symbols.sh LIBRARY LIST: the library exports the symbols of the list, no more, no fewer.
nm -D --defined-only "$1" | awk '$2 == "T" { sub(/@.*/, "", $3); print $3 }' | sort | diff -u "$2" -
