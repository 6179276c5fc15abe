"""Models for a real Triton, from a seed, that write down the requests which they get.

Each model echoes its inputs (output O0 is input I0), takes some milliseconds, and appends a line of
JSON for each request to a file of its name in the directory that FUZZ_LOG names.
"""
import random
from pathlib import Path

TYPES = ["BOOL", "UINT8", "UINT16", "UINT32", "UINT64", "INT8", "INT16", "INT32", "INT64", "FP16", "FP32", "FP64", "STRING"]

CODE = '''import hashlib, json, os, time
import numpy as np
import triton_python_backend_utils as pb


class TritonPythonModel:
    def initialize(self, args):
        self.config = json.loads(args["model_config"])
        self.log = os.path.join(os.environ["FUZZ_LOG"], args["model_name"])
        self.version = args["model_version"]
        self.decoupled = self.config.get("model_transaction_policy", {}).get("decoupled", False)
        self.sleep = int(self.config["parameters"]["sleep"]["string_value"]) / 1000
        self.refuses = "refuses" in self.config["parameters"]

    def note(self, r):
        inputs = {}
        for t in r.inputs():
            a = t.as_numpy()
            text = json.dumps(a.tolist(), default=lambda b: b.decode("latin-1"))
            lengths = [sorted({len(b) for b in a.flatten()})] if a.dtype == object else []
            inputs[t.name()] = [str(a.dtype), list(a.shape), text if len(text) < 80 else hashlib.sha256(text.encode()).hexdigest()[:12], *lengths]
        found = {"version": self.version, "inputs": inputs, "correlation": r.correlation_id(), "flags": r.flags(), "parameters": r.parameters(),
                 "outputs": sorted(r.requested_output_names())}
        with open(self.log, "a") as f:
            f.write(json.dumps(found) + "\\n")

    def answer(self, r, n=0):
        out = []
        for o in self.config["output"]:
            t = pb.get_input_tensor_by_name(r, o["name"].replace("O", "I"))
            if t is not None:
                a = t.as_numpy()
            else:
                batch = [r.inputs()[0].as_numpy().shape[0]] if int(self.config.get("max_batch_size", 0)) else []
                a = np.full(batch + [1 if int(d) < 0 else int(d) for d in o["dims"]], b"none" if o["data_type"] == "TYPE_STRING" else 0, pb.triton_string_to_numpy(o["data_type"]))
            out.append(pb.Tensor(o["name"], a))
        return pb.InferenceResponse(output_tensors=out)

    def execute(self, requests):
        time.sleep(self.sleep)
        out = []
        for r in requests:
            self.note(r)
            if self.refuses and int(pb.get_input_tensor_by_name(r, "I0").as_numpy().flatten()[0]) % 7 == 5:
                out.append(pb.InferenceResponse(error=pb.TritonError("no, said the model")))
                continue
            if not self.decoupled:
                out.append(self.answer(r))
                continue
            sender = r.get_response_sender()
            for i in range(int(pb.get_input_tensor_by_name(r, "I0").as_numpy().flatten()[0]) % 4):
                time.sleep(0.01)
                sender.send(self.answer(r, i))
            sender.send(flags=pb.TRITONSERVER_RESPONSE_COMPLETE_FINAL)
        return None if self.decoupled else out
'''


class Model:
    """What a grammar needs to know of a model."""

    def __init__(self, name: str, kind: str, inputs: list, batch: int):
        self.name, self.kind, self.inputs, self.batch = name, kind, inputs, batch  # inputs: (name, type, dims, optional)


def tensors(word: str, found: list, ragged: bool = False) -> str:
    def one(name: str, kind: str, dims: list, optional: bool) -> str:
        more = " optional: true" if optional and word == "input" else ""
        if dims == [-1] and ragged and word == "input":
            more += " allow_ragged_batch: true"
        return f'{{ name: "{name}" data_type: TYPE_{kind} dims: {dims}{more} }}'
    return f"{word} [ {', '.join(one(*t) for t in found)} ]\n"


