"""A browser without a window, driven through the DevTools protocol: https://chromedevtools.github.io/devtools-protocol/"""
import base64
import json
import os
import pathlib
import select
import shutil
import subprocess
import tempfile


class Browser:
    """One page. Collects what the page writes to the console, and exceptions that nobody catches."""

    def __init__(self, program, width=1280, height=900):
        self.home = tempfile.mkdtemp(prefix="tilewright-browser-")
        to_browser, self.to = os.pipe()
        self.from_, from_browser = os.pipe()
        # The browser reads commands from file 3 and writes answers to file 4, each ended by a zero. Root may not use its sandbox.
        arguments = [program, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--hide-scrollbars",
                     "--disable-background-networking", "--disable-component-update", "--disable-sync", "--remote-debugging-pipe",
                     f"--user-data-dir={self.home}", f"--window-size={width},{height}", "about:blank"]
        self.process = subprocess.Popen(
            ["sh", "-c", f'exec 8<&{to_browser} 9>&{from_browser} && exec 3<&8 4>&9 8<&- 9>&- && exec "$@"', "sh", *arguments],
            pass_fds=(to_browser, from_browser), env={**os.environ, "HOME": self.home}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_browser)
        os.close(from_browser)
        self.number, self.unread, self.events, self.session = 0, b"", [], None
        self.opened = []  # events of pages before this one
        targets = self.call("Target.getTargets")["targetInfos"]
        page = next(target for target in targets if target["type"] == "page")
        self.session = self.call("Target.attachToTarget", targetId=page["targetId"], flatten=True)["sessionId"]
        for domain in ("Runtime", "Log", "Page", "Network"):
            self.call(f"{domain}.enable")
        self.resize(width, height)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()
        os.close(self.to)
        os.close(self.from_)
        shutil.rmtree(self.home, ignore_errors=True)

    def _message(self):
        while b"\0" not in self.unread:
            ready, _, _ = select.select([self.from_], [], [], 60)
            more = os.read(self.from_, 1 << 16) if ready else b""
            if not more:
                raise RuntimeError("the browser does not answer")
            self.unread += more
        one, self.unread = self.unread.split(b"\0", 1)
        return json.loads(one)

    def call(self, method, **parameters):
        self.number += 1
        command = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            command["sessionId"] = self.session
        data = json.dumps(command).encode() + b"\0"
        while data:
            data = data[os.write(self.to, data):]
        while True:
            message = self._message()
            if message.get("id") == self.number:
                if "error" in message:
                    raise RuntimeError(f"{method}: {message['error']['message']}")
                return message["result"]
            self.events.append(message)

    def resize(self, width, height):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def open(self, path, scheme="light", media=""):
        """Loads a file, as a reader who likes this colour scheme sees it."""
        self.call("Emulation.setEmulatedMedia", media=media, features=[{"name": "prefers-color-scheme", "value": scheme}])
        self.opened += self.events
        self.events.clear()
        self.call("Page.navigate", url=pathlib.Path(path).resolve().as_uri())
        while not any(event.get("method") == "Page.loadEventFired" for event in self.events):
            self.events.append(self._message())

    def complaints(self):
        """What the console has shown, and what pages have asked for besides themselves."""
        self.ask("0")  # all events before the answer have come
        found = []
        for event in self.opened + self.events:
            method, parameters = event.get("method"), event.get("params", {})
            if method in ("Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded"):
                found.append(json.dumps(parameters))
            if method == "Network.requestWillBeSent" and parameters["type"] != "Document":
                found.append("asks for " + parameters["request"]["url"])
        return found

    def ask(self, expression):
        """The value of an expression in JavaScript, or of what it promises."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(f"{expression}: {answer['exceptionDetails']}")
        return answer["result"].get("value")

    def point_at(self, selector):
        """Moves the mouse to the middle of an element."""
        for x, y in ((0, 0), self.middle(selector)):
            self.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)

    def middle(self, selector):
        """Where an element is in the window, once it has been scrolled there."""
        return self.ask(f"""(() => {{
            const one = document.querySelector({json.dumps(selector)});
            one.scrollIntoView({{ block: 'center', behavior: 'instant' }});
            const box = one.getBoundingClientRect();
            return [box.x + box.width / 2, box.y + box.height / 2]; }})()""")

    def turn_wheel(self, at, by, control=False):
        """Turns the wheel over a place: up where `by` is negative."""
        self.call("Input.dispatchMouseEvent", type="mouseWheel", x=at[0], y=at[1], deltaX=0, deltaY=by, modifiers=2 if control else 0)

    def drag(self, at, to):
        for kind, (x, y) in (("mouseMoved", at), ("mousePressed", at), ("mouseMoved", to), ("mouseReleased", to)):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="none" if kind == "mouseMoved" and (x, y) == tuple(at) else "left",
                      buttons=1 if kind != "mouseReleased" else 0, clickCount=1)

    def press(self, key, times=1, shift=False):
        codes = {"Tab": 9, "ArrowUp": 38, "ArrowDown": 40, "ArrowLeft": 37, "ArrowRight": 39, "Home": 36, "End": 35, "Escape": 27, "+": 187, "-": 189, "0": 48}
        for _ in range(times):
            for kind in ("keyDown", "keyUp"):
                self.call("Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=codes[key],
                          modifiers=8 if shift else 0)

    def picture(self, path, whole=False):
        """Writes what is seen, or the whole page, as PNG."""
        data = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole)["data"]
        pathlib.Path(path).write_bytes(base64.b64decode(data))
