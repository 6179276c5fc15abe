#!/usr/bin/env python3
"""Takes from Kubernetes' API description what deploy/'s tests check against.

Every API server has the description; this one is of 1.36.3:
    kubectl get --raw /openapi/v2 > description.json
    scripts/kubernetes-schema.py description.json > deploy/testdata/kubernetes.schema.json

Only names and types are taken. Keys that the description does not have are made errors.
"""
import json
import sys

KINDS = ["batch.v1.Job", "core.v1.ConfigMap", "core.v1.Secret", "core.v1.PersistentVolumeClaim", "core.v1.Service"]
PREFIX = "io.k8s.api."
FREE = {"type": ["string", "number"]}  # quantities, and integers or strings

description = json.load(open(sys.argv[1]))["definitions"]
taken = {}


def short(reference):
    return reference.rsplit("/", 1)[-1]


def take(name):
    if name in taken:
        return
    taken[name] = {}
    taken[name] = schema(description[name], name)


def schema(d, name=""):
    if "$ref" in d:
        take(short(d["$ref"]))
        return {"$ref": "#/$defs/" + short(d["$ref"])}
    if name.endswith((".Quantity", ".IntOrString")):
        return FREE
    out = {k: d[k] for k in ("type", "required", "enum") if k in d}
    if "items" in d:
        out["items"] = schema(d["items"])
    if "properties" in d:
        out["properties"] = {k: schema(v) for k, v in d["properties"].items()}
        out["additionalProperties"] = False
    elif isinstance(d.get("additionalProperties"), dict):
        out["additionalProperties"] = schema(d["additionalProperties"])
    return out


kinds = []
for kind in KINDS:
    take(PREFIX + kind)
    group, version, name = kind.split(".")
    api = version if group == "core" else group + "/" + version
    kinds.append({"if": {"properties": {"kind": {"const": name}}},
                  "then": {"$ref": "#/$defs/" + PREFIX + kind, "properties": {"apiVersion": {"const": api}}}})
json.dump({"$schema": "https://json-schema.org/draft/2020-12/schema", "required": ["apiVersion", "kind", "metadata"],
           "properties": {"kind": {"enum": [k.rsplit(".", 1)[1] for k in KINDS]}}, "allOf": kinds, "$defs": dict(sorted(taken.items()))},
          sys.stdout, separators=(",", ":"), sort_keys=True)
print()
