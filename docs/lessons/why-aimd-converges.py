# %% [markdown]
# # Why AIMD converges
#
# **The question.** Two senders share a link. Neither knows that the other exists, nor how fast the
# link is. Each has a rule for its window: every RTT it grows a little, after a loss it shrinks.
# They begin far apart: one has everything, the other has just arrived. Why should they end up
# equal?
#
# *You need:* what a congestion window is. *Time:* a quarter of an hour. Every cell can be run
# again; the exercises at the end ask you to change one.

# %%
import numpy as np
import polars as pl

import cwndlab
from cwndlab import theory
from cwndlab.plots import theory as draw
from cwndlab.plots.style import look, panels, styled

# Tables with numbers as short as the text needs them.
_ = pl.Config(float_precision=2, tbl_hide_column_data_types=True, tbl_hide_dataframe_shape=True)
RULES = ["AIMD(1, 0.5)", "AIAD(1, 3)", "MIMD(1.125, 0.8)"]

# %% [markdown]
# ## Theory: one bit of feedback for all
#
# Chiu and Jain (1989) reduce the network to one bit. Time advances in steps of an RTT. If the two
# loads together exceed the capacity, *both* flows receive the signal and decrease; otherwise *both*
# increase. With AIMD(1, 0.5) an increase adds 1 and a decrease halves.
#
# Plot the two loads against each other. On the dashed line the link is exactly full, on the dotted
# line both loads are equal. The goal is the point where the lines cross.

# %%
draw.phase(theory.phase("AIMD(1, 0.5)", [[8, 64], [90, 2]], capacity=100, steps=200))

# %% [markdown]
# An increase moves the point along a diagonal: both gain the same number of packets, so their
# *difference* stays. A decrease moves it straight towards the origin: the *ratio* stays, so the
# difference is halved. Every turn of the zigzag halves the difference, and nothing increases it
# again. This is the whole proof:
#
# $$d \;\to\; d/2 \;\to\; d/4 \;\to\; \ldots$$
#
# What if we change only one half of the rule? AIAD(1, 3) adds 1 and subtracts 3; MIMD(1.125, 0.8)
# multiplies in both directions.

# %%
courses = {rule: theory.simulate(rule, [8, 64], capacity=100, steps=400) for rule in RULES}
gaps = {
    rule: np.abs(np.diff(course.loads[course.signals])).ravel() for rule, course in courses.items()
}
pl.DataFrame(
    {"signal": range(1, 7), **{f"difference, {rule}": gap[:6] for rule, gap in gaps.items()}}
)

# %% tags=["check"]
# The text says: AIMD halves the difference at every signal, AIAD keeps it, MIMD keeps the ratio.
assert np.allclose(gaps["AIMD(1, 0.5)"][1:6] / gaps["AIMD(1, 0.5)"][:5], 0.5)
assert np.allclose(gaps["AIAD(1, 3)"], 56)
mimd = courses["MIMD(1.125, 0.8)"].loads
assert np.allclose(mimd[:, 1] / mimd[:, 0], 8)

# %% [markdown]
# AIMD halves the difference with every signal. AIAD never changes it: both steps are additive, and
# additive steps move along the diagonal. MIMD never changes the ratio: both steps point to the
# origin. **Of the three, only additive increase with multiplicative decrease makes flows equal.**
# `theory.condition` gives the same result without simulation:

# %%
for rule in RULES:
    found = theory.condition(theory.parse(rule))
    print(f"{rule:18} {found.verdict:20} {found.reason}")

# %% [markdown]
# ## Simulation: packets, a queue, real losses
#
# The model has no packets and no queue. The simulator has both, and no common bit of feedback: a
# flow learns of congestion when one of *its own* packets is lost. Two flows share 10 Mbit/s. The
# second starts after 40 s and without slow start, so that only the rule matters.


