"""B6, B17: words and files of others show nothing but themselves."""

import asyncio
import contextlib
import threading
import unicodedata
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from aiohttp import web

from harness.rtcast import run

EVIL = "\x1b]0;PWNED\x07\x1b[31mred \x9b2J \u202egnp.exe \u2028line\r\nrtcast: connected, certificate checked"


def drives_a_terminal(text):
    return [c for c in text if unicodedata.category(c) in ("Cc", "Cf", "Zl", "Zp") and c not in "\n\u200c\u200d"]


class Refusal(BaseHTTPRequestHandler):
    def do_POST(self):
        body = (EVIL.split("\r")[0] + "x" * 100_000).encode()
        self.send_response(400)
        self.send_header("Content-Type", "text/plain; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        with contextlib.suppress(OSError):
            self.rfile.read(int(self.headers.get("Content-Length", 0)))
            self.wfile.write(body)

    def log_message(self, *_):
        pass


def test_the_words_of_a_whip_server_are_words():
    server = ThreadingHTTPServer(("127.0.0.1", 0), Refusal)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        status, out, err = run("test", "--fps", "1", "--size", "64x48", "--to", f"http://127.0.0.1:{server.server_port}/whip")
    finally:
        server.shutdown()
        server.server_close()
    assert status != 0 and "PWNED" in err
    assert not drives_a_terminal(out + err), repr(out + err)
    assert max(len(line) for line in err.splitlines()) < 500, err


async def evil_hub(request):
    socket = web.WebSocketResponse()
    await socket.prepare(request)
    async for _ in socket:
        await socket.send_json({"type": "error", "code": "bad-name", "message": EVIL})
    return socket


@pytest.mark.parametrize("json", [False, True])
def test_the_words_of_a_hub_are_words(json):
    async def refused():
        app = web.Application()
        app.router.add_get("/hub", evil_hub)
        runner = web.AppRunner(app)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        port = site._server.sockets[0].getsockname()[1]
        arguments = ["call", "bob", "--name", "alice", "--server", f"ws://127.0.0.1:{port}", "--no-window", *(["--json"] if json else [])]
        try:
            return await asyncio.to_thread(run, *arguments)
        finally:
            await runner.cleanup()

    status, out, err = asyncio.run(refused())
    assert status != 0 and "PWNED" in out + err
    assert not drives_a_terminal(out + err), repr(out + err)
    assert not any(line.startswith("rtcast: connected") for line in err.splitlines()), err


def test_a_list_of_files_shows_no_other_file(tmp_path):
    (tmp_path / "a.mkv").write_text("ffconcat version 1.0\nfile sub/private.ivf\n")
    status, _, err = run("file", str(tmp_path / "a.mkv"))
    assert status != 0 and "list of other files" in err, err
