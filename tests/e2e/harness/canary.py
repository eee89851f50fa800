"""A string that is in every secret of the suite, and must appear nowhere that Fairlead writes.

Tokens, kubeconfigs, Secrets, answers of credential plugins and the program's environment hold it; private keys are
looked for as well. What is searched: every file of the data directory as it is (blocks may be compressed), the log
and what can be exported of it as text, metrics, diagnostics.
"""

import base64
import pathlib
import secrets

from .program import fairlead

CANARY = "fairleadcanary" + secrets.token_hex(12)


def in_base64(text):
    """What base64 of anything that holds `text` must hold, at each of the three alignments."""
    found = []
    for before in range(3):
        padded = b"\0" * before + text.encode()
        whole = padded[:len(padded) // 3 * 3]
        # The first and last characters depend on the text around it.
        found.append(base64.b64encode(whole).decode()[4 if before else 0:])
    return found


def forbidden(directory):
    """Every text that gives a secret of `directory` (a control plane's) away."""
    keys = []
    for path in pathlib.Path(directory).glob("**/*.key"):
        keys += [line for line in path.read_text(errors="replace").splitlines() if len(line) >= 48][:2]
    return [CANARY, *in_base64(CANARY), *keys]


def texts_of(data):
    """(name, bytes) of everything that can be read from the data directory `data`."""
    for path in sorted(pathlib.Path(data).glob("**/*")):
        if path.is_file():
            try:
                yield str(path), path.read_bytes()
            except OSError:
                continue  # a running hub has put it away
    if fairlead("log", "verify", "--data", data, timeout=300).returncode != 0:
        return  # a log that a test damaged, or none
    exported = pathlib.Path(str(data) + ".exported")
    for command in (("log", "cat", "--data", data), ("log", "cat", "--raw", "--data", data),
                    ("log", "export", exported, "--data", data), ("log", "cat", "--bundle", exported)):
        done = fairlead(*command, timeout=300)
        assert done.returncode == 0, f"{command}: {done.stderr}"
        yield f"`fairlead {' '.join(map(str, command[:-2]))}`", done.stdout.encode()
    yield "the exported file", exported.read_bytes()
    exported.unlink()


def check_absent(texts, secrets_):
    """Fails naming the first text that holds a secret; never prints it."""
    for name, content in texts:
        for number, secret in enumerate(secrets_):
            assert secret.encode() not in content, f"a secret (number {number}) is in {name}"
