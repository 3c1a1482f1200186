//! Check of the buffers of queues against the packets that cross them.

use super::conditions::{Checked, invalid};
use crate::{NetworkGraph, Routes, Scenario};
use cwndlab_units::Buffer;

impl Scenario {
    /// Checks that a buffer in bytes holds each packet that crosses it on its way to a sink.
    pub(super) fn check_buffers(&self, graph: &NetworkGraph, routes: &Routes) -> Checked {
        let mut largest = vec![0; graph.links.len()];
        let flows = self
            .flows
            .iter()
            .zip(&routes.flows)
            .map(|(flow, path)| (path, u64::from(self.tcp_config(&flow.tcp).wire_size(1))));
        let arrivals = self.arrivals.iter().zip(&routes.arrivals).map(|(spec, path)| {
            (path, u64::from(self.tcp_config(&spec.largest_packets()).wire_size(1)))
        });
        let cross =
            self.cross.iter().zip(&routes.cross).map(|(cross, path)| (path, cross.packet_size.0));
        for (path, size) in flows.chain(arrivals).chain(cross) {
            for &link in &path.forward {
                largest[link as usize] = size.max(largest[link as usize]);
            }
        }
        for (link, largest) in graph.links.iter().zip(largest) {
            let largest = largest + link.tunnel.map_or(0, |tunnel| tunnel.overhead.0);
            for (name, limit) in link.queue.buffers() {
                if let Buffer::Bytes(bytes) = limit
                    && bytes < largest
                {
                    let expected = format!("at least a packet, {largest}B");
                    return invalid(
                        format!("{}.{name}", link.queue_key),
                        format!("{bytes}B"),
                        expected,
                    );
                }
            }
        }
        Ok(())
    }
}
