"""A word for each token id."""
import numpy as np
import triton_python_backend_utils as pb_utils

WORDS = "one two three four five six seven eight nine ten".split()


class TritonPythonModel:
    def execute(self, requests):
        answers = []
        for request in requests:
            tokens = pb_utils.get_input_tensor_by_name(request, "TOKENS").as_numpy()
            texts = [["".join(" " + WORDS[i % len(WORDS)] for i in row).encode()] for row in tokens]
            answers.append(pb_utils.InferenceResponse(output_tensors=[
                pb_utils.Tensor("OUTPUT", np.array(texts, dtype=object))]))
        return answers
