//! Overrides of endpoint knobs, one optional key for each entry of the table in `cwndlab-tcp`.

use crate::per_flow::PerFlow;
use cwndlab_tcp::{EcnFeedback, SlowStartScheme, TcpConfig, for_each_knob};
use cwndlab_units::Time;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

macro_rules! define_overrides {
    ($($group:ident: $Group:ident, $about:literal {$(
        $name:ident: $type:ty = [$($default:expr),*]
            $(within [$least:expr, $most:expr])?, $meaning:literal;
    )*})*) => {
        /// Endpoint knobs that a scenario sets; the others keep the values of the profile.
        #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
        #[serde(deny_unknown_fields)]
        pub struct KnobOverrides {
            $($(
                #[doc = $meaning]
                #[serde(default, skip_serializing_if = "Option::is_none")]
                pub $name: Option<$type>,
            )*)*
            /// Offset of the flow's timer within a tick, seconds; 0 when absent (ns-2 draws its
            /// `boot_time_`). `{ each = [...] }` has one for each flow of an entry of `[[flows]]`.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub timer_phase: Option<PerFlow<f64>>,
        }

        impl KnobOverrides {
            /// Whether no knob is set.
            pub fn is_empty(&self) -> bool {
                *self == Self::default()
            }

            /// Applies the knobs that are set.
            pub fn apply(&self, config: &mut TcpConfig) {
                $($(if let Some(value) = self.$name { config.$group.$name = value; })*)*
            }

            /// These knobs, and those of `base` where they are not set.
            pub(crate) fn over(&self, base: &Self) -> Self {
                Self {
                    $($($name: self.$name.or(base.$name),)*)*
                    timer_phase: self.timer_phase.clone().or_else(|| base.timer_phase.clone()),
                }
            }

            /// The first knob outside its range, with its value and the range.
            pub(crate) fn outside(&self) -> Option<(&'static str, f64, [f64; 2])> {
                $($($(if let Some(value) = self.$name.map(Value::value)
                    && !($least..=$most).contains(&value)
                {
                    return Some((stringify!($name), value, [$least, $most]));
                })?)*)*
                None
            }
        }
    };
}

for_each_knob!(define_overrides);

/// Former knobs, what they are parts of now, and the value there of one that was true.
pub(crate) const RENAMED: [(&str, &str, bool); 9] = [
    ("ecn_handshake", "ns2_ecn", true),
    ("ecn_on_retransmission", "ns2_ecn", true),
    ("ecn_after_timeout", "ns2_ecn", true),
    ("ecn_covers_last_cut", "ns2_ecn", true),
    ("ecn_ends_recovery", "ns2_ecn", false),
    ("ecn_backoff", "ns2_ecn", true),
    ("grow_in_repair", "ns2_ecn", false),
    ("halve_first_cut", "halve_early_cuts", true),
    ("halve_in_slow_start", "halve_early_cuts", true),
];

/// The number of a knob with a range: times in seconds.
trait Value {
    fn value(self) -> f64;
}

impl Value for u32 {
    fn value(self) -> f64 {
        self.into()
    }
}

impl Value for f64 {
    fn value(self) -> f64 {
        self
    }
}

impl Value for Time {
    fn value(self) -> f64 {
        self.seconds()
    }
}
