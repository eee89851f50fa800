"""`--server` against servers that are no hub, or one that is busy: no cluster is needed."""

import base64
import gzip
import http.server
import json
import os
import pathlib
import re
import subprocess
import tempfile
import threading
import unittest
import urllib.error
import urllib.request

from harness.handler import QuietHandler
from harness.process import wait_for
from harness.program import ROOT, binary, fairlead

NEEDS = ("fairlead",)

BAD_INPUT, FAILED = 2, 3


class Server:
    """Answers GETs with what `answers` holds, in order, the last one again and again: (status, body, headers)."""

    def __init__(self, *answers):
        self.answers = list(answers)
        self.asked, self.tokens = [], []
        outer = self

        class Handler(QuietHandler):
            def do_GET(self):
                outer.asked.append(self.path)
                outer.tokens.append(self.headers.get("Fairlead-Authorization"))
                self.reply(*(outer.answers.pop(0) if len(outer.answers) > 1 else outer.answers[0]))

            def do_POST(self):
                """A TokenRequest."""
                self.rfile.read(int(self.headers["Content-Length"]))
                outer.asked.append(self.path)
                self.reply(201, b'{"status": {"token": "of-the-viewer"}}')

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
        done = fairlead("log", "cat", "--server", server.url, checked=False)
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
            done = fairlead("log", "export", kept, "--force", "--server", server.url)
            self.assertEqual(done.returncode, FAILED, done.stdout)
            self.assertEqual(server.asked, ["/log/export", "/log/export?to=seq%3A9&from=pack%3A1%3A0"])
            self.assertEqual([path.name for path in self.folder.iterdir()], ["kept.bundle"])
            self.assertEqual(kept.read_bytes(), b"the one of yesterday")

    def test_one_place_is_given(self):
        for words in (("log", "export", self.folder / "x"), ("log", "stat")):
            done = fairlead(*words, "--server", "http://127.0.0.1:1", "--data", self.folder)
            self.assertEqual(done.returncode, BAD_INPUT)
            self.assertEqual(fairlead(*words, env=self.environment()).returncode, BAD_INPUT)
        self.assertEqual(fairlead("log", "stat", "--server", "ftp://x").returncode, BAD_INPUT)

    # -- through the API server of a kubeconfig ---------------------------------------------------------------------

    def environment(self, server=None):
        """Of a person with a kubeconfig for this API server, or with none."""
        environment = {**os.environ, "HOME": str(self.folder), "KUBECONFIG": ""}
        environment.pop("KUBERNETES_SERVICE_HOST", None)
        if server is None:
            return environment
        config = self.folder / "kubeconfig"
        config.write_text(json.dumps({
            "current-context": "here", "clusters": [{"name": "c", "cluster": {"server": server.url}}],
            "contexts": [{"name": name, "context": {"cluster": "c", "user": "u"}} for name in ("here", "there")],
            "users": [{"name": "u", "user": {"token": "t"}}]}))
        return {**environment, "KUBECONFIG": str(config)}

    def fleet(self):
        """The URL of a hub that runs here, and its data directory."""
        data = self.folder / "fleet"
        dev = subprocess.Popen([str(binary()), "dev", "--speed", "600", "--data", str(data), "--for", "60s"],
                               stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.addCleanup(dev.communicate)
        self.addCleanup(dev.kill)
        url = next(line for line in dev.stdout if line.startswith("Look at it:")).split()[-1].removesuffix("/ui/")
        threading.Thread(target=dev.stdout.read, daemon=True).start()
        asked = ("audit", "history", "low-priority-queue", "--server", url)
        wait_for("the queues", lambda: fairlead(*asked).returncode == 0, timeout=30)
        return url, data

    def test_without_a_place_the_hub_of_the_kubeconfig_is_asked(self):
        server = self.serve(page("all is well\n"))
        for words, space in (((), "fairlead"), (("--context", "there", "-n", "ops"), "ops"),
                             (("--kubeconfig", self.folder / "kubeconfig", "--namespace", "ops"), "ops")):
            server.asked.clear()
            done = fairlead("log", "stat", *words, env=self.environment(server))
            self.assertEqual((done.returncode, done.stdout), (0, "all is well\n"), done.stderr)
            self.assertEqual(server.asked, [
                f"/api/v1/namespaces/{space}/serviceaccounts/fairlead-viewer/token",
                f"/api/v1/namespaces/{space}/services/https:fairlead:https/proxy/log/stat?output=text"])
            self.assertEqual(server.tokens[-1], "Bearer of-the-viewer")

    def test_every_question_goes_there_and_the_log_of_this_folder_comes_first(self):
        url, data = self.fleet()

        class ThroughProxy(Server):
            """Passes what comes below the service proxy on to the hub."""

            def __init__(self):
                super().__init__()
                self.answers = self

            def __len__(self):
                return 2

            def pop(self, _):
                try:
                    with urllib.request.urlopen(url + self.asked[-1].partition("/proxy")[2], timeout=30) as reply:
                        return reply.status, reply.read()
                except urllib.error.HTTPError as refusal:
                    with refusal:
                        return refusal.code, refusal.read()

        server = ThroughProxy()
        self.addCleanup(server.close)
        environment = self.environment(server)

        def ask(*words):
            done = subprocess.run([str(binary()), *map(str, words)], env=environment, cwd=self.folder,
                                  capture_output=True, text=True, timeout=60)
            self.assertEqual(done.returncode, 0, f"{words}: {done.stdout}{done.stderr}")
            return done.stdout

        for words in (("audit", "quota", "--as-of", "seq:20"), ("log", "cat", "--to", "seq:20"),
                      ("audit", "history", "low-priority-queue", "--to", "seq:20")):
            self.assertEqual(ask(*words), fairlead(*words, "--data", data).stdout)
        # What is computed from all of a log is computed here.
        self.assertIn("ok: ", ask("log", "verify"))
        self.assertIn("would have written the same", ask("replay", "--verify"))
        self.assertIn("SAME CONFIGURATION", ask("whatif", "--set", "debounce.shrinkWindow=10m"))
        file = self.folder / "saved.html"
        ask("serve", "--save", file, "--queue", "low-priority-queue")
        packed = re.search(r'id="packed">([^<]+)<', file.read_text())[1]
        page = gzip.decompress(base64.b64decode(packed)).decode()
        self.assertIn("--hub-namespace", page)
        self.assertNotIn("fairlead-copy-", page)
        # A folder with the usual name is a log that is here.
        (self.folder / "fairlead-data").symlink_to(data)
        server.asked.clear()
        done = subprocess.run([str(binary()), "log", "stat"], env=environment, cwd=self.folder, capture_output=True)
        self.assertEqual((done.returncode, server.asked), (0, []))

    def test_without_any_place_the_three_ways_are_named(self):
        for words in (("audit", "quota"), ("log", "stat"), ("log", "verify"), ("replay",),
                      ("whatif", "--set", "debounce.growWindow=1m"), ("serve", "--listen", "127.0.0.1:0"),
                      ("log", "export", self.folder / "x")):
            done = subprocess.run([str(binary()), *map(str, words)], env=self.environment(), cwd=self.folder,
                                  capture_output=True, text=True, timeout=20)
            self.assertEqual((done.returncode, done.stdout), (BAD_INPUT, ""), words)
            for way in ("--data", "--bundle", "--server", "kubeconfig"):
                self.assertIn(way, done.stderr, words)

    def test_refusals_of_the_api_server_are_told(self):
        status = {"kind": "Status", "message": 'services "fairlead" not found'}
        server = self.serve((404, json.dumps(status).encode(), {}))
        done = fairlead("audit", "quota", env=self.environment(server))
        self.assertEqual(done.returncode, FAILED)
        self.assertIn('services "fairlead" not found', done.stderr)
        done = fairlead("audit", "quota", "--context", "nowhere", env=self.environment(server))
        self.assertEqual(done.returncode, BAD_INPUT)
        self.assertIn("nowhere", done.stderr)
        done = fairlead("audit", "quota", "--context", "here", "--data", self.folder)
        self.assertEqual(done.returncode, BAD_INPUT)
        self.assertIn("--context", done.stderr)

    def test_what_is_appended_is_followed(self):
        url, data = self.fleet()
        for place in (("--server", url), ("--data", data)):
            for words, first in ((("log", "cat", "--from", "seq:1", "-o", "text"), "1 20"),
                                 (("audit", "history", "low-priority-queue"), "TIME"), (("audit", "quota"), "as of")):
                follower = subprocess.Popen([str(binary()), *map(str, (*words, "--follow", *place))], text=True,
                                            stdout=subprocess.PIPE, stderr=subprocess.PIPE)
                try:
                    lines = [follower.stdout.readline() for _ in range(12)]
                finally:
                    follower.kill()
                    _, said = follower.communicate()
                self.assertTrue(lines[0].startswith(first), (words, lines[0], said))
                self.assertTrue(lines[-1], (words, said))
        # It was there until now, so its log did not end before.
        self.assertNotIn("the log ends", fairlead("audit", "quota", "--as-of", "-1ms", "--server", url).stdout)
        for words in (("log", "cat", "--to", "-1s"), ("audit", "quota", "--as-of", "now"), ("audit", "quota")):
            place = ("--data", data) if len(words) > 2 else ("--bundle", self.folder / "x")
            done = fairlead(*words, "--follow", *place)
            self.assertEqual((done.returncode, done.stdout), (BAD_INPUT, ""), words)
            self.assertIn("--follow", done.stderr)


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
