"""What the real API server makes of a webhook's answers. Fairlead's own answers, and its advice, rest on each."""

import http.client
import json
import time
import unittest

from harness.apiserver import Refused
from harness.controlplane import ControlPlane
from harness.process import wait_for
from harness.webhook import CONFIGURATIONS, Webhook, configuration, review

NEEDS = ("controlplane",)

MAPS = "/api/v1/namespaces/default/configmaps"
RULES = [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE", "UPDATE", "DELETE"],
          "resources": ["configmaps"], "scope": "Namespaced"}]
SELECTED = "request.namespace == 'default' && !request.name.startsWith('kube-')"
FAILED = "failed calling webhook"


def config_map(name, **data):
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": data}


class AnswersTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.plane = cls.enterClassContext(ControlPlane())
        cls.server = cls.plane.add_server("hub")

    def setUp(self):
        self.webhook = Webhook(*self.plane.server_certificate)
        self.addCleanup(self.webhook.close)

    def ask(self, policy="Fail", **more):
        """The API server asks this test's webhook about ConfigMaps of `default` from now on."""
        more.setdefault("conditions", [{"name": "selected", "expression": SELECTED}])
        value = configuration("answers", self.webhook.port, self.plane.authority, RULES, policy, **more)
        self.server.create(CONFIGURATIONS, value)
        self.addCleanup(self.server.delete, f"{CONFIGURATIONS}/answers")

    def asked(self, policy="Fail", **more):
        """The same, and waits until it does."""
        self.ask(policy, **more)
        wait_for("the webhook to be asked", lambda: self.tried("probe")[0] and self.webhook.asked)
        self.webhook.asked.clear()
        self.webhook.heads.clear()

    def tried(self, name, path=MAPS, method="POST", body=None):
        """(status, Status or object, warnings) of a dry run."""
        return self.sent(method, f"{path}?dryRun=All", body or config_map(name))

    def sent(self, method, path, body=None):
        connection = http.client.HTTPSConnection("127.0.0.1", self.server.port, timeout=40, context=self.server.tls)
        try:
            connection.request(method, path, body=json.dumps(body) if body is not None else None, headers={
                "Content-Type": "application/json", "Authorization": f"Bearer {self.plane.tokens['admin']}"})
            answer = connection.getresponse()
            return answer.status, json.loads(answer.read()), answer.headers.get_all("Warning") or []
        finally:
            connection.close()

    def printed(self, name):
        """What kubectl prints to the user that creates it."""
        done = self.server.kubectl("create", "--dry-run=server", "-f", "-", stdin=json.dumps(config_map(name)),
                                   check=False)
        self.assertNotEqual(done.returncode, 0, done.stdout)
        return done.stderr

    def answer(self, **response):
        self.webhook.answer = lambda request: review(request, **response)

    def test_a_refusal_reads_as_one_of_the_schema(self):
        self.asked()
        causes = [{"reason": "FieldValueInvalid", "message": "Invalid value: 7: too much", "field": "spec.data"}]
        self.answer(allowed=False, status={
            "code": 422, "reason": "Invalid",
            "message": 'ConfigMap "x" is invalid: spec.data: Invalid value: 7: too much',
            "details": {"name": "x", "kind": "ConfigMap", "causes": causes}})
        status, answer, _ = self.tried("x")
        self.assertEqual((status, answer["reason"]), (422, "Invalid"))
        self.assertEqual(answer["details"]["causes"], causes)
        # kubectl makes its words of reason, kind, name and causes, not of the message.
        self.assertIn('The ConfigMap "x" is invalid: spec.data: Invalid value: 7: too much', self.printed("x"))

    def test_without_details_the_name_is_missing(self):
        self.asked()
        self.answer(allowed=False, status={"code": 422, "reason": "Invalid", "message": "too much"})
        said = self.printed("x")
        self.assertIn("The request is invalid: ", said)
        self.assertNotIn("ConfigMap", said)

    def test_a_message_alone_gets_a_prefix(self):
        self.asked()
        self.answer(allowed=False, status={"message": "too much"})
        self.assertEqual(self.tried("x")[1]["message"],
                         'admission webhook "answers.example.com" denied the request: too much')
        self.answer(allowed=False, status={"code": 403, "reason": "Forbidden", "message": "too much"})
        status, answer, _ = self.tried("x")
        self.assertEqual((status, answer["reason"]), (403, "Forbidden"))
        self.assertIn("denied the request: too much", answer["message"])

    def test_without_a_status_there_is_no_explanation(self):
        self.asked()
        self.answer(allowed=False)
        self.assertIn("denied the request without explanation", self.tried("x")[1]["message"])

    def test_a_refusal_counts_whatever_the_failure_policy_is(self):
        self.asked("Ignore")
        self.answer(allowed=False, status={"message": "too much"})
        self.assertIn("too much", self.tried("x")[1]["message"])

    def test_warnings_are_cut_and_one_with_a_control_character_vanishes(self):
        self.asked()
        self.answer(allowed=True, warnings=["short", "x" * 300, "two\nlines", "last"])
        status, _, warnings = self.tried("x")
        self.assertEqual(status, 201)
        texts = [warning.split('"', 1)[1].rstrip('"') for warning in warnings]
        self.assertEqual([text[:5] for text in texts], ["short", "xxxxx", "last"])
        self.assertEqual(len(texts[1]), 300)  # as long as all of them together are short
        self.answer(allowed=True, warnings=[f"{number:03}" + "y" * 297 for number in range(31)])
        _, _, warnings = self.tried("x")
        texts = [warning.split('"', 1)[1].rstrip('"') for warning in warnings]
        self.assertLess(len(texts), 31)
        self.assertEqual({len(text) for text in texts}, {256})
        self.assertEqual([text[:3] for text in texts], [f"{number:03}" for number in range(len(texts))])
        # What Fairlead sends at most arrives whole.
        sent = [f"{number:03}" + "z" * 237 for number in range(8)]
        self.answer(allowed=True, warnings=sent)
        self.assertEqual([warning.split('"', 1)[1].rstrip('"') for warning in self.tried("x")[2]], sent)

    def test_what_is_no_answer_is_a_failure(self):
        """Fail: 500; Ignore: admitted."""
        headers = {"Content-Type": "application/json"}

        def raw(status, body=b"", **more):
            return lambda request: (status, body, {**headers, **more})

        def changed(change):
            def answer(request):
                value = review(request, allowed=True)
                change(value)
                return value
            return answer

        cases = {
            "the uid is another": changed(lambda value: value["response"].update(uid="7")),
            "there is no uid": changed(lambda value: value["response"].pop("uid")),
            "there is no kind": changed(lambda value: value.pop("kind")),
            "there is no apiVersion": changed(lambda value: value.pop("apiVersion")),
            "there is no response": changed(lambda value: value.pop("response")),
            "v1beta1": changed(lambda value: value.update(apiVersion="admission.k8s.io/v1beta1")),
            "a patch": changed(lambda value: value["response"].update(patchType="JSONPatch", patch="W10=")),
            "HTML": raw(200, b"<html>hello</html>"), "nothing": raw(200), "400": raw(400, b"{}"),
            "429": raw(429, b"{}"), "500": raw(500, b"{}"), "a redirect": raw(307, b"", Location="/elsewhere"),
        }
        for policy in ("Fail", "Ignore"):
            self.webhook.answer = lambda request: review(request, allowed=True)
            with self.subTest(policy=policy):
                self.asked(policy)
                for name, answer in cases.items():
                    with self.subTest(name):
                        self.webhook.answer = answer
                        status, said, _ = self.tried("x")
                        if policy == "Ignore":
                            self.assertEqual(status, 201, said)
                        else:
                            self.assertEqual(status, 500, said)
                            self.assertIn(FAILED, said["message"])
                self.doCleanups()
                self.setUp()

    def test_without_an_answer_the_caller_waits(self):
        self.asked("Ignore", timeout=2)
        self.webhook.answer = lambda request: time.sleep(30)
        begin = time.monotonic()
        status, said, _ = self.tried("x")
        self.assertEqual(status, 201, said)
        self.assertGreater(time.monotonic() - begin, 1.8)

    def test_a_condition_that_fails(self):
        # Where the policy is Fail the request is refused, where it is Ignore the webhook is left out.
        broken = [{"name": "selected", "expression": SELECTED},
                  {"name": "broken", "expression": "object.metadata.annotations['none'] == 'x'"}]
        self.ask("Fail", conditions=broken)
        wait_for("the condition to fail", lambda: self.tried("x")[0] != 201)
        self.assertEqual(self.webhook.asked, [])
        self.server.merge(f"{CONFIGURATIONS}/answers", {"webhooks": [
            configuration("answers", self.webhook.port, self.plane.authority, RULES, "Ignore",
                          conditions=broken)["webhooks"][0]]}, user="admin")
        wait_for("the webhook to be left out", lambda: self.tried("x")[0] == 201)
        self.assertEqual(self.webhook.asked, [])

    def test_how_it_asks(self):
        self.asked()
        for _ in range(12):
            self.assertEqual(self.tried("x")[0], 201)
        ports = {port for port, *_ in self.webhook.heads}
        self.assertLess(len(ports), 12, "connections are kept")
        for _, version, path, headers in self.webhook.heads:
            self.assertEqual((version, path), ("HTTP/1.1", "/admit?timeout=5s"))
            self.assertIn("Content-Length", headers)

    def test_what_it_asks(self):
        self.asked()
        self.server.apply(f"{MAPS}/applied", config_map("applied", a="1"), manager="a-tool")
        self.server.apply(f"{MAPS}/applied", config_map("applied", a="2"), manager="a-tool")
        self.server.merge(f"{MAPS}/applied", {"data": {"a": "2"}}, user="admin")  # no change
        self.server.delete(f"{MAPS}/applied")
        made = self.server.create(MAPS, {**config_map(None), "metadata": {"generateName": "made-"}})
        self.addCleanup(self.server.delete, f"{MAPS}/{made['metadata']['name']}")
        created, updated, same, removed, generated = self.webhook.asked
        self.assertEqual([request["operation"] for request in self.webhook.asked],
                         ["CREATE", "UPDATE", "UPDATE", "DELETE", "CREATE"])
        self.assertEqual(created["options"]["fieldManager"], "a-tool")
        self.assertIsNone(created["oldObject"])
        self.assertEqual(updated["oldObject"]["data"], {"a": "1"})
        self.assertEqual(same["object"]["data"], same["oldObject"]["data"])
        self.assertIsNone(removed["object"])
        self.assertEqual(removed["oldObject"]["metadata"]["name"], "applied")
        self.assertTrue(generated["name"].startswith("made-"), generated["name"])
        self.assertFalse(created["dryRun"])

    def test_names_are_those_of_the_certificate(self):
        certificate, key = self.plane.authority.client("127.0.0.1", name="common-name")
        self.webhook.close()
        self.webhook = Webhook(certificate, key)
        self.addCleanup(self.webhook.close)
        self.ask("Fail")
        said = wait_for("it to be refused", lambda: self.tried("x")[1].get("message", ""))
        self.assertIn(FAILED, said)
        self.assertEqual(self.webhook.asked, [])

    def test_a_bundle_is_pem_and_an_address_has_no_query(self):
        self.ask(bundle=b"no certificate")
        said = wait_for("it to be refused", lambda: self.tried("x")[1].get("message", ""))
        self.assertIn(FAILED, said)
        value = configuration("answers", self.webhook.port, self.plane.authority, RULES)
        value["webhooks"][0]["clientConfig"]["url"] += "?a=b"
        with self.assertRaises(Refused) as refused:
            self.server.create(CONFIGURATIONS, value)
        self.assertIn("url", str(refused.exception))


if __name__ == "__main__":
    unittest.main()
