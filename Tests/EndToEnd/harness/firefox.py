"""Debian's Firefox ESR, headless, driven by its own Marionette protocol: no geckodriver is packaged."""

import base64
import contextlib
import json
import os
import shutil
import socket
import subprocess
import tempfile
import time
from pathlib import Path

import websocket

PREFERENCES = {
    "marionette.port": 0,
    "media.navigator.streams.fake": True,
    "media.navigator.permission.disabled": True,
    "media.autoplay.default": 0,
    "media.peerconnection.ice.loopback": True,
    "media.gmp-manager.updateEnabled": False,
    "app.update.enabled": False,
    "browser.shell.checkDefaultBrowser": False,
    "datareporting.policy.dataSubmissionEnabled": False,
    "toolkit.telemetry.reportingpolicy.firstRun": False,
}


def installed():
    return shutil.which("firefox-esr") is not None


class Firefox:
    """The part of Selenium's driver that the tests use, on Marionette: JSON arrays on a socket, each with its length in front."""

    def __init__(self, size=(1280, 800), preferences=None, environment=None):
        self.profile = Path(tempfile.mkdtemp(prefix="rtcast-firefox-"))
        lines = [f"user_pref({json.dumps(name)}, {json.dumps(value)});" for name, value in {**PREFERENCES, **(preferences or {})}.items()]
        (self.profile / "user.js").write_text("\n".join(lines) + "\n")
        self.process = subprocess.Popen(
            ["firefox-esr", "--headless", "--marionette", "--no-remote", "--remote-debugging-port=0", "--remote-allow-system-access",
             "--profile", str(self.profile), "--width", str(size[0]), "--height", str(size[1])],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env={**os.environ, **(environment or {})})
        try:
            self.socket = self._connect()
            self.buffer = b""
            self.serial = 0
            self._read()
            session = self._command("WebDriver:NewSession", {"acceptInsecureCerts": True, "webSocketUrl": True})
            self.bidi = session["capabilities"]["webSocketUrl"]
            self._command("WebDriver:SetTimeouts", {"script": 30000, "pageLoad": 30000})
        except BaseException:
            self.quit()
            raise

    def _connect(self, timeout=60):
        active = self.profile / "MarionetteActivePort"   # where it says which port the system chose
        deadline = time.monotonic() + timeout
        while time.monotonic() < deadline:
            if self.process.poll() is not None:
                raise AssertionError(f"firefox-esr ended with {self.process.returncode}")
            try:
                return socket.create_connection(("127.0.0.1", int(active.read_text())), timeout=60)
            except (OSError, ValueError):
                time.sleep(0.1)
        raise AssertionError("firefox-esr does not open its Marionette port")

    def _read(self):
        while b":" not in self.buffer:
            self._more()
        length, rest = self.buffer.split(b":", 1)
        self.buffer = rest
        while len(self.buffer) < int(length):
            self._more()
        message, self.buffer = self.buffer[:int(length)], self.buffer[int(length):]
        return json.loads(message)

    def _more(self):
        data = self.socket.recv(1 << 16)
        if not data:
            raise AssertionError("firefox-esr closed its Marionette connection")
        self.buffer += data

    def _command(self, name, parameters=None):
        self.serial += 1
        text = json.dumps([0, self.serial, name, parameters or {}]).encode()
        self.socket.sendall(b"%d:%s" % (len(text), text))
        while True:
            _, serial, error, result = self._read()
            if serial != self.serial:
                continue
            if error:
                raise AssertionError(f"{name}: {error.get('error')}: {error.get('message')}")
            return result.get("value", result) if isinstance(result, dict) else result

    def get(self, url):
        self._command("WebDriver:Navigate", {"url": url})

    def execute_script(self, code, *arguments):
        return self._command("WebDriver:ExecuteScript", {"script": code, "args": list(arguments), "sandbox": None})

    def execute_async_script(self, code, *arguments):
        return self._command("WebDriver:ExecuteAsyncScript", {"script": code, "args": list(arguments), "sandbox": None})

    def set_script_timeout(self, seconds):
        self._command("WebDriver:SetTimeouts", {"script": int(seconds * 1000)})

    def run_in_page(self, code):
        """Among the page's own classes and constants, of which `execute_script` sees nothing, and whatever the page's policy is: as a debugger."""
        with contextlib.closing(websocket.create_connection(self.bidi, timeout=20, suppress_origin=True)) as socket:
            def ask(method, **parameters):
                socket.send(json.dumps({"id": 1, "method": method, "params": parameters}))
                while "id" not in (answer := json.loads(socket.recv())):
                    pass
                assert answer["type"] == "success", answer
                return answer["result"]
            context = ask("browsingContext.getTree")["contexts"][0]["context"]
            result = ask("script.evaluate", expression="{" + code + "}", target={"context": context}, awaitPromise=False)
            assert result["type"] == "success", result

    def click(self, selector):
        element = self._command("WebDriver:FindElement", {"using": "css selector", "value": selector})
        self._command("WebDriver:ElementClick", {"id": next(iter(element.values()))})

    def zoom(self, factor):
        """Everything is larger, screenshots too; of the menu's zoom they show nothing."""
        self._command("Marionette:SetContext", {"value": "chrome"})
        try:
            self._command("WebDriver:ExecuteScript", {"script": "Services.prefs.setCharPref('layout.css.devPixelsPerPx', arguments[0])", "args": [str(factor)]})
        finally:
            self._command("Marionette:SetContext", {"value": "content"})

    def get_screenshot_as_png(self):
        return base64.b64decode(self._command("WebDriver:TakeScreenshot", {"full": False}))

    def save_screenshot(self, path):
        Path(path).write_bytes(self.get_screenshot_as_png())

    def quit(self):
        if self.process.poll() is None:
            try:
                self._command("Marionette:Quit", {"flags": ["eForceQuit"]})
                self.process.wait(10)
            except Exception:
                self.process.kill()
                self.process.wait()
        shutil.rmtree(self.profile, ignore_errors=True)
