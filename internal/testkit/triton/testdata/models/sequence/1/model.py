"""OUTPUT is the sum of INPUT over a sequence so far."""
import numpy as np
import triton_python_backend_utils as pb_utils


class TritonPythonModel:
    def initialize(self, args):
        self.sums = {}

    def execute(self, requests):
        answers = []
        for request in requests:
            def value(name):
                return int(pb_utils.get_input_tensor_by_name(request, name).as_numpy().flatten()[0])

            key = value("CORRID")
            if not value("START") and key not in self.sums:
                answers.append(pb_utils.InferenceResponse(error=pb_utils.TritonError("sequence %d has not started" % key)))
                continue
            total = value("INPUT") + (0 if value("START") else self.sums[key])
            self.sums[key] = total
            if value("END"):
                del self.sums[key]
            answers.append(pb_utils.InferenceResponse(output_tensors=[
                pb_utils.Tensor("OUTPUT", np.array([[total]], np.int32))]))
        return answers
