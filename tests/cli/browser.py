"""Drives headless Chromium through its DevTools pipe: no driver, no library, no port."""

import base64
import json
import os
import select
import shutil
import signal
import subprocess
import tempfile
import time

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")


class Hung(Exception):
    """Chromium itself failed, not the page: try again with a fresh one."""


class Browser:
    """One page at a time; notes what it logs, throws and asks the network for."""

    patience = 60  # seconds for an answer

    def __init__(self):
        self.profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        ours_out, theirs_in = os.pipe(), os.pipe()  # commands go out on the first
        read_commands, self.out = ours_out
        self.inp, write_events = theirs_in

        def pipes():  # Chromium reads commands from 3 and writes to 4
            a, b = os.dup(read_commands), os.dup(write_events)
            os.dup2(a, 3)
            os.dup2(b, 4)

        self.process = subprocess.Popen(
            [
                CHROMIUM, "--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run",
                "--disable-dev-shm-usage", "--disable-background-networking", "--disable-extensions",
                "--disable-component-update", "--remote-debugging-pipe",
                "--user-data-dir=" + self.profile.name, "about:blank",
            ],
            preexec_fn=pipes, pass_fds=(3, 4, read_commands, write_events), start_new_session=True,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )
        os.close(read_commands)
        os.close(write_events)
        self.buffer = b""
        self.count = 0
        self.session = None
        self.problems, self.requests = [], []
        try:
            target = self.call("Target.createTarget", url="about:blank")["targetId"]
            self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
            for domain in ("Page", "Runtime", "Log", "Network"):
                self.call(domain + ".enable")
        except Hung:
            self.close()
            raise

    def close(self):
        os.close(self.out)  # Chromium ends with its pipe
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            os.killpg(self.process.pid, signal.SIGKILL)  # with its children: it leads its session
            self.process.wait()
        os.close(self.inp)
        self.profile.cleanup()

    def _message(self, deadline):
        while b"\0" not in self.buffer:
            ready, _, _ = select.select([self.inp], [], [], max(0, deadline - time.time()))
            if not ready:
                raise Hung("Chromium does not answer")
            part = os.read(self.inp, 1 << 20)
            if not part:
                raise Hung("Chromium has ended")
            self.buffer += part
        text, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(text)

    def _note(self, message):
        method, given = message.get("method"), message.get("params", {})
        if method == "Runtime.exceptionThrown":
            self.problems.append(json.dumps(given["exceptionDetails"])[:2000])
        elif method == "Runtime.consoleAPICalled" and given["type"] in ("error", "warning", "assert"):
            self.problems.append(json.dumps(given["args"])[:2000])
        elif method == "Log.entryAdded" and given["entry"]["level"] in ("error", "warning"):
            self.problems.append(given["entry"]["text"])
        elif method == "Network.requestWillBeSent":
            self.requests.append(given["request"]["url"])

    def call(self, method, **given):
        self.count += 1
        command = {"id": self.count, "method": method, "params": given}
        if self.session:
            command["sessionId"] = self.session
        try:
            os.write(self.out, json.dumps(command).encode() + b"\0")
        except BrokenPipeError:
            raise Hung("Chromium has ended") from None
        deadline = time.time() + self.patience
        while True:
            message = self._message(deadline)
            if message.get("id") == self.count:
                if "error" in message:
                    raise RuntimeError(f"{method}: {message['error']}")
                return message["result"]
            self._note(message)

    def evaluate(self, expression):
        result = self.call(
            "Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True
        )
        if "exceptionDetails" in result:
            raise RuntimeError(json.dumps(result["exceptionDetails"])[:2000])
        return result["result"].get("value")

    def open(self, path, width=1280, height=900, dark=False):
        self.problems, self.requests = [], []
        self.call(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1,
            mobile=width < 600,
        )
        self.call(
            "Emulation.setEmulatedMedia",
            features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}],
        )
        self.call("Page.navigate", url="file://" + os.path.abspath(path))
        deadline = time.time() + self.patience
        while self.evaluate("document.documentElement?.dataset.ready") != "yes":
            if self.problems or time.time() > deadline:
                raise AssertionError(f"the page does not get ready: {self.problems}")
            time.sleep(0.05)

    def screenshot(self, path):
        """The whole page, not only what is in view."""
        shot = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=True)
        with open(path, "wb") as file:
            file.write(base64.b64decode(shot["data"]))

    def print_to(self, path):
        with open(path, "wb") as file:
            file.write(base64.b64decode(self.call("Page.printToPDF")["data"]))
