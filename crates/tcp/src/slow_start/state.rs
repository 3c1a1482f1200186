//! State of a slow-start scheme.

use super::hystart::HyStart;
use super::hystart_plus_plus::HyStartPlusPlus;
use super::scheme::SlowStartScheme;
use crate::Knobs;
use cwndlab_rules::{Rule, WindowRule};

/// State of a scheme other than standard slow start.
#[derive(Clone, Debug)]
pub(crate) enum SlowStart {
    HyStart(HyStart),
    HyStartPlusPlus(HyStartPlusPlus),
    Limited,
}

impl SlowStart {
    /// State at the start of a flow; none for standard slow start.
    pub(crate) fn new(rule: &Rule, knobs: &Knobs) -> Option<Box<Self>> {
        let scheme = match knobs.slow_start {
            SlowStartScheme::Linux if rule.has_hystart_in_linux() => SlowStartScheme::HyStart,
            SlowStartScheme::Linux => SlowStartScheme::Standard,
            scheme => scheme,
        };
        match scheme {
            _ if rule.needs().recovery => None,
            SlowStartScheme::Standard | SlowStartScheme::Linux => None,
            SlowStartScheme::Limited => Some(Self::Limited),
            SlowStartScheme::HyStart => Some(Self::HyStart(HyStart::default())),
            SlowStartScheme::HyStartPlusPlus => {
                Some(Self::HyStartPlusPlus(HyStartPlusPlus::default()))
            }
        }
        .map(Box::new)
    }
}
