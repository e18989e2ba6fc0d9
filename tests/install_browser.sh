#!/bin/sh
# The browser that drives the page in tests: Debian's Chromium, where it can be installed. Without one those tests are
# skipped, and in CI they fail.
command -v chromium > /dev/null && exit 0
if command -v apt-get > /dev/null && [ "$(id -u)" = 0 ]; then
    apt-get update -qq > /dev/null 2>&1
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium > /dev/null 2>&1 && exit 0
fi
echo "no Chromium: tests of the page are skipped. On Debian: apt-get install chromium" >&2
