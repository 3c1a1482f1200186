# %% [markdown]
# # What a router changes
#
# **The question.** The senders stay as they are. Only the queue in front of one busy link changes:
# when it drops a packet, and whose packet. Which flows notice, and what do they notice?
#
# *You need:* the sawtooth and the square-root law ([loss and rate](loss-and-rate.ipynb)). *Time:* a
# quarter of an hour.

# %%
import numpy as np
import polars as pl

import cwndlab
from cwndlab import theory
from cwndlab.plots.style import look, panels, styled

_ = pl.Config(
    float_precision=2, tbl_hide_column_data_types=True, tbl_hide_dataframe_shape=True, tbl_rows=20
)
QUEUES = {
    "drop-tail": {"kind": "drop-tail", "limit": "200pkt"},  # one queue, drops on overflow
    "RED": {"kind": "red", "limit": "200pkt"},  # one queue, drops at random before it is full
    "CoDel": {
        "kind": "codel",
        "limit": "200pkt",
    },  # one queue, drops when packets have waited too long
    "DRR": {"kind": "drr", "limit": "200pkt"},  # a queue per flow, served in turn
    "FQ-CoDel": {"kind": "fq-codel", "limit": "200pkt"},  # a queue per flow, each with CoDel
}
LINK_BPS, PACKET_BIT = 20e6, 8 * 1052
PACKETS_PER_S = LINK_BPS / PACKET_BIT


def network(queue, flows, seed=1, **more):
    """A link of 20 Mbit/s with an RTT of about 44 ms."""
    return cwndlab.dumbbell(
        "20Mbit",
        "20ms",
        duration="90s",
        profile="rfc",
        measure=["30s", "90s"],
        seed=seed,
        queue=queue,
        link={"access_delay": ["1ms", "3ms"]},
        flows=flows,
        **more,
    )


FOUR = [{"name": "reno", "rule": "AIMD(1, 0.5)", "count": 4, "start": ["0s", "1s"]}]

# %% [markdown]
# ## Queueing delay: theory
#
# **Drop-tail.** Four flows grow until link and queue are full, all halve, and grow again: the
# synchronous model of [the first lesson](why-aimd-converges.ipynb). Packets beyond the link's BDP
# wait in the queue.

# %%
BASE_RTT_S = 0.044
bdp = PACKETS_PER_S * BASE_RTT_S
course = theory.simulate("AIMD(1, 0.5)", [10, 20, 30, 40], capacity=bdp + 200, steps=3000)
waiting = np.maximum(course.totals[1000:] - bdp, 0.0)
# A longer queue means a longer RTT, which has a larger weight in a time average.
predicted_ms = 1e3 * np.average(waiting, weights=bdp + waiting) / PACKETS_PER_S
print(f"on the link {bdp:.0f} packets, in the queue {waiting.min():.0f} to {waiting.max():.0f}")
print(f"mean wait {predicted_ms:.0f} ms")

# %% [markdown]
# **RED** drops packets at random, more of them as its average queue $q$ grows: a curve $p(q)$. (It
# spaces drops out: from one drop to the next there are $1/p$ to $2/p$ packets, $1.5/p$ on average,
# so it drops two thirds of $p$.) The flows respond according to the square-root law. The loss rate
# at which they fill the link, $p = \frac{3}{2} (n / (C \cdot RTT))^2$, falls as $q$ increases the
# RTT. The queue must be where the two curves cross. Without any simulation:

# %%
MIN, MAX, MAX_P = 20.0, 60.0, 0.1
red = {
    "kind": "red",
    "limit": "200pkt",
    "min": f"{MIN:.0f}pkt",
    "max": f"{MAX:.0f}pkt",
    "max_p": MAX_P,
}
queue = np.linspace(0.1, 80, 800)
# Between min and max from 0 to max_p; beyond ("gentle") on to 1 at twice max.
curve = np.interp(queue, [MIN, MAX, 2 * MAX], [0.0, MAX_P, 1.0]) / 1.5


def demand(n):
    """Loss rate at which n flows fill the link, for each queue length: the law backwards."""
    return 1.5 * (n / (PACKETS_PER_S * (BASE_RTT_S + queue / PACKETS_PER_S))) ** 2


