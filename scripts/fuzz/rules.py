"""The differences that are known: those of docs/differences.json that have a pattern."""
import json
import re
from pathlib import Path


class Rules:
    def __init__(self, file: Path, tool: str):
        found = json.loads(file.read_text())["rules"]
        self.all = [(rule["id"], pattern) for rule in found if rule["tool"] == tool for pattern in rule.get("patterns", [])]
        self.used: dict = {}
        self.places: dict = {}  # the places that a rule explained, and how often
        self.matched: set = set()  # the patterns that explained something, by their place in the list

    def explain(self, line, difference) -> str:
        """The id of the rule that explains a difference of a line, or nothing."""
        text = line.text()
        for i, (name, p) in enumerate(self.all):
            if (re.search(f"^(?:{p['place']})$", difference.place)
                    and ("when" not in p or re.search(p["when"], text))
                    and ("unless" not in p or not re.search(p["unless"], text))
                    and ("original" not in p or re.search(p["original"], str(difference.original)))
                    and ("ours" not in p or re.search(p["ours"], str(difference.ours)))):
                self.used[name] = self.used.get(name, 0) + 1
                self.matched.add(i)
                at = self.places.setdefault(name, {})
                at[difference.key()] = at.get(difference.key(), 0) + 1
                return name
        return ""

    def patterns(self, matched: bool) -> list:
        """The patterns that explained something, or those that did not, each with its rule's id."""
        return [f"{name}: {json.dumps(p, ensure_ascii=False)}" for i, (name, p) in enumerate(self.all) if (i in self.matched) == matched]
