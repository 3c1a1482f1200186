"""Deterministic scenarios with routers that do more than drop-tail.

RED where its dice are loaded, exact marks, DRR.

RED is deterministic in two ways. With a `max_p` of next to nothing it loses only what its average
forces it to. With `weight` 1 the average is the queue as it stands, a whole number that never lies
between thresholds one packet apart; then, with a `max_p` of 2/3 or more, `wait` takes exactly every
second packet and no `wait` takes each.
"""

from __future__ import annotations

from .case import RECOVERIES, Case, scenario

NEVER = 1e-9
FORCED = {"max_p": NEVER, "gentle": False}
LOADED = {"weight": 1, "max_p": 0.7}


def several(flows: list[dict], queue: dict, *, loss=None, cross=None, **options) -> dict:
    """Flows of these entries over one queue; `options` are those of `case.scenario`."""
    result = scenario(**{"window": 1000, "duration": 30, **options})
    result["dumbbell"]["queue"] = {"limit": "60pkt", **queue}
    defaults = {"rule": "AIMD(1, 0.5)", "recovery": "sack"}
    result["flows"] = [
        {**defaults, **flow, "name": flow.get("name", f"f{i}")} for i, flow in enumerate(flows)
    ]
    if loss:
        result["dumbbell"]["loss"] = loss
    if cross:
        result["cross"] = cross
    return result


def spread(recoveries, rules=("AIMD(1, 0.5)",)) -> list[dict]:
    """One flow for each recovery, of different round trips and starts without a common measure."""
    delays = ("3.33ms", "41.9ms", "17.07ms", "29.3ms", "8.81ms")
    starts = (0, 0.7123, 0.3371, 1.1777, 0.0519)
    return [
        {
            "recovery": recovery,
            "rule": rules[i % len(rules)],
            "access_delay": delays[i],
            "start": starts[i],
        }
        for i, recovery in enumerate(recoveries)
    ]


def red_forced() -> list[Case]:
    """Losses by the average queue alone."""
    path = {"rate": "3.1Mbit", "delay": "21.7ms", "access_rate": "31Mbit"}
    cases = []
    for index, recovery in enumerate(RECOVERIES):
        one = {"kind": "red", **FORCED, "min": "5pkt", "max": "15pkt", "weight": 0.02}
        cases.append(
            Case(f"red-{recovery}", several([{"recovery": recovery}], one, **path), draw=index)
        )
        two = {"kind": "red", **FORCED, "min": "4pkt", "max": "9pkt", "weight": 0.002}
        cases.append(
            Case(f"red-two-{recovery}", several(spread([recovery] * 2), two, **path), draw=index)
        )
    all_four = spread(RECOVERIES)
    for weight in (0.002, 0.05, 1):
        queue = {"kind": "red", **FORCED, "min": "5pkt", "max": "12pkt", "weight": weight}
        cases.append(Case(f"red-four-weight-{weight}", several(all_four, queue, **path)))
    queue = {"kind": "red", **FORCED, "min": "5pkt", "max": "12pkt", "weight": 0.05}
    cases += [
        Case(
            "red-full-buffer",
            several(all_four, {**queue, "max": "50pkt", "limit": "14pkt"}, **path),
        ),
        Case(
            "red-gentle-unreached",
            several(all_four, {**queue, "gentle": True, "max": "30pkt", "limit": "20pkt"}),
        ),
        Case("red-mark-p-without-ecn", several(all_four, {**queue, "mark_p": 0.1}, **path)),
        Case("red-no-wait", several(all_four, {**queue, "wait": False, "max_p": 1e-15}, **path)),
        Case(
            "red-thresholds-automatic",
            several(all_four, {"kind": "red", **FORCED, "weight": 0.05}, **path),
        ),
        Case("red-all-automatic", several(all_four, {"kind": "red", **FORCED}, **path)),
        Case(
            "red-automatic-above-five",
            several(
                all_four[:2], {"kind": "red", **FORCED, "target_delay": "40ms"}, **path, duration=60
            ),
        ),
        Case(
            "red-automatic-long-path",
            several(
                all_four[:2], {"kind": "red", **FORCED}, **{**path, "delay": "90ms"}, duration=60
            ),
        ),
        Case(
            "red-GAIMD-and-others",
            several(
                spread(
                    ["sack", "newreno", "reno"],
                    ("AIMD(0.31, 0.875)", "MIMD(1.125, 0.8)", "AIAD(1, 3)"),
                ),
                queue,
                **path,
            ),
        ),
        Case("2000-red-four", several(all_four, queue, **path, profile="ns2-2000")),
    ]
    return cases


