//! Tahoe: the third duplicate ACK restarts slow start from one packet (ns-2 `TcpAgent::recv`,
//! `dupack_action`).

use crate::cwnd::Reduction;
use crate::loss_detection::dupack::DupackAction;
use crate::{AckSegment, Knobs, Output, Sender};
use cwndlab_rules::Congestion;

pub(crate) fn on_ack(
    tcp: &mut Sender,
    now_s: f64,
    ack: AckSegment,
    knobs: &Knobs,
    out: &mut impl Output,
) {
    if ack.ack > tcp.last_ack {
        tcp.new_ack_and_grow(now_s, ack, knobs);
    } else if ack.ack == tcp.last_ack {
        tcp.dupacks += 1;
        if tcp.dupacks == knobs.dupack_threshold {
            fast_retransmit(tcp, now_s, knobs);
        } else if tcp.dupacks < knobs.dupack_threshold && knobs.limited_transmit {
            tcp.send_limited_transmit(now_s, knobs, out);
        }
    }
    tcp.send_pending_data(now_s, knobs, knobs.max_burst, out);
}

fn fast_retransmit(tcp: &mut Sender, now_s: f64, knobs: &Knobs) {
    if tcp.is_finished() {
        return;
    }
    match tcp.dupack_action(knobs) {
        DupackAction::Reduce => {
            tcp.enter_fast_retransmit();
            tcp.reduce_cwnd(Reduction::ToOnePacket(Congestion::FastRetransmit), knobs);
        }
        DupackAction::Retransmit => {
            tcp.enter_recovery_without_reduction(knobs);
            tcp.cwnd_to_one_packet();
        }
        DupackAction::Ignore => return,
    }
    tcp.restart_timer_after_reduction(now_s);
    tcp.go_back_n();
}
