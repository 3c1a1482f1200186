# %% [markdown]
# # Loss and rate
#
# **The question.** A path drops one packet in a hundred at random, and the RTT is a tenth of a
# second. How fast can a sender with AIMD(1, 0.5) be? The link may carry a gigabit per second: the
# answer does not depend on it.
#
# *You need:* the sawtooth of AIMD ([why AIMD converges](why-aimd-converges.ipynb)). *Time:* a
# quarter of an hour.

# %%
import numpy as np
import polars as pl

import cwndlab
from cwndlab import theory
from cwndlab.plots import theory as draw
from cwndlab.plots.style import look, panels, styled

_ = pl.Config(
    float_precision=3, tbl_hide_column_data_types=True, tbl_hide_dataframe_shape=True, tbl_rows=20
)

# %% [markdown]
# ## Theory: the area under a sawtooth
#
# The window grows from $W/2$ to $W$, loses one packet, and falls back to $W/2$. It gains 1 per RTT,
# so one period of the sawtooth takes $W/2$ RTTs. The mean window is $\tfrac{3}{4} W$, so a period
# has $\tfrac{1}{2} W \cdot \tfrac{3}{4} W = \tfrac{3}{8} W^2$ packets, of which one is lost. Hence
# $p = 8 / (3 W^2)$, and the rate, the mean window over the RTT, is
#
# $$\frac{\tfrac{3}{4} W}{RTT} = \frac{1}{RTT}\sqrt{\frac{3}{2p}} .$$
#
# A hundred times the loss gives a tenth of the rate; twice the RTT gives half of the rate. The
# formula contains neither the link nor the queue. The answer to the question is:

# %%
answer = float(theory.gaimd.square_root_rate(1, 0.5, 0.01, rtt=0.1))
print(
    f"{answer:.0f} packets/s: a mean window of {answer * 0.1:.1f} packets, "
    f"{answer * 8000 / 1e6:.2f} Mbit/s of payload"
)

# %% tags=["check"]
# By hand: sqrt(1.5 / 0.01) = 12.247 packets in 0.1 s.
assert abs(answer - 122.47) < 0.01

# %% [markdown]
# At high loss rates the sawtooth is not the whole story. A window of two or three packets cannot
# produce three duplicate ACKs, and the sender must wait for a timeout. Padhye et al. (1998) added
# timeouts to the model; their formula is `theory.gaimd.rate`, and it needs the length of a first
# timeout (here 1 s, the minimum of RFC 6298).
#
# ## Simulation: a link that drops packets at random
#
# Eight flows share a gigabit link whose queue is never full, so that they do not affect each other;
# the link drops each packet with probability $p$. We count packets *sent*, as the formulas do.

# %%
LOSSES = [0.0003, 0.001, 0.003, 0.01, 0.03, 0.1]
MEASURED_S = 300


def lossy(loss, rule="AIMD(1, 0.5)", delay="50ms", recovery="sack", **tcp):
    """Eight flows on a link that loses packets and has no other effect on them."""
    return cwndlab.dumbbell(
        "1Gbit",
        delay,
        duration=f"{30 + MEASURED_S}s",
        profile="rfc",
        measure=["30s", f"{30 + MEASURED_S}s"],
        queue={"kind": "drop-tail", "limit": "unlimited"},
        link={"loss": [loss]},
        flows=[
            {"name": "flow", "rule": rule, "recovery": recovery, "count": 8, "start": ["0s", "5s"]}
        ],
        tcp=tcp,
    )


def totals(result):
    """Quantities of the formulas over all flows of a run; percentages are of the packets sent."""
    flows = result.flows
    sent = flows["sent_packets"].sum()
    return {
        "losses [%]": 100 * flows["dropped_packets"].sum() / sent,
        "reductions [%]": 100 * flows["window_reductions"].sum() / sent,
        "packets/s": sent / flows.height / MEASURED_S,
        "timeouts per reduction": flows["timeouts"].sum() / flows["window_reductions"].sum(),
        "mean window": sent / flows.height / MEASURED_S * flows["mean_rtt_s"].mean(),
        "RTT": flows["mean_rtt_s"].mean(),
        "RTO": flows["mean_rto_s"].mean(),
    }


found = dict(cwndlab.run_many((p, lossy({"kind": "bernoulli", "p": p})) for p in LOSSES))
measured = pl.DataFrame([totals(found[p]) for p in LOSSES])
measured.select("losses [%]", "packets/s", "mean window", "timeouts per reduction")