def red_in_bytes() -> list[Case]:
    """The average and the thresholds in bytes; packets of several sizes."""
    sizes = spread(["sack", "newreno", "reno"])
    for flow, size in zip(sizes, (1000, 512, 1460), strict=True):
        flow["tcp"] = {"packet_size": size}
    queue = {"kind": "red", **FORCED, "min": "5pkt", "max": "12pkt", "weight": 0.05}
    fine = {"kind": "red", **LOADED, "min": "10400B", "max": "10401B"}
    return [
        Case("red-sizes-by-packets", several(sizes, queue)),
        Case("red-sizes-by-bytes", several(sizes, {**queue, "queue_in_bytes": True})),
        Case(
            "red-sizes-mean-packet",
            several(sizes, {**queue, "queue_in_bytes": True, "mean_packet": "500B"}),
        ),
        Case(
            "red-sizes-bytes-loaded",
            several(spread(RECOVERIES), {**fine, "queue_in_bytes": True, "bytes": True}),
        ),
        Case(
            "red-bytes-full",
            several(sizes, {**queue, "queue_in_bytes": True, "max": "100pkt", "limit": "9pkt"}),
        ),
    ]


def red_idle() -> list[Case]:
    """Transfers with pauses between them: what the average does while nothing is sent."""
    bursts = [
        {"packets": 70, "start": 0, "recovery": "sack"},
        {"packets": 90, "start": 2.3, "recovery": "newreno", "access_delay": "11.3ms"},
        {"packets": 120, "start": 4.41, "recovery": "reno", "access_delay": "23.9ms"},
        {"packets": 150, "start": 6.0777, "recovery": "sack", "access_delay": "3.7ms"},
    ]
    queue = {"kind": "red", **FORCED, "min": "3pkt", "max": "7pkt"}
    return [
        Case(
            f"red-idle-weight-{weight}",
            several(bursts, {**queue, "weight": weight}, duration=40, rate=rate),
        )
        for weight, rate in ((0.1, "2.3Mbit"), (0.01, "2.3Mbit"), (0.02, "970kbit"))
    ] + [
        Case(
            "red-idle-mean-packet",
            several(bursts, {**queue, "weight": 0.01, "mean_packet": "200B"}, rate="2.3Mbit"),
        ),
        Case(
            "red-idle-window-2",
            several(bursts, {**queue, "weight": 0.3, "min": "1pkt", "max": "2pkt"}, window=9),
        ),
    ]