# %%
def newcomer(rule, seed=1, queue=None, jitter=None):
    """One flow has the link, a second one starts after 40 s. The seed draws its start time and the
    delays of both."""
    scenario = cwndlab.dumbbell(
        "10Mbit",
        "20ms",
        duration="120s",
        profile="rfc",
        measure=["80s", "120s"],
        seed=seed,
        queue=queue or {"kind": "drop-tail", "limit": "1bdp"},
        link={"access_delay": ["1ms", "3ms"]},
        tcp={"initial_ssthresh": 4},
        flows=[
            {"name": "first", "rule": rule},
            {"name": "second", "rule": rule, "start": ["40s", "42s"]},
        ],
        trace={"cwnd": "50ms"},
    )
    return scenario.set("dumbbell.jitter", jitter) if jitter else scenario


result = cwndlab.run(newcomer("AIMD(1, 0.5)").set("measure", ["0s", "120s"]))
cwndlab.plots.overview(result, height=3)

# %% [markdown]
# The result is as in theory: at every overflow both windows are reduced, and after a handful of
# reductions the flows are indistinguishable.
#
# ## Theory and simulation
#
# One run is an anecdote, so we take twenty: the seed draws the moment at which the second flow
# starts (within 2 s) and the delays (within 2 ms). For each moment we compute the inequality of the
# windows, $|w_1 - w_2| / (w_1 + w_2)$ (1: one has everything; 0: equal), and plot the model over
# it. The model counts in RTTs, so we need their length; its capacity is what fits into the link and
# its queue together, two bandwidth-delay products.

# %%
SEEDS = range(1, 21)


def inequality(result):
    """Seconds since the second flow began, and |w1 - w2| / (w1 + w2) then."""
    wide = (
        result.traces["cwnd"]
        .pivot(on="flow", index="time_s", values="cwnd_packets")
        .sort("time_s")
        .drop_nulls()
    )
    begin = wide.filter(pl.col("second") > 1)["time_s"][0]
    both = wide.filter(pl.col("time_s") >= begin)
    gap = (both["first"] - both["second"]).abs() / (both["first"] + both["second"])
    return both["time_s"].to_numpy() - begin, gap.to_numpy()


def twenty(rule, **network):
    """Results of all seeds, in their order."""
    found = dict(cwndlab.run_many((seed, newcomer(rule, seed, **network)) for seed in SEEDS))
    return [found[seed] for seed in SEEDS]


aimd = twenty("AIMD(1, 0.5)")
round_trip_s = float(np.mean([run.flows["mean_rtt_s"].mean() for run in aimd]))
capacity = 2 * 10e6 * 0.044 / (8 * 1052)
course = theory.simulate("AIMD(1, 0.5)", [0.75 * capacity, 1], capacity=capacity, steps=1500)
model_gap = np.abs(course.loads[:, 0] - course.loads[:, 1]) / course.totals
print(f"mean RTT {round_trip_s * 1e3:.0f} ms, capacity of the model {capacity:.0f} packets")


# %%
@styled
def beside_the_model(results):
    figure, (axes,) = panels(1, width=8.2, height=3.6)
    for number, result in enumerate(results):
        label = f"packets, {len(results)} runs" if number == 0 else None
        _, gap = inequality(result)
        # Means over 2 s, about the time between two reductions, which averages over the sawtooth.
        bins = gap[: len(gap) // 40 * 40].reshape(-1, 40).mean(axis=1)
        axes.plot(
            2 * np.arange(len(bins)) + 1,
            bins,
            color=look(0).color,
            linewidth=1,
            alpha=0.6,
            label=label,
        )
    axes.plot(
        course.times * round_trip_s,
        model_gap,
        color="#222222",
        linestyle="--",
        linewidth=2,
        label="model",
    )
    axes.set(
        xlim=(0, 60),
        ylim=(0, 1.02),
        title="AIMD with drop-tail: most runs follow the model, others do the opposite",
    )
    axes.set(xlabel="time since the second flow began [s]", ylabel="inequality of the windows")
    axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0))
    return figure


beside_the_model(aimd)

# %% [markdown]
# Most runs converge as the proof says, and as fast. But there is a second group of lines at the
# top: the two flows have the *same rule* and almost the *same RTT*, and one has nearly everything,
# permanently. What is different there?
#
# ## Surprise 1: the assumption of the proof
#
# Count the reductions of each flow's window in the last 40 s.

