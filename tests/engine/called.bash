#!/bin/bash
# called.bash PROGRAM PLUGIN: a program that okra is linked into, started under a name in a folder
# with a plugin, does not load that plugin; it does from its own folder, by whatever name.
set -euo pipefail
program=$1 plugin=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
unset OKRA_ENGINE_PATH
export OKRA_TEST_ENGINE=test

mkdir "$folder/evil" "$folder/own"
cp "$plugin" "$folder/evil/"
status=0
said=$(exec -a "$folder/evil/program" "$program" 2>&1) || status=$?
[ $status -ne 0 ] || { echo "the plugin beside argv[0] was loaded"; exit 1; }
[[ $said == *"there is no libokra-test.so in $(dirname "$program")"* ]] ||
    { echo "no word of the program's own folder: $said"; exit 1; }

cp "$program" "$folder/own/program"
cp "$plugin" "$folder/own/"
cd "$folder/own"
PATH=$PWD:$PATH program >/dev/null || { echo "not found beside a program on PATH"; exit 1; }
./program >/dev/null || { echo "not found beside ./program"; exit 1; }
