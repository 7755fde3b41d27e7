# shellcheck shell=bash
# What tests read: sourced, from the root, by what runs them.
target=${CARGO_TARGET_DIR:-$PWD/target}
export SELENITE_TEST_EXTENSION=$target/debug/libselenite.so
export SELENITE_TEST_COMMAND=$target/debug/selenite
browser=$(command -v google-chrome chromium-browser chromium | head -n 1 || true)
export SELENITE_TEST_BROWSER=${SELENITE_TEST_BROWSER:-$browser}
export SELENITE_TEST_SQLITE_NEW=$PWD/target/stock/libsqlite3-new.so
