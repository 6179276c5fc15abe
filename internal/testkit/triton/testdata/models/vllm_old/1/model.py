"""A language model in the shape of the first vLLM example.

It answers from a thread for each request. Unless SAMPLING_PARAMETERS says otherwise, the
answer has 16 tokens, 5 ms to the first and 1 ms between two, and the prompt before the first.
"""
import json
import threading
import time

import numpy as np
import triton_python_backend_utils as pb_utils

WORDS = "one two three four five six seven eight nine ten".split()
FINAL = pb_utils.TRITONSERVER_RESPONSE_COMPLETE_FINAL


def text_of(request, name, default):
    tensor = pb_utils.get_input_tensor_by_name(request, name)
    return default if tensor is None else tensor.as_numpy().flatten()[0].decode()


def answer(sender, prompt, stream, knobs):
    words = []
    time.sleep(float(knobs.get("ttft_ms", 5)) / 1e3)
    for i in range(int(knobs.get("max_tokens", 16))):
        if i > 0:
            time.sleep(float(knobs.get("itl_ms", 1)) / 1e3)
        words.append(" " + WORDS[i % len(WORDS)])
        if stream:
            sender.send(response((prompt if i == 0 else "") + words[i]))
    if not stream:
        sender.send(response(prompt + "".join(words)))
    sender.send(flags=FINAL)


def response(text):
    return pb_utils.InferenceResponse(output_tensors=[
        pb_utils.Tensor("TEXT", np.array([text.encode()], dtype=object))])


class TritonPythonModel:
    def execute(self, requests):
        for request in requests:
            stream = bool(pb_utils.get_input_tensor_by_name(request, "STREAM").as_numpy().flatten()[0])
            knobs = json.loads(text_of(request, "SAMPLING_PARAMETERS", "{}") or "{}")
            threading.Thread(target=answer, daemon=True, args=(
                request.get_response_sender(), text_of(request, "PROMPT", ""), stream, knobs)).start()
        return None
