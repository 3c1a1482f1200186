//! Tahoe: the third duplicate ACK restarts slow start from one packet (ns-2 `TcpAgent::recv`,
//! `dupack_action`).

use super::DupackAction;
use crate::cwnd::Reduction;
use crate::tcb::Tcb;
use crate::{AckSegment, Knobs, Output};
use cwndlab_rules::Congestion;

pub(crate) fn on_ack(
    tcb: &mut Tcb,
    now_s: f64,
    ack: AckSegment,
    knobs: &Knobs,
    out: &mut impl Output,
) {
    if ack.ack > tcb.last_ack {
        tcb.new_ack_and_grow(now_s, ack, knobs);
    } else if ack.ack == tcb.last_ack {
        tcb.dupacks += 1;
        if tcb.dupacks == knobs.dupack_threshold {
            fast_retransmit(tcb, now_s, knobs);
        } else if tcb.dupacks < knobs.dupack_threshold {
            tcb.limited_transmit(now_s, knobs, out);
        }
    }
    tcb.send_pending_data(now_s, knobs, knobs.max_burst, out);
}

fn fast_retransmit(tcb: &mut Tcb, now_s: f64, knobs: &Knobs) {
    if tcb.is_repaired() {
        return;
    }
    match DupackAction::of(tcb, knobs) {
        DupackAction::Reduce => {
            tcb.enter_fast_retransmit();
            tcb.reduce_cwnd(Reduction::ToOnePacket(Congestion::FastRetransmit), knobs);
        }
        DupackAction::Retransmit => {
            tcb.enter_recovery_without_reduction(knobs);
            tcb.cwnd_to_one_packet();
        }
        DupackAction::Ignore => return,
    }
    tcb.restart_timer_after_reduction(now_s);
    tcb.go_back_n();
}
