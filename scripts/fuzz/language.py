"""Models like TensorRT-LLM's for a real Triton: one that streams and one that answers whole."""
from pathlib import Path

from models import Model, config

CODE = '''import json, os, random, time
import numpy as np
import triton_python_backend_utils as pb

WORDS = "the a of light under no river seven bright and slow house wind".split()


class TritonPythonModel:
    def initialize(self, args):
        self.config = json.loads(args["model_config"])
        self.log = os.path.join(os.environ["FUZZ_LOG"], args["model_name"])
        self.decoupled = self.config.get("model_transaction_policy", {}).get("decoupled", False)
        self.seed = self.config["parameters"]["sleep"]["string_value"]

    def pieces(self, r):
        if self.config["name"] == "tensorrt_llm":
            return []
        inputs = {t.name(): t.as_numpy().flatten().tolist() for t in r.inputs()}
        text = inputs["text_input"][0].decode()
        inputs["text_input"] = [text]
        with open(self.log, "a") as f:
            f.write(json.dumps(inputs) + "\\n")
        rng = random.Random(self.seed + text)
        n = 1 + (len(text.split()) * 3 + rng.randrange(3)) % 9
        kind = rng.random()
        out = [" " * (i > 0) + rng.choice(WORDS) for i in range(n)]
        if kind < 0.1:
            out[len(out) // 2] = ""
        elif kind < 0.15:
            out = [""]
        elif "stop" in text:
            out[len(out) // 2] = "</s>"
        elif "fail" in text:
            raise pb.TritonModelException("no, said the model")
        return out

    def execute(self, requests):
        out = []
        for r in requests:
            found = self.pieces(r)
            answer = lambda text: pb.InferenceResponse(output_tensors=[pb.Tensor("text_output", np.array([text.encode()], np.object_))])
            if not self.decoupled:
                time.sleep(0.01 * len(found))
                out.append(answer("".join(found)))
                continue
            sender = r.get_response_sender()
            for i, text in enumerate(found):
                time.sleep(0.02)
                sender.send(answer(text), flags=pb.TRITONSERVER_RESPONSE_COMPLETE_FINAL if i == len(found) - 1 else 0)
            if not found:
                sender.send(flags=pb.TRITONSERVER_RESPONSE_COMPLETE_FINAL)
        return None if self.decoupled else out
'''

ASKED = [("text_input", "STRING", [1], False), ("max_tokens", "INT32", [1], False)] + [
    (n, t, [1], True) for n, t in (("top_k", "INT32"), ("top_p", "FP32"), ("temperature", "FP32"), ("length_penalty", "FP32"), ("repetition_penalty", "FP32"),
                                   ("random_seed", "UINT64"), ("beam_width", "INT32"), ("stream", "BOOL"))]
STOP = [("input_ids", "INT32", [-1], True), ("input_lengths", "INT32", [1], True), ("request_output_len", "INT32", [1], True), ("stop", "BOOL", [1], True)]


def make(seed: int, where: Path) -> list:
    said = [("text_output", "STRING", [1], False)]
    streamed = "model_transaction_policy { decoupled: true }\n"
    out = [Model("ensemble", "language", ASKED, 8), Model("whole", "whole", ASKED, 8), Model("tensorrt_llm", "stop", STOP, 8)]
    for model in out:
        config(where, model, said, "" if model.kind == "whole" else streamed, code=CODE, sleep=seed)
    return out
