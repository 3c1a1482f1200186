//! Fields of a run.

use super::Column;

const MEASURE: &str = "`measure` of the scenario; the whole run where it has none";

/// Fields of the run itself.
pub const RUN: &[Column] = &[
    Column::text("name", "name of the scenario"),
    Column::count("seed", "", "as in the scenario"),
    Column::text("profile", "profile of the TCP endpoints, as in the scenario"),
    Column::time("duration_s", "duration", "as in the scenario"),
    Column::time("measure_from_s", "start of the measuring window", MEASURE),
    Column::time("measure_to_s", "end of the measuring window", MEASURE),
    Column::text(
        "trace_hash",
        "16 hexadecimal digits, a 64-bit hash over every send of every flow (time, packet number, \
         cwnd) and every arrival at every link (time, number, flow, whether it was accepted), \
         times as the bits of a double. Whole run. Equal for equal scenario and seed, whatever is \
         traced, on any number of threads",
    ),
    Column::time(
        "simulated_s",
        "simulated time",
        "simulated time reached; `duration_s` for a run that ended",
    ),
    Column::time(
        "wall_s",
        "wall-clock time",
        "wall-clock seconds to build the network and run it, without reading the scenario and \
         converting results. It differs from run to run, as does `packets_per_wall_s`",
    ),
    Column::amount(
        "packets_per_wall_s",
        "packets per wall-clock second",
        "`delivered_packets` / `wall_s`",
    )
    .in_unit("packets/s"),
    Column::packets(
        "delivered_packets",
        "delivered packets",
        "data packets that arrived at receivers, SYNs and duplicates included, whole run: a \
         measure of work done",
    ),
    Column::rate("aggregate_goodput_bps", "aggregate goodput", "sum of the flows' `goodput_bps`")
        .higher(),
    Column::fraction(
        "jain_index",
        "Jain's index",
        "(sum x)^2 / (n sum x^2) over the flows' `goodput_bps` x; 1 is equal, 1/n is one flow \
         alone (Jain, Chiu and Hawe 1984)",
    )
    .headed("Jain's\nindex")
    .higher(),
    Column::fraction(
        "rtt_weighted_jain_index",
        "RTT-weighted Jain's index",
        "Jain's index of `goodput_bps` x `mean_rtt_s`; a flow without an RTT sample counts as 0",
    )
    .higher(),
    Column::ratio(
        "fairness_spread",
        "fairness spread",
        "(largest - smallest) / mean of the flows' `goodput_bps`; 0 is equal (Akella et al. 2002)",
    )
    .headed("spread")
    .lower(),
    Column::fraction(
        "lowest_share",
        "lowest share / equal share",
        "starvation: smallest / mean of the flows' `goodput_bps`, the share of the flow that gets \
         least, over an equal share. 1 is equal, 0 is a flow that starves",
    )
    .headed("lowest\nshare")
    .higher(),
];
