"""Gives every input IN_x that it gets back as OUT_x."""
import triton_python_backend_utils as pb_utils


class TritonPythonModel:
    def execute(self, requests):
        return [pb_utils.InferenceResponse(output_tensors=[
            pb_utils.Tensor("OUT" + t.name()[2:], t.as_numpy()) for t in request.inputs()]) for request in requests]
