#!/usr/bin/env bash
# Measures what a cancelled statement and an idle session cost the server, and prints it. Nothing here can fail for being slow.
set -euo pipefail
cd "$(dirname "$0")"
export PYTHONDONTWRITEBYTECODE=1
/usr/bin/python3 cancel_times.py
echo
/usr/bin/python3 idle_memory.py
