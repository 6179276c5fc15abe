"""Prints the average first-token latency of ./profile_export.json.

It is the mean, over all requests, of the first response's moment minus the request's.
"""
import json

with open("profile_export.json", encoding="utf-8") as file:
    experiments = json.load(file)["experiments"]
waits = [
    request["response_timestamps"][0] - request["timestamp"]
    for experiment in experiments
    for request in experiment["requests"]
    if request["response_timestamps"]
]
if not waits:
    raise SystemExit("profile_export.json holds no request that was answered")
print(f"Average first-token latency: {sum(waits) / len(waits) / 1e9} s")
