"""`cwndlab studio`: the simulator as a page in the browser, served on this machine only."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from cwndlab.cli.hints import refuse_other
from cwndlab.cli.output import say
from cwndlab.documents import is_list, is_table

if TYPE_CHECKING:
    from http.server import BaseHTTPRequestHandler

ADDRESS = "127.0.0.1"


@click.command()
@click.argument(
    "file", type=click.Path(path_type=Path), metavar="[FILE.toml]", required=False, default=None
)
@click.option("--port", type=click.IntRange(0, 65535), default=0, metavar="NUMBER",
              help="Port on 127.0.0.1.  [default: any free port]")  # fmt: skip
@click.option("--no-browser", is_flag=True, help="Print the address without opening a browser.")
def studio(file: Path | None, port: int, no_browser: bool) -> None:
    """Open the studio: the simulator as a page.

    It opens with FILE, or with two flows on a link. The page runs the simulator in the browser and
    sends nothing. The command serves it until Ctrl-C.
    """
    from http.server import ThreadingHTTPServer

    fragment = "" if file is None else _fragment(file)
    page = _page()
    try:
        server = ThreadingHTTPServer((ADDRESS, port), _handler(page))
    except OSError as error:
        reason = error.strerror or error
        raise click.UsageError(
            f"--port: {port} is not valid: expected a free port ({reason})"
        ) from error
    with server:
        address = f"http://{ADDRESS}:{server.server_port}/{fragment}"
        click.echo(address)
        say("serving the studio on this machine until Ctrl-C")
        if not no_browser:
            click.launch(address)
        server.serve_forever(poll_interval=0.2)


def _page() -> bytes:
    """Read the page, which `make web` builds and the wheel carries."""
    from importlib import resources

    path = resources.files("cwndlab") / "templates" / "studio.html"
    if not path.is_file():
        raise click.UsageError(
            "this package has no studio; in a source tree run `make web` (needs Node and npm), "
            "otherwise install a wheel with the studio (`make web wheel` builds one)"
        )
    return path.read_bytes()


def _fragment(file: Path) -> str:
    """Write a scenario as the page's address holds it; see `web/src/state/share.ts`."""
    refuse_other(file, "scenario")
    import base64
    import json
    import zlib

    from cwndlab.scenario import Scenario

    # A scenario that is not valid is refused here, with the message of `run`.
    Scenario.load(file)
    text = file.read_text(encoding="utf-8")
    named = {name: (file.parent / name).read_text(encoding="utf-8") for name in _files(text)}
    payload = json.dumps({"toml": text, "files": named}) if named else text
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    packed = packer.compress(payload.encode()) + packer.flush()
    return "#/build?s=" + base64.urlsafe_b64encode(packed).decode().rstrip("=")


def _files(text: str) -> list[str]:
    """Names of the files in a scenario: every value of a key `file`."""
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib

    def of(value: object) -> Iterator[str]:
        if is_table(value):
            for key, part in value.items():
                if key == "file" and isinstance(part, str):
                    yield part
                yield from of(part)
        elif is_list(value):
            for part in value:
                yield from of(part)

    return sorted(set(of(tomllib.loads(text))))


def _handler(page: bytes) -> type[BaseHTTPRequestHandler]:
    """Make a handler that gives the page and nothing else."""
    from http.server import BaseHTTPRequestHandler

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            found = self.path.split("?")[0] in ("/", "/index.html")
            self.send_response(200 if found else 404)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.send_header("Content-Length", str(len(page) if found else 0))
            self.end_headers()
            if found:
                self.wfile.write(page)

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing: what is asked for is always the page."""

    return Handler