# %% [markdown]
# ## Theory and simulation
#
# Our senders are modern: SACK tells them which packets are missing, and limited transmit keeps ACKs
# arriving in small windows. The formula with timeouts was made for the Reno of 1998, which has
# neither. So we simulate that Reno as well.

# %%
found = dict(
    cwndlab.run_many(
        (p, lossy({"kind": "bernoulli", "p": p}, recovery="reno", limited_transmit=False))
        for p in LOSSES
    )
)
reno = pl.DataFrame([totals(found[p]) for p in LOSSES])
p = np.geomspace(2e-4, 0.15, 60)
curves = {
    "square root of loss": (p, theory.gaimd.square_root_rate(1, 0.5, p, rtt=0.1)),
    "with timeouts (Padhye et al.)": (p, theory.gaimd.rate(1, 0.5, p, rtt=0.1, rto=1.0)),
}
figure = draw.rates(curves, 0.01, "Two formulas, two generations of senders")
axes = figure.axes[0]
for index, (label, frame) in enumerate(
    {"simulated: SACK": measured, "simulated: Reno of 1998": reno}.items(), 2
):
    losses = frame["losses [%]"] / 100
    axes.plot(
        losses,
        frame["packets/s"],
        look(index).marker,
        color=look(index).color,
        markersize=7,
        label=label,
    )
axes.legend(loc="lower left", fontsize=8.5, handlelength=3, frameon=False)
figure


# %%
def over_formula(frame, formula, **times):
    """Simulated rate over a formula's, at the losses and times that were measured."""
    columns = {name: frame[column].to_numpy() for name, column in times.items()}
    return frame["packets/s"] / formula(1, 0.5, frame["losses [%]"].to_numpy() / 100, **columns)


law, full = theory.gaimd.square_root_rate, theory.gaimd.rate
sides = pl.DataFrame(
    {
        "losses [%]": [100 * p for p in LOSSES],
        "SACK / root": over_formula(measured, law, rtt="RTT"),
        "Reno / root": over_formula(reno, law, rtt="RTT"),
        "SACK / timeouts": over_formula(measured, full, rtt="RTT", rto="RTO"),
        "Reno / timeouts": over_formula(reno, full, rtt="RTT", rto="RTO"),
    }
)
sides

# %% tags=["check"]
# "Within 6 %, over windows from a dozen to seventy packets", "promises twice too much", "within 4 %
# everywhere", "half as fast again".
assert (sides["SACK / root"][:4] - 1).abs().max() < 0.06
assert 11 < measured["mean window"][3] < 13
assert 65 < measured["mean window"][0] < 75
assert 0.4 < sides["SACK / root"][5] < 0.6
assert (sides["Reno / timeouts"] - 1).abs().max() < 0.04
assert 1.4 < sides["SACK / timeouts"][5] < 1.6
assert measured["timeouts per reduction"][5] < reno["timeouts per reduction"][5]

# %% [markdown]
# For SACK the square-root law describes the packet simulator up to a loss rate of 1 % within 6 %,
# over windows from a dozen to seventy packets. At 10 % it promises twice too much: a window of two
# has no sawtooth. The formula with timeouts fits the senders that it was made for within 4 % at
# *every* loss rate. At a loss rate of a tenth modern senders are half as fast again as this formula
# says, because fewer of their window reductions are timeouts. A formula for "TCP" is a formula for
# one particular TCP.
#
# ## Surprise 1: the same loss rate, several times the rate
#
# Now losses come in bursts: the link alternates between a good and a bad state, and drops
# *everything* in the bad state (the model of Gilbert and Elliott). We make bad states longer and
# rarer, so that the loss rate stays at half a per cent.

# %%
P = 0.005
BURSTS = [1, 2, 4, 8, 16]


def bursty(length):
    """Losses in bursts of this mean length, in packets; P of the packets are in bad states."""
    if length == 1:
        return {"kind": "bernoulli", "p": P}
    to_good = 1 / length
    return {
        "kind": "gilbert-elliott",
        "to_bad": to_good * P / (1 - P),
        "to_good": to_good,
        "bad_loss": 1.0,
        "good_loss": 0.0,
    }


