"""A server of language models that answers as awkwardly as its features say.

It writes to raw sockets, so that it alone decides which bytes share a chunk and which
chunks a write. What it answers follows from the seed, from what was asked and from how often
that was asked: two clients that send the same requests get the same answers, whatever the
order in which these arrive. Where the two make prompts of their own, the answers follow from
the count of requests alone (`by` "count"), or, of sessions side by side, from the turn (`by` "turn").
"""
import hashlib
import json
import random
import re
import socket
import threading
import time

import messages

# What each feature can be. The first value is that of a plain server.
FEATURES = {
    "pieces": ["each", "together", "split", "split-slowly", "written-together", "at-once"],
    "choices": [1, 2, 3],
    "answer": ["words", "some-empty", "some-null", "all-empty", "one-token", "long", "letters", "some-missing", "tools"],
    "usage": ["never", "last", "always", "wrong", "null"],
    "role": [True, False],
    "done": [True, False],
    "thinking": ["none", "before", "only", "reasoning"],
    "get": ["404", "empty-object", "models"],
    "error": ["none", "one-400", "all-400", "all-401", "all-404", "all-429", "all-500", "one-503", "event", "no-json", "cut", "all-403", "one-422", "one-502", "one-reset"],
    "connection": ["kept", "closed", "closed-silently"],
    "frame": ["chunked", "length", "until-close"],
    "lines": ["lf", "crlf", "comments", "named", "tight", "numbered"],
}
PLAIN = {name: values[0] for name, values in FEATURES.items()}
WORDS = "the a of light under no river seven bright and slow house wind again stone they paper who is blue salt yes far window".split()
LETTERS = ["é", "über", "日本", "語", "🙂", "naïve ", "слово ", "—", "ﬁ", "a\u0301"]


class Request:
    """What came in."""

    def __init__(self, method: str, path: str, headers: list, body: bytes):
        self.method, self.path, self.headers, self.body = method, path, headers, body
        self.came = self.began = self.ended = time.monotonic()  # when it was read, and its response begun and ended
        try:
            self.json = json.loads(body)
        except ValueError:
            self.json = None

    def header(self, name: str) -> str:
        return next((v for k, v in self.headers if k.lower() == name), "")

    def asked(self) -> str:
        """The texts of the request, which answers follow from."""
        body = self.json if isinstance(self.json, dict) else {}
        texts = json.dumps([body.get(k) for k in ("messages", "prompt", "input", "query", "passages", "texts", "inputs", "text_input")])
        return re.sub(r"data:image/[^\"]*", "picture", texts)  # tools write pictures each in their own way

    def turn(self) -> int:
        """Which turn of a chat this is, from 1."""
        messages = self.json.get("messages", []) if isinstance(self.json, dict) else []
        return sum(m.get("role") == "user" for m in messages)

    def kind(self) -> str:
        """What the request is about: by its path, or on a path of its own by its body."""
        for name in ("v1/messages", "chat/completions", "completions", "embeddings", "ranking", "rerank", "infer", "generate_stream", "generate"):
            if self.path.endswith(name):
                return name
        body = self.json if isinstance(self.json, dict) else {}
        names = {"messages": "chat/completions", "prompt": "completions", "text_input": "generate", "query": "ranking", "inputs": "", "input": "embeddings"}
        return next((kind for key, kind in names.items() if key in body), "")


class Server:
    """Listens on a port of its own until it is closed. `first` and `between` are delays in seconds."""

    def __init__(self, seed: int, features: dict, by: str = "content", first: float = 0.03, between: float = 0.02):
        self.seed, self.by, self.first, self.between = seed, by, first, between
        self.features = {**PLAIN, **features}
        self.requests: list[Request] = []
        self.counts: dict[str, int] = {}
        self.lock = threading.Lock()
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=256)
        self.port = self.listener.getsockname()[1]
        self.connections: set[socket.socket] = set()
        threading.Thread(target=self.accept, daemon=True).start()

    def __enter__(self) -> "Server":
        return self

    def __exit__(self, *_: object) -> None:
        self.listener.close()
        with self.lock:
            for connection in self.connections:
                try:
                    connection.shutdown(socket.SHUT_RDWR)
                except OSError:
                    pass

    def accept(self) -> None:
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            with self.lock:
                self.connections.add(connection)
            threading.Thread(target=self.serve, args=(connection,), daemon=True).start()

    def serve(self, connection: socket.socket) -> None:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        stream = connection.makefile("rb")
        try:
            while (request := read(stream)) is not None:
                with self.lock:
                    self.requests.append(request)
                    key = request.asked() if self.by == "content" else request.path
                    self.counts[key] = self.counts.get(key, 0) + 1
                    count = request.turn() if self.by == "turn" else self.counts[key]
                rng = random.Random(f"{self.seed} {count} {key if self.by == 'content' else ''}")
                if not Answer(self, request, rng, count).send(connection):
                    break
        except OSError:
            pass  # a client that leaves early is no news
        finally:
            with self.lock:
                self.connections.discard(connection)
            stream.close()
            connection.close()