COUNTS = [2, 4, 8, 16, 32]
crossing = {n: float(queue[np.argmax(curve >= demand(n))]) for n in COUNTS}

# %% [markdown]
# ## Queueing delay: simulation

# %%
operating = []
for n in COUNTS:
    result = cwndlab.run(network(red, [{**FOUR[0], "count": n}]))
    flows = result.flows
    loss = flows["dropped_packets"].sum() / flows["sent_packets"].sum()
    operating.append((n, crossing[n], result.links["mean_queue_packets"][0], 100 * loss))
operating = pl.DataFrame(
    operating,
    schema=["flows", "queue, predicted", "queue, simulated", "losses [%], simulated"],
    orient="row",
)


@styled
def crossings(operating):
    figure, (axes,) = panels(1, width=7.2, height=4.0)
    axes.plot(queue, 100 * curve, color="#222222", linewidth=2, label="RED: loss rate")
    for index, (n, _, simulated, loss) in enumerate(operating.iter_rows()):
        style = look(index)
        axes.plot(
            queue,
            100 * demand(n),
            color=style.color,
            linestyle=style.linestyle,
            label=f"{n} flows: loss rate needed",
        )
        axes.plot(simulated, loss, style.marker, color=style.color, markersize=8)
    axes.set_yscale("log")
    axes.set_yticks([0.03, 0.1, 0.3, 1, 3, 10], ["0.03", "0.1", "0.3", "1", "3", "10"])
    axes.minorticks_off()
    axes.set(xlim=(0, 70), ylim=(0.02, 12), xlabel="mean queue [packets]", ylabel="losses [%]")
    axes.set_title("Predicted queue: crossing of the lines; symbols: simulated")
    axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), fontsize=8.5)
    return figure


crossings(operating)

# %%
operating

# %% tags=["check"]
# "Within a tenth from 4 to 16 flows", "a third too high at 32", "on RED's line", "four times the
# flows, not half as much again in the queue".
some = operating.filter(pl.col("flows").is_in([4, 8, 16]))
assert (some["queue, predicted"] / some["queue, simulated"] - 1).abs().max() < 0.1
assert 1.28 < operating["queue, predicted"][4] / operating["queue, simulated"][4] < 1.38
on_line = np.interp(operating["queue, simulated"][2:], queue, 100 * curve)
assert np.abs(operating["losses [%], simulated"][2:].to_numpy() / on_line - 1).max() < 0.2
assert some["queue, simulated"].max() < 1.5 * some["queue, simulated"].min()

# %% [markdown]
# From 4 to 16 flows the crossing predicts the mean queue within a tenth: four times the flows, not
# half as much again in the queue. The symbols lie on RED's line, as they must. At 32 flows the
# prediction is a third too high: windows are so small that timeouts cause part of the reductions,
# and the square-root law asks for more losses than needed. (Two flows do not fill the link all the
# time, which the law does not model.) Now all five queues, with four flows each:

# %%
TRACE = {"queue": "50ms"}
four = {name: cwndlab.run(network(queue, FOUR, trace=TRACE)) for name, queue in QUEUES.items()}
cwndlab.plots.queue_by_rule(four)

# %%
table = []
for name, result in four.items():
    link, flows = result.links.row(0, named=True), result.flows
    table.append(
        {
            "queue": name,
            "goodput [Mbit/s]": result.aggregate_goodput_bps / 1e6,
            "losses [%]": 100 * flows["dropped_packets"].sum() / flows["sent_packets"].sum(),
            "mean wait [ms]": 1e3 * link["mean_queueing_delay_s"],
            "95 % wait below [ms]": 1e3 * link["p95_queueing_delay_s"],
        }
    )
table = pl.DataFrame(table)
table

# %%
simulated_ms = table["mean wait [ms]"][0]
print(f"drop-tail: {predicted_ms:.0f} ms predicted, {simulated_ms:.0f} ms simulated")

