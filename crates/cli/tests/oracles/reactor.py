"""Numbers of the golden texts, from the databases themselves and without any code of Parallax.

    python3 reactor.py FOLDER_OF_V4CHECK REPOSITORY > reactor.json

An oracle: `v4check.py` of the corpus reads the files; here are plain sums over what it finds. Each
entry has a golden text, the beginning of a line in it that holds a name, and values in the unit of
that line. `../golden_numbers.rs` looks for them in the texts, and runs this where the corpus is.
"""

import json
import statistics
import struct
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, sys.argv[1])
import v4check

REACTOR = sys.argv[2] + "/fixtures/reactor/"
FRAME, LINE = 0, 2


class Database:
    def __init__(self, folder):
        self.r = v4check.load(folder)
        self.folder = folder
        scopes = dict(self.r["metrics"][0][1])
        self.inclusive, self.exclusive = scopes["execution"], scopes["function"]
        # The first profile is the summary of all.
        self.profiles = [(p["ids"], p["rows"]) for p in self.r["profs"] if p["ids"]]
        children = {}
        for context, node in self.r["ctx"].items():
            children.setdefault(node["parent"], []).append(context)
        self.children = children

    def function(self, context):
        pointer = self.r["ctx"][context].get("fn")
        name = self.r["fns"][pointer][0] if pointer else None
        # hpcstruct adds the module where it knows no source.
        return name and name.split(" [")[0]

    def frames(self, name):
        """Contexts in which a function of this name was called, but not those below another one."""
        ctx = self.r["ctx"]

        def is_within(context):
            while context := ctx[context]["parent"]:
                if self.is_frame(context, name):
                    return True
            return False

        return [c for c in ctx if self.is_frame(c, name) and not is_within(c)]

    def is_frame(self, context, name):
        return self.r["ctx"][context]["type"] == FRAME and self.function(context) == name

    def below(self, contexts):
        out, todo = set(), list(contexts)
        while todo:
            context = todo.pop()
            if context not in out:
                out.add(context)
                todo += self.children.get(context, [])
        return out

    def chosen(self, thread=None, ranks=None):
        for ids, rows in self.profiles:
            identity = {kind: logical for kind, _, logical, _ in ids}
            if thread is None or identity.get("THREAD") == thread:
                if ranks is None or identity.get("RANK") in ranks:
                    yield identity, rows

    def sum(self, metric, contexts, **choice):
        return sum(
            rows.get(context, {}).get(metric, 0.0)
            for _, rows in self.chosen(**choice)
            for context in contexts
        )

    def roots(self):
        return [context for context, _, _ in self.r["entries"]]

    def total(self, **choice):
        return self.sum(self.inclusive, self.roots(), **choice)

    def by_rank(self, name):
        frames = self.frames(name)
        return {
            identity["RANK"]: sum(rows.get(c, {}).get(self.inclusive, 0.0) for c in frames)
            for identity, rows in self.chosen(thread=0)
        }

    def lines(self, path, number):
        """Lines in the tree of one line of a source file."""
        files = self.r["files"]
        return [
            c
            for c, node in self.r["ctx"].items()
            if node["type"] == LINE
            and node.get("line") == number
            and files[node["file"]][1].endswith(path)
        ]

    def samples(self):
        """By profile: its samples (nanoseconds, context)."""
        t = open(self.folder + "/trace.db", "rb").read()
        (_, at), = v4check.sections(t, 1)
        first, number, stride, low, high = struct.unpack_from("<QIBxxxQQ", t, at)
        out = {}
        for i in range(number):
            profile, start, end = struct.unpack_from("<IxxxxQQ", t, first + i * stride)
            out[profile] = [struct.unpack_from("<QI", t, o) for o in range(start, end, 12)]
        return out, low, high


