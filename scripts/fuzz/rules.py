"""The differences that are known: those of docs/differences.json that have a pattern."""
import json
import re
from pathlib import Path


class Rules:
    def __init__(self, file: Path, tool: str):
        found = json.loads(file.read_text())["rules"]
        self.all = [(rule["id"], pattern) for rule in found if rule["tool"] == tool for pattern in rule.get("patterns", [])]
        self.used: dict = {}

    def explain(self, line, difference) -> str:
        """The id of the rule that explains a difference of a line, or nothing."""
        text = line.text()
        for name, p in self.all:
            if (re.search(f"^(?:{p['place']})$", difference.place)
                    and ("when" not in p or re.search(p["when"], text))
                    and ("unless" not in p or not re.search(p["unless"], text))
                    and ("original" not in p or re.search(p["original"], str(difference.original)))
                    and ("ours" not in p or re.search(p["ours"], str(difference.ours)))):
                self.used[name] = self.used.get(name, 0) + 1
                return name
        return ""