def call(text: "str | None") -> dict:
    return {"index": 0, "id": "call", "type": "function", "function": {"name": "look_up", "arguments": json.dumps({"of": text})}}


def read(stream) -> "Request | None":
    """The next request of a connection."""
    first = stream.readline().decode("latin-1").split()
    if len(first) != 3:
        return None
    headers = []
    while (line := stream.readline()) not in (b"\r\n", b"\n", b""):
        name, _, value = line.decode("latin-1").partition(":")
        headers.append((name.strip(), value.strip()))
    request = Request(first[0], first[1], headers, b"")
    if "chunked" in request.header("transfer-encoding"):
        body = b""
        while size := int(stream.readline().split(b";")[0] or b"0", 16):
            body += stream.read(size)
            stream.readline()
        stream.readline()
    else:
        body = stream.read(int(request.header("content-length") or 0))
    return Request(first[0], first[1], headers, body)


class Answer:
    """One answer, from the features of the server."""

    def __init__(self, server: Server, request: Request, rng: random.Random, count: int):
        self.server, self.request, self.rng, self.count = server, request, rng, count
        self.is_ = server.features
        self.kind = request.kind()
        self.streamed = isinstance(request.json, dict) and request.json.get("stream") is True or self.kind == "generate_stream"
        self.model = (request.json or {}).get("model", "m") if isinstance(request.json, dict) else "m"
        self.nth = int(hashlib.sha256(f"{server.seed} {request.asked()}".encode()).hexdigest()[:6], 16) if server.by == "content" else count

    def send(self, connection: socket.socket) -> bool:
        """Sends it, and says whether the connection stays."""
        time.sleep(self.server.first * self.rng.choice([1, 1, 1.5, 2]))
        error = self.error()
        if self.is_["error"] == "one-reset" and self.request.method != "GET" and self.nth % 3 == 1:
            return False
        if error:
            return self.whole(connection, *error)
        if self.request.method == "GET":
            return self.get(connection)
        texts = self.texts()
        if self.streamed and any(k in self.kind for k in ("completions", "generate")):
            return self.stream(connection, self.events(texts))
        if self.kind == "v1/messages":
            return self.stream(connection, messages.events(self, texts)) if self.streamed else self.whole(connection, 200, messages.body(self, "".join(texts)))
        return self.whole(connection, 200, self.body("".join(texts)))

    def error(self) -> "tuple[int, object] | None":
        kind = self.is_["error"]
        if self.request.method == "GET" or kind in ("none", "event", "cut", "one-reset"):
            return None
        if kind == "no-json":
            return 200, "<html>busy</html>"
        which, code = kind.split("-")
        if which == "one" and self.nth % 3 != 1:
            return None
        return int(code), {"error": {"message": "no, said the server", "type": "refused", "code": int(code)}}

    def get(self, connection: socket.socket) -> bool:
        kind = self.is_["get"]
        if kind == "404":
            return self.whole(connection, 404, {"detail": "Not Found"})
        models = {"object": "list", "data": [{"id": name, "object": "model", "created": 1, "owned_by": "o"} for name in ("m", "a", "b")]}
        return self.whole(connection, 200, models if kind == "models" and self.request.path == "/v1/models" else {})

    def texts(self) -> list[str]:
        """The pieces of the answer."""
        kind = self.is_["answer"]
        if kind == "all-empty" or kind == "some-empty" and self.rng.random() < 0.4:
            return [""]
        n = {"one-token": 1, "long": 40}.get(kind) or 2 + (len(self.request.asked().split()) * 3 if self.server.by == "content" else 0) % 7 + self.rng.randrange(5)
        out = [self.rng.choice(LETTERS) if kind == "letters" else " " * (i > 0) + self.rng.choice(WORDS) for i in range(n)]
        if "generate" in self.kind:  # whose answers may begin with a prompt of one word by chance: see genai-echo
            out[0] = "» " + out[0]
        return out

    def usage(self, n: int) -> dict:
        wrong = 1000 if self.is_["usage"] == "wrong" else 0
        return {"prompt_tokens": 11 + wrong, "completion_tokens": n + wrong, "total_tokens": 11 + n + 2 * wrong}

    def body(self, text: str) -> object:
        """An answer that is not streamed."""
        path, many = self.kind, range(self.is_["choices"])
        value: "str | None" = None if self.is_["answer"] == "some-null" and self.rng.random() < 0.4 else text
        out: dict = {"id": "x", "created": 1, "model": self.model}
        if self.is_["usage"] != "never":
            out["usage"] = self.usage(len(text.split()))
        if path.endswith("chat/completions"):
            message: dict = {"role": "assistant", "content": None if self.is_["thinking"] == "only" else value}
            if self.is_["answer"] == "some-missing" and self.rng.random() < 0.4:
                message.pop("content")
            if self.is_["answer"] == "tools":
                message.update(content=None, tool_calls=[call(text)])
            if self.is_["thinking"] != "none":
                message[self.thought()] = "so then"
            return {**out, "object": "chat.completion", "choices": [{"index": i, "message": message, "finish_reason": "stop"} for i in many]}
        if path.endswith("completions"):
            return {**out, "object": "text_completion", "choices": [{"index": i, "text": value, "finish_reason": "stop"} for i in many]}
        if path.endswith("embeddings"):
            return {**out, "object": "list", "data": [{"object": "embedding", "index": 0, "embedding": [0.5, -1.25]}]}
        if path.endswith(("ranking", "rerank")):
            return {"rankings": [{"index": 0, "logit": 1.5}]}
        if path.endswith("infer"):
            return {"data": [{"bounding_boxes": {}}]}
        if path.endswith("generate"):
            return {"model_name": self.model, "model_version": "1", "text_output": text}
        return [{"generated_text": text}]

    def chunk(self, text: "str | None", first: bool, last: bool, n: int) -> dict:
        """One event of a stream."""
        if "generate" in self.kind:
            return {"model_name": self.model, "model_version": "1", "text_output": text}
        chat = self.kind == "chat/completions"
        out: dict = {"id": "x", "object": "chat.completion.chunk" if chat else "text_completion", "created": 1, "model": self.model, "choices": []}
        for i in range(self.is_["choices"]):
            if chat:
                delta = {"role": "assistant", "content": ""} if first else {} if last else {"tool_calls": [call(text)]} if self.is_["answer"] == "tools" else {"content": text}
                out["choices"].append({"index": i, "delta": delta, "finish_reason": "stop" if last else None})
            else:
                out["choices"].append({"index": i, "text": text or "", "finish_reason": "stop" if last else None})
        if self.is_["usage"] in ("always", "wrong"):
            out["usage"] = self.usage(n)
        if self.is_["usage"] == "null":
            out["usage"] = None
        return out

    def thought(self) -> str:
        """What a server calls the thoughts of a model."""
        return "reasoning" if self.is_["thinking"] == "reasoning" else "reasoning_content"

    def events(self, texts: list[str]) -> list[bytes]:
        """The stream as events, each with the empty line behind it."""
        generate = "generate" in self.kind
        found: list = []
        if self.is_["role"] and not generate:
            found.append(self.chunk("", True, False, 0))
        if self.is_["thinking"] != "none" and not generate:
            thought = self.chunk("", False, False, 0)
            for choice in thought["choices"]:
                choice["delta" if "delta" in choice else "x"] = {self.thought(): "so then"}
            found += [thought, thought]
        if self.is_["thinking"] != "only":
            nulls = self.is_["answer"] == "some-null"
            found += [self.chunk(None if nulls and i % 3 == 2 else t, False, False, i + 1) for i, t in enumerate(texts)]
            for event in found[2::3] if self.is_["answer"] == "some-missing" else []:
                for choice in event.get("choices", []):
                    choice.get("delta", choice).pop("content" if "delta" in choice else "text", None)
        if not generate:
            found.append(self.chunk(None, False, True, len(texts)))
        if self.is_["usage"] in ("last", "null") and not generate:
            found.append({**self.chunk(None, False, True, 0), "choices": [], "usage": self.usage(len(texts))})
        if self.is_["error"] == "event" and self.nth % 3 == 1:
            found[len(found) // 2:] = [{"error": {"message": "out of memory", "type": "server_error", "code": 500}}]
        end = "\r\n" if self.is_["lines"] == "crlf" else "\n"
        ahead = {"comments": f": ping{end}{end}", "named": f"event: token{end}"}.get(self.is_["lines"], "")
        if self.is_["lines"] == "numbered":
            ahead = f"id: 1{end}retry: 100{end}"
        data = "data:" if self.is_["lines"] == "tight" else "data: "
        out = [f"{ahead}{data}{json.dumps(e, ensure_ascii=False)}{end}{end}".encode() for e in found]
        if self.is_["done"] and not generate:
            out.append(f"{data}[DONE]{end}{end}".encode())
        return out

    def writes(self, events: list[bytes]) -> list[list[bytes]]:
        """Which events share a chunk, and which chunks a write."""
        kind, rng = self.is_["pieces"], self.rng
        if kind == "at-once":
            return [[b"".join(events)]]
        if kind in ("together", "written-together"):
            out, rest = [], list(events)
            while rest:
                n = rng.choice([1, 2, 3])
                out.append([b"".join(rest[:n])] if kind == "together" else rest[:n])
                rest = rest[n:]
            return out
        if kind in ("split", "split-slowly"):
            out = []
            for e in events:
                at = rng.randrange(1, len(e)) if rng.random() < 0.4 else 0
                parts = [p for p in (e[:at], e[at:]) if p]
                out += [parts] if kind == "split" else [[p] for p in parts]
            return out
        return [[e] for e in events]

    def stream(self, connection: socket.socket, events: list[bytes]) -> bool:
        frame, stays = self.is_["frame"], self.is_["connection"] == "kept"
        head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
        writes = self.writes(events)
        if frame == "chunked":
            head += "Transfer-Encoding: chunked\r\n"
        elif frame == "length":
            head += f"Content-Length: {sum(map(len, events))}\r\n"
        else:
            stays = False
        if not stays and self.is_["connection"] != "closed-silently":
            head += "Connection: close\r\n"
        connection.sendall((head + "\r\n").encode())
        if self.is_["error"] == "cut" and self.nth % 3 == 1:
            writes, stays = writes[:len(writes) // 2], False
        for i, chunks in enumerate(writes):
            if i:
                time.sleep(self.server.between)
            else:
                self.request.began = time.monotonic()
            self.request.ended = time.monotonic()
            connection.sendall(b"".join(b"%x\r\n%s\r\n" % (len(c), c) for c in chunks) if frame == "chunked" else b"".join(chunks))
        if self.is_["error"] == "cut" and self.nth % 3 == 1:
            return False
        if frame == "chunked":
            connection.sendall(b"0\r\n\r\n")
        return stays

    def whole(self, connection: socket.socket, code: int, body: object) -> bool:
        text = (body if isinstance(body, str) else json.dumps(body, ensure_ascii=False)).encode()
        stays = self.is_["connection"] == "kept"
        words = {200: "OK", 400: "Bad Request", 401: "Unauthorized", 403: "Forbidden", 404: "Not Found", 422: "Unprocessable Entity", 429: "Too Many Requests", 500: "Internal Server Error", 502: "Bad Gateway", 503: "Service Unavailable"}
        kind = "text/html" if isinstance(body, str) else "application/json"
        head = f"HTTP/1.1 {code} {words[code]}\r\nContent-Type: {kind}\r\nContent-Length: {len(text)}\r\n"
        if not stays and self.is_["connection"] != "closed-silently":
            head += "Connection: close\r\n"
        self.request.began = self.request.ended = time.monotonic()
        cut = self.is_["error"] == "cut" and self.nth % 3 == 1 and code == 200 and self.request.method != "GET"
        connection.sendall((head + "\r\n").encode() + (text[:len(text) // 2] if cut else text))
        return stays and not cut
