"""Late launches, waits for GPUs and the critical path of a Kineto trace, from its JSON alone.

An oracle: it shares no code with Parallax and follows the definitions at the top of
`crates/analysis/src/events/gpu.rs` and `critical_path.rs`, with plain searches in lists.

    python3 gpu_waits.py TRACE.json.gz ...

prints for each trace: late launches (number, nanoseconds), waits for GPUs (number, nanoseconds),
the segments of the critical path, and the nanoseconds of it on streams. The test
`waits_and_paths_of_gpus_are_those_of_the_raw_traces` in `../events.rs` has these numbers.
"""

import gzip
import json
import re
import sys
from bisect import bisect_right
from collections import defaultdict
from decimal import Decimal

WORK = {"kernel", "gpu_memcpy", "gpu_memset"}
SYNCHRONISE = {"DeviceSynchronize", "StreamSynchronize", "EventSynchronize", "CtxSynchronize"}


def nanos(micros):
    """Decimals as they are written: a float has no nanoseconds left after a day."""
    return int(Decimal(micros) * 1000)


def runtime(name):
    """The bare name of a call of a GPU runtime or driver without its prefix, else None."""
    found = re.match(r"(?:cuda|cu|hip)([A-Z][A-Za-z0-9]*)", name)
    return found.group(1) if found else None


def read(path):
    data = gzip.open(path) if path.endswith(".gz") else open(path, "rb")
    with data:
        root = json.load(data, parse_float=Decimal)
    events = root["traceEvents"] if isinstance(root, dict) else root
    calls, starts, ends, times = defaultdict(list), defaultdict(list), [], []
    for event in events:
        phase = event.get("ph")
        if phase == "M" or "ts" not in event:
            continue
        track, at = (str(event.get("pid")), str(event.get("tid"))), nanos(event["ts"])
        times.append(at)
        if phase == "X":
            end = at + nanos(event.get("dur", 0))
            times.append(end)
            calls[track].append((at, end, event["name"], event.get("cat", "")))
        elif phase in "sf":
            flow = (event.get("cat"), event.get("name"), str(event.get("id")))
            if phase == "s":
                starts[flow].append((at, track))
            else:
                ends.append((flow, at, track))
    flows = []
    for flow, at, track in ends:
        before = sorted(start for start in starts[flow])
        if before:
            earlier = [start for start in before if start[0] <= at]
            flows.append((*(earlier[-1] if earlier else before[0]), at, track))
    return calls, flows, min(times), max(times)


def outermost(calls, is_wanted):
    """Those that are wanted and lie in no other that is."""
    out, until = [], None
    for call in sorted(calls, key=lambda call: (call[0], -call[1])):
        if is_wanted(call) and (until is None or call[0] >= until):
            out.append(call)
            until = call[1]
    return out


def analyse(path):
    calls, flows, begin, end = read(path)
    # Kineto's stream -1 has no work: it stands for all of a device.
    streams = {track for track, own in calls.items() if any(c[3] in WORK for c in own)}
    work = {track: sorted(c for c in calls[track] if c[3] in WORK) for track in streams}
    flows = [flow for flow in flows if flow[3] in streams and flow[1] not in streams]

    of_runtime = {track: [c for c in own if runtime(c[2])] for track, own in calls.items()}
    launch, targets, of_process = {}, defaultdict(list), defaultdict(set)
    for flow in flows:
        sent, sender, received, stream = flow
        of_process[sender[0]].add(stream)
        hit = bisect_right(work[stream], received, key=lambda item: item[0]) - 1
        awaited = False
        if hit >= 0:
            item = work[stream][hit]
            if received == item[0] or received < item[1]:
                rank = (received != item[0], sent > item[0], sent)
                key = (stream, hit)
                if key not in launch or rank < launch[key][0]:
                    launch[key] = (rank, flow)
                awaited = "DtoH" in item[2] and "-> Pageable" in item[2]
        targets[sender].append((sent, stream, awaited))

    # (track that waits, it waits for, from, to)
    late, for_gpu = [], []
    for stream in streams:
        idle = begin
        for number, item in enumerate(work[stream]):
            since, idle = idle, max(idle, item[1])
            if (stream, number) not in launch:
                continue
            sent, sender, _, _ = launch[stream, number][1]
            if not since < sent <= item[0]:
                continue
            around = [c for c in of_runtime[sender] if c[0] <= sent < c[1]]
            launched = max((c[0] for c in around), default=sent)
            if launched > since:
                late.append((stream, sender, since, launched))

    def may_wait(call):
        name = runtime(call[2]) or ""
        inside = ("Peer", "DtoD", "DtoA", "AtoD", "AtoA", "ArrayToArray", "Batch")
        is_copy = name.startswith("Memcpy") and not any(part in name for part in inside)
        return name in SYNCHRONISE or is_copy or ("Memcpy" in name and "Async" in name)

    for thread in [track for track in calls if track not in streams]:
        for start, stop, name, _ in outermost(calls[thread], may_wait):
            own = [target for target in targets[thread] if start <= target[0] < stop]
            if "Async" in name and not any(target[2] for target in own):
                continue
            among = [target[1] for target in own] or sorted(of_process[thread[0]])
            last = [(w[1], s) for s in among for w in work[s] if start < w[1] <= stop]
            if last:
                until, stream = max(last, key=lambda one: one[0])
                for_gpu.append((thread, stream, start, until))

    def takes_part(track):
        def looks_on(call):
            name = runtime(call[2]) or ""
            is_asking = name in SYNCHRONISE or name in ("EventQuery", "StreamQuery")
            return call[3] in ("gpu_user_annotation", "cuda_sync", "Trace") or is_asking

        return any(call[1] > call[0] and not looks_on(call) for call in calls[track])

    track = max(filter(takes_part, calls), key=lambda track: max(c[1] for c in calls[track]))
    waits, now, segments, here = late + for_gpu, end, [], {track}
    while True:
        own = [w for w in waits if w[0] == track and begin < w[3] <= now]
        own = [w for w in own if w[3] < now or w[1] not in here]
        # The latest; of those that end together the longest.
        wait = max(own, key=lambda w: (w[3], -w[2]), default=None)
        until = begin if wait is None else wait[3]
        if until < now:
            segments.append((track, until, now))
            here = {track}
        if wait is None:
            break
        now, track = until, wait[1]
        here.add(track)

    length = lambda waits: (len(waits), sum(wait[3] - wait[2] for wait in waits))
    on_streams = sum(to - at for track, at, to in segments if track in streams)
    return length(late), length(for_gpu), len(segments), on_streams


if __name__ == "__main__":
    for path in sys.argv[1:]:
        print(path.rsplit("/", 1)[-1], *analyse(path))
