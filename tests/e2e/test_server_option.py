"""`--server` against servers that are no hub, or one that is busy: no cluster is needed."""

import http.server
import json
import os
import pathlib
import subprocess
import tempfile
import threading
import unittest

from harness.handler import QuietHandler
from harness.program import ROOT, binary, fairlead

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

    def test_an_answer_of_any_shape_is_refused_and_stops_nothing(self):
        bodies = (b'{"kind":5}', b'{"kind":"Status","message":5}', b'{"error":{}}', b'{"error":null}', b"[1]", b'"x"',
                  b"[" * 200_000, b'{"text":"x","exit":"0"}', b'{"text":"x","exit":1e99}',
                  b'{"text":"x","exit":99999999999}', b'{"text":"","exit":0,"events":-1}',
                  b'{"to":1e300,"parts":[{"tag":"PACK","seq":-1,"size":1e300,"offset":0,"bytes":1}]}\n',
                  b'{"kind":"QuotaAudit"}', b'{"kind":"QuotaWhy","grants":[5]}',
                  b'{"kind":"QuotaHistory","rows":{"a":1}}')
        for body in bodies:
            for status in (200, 400, 500):
                server = self.serve((status, body, {}))
                for words in (("log", "stat"), ("log", "cat"), ("audit", "quota"),
                              ("log", "export", self.folder / "x")):
                    with self.subTest(status=status, body=body[:60], words=words):
                        done = fairlead(*words, "--server", server.url)
                        # (What has no kind is printed by `audit` as it is.)
                        printed = (words[0] == "audit" and status == 200 and body.startswith(b"{") and
                                   b"Quota" not in body and body != b'{"kind":5}')
                        self.assertIn(done.returncode, (0,) if printed else (BAD_INPUT, FAILED), done.stderr)
                        self.assertTrue(printed or done.stderr.startswith("fairlead "), done.stderr)

    def test_a_hub_that_gives_one_page_for_ever_is_left(self):
        loop = {"from": "seq:1", "to": "seq:2"}
        server = self.serve(page("a\n", next=loop))
        done = fairlead("log", "cat", "--server", server.url)
        self.assertEqual((done.returncode, done.stdout), (FAILED, "a\na\n"), done.stderr)
        self.assertIn("the same page again", done.stderr)

    def test_what_a_hub_says_does_nothing_to_the_terminal(self):
        evil = "\x1b]0;owned\x07\u202e"
        server = self.serve(page(f"1 {evil}\n2\n"))
        done = fairlead("log", "cat", "--server", server.url)
        self.assertEqual(done.stdout, "1 \\u001b]0;owned\\u0007\\u202e\n2\n", done.stderr)
        server = self.serve((500, json.dumps({"error": f"no {evil}"}).encode(), {}))
        done = fairlead("audit", "quota", "--server", server.url)
        self.assertEqual(done.returncode, FAILED)
        self.assertIn("no \\u001b]0;owned\\u0007\\u202e", done.stderr)
        self.assertNotIn("\x1b", done.stderr)

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


class SurroundingsTest(unittest.TestCase):
    """Files that are none, and a machine without memory."""

    INCIDENT = tuple(ROOT / "docs/incident" / name for name in ("hub.yaml", "nodes.jsonl"))

    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def refused(self, command, *says):
        done = fairlead(*command, timeout=20)
        self.assertEqual((done.returncode, done.stdout), (BAD_INPUT, ""), done.stderr)
        for words in says:
            self.assertIn(words, done.stderr)

    def test_a_pipe_or_a_device_as_a_file_of_settings_is_refused_at_once(self):
        pipe = self.folder / "pipe"
        os.mkfifo(pipe)
        kubeconfig = self.folder / "kubeconfig"
        kubeconfig.write_text(json.dumps({
            "current-context": "c", "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
            "clusters": [{"name": "c", "cluster": {"server": "https://127.0.0.1:1",
                                                   "certificate-authority": str(pipe)}}],
            "users": [{"name": "u", "user": {"tokenFile": str(pipe)}}]}))
        data = ("--data", self.folder / "data")
        server = ("audit", "quota", "--server", "https://127.0.0.1:1")
        for command in (("plan", "--config", pipe, *self.INCIDENT), ("hub", "--kubeconfig", pipe, *data),
                        ("hub", "--kubeconfig", kubeconfig, *data), (*server, "--server-token-file", pipe),
                        (*server, "--server-token-file", kubeconfig, "--server-ca", pipe)):
            self.refused(command, str(pipe), "it is a pipe, expected a file")
        self.refused(("plan", "--config", "/dev/zero", *self.INCIDENT), "/dev/zero: it is a device")

    def test_without_memory_each_command_ends_with_an_error(self):
        if b"__asan_init" in binary().read_bytes() or b"__tsan_init" in binary().read_bytes():
            return  # a sanitizer reserves terabytes of addresses
        data = self.folder / "incident"
        self.assertEqual(fairlead("plan", "--log", data, *self.INCIDENT).returncode, 0)
        commands = (("audit", "quota", "--data", data), ("log", "verify", "--data", data), ("plan", *self.INCIDENT),
                    ("replay", "--verify", "--data", data))
        failed = set()
        # With less than 80 MiB what a library does before main() ends the process.
        for mebibytes in range(80, 400, 40):
            for command in commands:
                done = subprocess.run(["sh", "-c", f'ulimit -v {mebibytes << 10}; exec "$@"', "sh", str(binary()),
                                       *map(str, command)], timeout=60, capture_output=True, text=True)
                # 127: not even the loader has what it needs. 1 is its code, too, where a library cannot be mapped.
                self.assertIn(done.returncode, (0, 1, 2, 3, 127), (mebibytes, command[:2], done.stderr))
                failed.add(done.returncode)
                self.assertNotIn("terminate called", done.stderr)
        self.assertIn(0, failed)


if __name__ == "__main__":
    unittest.main()
