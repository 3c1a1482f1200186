//! A sender without a network: Python gives it writes and ACKs, and is told what it sends.

use crate::scenario::PyScenario;
use cwndlab_sim::{DrivenAck, DrivenSender};
use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// A packet that was sent: (time, number, whether again, ECN field, CWR).
type Sent = (f64, i64, bool, u8, bool);

/// The sender of the first flow of an entry of a scenario, whose data `write` gives. Times are
/// seconds, and do not go back.
#[pyclass(name = "DrivenSender", module = "cwndlab._core")]
pub struct PyDrivenSender {
    driven: DrivenSender,
}

#[pymethods]
impl PyDrivenSender {
    #[new]
    fn new(scenario: &PyScenario, group: usize) -> PyResult<Self> {
        DrivenSender::new(&scenario.scenario, group)
            .map(|driven| Self { driven })
            .ok_or_else(|| PyIndexError::new_err(format!("group: {group} is not valid")))
    }

    /// Starts sending, with the SYN where there is one.
    fn start(&mut self, time_s: f64) {
        self.driven.start(time_s);
    }

    /// When a timer expires next; infinite if none runs.
    fn deadline_s(&self) -> f64 {
        self.driven.deadline_s()
    }

    /// Lets the timers expire that are due before a time.
    fn advance(&mut self, time_s: f64) {
        self.driven.advance(time_s);
    }

    /// The device below paces bursts.
    fn pace_bursts(&mut self) {
        self.driven.pace_bursts();
    }

    /// Whether the device below refuses packets, so that retransmissions fail.
    fn refuse_packets(&mut self, refuses: bool) {
        self.driven.refuse_packets(refuses);
    }

    /// The application writes so many packets.
    fn write(&mut self, time_s: f64, packets: u64) {
        self.driven.write(time_s, packets);
    }

    /// An ACK of all packets up to `ack` arrives, with the receiver's window in packets and the
    /// time of the packet whose timestamp it echoes, where these are known.
    #[pyo3(signature = (time_s, ack, sack, ece=false, window_packets=None, echo_s=None))]
    fn ack(
        &mut self,
        time_s: f64,
        ack: i64,
        sack: Vec<(i64, i64)>,
        ece: bool,
        window_packets: Option<u32>,
        echo_s: Option<f64>,
    ) {
        self.driven.ack(&DrivenAck { time_s, ack, sack, ece, window_packets, echo_s });
    }

    /// What was sent since the last call.
    fn take_sent(&mut self) -> Vec<Sent> {
        let sent = self.driven.take_sent().into_iter();
        sent.map(|sent| {
            let segment = sent.segment;
            let ecn = segment.ecn as u8;
            (sent.time_s, segment.number, segment.retransmission, ecn, segment.cwr)
        })
        .collect()
    }

    /// Which invalid value the rule returned, or what it raised; none if it did not.
    fn fault(&self) -> Option<String> {
        self.driven.sender().fault().map(str::to_owned)
    }

    /// State under the names of `struct tcp_info`, without `tcpi_`.
    fn tcp_info<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let info = self.driven.tcp_info();
        let fields = [
            ("ca_state", info.ca_state as u32),
            ("snd_cwnd", info.snd_cwnd),
            ("snd_ssthresh", info.snd_ssthresh),
            ("unacked", info.unacked),
            ("sacked", info.sacked),
            ("lost", info.lost),
            ("retrans", info.retrans),
            ("reordering", info.reordering),
            ("reord_seen", info.reord_seen),
            ("backoff", info.backoff),
            ("rtt", info.rtt),
            ("rttvar", info.rttvar),
            ("min_rtt", info.min_rtt),
            ("rto", info.rto),
        ];
        let dict = PyDict::new(py);
        fields.into_iter().try_for_each(|(name, value)| dict.set_item(name, value))?;
        Ok(dict)
    }
}
