#!/bin/sh
# Compiles one example in several ways, runs each, holds every result against the expected
# values and, bit for bit, against what the evaluator says.
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
    "$bin/vm-run" "$work/$file.vmexe" --function "$function" "$@" --output - --output - >"$work/$variant.log"
    # Only what the program said.
    grep -v '^\[SUCCESS\]$' "$work/$variant.log" >"$work/$variant.txt"
  fi
}

# The same function in the evaluator, without what only vm-run knows.
evaluate() {
  count=$#
  while [ "$count" -gt 0 ]; do
    option=$1
    shift
    case $option in
    --input | --inputs-npz)
      set -- "$@" "$option" "$1"
      shift
      count=$((count - 2))
      ;;
    --expect | --expect-npz | --atol | --rtol)
      shift
      count=$((count - 2))
      ;;
    *)
      echo "check_example.sh: unknown option $option"
      exit 2
      ;;
    esac
  done
  if [ "$form" = npz ]; then
    set -- "$@" --outputs-npz "$work/evaluator.npz"
  else
    set -- "$@" --output - --output -
  fi
  "$bin/evaluate_program" "$source" --params "$weights" --function "$function" "$@" >"$work/evaluator.txt"
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
evaluate "$@"
for variant in O0 O3 v3 interpreted switch; do same evaluator "$variant"; done
echo "$(basename "$source"): all variants agree"