found = dict(cwndlab.run_many((length, lossy(bursty(length))) for length in BURSTS))
rows = []
for length in BURSTS:
    row = totals(found[length])
    law = {
        f"law of {name}": float(
            theory.gaimd.square_root_rate(1, 0.5, row[key] / 100, rtt=row["RTT"])
        )
        for name, key in (("losses", "losses [%]"), ("reductions", "reductions [%]"))
    }
    rows.append(
        {"burst": length, "losses [%]": row["losses [%]"], "reductions [%]": row["reductions [%]"]}
    )
    rows[-1] |= {"packets/s": row["packets/s"], **law}
bursts = pl.DataFrame(rows)
bursts


# %%
@styled
def by_burst(bursts):
    figure, (axes,) = panels(1, width=6.6, height=3.6)
    for index, (column, label) in enumerate(
        {
            "packets/s": "simulated",
            "law of losses": "law, losses",
            "law of reductions": "law, reductions",
        }.items()
    ):
        style = look(index)
        axes.plot(
            bursts["burst"],
            bursts[column],
            color=style.color,
            linestyle=style.linestyle,
            marker=style.marker,
            label=label,
        )
    axes.set_xscale("log", base=2)
    axes.set_xticks(BURSTS, [str(length) for length in BURSTS])
    axes.set_ylim(bottom=0)
    axes.set(xlabel="mean burst length of losses [packets]", ylabel="sending rate [packets/s]")
    axes.set_title("As many losses, fewer reductions")
    axes.legend(loc="upper left")
    return figure


by_burst(bursts)

# %% tags=["check"]
# "Several times the rate", "within a tenth".
assert bursts["packets/s"][4] > 3 * bursts["packets/s"][0]
assert bursts["losses [%]"].is_between(0.44, 0.56).all()
assert ((bursts["packets/s"] / bursts["law of reductions"] - 1).abs() < 0.1).all()

# %% [markdown]
# The $p$ of the law is not the fraction of lost packets. It is the number of window *reductions*
# per packet: a sender reduces its window once per window of data, however many packets of it are
# missing. With the measured reductions the law holds again, within a tenth. A loss rate alone,
# without the distribution of losses, says little about TCP.
#
# ## Surprise 2: the law backwards
#
# So far the network determined the loss rate and TCP responded with a rate. On a shared link it is
# the other way round: $n$ flows fill a link of $C$ packets per second, each gets $C/n$, and the law
# gives the loss rate at which they do so:
#
# $$p = \frac{3}{2} \left(\frac{n}{C \cdot RTT}\right)^2 .$$
#
# The queue has no choice: it has to drop that many packets. Twice the flows on the same link need
# *four times* the loss rate.

# %%
FLOWS = [2, 4, 8, 16, 32]
QUEUES = {
    "RED": {"kind": "red", "limit": "100pkt"},
    "drop-tail": {"kind": "drop-tail", "limit": "1bdp"},
}


def shared(flows, queue):
    """A number of flows on a link of 20 Mbit/s."""
    return cwndlab.dumbbell(
        "20Mbit",
        "40ms",
        duration="120s",
        profile="rfc",
        measure=["20s", "120s"],
        queue=queue,
        link={"access_delay": ["0ms", "5ms"]},
        flows=[{"name": "flow", "rule": "AIMD(1, 0.5)", "count": flows, "start": ["0s", "2s"]}],
    )


runs = (((name, n), shared(n, queue)) for name, queue in QUEUES.items() for n in FLOWS)
found = dict(cwndlab.run_many(runs))
packets_per_s = 20e6 / (8 * 1052)
rows = []
for (name, n), result in sorted(found.items()):
    row = totals(result)
    law = 1.5 * (n / (packets_per_s * row["RTT"])) ** 2
    rows.append((name, n, row["RTT"], 100 * law, row["reductions [%]"], row["losses [%]"]))
columns = ["queue", "flows", "RTT [s]", "law [%]", "reductions [%]", "losses [%]"]
demand = pl.DataFrame(rows, schema=columns, orient="row")
demand


