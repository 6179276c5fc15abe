"""A command line that both tools run, with the files and the server that it needs."""
import base64
import json
import shlex
from dataclasses import asdict, dataclass, field
from pathlib import Path

# What stands for a value that is known only once a server listens.
URL, TOKENIZER = "{url}", "{tokenizer}"


@dataclass
class Line:
    tool: str
    seed: int
    command: list = field(default_factory=list)  # subcommands
    flags: list = field(default_factory=list)  # lists of words, each of which can be left out as a whole
    tail: list = field(default_factory=list)  # the same, for what follows `--`
    files: dict = field(default_factory=dict)  # name: text, or base64:…, in the directory that the line is run in
    server: dict = field(default_factory=dict)  # features that are not plain
    by: str = "content"  # what answers follow from
    meant: list = field(default_factory=list)  # the words that a config file stands for
    faithful: bool = False  # ours is asked for the original's arithmetic

    @staticmethod
    def of(text: str) -> "Line":
        return Line(**json.loads(text))

    def json(self) -> str:
        empty = Line(self.tool, self.seed)
        return json.dumps({k: v for k, v in asdict(self).items() if k in ("tool", "seed") or v != getattr(empty, k)}, ensure_ascii=False)

    def copy(self, **changed: object) -> "Line":
        return Line(**{**json.loads(json.dumps(asdict(self))), **changed})

    def words(self, **values: str) -> list:
        """The words of the command line, with the values of a run in them."""
        out = [*self.command, *(w for f in self.flags for w in f)]
        if self.tail:
            out += ["--", *(w for f in self.tail for w in f)]
        for name, value in values.items():
            out = [w.replace("{" + name + "}", value) if isinstance(w, str) else w for w in out]
        return out

    def meaning(self) -> list:
        """The words, and ahead of them those that a file of theirs stands for."""
        return [*self.meant, "=", *self.words()] if self.meant else self.words()

    def text(self) -> str:
        """All that rules can be about: the words, and the server's features as name=value."""
        features = " ".join(f"{k}={v}" for k, v in sorted(self.server.items()))
        return f"{shlex.join(w if isinstance(w, str) else json.dumps(w) for w in self.meaning())}{' --faithful' if self.faithful else ''} | {features} | {' '.join(self.files)} | by={self.by}"

    def write(self, where: Path, **values: str) -> None:
        """Writes the files, with the values of a run in them."""
        for name, text in self.files.items():
            for key, value in values.items():
                text = text.replace("{" + key + "}", value)
            file = where / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(base64.b64decode(text[7:]) if text.startswith("base64:") else text.encode())
