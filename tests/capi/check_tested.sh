#!/bin/sh
# check_tested.sh FOLDER: fails and names the functions of FOLDER/symbols.txt that no test in FOLDER calls.
missing=0
while read -r name; do
  if ! grep -qw "$name" "$1"/*.cc "$1"/*.c "$1"/*.h; then
    echo "no test of $name"
    missing=1
  fi
done < "$1/symbols.txt"
exit $missing