# %%
@styled
def who_asks(demand):
    figure, axes = panels(1, len(QUEUES), sharey=True, width=8.2, height=3.4)
    for panel, name in zip(axes, QUEUES, strict=True):
        rows = demand.filter(pl.col("queue") == name)
        for index, column in enumerate(["law [%]", "reductions [%]", "losses [%]"]):
            style = look(index)
            panel.loglog(
                rows["flows"],
                rows[column],
                color=style.color,
                linestyle=style.linestyle,
                marker=style.marker,
                label=column,
            )
        panel.set_xticks(FLOWS, [str(n) for n in FLOWS])
        panel.set_yticks([0.01, 0.1, 1], ["0.01", "0.1", "1"])
        panel.minorticks_off()
        panel.set(title=name, xlabel="flows")
    axes[0].set_ylabel("percentage of packets")
    axes[0].legend(loc="upper left", fontsize=8.5)
    return figure


who_asks(demand)

# %%
doubling = {
    name: demand.filter(pl.col("queue") == name)["losses [%]"].to_numpy() for name in QUEUES
}
for name, course in doubling.items():
    print(
        f"{name:10} each doubling of the flows multiplies the loss rate by",
        np.round(course[1:] / course[:-1], 1),
    )

# %% tags=["check"]
# "By about three on average", "within a third up to 16 flows, ", "drop-tail loses twice what is
# needed".
for course in doubling.values():
    assert 2.5 < (course[-1] / course[0]) ** (1 / 4) < 3.5
eight = demand.filter(pl.col("flows").is_in([4, 8, 16]))
assert (eight["reductions [%]"] / eight["law [%]"]).is_between(0.66, 1.34).all()
tail = demand.filter(pl.col("queue") == "drop-tail")
assert (tail["losses [%]"] / tail["reductions [%]"]).is_between(1.6, 2.4).all()

# %% [markdown]
# Nobody configured these loss rates; they follow from the flows. From 4 to 16 flows the law gives
# the reductions per packet within a third, from nothing but the number of flows, the link and the
# RTT. Doubling the number of flows multiplies the loss rate by about three on average, not by four.
# Few flows do not keep RED's short queue busy, a longer drop-tail queue increases the RTT, and many
# flows have windows so small that timeouts cause part of the reductions. Drop-tail also drops about
# two packets where one would do: an overflow drops several packets at once, but a sender reduces
# its window once. [What a router changes](what-a-router-changes.ipynb) has more on the effects of
# the queue.
#
# ## What to remember
#
# * Rate = $\sqrt{3/(2p)}$ packets per RTT, as long as losses are rare.
# * The $p$ in this formula counts window reductions, not lost packets.
# * On a shared link the flows determine the loss rate: loss is how a queue tells $n$ flows to take
#   $1/n$ each.
#
# ## Exercises
#
# 1. **Another RTT.** Call `lossy` with `delay="10ms"`. By what factor does the rate change? At
#    which loss rate do timeouts begin to matter now, and why is it the same one or another?
# 2. **Another rule.** For AIMD(a, b) the law is $\sqrt{a(1+b)/(2(1-b)p)}/RTT$ (derive it from the
#    sawtooth). Which `a` makes `b = 0.875` as fast as TCP? Compare with
#    `theory.friendly.to_alpha(0.875)` and simulate `GAIMD` with both.
# 3. **CUBIC.** Pass `rule="CUBIC"` to `lossy`. Plot its rate over $p$ beside AIMD's: where is it
#    steeper, where is it the same? (RFC 9438 says that it behaves like AIMD where AIMD is faster.)
# 4. **Which half helps?** Between the Reno of 1998 and SACK are `recovery="newreno"` alone and
#    limited transmit alone. Run both: which of the two improves the rate at 1 % of losses, which at
#    10 %? Then pass `min_rto="200ms"`.
# 5. **Other drop-tail buffers.** In `QUEUES` change the limit of drop-tail to `"10pkt"`, then to
#    `"4bdp"`. What happens to the loss rate at 32 flows, and to the RTT? What does the formula say
#    about a network with infinite buffers?
#
# *Sources:* M. Mathis et al., "The macroscopic behavior of the TCP congestion avoidance algorithm",
# 1997. J. Padhye et al., "Modeling TCP throughput", 1998. Y. R. Yang, S. S. Lam, "General AIMD
# congestion control", 2000 (the formulas that `theory.gaimd` has). R. Morris, "Scalable TCP
# congestion control", 2000 (flows ask for loss).