# %% tags=["check"]
# "Within a sixth", "the delay by a factor of ten", "less than 4 % of goodput",
# "about two to three times the losses".
assert abs(predicted_ms / simulated_ms - 1) < 1 / 6
waits, goods = (
    dict(table.select("queue", "mean wait [ms]").rows()),
    dict(table.select("queue", "goodput [Mbit/s]").rows()),
)
lost = dict(table.select("queue", "losses [%]").rows())
for name in ("RED", "CoDel", "FQ-CoDel"):
    assert waits[name] < waits["drop-tail"] / 10
    assert 1.8 < lost[name] / lost["drop-tail"] < 3
    assert goods[name] > 0.96 * goods["drop-tail"]

# %% [markdown]
# The synchronous model gives drop-tail's delay within a sixth. It is too low, because not all flows
# halve at each overflow and the queue stays fuller. The queues that drop *early* reduce the delay
# by a factor of ten. They cost less than 4 % of the goodput and about two to three times the
# losses. This is no contradiction but the law: a shorter RTT needs a higher loss rate for the same
# rate. DRR drops as late as drop-tail, and its delay is as long: a queue per flow has another
# purpose.
#
# ## Sharing: whose packet is dropped
#
# Two flows of AIMD(1, 0.5) compete with two of CUBIC, in ten runs each. Half of the link's payload
# is 9.5 Mbit/s.

# %%
FAIR_MBPS = LINK_BPS / 1e6 * 1000 / 1052 / 2
RIVALS = [
    {"name": "reno", "rule": "AIMD(1, 0.5)", "count": 2, "start": ["0s", "1s"]},
    {"name": "cubic", "rule": "CUBIC", "count": 2, "start": ["0s", "1s"]},
]
runs = (
    ((name, seed), network(queue, RIVALS, seed))
    for name, queue in QUEUES.items()
    for seed in range(1, 11)
)
shares = [
    (name, seed, result.flows.filter(pl.col("group") == "reno")["goodput_bps"].sum() / 1e6)
    for (name, seed), result in cwndlab.run_many(runs)
]
shares = pl.DataFrame(shares, schema=["queue", "seed", "AIMD [Mbit/s]"], orient="row").sort("seed")


@styled
def rivals(shares):
    figure, (axes,) = panels(1, width=6.8, height=3.2)
    for index, name in enumerate(QUEUES):
        values = shares.filter(pl.col("queue") == name)["AIMD [Mbit/s]"].sort()
        places = index + np.linspace(-0.2, 0.2, len(values))
        axes.plot(
            places, values, look(index).marker, color=look(index).color, markersize=5, alpha=0.8
        )
    axes.axhline(FAIR_MBPS, color="#222222", linestyle="--", linewidth=1.2)
    axes.text(4.45, FAIR_MBPS + 0.3, "an equal share", ha="right", fontsize=8.5)
    axes.set_xticks(range(len(QUEUES)), QUEUES)
    axes.set(
        ylim=(0, 2 * FAIR_MBPS),
        ylabel="both AIMD flows [Mbit/s]",
        title="AIMD beside CUBIC; each mark is a run",
    )
    return figure


rivals(shares)

# %% tags=["check"]
# "By more than a factor of ten", "within a sixth", "within a little more than a third", "exactly".
spread = shares.group_by("queue").agg(
    low=pl.col("AIMD [Mbit/s]").min(), high=pl.col("AIMD [Mbit/s]").max()
)
low, high = ({row["queue"]: row[key] for row in spread.to_dicts()} for key in ("low", "high"))
assert high["drop-tail"] / low["drop-tail"] > 10
for name, most in {"RED": 1 / 6, "FQ-CoDel": 1 / 6, "CoDel": 0.36}.items():
    assert low[name] > (1 - most) * FAIR_MBPS
    assert high[name] < (1 + most) * FAIR_MBPS
assert low["DRR"] > 0.99 * FAIR_MBPS
assert high["DRR"] < 1.01 * FAIR_MBPS

# %% [markdown]
# With drop-tail the result is random: the same four senders, started within the same second, get
# shares that differ by more than a factor of ten from run to run. (The [first
# lesson](why-aimd-converges.ipynb) gives the reason: phase effects.) With RED and FQ-CoDel every
# run is within a sixth of an equal share, with CoDel within a little more than a third. DRR divides
# exactly.
#
# **And if a sender does not respond to losses at all?** A source of 30 Mbit/s, more than the link
# carries, competes with our four flows. A router that shares fairly among five gives each a fifth,
# so the four flows together get four fifths of the payload.

