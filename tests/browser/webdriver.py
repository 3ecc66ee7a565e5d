"""A browser for tests: Chromium through chromedriver's HTTP interface, nothing else."""
import base64
import json
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

FLAGS = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic",
         "--no-first-run", "--disable-background-networking",
         "--disable-component-update", "--disable-sync"]


class Browser:
    """One window; `console` and `requests` are what the page said and asked for."""

    def __init__(self):
        driver, chromium = shutil.which("chromedriver"), shutil.which("chromium")
        if not driver or not chromium:
            print("skipped: chromium and chromedriver are not installed")
            sys.exit(77)
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            port = s.getsockname()[1]
        self.folder = tempfile.TemporaryDirectory()
        self.driver = subprocess.Popen([driver, f"--port={port}"], stdout=subprocess.DEVNULL,
                                       stderr=subprocess.DEVNULL)
        self.base = f"http://127.0.0.1:{port}"
        self._wait()
        options = {"binary": chromium,
                   "args": FLAGS + [f"--user-data-dir={self.folder.name}"]}
        reply = self._send("POST", "/session", {"capabilities": {"alwaysMatch": {
            "goog:chromeOptions": options,
            "goog:loggingPrefs": {"browser": "ALL", "performance": "ALL"}}}})
        self.session = "/session/" + reply["sessionId"]

    def _wait(self):
        for _ in range(100):
            try:
                self._send("GET", "/status")
                return
            except (urllib.error.URLError, ConnectionError):
                time.sleep(0.1)
        raise RuntimeError("chromedriver does not answer")

    def _send(self, method, path, body=None):
        request = urllib.request.Request(self.base + path, method=method, data=None if
                                         body is None else json.dumps(body).encode())
        with urllib.request.urlopen(request, timeout=60) as reply:
            return json.loads(reply.read())["value"]

    def open(self, address):
        self._send("POST", self.session + "/url", {"url": address})

    def _command(self, name, **parameters):
        self._send("POST", self.session + "/goog/cdp/execute", {"cmd": name, "params": parameters})

    def size(self, width, height):
        """Of the page, from now on: that of the window comes some time after it was asked for."""
        self._command("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=0, mobile=False)

    def run(self, script, *arguments):
        """The value that `script` returns in the page."""
        return self._send("POST", self.session + "/execute/sync",
                          {"script": script, "args": list(arguments)})

    def media(self, kind, scheme="light"):
        """As on "screen" or on paper ("print"), in a system whose theme is `scheme`."""
        self._command("Emulation.setEmulatedMedia", media=kind,
                      features=[{"name": "prefers-color-scheme", "value": scheme}])

    def picture(self, path, whole=False):
        """Writes what the window shows as a PNG file; whole: down to the end of the page, at most."""
        if whole:
            width, height = self.run("return [innerWidth, document.documentElement.scrollHeight]")
            self.size(width, min(height, 8000))
        with open(path, "wb") as file:
            file.write(base64.b64decode(self._send("GET", self.session + "/screenshot")))

    def _log(self, kind):
        return self._send("POST", self.session + "/se/log", {"type": kind})

    def console(self):
        return [entry["message"] for entry in self._log("browser")]

    def requests(self):
        """Addresses that the page asked for, over the network or not."""
        messages = [json.loads(e["message"])["message"] for e in self._log("performance")]
        return [m["params"]["request"]["url"] for m in messages
                if m["method"] == "Network.requestWillBeSent"]

    def close(self):
        try:
            self._send("DELETE", self.session)
        finally:
            self.driver.terminate()
            self.driver.wait()
            self.folder.cleanup()
