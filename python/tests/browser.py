"""A headless Chromium for tests, spoken to over a pipe: no port, no package, no network."""

import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

PROGRAM = next((path for path in map(shutil.which, ("chromium", "chromium-browser", "google-chrome")) if path), None)


class Browser:
    """One browser process with one page; a context manager."""

    def __init__(self, seconds=60):
        self.seconds = seconds
        self.folder = tempfile.TemporaryDirectory()
        child_reads, self.to = os.pipe()
        self.back, child_writes = os.pipe()
        high = [os.dup(fd) for fd in (child_reads, child_writes)]

        def pipes():  # the browser reads commands from 3 and writes answers to 4
            os.dup2(high[0], 3)
            os.dup2(high[1], 4)

        self.process = subprocess.Popen(
            [
                PROGRAM,
                "--headless=new",
                "--no-sandbox",  # the tests may run as root
                "--disable-gpu",
                "--disable-dev-shm-usage",
                "--disable-background-networking",
                "--no-first-run",
                "--remote-debugging-pipe",
                f"--user-data-dir={self.folder.name}",
                "about:blank",
            ],
            preexec_fn=pipes,
            pass_fds=(3, 4),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        for fd in (child_reads, child_writes, *high):
            os.close(fd)
        self.rest = b""
        self.serial = 0
        self.events = []
        pages = []
        end = time.monotonic() + seconds
        while not pages and time.monotonic() < end:
            pages = [t for t in self.say("Target.getTargets")["targetInfos"] if t["type"] == "page"]
        attached = self.say("Target.attachToTarget", targetId=pages[0]["targetId"], flatten=True)
        self.session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.page(f"{domain}.enable")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        os.close(self.to)
        os.close(self.back)
        for _ in range(20):  # its helpers may still be writing
            try:
                self.folder.cleanup()
                return
            except OSError:
                time.sleep(0.1)

    def _next(self, end):
        while b"\0" not in self.rest:
            ready, _, _ = select.select([self.back], [], [], max(0, end - time.monotonic()))
            piece = os.read(self.back, 1 << 20) if ready else b""
            if not piece:
                raise RuntimeError("the browser does not answer")
            self.rest += piece
        message, self.rest = self.rest.split(b"\0", 1)
        return json.loads(message)

    def _send(self, session, method, parameters):
        self.serial += 1
        message = {"id": self.serial, "method": method, "params": parameters}
        if session:
            message["sessionId"] = session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self.to, data) :]
        end = time.monotonic() + self.seconds
        while True:
            answer = self._next(end)
            if answer.get("id") == self.serial:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']['message']}")
                return answer["result"]
            self.events.append(answer)

    def say(self, method, **parameters):
        return self._send(None, method, parameters)

    def page(self, method, **parameters):
        return self._send(self.session, method, parameters)

    def open(self, path, width, height=900, mobile=False):
        """Loads a file at a width; events of earlier pages are forgotten."""
        self.page(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=mobile
        )
        self.events.clear()
        self.page("Page.navigate", url=path.resolve().as_uri())
        end = time.monotonic() + self.seconds
        while not any(event.get("method") == "Page.loadEventFired" for event in self.events):
            self.events.append(self._next(end))

    def value(self, expression):
        answer = self.page("Runtime.evaluate", expression=expression, returnByValue=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(answer["exceptionDetails"]["text"])
        return answer["result"].get("value")

    def complaints(self):
        """Console messages, exceptions, log entries and every request but the page's own."""
        said = ("Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded")
        found = [event for event in self.events if event.get("method") in said]
        asked = [event for event in self.events if event.get("method") == "Network.requestWillBeSent"]
        return found + asked[1:]

    def screenshot(self, path):
        size = self.page("Page.getLayoutMetrics")["cssContentSize"]
        clip = {"x": 0, "y": 0, "width": size["width"], "height": size["height"], "scale": 1}
        shot = self.page("Page.captureScreenshot", format="png", captureBeyondViewport=True, clip=clip)
        path.write_bytes(base64.b64decode(shot["data"]))

    def pdf(self, path):
        paper = self.page("Page.printToPDF", preferCSSPageSize=True, printBackground=True)
        path.write_bytes(base64.b64decode(paper["data"]))
