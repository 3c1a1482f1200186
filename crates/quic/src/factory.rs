//! The factory of congestion controllers for quinn.

use crate::controller::OnCut;
use crate::window::{Settings, Window};
use crate::{Cut, RuleController};
use cwndlab_rules::{Arithmetic, RuleError, RuleSpec, WindowRule};
use quinn_proto::congestion::{Controller, ControllerFactory};
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Instant;

/// Why a rule cannot be a congestion controller of quinn, or why its text is not a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unsupported(String);

impl fmt::Display for Unsupported {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Unsupported {}

impl From<RuleError> for Unsupported {
    fn from(error: RuleError) -> Self {
        Self(error.to_string())
    }
}

/// Makes a [`RuleController`] for each connection.
///
/// ```
/// use cwndlab_quic::RuleFactory;
/// use std::sync::Arc;
/// let factory: RuleFactory = "MRAIMD(1, 0.1, 0.1, 0.5)".parse().unwrap();
/// let factory = factory.initial_window_packets(4.0).on_cut(Arc::new(|cut| println!("{cut:?}")));
/// let message = "BBR1".parse::<RuleFactory>().unwrap_err().to_string();
/// assert!(message.starts_with("rule \"BBR1\" sets the pacing rate"));
/// ```
#[derive(Clone)]
pub struct RuleFactory {
    spec: RuleSpec,
    settings: Settings,
    on_cut: Option<OnCut>,
}

impl fmt::Debug for RuleFactory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RuleFactory")
            .field("rule", &self.spec.to_string())
            .field("settings", &self.settings)
            .finish_non_exhaustive()
    }
}

impl FromStr for RuleFactory {
    type Err = Unsupported;

    fn from_str(text: &str) -> Result<Self, Unsupported> {
        Self::new(text.parse()?)
    }
}

impl RuleFactory {
    /// A factory for a rule.
    ///
    /// # Errors
    /// A rule that sets the pacing rate (BBR), or a custom rule without an implementation.
    pub fn new(spec: RuleSpec) -> Result<Self, Unsupported> {
        let rule = spec.build(Arithmetic::Plain);
        let needs = rule.needs();
        if needs.pacing || needs.recovery || needs.delivery_rate {
            return Err(Unsupported(format!(
                "rule \"{spec}\" sets the pacing rate, which quinn controls itself: expected a \
                 rule that sets only the window"
            )));
        }
        if let Some(fault) = rule.fault() {
            return Err(Unsupported(format!("rule \"{spec}\" {fault}")));
        }
        Ok(Self { spec, settings: Settings::default(), on_cut: None })
    }

    /// Sets the initial window, packets, at least 2; the default is 10 (RFC 9002 section 7.2).
    pub fn initial_window_packets(mut self, packets: f64) -> Self {
        self.settings.initial_window = packets;
        self
    }

    /// Sets the initial slow-start threshold, packets; the default is none.
    pub fn initial_ssthresh_packets(mut self, packets: f64) -> Self {
        self.settings.initial_ssthresh = packets;
        self
    }

    /// Sets a callback for each cut.
    pub fn on_cut(mut self, callback: Arc<dyn Fn(&Cut) + Send + Sync>) -> Self {
        self.on_cut = Some(callback);
        self
    }

    /// The rule.
    pub fn rule(&self) -> &RuleSpec {
        &self.spec
    }

    /// Makes the controller of a connection that begins at `now` with datagrams of `mtu` bytes.
    pub fn controller(&self, now: Instant, mtu: u16) -> RuleController {
        RuleController::new(
            Window::new(self.spec.build(Arithmetic::Plain), self.settings, now, mtu),
            self.on_cut.clone(),
        )
    }
}

impl ControllerFactory for RuleFactory {
    fn build(self: Arc<Self>, now: Instant, current_mtu: u16) -> Box<dyn Controller> {
        Box::new(self.controller(now, current_mtu))
    }
}
