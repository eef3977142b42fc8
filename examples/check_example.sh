#!/bin/sh
# Compiles one example in several ways, runs each, holds every result against the expected
# values and the results against each other, bit for bit.
#
#   check_example.sh BIN WORK SOURCE WEIGHTS FUNCTION FORM [vm-run arguments...]
#
# BIN has the commands, WORK is a folder for files of this check, FORM is "npz" (results are
# tensors) or "text" (anything else).
set -eu

bin=$1 work=$2 source=$3 weights=$4 function=$5 form=$6
shift 6
mkdir -p "$work"

compile() { # VARIANT OPTION...
  variant=$1
  shift
  "$bin/vm-compile" "$source" -o "$work/$variant.vmexe" --params "$weights" --entry "$function" "$@"
}

run() { # VARIANT and the caller's arguments
  variant=$1 file=$2
  shift 2
  # --expect or --expect-npz is among the arguments; the second run keeps the result.
  "$bin/vm-run" "$work/$file.vmexe" --function "$function" "$@" >"$work/$variant.log" 2>&1 || {
    echo "$variant: does not agree with the reference"
    cat "$work/$variant.log"
    exit 1
  }
  if [ "$form" = npz ]; then
    "$bin/vm-run" "$work/$file.vmexe" --function "$function" "$@" --outputs-npz "$work/$variant.npz" >/dev/null
  else
    "$bin/vm-run" "$work/$file.vmexe" --function "$function" "$@" --output - --output - >"$work/$variant.txt"
  fi
}

same() { # VARIANT VARIANT
  extension=$form
  [ "$form" = text ] && extension=txt
  cmp "$work/$1.$extension" "$work/$2.$extension" || {
    echo "$1 and $2 differ"
    exit 1
  }
}

compile O0 -O0
compile O3 -O3
compile v3 -O3 --cpu x86-64-v3
compile portable -O3 --portable
run O0 O0 "$@"
run O3 O3 "$@"
run v3 v3 "$@"
run interpreted portable "$@" --no-native-code
run switch O3 "$@" --switch-dispatch
for variant in O3 v3 interpreted switch; do same O0 "$variant"; done
echo "$(basename "$source"): all variants agree"
