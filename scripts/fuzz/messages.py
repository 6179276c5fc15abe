"""What the server answers on Anthropic's messages path."""
import json


def usage(answer, n: int) -> dict:
    found = answer.usage(n)
    return {"input_tokens": found["prompt_tokens"], "output_tokens": found["completion_tokens"]}


def body(answer, text: str) -> dict:
    content = [] if answer.is_["thinking"] == "none" else [{"type": "thinking", "thinking": "so then", "signature": "s"}]
    if answer.is_["thinking"] != "only":
        content.append({"type": "text", "text": text})
    out = {"id": "x", "type": "message", "role": "assistant", "model": answer.model, "content": content, "stop_reason": "end_turn"}
    return out if answer.is_["usage"] == "never" else {**out, "usage": usage(answer, len(text.split()))}


def events(answer, texts: list) -> list:
    """The stream as events, each with its name and the empty line behind it."""
    is_, counted = answer.is_, answer.is_["usage"] != "never"
    start: dict = {"id": "x", "type": "message", "role": "assistant", "model": answer.model, "content": []}
    if is_["usage"] in ("always", "wrong"):
        start["usage"] = {**usage(answer, 0), "output_tokens": 1}
    found: list = [{"type": "message_start", "message": start}]
    block = 0
    if is_["thinking"] != "none":
        found += [{"type": "content_block_start", "index": 0, "content_block": {"type": "thinking", "thinking": ""}},
                  {"type": "content_block_delta", "index": 0, "delta": {"type": "thinking_delta", "thinking": "so then"}}, {"type": "content_block_stop", "index": 0}]
        block = 1
    if is_["thinking"] != "only":
        found.append({"type": "content_block_start", "index": block, "content_block": {"type": "text", "text": ""}})
        if is_["role"]:
            found.append({"type": "ping"})
        found += [{"type": "content_block_delta", "index": block, "delta": {"type": "text_delta", "text": t}} for t in texts]
        found.append({"type": "content_block_stop", "index": block})
    last: dict = {"type": "message_delta", "delta": {"stop_reason": "end_turn"}}
    if counted:
        last["usage"] = {**usage(answer, len(texts))} if is_["usage"] != "last" else {"output_tokens": len(texts)}
    found.append(last)
    if is_["error"] == "event" and answer.nth % 3 == 1:
        found[len(found) // 2:] = [{"type": "error", "error": {"type": "overloaded_error", "message": "out of memory"}}]
    elif is_["done"]:
        found.append({"type": "message_stop"})
    end = "\r\n" if is_["lines"] == "crlf" else "\n"
    ahead = f": ping{end}{end}" if is_["lines"] == "comments" else ""
    return [f"{ahead}event: {e['type']}{end}data: {json.dumps(e, ensure_ascii=False)}{end}{end}".encode() for e in found]