# %%
rows = []
for seed, run in zip(SEEDS, aimd, strict=True):
    times, gap = inequality(run)
    flows = run.flows.sort("goodput_bps")
    cuts, rates = flows["window_reductions"].to_list(), (flows["goodput_bps"] / 1e6).to_list()
    rows.append((seed, float(gap[times > 40].mean()), *cuts, *rates))
names = [
    "seed",
    "inequality",
    "reductions of the slower",
    "reductions of the faster",
    "Mbit/s, slower",
    "Mbit/s, faster",
]
outcomes = pl.DataFrame(rows, schema=names, orient="row").with_columns(
    outcome=pl.when(pl.col("inequality") < 0.1)
    .then(pl.lit("equal"))
    .when(pl.col("inequality") > 0.5)
    .then(pl.lit("locked out"))
    .otherwise(pl.lit("between"))
)
means = [pl.col(name).mean() for name in names[1:]]
outcomes.group_by("outcome").agg(pl.len().alias("runs"), *means).sort("inequality")

# %% tags=["check"]
# "Most runs converge as the proof says", "where both windows are reduced equally often the flows
# are equal", "one has nearly everything".
equal, locked = (outcomes.filter(pl.col("outcome") == name) for name in ("equal", "locked out"))
assert equal.height > len(SEEDS) / 2
assert ((equal["reductions of the slower"] - equal["reductions of the faster"]).abs() <= 1).all()
assert locked.height >= 4
assert (locked["reductions of the slower"] > 3 * locked["reductions of the faster"]).all()
assert (locked["Mbit/s, faster"] > 7 * locked["Mbit/s, slower"]).all()

# %% [markdown]
# Where both windows are reduced equally often, at every overflow, the flows are equal: there the
# model's one assumption, *all flows receive the signal*, holds. In the runs with a locked-out flow
# it fails in the worst way: the *slower* flow suffers nearly all the losses. All packets have one
# size, so places in a full queue become free at regular intervals. Which flow's packet arrives just
# after a departure, and which just before, repeats with every overflow. Floyd and Jacobson (1992)
# called this a phase effect.
#
# Real networks are less regular. So we let each packet's delay vary by up to 2 ms; and, third, we
# use another queue: RED, which drops packets at random before the queue is full. Each dot is a run:

# %%
NETWORKS = {
    "drop-tail": {},
    "drop-tail, jitter": {"jitter": {"kind": "uniform", "high": "2ms"}},
    "RED": {"queue": {"kind": "red", "limit": "100pkt"}},
}


def late_inequality(result):
    """Mean inequality from 40 s after the second flow began."""
    times, gap = inequality(result)
    return float(gap[times > 40].mean())


late = {
    (network, rule): [late_inequality(run) for run in twenty(rule, **keys)]
    for network, keys in NETWORKS.items()
    for rule in RULES
}


# %%
@styled
def dots(late):
    figure, axes = panels(1, len(NETWORKS), sharey=True, width=8.2, height=3.2)
    for panel, network in zip(axes, NETWORKS, strict=True):
        for index, rule in enumerate(RULES):
            values, style = np.sort(late[network, rule]), look(index)
            places = index + np.linspace(-0.25, 0.25, len(values))
            panel.plot(places, values, style.marker, color=style.color, markersize=4, alpha=0.7)
            panel.hlines(
                np.mean(values), index - 0.35, index + 0.35, color="#222222", linewidth=1.5
            )
        panel.set(title=network, ylim=(0, 1.02), xlim=(-0.6, 2.6))
        panel.set_xticks(range(len(RULES)), [rule.split("(")[0] for rule in RULES])
    axes[0].set_ylabel("inequality, 40 s later")
    figure.suptitle(
        "The same rules, three kinds of feedback (bar: mean of 20 runs)",
        x=0.01,
        ha="left",
        fontsize=10.5,
    )
    return figure


dots(late)

# %% tags=["check"]
# What the text under the picture says.
mean = {key: float(np.mean(values)) for key, values in late.items()}
for network in NETWORKS:
    assert mean[network, "AIMD(1, 0.5)"] == min(mean[network, rule] for rule in RULES)
