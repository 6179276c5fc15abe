"""A language model with a known clock, in the shape of the vLLM backend.

A request sets its own clock through the JSON of sampling_parameters:

  max_tokens        how many tokens to answer with (16)
  ttft_ms, itl_ms   when the first comes, and each later one after it (5, 1)
  tokens_per_chunk  how many of them one response holds (1)
  fail_after        an error in place of this token, counted from 0 (never)
  echo              the prompt before the first token (as exclude_input_in_output says)
"""
import asyncio
import json
import threading
import time

import numpy as np
import triton_python_backend_utils as pb_utils

WORDS = "one two three four five six seven eight nine ten".split()
FINAL = pb_utils.TRITONSERVER_RESPONSE_COMPLETE_FINAL


def value(request, name, default):
    """The first element of an input, or a default."""
    tensor = pb_utils.get_input_tensor_by_name(request, name)
    if tensor is None:
        return default
    v = tensor.as_numpy().flatten()[0]
    return v.decode() if isinstance(v, bytes) else v


class Wish:
    """What one request asks for."""

    def __init__(self, request):
        knobs = json.loads(value(request, "sampling_parameters", "") or "{}")
        self.text = value(request, "text_input", "")
        self.stream = bool(value(request, "stream", False))
        self.tokens = int(knobs.get("max_tokens", 16))
        self.ttft = float(knobs.get("ttft_ms", 5)) / 1e3
        self.itl = float(knobs.get("itl_ms", 1)) / 1e3
        self.chunk = max(1, int(knobs.get("tokens_per_chunk", 1)))
        self.fail_after = int(knobs.get("fail_after", -1))
        self.echo = bool(knobs.get("echo", not value(request, "exclude_input_in_output", self.stream)))
        self.returns = {name: bool(value(request, "return_" + name, False))
                        for name in ("finish_reason", "num_input_tokens", "num_output_tokens")}


class TritonPythonModel:
    def initialize(self, args):
        self.under_way = 0
        self.idle = threading.Condition()
        self.loop = asyncio.new_event_loop()
        self.thread = threading.Thread(target=self.loop.run_forever, daemon=True)
        self.thread.start()

    def execute(self, requests):
        for request in requests:
            with self.idle:
                self.under_way += 1
            asyncio.run_coroutine_threadsafe(self.answer(request, time.monotonic()), self.loop)
        return None

    async def answer(self, request, began):
        sender = request.get_response_sender()
        try:
            await self.generate(request, sender, Wish(request), began)
            sender.send(flags=FINAL)
        except Exception as e:
            sender.send(pb_utils.InferenceResponse(error=pb_utils.TritonError(str(e))), flags=FINAL)
        finally:
            with self.idle:
                self.under_way -= 1
                self.idle.notify_all()

    async def generate(self, request, sender, wish, began):
        words, sent = [], 0
        for i in range(wish.tokens):
            wait = began + wish.ttft + i * wish.itl - time.monotonic()
            await asyncio.sleep(max(0, wait))
            if request.is_cancelled():
                return
            if i == wish.fail_after:
                raise RuntimeError("asked to fail after %d tokens" % i)
            words.append(" " + WORDS[i % len(WORDS)])
            last = i == wish.tokens - 1
            if last or wish.stream and len(words) - sent == wish.chunk:
                text = "".join(words[sent:])
                if sent == 0 and wish.echo:
                    text = wish.text + text
                sender.send(self.response(wish, text, len(words) - sent, last))
                sent = len(words)

    def response(self, wish, text, tokens, last):
        outputs = [pb_utils.Tensor("text_output", np.array([text.encode()], dtype=object))]
        for name, array in (
            ("finish_reason", np.array([b"length" if last else b"None"], dtype=object)),
            ("num_input_tokens", np.array([len(wish.text.split())], dtype=np.uint32)),
            ("num_output_tokens", np.array([tokens], dtype=np.uint32)),
        ):
            if wish.returns[name]:
                outputs.append(pb_utils.Tensor(name, array))
        return pb_utils.InferenceResponse(output_tensors=outputs)

    def finalize(self):
        with self.idle:
            self.idle.wait_for(lambda: self.under_way == 0, timeout=10)
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join(5)
