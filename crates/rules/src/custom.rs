//! Custom rules: rules of other crates and languages, as trait objects.

use crate::{Ack, Congestion, Needs, WindowRule};
use std::{fmt, sync::Arc};

/// A custom rule: any type that implements [`WindowRule`] and is `Clone`, `Debug`, `Send` and
/// `Sync`.
///
/// ```
/// use cwndlab_rules::{Ack, Congestion, Rule, WindowRule};
///
/// /// Adds one packet per round trip; the n-th loss in a row takes 1/(n + 1) of the window.
/// #[derive(Clone, Debug, Default)]
/// struct Patient {
///     losses: u32,
/// }
///
/// impl WindowRule for Patient {
///     fn increase(&mut self, cwnd: f64, ack: &Ack) -> f64 {
///         if ack.rtt_s <= 1.1 * ack.min_rtt_s {
///             self.losses = 0; // The queue is empty.
///         }
///         ack.per_packet(cwnd, |cwnd| cwnd + 1.0 / cwnd)
///     }
///
///     fn decrease(&mut self, cwnd: f64, _: Congestion) -> f64 {
///         self.losses += 1;
///         cwnd * (1.0 - 1.0 / f64::from(self.losses + 1))
///     }
/// }
///
/// let mut rule = Rule::custom(Patient::default());
/// assert_eq!(rule.decrease(12.0, Congestion::FastRetransmit), 6.0);
/// assert_eq!(rule.decrease(12.0, Congestion::FastRetransmit), 8.0);
/// ```
pub trait CustomRule: WindowRule + fmt::Debug + Send + Sync {
    /// A copy with the same state.
    fn copied(&self) -> Box<dyn CustomRule>;
}

impl<T: WindowRule + Clone + fmt::Debug + Send + Sync + 'static> CustomRule for T {
    fn copied(&self) -> Box<dyn CustomRule> {
        Box::new(self.clone())
    }
}

impl Clone for Box<dyn CustomRule> {
    fn clone(&self) -> Self {
        self.as_ref().copied()
    }
}

/// Creates the custom rule of each flow. The default creates a rule that only reports its absence.
#[derive(Clone)]
pub struct CustomRuleFactory(Arc<dyn Fn() -> Box<dyn CustomRule> + Send + Sync>);

impl CustomRuleFactory {
    /// A factory from a function.
    pub fn new<R: CustomRule + 'static>(make: impl Fn() -> R + Send + Sync + 'static) -> Self {
        Self(Arc::new(move || Box::new(make())))
    }

    pub(crate) fn make(&self) -> Box<dyn CustomRule> {
        (self.0)()
    }
}

impl CustomRuleFactory {
    /// A factory of placeholders, which report why the rule is missing.
    pub(crate) fn missing(why: &'static str) -> Self {
        Self::new(move || Missing(why))
    }
}

impl Default for CustomRuleFactory {
    fn default() -> Self {
        Self::missing("has no implementation: only its name is known")
    }
}

/// Placeholder for a rule that is named but cannot run, with the reason.
#[derive(Clone, Debug)]
struct Missing(&'static str);

impl WindowRule for Missing {
    fn increase(&mut self, cwnd: f64, _: &Ack) -> f64 {
        cwnd
    }

    fn decrease(&mut self, cwnd: f64, _: Congestion) -> f64 {
        cwnd
    }

    fn needs(&self) -> Needs {
        Needs { faults: true, ..Needs::default() }
    }

    fn fault(&self) -> Option<&str> {
        Some(self.0)
    }
}
