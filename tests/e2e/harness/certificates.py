"""A throw-away certificate authority, made with the openssl program."""

import os
import shutil
import subprocess
import time


def _openssl(*arguments):
    done = subprocess.run(["openssl", *map(str, arguments)], capture_output=True, text=True)
    assert done.returncode == 0, f"openssl {arguments[0]}: {done.stderr}"


class Authority:
    """Signs server and client certificates below `directory`."""

    def __init__(self, directory, name="fairlead-test-ca"):
        self.directory = directory
        self.certificate = directory / f"{name}.crt"
        self.key = directory / f"{name}.key"
        _openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
                 "-days", "2", "-subj", f"/CN={name}", "-keyout", self.key, "-out", self.certificate)

    def server(self, name="server"):
        """Certificate and key for 127.0.0.1 and localhost."""
        return self._sign(name, f"/CN={name}", "serverAuth", "subjectAltName=IP:127.0.0.1,DNS:localhost")

    def member(self, name):
        """The same for an etcd member: its gateway is a client of itself."""
        return self._sign(name, f"/CN={name}", "serverAuth,clientAuth", "subjectAltName=IP:127.0.0.1,DNS:localhost")

    def client(self, user, group=None, name=None, expired=False):
        """Certificate and key that an API server knows as `user` of `group`."""
        subject = (f"/O={group}" if group else "") + f"/CN={user}"
        return self._sign(name or f"client-{user}", subject, "clientAuth", None, expired)

    def client_for(self, seconds, user, group=None, name=None):
        """The same, valid for so many seconds from now: (certificate, key) under the same names each time."""
        name = name or f"client-{user}"
        certificate, key = self.directory / f"{name}.crt", self.directory / f"{name}.key"
        request, folder = self.directory / f"{name}.csr", self.directory / "issued"
        folder.mkdir(exist_ok=True)
        for path, text in ((folder / "index", ""), (folder / "index.attr", "unique_subject = no\n")):
            if not path.exists():
                path.write_text(text)
        settings = folder / "settings"
        settings.write_text(
            f"[ca]\ndefault_ca = it\n[it]\ndatabase = {folder}/index\nnew_certs_dir = {folder}\nrand_serial = yes\n"
            f"default_md = sha256\npolicy = any\nx509_extensions = extensions\n[any]\ncommonName = supplied\n"
            "organizationName = optional\n[extensions]\nbasicConstraints = CA:FALSE\nkeyUsage = digitalSignature\n"
            "extendedKeyUsage = clientAuth\n")
        subject = (f"/O={group}" if group else "") + f"/CN={user}"
        fresh = self.directory / f"{name}.key.new"
        _openssl("req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
                 "-subj", subject, "-keyout", fresh, "-out", request)
        now = time.time()
        begin, end = (time.strftime("%Y%m%d%H%M%SZ", time.gmtime(at)) for at in (now - 60, now + seconds))
        _openssl("ca", "-batch", "-config", settings, "-in", request, "-cert", self.certificate, "-keyfile", self.key,
                 "-startdate", begin, "-enddate", end, "-notext", "-out", certificate)
        fresh.rename(key)
        return certificate, key

    def signing_key(self, name="service-account"):
        """A key pair for service account tokens: (private key, public key)."""
        private, public = self.directory / f"{name}.key", self.directory / f"{name}.pub"
        _openssl("genrsa", "-out", private, "2048")
        _openssl("rsa", "-in", private, "-pubout", "-out", public)
        return private, public

    def _sign(self, name, subject, usage, names, expired=False):
        certificate, key = self.directory / f"{name}.crt", self.directory / f"{name}.key"
        request, extensions = self.directory / f"{name}.csr", self.directory / f"{name}.ext"
        extensions.write_text("basicConstraints=CA:FALSE\nkeyUsage=digitalSignature\n"
                              f"extendedKeyUsage={usage}\n" + (names or "") + "\n")
        _openssl("req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
                 "-subj", subject, "-keyout", key, "-out", request)
        _openssl("x509", "-req", "-in", request, "-CA", self.certificate, "-CAkey", self.key,
                 "-CAcreateserial", "-days", "-1" if expired else "2", "-extfile", extensions,
                 "-out", certificate)
        return certificate, key


class MountedSecret:
    """A folder as the kubelet mounts a Secret: the files lead through `..data` to one version."""

    def __init__(self, folder):
        self.folder = folder
        self.versions = 0

    def put(self, certificate, key):
        self.versions += 1
        version = self.folder / f"..version-{self.versions}"
        version.mkdir(parents=True)
        shutil.copy(certificate, version / "tls.crt")
        shutil.copy(key, version / "tls.key")
        fresh = self.folder / "..data_tmp"
        fresh.symlink_to(version.name)
        fresh.rename(self.folder / "..data")
        for name in ("tls.crt", "tls.key"):
            if not (self.folder / name).is_symlink():
                (self.folder / name).symlink_to(os.path.join("..data", name))
