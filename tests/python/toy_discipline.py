"""A toy queue discipline, as the files that CONTRIBUTING.md lists would have it.

It drops every `nth` arriving packet, and knows no limit.
"""

from __future__ import annotations

import shutil
from pathlib import Path

DISCIPLINE = """//! A toy: drops every nth arriving packet.

use crate::admission::{Admission, ArrivingPacket, Backlog, Decision};

/// Drops every nth arriving packet.
#[derive(Clone, Debug)]
pub struct EveryNth {
    nth: u64,
    arrived: u64,
}

impl EveryNth {
    /// A queue that no packet has reached.
    pub fn new(nth: u64) -> Self {
        Self { nth, arrived: 0 }
    }
}

impl Admission for EveryNth {
    fn admit(
        &mut self,
        _packet: &ArrivingPacket,
        _backlog: &Backlog,
        _random: &mut impl FnMut() -> f64,
    ) -> Decision {
        self.arrived += 1;
        if self.arrived.is_multiple_of(self.nth) { Decision::Drop } else { Decision::Accept }
    }
}
"""

# Per file of the list: what stands before which text. Where such a text has moved, move it here.
INSERTED: dict[str, list[tuple[str, str]]] = {
    "crates/queues/src/discipline/*.rs": [("", DISCIPLINE)],
    "crates/queues/src/discipline/mod.rs": [
        ("mod pie;", "mod every_nth;\n"),
        ("pub use pie::", "pub use every_nth::EveryNth;\n"),
        ("/// PIE.", "/// A toy.\n    EveryNth(EveryNth),\n    "),
        ("Self::Pie($queue)", "Self::EveryNth($queue) => $call,\n            "),
    ],
    "crates/scenario/src/queue.rs": [
        (
            "/// Proportional integral controller enhanced",
            "/// A toy: drops every nth arriving packet.\n    EveryNth {\n"
            "        /// Size of the buffer, which is never full.\n"
            '        #[serde(default = "one_bdp")]\n        limit: Buffer,\n'
            "        /// Which packets it drops.\n        nth: u64,\n    },\n    ",
        ),
        ('Self::Pie { .. } => "pie"', 'Self::EveryNth { .. } => "every-nth",\n            '),
        ("| Self::Pie { limit, .. }", "| Self::EveryNth { limit, .. }\n            "),
        ("| Self::Pie { .. } => false", "| Self::EveryNth { .. } "),
        (
            "Self::Pie { target,",
            'Self::EveryNth { nth, .. } => inside(at("nth"), nth, 2, 100),\n            ',
        ),
    ],
    "crates/sim/src/build/queues.rs": [
        (
            "QueueSpec::Pie {",
            "QueueSpec::EveryNth { nth, .. } => BuiltQueue::Admission(Discipline::EveryNth("
            "cwndlab_queues::EveryNth::new(nth))),\n            ",
        ),
    ],
    "docs/queues.md": [
        (
            "## pie\n",
            "## every-nth\n\n| key | default | example | unit and meaning |\n"
            '| --- | --- | --- | --- |\n| `limit` | `"1bdp"` | `"50pkt"` | buffer: no effect |\n'
            "| `nth` | required | `10` | which packets are dropped, 2 to 100 |\n\n",
        ),
    ],
}


def insert_into(root: Path) -> None:
    """Add the toy to a copy of the sources."""
    for name, insertions in INSERTED.items():
        path = root / name.replace("*", "every_nth")
        text = path.read_text(encoding="utf-8") if path.exists() else ""
        for place, inserted in insertions:
            assert not place or text.count(place) == 1, f"{name} has not one {place!r}"
            text = text.replace(place, inserted + place, 1)
        path.write_text(text, encoding="utf-8")


def copy_sources(source: Path, target: Path) -> None:
    """Copy what a build of the core and the tests of the documents read."""
    built = shutil.ignore_patterns("_core.*.so", "_core*.pyd", "__pycache__", "_bin")
    for folder in ("crates", "docs", "python", "tests"):
        shutil.copytree(source / folder, target / folder, ignore=built)
    for path in source.iterdir():
        if path.is_file():
            shutil.copy(path, target)
