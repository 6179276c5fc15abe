#!/usr/bin/env python3
"""conformance-sdks.py PROGRAM: the real SDKs of OpenAI, Anthropic, Cohere and Triton against the mock.

Every object that an SDK hands over is validated against the SDK's own types, which it does not do itself, and what it
says of tokens is held against the mock's truth file. Runs in the environment that `scripts/peers.sh sdks` makes.
"""
import io
import json
import subprocess
import sys
import tempfile
import wave
from pathlib import Path

import anthropic
import cohere
import numpy as np
import openai
import tritonclient.grpc as triton_grpc
import tritonclient.http as triton_http
from pydantic import BaseModel

MODEL, HELLO = "mock", [{"role": "user", "content": "say hello to all"}]
PERSON = {"type": "object", "properties": {"name": {"type": "string"}, "age": {"type": "integer", "minimum": 18}}, "required": ["name", "age"]}
TOOL = {"name": "look_up", "description": "Looks something up.", "parameters": {"type": "object", "properties": {"text": {"type": "string"}}}}


class Person(BaseModel):
    name: str
    age: int


def valid(value):
    """The value, which has to be what its type says: a field of another type, or none, is an error."""
    type(value).model_validate_json(value.model_dump_json(warnings="error", exclude_unset=True))
    return value


def same(what, got, want):
    if got != want:
        raise AssertionError(f"{what}: {got!r}, want {want!r}")


def words(text):
    return len(text.split())


def sound(seconds):
    out = io.BytesIO()
    with wave.open(out, "wb") as w:
        w.setnchannels(1), w.setsampwidth(2), w.setframerate(16000)
        w.writeframes(b"\0\0" * int(16000 * seconds))
    return ("audio.wav", out.getvalue(), "audio/wav")