# %%
fair = LINK_BPS * 4 / 5 * 1000 / 1052 / 1e6
bully = []
for name, queue in QUEUES.items():
    result = cwndlab.run(network(queue, FOUR, cross=[{"name": "bully", "rate": "30Mbit"}]))
    bully.append(
        (name, result.aggregate_goodput_bps / 1e6, fair, result.cross["delivered_bps"][0] / 1e6)
    )
columns = ["queue", "four flows [Mbit/s]", "a fair router gives them", "the source gets [Mbit/s]"]
bully = pl.DataFrame(bully, schema=columns, orient="row")
bully

# %% tags=["check"]
# "Next to nothing", "within a twentieth".
got = dict(bully.select("queue", "four flows [Mbit/s]").rows())
assert all(got[name] < 0.5 for name in ("drop-tail", "RED", "CoDel"))
assert all(abs(got[name] / fair - 1) < 0.05 for name in ("DRR", "FQ-CoDel"))

# %% [markdown]
# With a single queue the four flows get next to nothing, and dropping early does not help: whoever
# slows down loses, and only our four flows slow down. With a queue per flow the unresponsive source
# only fills its own queue, and the others get their calculated share within a twentieth. *Active*
# queue management determines how long packets wait. *Fair* queueing determines which flow is
# served. The two are independent, and FQ-CoDel does both.
#
# ## A surprise: a shorter queue is less fair
#
# Two near flows (RTT 24 ms) compete with two far ones (120 ms). Which makes them more equal: a
# large buffer, or a small one? Guess before you read on. We take drop-tail queues from 25 to 400
# packets, and let every packet's delay vary by up to 2 ms, which prevents phase effects. Theory has
# two answers, both with the queueing delay as part of the RTT: $1/RTT$ if every packet has the same
# risk of loss, $1/RTT^2$ if all flows receive every signal.

# %%
NEAR_S, FAR_S = 0.024, 0.120
UNEQUAL = [
    {
        "name": "near",
        "rule": "AIMD(1, 0.5)",
        "count": 2,
        "start": ["0s", "1s"],
        "access_delay": ["1ms", "3ms"],
    },
    {
        "name": "far",
        "rule": "AIMD(1, 0.5)",
        "count": 2,
        "start": ["0s", "1s"],
        "access_delay": ["49ms", "51ms"],
    },
]
LIMITS = [25, 50, 100, 200, 400]
ROUTERS = {f"{limit} packets": {"kind": "drop-tail", "limit": f"{limit}pkt"} for limit in LIMITS}
ROUTERS |= {name: queue for name, queue in QUEUES.items() if name != "drop-tail"}


def unequal(queue, seed):
    """Near and far flows over a link that adds 20 ms to every RTT, in a longer run: large buffers
    fill slowly."""
    return network(queue, UNEQUAL, seed).patch(
        {
            "duration": "150s",
            "measure": ["30s", "150s"],
            "dumbbell.delay": "10ms",
            "dumbbell.access_delay": None,
            "dumbbell.jitter": {"kind": "uniform", "high": "2ms"},
        }
    )


runs = (
    ((name, seed), unequal(queue, seed)) for name, queue in ROUTERS.items() for seed in range(1, 9)
)
rows = []
for (name, seed), result in cwndlab.run_many(runs):
    near, far = (
        result.flows.filter(pl.col("group") == group)["goodput_bps"].sum()
        for group in ("near", "far")
    )
    rows.append((name, seed, 1e3 * result.links["mean_queueing_delay_s"][0], near / far))
runs = pl.DataFrame(rows, schema=["queue", "seed", "wait [ms]", "near / far"], orient="row").sort(
    "seed"
)
means = runs.group_by("queue").agg(pl.col("wait [ms]", "near / far").mean())
means = pl.DataFrame({"queue": list(ROUTERS)}).join(
    means, on="queue", how="left", maintain_order="left"
)
by_law = (1e3 * FAR_S + means["wait [ms]"]) / (1e3 * NEAR_S + means["wait [ms]"])
means = means.with_columns(by_law.alias("by 1/RTT"), (by_law**2).alias("by 1/RTT²"))
means


