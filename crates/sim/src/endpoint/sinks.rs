//! What stands at the ends of routes: receivers, sinks of cross traffic, external endpoints.

use crate::endpoint::cross_traffic::CrossSink;
use crate::endpoint::external::ExternalEndpoints;
use crate::endpoint::tcp::{ReceiverEndpoint, SlotLosses};
use crate::measure::window::MeasurementWindow;
use cwndlab_tcp::Knobs;
use std::sync::Arc;

/// The ends of all routes.
#[derive(Debug)]
pub struct Sinks {
    /// Receivers of the listed flows, then those of the slots of arriving flows.
    pub receivers: Vec<ReceiverEndpoint>,
    /// Knobs of the endpoints.
    pub knobs: Arc<[Knobs]>,
    /// Flow number of the first slot for arriving flows.
    pub first_slot: usize,
    /// Losses of each slot.
    pub slot_losses: Vec<SlotLosses>,
    /// Sinks of cross traffic, by number of the source.
    pub cross: Vec<CrossSink>,
    /// Endpoints outside the simulation, which then has no receivers.
    pub external: Option<ExternalEndpoints>,
    /// Measurement window.
    pub window: MeasurementWindow,
    /// Length of the bins of goodput, seconds.
    pub bin_s: f64,
    /// Data packets delivered to receivers.
    pub delivered: u64,
}

impl Sinks {
    /// No endpoints.
    pub fn new(window: MeasurementWindow, bin_s: f64) -> Self {
        Self {
            receivers: Vec::new(),
            knobs: Arc::from([]),
            first_slot: 0,
            slot_losses: Vec::new(),
            cross: Vec::new(),
            external: None,
            window,
            bin_s,
            delivered: 0,
        }
    }
}