assert max(late["drop-tail, jitter", "AIMD(1, 0.5)"]) < 0.5
assert min(late["drop-tail", "AIAD(1, 3)"]) > 0.9
assert sum(value < 0.4 for value in late["drop-tail", "MIMD(1.125, 0.8)"]) == 2
assert (
    max(value for (network, _), values in late.items() if network == "RED" for value in values)
    < 0.4
)

# %% [markdown]
# * **Drop-tail:** AIMD is equal or locked out; AIAD and, except for two runs, MIMD are unequal, as
#   the model says.
# * **With jitter** no flow is locked out permanently. AIMD is not exactly equal either: an overflow
#   reduces now one window, now the other, and the reduction of one alone *creates* a difference.
#   AIMD keeps removing the differences that the losses keep creating.
# * **RED:** all three converge, even the two rules of which we *proved* that they never do.
#
# The proof is right, but its assumption does not hold here. With RED a flow that sends nine tenths
# of the packets suffers about nine tenths of the losses. The larger window is *reduced more often*,
# which favours equality whatever the rule. "AIMD is fair and MIMD is not" is a statement about rule
# **and** feedback.
#
# ## Surprise 2: unequal RTTs break the equality
#
# Now both flows use AIMD, but one is further away. Its RTTs are longer, so it grows more slowly. In
# the model let a flow with $k$ times the RTT add $1/k$ per step and still receive every signal:

# %%
model = []
for k in (1, 2, 4):
    windows = theory.simulate(
        ["AIMD(1, 0.5)", f"AIMD({1 / k}, 0.5)"], [50, 50], capacity=100, steps=4000
    ).loads[-1000:]
    ratio = float(windows[:, 0].mean() / windows[:, 1].mean())
    model.append(
        {"RTTs, far / near": k, "windows, near / far": ratio, "rates, near / far": ratio * k}
    )
pl.DataFrame(model)

# %% tags=["check"]
# "k times the window and k^2 times the rate"; the steady state of a discrete iteration is within 2
# %.
for row in model:
    k = row["RTTs, far / near"]
    assert abs(row["windows, near / far"] / k - 1) < 0.02
    assert abs(row["rates, near / far"] / k**2 - 1) < 0.02

# %% [markdown]
# The near flow gets $k$ times the window, and sends each window $k$ times as often: **$k^2$ times
# the rate**. With packets, five near flows compete with five far ones on 20 Mbit/s, with a
# drop-tail queue and with RED:


# %%
def near_and_far(far_ms, queue, seed):
    """Five flows nearby, five further away; access delays and starts are drawn."""
    rule = {"rule": "AIMD(1, 0.5)", "count": 5, "start": ["0s", "5s"]}
    return cwndlab.dumbbell(
        "20Mbit",
        "10ms",
        duration="120s",
        profile="rfc",
        measure=["30s", "120s"],
        seed=seed,
        queue=queue,
        flows=[
            {**rule, "name": "near", "access_delay": ["4ms", "6ms"]},
            {**rule, "name": "far", "access_delay": [f"{far_ms - 1}ms", f"{far_ms + 1}ms"]},
        ],
    )


QUEUES = {
    "drop-tail": {"kind": "drop-tail", "limit": "40pkt"},
    "RED": {"kind": "red", "limit": "100pkt"},
}
cases = [
    (name, far_ms, seed) for name in QUEUES for far_ms in (10, 20, 40, 60) for seed in range(1, 9)
]
found = dict(
    cwndlab.run_many((case, near_and_far(case[1], QUEUES[case[0]], case[2])) for case in cases)
)
points = []
for case in cases:
    near, far = (found[case].flows.filter(pl.col("group") == group) for group in ("near", "far"))
    round_trips = far["mean_rtt_s"].mean() / near["mean_rtt_s"].mean()
    points.append((*case[:2], round_trips, near["goodput_bps"].sum() / far["goodput_bps"].sum()))
points = pl.DataFrame(points, schema=["queue", "far [ms]", "RTTs", "goodput"], orient="row")


