//! The congestion controller of a simulated connection: a rule, or one of quinn's own, and what is
//! seen of it.

use crate::window::Cause;
use crate::{RuleController, RuleFactory};
use cwndlab_stack::FlowSettings;
use quinn_proto::RttEstimator;
use quinn_proto::congestion::{
    Controller, ControllerFactory, ControllerMetrics, CubicConfig, NewRenoConfig,
};
use std::any::Any;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

/// Threshold from which it is no limit, bytes.
const UNLIMITED_BYTES: u64 = 1 << 40;

/// What is seen of a controller from outside.
#[derive(Clone, Debug, Default)]
pub struct Seen {
    /// Congestion window, full datagrams.
    pub cwnd_packets: f64,
    /// Slow-start threshold, full datagrams; none while it is unlimited.
    pub ssthresh_packets: Option<f64>,
    /// Reductions for losses, for marks, and for persistent congestion.
    pub reductions: [u64; 3],
    /// Why the rule stopped.
    pub fault: Option<String>,
}

/// Shared by a controller and the endpoint that reports what is seen of it.
pub type SharedSeen = Arc<Mutex<Seen>>;

/// Makes the controllers of a flow.
pub enum Controllers {
    /// Of a rule.
    Rule(RuleFactory),
    /// quinn's NewReno.
    NewReno(NewRenoConfig),
    /// quinn's CUBIC.
    Cubic(CubicConfig),
}

impl Controllers {
    /// Those that a scenario asks for; an error names the key.
    pub fn new(settings: &FlowSettings) -> Result<Self, String> {
        let FlowSettings { rule, initial_window_packets, initial_ssthresh_packets, .. } = settings;
        let Some(name) = rule.quinn_name() else {
            let factory =
                RuleFactory::new(rule.clone()).map_err(|error| format!("rule: {error}"))?;
            let factory = factory.initial_window_packets(*initial_window_packets);
            return Ok(Self::Rule(match initial_ssthresh_packets {
                Some(packets) => factory.initial_ssthresh_packets(*packets),
                None => factory,
            }));
        };
        if let Some(packets) = initial_ssthresh_packets {
            return Err(format!(
                "tcp.initial_ssthresh: {packets} has no effect on {rule}: expected a rule that \
                 is not quinn's own, or no threshold"
            ));
        }
        let window_bytes =
            (initial_window_packets * f64::from(settings.datagram_bytes)).round() as u64;
        Ok(match name {
            "newreno" => {
                let mut config = NewRenoConfig::default();
                config.initial_window(window_bytes);
                Self::NewReno(config)
            }
            _ => {
                let mut config = CubicConfig::default();
                config.initial_window(window_bytes);
                Self::Cubic(config)
            }
        })
    }

    /// A factory whose controller reports to `seen`.
    pub fn factory(self, seen: SharedSeen) -> SeenFactory {
        SeenFactory { controllers: self, seen }
    }
}

/// Makes a controller that reports what is seen of it.
pub struct SeenFactory {
    controllers: Controllers,
    seen: SharedSeen,
}

impl ControllerFactory for SeenFactory {
    fn build(self: Arc<Self>, now: Instant, mtu: u16) -> Box<dyn Controller> {
        let inner = match &self.controllers {
            Controllers::Rule(factory) => Inner::Rule(Box::new(factory.controller(now, mtu))),
            Controllers::NewReno(config) => Inner::Own(Arc::new(config.clone()).build(now, mtu)),
            Controllers::Cubic(config) => Inner::Own(Arc::new(config.clone()).build(now, mtu)),
        };
        let controller = SeenController { inner, mtu, seen: self.seen.clone() };
        controller.tell();
        Box::new(controller)
    }
}

enum Inner {
    Rule(Box<RuleController>),
    Own(Box<dyn Controller>),
}

impl Inner {
    fn get(&self) -> &dyn Controller {
        match self {
            Self::Rule(controller) => controller.as_ref(),
            Self::Own(controller) => controller.as_ref(),
        }
    }

    fn get_mut(&mut self) -> &mut dyn Controller {
        match self {
            Self::Rule(controller) => controller.as_mut(),
            Self::Own(controller) => controller.as_mut(),
        }
    }
}

struct SeenController {
    inner: Inner,
    mtu: u16,
    seen: SharedSeen,
}

impl SeenController {
    fn tell(&self) {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let packets = |bytes: u64| bytes as f64 / f64::from(self.mtu);
        match &self.inner {
            Inner::Rule(controller) => {
                seen.cwnd_packets = controller.cwnd_packets();
                seen.ssthresh_packets = controller.ssthresh_packets();
                if seen.fault.is_none() {
                    seen.fault = controller.fault();
                }
            }
            Inner::Own(controller) => {
                seen.cwnd_packets = packets(controller.window());
                let limited = controller.metrics().ssthresh;
                seen.ssthresh_packets =
                    limited.filter(|&bytes| bytes < UNLIMITED_BYTES).map(packets);
            }
        }
    }
}

impl Controller for SeenController {
    fn on_sent(&mut self, now: Instant, bytes: u64, last_packet_number: u64) {
        self.inner.get_mut().on_sent(now, bytes, last_packet_number);
        self.tell();
    }

    fn on_ack(
        &mut self,
        now: Instant,
        sent: Instant,
        bytes: u64,
        app_limited: bool,
        rtt: &RttEstimator,
    ) {
        self.inner.get_mut().on_ack(now, sent, bytes, app_limited, rtt);
        self.tell();
    }

    fn on_end_acks(
        &mut self,
        now: Instant,
        in_flight: u64,
        app_limited: bool,
        largest_packet_num_acked: Option<u64>,
    ) {
        let inner = self.inner.get_mut();
        inner.on_end_acks(now, in_flight, app_limited, largest_packet_num_acked);
        self.tell();
    }

    fn on_congestion_event(
        &mut self,
        now: Instant,
        sent: Instant,
        is_persistent_congestion: bool,
        lost_bytes: u64,
    ) {
        let inner = self.inner.get_mut();
        let before = inner.window();
        inner.on_congestion_event(now, sent, is_persistent_congestion, lost_bytes);
        if inner.window() < before {
            let cause = match Cause::of(lost_bytes, is_persistent_congestion) {
                Cause::Loss => 0,
                Cause::Mark => 1,
                Cause::PersistentCongestion => 2,
            };
            self.seen.lock().unwrap_or_else(PoisonError::into_inner).reductions[cause] += 1;
        }
        self.tell();
    }

    fn on_mtu_update(&mut self, new_mtu: u16) {
        self.mtu = new_mtu;
        self.inner.get_mut().on_mtu_update(new_mtu);
        self.tell();
    }

    fn window(&self) -> u64 {
        self.inner.get().window()
    }

    fn metrics(&self) -> ControllerMetrics {
        self.inner.get().metrics()
    }

    fn clone_box(&self) -> Box<dyn Controller> {
        let inner = match &self.inner {
            Inner::Rule(controller) => Inner::Rule(controller.clone()),
            Inner::Own(controller) => Inner::Own(controller.clone_box()),
        };
        Box::new(Self { inner, mtu: self.mtu, seen: self.seen.clone() })
    }

    fn initial_window(&self) -> u64 {
        self.inner.get().initial_window()
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        match self.inner {
            Inner::Rule(controller) => controller,
            Inner::Own(controller) => controller.into_any(),
        }
    }
}