def red_loaded() -> list[Case]:
    """Every second packet, or each, above thresholds one packet apart."""
    four = spread(RECOVERIES)
    queue = {"kind": "red", **LOADED, "min": "7pkt", "max": "8pkt"}
    cases = [
        Case("red-loaded", several(four, queue)),
        Case("red-loaded-no-wait", several(four, {**queue, "wait": False})),
        Case("red-loaded-not-gentle", several(four, {**queue, "gentle": False})),
        Case("red-loaded-mark-p", several(four, {**queue, "gentle": False, "mark_p": 0.5})),
        Case("red-loaded-bytes", several(four, {**queue, "bytes": True})),
    ]
    ecn = {"ecn": True}
    for recovery in RECOVERIES:
        flows = spread([recovery] * 3)
        cases.append(Case(f"red-ecn-{recovery}", several(flows, {**queue, **ecn}, ecn=True)))
    mixed = [{**flow, "tcp": {"ecn": i % 2 == 0}} for i, flow in enumerate(four)]
    cases += [
        Case("red-ecn-mixed", several(mixed, {**queue, **ecn})),
        Case("red-ecn-no-wait", several(four, {**queue, **ecn, "wait": False}, ecn=True)),
        Case("red-ecn-full-buffer", several(four, {**queue, **ecn, "limit": "12pkt"}, ecn=True)),
        Case("red-ecn-forced", several(four, {**queue, **ecn, "gentle": False}, ecn=True)),
        Case("red-ecn-mark-p", several(four, {**queue, **ecn, "mark_p": 0.85}, ecn=True)),
        Case("red-ecn-mark-p-low", several(four, {**queue, **ecn, "mark_p": 0.1}, ecn=True)),
        Case(
            "red-ecn-small-windows",
            several(spread(["sack"] * 5), {**queue, **ecn}, ecn=True, rate="300kbit"),
        ),
        Case("red-ecn-delayed-ack", several(four, {**queue, **ecn}, ecn=True, delayed_ack=True)),
        Case("2000-red-ecn", several(four, {**queue, **ecn}, ecn=True, profile="ns2-2000")),
    ]
    return cases


def step() -> list[Case]:
    """Marks from a threshold on, and drops there of packets that are not ECN-capable."""
    four = spread(RECOVERIES)
    queue = {"kind": "step", "threshold": "7pkt"}
    mixed = [{**flow, "tcp": {"ecn": i % 2 == 0}} for i, flow in enumerate(four)]
    cases = [
        Case(f"step-{recovery}", several(spread([recovery] * 3), queue, ecn=True))
        for recovery in RECOVERIES
    ]
    return [
        *cases,
        Case("step-mixed", several(mixed, queue)),
        Case("step-without-ecn", several(four, queue)),
        Case("step-least", several(four, {**queue, "threshold": "3pkt"}, ecn=True)),
        Case("step-full-buffer", several(four, {**queue, "limit": "9pkt"}, ecn=True)),
        Case("step-threshold-automatic", several(four, {"kind": "step"}, ecn=True, rate="4Mbit")),
        Case("step-in-time", several(four, {**queue, "threshold": "80ms"}, ecn=True)),
        Case(
            "step-small-windows",
            several(spread(["sack"] * 5), queue, ecn=True, rate="300kbit"),
        ),
        Case("step-delayed-ack", several(four, queue, ecn=True, delayed_ack=True)),
        Case("2000-step", several(four, queue, ecn=True, profile="ns2-2000")),
    ]


def marked(recovery: str, marks, drops=(), rule="AIMD(1, 0.5)", **options) -> dict:
    """One ECN flow, of which these packets are marked and those lost."""
    result = scenario(recovery, rule, drops, ecn=True, **options)
    result["dumbbell"].setdefault("loss", []).append({"kind": "marks", "packets": sorted(marks)})
    return result