class OpenAI:
    def __init__(self, url):
        self.client = openai.OpenAI(base_url=url + "/v1", api_key="secret", max_retries=0)

    def models(self):
        same("models", [m.id for m in valid(self.client.models.list()).data], [MODEL])

    def unknown_model(self):
        try:
            self.client.chat.completions.create(model="other", messages=HELLO)
        except openai.NotFoundError as e:
            assert "does not exist" in str(e)
        else:
            raise AssertionError("a model that is not there answers")

    def key(self):
        try:
            self.client.with_options(api_key="wrong").models.list()
        except openai.AuthenticationError:
            return
        raise AssertionError("a wrong key is taken")

    def chat(self):
        r = valid(self.client.chat.completions.create(model=MODEL, messages=HELLO, max_tokens=8))
        same("words", words(r.choices[0].message.content), 8)
        same("usage", (r.usage.prompt_tokens, r.usage.completion_tokens), (4, 8))
        same("finish", r.choices[0].finish_reason, "length")

    def chat_stream(self):
        text, usage = "", None
        for chunk in self.client.chat.completions.create(model=MODEL, messages=HELLO, max_tokens=8, stream=True,
                                                         stream_options={"include_usage": True}):
            valid(chunk)
            text += "".join(c.delta.content or "" for c in chunk.choices)
            usage = chunk.usage or usage
        same("words", (words(text), usage.completion_tokens), (8, 8))

    def chat_tools(self):
        tools = [{"type": "function", "function": TOOL}]
        call = valid(self.client.chat.completions.create(model=MODEL, messages=HELLO, tools=tools, max_tokens=3)).choices[0]
        same("finish", (call.finish_reason, call.message.tool_calls[0].function.name), ("tool_calls", "look_up"))
        json.loads(call.message.tool_calls[0].function.arguments)
        with self.client.chat.completions.stream(model=MODEL, messages=HELLO, tools=tools, max_tokens=3) as stream:
            done = stream.get_final_completion().choices[0]
        same("streamed", json.loads(done.message.tool_calls[0].function.arguments).keys(), {"text"})

    def logprobs(self):
        r = valid(self.client.chat.completions.create(model=MODEL, messages=HELLO, max_tokens=3, logprobs=True, top_logprobs=2)).choices[0]
        same("tokens", "".join(t.token for t in r.logprobs.content), r.message.content)
        assert all(len(t.top_logprobs) == 2 and bytes(t.bytes).decode() == t.token for t in r.logprobs.content)
        r = valid(self.client.completions.create(model=MODEL, prompt="a b", max_tokens=3, logprobs=2)).choices[0]
        same("text", "".join(r.logprobs.tokens), r.text)
        same("offsets", [r.text[o:o + len(t)] for o, t in zip(r.logprobs.text_offset, r.logprobs.tokens)], r.logprobs.tokens)

    def json_format(self):
        r = self.client.chat.completions.parse(model=MODEL, messages=HELLO, max_tokens=5, response_format=Person).choices[0]
        assert isinstance(r.message.parsed, Person) and r.message.parsed.name
        r = self.client.chat.completions.create(model=MODEL, messages=HELLO, max_tokens=5, response_format={"type": "json_object"})
        assert isinstance(json.loads(r.choices[0].message.content), dict)

    def completions(self):
        r = valid(self.client.completions.create(model=MODEL, prompt=[1, 22, 333], max_tokens=4))
        same("token ids", (r.usage.prompt_tokens, words(r.choices[0].text)), (3, 4))
        # A chunk is not validated: its finish_reason is null, also as OpenAI sends it, and the type has none.
        text = "".join(c.choices[0].text for c in self.client.completions.create(model=MODEL, prompt="a b", max_tokens=4, stream=True))
        same("streamed", words(text), 4)

    def responses(self):
        r = valid(self.client.responses.create(model=MODEL, input="say hello", max_output_tokens=16))
        same("words", (words(r.output_text), r.usage.output_tokens, r.usage.input_tokens), (16, 16, 2))
        same("status", (r.status, r.incomplete_details.reason), ("incomplete", "max_output_tokens"))
        r = self.client.responses.parse(model=MODEL, input="say hello", text_format=Person, max_output_tokens=16)
        assert isinstance(r.output_parsed, Person)

    def responses_stream(self):
        kinds, text = [], ""
        for event in self.client.responses.create(model=MODEL, input=HELLO, max_output_tokens=16, stream=True):
            kinds.append(valid(event).type)
            text += event.delta if event.type == "response.output_text.delta" else ""
        same("ends", (kinds[0], kinds[-1], words(text)), ("response.created", "response.incomplete", 16))
        with self.client.responses.stream(model=MODEL, input=HELLO) as stream:
            same("final", words(stream.get_final_response().output_text), 64)

    def responses_tools(self):
        tools = [{"type": "function", "strict": False, **TOOL}]
        call = valid(self.client.responses.create(model=MODEL, input=HELLO, tools=tools)).output[0]
        same("call", (call.type, call.name), ("function_call", "look_up"))
        r = valid(self.client.responses.create(model=MODEL, tool_choice="none", tools=tools, input=[
            *HELLO, call.model_dump(exclude_none=True), {"type": "function_call_output", "call_id": call.call_id, "output": "noon it is"}]))
        same("input", r.usage.input_tokens, 4 + 3)

    def embeddings(self):
        r = valid(self.client.embeddings.create(model=MODEL, input=["a b", "c"], dimensions=8))
        same("vectors", [len(d.embedding) for d in r.data], [8, 8])

    def images(self):
        r = valid(self.client.images.generate(model=MODEL, prompt="a cat", n=2, size="256x256"))
        same("images", [d.b64_json[:8] for d in r.data], ["iVBORw0K"] * 2)

    def transcriptions(self):
        r = valid(self.client.audio.transcriptions.create(model=MODEL, file=sound(2)))
        same("words", (words(r.text), r.usage.input_tokens), (64, 20))
        events = [valid(e) for e in self.client.audio.transcriptions.create(model=MODEL, file=sound(1), stream=True)]
        same("ends", events[-1].type, "transcript.text.done")
        same("text", "".join(e.delta for e in events[:-1]), events[-1].text)


