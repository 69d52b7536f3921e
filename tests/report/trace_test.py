"""Traces keep the rules of Perfetto's importer of JSON: names and numbers of the right types, complete events that nest, named threads."""
import collections
import sys

from documents import printed_by


def is_number(value):
    return type(value) in (int, float) and value >= 0


traces = [document for kind, _, _, document in printed_by(sys.argv[1:]) if kind == "trace"]
processes = [{event["pid"] for event in trace["traceEvents"]} for trace in traces]
assert {len(found) for found in processes} >= {1, 4}, "no trace of one core, or none of a team"
for trace, pids in zip(traces, processes):
    threads, names, jobs = {}, {}, collections.defaultdict(list)
    for event in trace["traceEvents"]:
        assert isinstance(event["name"], str) and event["name"] and isinstance(event["args"], dict), event
        assert type(event["pid"]) is int and event["pid"] > 0, event
        if event["ph"] == "M":
            name = event["args"]["name"]
            assert isinstance(name, str) and name, event
            # Names stand before what they name, and once.
            if event["name"] == "process_name":
                assert event["pid"] not in names and not any(pid == event["pid"] for pid, _ in threads), event
                names[event["pid"]] = name
            else:
                assert event["name"] == "thread_name" and type(event["tid"]) is int and event["tid"] > 0, event
                assert (event["pid"], event["tid"]) not in threads, event
                assert name not in [other for (pid, _), other in threads.items() if pid == event["pid"]], event
                threads[event["pid"], event["tid"]] = name
        else:
            assert event["ph"] == "X" and isinstance(event["cat"], str), event
            assert type(event["tid"]) is int and is_number(event["ts"]) and is_number(event["dur"]), event
            assert (event["pid"], event["tid"]) in threads, f"a thread without a name: {event}"
            assert event["args"]["complete"] >= event["ts"] + event["dur"], event
            jobs[event["pid"], event["tid"]].append(event)
    assert set(names) == (pids if len(pids) > 1 else set()), "processes without names"
    assert len(set(names.values())) == len(names), "two processes of one name"
    for thread, events in jobs.items():
        # Of those that begin together, the longest one is around the others.
        open_until = []
        for event in sorted(events, key=lambda event: (event["ts"], -event["dur"])):
            begin, end = event["ts"], event["ts"] + event["dur"]
            while open_until and open_until[-1] <= begin:
                open_until.pop()
            assert not open_until or end <= open_until[-1], f"{threads[thread]}: {event} ends after what it begins in"
            open_until.append(end)
print([len(trace["traceEvents"]) for trace in traces])
