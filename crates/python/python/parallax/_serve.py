"""The page of ``parallax open`` for a frame in a notebook: the tool as a process, and what lets a page
of a notebook show it and talk to it."""

from __future__ import annotations

import atexit
import http.client
import re
import shutil
import socket
import subprocess
import sys
import sysconfig
import threading
import weakref
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ._errors import MissingLibraryError, ReadError

if TYPE_CHECKING:
    from collections.abc import Sequence

_ADDRESS = re.compile(r"http://([^\s/:]+|\[[^\]]+\]):(\d+)/\?token=([\w-]+)")
_PIECE = 64 << 10
_SCRIPT = "parallax-widget.js"
# What belongs to one connection, or is said anew.
_OF_CONNECTION = {"connection", "keep-alive", "transfer-encoding", "content-length", "date", "server"}

# The state of the page is in its address. The notebook hears of each change, and may show another, which
# waits until the page has written what it shows. The number of a request tells the notebook whether what
# it hears was said before or after the page took the request over.
_TALK = b"""\
let last = null, asked = null, taken, said;
setInterval(() => {
  if (document.documentElement.hasAttribute("data-address-behind")) return;
  if (asked !== null) {
    const { number, fragment } = asked;
    asked = null;
    taken = number;
    if (location.hash !== fragment) {
      location.hash = fragment;
      return;
    }
  }
  if (location.hash === last && taken === said) return;
  last = location.hash;
  said = taken;
  parent.postMessage({ parallax: "state", number: taken, fragment: last }, "*");
}, 100);
addEventListener("message", (event) => {
  if (event.source === parent && event.data?.parallax === "show") asked = event.data;
});
"""


def tool() -> str:
    """The command line tool, which comes with the package."""
    beside = Path(sysconfig.get_path("scripts")) / ("parallax.exe" if sys.platform == "win32" else "parallax")
    found = str(beside) if beside.exists() else shutil.which("parallax")
    if found is None:
        raise MissingLibraryError(
            "the command line tool parallax is not installed", "the wheel brings it: cargo xtask wheel"
        )
    return found


class Served:
    """A page that shows some paths, until it is closed or this process ends."""

    def __init__(self, paths: Sequence[str]) -> None:
        # A kernel that is killed ends nothing; its end of the pipe closes all the same.
        words = [tool(), "open", "--no-browser", "--until-stdin-closes", *paths]
        self._process = subprocess.Popen(
            words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        said: list[str] = []
        match: re.Match[str] | None = None
        assert self._process.stdout is not None
        for line in self._process.stdout:
            said.append(line)
            match = _ADDRESS.search(line)
            if match:
                break
        if match is None:
            self._process.wait()
            raise ReadError("parallax open did not start: " + "".join(said).strip())
        # What the tool says later must not fill the pipe.
        drain = threading.Thread(target=self._process.stdout.read, daemon=True)
        drain.start()
        self._proxy = _Proxy(int(match[2]))
        thread = threading.Thread(target=self._proxy.serve_forever, args=(0.1,), daemon=True)
        thread.start()
        port = self._proxy.server_address[1]
        self.url = f"http://127.0.0.1:{port}/?token={match[3]}"
        """Where the page is."""
        self._end = weakref.finalize(self, _end, self._process, self._proxy)
        atexit.register(self._end)

    def close(self) -> None:
        """Ends the server."""
        self._end()
        atexit.unregister(self._end)


def _end(process: subprocess.Popen[str], proxy: _Proxy) -> None:
    proxy.shutdown()
    proxy.server_close()
    process.terminate()
    if process.stdin is not None:
        process.stdin.close()
    try:
        process.wait(5)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    if process.stdout is not None:
        process.stdout.close()


class _Proxy(ThreadingHTTPServer):
    """Passes requests on to the tool, which lets no other page frame its own; the token stays with
    the tool, which asks each question for it."""

    daemon_threads = True

    def __init__(self, port: int) -> None:
        self.behind = port
        super().__init__(("127.0.0.1", 0), _Handler)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A browser that goes away is no error."""


class _Handler(BaseHTTPRequestHandler):
    server: _Proxy  # pyright: ignore[reportIncompatibleVariableOverride]

    def log_message(self, format: str, *args: Any) -> None:
        """Says nothing: a notebook shows what is written."""

    def do_GET(self) -> None:
        if self.path.partition("?")[0] == f"/{_SCRIPT}":
            self.send_response(200)
            self.send_header("content-type", "text/javascript")
            self.send_header("content-length", str(len(_TALK)))
            self.end_headers()
            self.wfile.write(_TALK)
            return
        self._pass_on()

    do_POST = do_HEAD = do_GET

    def _pass_on(self) -> None:
        is_page = self.command == "GET" and self.path.partition("?")[0] == "/"
        headers = {
            name: value
            for name, value in self.headers.items()
            if name.lower() not in _OF_CONNECTION
            and not (is_page and name.lower() in ("accept-encoding", "if-none-match"))
        }
        body = self.rfile.read(int(self.headers.get("content-length") or 0))
        behind = http.client.HTTPConnection("127.0.0.1", self.server.behind)
        try:
            behind.putrequest(self.command, self.path, skip_host=True, skip_accept_encoding=True)
            for name, value in headers.items():
                behind.putheader(name, value)
            behind.putheader("content-length", str(len(body)))
            behind.endheaders(body)
            # A question that the page withdraws must be withdrawn here, too.
            watch = threading.Thread(target=_withdraw, args=(self.connection, behind), daemon=True)
            if self.command == "POST":
                watch.start()
            answer = behind.getresponse()
            self.send_response(answer.status)
            content = _framed(answer.read()) if is_page else None
            for name, value in answer.getheaders():
                if name.lower() == "content-security-policy":
                    # Pages of notebooks may show this one; without the token it shows no data.
                    value = re.sub(r";?\s*frame-ancestors [^;]*", "", value)
                if name.lower() not in _OF_CONNECTION and not (content and name.lower() == "etag"):
                    self.send_header(name, value)
            length = len(content) if content is not None else answer.length
            if length is not None:
                self.send_header("content-length", str(length))
            self.end_headers()
            if content is not None:
                self.wfile.write(content)
            else:
                while piece := answer.read1(_PIECE):
                    self.wfile.write(piece)
        except OSError as error:
            if not isinstance(error, (BrokenPipeError, ConnectionResetError)):
                self.send_error(502, "the server of the page has ended")
        finally:
            behind.close()


def _withdraw(page: socket.socket, behind: http.client.HTTPConnection) -> None:
    """Closes the connection to the tool when the page closes its own."""
    try:
        # The page sends nothing more on it: what can be read is its end.
        if page.recv(1, socket.MSG_PEEK) == b"" and behind.sock is not None:
            behind.sock.shutdown(socket.SHUT_RDWR)
    except OSError:
        pass


def _framed(page: bytes) -> bytes:
    script = f'<script src="./{_SCRIPT}"></script></head>'.encode()
    return page.replace(b"</head>", script, 1)
