"""schema/crd against the real CRDs: what we name exists there, and says the same.

Of every version that we serve: each path of ours is one of theirs, with the same type, list type, keys, default and
limits. A part that we copy through whole (x-kubernetes-preserve-unknown-fields) only has to exist there. Where the
real CRDs cannot be had the comparison is skipped by name.
"""

import os
import pathlib
import unittest

from model_server import ROOT, ModelServer

# Our file -> the real one, in $FAIRLEAD_CRDS or ../shared/crds.
KUEUE = ("admissionchecks", "clusterqueues", "cohorts", "localqueues", "multikueueclusters", "multikueueconfigs",
         "resourceflavors", "topologies", "workloads")
REAL = {f"kueue.x-k8s.io_{name}.yaml": f"kueue-v0.19.2/{name}.yaml" for name in KUEUE}
REAL |= {f"cluster.open-cluster-management.io_{name}.yaml": f"ocm-v1.3.0/{name}.yaml"
         for name in ("managedclusters", "placements", "placementdecisions", "addonplacementscores")}
REAL |= {"work.open-cluster-management.io_manifestworks.yaml": "ocm-v1.3.0/manifestworks.yaml",
         "multicluster.x-k8s.io_clusterprofiles.yaml": "cluster-inventory-v0.1.2/clusterprofiles.yaml",
         "control.kubestellar.io_bindingpolicies.yaml": "kubestellar-v0.30.0/bindingpolicies.yaml"}
# Proposed, built elsewhere or our own, without a published CRD: the contract is the design, the examples are tests.
OURS_ALONE = {"galaxy.kubestellar.io_clusterresourceclaims.yaml", "galaxy.kubestellar.io_clustermetrics.yaml",
              "tenancy.x-k8s.io_virtualclusters.yaml", "fairlead.io_logcommits.yaml"}
OURS_ALONE |= {f"dra.fairlead.io_fleet{name}.yaml"
               for name in ("resourceclasses", "resourceclaims", "resourceclaimtemplates", "schedulings")}

FACTS = ("type", "format", "nullable", "default", "enum", "pattern", "minimum", "maximum", "minLength", "maxLength",
         "minItems", "maxItems", "maxProperties", "x-kubernetes-list-type", "x-kubernetes-list-map-keys",
         "x-kubernetes-map-type", "x-kubernetes-int-or-string", "x-kubernetes-embedded-resource")


def differences(ours, real, path):
    """What `ours` says otherwise than `real`, one line each."""
    if ours.get("x-kubernetes-preserve-unknown-fields") and not real.get("x-kubernetes-preserve-unknown-fields"):
        return []  # copied through whole; that the path exists was checked on the way here
    found = [f"{path}: {fact} is {ours.get(fact)!r}, really {real.get(fact)!r}"
             for fact in FACTS if ours.get(fact) != real.get(fact)]
    known = set(ours.get("properties", {}))
    required = [name for name in real.get("required", []) if name in known]
    if sorted(ours.get("required", [])) != sorted(required):
        found.append(f"{path}: required is {ours.get('required')}, really {required}")
    for name, child in ours.get("properties", {}).items():
        if name not in real.get("properties", {}):
            found.append(f"{path}.{name}: there is no such field")
        else:
            found += differences(child, real["properties"][name], f"{path}.{name}")
    for key in ("items", "additionalProperties"):
        if isinstance(ours.get(key), dict):
            if not isinstance(real.get(key), dict):
                found.append(f"{path}: {key} is not in the real schema")
            else:
                found += differences(ours[key], real[key], f"{path}[]")
    return found


def real_folder():
    folder = pathlib.Path(os.environ.get("FAIRLEAD_CRDS") or ROOT.parent / "shared/crds")
    return folder if folder.is_dir() else None


class Crds(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.model = ModelServer().__enter__()
        cls.addClassCleanup(cls.model.__exit__)
        cls.files = sorted((ROOT / "schema/crd").glob("*.yaml"))

    def document(self, path, rename=None):
        text = path.read_text()
        # A name of its own, or the model says that the kind is there already.
        first = text.index("\n  name: ") + len("\n  name: ")
        return self.model.as_json(text[:first] + "x." + text[first:])

    def test_every_file_has_something_to_be_compared_with(self):
        self.assertEqual({path.name for path in self.files} - OURS_ALONE - set(REAL), set())

    def test_what_we_name_is_what_it_really_is(self):
        folder = real_folder()
        compared = 0
        for path in self.files:
            if path.name in OURS_ALONE:
                continue
            with self.subTest(path.name):
                if folder is None or not (folder / REAL[path.name]).is_file():
                    self.skipTest(f"no real CRD of {path.name}")
                ours, real = self.document(path)["spec"], self.document(folder / REAL[path.name])["spec"]
                self.assertEqual((ours["group"], ours["scope"], ours["names"]),
                                 (real["group"], real["scope"], real["names"]))
                versions = {version["name"]: version for version in real["versions"]}
                for version in ours["versions"]:
                    theirs = versions[version["name"]]
                    self.assertEqual(version.get("subresources"), theirs.get("subresources"))
                    self.assertEqual(version["storage"], theirs["storage"])
                    self.assertEqual(differences(version["schema"]["openAPIV3Schema"],
                                                 theirs["schema"]["openAPIV3Schema"], version["name"]), [])
                    compared += 1
        self.assertTrue(folder is None or compared > 0)

    def test_a_difference_is_found(self):
        real = {"type": "object", "properties": {"a": {"type": "string", "maxLength": 3}}}
        self.assertEqual(len(differences({"type": "object", "properties": {"a": {"type": "string"}}}, real, "v")), 1)
        self.assertEqual(len(differences({"type": "object", "properties": {"b": {"type": "string"}}}, real, "v")), 1)


if __name__ == "__main__":
    unittest.main()
