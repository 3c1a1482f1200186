"""ns-2 2.35: scenarios written as Tcl scripts, run, and read back as results.

`script` writes what ns-2 can express and refuses the rest by its key; `program` runs `ns`;
`results` reads what a script prints.

>>> from cwndlab import dumbbell, ns2
>>> script = ns2.export(dumbbell("10Mbit", "20ms", flows="AIMD(1, 0.5)", profile="ns2-2.35"))
>>> "Agent/TCP/Sack1" in script
True
"""

from cwndlab.ns2.program import Ns2
from cwndlab.ns2.results import run
from cwndlab.ns2.rules import rule_variables
from cwndlab.ns2.script import export

__all__ = ["Ns2", "export", "rule_variables", "run"]
