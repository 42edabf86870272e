"""One measurement of a peer: WORK PEER FOLDER REPEATS, with context ids on standard input.

Prints one line of JSON: times in milliseconds, rows, the sum of the values, and memory in bytes.
"""

import json
import os
import struct
import sys
import time


def status(name):
    with open("/proc/self/status") as lines:
        for line in lines:
            if line.startswith(name + ":"):
                return int(line.split()[1]) * 1024
    return 0


def hatchet(folder, work, ids):
    import hatchet

    def run():
        frame = hatchet.GraphFrame.from_hpctoolkit_latest(folder)
        columns = [c for c in frame.dataframe.columns if c.endswith("(inc)") or c == "time (inc)"]
        column = "time (inc)" if "time (inc)" in columns else columns[0]
        return len(frame.dataframe), float(frame.dataframe[column].sum()), frame

    return run


def hpcanalysis(folder, work, ids):
    import hpcanalysis_cpp

    reader = hpcanalysis_cpp.DataRead(folder)
    threads = len(os.sched_getaffinity(0))
    with open(folder + "/profile.db", "rb") as file:
        file.seek(16 + 8)
        (infos,) = struct.unpack("<Q", file.read(8))
        file.seek(infos + 8)
        (count,) = struct.unpack("<I", file.read(4))
    profiles = list(range(1, count))

    def values():
        rows = reader.read_profile_slices(profiles, ids, [], threads)
        return len(rows), rows

    def samples():
        # A frame for all of time; an empty list of frames means the same.
        rows = reader.read_trace_slices({p: [] for p in profiles}, threads)
        return len(rows), rows

    def total(rows):
        if work.startswith("trace"):
            return sum(row["end_timestamp"] - row["start_timestamp"] for row in rows) / 1e9
        return sum(row["value"] for row in rows)

    read = samples if work.startswith("trace") else values

    def run():
        count, rows = read()
        return count, lambda: total(rows), rows

    return run


def numpy(folder, work, ids):
    import numpy as np

    value = np.dtype([("metric", "<u2"), ("value", "<f8")])
    index = np.dtype([("context", "<u4"), ("start", "<u8")])
    sample = np.dtype([("nanos", "<u8"), ("context", "<u4")])

    def infos():
        data = np.memmap(folder + "/profile.db", dtype=np.uint8, mode="r")
        (section,) = struct.unpack_from("<Q", data, 24)
        table, count, stride = struct.unpack_from("<QIB", data, section)
        for profile in range(count):
            num_values, values, contexts, _, indices, _, flags = struct.unpack_from(
                "<QQIIQQI", data, table + profile * stride
            )
            if not flags & 1:
                yield (
                    profile,
                    np.frombuffer(data, value, num_values, values),
                    np.frombuffer(data, index, contexts, indices),
                )

    def everything():
        columns = [], [], [], []
        for profile, values, indices in infos():
            counts = np.diff(indices["start"], append=len(values)).astype(np.int64)
            columns[0].append(np.full(len(values), profile, np.uint32))
            columns[1].append(np.repeat(indices["context"], counts))
            columns[2].append(values["metric"])
            columns[3].append(values["value"])
        columns = [np.concatenate(parts) for parts in columns]
        return len(columns[3]), float(columns[3].sum()), columns

    def pruned():
        wanted = np.array(ids, np.uint32)
        columns = [], [], [], []
        for profile, values, indices in infos():
            contexts = indices["context"]
            at = np.searchsorted(contexts, wanted)
            at = at[contexts[np.minimum(at, len(contexts) - 1)] == wanted]
            ends = np.append(indices["start"].astype(np.int64), len(values))
            counts = ends[at + 1] - ends[at]
            rows = np.concatenate([np.arange(a, b) for a, b in zip(ends[at], ends[at + 1])])
            columns[0].append(np.full(len(rows), profile, np.uint32))
            columns[1].append(np.repeat(contexts[at], counts))
            columns[2].append(values["metric"][rows])
            columns[3].append(values["value"][rows])
        columns = [np.concatenate(parts) for parts in columns]
        return len(columns[3]), float(columns[3].sum()), columns

    def trace():
        data = np.memmap(folder + "/trace.db", dtype=np.uint8, mode="r")
        (section,) = struct.unpack_from("<Q", data, 24)
        table, count, stride = struct.unpack_from("<QIB", data, section)
        nanos = np.zeros(0)
        for track in range(count):
            _, start, end = struct.unpack_from("<I4xQQ", data, table + track * stride)
            if start == end:
                continue
            samples = np.frombuffer(data, sample, (end - start) // 12, start)
            spent = np.diff(samples["nanos"]).astype(float)
            sums = np.bincount(samples["context"][:-1], spent)
            if len(sums) > len(nanos):
                nanos, sums = sums, nanos
            nanos[: len(sums)] += sums
        nanos[0] = 0
        # Times by context, not yet by function: there is no tree here.
        return None, float(nanos.sum() / 1e9), nanos

    if work.startswith("trace"):
        return trace
    return pruned if ids else everything


def main():
    work, peer, folder, repeats = sys.argv[1:5]
    ids = [int(word) for word in sys.stdin.read().split()]
    try:
        run = {"hatchet": hatchet, "hpcanalysis": hpcanalysis, "numpy": numpy}[peer](folder, work, ids)
    except ImportError as error:
        print(json.dumps({"absent": str(error)}))
        return
    before = status("RssAnon")
    times = []
    try:
        for _ in range(int(repeats) + 1):
            start = time.perf_counter()
            rows, total, kept = run()
            times.append((time.perf_counter() - start) * 1e3)
            own = status("VmHWM") - status("RssFile") - before
            # What costs time only for the comparison is added up after the clock stopped.
            total = total() if callable(total) else total
            del kept
            if sum(times) > 60e3:
                break
    except Exception as error:  # What a peer cannot do is part of the comparison.
        print(json.dumps({"error": f"{type(error).__name__}: {error}".splitlines()[0][:200]}))
        return
    print(
        json.dumps(
            {"times": times, "rows": rows, "sum": total, "own": own, "peak": status("VmHWM")}
        )
    )


main()
