# The version is that of the library; the build information names what is in.
expect 0 okra version
expect_in "$(sed -n 's/^project(okra VERSION \([0-9.]*\).*/\1/p' "$ROOT/CMakeLists.txt")" out
expect 0 okra version --build-info
for name in version compiler backends; do
    expect_in "$name: " out
done