# %%
@styled
def waiting_equalizes(means):
    figure, (axes,) = panels(1, width=7.6, height=4.2)
    wait = np.geomspace(2.5, 170, 100)
    by_law = (1e3 * FAR_S + wait) / (1e3 * NEAR_S + wait)
    axes.loglog(
        wait,
        by_law**2,
        color="#222222",
        linestyle="--",
        label="all flows receive every signal: 1/RTT²",
    )
    axes.loglog(
        wait, by_law, color="#222222", linestyle=":", label="same risk for each packet: 1/RTT"
    )
    tail = means.head(len(LIMITS))
    axes.plot(
        tail["wait [ms]"],
        tail["near / far"],
        "o-",
        color=look(0).color,
        label="drop-tail, 25 to 400 packets",
    )
    for index, row in enumerate(means.tail(len(QUEUES) - 1).to_dicts(), 1):
        style = look(index)
        axes.plot(
            row["wait [ms]"],
            row["near / far"],
            style.marker,
            color=style.color,
            markersize=8,
            label=row["queue"],
        )
    axes.set_xticks([3, 10, 30, 100], ["3", "10", "30", "100"])
    axes.set_yticks([1, 2, 5, 10, 20], ["1", "2", "5", "10", "20"])
    axes.minorticks_off()
    axes.set(xlabel="mean queueing delay [ms]", ylabel="goodput, near / far")
    axes.set_title("The longer the queueing delay, the more equal the flows")
    axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), fontsize=8.5)
    return figure


waiting_equalizes(means)

# %% tags=["check"]
# "From between seven and eight times to less than twice", "between the two theories", "RED and
# CoDel within a fifth".
tail, others = (
    means.head(len(LIMITS)),
    {row["queue"]: row for row in means.tail(len(QUEUES) - 1).to_dicts()},
)
assert 7 < tail["near / far"][0] < 8
assert tail["near / far"][-1] < 2
assert (tail["near / far"].diff().drop_nulls() < 0).all()
assert (tail["near / far"] > tail["by 1/RTT"]).all()
assert (tail["near / far"] < tail["by 1/RTT²"]).all()
for name in ("RED", "CoDel"):
    assert abs(others[name]["near / far"] / others[name]["by 1/RTT"] - 1) < 0.2
    assert others[name]["near / far"] > tail["near / far"][3]
assert abs(others["DRR"]["near / far"] - 1) < 0.05
assert others["FQ-CoDel"]["near / far"] < 1.5

# %% [markdown]
# The queueing delay is the same for all flows, so it reduces the ratio of their RTTs: with 25
# packets of buffer the near flows get between seven and eight times as much, with 400 less than
# twice. Drop-tail lies between the two theories throughout. RED and CoDel, which reduce the
# queueing delay to almost nothing, are within a fifth of the 1/RTT law, and less equal than
# drop-tail with 200 packets. Bloated buffers, for all their harm, also made flows more equal. A
# queue per flow achieves both: FQ-CoDel is short and nearly equal, DRR equal.
#
# ## The rule, or the router?
#
# Finally we compare four rules, ten flows of one rule at a time, in the `constant`
# [environment](../environments.md), with five seeds each and three queues.

# %%
RULES = ["AIMD(1, 0.5)", "AIAD(1, 3)", "MIMD(1.125, 0.8)", "MIAD(1.125, 3)"]
comparison = cwndlab.compare(
    RULES, queue=["drop-tail", "red", "drr"], replicates=5, profile="ns2-2.35"
)
cwndlab.plots.goodput_points(comparison, metric="fairness_spread")

# %%
summary = comparison.summary.filter(pl.col("metric") == "fairness_spread")
spreads = summary.pivot(on="queue", index="rule", values="mean")
spreads

# %% tags=["check"]
# "The worst rule with RED is fairer than the best with drop-tail; with DRR the rules hardly
# differ."
assert spreads["red"].max() < spreads["drop-tail"].min()
assert spreads["drr"].max() < 0.05

