"""`cwndlab live`: real TCP and QUIC."""

from __future__ import annotations

import click

from cwndlab.cli.live_linux import linux
from cwndlab.cli.live_quic import quic
from cwndlab.cli.live_rules import clean, install, list_, remove


@click.group()
def live() -> None:
    """Run real flows: Linux TCP or QUIC (needs `make live`)."""


for _command in (linux, quic, install, list_, remove, clean):
    live.add_command(_command)
