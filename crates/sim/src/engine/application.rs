//! Data that applications supply on an open connection: responses to requests, and media frames.

use crate::endpoint::arrivals::whole_packets;
use crate::endpoint::tcp::SenderEndpoint;
use crate::endpoint::transfer::{ActiveTransfer, Frame, NextTransfer};
use crate::engine::flow_slots::MAX_TRANSFERS;
use crate::engine::state::Engine;
use crate::event::scheduler::EventScheduler;
use crate::event::timers::TimerKind;
use crate::measure::trace::Tracer;
use cwndlab_tcp::NEVER;

impl<S: EventScheduler, T: Tracer> Engine<S, T> {
    /// A request arrives, or a media frame: the sender transmits the response, or the frame.
    pub(crate) fn on_request(&mut self, flow: u32) {
        let now_s = self.now_s;
        let endpoint = &mut self.senders[flow as usize];
        endpoint.finish_s = NEVER;
        let Some(app) = &mut endpoint.app else { return };
        app.request_s = NEVER;
        let Some(transfer) = &mut app.transfer else { return };
        let Some(NextTransfer::Response { size, .. } | NextTransfer::Frame { size, .. }) =
            &mut transfer.next
        else {
            return;
        };
        let packets = whole_packets(size.next());
        (transfer.start_s, transfer.packets) = (now_s, packets);
        self.on_sender(flow, |sender, now_s, knobs, wire| {
            sender.supply(now_s, packets, knobs, wire)
        });
        self.add_frame(flow);
    }

    /// If the flow sends frames: the one that its sender has just been given waits to be
    /// acknowledged, and the next one follows after the interval.
    pub(crate) fn add_frame(&mut self, flow: u32) {
        let now_s = self.now_s;
        let SenderEndpoint { sender, app, .. } = &mut self.senders[flow as usize];
        let Some(app) = app else { return };
        let Some(ActiveTransfer { packets, next, .. }) = &mut app.transfer else { return };
        let Some(NextTransfer::Frame { every_s, pending, .. }) = next else { return };
        pending.push_back(Frame { start_s: now_s, packets: *packets, end: sender.data_end() });
        app.frame_end = pending[0].end;
        let next_time_s = now_s + *every_s;
        if next_time_s < app.stop_s {
            app.request_s = next_time_s;
            self.datapath.timers.push(next_time_s, TimerKind::Request, flow);
        }
    }

    /// Frames may be complete: all of their data acknowledged.
    #[cold]
    #[inline(never)]
    pub(crate) fn on_frames(&mut self, flow: u32) {
        let now_s = self.now_s;
        let SenderEndpoint { sender, app, .. } = &mut self.senders[flow as usize];
        let Some(app) = app else { return };
        let Some(transfer) = &mut app.transfer else { return };
        while let Some(done) = transfer.take_completed_frame(sender.snd_una(), now_s) {
            self.transfers.push(done);
        }
        app.frame_end = transfer.pending_frames().next().map_or(i64::MAX, |frame| frame.end);
        self.datapath.note_overflow(self.transfers.len() > MAX_TRANSFERS);
    }
}
