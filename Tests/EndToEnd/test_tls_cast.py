"""A cast by `--tls` and by a further name, as a browser opens it: the picture is seen, and the certificate is the one that was printed."""

import base64
import hashlib
import socket
import struct
import threading
from urllib.parse import urlsplit

import pytest

from harness.browser import Viewer, chromium
from harness.rtcast import run
from harness.terminal import Terminal

CAST = ("test", "--pattern", "clock", "--size", "320x180", "--tls")
NAME = "cast.example"


@pytest.fixture(scope="module")
def browser():
    """Knows the name of a proxy, and goes on where a certificate is self-signed, as people do."""
    browser = chromium(flags=(f"--host-resolver-rules=MAP {NAME} 127.0.0.1",))
    browser.execute_cdp_cmd("Security.setIgnoreCertificateErrors", {"ignore": True})
    yield browser
    browser.quit()


@pytest.fixture
def terminal():
    started = []

    def start(*arguments, **options):
        started.append(Terminal(*arguments, **options))
        return started[-1]

    yield start
    for each in started:
        each.stop()


def test_the_picture_comes_and_the_printed_fingerprint_is_the_certificates(terminal, browser):
    """What a person compares: the fingerprint at the terminal, and that of the certificate in the browser."""
    casting = terminal(*CAST, "--no-qr")
    url = casting.url()
    printed = casting.wait(r"Certificate \(SHA-256\) ((?:[0-9A-F]{2}:){31}[0-9A-F]{2})").group(1)
    assert url.startswith("https://127.0.0.1:")
    browser.execute_cdp_cmd("Network.enable", {})
    viewer = Viewer(browser, url).wait_live()
    assert viewer.script("return isSecureContext") and viewer.size() == (320, 180)
    address = urlsplit(url)
    shown = browser.execute_cdp_cmd("Network.getCertificate", {"origin": f"https://{address.netloc}"})["tableNames"][0]
    assert hashlib.sha256(base64.b64decode(shown)).hexdigest().upper() == printed.replace(":", "")


def test_a_further_name_opens_the_cast_only_if_it_was_named(cast, browser):
    """`--host-name`: behind a proxy the page is opened, and the cast is reached, by another name."""
    named, unnamed = (cast(*CAST, *options).listening()["url"].replace("127.0.0.1", NAME) for options in (("--host-name", NAME), ()))
    viewer = Viewer(browser, named).wait_live()
    assert viewer.script("return location.hostname") == NAME
    browser.get(unnamed)
    assert not browser.execute_script("return !!window.rtcast")
    assert NAME in browser.execute_script("return document.body.innerText")


def test_who_comes_without_tls_is_told_to_use_it(cast, browser):
    """In a browser, at `watch` and at `call`; and a server that says nothing is suspected."""
    event = cast(*CAST).listening()
    plain = event["url"].replace("https:", "http:")
    browser.get(plain)
    assert "https://" in browser.execute_script("return document.body.innerText")
    code, _, err = run("watch", plain, "--no-window")
    assert code == 76 and "https://" in err, (code, err)
    hub = cast("serve", "--listen", "127.0.0.1:0", "--tls").listening()
    code, _, err = run("call", "bob", "--server", hub["url"].replace("https:", "http:"), "--no-window", "--audio", "none")
    assert code == 76 and "https://" in err, (code, err)


def test_a_server_that_hangs_up_on_http_may_want_https():
    """As some servers of TLS do."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        def hang_up():
            while True:
                try:
                    connection, _ = listener.accept()
                except OSError:
                    return
                with connection:
                    connection.recv(1)
                    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))   # a reset
        thread = threading.Thread(target=hang_up)
        thread.start()
        code, _, err = run("watch", f"http://127.0.0.1:{listener.getsockname()[1]}/", "--no-window")
        listener.shutdown(socket.SHUT_RDWR)
        thread.join()
    assert "https://" in err and "?." not in err, (code, err)
