//! One end of a connection.

use cwndlab_tcp::Ecn;
use std::time::Duration;

/// One end of a connection. Times count from the start of the run, and never decrease. What an
/// end does not have, such as a threshold or, at a receiver, data to write, it leaves to the
/// defaults.
pub trait Endpoint: Send + Sync {
    /// Opens the connection. Only the sender is asked to.
    fn connect(&mut self, _now: Duration) {}

    /// A datagram arrives, with the ECN field of its IP header.
    fn receive(&mut self, now: Duration, datagram: &[u8], ecn: Ecn);

    /// The time of [`Endpoint::next_timeout`] has come.
    fn on_timeout(&mut self, _now: Duration) {}

    /// When the end wants to be called; none for never.
    fn next_timeout(&mut self) -> Option<Duration> {
        None
    }

    /// Writes the next datagram into `buffer`, which is empty, and returns its ECN field; none if
    /// nothing may be sent now.
    fn transmit(&mut self, now: Duration, buffer: &mut Vec<u8>) -> Option<Ecn>;

    /// The application has so many bytes more to send: returns how many of them are taken. What is
    /// not taken is offered again after the next event.
    fn write(&mut self, _bytes: u64) -> u64 {
        0
    }

    /// All data were written.
    fn finish(&mut self) {}

    /// The application stops: what was written and not yet sent is discarded.
    fn stop(&mut self) {}

    /// The application takes the data that have arrived, in any order: returns their bytes.
    fn read(&mut self) -> u64 {
        0
    }

    /// Congestion window, full datagrams.
    fn cwnd_packets(&self) -> f64 {
        0.0
    }

    /// Slow-start threshold, full datagrams; none while it is unlimited.
    fn ssthresh_packets(&self) -> Option<f64> {
        None
    }

    /// Smoothed round trip time; none before the first sample.
    fn smoothed_rtt(&self) -> Option<Duration> {
        None
    }

    /// Packets that were declared lost.
    fn lost_packets(&self) -> u64 {
        0
    }

    /// Reductions of the window so far: for losses, for marks, and for persistent congestion or
    /// timeouts.
    fn reductions(&self) -> [u64; 3] {
        [0; 3]
    }

    /// Whether all data that were written are acknowledged, after [`Endpoint::finish`].
    fn is_complete(&self) -> bool {
        false
    }

    /// Why the connection failed.
    fn failure(&self) -> Option<String> {
        None
    }
}
