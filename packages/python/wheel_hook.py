"""Hatchling's hook: puts the extension and the command into the wheel. ``build_wheel.py`` says which."""

from __future__ import annotations

import os
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class WheelHook(BuildHookInterface):
    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "editable":
            return
        try:
            extension, command, tag = (os.environ[f"SELENITE_WHEEL_{name}"] for name in ("EXTENSION", "COMMAND", "TAG"))
        except KeyError:
            raise RuntimeError(
                "a wheel of selenite contains binaries that this backend cannot build; "
                "run packages/python/build_wheel.py with their paths"
            ) from None
        build_data["pure_python"] = False
        build_data["tag"] = tag
        build_data["force_include"][extension] = "selenite/lib/libselenite.so"
        build_data["force_include"][command] = "selenite/bin/selenite"
