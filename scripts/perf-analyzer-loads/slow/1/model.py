"""Takes 50 ms, and writes down what came: when, and its input."""
import os
import time

import triton_python_backend_utils as pb_utils


class TritonPythonModel:
    def initialize(self, args):
        self.log = open(os.path.join(os.environ["CAME"], "slow.log"), "a", buffering=1)

    def execute(self, requests):
        answers = []
        for request in requests:
            value = pb_utils.get_input_tensor_by_name(request, "INPUT").as_numpy()
            print(time.time(), value[0], file=self.log)
            time.sleep(0.05)
            answers.append(pb_utils.InferenceResponse(output_tensors=[pb_utils.Tensor("OUTPUT", value)]))
        return answers
