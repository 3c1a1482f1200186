"""The command `cwndlab reproduce`: parsing and printing only."""

from cwndlab_papers.cli.reproduce import reproduce

__all__ = ["reproduce"]