class Anthropic:
    def __init__(self, url):
        self.client = anthropic.Anthropic(base_url=url, api_key="secret", max_retries=0)

    def messages(self):
        r = valid(self.client.messages.create(model=MODEL, max_tokens=8, messages=HELLO, system="be brief"))
        same("words", (words(r.content[0].text), r.usage.output_tokens, r.usage.input_tokens), (8, 8, 6))
        same("stop", r.stop_reason, "max_tokens")

    def stream(self):
        with self.client.messages.stream(model=MODEL, max_tokens=8, messages=HELLO) as stream:
            text = "".join(stream.text_stream)
            same("words", (words(text), valid(stream.get_final_message()).usage.output_tokens), (8, 8))

    def tools(self):
        tools = [{"name": "look_up", "input_schema": TOOL["parameters"]}]
        r = valid(self.client.messages.create(model=MODEL, max_tokens=3, messages=HELLO, tools=tools))
        same("call", (r.stop_reason, r.content[0].type, list(r.content[0].input)), ("tool_use", "tool_use", ["text"]))

    def count_tokens(self):
        same("tokens", valid(self.client.messages.count_tokens(model=MODEL, messages=HELLO, system="be brief")).input_tokens, 6)

    def unknown_model(self):
        try:
            self.client.messages.create(model="other", max_tokens=8, messages=HELLO)
        except anthropic.NotFoundError:
            return
        raise AssertionError("a model that is not there answers")


class Cohere:
    def __init__(self, url):
        self.client = cohere.ClientV2(base_url=url, api_key="secret")

    def rerank(self):
        r = self.client.rerank(model=MODEL, query="which one", documents=["a", "b c", "d e f"], top_n=2)
        scores = [x.relevance_score for x in r.results]
        same("results", (len(scores), scores), (2, sorted(scores, reverse=True)))
        assert r.id and r.meta.api_version.version == "2"


class Triton:
    """Both of Triton's clients, with a model that adds."""

    def __init__(self, address, library):
        self.library = library
        self.client = library.InferenceServerClient(address)

    def health(self):
        assert self.client.is_server_live() and self.client.is_server_ready() and self.client.is_model_ready("add")

    def metadata(self):
        if self.library is triton_grpc:
            names = [t.name for t in self.client.get_model_metadata("add").inputs]
        else:
            names = [t["name"] for t in self.client.get_model_metadata("add")["inputs"]]
        same("inputs", names, ["INPUT0", "INPUT1"])

    def infer(self):
        a, b = np.arange(16, dtype=np.float32).reshape(1, 16), np.ones((1, 16), dtype=np.float32)
        inputs = []
        for name, value in (("INPUT0", a), ("INPUT1", b)):
            inputs.append(self.library.InferInput(name, value.shape, "FP32"))
            inputs[-1].set_data_from_numpy(value)
        got = self.client.infer("add", inputs).as_numpy("OUTPUT0")
        same("sum", got.tolist(), (a + b).tolist())


def checks(side):
    for name, value in vars(type(side)).items():
        if not name.startswith("_") and callable(value):
            yield name, getattr(side, name)


def main(program):
    failed = total = 0
    with tempfile.TemporaryDirectory() as folder:
        truth = Path(folder) / "truth.jsonl"
        mock = subprocess.Popen([program, "mock", "--listen", "127.0.0.1:0", "--grpc", "127.0.0.1:0", "--model", MODEL, "--strict", "--api-key", "secret",
                                 "--triton-models", "add=add", "--truth", str(truth)], stderr=subprocess.PIPE, text=True)
        free = subprocess.Popen([program, "mock", "--listen", "127.0.0.1:0", "--grpc", "127.0.0.1:0"], stderr=subprocess.PIPE, text=True)
        try:
            (http, _), (triton, grpc) = ([p.stderr.readline().split()[3] for _ in range(2)] for p in (mock, free))
            for side in (OpenAI("http://" + http), Anthropic("http://" + http), Cohere("http://" + http),
                         Triton(triton, triton_http), Triton(grpc, triton_grpc)):
                kind = type(side).__name__ + (" " + side.library.__name__.rsplit(".", 1)[1] if isinstance(side, Triton) else "")
                for name, check in checks(side):
                    total += 1
                    try:
                        check()
                    except Exception as e:  # whatever an SDK does not like
                        failed += 1
                        print(f"FAIL  {kind} {name}: {type(e).__name__}: {str(e)[:1500]}")
                    else:
                        print(f"ok    {kind} {name}")
        finally:
            for p in (mock, free):
                p.terminate()
                p.wait()
        lines = [json.loads(line) for line in truth.read_text().splitlines()]
        aborted = [line["path"] for line in lines if line["finish"] == "abort"]
        if aborted:
            failed += 1
            print(f"FAIL  left before the end: {aborted}")
    print(f"{total} checks of openai {openai.__version__}, anthropic {anthropic.__version__}, cohere {cohere.__version__} and tritonclient, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
