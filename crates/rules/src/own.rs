//! Rules from elsewhere: another crate, another language.

use crate::{Ack, Congestion, Needs, Rule, WindowRule};
use std::{fmt, sync::Arc};

/// A rule of another crate, as a sender holds it: whatever implements [`WindowRule`] and can be cloned, printed and sent to a thread.
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
///         cwnd + 1.0 / cwnd
///     }
///
///     fn decrease(&mut self, cwnd: f64, _: Congestion) -> f64 {
///         self.losses += 1;
///         cwnd * (1.0 - 1.0 / f64::from(self.losses + 1))
///     }
/// }
///
/// let mut rule = Rule::own(Patient::default());
/// assert_eq!(rule.decrease(12.0, Congestion::FastRetransmit), 6.0);
/// assert_eq!(rule.decrease(12.0, Congestion::FastRetransmit), 8.0);
/// ```
pub trait OwnRule: WindowRule + fmt::Debug + Send + Sync {
    /// A copy with the same state.
    fn copied(&self) -> Box<dyn OwnRule>;
}

impl<T: WindowRule + Clone + fmt::Debug + Send + Sync + 'static> OwnRule for T {
    fn copied(&self) -> Box<dyn OwnRule> {
        Box::new(self.clone())
    }
}

impl Clone for Box<dyn OwnRule> {
    fn clone(&self) -> Self {
        self.as_ref().copied()
    }
}

impl Rule {
    /// A rule of another crate.
    pub fn own(rule: impl OwnRule + 'static) -> Self {
        Self::Own(Box::new(rule))
    }
}

/// Makes a rule from elsewhere, afresh for each flow. The default makes one that cannot run and says so.
#[derive(Clone)]
pub struct Maker(Arc<dyn Fn() -> Box<dyn OwnRule> + Send + Sync>);

impl Maker {
    /// From a function that makes one.
    pub fn new<R: OwnRule + 'static>(make: impl Fn() -> R + Send + Sync + 'static) -> Self {
        Self(Arc::new(move || Box::new(make())))
    }

    pub(crate) fn make(&self) -> Box<dyn OwnRule> {
        (self.0)()
    }
}

impl Default for Maker {
    fn default() -> Self {
        Self::new(|| Missing)
    }
}

/// Stands where a rule was named and nobody knew it.
#[derive(Clone, Debug)]
struct Missing;

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
        Some("is not known here: whoever reads its name must say what it is")
    }
}
