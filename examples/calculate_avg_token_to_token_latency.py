"""Prints the average token-to-token latency of ./profile_export.json.

It is the mean of all gaps between two adjacent responses, those of all requests together.
"""
import json

with open("profile_export.json", encoding="utf-8") as file:
    experiments = json.load(file)["experiments"]
gaps = [
    after - before
    for experiment in experiments
    for request in experiment["requests"]
    for before, after in zip(request["response_timestamps"], request["response_timestamps"][1:])
]
if not gaps:
    raise SystemExit("profile_export.json holds no request that was answered with more than one response")
print(f"Average token-to-token latency: {sum(gaps) / len(gaps) / 1e9} s")
