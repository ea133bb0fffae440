"""A small client: real messages over the pipes of a server process."""

import json
import queue
import subprocess
import sys
import threading
from pathlib import Path

ROOT = Path(__file__).parents[2]


class Client:
    def __init__(self, folder):
        self.process = subprocess.Popen(
            [sys.executable, "-m", "reasoner", "lsp", "--stdio"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            cwd=folder, env={"PYTHONPATH": str(ROOT), "PATH": ""},
        )  # fmt: skip
        self.inbox = queue.Queue()
        self.number = 0
        self.versions = {}
        self.findings = {}
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()
        self.log = []
        threading.Thread(target=lambda: self.log.extend(self.process.stderr), daemon=True).start()

    def read(self):
        out = self.process.stdout
        while header := out.readline():
            length = None
            while header.strip():
                name, _, value = header.decode().partition(":")
                length = int(value) if name.lower() == "content-length" else length
                header = out.readline()
            self.inbox.put(json.loads(out.read(length)))

    def send(self, message):
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        self.process.stdin.flush()

    def notify(self, method, **params):
        self.send({"method": method, "params": params})

    def receive(self):
        try:
            message = self.inbox.get(timeout=10)
        except queue.Empty:
            self.stop()
            raise AssertionError(b"".join(self.log[-30:]).decode()) from None
        if message.get("method") == "textDocument/publishDiagnostics":
            self.findings[message["params"]["uri"]] = message["params"]["diagnostics"]
        return message

    def ask(self, method, **params):
        self.number += 1
        self.send({"id": self.number, "method": method, "params": params})
        while (message := self.receive()).get("id") != self.number:
            pass
        return message

    def start(self, **capabilities):
        reply = self.ask(
            "initialize", processId=None, rootUri=None, capabilities=capabilities
        )["result"]  # fmt: skip
        self.notify("initialized")
        return reply["capabilities"]

    def open(self, uri, text, language="reasoner"):
        self.versions[uri] = 1
        item = {"uri": uri, "languageId": language, "version": 1, "text": text}
        return self.wait(uri, "textDocument/didOpen", textDocument=item)

    def change(self, uri, text):
        self.versions[uri] += 1
        document = {"uri": uri, "version": self.versions[uri]}
        return self.wait(
            uri, "textDocument/didChange", textDocument=document, contentChanges=[{"text": text}]
        )

    def wait(self, uri, method, **params):
        self.findings.pop(uri, None)
        self.notify(method, **params)
        while uri not in self.findings:
            self.receive()
        return self.findings[uri]

    def at(self, method, uri, position, **more):
        line, character = position
        place = {"line": line, "character": character}
        return self.ask(f"textDocument/{method}", textDocument={"uri": uri}, position=place, **more)

    def completions(self, uri, position):
        items = self.at("completion", uri, position)["result"]["items"]
        return [i["label"] for i in items]

    def stop(self):
        self.process.kill()
        code = self.process.wait()
        self.process.stdin.close()
        self.reader.join()
        self.process.stdout.close()
        self.process.stderr.close()
        return code

    def close(self):
        assert self.ask("shutdown")["result"] is None
        self.notify("exit")
        code = self.process.wait(timeout=10)
        self.stop()
        return code
