#!/usr/bin/env python3
"""Writes what chat templates give in Jinja2, set up the way transformers does it.

    truth.py cases.json > truth.jsonl        the templates of our own, which tests read
    truth.py --real DIR... > FILE            every template below the folders: *.jinja files,
                                             chat_template of tokenizer_config.json

A line is one rendering: the template's name and text, the conversation, the other
variables, and the text or "error". Needs jinja2.
"""
import copy, datetime, json, os, re, sys
import jinja2, jinja2.ext
from jinja2.sandbox import ImmutableSandboxedEnvironment

NOW = datetime.datetime(2026, 7, 4, 9, 5, 3)


class Generation(jinja2.ext.Extension):
    """The tag that marks what the assistant has said; it changes no text."""

    tags = {"generation"}

    def parse(self, parser):
        line = next(parser.stream).lineno
        body = parser.parse_statements(["name:endgeneration"], drop_needle=True)
        call = self.call_method("_said")
        return jinja2.nodes.CallBlock(call, [], [], body).set_lineno(line)

    def _said(self, caller):
        return caller()


def environment():
    def raise_exception(message):
        raise jinja2.exceptions.TemplateError(message)

    def tojson(x, ensure_ascii=False, indent=None, separators=None, sort_keys=False):
        return json.dumps(x, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)

    env = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True, extensions=[Generation, jinja2.ext.loopcontrols])
    env.filters["tojson"] = tojson
    env.globals["raise_exception"] = raise_exception
    env.globals["strftime_now"] = lambda f: NOW.strftime(f)
    return env


def render(src, messages, variables):
    env = environment()
    try:
        return {"text": env.from_string(src).render(messages=copy.deepcopy(messages), **copy.deepcopy(variables))}
    except Exception as e:  # whatever goes wrong is the truth, too
        return {"error": f"{type(e).__name__}: {e}"}


TOOLS = [
    {"type": "function", "function": {"name": "weather", "description": "Weather in a city \"now\" <é>.", "parameters": {
        "type": "object", "properties": {"city": {"type": "string", "description": "The city"}, "days": {"type": "integer", "enum": [1, 2]},
                                         "units": {"type": ["string", "null"], "default": "C"}, "deep": {"type": "array", "items": {"type": "number"}}},
        "required": ["city"]}}},
    {"type": "function", "function": {"name": "clock", "description": "The time.", "parameters": {"type": "object", "properties": {}}, "return": {"type": "string"}}},
]


def call(arguments, ident="abcdefghi", name="weather"):
    return {"id": ident, "type": "function", "function": {"name": name, "arguments": arguments}}


def user(content):
    return {"role": "user", "content": content}


def bot(content, **more):
    return {"role": "assistant", "content": content, **more}


def system(content):
    return {"role": "system", "content": content}


def conversations():
    hi, bye = user("Hi there!"), user("  And now?\n")
    tool = {"role": "tool", "name": "weather", "tool_call_id": "abcdefghi", "content": '{"t": 21.5}'}
    part = {"type": "text", "text": "Look: "}
    return [
        [hi],
        [system(" Be brief. "), hi],
        [hi, bot(" Hello. "), bye],
        [system("Sé amable — 日本語 🎉 <b>&amp;</b> 'q' \"d\""), user("naïve {{ x }} {% y %} <|im_end|>"), bot("ok\n\nthen"), user("")],
        [hi, bot("<think>\nhm\n</think>\n\nHello"), bye],
        [hi, bot("Hello", reasoning_content="I see"), bye, bot("Done", reasoning_content="So\n")],
        [hi, bot("Hello", thinking="I see", reasoning="x"), bye],
        [user([part, {"type": "image", "image": "x.png"}, {"type": "image_url", "image_url": {"url": "x"}}, {"type": "text", "text": "what?"}])],
        [system([part]), user([part])],
        [user("Weather?"), bot("", tool_calls=[call({"city": "Köln", "days": 2})]), tool],
        [user("Weather?"), bot(None, tool_calls=[call('{"city": "Bonn"}')]), tool, bot("It is 21.5."), bye],
        [system("S"), user("Two?"), bot("Let me see", tool_calls=[call({"city": "A"}), call({}, "ihgfedcba", "clock")]), tool,
         {"role": "tool", "name": "clock", "tool_call_id": "ihgfedcba", "content": "12:00"}, bot("Done", tool_calls=[]), bye],
        [user("Weather?"), bot("x", tool_calls=[call({"city": "A", "n": 1.5, "ok": True, "no": None, "l": [1, "b"], "d": {"k": 1e20}}, "1")]), {**tool, "content": {"t": 1}}],
        [hi, hi],
        [bot("I start")],
        [{"role": "developer", "content": "D"}, hi],
        [{"role": "odd", "content": "?"}],
        [hi, bot("Hello"), system("late"), bye],
        [{"role": "user"}],
        [],
    ]


SPECIAL = {"bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>", "pad_token": "<pad>"}


def variants():
    base = {"tools": None, "documents": None}
    yield {**base, "add_generation_prompt": False, **SPECIAL}
    yield {**base, "add_generation_prompt": True, **SPECIAL}
    yield {**base, "add_generation_prompt": True, **SPECIAL, "tools": TOOLS}
    yield {**base, "add_generation_prompt": True, "bos_token": "<s>", "enable_thinking": False, "thinking": True, "date_string": "1 May 2025"}
    yield {**base, "add_generation_prompt": False, **SPECIAL, "tools": TOOLS[1:], "tools_in_user_message": False, "enable_thinking": True,
           "reasoning_effort": "low", "documents": [{"title": "T", "text": "Body", "content": "C", "doc_id": 1}], "builtin_tools": ["browser", "python"]}


def real(folders):
    for folder in folders:
        for root, _, files in sorted(os.walk(folder)):
            for f in sorted(files):
                path = os.path.join(root, f)
                name = os.path.relpath(path, folder)
                if f.endswith(".jinja"):
                    yield name, open(path, encoding="utf-8").read()
                elif f == "tokenizer_config.json":
                    t = json.load(open(path, encoding="utf-8")).get("chat_template")
                    for x in [{"name": "default", "template": t}] if isinstance(t, str) else t or []:
                        yield name + ":" + x["name"], x["template"]
                elif f.endswith(".cpp"):
                    src = open(path, encoding="utf-8").read()
                    for i, m in enumerate(re.finditer(r'/\* \.template_str= \*/ ("(?:[^"\\]|\\.)*"|R"""\((.*?)\)""")', src, re.S)):
                        try:
                            yield f"{name}:{i}", m.group(2) or json.loads(m.group(1).replace("\\'", "'"))
                        except ValueError:
                            pass


def main():
    out = sys.stdout
    if sys.argv[1] == "--real":
        for name, src in real(sys.argv[2:]):
            for i, messages in enumerate(conversations()):
                for j, variables in enumerate(variants()):
                    line = {"name": f"{name} {i}.{j}", "template": src, "messages": messages, "vars": variables, **render(src, messages, variables)}
                    out.write(json.dumps(line, ensure_ascii=False) + "\n")
        return
    for case in json.load(open(sys.argv[1], encoding="utf-8")):
        src = case["template"] if isinstance(case["template"], str) else "\n".join(case["template"])
        messages = case.get("messages", [user("Hi"), bot("Hello"), user("Bye")])
        variables = {"tools": None, "documents": None, "add_generation_prompt": True, **SPECIAL, **case.get("vars", {})}
        line = {"name": case["name"], "template": src, "messages": messages, "vars": variables, **render(src, messages, variables)}
        out.write(json.dumps(line, ensure_ascii=False) + "\n")


main()
