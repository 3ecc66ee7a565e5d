# The version is that of the library; the build information names what is in.
expect 0 okra version
expect_in "$(sed -n 's/^project(okra VERSION \([0-9.]*\).*/\1/p' "$ROOT/CMakeLists.txt")" out
expect 0 okra version --build-info
for name in version compiler backends; do
    expect_in "$name: " out
done
# Engines: host is there, others are told with the reason why they are not.
expect_in "engine host: " out
expect_in "engine cuda: " out
okra version --build-info --json >out
expect_in '"name": "host"' out
expect_fail 2 "okra version: --engine has no use here" \
    okra version --engine host
