//! Tahoe: the third duplicate ACK restarts slow start from one packet (ns-2 `TcpAgent::recv`,
//! `dupack_action`).

use super::dupack::DupackAction;
use crate::cwnd::Reduction;
use crate::tcb::Tcb;
use crate::{AckSegment, Output, TcpConfig};
use cwndlab_rules::Congestion;

pub(crate) fn on_ack(
    tcb: &mut Tcb,
    now_s: f64,
    ack: AckSegment,
    config: &TcpConfig,
    out: &mut impl Output,
) {
    if ack.ack > tcb.last_ack {
        tcb.new_ack_and_grow(now_s, ack, config);
    } else if ack.ack == tcb.last_ack {
        tcb.dupacks += 1;
        if tcb.dupacks == config.recovery.dupack_threshold {
            fast_retransmit(tcb, now_s, config);
        } else if tcb.dupacks < config.recovery.dupack_threshold {
            tcb.limited_transmit(now_s, config, out);
        }
    }
    tcb.send_pending_data(now_s, config, config.limits.max_burst, out);
}

fn fast_retransmit(tcb: &mut Tcb, now_s: f64, config: &TcpConfig) {
    if tcb.is_repaired() {
        return;
    }
    match DupackAction::of(tcb, config) {
        DupackAction::Reduce => {
            tcb.enter_fast_retransmit();
            tcb.reduce_cwnd(Reduction::ToOnePacket(Congestion::FastRetransmit), config);
        }
        DupackAction::Retransmit => {
            tcb.enter_recovery_without_reduction(config);
            tcb.cwnd_to_one_packet();
        }
        DupackAction::Ignore => return,
    }
    tcb.restart_timer_after_reduction(now_s);
    tcb.go_back_n();
}