# %%
@styled
def ratios(points):
    figure, (axes,) = panels(1, width=6.8, height=4.2)
    k = np.array([1.0, 5.0])
    axes.loglog(
        k,
        k**2,
        color="#222222",
        linestyle="--",
        label="all flows receive every signal: ratio squared",
    )
    axes.loglog(k, k, color="#222222", linestyle=":", label="each packet has the same risk: ratio")
    for index, name in enumerate(QUEUES):
        chosen, style = points.filter(pl.col("queue") == name), look(index)
        axes.plot(
            chosen["RTTs"],
            chosen["goodput"],
            style.marker,
            color=style.color,
            markersize=5,
            alpha=0.75,
            label=name,
        )
    axes.set(
        xlabel="RTT, far / near", ylabel="goodput, near / far", title="Effect of a shorter RTT"
    )
    axes.set_xticks([1, 2, 3, 4, 5], ["1", "2", "3", "4", "5"])
    axes.set_yticks([0.5, 1, 2, 5, 10, 20], ["0.5", "1", "2", "5", "10", "20"])
    axes.minorticks_off()
    axes.legend(loc="upper left", fontsize=8.5)
    return figure


ratios(points)

# %% tags=["check"]
red_points = points.filter(pl.col("queue") == "RED").with_columns(
    off=pl.col("goodput") / pl.col("RTTs")
)
assert red_points["off"].is_between(0.85, 1.15).all()
tail = points.filter(pl.col("queue") == "drop-tail", pl.col("RTTs") > 2)
# "Anywhere between, and beyond": some at or below the ratio, some above its square.
assert (tail["goodput"] < tail["RTTs"]).any()
assert (tail["goodput"] > tail["RTTs"] ** 2).any()
# "by a factor of five"
networks = points.filter(pl.col("queue") == "drop-tail").group_by("far [ms]")
scatter = networks.agg(pl.col("goodput").max() / pl.col("goodput").min())["goodput"]
assert 4 < scatter.min() < scatter.max() < 6

# %% [markdown]
# With RED, where each packet has the same risk of loss, the rate is proportional to 1/RTT: the next
# lesson, [loss and rate](loss-and-rate.ipynb), explains why. With drop-tail eight runs of the same
# network, which differ only in the start times of the flows, scatter by a factor of five around
# both lines. There are two clean theories, and the oldest queue follows neither.
#
# ## What to remember
#
# * Additive increase keeps differences, multiplicative decrease shrinks them: hence AIMD.
# * The proof needs feedback that all flows receive. If a queue signals only the slower flow, AIMD
#   stays unequal.
# * Feedback in proportion to the rate makes other rules fair, too.
# * Equal rules do not mean equal rates: a shorter RTT wins.
#
# ## Exercises
#
# 1. **A smaller decrease.** In the phase plot replace the rule by `"AIMD(1, 0.875)"`. By what
#    factor does every signal multiply the difference now? How many signals reduce it to a tenth?
#    Check with the table.
# 2. **The fourth combination.** Predict the phase plot of `"MIAD(1.125, 3)"` before you draw it.
#    Add it to `RULES` and run everything: does RED make it fair?
# 3. **Three flows.** `theory.simulate` takes any number of starts. Does the argument about
#    differences still hold? Find the number of signals until `course.spread()` is below 0.05, from
#    `[1, 10, 80]`.
# 4. **How much jitter is enough?** In `NETWORKS` try 0.5 ms and 1 ms. A packet takes 0.84 ms on
#    this link: how is this related to the point at which the lock-out ends?
# 5. **Make it fair.** In `QUEUES` add `"DRR": {"kind": "drr", "limit": "100pkt"}`. Where do its
#    points lie? What determines fairness then, the rule or the router? (See [what a router
#    changes](what-a-router-changes.ipynb).)
#
# *Sources:* D.-M. Chiu, R. Jain, "Analysis of the increase and decrease algorithms for congestion
# avoidance in computer networks", 1989. S. Floyd, V. Jacobson, "On traffic phase effects in
# packet-switched gateways", 1992 (why drop-tail scatters). A. Akella et al., "Exploring congestion
# control", 2002 (which rules are fair, and when).