# %% [markdown]
# Fairness spread is (largest - smallest) / mean of the flows' goodputs: 0 is equal. The *worst*
# rule with RED is fairer than the *best* with drop-tail; with DRR the rules hardly differ. A good
# part of the debate about fair rules is a debate about one particular router.
#
# ## What to remember
#
# * *When* a queue drops determines how long packets wait; the square-root law gives the length of
#   the queue.
# * *Whose* packet a queue drops determines the shares; only a queue per flow protects against
#   unresponsive sources.
# * Delay and fairness are different goals: with a single queue, a shorter one favours the near
#   flows.
#
# ## Exercises
#
# 1. **A badly configured RED.** In `red` set `MIN, MAX, MAX_P = 5, 15, 0.02`. Predict from the
#    curves what happens with 32 flows; then run it.
# 2. **Marks instead of losses.** Add `"ecn": True` to RED's table in `QUEUES` and pass `tcp={"ecn":
#    True}` to `network`. What happens to the losses, the delay, the goodput, and to the
#    unresponsive source (which is not ECN-capable)?
# 3. **A larger buffer.** Add 800 to `LIMITS`. The dot leaves the lines: how long is one period of
#    the sawtooth with such a buffer, and how many periods fit into the two minutes that we measure?
#    Make the runs longer.
# 4. **A slower source.** Lower the source from 30 to 15 Mbit/s. What does max-min fairness give the
#    four flows now? Check DRR. At which rate does the source stop being a problem?
# 5. **Clicks.** Add `{"name": "clicks", "rule": "AIMD(1, 0.5)", "responses": {"size": 5, "think":
#    "500ms"}}` to `FOUR` and look at `result.arrivals["group", "p50_fct_s", "p95_fct_s"]` for each
#    queue. Which traffic notices the router most?
#
# *Sources:* S. Floyd, V. Jacobson, "Random early detection gateways", 1993. M. Shreedhar, G.
# Varghese, "Efficient fair queueing using deficit round robin", 1995. RFC 8289 (CoDel), RFC 8290
# (FQ-CoDel), RFC 9438 (CUBIC). V. Firoiu, M. Borden, "A study of active queue management for
# congestion control", 2000 (where the curves cross).

# %% [markdown]
# ## Answers
#
# <details><summary>1. A badly configured RED</summary>
#
# With 32 flows the curves cross at 17 packets, beyond `MAX`, where the loss rate rises steeply. The
# simulated mean is 16 packets. The queue is too short for the bursts of so many flows: 4.8 % of the
# packets are lost instead of 3.6 %, and the link idles for 3 % of the time.
#
# </details>
#
# <details><summary>2. Marks instead of losses</summary>
#
# No packet of the flows is lost any more. Delay and goodput are the same within a fiftieth: a flow
# reduces its window at a mark as at a loss. Beside the source of 30 Mbit/s the four flows get 0.4
# Mbit/s instead of next to nothing, because marks save them the timeouts. The source, whose packets
# cannot be marked, keeps the rest.
#
# </details>
#
# <details><summary>3. A larger buffer</summary>
#
# With 800 packets the RTT is 0.3 to 0.4 s, and a period of the sawtooth takes 41 s on average: two
# minutes have three, of a flow one to five, and the start counts. In runs of ten minutes the mean
# ratio falls from 1.9 to 1.6, and lies between the lines again.
#
# </details>
#
# <details><summary>4. A slower source</summary>
#
# A source of 15 Mbit/s still wants more than a fifth of the link, so max-min fairness gives the
# four flows four fifths, as before: 15.2 Mbit/s with DRR. With a single queue they get what the
# source leaves, 5 Mbit/s. At 4 Mbit/s, a fifth, it takes no more than its share: with drop-tail,
# too, the four flows then get 15.2 Mbit/s.
#
# </details>
#
# <details><summary>5. Clicks</summary>
#
# Short responses notice the router most. With drop-tail the median response takes 127 ms and one in
# twenty more than a second; with the other four queues, nearly all take 50 to 60 ms. With DRR this
# is so although the long flows wait as long as with drop-tail: clicks have queues of their own.
#
# </details>

