//! Tahoe: the third duplicate acknowledgement restarts from one packet (ns-2 `TcpAgent::recv`, `dupack_action`).

use super::Response;
use crate::window::Cut;
use crate::{AckSegment, Knobs, Output, Sender};
use cwndlab_rules::Congestion;

pub(crate) fn on_ack(tcp: &mut Sender, now_s: f64, ack: AckSegment, knobs: &Knobs, out: &mut impl Output) {
    if ack.ack > tcp.last_ack {
        tcp.new_ack_and_grow(now_s, ack, knobs);
    } else if ack.ack == tcp.last_ack {
        tcp.dupacks += 1;
        if tcp.dupacks == knobs.dupack_threshold {
            fast_retransmit(tcp, now_s, knobs);
        } else if tcp.dupacks < knobs.dupack_threshold && knobs.limited_transmit {
            tcp.send_one(now_s, knobs, out);
        }
    }
    tcp.send_much(now_s, knobs, knobs.max_burst, out);
}

fn fast_retransmit(tcp: &mut Sender, now_s: f64, knobs: &Knobs) {
    if tcp.is_finished() {
        return;
    }
    match tcp.third_duplicate(knobs) {
        Response::Cut => {
            tcp.begin_cut();
            tcp.cut(Cut::ToOne(Congestion::FastRetransmit), knobs);
        }
        Response::Repair => {
            tcp.begin_repair(knobs);
            tcp.window_to_one();
        }
        Response::Ignore => return,
    }
    tcp.restart_after_cut(now_s);
    tcp.go_back();
}