def ecn() -> list[Case]:
    """Exact marks: where an echo cuts, where it does not, what it does beside losses and in small
    windows."""
    cases = []
    again = [30, 31, 38, 39, 44, 45, 46, 47, 48, 60, 90, 91, 150]
    for index, recovery in enumerate(RECOVERIES):
        cases += [
            Case(f"ecn-{recovery}", marked(recovery, [30, 150, 151, 400]), draw=index),
            Case(f"ecn-{recovery}-again-in-a-window", marked(recovery, again), draw=index),
            Case(
                f"ecn-{recovery}-in-slow-start",
                marked(recovery, [2, 5, 6, 30], window=500, duration=10),
            ),
            Case(f"ecn-{recovery}-first-packets", marked(recovery, [0, 1, 2, 3])),
            Case(
                f"ecn-{recovery}-then-loss",
                marked(recovery, [30], [33, 36, 52, 90], window=32),
                draw=index,
            ),
            Case(
                f"ecn-{recovery}-with-loss",
                marked(recovery, [30, 31, 32], [31, 45, 60]),
                draw=index,
            ),
            Case(
                f"ecn-{recovery}-loss-then-mark",
                marked(recovery, [52, 56, 58, 70, 80], [50, 51]),
                draw=index,
            ),
            Case(
                f"ecn-{recovery}-reduced-packet-lost",
                marked(recovery, [40, 200], [60, 61, 62, 63, 64, 65], window=24),
                draw=index,
            ),
            Case(
                f"ecn-{recovery}-timeout",
                marked(recovery, [50, 64, 70], range(44, 62), duration=60),
                draw=index,
            ),
            Case(
                f"ecn-{recovery}-down-to-one",
                marked(recovery, range(20, 90), window=6, duration=60),
                draw=index,
            ),
            Case(
                f"ecn-{recovery}-window-1",
                marked(recovery, range(8, 40), window=1, duration=60),
                draw=index,
            ),
            Case(
                f"ecn-{recovery}-window-2-losses",
                marked(recovery, range(8, 40), [12, 15, 16, 17], window=2, duration=90),
                draw=index,
            ),
            Case(
                f"ecn-{recovery}-delayed-ack",
                marked(recovery, again, [70, 120], delayed_ack=True),
                draw=index,
            ),
            Case(
                f"ecn-{recovery}-timestamps",
                marked(recovery, again, [70, 120], timestamps=True),
                draw=index,
            ),
            Case(
                f"2000-ecn-{recovery}",
                marked(recovery, again, [70, 120], profile="ns2-2000"),
                draw=index,
            ),
        ]
    for rule in (
        "AIMD(0.31, 0.875)",
        "AIMD(2, 0.8)",
        "AIAD(1, 3)",
        "MIMD(1.125, 0.8)",
        "MIAD(1.125, 3)",
    ):
        name = rule.replace("(", "-").replace(", ", "-").rstrip(")")
        for recovery in ("sack", "newreno"):
            marks = [20, *range(150, 1400, 125), 1403]
            cases.append(
                Case(
                    f"ecn-{recovery}-{name}",
                    marked(recovery, marks, [700, 760], rule, window=60, duration=30),
                )
            )
    cases.append(
        Case(
            "ecn-off-at-the-sender",
            {**marked("sack", [30, 31, 40], [50]), "tcp": {"ecn": False, "window": 20}},
        )
    )
    cases.append(Case("ecn-finite-last-packets", marked("sack", [48, 49, 50], packets=50)))
    return cases


def drr() -> list[Case]:
    """One bucket for each source: two flows, and more."""
    path = {"rate": "2.3Mbit", "delay": "21.7ms", "limit": 1000}
    cases = []
    for index, recovery in enumerate(RECOVERIES):
        for limit in (12_000, 26_000, 60_000):
            two = spread([recovery] * 2, ("AIMD(1, 0.5)", "AIMD(0.31, 0.875)"))
            queue = {"kind": "drr", "limit": f"{limit}B"}
            cases.append(
                Case(f"drr-two-{recovery}-{limit}", several(two, queue, **path), draw=index)
            )
    queue = {"kind": "drr", "limit": "26000B"}
    two, four, five = spread(["sack", "reno"]), spread(RECOVERIES), spread([*RECOVERIES, "sack"])
    sizes = [
        {**flow, "tcp": {"packet_size": size}}
        for flow, size in zip(four, (1000, 512, 1460, 100), strict=True)
    ]
    cbr = [{"name": "cbr", "rate": "733kbit", "packet_size": "500B", "start": 1.0123}]
    greedy = [
        {"name": "cbr", "rate": "3.1Mbit", "packet_size": "1040B", "start": 1.0123, "stop": 9}
    ]
    bell = {"sink_rate": "20Mbit", "sink_delay": "1.7ms", "back_rate": "311kbit"}
    cases += [
        Case("drr-two-limit-not-a-multiple", several(two, {**queue, "limit": "25000B"}, **path)),
        Case(
            "drr-two-large-buffer", several(two, {**queue, "limit": "200000B"}, **path, duration=60)
        ),
        Case("drr-two-no-common-rtt", several(two, queue, **{**path, "delay": "3.1ms"})),
        Case("drr-two-quantum-250", several(two, {**queue, "quantum": "250B"}, **path)),
        Case("drr-two-quantum-3000", several(two, {**queue, "quantum": "3000B"}, **path)),
        Case(
            "drr-two-packets-lost",
            several(two, queue, loss=[{"kind": "list", "packets": [50, 51, 300]}], **path),
        ),
        Case(
            "drr-two-finite",
            several([{"packets": 200}, {"start": 0.3, "access_delay": "3.1ms"}], queue, **path),
        ),
        Case("drr-two-sink-links", several(two, queue, bell=bell, **path)),
        Case("drr-three", several(four[:3], queue, **path)),
        Case("drr-four", several(four, queue, **path)),
        Case("drr-five", several(five, {**queue, "limit": "40000B"}, **path)),
        Case("drr-four-sizes", several(sizes, queue, **path)),
        Case("drr-four-sizes-quantum-500", several(sizes, {**queue, "quantum": "500B"}, **path)),
        Case(
            "drr-four-ecn-marks",
            several(
                four,
                queue,
                loss=[{"kind": "marks", "packets": [*range(90, 2000, 97)]}],
                ecn=True,
                **path,
            ),
        ),
        Case("drr-two-cbr", several(two, queue, cross=cbr, **path)),
        Case("drr-two-greedy-cbr", several(two, queue, cross=greedy, **path)),
        Case("2000-drr-two", several(two, queue, **path, profile="ns2-2000")),
    ]
    return cases