# %% tags=["check"]
# Answer 1.
bad = {**red, "min": "5pkt", "max": "15pkt", "max_p": 0.02}
lengths = np.linspace(0.1, 80, 800)
steep = np.interp(lengths, [5, 15, 30], [0.0, 0.02, 1.0]) / 1.5
needed = 1.5 * (32 / (PACKETS_PER_S * BASE_RTT_S + lengths)) ** 2
assert round(float(lengths[np.argmax(steep >= needed)])) == 17
many = [{**FOUR[0], "count": 32}]
lost = {}
for name, chosen in (("bad", bad), ("good", red)):
    result = cwndlab.run(network(chosen, many))
    flows = result.flows
    lost[name] = round(100 * flows["dropped_packets"].sum() / flows["sent_packets"].sum(), 1)
    if name == "bad":
        assert round(result.links["mean_queue_packets"][0]) == 16
        assert round(result.links["utilization"][0], 2) == 0.97
assert lost == {"bad": 4.8, "good": 3.6}
# Answer 2.
marking = {**QUEUES["RED"], "ecn": True}
drops, marks = (
    cwndlab.run(network(chosen, FOUR, tcp={"ecn": True})) for chosen in (QUEUES["RED"], marking)
)
assert marks.flows["dropped_packets"].sum() == 0
assert marks.flows["ecn_reductions"].sum() > 100
for column in ("mean_queueing_delay_s", "utilization"):
    assert abs(marks.links[column][0] / drops.links[column][0] - 1) < 0.02
bully = [{"name": "bully", "rate": "30Mbit"}]
kept = cwndlab.run(network(marking, FOUR, tcp={"ecn": True}, cross=bully)).aggregate_goodput_bps
assert round(kept / 1e6, 1) == 0.4
# Answer 3.
large = {"kind": "drop-tail", "limit": "800pkt"}
ratios = {}
for end in ("150s", "600s"):
    longer = {"duration": end, "measure": ["30s", end]}
    found = cwndlab.run_many((seed, unequal(large, seed).patch(longer)) for seed in range(1, 9))
    found = [run for _, run in found]
    groups = [
        [run.flows.filter(pl.col("group") == group)["goodput_bps"].sum() for run in found]
        for group in ("near", "far")
    ]
    ratios[end] = float(np.mean(np.divide(*groups)))
    if end == "150s":
        cuts = pl.concat([run.flows for run in found])["window_reductions"]
        assert (cuts.min(), cuts.max()) == (1, 5)
        assert pl.concat([run.flows for run in found])["mean_rtt_s"].is_between(0.28, 0.42).all()
    else:
        cuts = pl.concat([run.flows for run in found])["window_reductions"]
        assert round((600 - 30) / cuts.mean()) == 41
wait_s = float(np.mean([run.links["mean_queueing_delay_s"][0] for run in found]))
by_law = (FAR_S + wait_s) / (NEAR_S + wait_s)
assert {end: round(ratio, 1) for end, ratio in ratios.items()} == {"150s": 1.9, "600s": 1.6}
assert by_law < ratios["600s"] < by_law**2 < ratios["150s"]
# Answer 4.
slower = [{"name": "bully", "rate": "15Mbit"}]
for name in ("DRR", "drop-tail", "RED", "CoDel"):
    got = cwndlab.run(network(QUEUES[name], FOUR, cross=slower)).aggregate_goodput_bps / 1e6
    assert round(got, 1) == 15.2 if name == "DRR" else 4.75 < got < 5
fifth = network(QUEUES["drop-tail"], FOUR, cross=[{"name": "bully", "rate": "4Mbit"}])
assert round(cwndlab.run(fifth).aggregate_goodput_bps / 1e6, 1) == 15.2
# Answer 5.
clicks = {"name": "clicks", "rule": "AIMD(1, 0.5)", "responses": {"size": 5, "think": "500ms"}}
for name, chosen in QUEUES.items():
    result = cwndlab.run(network(chosen, [*FOUR, clicks]))
    ((median_s, slow_s),) = result.arrivals["p50_fct_s", "p95_fct_s"].rows()
    if name == "drop-tail":
        assert round(1e3 * median_s) == 127
        assert slow_s > 1
    else:
        assert 0.05 < median_s <= slow_s < 0.06
    if name == "DRR":
        assert result.links["mean_queueing_delay_s"][0] > 0.064