def config(where: Path, model: Model, outputs: list, more: str, versions: tuple = (1,), code: str = CODE, sleep: int = 3) -> None:
    text = f'name: "{model.name}"\nmax_batch_size: {model.batch}\n' + tensors("input", model.inputs, ragged=model.batch == 8) + tensors("output", outputs) + more
    if code:
        text += f'backend: "python"\ninstance_group [ {{ count: 1 kind: KIND_CPU }} ]\nparameters {{ key: "sleep" value {{ string_value: "{sleep}" }} }}\n'
    for version in versions:
        place = where / model.name / str(version)
        place.mkdir(parents=True)
        if code:
            (place / "model.py").write_text(code)
    (where / model.name / "config.pbtxt").write_text(text)


def make(seed: int, where: Path) -> list:
    """Writes a repository of models and says what is in it."""
    rng = random.Random(seed)
    out = []

    def plain(name: str, kind: str = "plain", more: str = "", versions: tuple = (1,)) -> Model:
        inputs = [(f"I{i}", rng.choice(TYPES), rng.choice([[1], [4], [2, 3], [-1], [-1], [2, -1]]), i > 0 and rng.random() < 0.25) for i in range(rng.choice([1, 1, 2, 3]))]
        model = Model(name, kind, inputs, rng.choice([0, 0, 4, 8]))
        if model.batch and rng.random() < 0.4 and not more:
            more = "dynamic_batching { max_queue_delay_microseconds: 500 }\n"
        config(where, model, [("O" + n[1:], t, d, False) for n, t, d, _ in inputs], more, versions, sleep=rng.choice([1, 3, 8]))
        return model

    out += [plain(f"plain{i}") for i in range(4)]
    out.append(plain("versions", "versions", "version_policy { all {} }\n", (1, 2)))
    out.append(plain("cached", "cached", "response_cache { enable: true }\n"))
    flow = [("I0", rng.choice(["FP32", "INT32", "STRING"]), [4], False)]
    back = [("O0", flow[0][1], [4], False)]
    batch = rng.choice([0, 4])
    for name, more in (("first", ""), ("second", "response_cache { enable: true }\n" if rng.random() < 0.5 else "")):
        out.append(Model(name, "plain", flow, batch))
        config(where, out[-1], back, more, sleep=rng.choice([1, 4]))
    for name, steps in (("ensemble", ("first", "second")), ("nested", ("ensemble", "first"))):
        at = ["I0", *(f"t{i}" for i in range(len(steps) - 1)), "O0"]
        text = ", ".join(f'{{ model_name: "{m}" model_version: -1 input_map {{ key: "I0" value: "{at[i]}" }} output_map {{ key: "O0" value: "{at[i + 1]}" }} }}' for i, m in enumerate(steps))
        out.append(Model(name, "ensemble", flow, batch))
        cached = "response_cache { enable: true }\n" if name == "ensemble" and rng.random() < 0.3 else ""
        config(where, out[-1], back, f'platform: "ensemble"\n{cached}ensemble_scheduling {{ step [ {text} ] }}\n', code="")
    count = [("I0", "INT32", [1], False)]
    out.append(Model("stream", "stream", count, 0))
    config(where, out[-1], [("O0", "INT32", [1], False)], "model_transaction_policy { decoupled: true }\n", sleep=2)
    control = ", ".join(f'{{ name: "{n}" control [ {{ kind: CONTROL_SEQUENCE_{n} {"data_type: TYPE_UINT64" if n == "CORRID" else "int32_false_true: [ 0, 1 ]"} }} ] }}'
                        for n in ("START", "END", "READY", "CORRID") if n == "START" or rng.random() < 0.7)
    way = rng.choice(["direct { }", "oldest { max_candidate_sequences: 8 }"])
    out.append(Model("sequence", "sequence", count, rng.choice([0, 4])))
    config(where, out[-1], [("O0", "INT32", [1], False)], f"sequence_batching {{ max_sequence_idle_microseconds: 5000000 {way} control_input [ {control} ] }}\n", sleep=2)
    return out + rarer(random.Random(f"{seed} rarer"), where, {m.name: m for m in out})


