"""The version of the package, and of the extension and the command in it."""

__version__ = "0.1.0"
