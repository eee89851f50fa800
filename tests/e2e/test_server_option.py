"""`--server` against servers that are no hub, or one that is busy: no cluster is needed."""

import http.server
import json
import pathlib
import tempfile
import threading
import unittest

from harness.handler import QuietHandler
from harness.program import fairlead

NEEDS = ("fairlead",)

BAD_INPUT, FAILED = 2, 3


class Server:
    """Answers GETs with what `answers` holds, in order, the last one again and again: (status, body, headers)."""

    def __init__(self, *answers):
        self.answers = list(answers)
        self.asked = []
        outer = self

        class Handler(QuietHandler):
            def do_GET(self):
                outer.asked.append(self.path)
                self.reply(*(outer.answers.pop(0) if len(outer.answers) > 1 else outer.answers[0]))

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()


def page(text, **more):
    return 200, json.dumps({"text": text, "exit": 0, **more}).encode(), {}


class ServerOptionTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def serve(self, *answers):
        server = Server(*answers)
        self.addCleanup(server.close)
        return server

    def test_a_hub_that_is_busy_is_asked_again(self):
        server = self.serve((503, b"busy with other questions\n", {"Retry-After": "1"}), page("all is well\n"))
        done = fairlead("log", "stat", "--server", server.url)
        self.assertEqual((done.returncode, done.stdout), (0, "all is well\n"), done.stderr)
        self.assertEqual(len(server.asked), 2)

    def test_what_is_no_hub_is_named(self):
        for answer in ((200, b"<html>", {}), (200, b"", {}), (404, b"nothing here", {}), (500, b"{}", {}),
                       (503, b"closed\n", {}), (302, b"", {"Location": "/elsewhere"})):
            with self.subTest(answer=answer):
                server = self.serve(answer)
                for words in (("log", "stat"), ("log", "cat"), ("audit", "quota"),
                              ("log", "export", self.folder / "x")):
                    done = fairlead(*words, "--server", server.url)
                    self.assertEqual((done.returncode, done.stdout), (FAILED, ""), done.stderr)
                    self.assertIn("server" if answer[0] == 200 and words[0] == "log" else server.url, done.stderr)
                self.assertEqual(list(self.folder.iterdir()), [])

    def test_an_export_that_ends_early_leaves_the_former_file(self):
        kept = self.folder / "kept.bundle"
        kept.write_bytes(b"the one of yesterday")
        part = {"tag": "FLB1", "seq": 0, "size": 9, "offset": 0, "bytes": 4}
        first = json.dumps({"to": 9, "next": "pack:1:0", "parts": [part]}).encode() + b'\n{"fo'
        for then in ((500, b'{"error": "the disk is gone"}', {}),
                     (200, json.dumps({"to": 9, "parts": []}).encode() + b"\n", {})):
            server = self.serve((200, first, {}), then)
            done = fairlead("log", "export", kept, "--server", server.url)
            self.assertEqual(done.returncode, FAILED, done.stdout)
            self.assertEqual(server.asked, ["/log/export", "/log/export?to=seq%3A9&from=pack%3A1%3A0"])
            self.assertEqual([path.name for path in self.folder.iterdir()], ["kept.bundle"])
            self.assertEqual(kept.read_bytes(), b"the one of yesterday")

    def test_one_place_is_given(self):
        for words in (("log", "export", self.folder / "x"), ("log", "stat")):
            done = fairlead(*words, "--server", "http://127.0.0.1:1", "--data", self.folder)
            self.assertEqual(done.returncode, BAD_INPUT)
            self.assertEqual(fairlead(*words).returncode, BAD_INPUT)
        self.assertEqual(fairlead("log", "stat", "--server", "ftp://x").returncode, BAD_INPUT)


if __name__ == "__main__":
    unittest.main()
