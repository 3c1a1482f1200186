//! Overrides of endpoint knobs, one optional key for each entry of the table in `cwndlab-tcp`.

use crate::per_flow::PerFlow;
use cwndlab_tcp::{EcnFeedback, Knobs, SlowStartScheme, for_each_knob};
use cwndlab_units::Time;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

macro_rules! define_overrides {
    ($($name:ident: $type:ty = [$($default:expr),*], $meaning:literal;)*) => {
        /// Endpoint knobs that a scenario sets; the others keep the values of the profile.
        #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
        #[serde(deny_unknown_fields)]
        pub struct KnobOverrides {
            $(
                #[doc = $meaning]
                #[serde(default, skip_serializing_if = "Option::is_none")]
                pub $name: Option<$type>,
            )*
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
            pub fn apply(&self, knobs: &mut Knobs) {
                $(if let Some(value) = self.$name { knobs.$name = value; })*
            }
        }
    };
}

for_each_knob!(define_overrides);