# %% [markdown]
# ## Answers
#
# <details><summary>1. Another RTT</summary>
#
# A fifth of the RTT gives five times the rate, up to a loss rate of 1 %; at 10 % it gives only
# twice the rate. Timeouts begin to matter at the same loss rate, because the window depends on the
# loss rate alone: of the reductions at 10 %, a quarter or a little more are timeouts in both
# networks. But a timeout of a second now costs fifty RTTs instead of ten.
#
# </details>
#
# <details><summary>2. Another rule</summary>
#
# From $a(1+b)/(2(1-b)) = 3/2$ follows $a = 3(1-b)/(1+b)$, for $b = 0.875$ that is 0.2. Simulated,
# it gets TCP's rate within 4 % up to a loss rate of 3 %. `to_alpha` gives 0.3125, which is made for
# loss rates at which timeouts dominate: it gets a fifth to a third more than TCP.
#
# </details>
#
# <details><summary>3. CUBIC</summary>
#
# From 0.1 % to 3 % the lines are parallel, CUBIC's 11 to 15 % higher: its estimate of what AIMD
# would get determines the window (RFC 9438, section 4.3). Below, where losses are rare and windows
# large, its own curve is faster and the line steeper: at 0.03 % it has a quarter more than AIMD.
#
# </details>
#
# <details><summary>4. Which half helps?</summary>
#
# At 1 % NewReno alone improves the rate by a fifth, limited transmit alone not at all. At 10 % each
# alone gives a fifth or a little more, and both with SACK more than a half. With a minimum timeout
# of 200 ms the Reno of 1998 becomes twice as fast at 10 %, and a tenth faster at 1 %: where windows
# are small, waiting is what costs.
#
# </details>
#
# <details><summary>5. Other drop-tail buffers</summary>
#
# At 32 flows the loss rate is 3.8 % with 10 packets, 1.7 % with one bandwidth-delay product and 0.4
# % with four; the RTTs are 88, 159 and 394 ms. The formula says that losses fall as the RTT grows.
# With an infinite buffer nothing is lost, so nothing ever tells the flows to slow down, and the RTT
# grows without end.
#
# </details>

# %% tags=["check"]
pairs = [(p, {"kind": "bernoulli", "p": p}) for p in LOSSES]


def swept(**changes):
    """Totals at each of the loss rates."""
    found = dict(cwndlab.run_many((p, lossy(loss, **changes)) for p, loss in pairs))
    return pl.DataFrame([totals(found[p]) for p in LOSSES])


# Answer 1.
near = swept(delay="10ms")
times = near["packets/s"] / measured["packets/s"]
assert times[:4].is_between(4.9, 5.1).all()
assert 1.8 < times[5] < 2.1
for frame in (near, measured):
    assert 0.25 < frame["timeouts per reduction"][5] < 0.3
# Answer 2.
equal = swept(rule="GAIMD(0.2, 0.875)")["packets/s"] / measured["packets/s"]
assert equal[:5].is_between(0.95, 1.05).all()
assert float(theory.friendly.to_alpha(0.875)) == 0.3125
faster = swept(rule="GAIMD(0.3125, 0.875)")["packets/s"] / measured["packets/s"]
assert faster.is_between(1.2, 1.34).all()
# Answer 3.
cubic = swept(rule="CUBIC")["packets/s"] / measured["packets/s"]
assert cubic[1:5].is_between(1.11, 1.15).all()
assert 1.2 < cubic[0] < 1.3
# Answer 4.
alone = {
    "newreno": swept(recovery="newreno", limited_transmit=False),
    "limited transmit": swept(recovery="reno"),
    "both": measured,
    "min_rto": swept(recovery="reno", limited_transmit=False, min_rto="200ms"),
}
gain = {name: frame["packets/s"] / reno["packets/s"] for name, frame in alone.items()}
assert 1.15 < gain["newreno"][3] < 1.25
assert 0.95 < gain["limited transmit"][3] < 1.02
assert 1.15 < gain["newreno"][5] < 1.25
assert 1.15 < gain["limited transmit"][5] < 1.25
assert gain["both"][5] > 1.5
assert 1.9 < gain["min_rto"][5] < 2.1
assert 1.08 < gain["min_rto"][3] < 1.14
# Answer 5.
for limit, loss, rtt_ms in (("10pkt", 3.8, 88), ("1bdp", 1.7, 159), ("4bdp", 0.4, 394)):
    row = totals(cwndlab.run(shared(32, {"kind": "drop-tail", "limit": limit})))
    assert (round(row["losses [%]"], 1), round(1e3 * row["RTT"])) == (loss, rtt_ms)
