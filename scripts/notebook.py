"""Runs the code of a notebook over the exports of a real run, in a directory that has what it reads.

    notebook.py INFEROMETER NOTEBOOK           every cell runs
    notebook.py INFEROMETER NOTEBOOK --save    and what the cells print is saved in the notebook

Jupyter is not needed: a cell is a text of Python, and one that ends with an expression shows it.
"""

import ast
import contextlib
import io
import json
import os
import pathlib
import subprocess
import sys
import tempfile

BIN = str(pathlib.Path(sys.argv[1]).resolve())
NOTEBOOK = pathlib.Path(sys.argv[2]).resolve()


def inferometer(*args, ok=(0,)):
    done = subprocess.run([BIN, *args], capture_output=True, text=True)
    if done.returncode not in ok:
        sys.exit(f"{args}: exit code {done.returncode}\n{done.stdout}{done.stderr}")


def measure():
    """A run at three levels, whose verdict may be anything on a busy machine, and its exports."""
    server = subprocess.Popen([BIN, "mock", "--listen", "127.0.0.1:0", "--ttft", "40ms", "--ttft-stddev", "8ms", "--itl", "5ms", "--itl-stddev", "1ms", "--max-seqs", "12"], stderr=subprocess.PIPE, text=True)
    try:
        url = "http://" + server.stderr.readline().split()[-1]
        inferometer("run", url, "--levels", "4,8,16", "--requests", "150", "--output-tokens", "32", "--goodput", "ttft:60ms", "--seed", "7", "--out", "results", "--quiet", ok=(0, 1))
    finally:
        server.kill()
        server.wait()
    inferometer("export", "results", "--out", "requests.parquet")
    inferometer("export", "results", "--events", "--out", "events.parquet")


def run(source, names):
    """What a cell prints, with the value of its last line."""
    body = ast.parse(source).body
    last = body.pop() if body and isinstance(body[-1], ast.Expr) else None
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile(ast.Module(body, []), "cell", "exec"), names)
        value = eval(compile(ast.Expression(last.value), "cell", "eval"), names) if last else None
        if value is not None:
            print(value)
    return out.getvalue()


def main():
    notebook = json.loads(NOTEBOOK.read_text())
    names, cells = {}, [c for c in notebook["cells"] if c["cell_type"] == "code"]
    with tempfile.TemporaryDirectory() as scratch:
        os.chdir(scratch)
        measure()
        for number, cell in enumerate(cells, 1):
            printed = run("".join(cell["source"]), names)
            if not printed:
                sys.exit(f"cell {number} shows nothing")
            cell["execution_count"] = number
            cell["outputs"] = [{"name": "stdout", "output_type": "stream", "text": printed.splitlines(keepends=True)}]
        os.chdir("/")
    if "--save" in sys.argv:
        NOTEBOOK.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n")
    print(f"ok: {len(cells)} cells of {NOTEBOOK.name}")


main()
