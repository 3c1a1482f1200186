"""The command line: parsing and printing only.

Data goes to standard output, messages and progress to standard error. Exit codes: 0 done, 2 bad
input (one line that names the key, the value and what is expected), 3 an expectation that is not
met, also because something was not run, or a target `--until` that was not reached, 130 interrupted
and 143 terminated (finished runs are written), 1 anything else.
"""

from __future__ import annotations

import errno
import io
import os
import sys
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from cwndlab.cli.interrupt import interrupts_kept, terminations_as_interrupts
from cwndlab.errors import CwndlabError
from cwndlab.message import missing, quoted, unknown

if TYPE_CHECKING:
    import click

ON_A_FILE = ("run", "topology", "export")
EXIT_FAILED, EXIT_BAD_INPUT = 1, 2
EXIT_INTERRUPTED, EXIT_CLOSED_PIPE, EXIT_TERMINATED = 130, 141, 143


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit with its code."""
    if sys.platform == "win32":
        # A pipe or a file has the code page of the system, which lacks signs of the tables.
        for stream in (sys.stdout, sys.stderr):
            if isinstance(stream, io.TextIOWrapper):
                stream.reconfigure(encoding="utf-8")
    with terminations_as_interrupts() as stops:
        try:
            with interrupts_kept():
                code = _run(arguments)
            sys.stdout.flush()
        except KeyboardInterrupt:
            _say("terminated" if stops.terminated else "interrupted")
            code = EXIT_TERMINATED if stops.terminated else EXIT_INTERRUPTED
        except BrokenPipeError:
            # The reader (`| head`) has closed the pipe: exit without a message, with the status of
            # a program that SIGPIPE ends.
            _give_up_output()
            code = EXIT_CLOSED_PIPE
        except OSError as error:
            # What was printed did not get out, as where the disk of `> FILE` is full.
            _say(f"error: standard output: {error.strerror}: expected a file that can be written")
            _give_up_output()
            code = EXIT_BAD_INPUT
    sys.exit(code)


def _give_up_output() -> None:
    """Let the final flush of standard output go nowhere: it would fail again."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _run(arguments: Sequence[str] | None) -> int:
    import click

    from cwndlab.cli.app import app
    from cwndlab.cli.completion import PROGRAM, VARIABLE
    from cwndlab.cli.display import display
    from cwndlab.cli.output import detail

    display.reset()
    began_s = time.perf_counter()
    given = list(sys.argv[1:] if arguments is None else arguments)
    if instruction := os.environ.get(VARIABLE):
        from click.shell_completion import shell_complete

        return shell_complete(app, {}, PROGRAM, VARIABLE, instruction)
    if arguments is None:
        from cwndlab import rule_exits

        rule_exits.refuse_everywhere()
    if any(":" in argument for argument in given):
        from cwndlab.custom_rules import trust_named

        trust_named(given)
    try:
        # Not `app.main`: click would print its own usage lines, and an empty one on Ctrl-C.
        with app.make_context("cwndlab", given) as context:
            app.invoke(context)
    except click.exceptions.Exit as done:
        return done.exit_code
    except click.ClickException as error:
        _say(f"error: {_one_line(_usage(error))}")
        return EXIT_BAD_INPUT
    except (BrokenPipeError, KeyboardInterrupt):
        raise
    except SystemExit as ended:
        # No code of the package raises it: whatever did has not run the command to its end.
        from cwndlab.custom_rules import explain

        _say(f"error: {_one_line(explain(ended))}: expected code that leaves that to the command")
        return EXIT_BAD_INPUT
    except Exception as error:
        if os.environ.get("CWNDLAB_DEBUG"):
            raise
        return _explain(error, given)
    detail(f"finished in {time.perf_counter() - began_s:.2f} s")
    return 0


def _explain(error: Exception, given: Sequence[str]) -> int:
    if isinstance(error, CwndlabError | ValueError):
        from cwndlab.cli.hints import with_window

        is_shortened = any(
            text.lstrip("-").startswith(("duration", "set=duration")) for text in given
        )
        _say(f"error: {with_window(_one_line(str(error)), is_shortened)}")
        return EXIT_BAD_INPUT
    if isinstance(error, OSError):
        from cwndlab.cli.hints import of_missing

        # Files are written under their names (cwndlab.files): what has none was printed.
        printed = "standard output" if error.errno == errno.ENOSPC else ""
        name = f"{error.filename or printed}: ".removeprefix(": ")
        hint = of_missing(error.filename) if isinstance(error, FileNotFoundError) else ""
        _say(
            f"error: {name}{_one_line(error.strerror or str(error))}: "
            f"expected a file that can be read or written{hint}"
        )
        return EXIT_BAD_INPUT
    _say(f"error: {type(error).__name__}: {_one_line(str(error))} (CWNDLAB_DEBUG=1 shows where)")
    return EXIT_FAILED


def _usage(error: click.ClickException) -> str:
    """Say what is wrong with the arguments in the forms of `cwndlab.message`."""
    import click

    if isinstance(error, click.MissingParameter):
        option = error.param
        if isinstance(option, click.Option):
            return missing(option.opts[-1], option.metavar or "a value")
        name = (option and option.metavar) or "an argument"
        called = error.ctx.command_path if error.ctx is not None else "cwndlab"
        return missing(name, f"`{called} {name}`")
    if isinstance(error, click.BadParameter):
        where = error.param_hint or (error.param and error.param.opts[-1]) or "option"
        return f"{where}: {error.message.rstrip('.')}"
    if isinstance(error, click.NoSuchOption):
        from cwndlab.cli.hints import KEYS_OF_OPTIONS

        name, command = error.option_name, error.ctx and error.ctx.command.name
        # What commands with scenarios of their own have as options, a file has as keys.
        if name in KEYS_OF_OPTIONS and command in ON_A_FILE:
            key = KEYS_OF_OPTIONS[name]
            return f"option: {quoted(name)} is not known: expected --set '{key}=VALUE'"
        return unknown("option", name, _options(error))
    return error.format_message().rstrip(".")


def _options(error: click.NoSuchOption) -> list[str]:
    """List the options of the command."""
    if error.ctx is None:
        return []
    return [
        name
        for parameter in error.ctx.command.get_params(error.ctx)
        for name in parameter.opts
        if name.startswith("--")
    ]


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _say(text: str) -> None:
    from cwndlab.cli.output import warn

    warn(text)