def main():
    out = []

    def pin(golden, line, *values):
        assert all(values), (golden, line, values)
        out.append([golden, line, list(values)])

    d = Database(REACTOR + "n1024-p8")
    # Threads beside the first of each rank are helpers of MPI and of the measurement.
    total, first = d.total(), d.total(thread=0)
    samples, low, high = d.samples()
    counts = [len(d.profiles), len(d.r["ctx"])]
    pin("info", "locations", counts[0])
    pin("info", "contexts", counts[1])
    pin("info", "traces", len(samples), sum(map(len, samples.values())), (high - low) / 1e9)
    pin("info", "  total  ", total)

    react = d.sum(d.inclusive, d.frames("react"), thread=0)
    pin("tree", "react", react, 100 * react / first)
    rate = d.sum(d.inclusive, d.frames("reaction_rate"))
    pin("tree-pruned", "reaction_rate", rate, 100 * rate / first)
    pin("callers", "PMPI_Allreduce", d.sum(d.inclusive, d.frames("PMPI_Allreduce")))
    for name in ["__GI___sched_yield", "do_sin"]:
        own = d.sum(d.exclusive, d.frames(name))
        pin("flat", name, own, 100 * own / first)

    ranks = d.by_rank("react")
    values = sorted(ranks.values())
    mean, largest = statistics.fmean(values), values[-1]
    variation = statistics.stdev(values) / mean
    pin("balance", "react", mean, largest, mean / largest, variation, largest - mean)
    pin("distribution", "mean", mean)
    pin("distribution", "median", statistics.median(values))
    pin("distribution", "max/mean", largest / mean)
    for rank, value in sorted(ranks.items()):
        pin("distribution", f"rank {rank} thread 0", value)
    for rank, value in sorted(d.by_rank("PMPI_Allreduce").items()):
        if rank < 4:
            pin("query", f"rank {rank} thread 0  PMPI_Allreduce", value)

    line = d.lines("reactor.c", 67)
    pin("source", "67  ", d.sum(d.inclusive, line))
    # The two functions of that file.
    own = sum(d.sum(d.exclusive, d.frames(name)) for name in ["__sin_fma", "do_sin"])
    pin("flat-formula", "s_sin.c", 100 * own / first)

    for golden in ["iterations-location", "iterations-iteration"]:
        pin(golden, "time range", (high - low) / 1e9)

    slow = d.sum(d.exclusive, d.frames("libc_feholdsetround_sse_ctx"))
    pin("report", "Exclusive time of libc_feholdsetround_sse_ctx", 100 * slow / first, slow)
    pin("report", "  total  ", first, total - first)

    d = Database(REACTOR + "n512-p4")
    samples, low, high = d.samples()
    # One thread of the program in each rank.
    pin("idleness", "Threads by trace time", 4 * (high - low) / 1e9)
    residual = d.sum(d.inclusive, d.frames("residual"))
    pin("tree-from", "residual", 1000 * residual, 100 * residual / d.total(thread=0))

    d = Database(REACTOR + "hybrid-n1024-p2x2")
    pin("info-hybrid", "locations", len(d.profiles))
    pin("info-hybrid", "  total  ", d.total())

    # A sample lasts until the next one of its location, the last one no time at all.
    d = Database(REACTOR + "n256-p2")
    samples, low, high = d.samples()
    own = [i for i, p in enumerate(d.r["profs"]) if p["ids"] and
           {k: l for k, _, l, _ in p["ids"]}.items() >= {"RANK": 1, "THREAD": 0}.items()]
    track = samples[own[0]]
    begin, end = low + 0.6 * (high - low), low + 0.7 * (high - low)
    inside = [(a, b) for (a, _), (b, _) in zip(track, track[1:]) if a < end and b > begin]
    at, until = inside[1]
    pin("trace", f"{(at - low) / 1e6:.1f} ", (at - low) / 1e6, (until - at) / 1e6)

    d = Database(REACTOR + "n256-p4")
    samples, low, high = d.samples()
    begin, end = low + 0.25 * (high - low), low + 0.75 * (high - low)
    modules = {}
    threads = [{k: l for k, _, l, _ in p["ids"] or []}.get("THREAD") for p in d.r["profs"]]
    program = [track for profile, track in samples.items() if threads[profile] == 0]
    for track in program:
        for (a, context), (b, _) in zip(track, track[1:]):
            time = min(b, end) - max(a, begin)
            node = d.r["ctx"].get(context)
            while node and "fn" not in node:
                node = d.r["ctx"].get(node["parent"])
            if time > 0 and node:
                name = d.r["fns"][node["fn"]][1]
                modules[name] = modules.get(name, 0) + time / 1e9
    module = max(modules, key=modules.get)
    share = 100 * modules[module] / sum(modules.values())
    pin("flat-trace", module.rsplit("/", 1)[-1], 1000 * modules[module], share)

    # 200 steps, and 40 in the other runs: see the README of the fixtures.
    pin("iterations", "200 iterations", 200)
    pin("report-iterations", "200 iterations", 200)
    pin("iterations-location", "40 iterations", 40)
    pin("cluster-one", "1 cluster", 8)

    d = Database(sys.argv[2] + "/fixtures/congested")
    cpu = {identity["RANK"]: rows for identity, rows in d.chosen()}
    waiting = d.frames("MPI_Allreduce")
    for golden in ["cluster", "topology", "topology-nodes", "report-racks"]:
        times = [
            max(rows.get(c, {}).get(d.inclusive, 0.0) for c in waiting) for rows in cpu.values()
        ]
        near, far = [t for t in times if t < 1.5], [t for t in times if t >= 1.5]
        if golden == "report-racks":
            pin(golden, "ranks on 24 nodes", len(near), len(far), statistics.fmean(near))
            continue
        pin(golden, "2 clusters", len(near), len(far))
        pin(golden, "Best separated", statistics.fmean(near), statistics.fmean(far))

    # Nine digits are more than any text shows, and the same whatever the order of a sum.
    digits = lambda value: float(f"{value:.9g}") if isinstance(value, float) else value
    lines = (json.dumps([golden, line, list(map(digits, v))]) for golden, line, v in out)
    print("[" + ",\n".join(lines) + "]")


main()
