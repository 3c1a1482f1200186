"""Assessment of a rule by the criteria of RFC 9743 [1]_.

Suites of tests run the rule and its references over the same networks with the same random numbers;
`judging` says when the rule counts as worse.

References
----------
.. [1] M. Duke, G. Fairhurst (eds.), "Specifying New Congestion Control Algorithms", RFC 9743
   (BCP 133), 2025.
"""

from __future__ import annotations

from cwndlab.assessment.result import Assessment
from cwndlab.assessment.running import REFERENCES, assess
from cwndlab.assessment.suite import ADVERSARY, SUITES, criteria, suite

__all__ = ["ADVERSARY", "REFERENCES", "SUITES", "Assessment", "assess", "criteria", "suite"]
