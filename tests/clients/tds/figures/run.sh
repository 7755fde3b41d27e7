#!/usr/bin/env bash
# Counts what the context switches loop sends, and measures what a cancelled statement and an idle session cost the server. Nothing
# here can fail for being slow; a count that is not the one that was reckoned does.
set -euo pipefail
cd "$(dirname "$0")"
export PYTHONDONTWRITEBYTECODE=1
/usr/bin/python3 packets.py
echo
/usr/bin/python3 cancel_times.py
echo
/usr/bin/python3 idle_memory.py