# %% [markdown]
# ## Answers
#
# <details><summary>1. A smaller decrease</summary>
#
# Every signal multiplies the difference by 0.875. To a tenth takes $\ln(0.1) / \ln(0.875) = 17.2$,
# so 18 signals; with AIMD(1, 0.5) it takes 4. But the flows regain an eighth faster than a half, so
# signals come more often, and the time is only a quarter longer: 132 RTTs instead of 104.
#
# </details>
#
# <details><summary>2. The fourth combination</summary>
#
# An increase multiplies the difference by 1.125, a decrease leaves it: the larger flow takes
# everything. `theory.condition` says that differences grow in every cycle. RED makes MIAD fairer,
# not fair: the mean inequality falls from 0.64 with drop-tail to 0.37, and some runs stay above
# 0.5. Of the four rules it is the least fair with RED.
#
# </details>
#
# <details><summary>3. Three flows</summary>
#
# It holds for every pair: each of the three differences is halved by every signal. The spread is
# below 0.05 from the seventh signal on.
#
# </details>
#
# <details><summary>4. How much jitter is enough?</summary>
#
# With 0.5 ms three of twenty runs are still above 0.5, with 1 ms one, with 2 ms none. A place in
# the full queue becomes free every 0.84 ms. The lock-out needs that the same flow takes it each
# time. Once delays vary by more than that, chance decides.
#
# </details>
#
# <details><summary>5. Make it fair</summary>
#
# The points of DRR lie at a goodput ratio of 1.00 to 1.07, although RTTs differ by up to a factor
# of 2.2. A router that serves flows in turn determines fairness whatever the rule.
#
# </details>

# %% tags=["check"]
# Answer 1.
took = {}
for rule, signals in (("AIMD(1, 0.875)", 18), ("AIMD(1, 0.5)", 4)):
    course = theory.simulate(rule, [8, 64], capacity=100, steps=400)
    gap = np.abs(np.diff(course.loads[course.signals])).ravel()
    assert int(np.argmax(gap <= gap[0] / 10)) == signals
    took[rule] = course.times[course.signals[signals]] - course.times[course.signals[0]]
assert took == {"AIMD(1, 0.875)": 132, "AIMD(1, 0.5)": 104}, took
# Answer 2.
assert "grow in every cycle" in theory.condition(theory.parse("MIAD(1.125, 3)")).reason
miad = {
    network: [late_inequality(run) for run in twenty("MIAD(1.125, 3)", **keys)]
    for network, keys in NETWORKS.items()
}
assert round(float(np.mean(miad["drop-tail"])), 2) == 0.64
assert round(float(np.mean(miad["RED"])), 2) == 0.37
assert max(miad["RED"]) > 0.5
assert np.mean(miad["RED"]) > max(np.mean(late["RED", rule]) for rule in RULES)
# Answer 3.
course = theory.simulate("AIMD(1, 0.5)", [1, 10, 80], capacity=100, steps=400)
assert [bool(spread < 0.05) for spread in course.spread()[course.signals[4:8]]] == [0, 0, 1, 1]
# Answer 4.
for high, locked_out in (("0.5ms", 3), ("1ms", 1), ("2ms", 0)):
    runs = twenty("AIMD(1, 0.5)", jitter={"kind": "uniform", "high": high})
    assert sum(late_inequality(run) > 0.5 for run in runs) == locked_out
# Answer 5.
fair_queue = {"kind": "drr", "limit": "100pkt"}
cases = [(far_ms, seed) for far_ms in (10, 20, 40, 60) for seed in range(1, 9)]
for _, run in cwndlab.run_many(
    (case, near_and_far(case[0], fair_queue, case[1])) for case in cases
):
    near, far = (run.flows.filter(pl.col("group") == group) for group in ("near", "far"))
    assert 0.995 < near["goodput_bps"].sum() / far["goodput_bps"].sum() < 1.075
    assert far["mean_rtt_s"].mean() / near["mean_rtt_s"].mean() < 2.25
