"""Token ids 0, 1, 2 ... on the clock of config.pbtxt.

A request with an input of 13 tokens fails after its second token: the one way to
ask for a failure in mid-stream that also goes through an ensemble.
"""
import asyncio
import json
import threading
import time

import numpy as np
import triton_python_backend_utils as pb_utils

FINAL = pb_utils.TRITONSERVER_RESPONSE_COMPLETE_FINAL
UNLUCKY = 13


def value(request, name, default):
    tensor = pb_utils.get_input_tensor_by_name(request, name)
    return default if tensor is None else tensor.as_numpy().flatten()[0]


def response(ids):
    return pb_utils.InferenceResponse(output_tensors=[
        pb_utils.Tensor("output_ids", np.array([ids], np.int32)),
        pb_utils.Tensor("sequence_length", np.array([[len(ids)]], np.int32))])


class TritonPythonModel:
    def initialize(self, args):
        parameters = json.loads(args["model_config"])["parameters"]
        self.ttft, self.itl = (float(parameters[k]["string_value"]) / 1e3 for k in ("ttft_ms", "itl_ms"))
        self.loop = asyncio.new_event_loop()
        self.thread = threading.Thread(target=self.loop.run_forever, daemon=True)
        self.thread.start()

    def execute(self, requests):
        for request in requests:
            asyncio.run_coroutine_threadsafe(self.answer(request, time.monotonic()), self.loop)
        return None

    async def answer(self, request, began):
        sender = request.get_response_sender()
        try:
            stream = bool(value(request, "streaming", False))
            unlucky = int(value(request, "input_lengths", 0)) == UNLUCKY
            ids = []
            for i in range(int(value(request, "request_output_len", 0))):
                await asyncio.sleep(max(0, began + self.ttft + i * self.itl - time.monotonic()))
                if unlucky and i == 2:
                    raise RuntimeError("an input of %d tokens fails after 2" % UNLUCKY)
                ids.append(i)
                if stream:
                    sender.send(response([i]))
            if not stream:
                sender.send(response(ids))
            sender.send(flags=FINAL)
        except Exception as e:
            sender.send(pb_utils.InferenceResponse(error=pb_utils.TritonError(str(e))), flags=FINAL)

    def finalize(self):
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join(5)
