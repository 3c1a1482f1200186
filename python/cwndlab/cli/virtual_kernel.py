"""`cwndlab virtual-kernel`: kernels for runs in virtual time."""

from __future__ import annotations

from pathlib import Path

import click

from cwndlab.cli import options
from cwndlab.cli.output import counter, print_table, say


@click.group("virtual-kernel")
def virtual_kernel() -> None:
    """Build kernels for runs in virtual time (no root)."""


@virtual_kernel.command()
@click.option(
    "--source", type=click.Path(exists=True, path_type=Path), metavar="DIR|TARBALL",
    help="A Linux source tree, such as your own, or a tarball.  [default: the newest "
         "linux-source-* package of this machine]",
)  # fmt: skip
@click.option("--name", default="default", show_default=True, help="Its name.")
@click.option(
    "--config", type=click.Path(exists=True, dir_okay=False, path_type=Path), metavar="FRAGMENT",
    help="Lines of a kernel configuration that replace the default ones.",
)  # fmt: skip
@click.option(
    "--hz", type=click.Choice(["100", "250", "300", "1000"]), default="1000", show_default=True,
    help="Timer interrupts per second.",
)  # fmt: skip
def build(source: Path | None, name: str, config: Path | None, hz: str) -> None:
    """Build a kernel into ~/.cache/cwndlab.

    Only files that have changed are compiled again. The source tree is not modified.
    """
    from cwndlab.kernel_runs import building, program

    program.find()
    with counter(f"kernel {name}") as progress:
        kernel = building.build(source, name=name, config=config, hz=int(hz), progress=progress)
    say(
        f"kernel {kernel.name}: Linux {kernel.release}, HZ {kernel.hz}, identity "
        f"{kernel.identity}; for example: cwndlab live linux FILE --virtual"
        + ("" if kernel.name == "default" else f" --kernel {kernel.name}")
    )


@virtual_kernel.command("list")
@options.json_option
def list_(as_json: bool) -> None:
    """List the kernels that are built."""
    from dataclasses import asdict

    from cwndlab.kernel_runs import kernels

    found = kernels.installed()
    if as_json:
        from cwndlab.jsontext import dumps
        from cwndlab.outputs import stamped

        click.echo(dumps(stamped("virtual-kernels", {"kernels": [asdict(k) for k in found]})))
        return
    rows = [
        [kernel.name, kernel.release, str(kernel.hz), kernel.identity, kernel.source,
         ", ".join(kernel.congestion_controls)]
        for kernel in found
    ]  # fmt: skip
    columns = ["name", "Linux", "HZ", "identity", "source", "kernel:..."]
    print_table("Kernels in virtual time", columns, rows, text_columns=6)
    if not found:
        say("none is built: run `cwndlab virtual-kernel build`")


@virtual_kernel.command()
@click.argument("name")
def remove(name: str) -> None:
    """Remove a kernel and its build, which take some 2 GB."""
    from cwndlab.kernel_runs import building

    say(f"removed: {building.remove(name)}, and its build")