def ensemble(where: Path, model: Model, outputs: list, steps: list, more: str = "") -> Model:
    """Writes a model whose steps are (model, tensor of the ensemble that it takes, tensor that it makes)."""
    text = ", ".join(f'{{ model_name: "{m}" model_version: -1 input_map {{ key: "I0" value: "{a}" }} output_map {{ key: "O0" value: "{b}" }} }}' for m, a, b in steps)
    config(where, model, outputs, f'platform: "ensemble"\n{more}ensemble_scheduling {{ step [ {text} ] }}\n', code="")
    return model


def rarer(rng: random.Random, where: Path, known: dict) -> list:
    """Models that few servers have: of three levels, with branches, of sequences and streams; that refuse some
    requests, have outputs of their own, or versions that are not loaded."""
    first, stream, sequence = known["first"], known["stream"], known["sequence"]
    one = [("O0", first.inputs[0][1], [4], False)]
    out = [ensemble(where, Model("deep", "ensemble", first.inputs, first.batch), one, [("nested", "I0", "t"), ("second", "t", "O0")]),
           ensemble(where, Model("fork", "ensemble", first.inputs, first.batch), [*one, ("O1", *one[0][1:])], [("first", "I0", "O0"), ("second", "I0", "O1")]),
           ensemble(where, Model("stored", "ensemble", first.inputs, first.batch), one, [("first", "I0", "t"), ("second", "t", "O0")], "response_cache { enable: true }\n"),
           ensemble(where, Model("flow", "stream", stream.inputs, stream.batch), [("O0", "INT32", [1], False)], [("stream", "I0", "O0")]),
           ensemble(where, Model("turns", "sequence", sequence.inputs, sequence.batch), [("O0", "INT32", [1], False)], [("sequence", "I0", "O0")])]
    out.append(Model("refuses", "refuses", [("I0", "INT32", [1], False)], rng.choice([0, 4])))
    config(where, out[-1], [("O0", "INT32", [1], False)], 'parameters { key: "refuses" value { string_value: "some" } }\n', sleep=2)
    out.append(Model("mixed", "plain", [("I0", rng.choice(TYPES), [2], False), ("I5", rng.choice(TYPES), [1], True)], rng.choice([0, 4])))
    config(where, out[-1], [("O0", out[-1].inputs[0][1], [2], False), ("O1", rng.choice(TYPES), [3], False), ("O2", "STRING", [1], False)], "", sleep=2)
    policy = rng.choice(["specific { versions: [ 3 ] }", "latest { num_versions: 1 }", "latest { num_versions: 2 }"])
    out.append(Model("fixed", "versions", [("I0", "FP32", [2], False)], 0))
    config(where, out[-1], [("O0", "FP32", [2], False)], f"version_policy {{ {policy} }}\n", (1, 2, 3), sleep=2)
    out.append(Model("replies", "stream", [("I0", "INT32", [1], False), ("I1", "STRING", [1], rng.random() < 0.5)], 0))
    config(where, out[-1], [("O0", "INT32", [1], False), ("O1", "STRING", [1], False)], "model_transaction_policy { decoupled: true }\n", sleep=2)
    kind, values = rng.choice([("fp32", "0, 1"), ("bool", "false, true")])
    control = ", ".join(f'{{ name: "{n}" control [ {{ kind: CONTROL_SEQUENCE_{n} {"data_type: " + rng.choice(["TYPE_INT64", "TYPE_UINT32", "TYPE_INT32"]) if n == "CORRID" else f"{kind}_false_true: [ {values} ]"} }} ] }}'
                        for n in ("START", "END", "READY", "CORRID") if rng.random() < 0.7)
    way = rng.choice(["direct { }", "oldest { max_candidate_sequences: 4 preserve_ordering: true }"])
    out.append(Model("dialog", "sequence", [("I0", "STRING", [1], False)], rng.choice([0, 4])))
    config(where, out[-1], [("O0", "STRING", [1], False)], f"sequence_batching {{ max_sequence_idle_microseconds: 5000000 {way} control_input [ {control} ] }}\n", sleep=2)
    return out
