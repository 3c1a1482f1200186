//! Data that applications supply on an open connection: responses to requests, media frames,
//! segments of videos, and objects of web pages, which open their connections.

use crate::endpoint::page_loader::PageLoader;
use crate::endpoint::transfer::{Frame, NextTransfer};
use crate::engine::flow_slots::MAX_TRANSFERS;
use crate::engine::sender_output::{NO_EVENT, later_cause};
use crate::engine::state::Engine;
use crate::event::timers::TimerKind;
use crate::id::FlowId;
use crate::measure::trace::Tracer;
use cwndlab_tcp::NEVER;

impl<T: Tracer> Engine<T> {
    /// A request arrives, or a media frame: the sender transmits the response, or the frame.
    pub(crate) fn on_request(&mut self, flow: FlowId) {
        let now_s = self.now_s;
        let endpoint = &mut self.senders[flow.index()];
        let was_idle = endpoint.finish_s < NEVER;
        let data_end = endpoint.sender.data_end();
        let Some(app) = &mut endpoint.app else { return };
        app.request_s = NEVER;
        let Some(transfer) = &mut app.transfer else { return };
        let packets = match &mut transfer.next {
            Some(NextTransfer::Response { size, .. }) => {
                let packets = size.next_packets();
                (transfer.start_s, transfer.packets) = (now_s, packets);
                packets
            }
            Some(NextTransfer::Frame { size, every_s }) => {
                let rate = endpoint.sender.encoder_rate_packets_s();
                let packets = size.next_packets(*every_s, rate);
                if packets == 0 {
                    return self.follow_concurrently(flow);
                }
                (transfer.start_s, transfer.packets) = (now_s, packets);
                packets
            }
            Some(NextTransfer::Segment(player)) => {
                let packets = player.request(now_s);
                (transfer.start_s, transfer.packets) = (now_s, packets);
                packets
            }
            Some(NextTransfer::Exchanges(exchanges)) => {
                let Some((_, packets)) = exchanges.left.pop_front() else { return };
                transfer.packets += packets;
                if was_idle {
                    transfer.start_s = now_s;
                    exchanges.busy_periods += 1;
                }
                packets
            }
            Some(NextTransfer::Object { .. }) | None => return,
        };
        endpoint.finish_s = NEVER;
        self.add_frame(flow, data_end.saturating_add_unsigned(packets));
        self.on_sender(flow, |sender, now_s, config, wire| {
            sender.supply(now_s, packets, config, wire)
        });
        self.follow_concurrently(flow);
    }

    /// Adds a browser; `first_flow` and those behind it are its connections.
    pub(crate) fn add_browser(&mut self, browser: PageLoader, first_flow: u32) {
        self.browsers.push((browser, first_flow, NO_EVENT));
        self.arm_page_request(self.browsers.len() as u32 - 1);
    }

    /// A browser requests what it knows of and has connections for.
    pub(crate) fn on_page_request(&mut self, browser: u32) {
        let now_s = self.now_s;
        self.cause = later_cause(now_s, self.cause, self.browsers[browser as usize].2);
        self.browsers[browser as usize].0.on_timer(now_s);
        loop {
            let (loader, first_flow, _) = &mut self.browsers[browser as usize];
            let Some(request) = loader.next_request(now_s) else { break };
            let flow = FlowId::new(*first_flow + request.connection);
            let endpoint = &mut self.senders[flow.index()];
            endpoint.finish_s = NEVER;
            let transfer = endpoint.app.as_mut().and_then(|app| app.transfer.as_mut());
            let Some(transfer) = transfer else { break };
            (transfer.start_s, transfer.packets) = (now_s, request.packets);
            self.on_sender(flow, |sender, now_s, config, wire| {
                sender.supply(now_s, request.packets, config, wire);
                if request.opens {
                    sender.start(now_s, config, wire);
                }
            });
        }
        self.arm_page_request(browser);
    }

    /// A connection of a browser has carried an object, whose last packet arrived at `received_s`.
    pub(crate) fn on_object_complete(&mut self, browser: u32, connection: u32, received_s: f64) {
        let (loader, _, last) = &mut self.browsers[browser as usize];
        *last = (self.now_s, self.cause);
        loader.on_complete(connection, self.now_s, received_s);
        self.arm_page_request(browser);
    }

    fn arm_page_request(&mut self, browser: u32) {
        if let Some(time_s) = self.browsers[browser as usize].0.next_timer_s(self.now_s) {
            self.network.stations.arm(time_s, TimerKind::PageRequest, browser);
        }
    }

    /// If the flow sends frames: the one that its sender is about to be given, up to packet `end`,
    /// is on its way to the receiver.
    pub(crate) fn add_frame(&mut self, flow: FlowId, end: i64) {
        let receivers = &mut self.network.receivers;
        let Some(frames) = &mut receivers.list[flow.index()].frames else { return };
        let Some(transfer) = self.senders[flow.index()].transfer() else { return };
        let frame = Frame { start_s: self.now_s, packets: transfer.packets, end };
        frames.pending.push_back(frame);
        let overflows = receivers.transfers.len() > MAX_TRANSFERS;
        self.network.note_overflow(overflows);
    }

    /// Schedules the next data of a flow that does not wait for those before: a media frame, or a
    /// response of a concurrent connection.
    pub(crate) fn follow_concurrently(&mut self, flow: FlowId) {
        let Some(app) = &mut self.senders[flow.index()].app else { return };
        let Some(transfer) = &app.transfer else { return };
        let wait_s = match &transfer.next {
            Some(NextTransfer::Frame { every_s, .. }) => Some(*every_s),
            Some(NextTransfer::Exchanges(exchanges)) if exchanges.is_concurrent => {
                exchanges.left.front().map(|next| next.0)
            }
            _ => None,
        };
        let Some(next_time_s) = wait_s.map(|wait_s| self.now_s + wait_s) else { return };
        if next_time_s < app.stop_s {
            app.request_s = next_time_s;
            self.network.stations.arm(next_time_s, TimerKind::Request, flow.number());
        }
    }
}