def cross_traffic() -> list[Case]:
    """Constant bit rate beside flows, where nothing is drawn."""
    two = spread(["sack", "newreno"])
    cbr = [{"name": "cbr", "rate": "333kbit", "packet_size": "500B", "start": 1.0123, "stop": 20}]
    tail = {"kind": "drop-tail", "limit": "15pkt"}
    red = {"kind": "red", **FORCED, "min": "5pkt", "max": "12pkt", "weight": 0.05}
    # The second rate comes before the first packet is complete, the fourth as a packet leaves.
    points = [["0s", "0.1kbit"], ["3s", "333kbit"], ["7.1s", "1bit"], ["9.3s", "1Mbit"],
              ["11.3s", "100kbit"], ["14s", "1.37Mbit"]]  # fmt: skip
    varying = [{"name": "varying", "rate": {"kind": "points", "points": points},
                "packet_size": "500B"}]  # fmt: skip
    return [
        Case("drop-tail-varying-cbr", several(two, tail, cross=varying)),
        Case("drop-tail-cbr", several(two, tail, cross=cbr)),
        Case("red-cbr", several(two, red, cross=cbr)),
        Case(
            "drop-tail-two-cbr",
            several(two, tail, cross=[{**cbr[0], "name": "more", "rate": "97kbit"}, *cbr]),
        ),
    ]


def stops() -> list[Case]:
    """Applications that stop while packets are being lost, as `$ftp stop` and without its fault."""
    flows = [
        {**flow, "stop": stop}
        for flow, stop in zip(spread(RECOVERIES), (9.0123, 8.371, 11.177, 12.519), strict=True)
    ]
    tail = {"kind": "drop-tail", "limit": "6pkt"}
    return [
        Case(f"stops-{keeps}", several(flows, tail, stop_keeps_last_packet=keeps))
        for keeps in (False, True)
    ]


def tiny_drr() -> list[Case]:
    """Buffers of less than two packets a flow: overflow empties a queue in its turn."""
    five = spread([*RECOVERIES, "sack"])
    return [
        Case(
            f"drr-tiny-{quantum}",
            several(five, {"kind": "drr", "limit": f"{limit}B", "quantum": f"{quantum}B"}),
        )
        for quantum, limit in ((500, 3120), (1500, 5200))
    ]


def everything() -> list[Case]:
    return [
        *red_forced(),
        *red_in_bytes(),
        *red_idle(),
        *red_loaded(),
        *step(),
        *ecn(),
        *drr(),
        *cross_traffic(),
        *stops(),
        *tiny_drr(),
    ]
