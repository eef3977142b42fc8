#!/bin/sh
# check_command.sh VM_COMPILE WORK: exit codes and files of vm-compile.
set -u
compile=$1 work=$2
mkdir -p "$work"
cd "$work" || exit 1
failures=0

expect() { # CODE TEXT ARGUMENT...: the exit code, and text somewhere in the output
  code=$1 text=$2
  shift 2
  output=$("$compile" "$@" 2>&1 </dev/null)
  found=$?
  if [ "$found" != "$code" ] || ! printf '%s\n' "$output" | grep -qF -- "$text"; then
    echo "vm-compile $*: exit code $found, expected $code and \"$text\" in:"
    echo "$output"
    failures=$((failures + 1))
  fi
}

echo 'def @main(%x: Tensor[(n,), float32]) { %x + 1f }' >good.relay
printf 'def @main(%%x: int64) {\n  %%x + %%y\n}\n' >bad.relay
rm -f good.vmexe bad.vmexe

expect 0 '' good.relay
[ -s good.vmexe ] || { echo 'good.vmexe was not written'; failures=$((failures + 1)); }
expect 0 'func @main' good.relay --emit lir
expect 0 'fn @main' good.relay --emit vmasm -O0
expect 1 'bad.relay:2:8: error' bad.relay
[ ! -e bad.vmexe ] || { echo 'bad.vmexe was written'; failures=$((failures + 1)); }
expect 2 'no input'
expect 2 '--emit' good.relay --emit nonsense
expect 2 'NAME=EXTENT' good.relay --dim n
expect 2 'no parameter' good.relay --dim k=3
expect 2 'range' good.relay -O4
expect 2 'CPU level' good.relay --cpu z80
expect 2 'nonsense' good.relay --disable-pass nonsense
expect 3 'nowhere.relay' nowhere.relay
expect 3 'nowhere.npz' good.relay --params nowhere.npz
expect 3 'good.relay' good.relay --params good.relay
expect 0 'vm-compile' --version
expect 0 '--portable' --help
exit $((failures != 0))
