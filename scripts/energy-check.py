"""Holds the energy that a run reports against the boards' own counters, on a machine with NVIDIA GPUs.

    python3 scripts/energy-check.py bin/inferometer run http://localhost:8000 --concurrency 16 --duration 60s --power nvidia-smi

The arguments are a command line of inferometer; --out is added if it is missing. While it runs, NVML's counter
(nvmlDeviceGetTotalEnergyConsumption) is read by ctypes. For each stage it prints both energies over the measured window,
and ends with 1 if they differ by more than 2 %, with 2 if there is nothing to compare.
"""
import ctypes, datetime, json, os, signal, subprocess, sys, tempfile, threading, time

EVERY, BUDGET = 0.01, 0.02


def nvml():
    for name in ("libnvidia-ml.so.1", "/usr/local/nvidia/lib64/libnvidia-ml.so.1", "/usr/lib/x86_64-linux-gnu/libnvidia-ml.so.1"):
        try:
            lib = ctypes.CDLL(name)
            break
        except OSError:
            continue
    else:
        give_up("libnvidia-ml.so.1 is not here: no NVIDIA driver")
    if lib.nvmlInit_v2() != 0:
        give_up("NVML cannot be started")
    count, gpus = ctypes.c_uint(), []
    lib.nvmlDeviceGetCount_v2(ctypes.byref(count))
    for i in range(count.value):
        gpu = ctypes.c_void_p()
        lib.nvmlDeviceGetHandleByIndex_v2(i, ctypes.byref(gpu))
        gpus.append(gpu)
    return lib, gpus


def give_up(text):
    print("energy-check:", text)
    sys.exit(2)


class Reader(threading.Thread):
    """Reads energy (J) and power (W) of all GPUs, each new value of the counter once."""

    def __init__(self):
        super().__init__(daemon=True)
        (self.lib, self.gpus), self.over = nvml(), threading.Event()
        self.energy, self.power = [[] for _ in self.gpus], [[] for _ in self.gpus]

    def run(self):
        millijoules, milliwatts = ctypes.c_ulonglong(), ctypes.c_uint()
        while not self.over.wait(EVERY):
            for i, gpu in enumerate(self.gpus):
                if self.lib.nvmlDeviceGetTotalEnergyConsumption(gpu, ctypes.byref(millijoules)) == 0:
                    series, value = self.energy[i], millijoules.value / 1e3
                    if not series or series[-1][1] != value:
                        series.append((time.time(), value))
                if self.lib.nvmlDeviceGetPowerUsage(gpu, ctypes.byref(milliwatts)) == 0:
                    self.power[i].append((time.time(), milliwatts.value / 1e3))


def at(series, when):
    """The value at a moment, on the line between its neighbours."""
    for (a, x), (b, y) in zip(series, series[1:]):
        if a <= when <= b:
            return x + (y - x) * (when - a) / (b - a)
    give_up(f"the counter was not read around {when:.3f}")


def integral(series, begin, end):
    inside = [(begin, at(series, begin))] + [p for p in series if begin < p[0] < end] + [(end, at(series, end))]
    return sum((b - a) * (x + y) / 2 for (a, x), (b, y) in zip(inside, inside[1:]))


def share_of_a_core(every_ms, seconds=5):
    """What nvidia-smi itself takes, as the run calls it."""
    child = subprocess.Popen(["nvidia-smi", "--query-gpu=timestamp,index,uuid,power.draw.instant", "--format=csv,noheader,nounits", f"--loop-ms={every_ms}"], stdout=subprocess.DEVNULL)
    time.sleep(1)
    ticks = lambda: sum(int(n) for n in open(f"/proc/{child.pid}/stat").read().rsplit(")", 1)[1].split()[11:13])
    before = ticks()
    time.sleep(seconds)
    used = (ticks() - before) / os.sysconf("SC_CLK_TCK")
    child.send_signal(signal.SIGKILL)
    child.wait()
    return used / seconds


def main():
    command = sys.argv[1:]
    if not command or command[0] in ("-h", "--help"):
        print(__doc__)
        sys.exit(2)
    if "--out" in command:
        out = command[command.index("--out") + 1]
    else:
        out = os.path.join(tempfile.mkdtemp(), "run")
        command += ["--out", out]
    reader = Reader()
    reader.start()
    time.sleep(1)
    status = subprocess.call(command)
    time.sleep(1)
    reader.over.set()
    reader.join()
    if not os.path.exists(os.path.join(out, "result.json")):
        give_up(f"the run left no result (status {status})")
    result = json.load(open(os.path.join(out, "result.json")))
    whole, _, fraction = result["started"].rstrip("Z").partition(".")
    started = datetime.datetime.fromisoformat(whole + "+00:00").timestamp() + float("0." + (fraction or "0"))
    worst = None
    for stage in result["stages"]:
        power, window = (stage.get("cost") or {}).get("power"), stage["window"]
        begin, end = started + window["begin_s"], started + window["end_s"]
        counted = sum(at(s, end) - at(s, begin) for s in reader.energy)
        averaged = sum(integral(s, begin, end) for s in reader.power)
        print(f"\nstage {stage['index'] + 1}: {end - begin:.1f} s, {len(reader.gpus)} GPUs, counter moved {min(map(len, reader.energy))} times")
        print(f"  NVML counter        {counted:12.1f} J  ({counted / (end - begin) / len(reader.gpus):.1f} W per GPU)")
        print(f"  NVML power usage    {averaged:12.1f} J  ratio {averaged / counted:.4f}  (integral of nvmlDeviceGetPowerUsage, for comparison)")
        if not power or not power["valid"]:
            print("  inferometer         not valid:", "; ".join((power or {}).get("reasons", ["no power was read"])))
            worst = 1.0
            continue
        joules = stage["metrics"]["total_gpu_energy"]["avg"]
        print(f"  inferometer         {joules:12.1f} J  ratio {joules / counted:.4f}  ({power['source']}, {power['method']}, {power.get('readings', 0)} readings, longest gap {power.get('longest_gap_s', 0):.3f} s)")
        worst = max(worst or 0, abs(joules / counted - 1))
    fields = subprocess.run(["nvidia-smi", "--help-query-gpu"], capture_output=True, text=True).stdout
    print("\nquery fields about energy:", [l for l in fields.splitlines() if l.startswith('"') and "energy" in l.lower()] or "none")
    print("query fields about power:", [l.strip('"') for l in fields.splitlines() if l.startswith('"') and "power.draw" in l.lower()])
    print(f"nvidia-smi every 100 ms takes {100 * share_of_a_core(100):.1f} % of a core")
    if worst is None:
        give_up("the run has no stages")
    print(f"\n{'within' if worst <= BUDGET else 'OVER'} {BUDGET:.0%}: the energies differ by {worst:.2%} at most")
    sys.exit(0 if worst <= BUDGET else 1)


main()
