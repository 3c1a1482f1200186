"""The command line: parsing and printing only.

Data goes to standard output, messages and progress to standard error. Exit codes: 0 done, 2 bad
input (one line that says what and what is allowed), 130 interrupted (what had finished is written),
1 anything else.
"""

from __future__ import annotations

import difflib
import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from cwndlab.cli.interrupt import interrupts_kept

if TYPE_CHECKING:
    import click

EXIT_FAILED, EXIT_BAD_INPUT, EXIT_INTERRUPTED = 1, 2, 130


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit with its code."""
    try:
        with interrupts_kept():
            code = _run(arguments)
        sys.stdout.flush()
    except KeyboardInterrupt:
        _say("interrupted")
        code = EXIT_INTERRUPTED
    except BrokenPipeError:
        # The reader (`| head`) has gone; leave quietly, also when the interpreter flushes at its
        # end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = EXIT_FAILED
    sys.exit(code)


def _run(arguments: Sequence[str] | None) -> int:
    import click

    from cwndlab.cli.app import app

    try:
        # Not `app.main`: click would print its own usage lines, and an empty one on Ctrl-C.
        given = list(sys.argv[1:] if arguments is None else arguments)
        with app.make_context("cwndlab", given) as context:
            app.invoke(context)
    except click.exceptions.Exit as done:
        return done.exit_code
    except click.BadParameter as error:
        where = (error.param_hint or (error.param and error.param.opts[-1])) or "option"
        _say(f"error: {where}: {_one_line(error.message)}")
        return EXIT_BAD_INPUT
    except click.NoSuchOption as error:
        _say(f"error: {error.option_name}: is not an option{_options(error)}")
        return EXIT_BAD_INPUT
    except click.ClickException as error:
        _say(f"error: {_one_line(error.format_message())}")
        return EXIT_BAD_INPUT
    except (BrokenPipeError, KeyboardInterrupt):
        raise
    except Exception as error:
        if os.environ.get("CWNDLAB_DEBUG"):
            raise
        return _explain(error)
    return 0


def _explain(error: Exception) -> int:
    if isinstance(error, ValueError):
        _say(f"error: {_one_line(str(error))}")
        return EXIT_BAD_INPUT
    if isinstance(error, OSError):
        name = f"{error.filename}: " if error.filename else ""
        _say(
            f"error: {name}{_one_line(error.strerror or str(error))}; allowed: a file that can be "
            "read or written"
        )
        return EXIT_BAD_INPUT
    _say(f"error: {type(error).__name__}: {_one_line(str(error))} (CWNDLAB_DEBUG=1 shows where)")
    return EXIT_FAILED


def _options(error: click.NoSuchOption) -> str:
    """Say which options the command has, the nearest first."""
    if error.ctx is None:
        return ""
    names = [
        name
        for parameter in error.ctx.command.get_params(error.ctx)
        for name in parameter.opts
        if name.startswith("--")
    ]
    near = difflib.get_close_matches(error.option_name, names, n=1)
    return f"{f', did you mean {near[0]}?' if near else ';'} allowed: {', '.join(names)}"


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
