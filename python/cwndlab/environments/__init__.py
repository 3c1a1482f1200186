"""Network environments: residual bandwidths on which rules are compared.

Four of the demo, a synthetic cellular link, and the thirteen of Akella et al. (2002), *Exploring
Congestion Control*, CMU-CS-02-139, table 2. Each defines the residual bandwidth PER TEST FLOW; the
total is its product with the number of test flows, at most the link's rate. Ten test flows with
RTTs of about 120 ms share a buffer of one bandwidth-delay product. `Assumptions` has what the paper
leaves open. ``trace:FILE`` is an environment, too: a link recorded in mahimahi's format.

>>> from cwndlab import environments
>>> environments.PAPER
('CL', 'CH', 'SQL', 'SQH', 'RWL', 'RWH', 'RDL', 'RDH', 'RWA', 'RWM', 'RCL', 'RCH', 'RSQ')
>>> small = environments.Assumptions(flows=2, duration="5s")
>>> environments.scenario("SQL", rule="AIAD(1, 3)", assume=small)
<Scenario SQL-sack-drop-tail: AIAD(1, 3) for 5.0>
"""

from __future__ import annotations

from cwndlab.environments.assumptions import Assumptions, assumptions
from cwndlab.environments.catalogue import (
    DEMO,
    ENVIRONMENTS,
    GROUPS,
    PAPER,
    Environment,
    at_homes,
    environment,
    names,
    split_home,
)
from cwndlab.environments.network import (
    RECOVERIES,
    common,
    document,
    link,
    network,
    scenario,
    under,
)
from cwndlab.environments.queues import BOTTLENECK, PRIORITY, QUEUES, check_queue

__all__ = [
    "BOTTLENECK",
    "DEMO",
    "ENVIRONMENTS",
    "GROUPS",
    "PAPER",
    "PRIORITY",
    "QUEUES",
    "RECOVERIES",
    "Assumptions",
    "Environment",
    "assumptions",
    "at_homes",
    "check_queue",
    "common",
    "document",
    "environment",
    "link",
    "names",
    "network",
    "scenario",
    "split_home",
    "under",
]
