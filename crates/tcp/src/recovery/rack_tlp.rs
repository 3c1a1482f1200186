//! SACK recovery with RACK-TLP (RFC 8985), and PRR (RFC 9937) with the knob `prr`, in the order of
//! operations of Linux's `tcp_ack`.

use super::frto::{AfterTimeout, Frto, Step};
use super::rack::{Delivered, DetectedLosses, Rack};
use super::write_queue::{WriteQueue, Written};
use crate::cwnd::{GSO_MAX_BYTES, Reduction};
use crate::rate_meter::{Measured, RateMeter};
use crate::tcb::{CongestionState, Flight, Tcb, initial_ssthresh};
use crate::ticks::{HZ, tick_before, ticks_of, timer_expiry_s, whole_us};
use crate::{AckSegment, Output, SackBlocks, TcpConfig};
use cwndlab_rules::{Congestion, Delivery, RateSample, Repair, WindowRule};

/// Linux `TCP_TIMEOUT_MIN`: two ticks of a millisecond, seconds.
const TIMEOUT_MIN_S: f64 = 0.002;
/// Time after a transmission in which the next one may wait for more packets, and the longest such
/// wait for an ACK, seconds.
const TSO_DEFER_S: f64 = 1e-3;
/// The part of cwnd that does not wait (Linux `tcp_tso_win_divisor`).
const TSO_WINDOW_DIVISOR: i64 = 3;
/// Half of a receiver's first window, bytes, where ACKs do not tell it.
const FIRST_HALF_BYTES: i64 = 32_580;
/// Shortest timer, seconds: a tick.
const TICK_S: f64 = 0.001;

/// What the single timer is armed for (RFC 8985 section 8).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PendingTimer {
    Rto,
    /// Probe timeout of the tail loss probe (TLP).
    LossProbe,
    /// Reordering timer of RACK.
    Reordering,
}

/// A tail loss probe that is not resolved yet (RFC 8985 section 7).
#[derive(Clone, Copy, Debug)]
pub(crate) struct LossProbe {
    /// Highest packet sent with the probe (TLP.end_seq).
    pub(crate) end_seq: i64,
    /// Whether the probe is a retransmission (TLP.is_retrans).
    pub(crate) is_retransmission: bool,
}

impl LossProbe {
    /// Whether a DSACK reports the probe: its original had arrived.
    fn is_reported(&self, dsack: Option<(i64, i64)>) -> bool {
        dsack.is_some_and(|(_, right)| right == self.end_seq + 1)
    }
}

/// Packets that one call of [`send`] may transmit.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Eligible {
    /// Lost packets, then new data.
    All,
    NewData,
    Lost,
}

/// What one call of [`send`] transmitted.
#[derive(Clone, Copy, Default)]
struct Transmitted {
    new_data: bool,
    /// The packet at SND.UNA was retransmitted.
    head_retransmitted: bool,
    /// Nothing was outstanding before.
    from_idle: bool,
}

/// State of recovery with RACK-TLP.
#[derive(Clone, Debug)]
pub(crate) struct RackTlp {
    pub(crate) rack: Rack,
    pending_timer: PendingTimer,
    loss_probe: Option<LossProbe>,
    queue: WriteQueue,
    /// Rate samples, for rules that ask for them.
    meter: Option<Box<RateMeter>>,
    /// Packets marked lost, as the rule has heard.
    lost_reported: u64,
    /// Packets that an undo unmarked before the rule heard that they were lost: it never will.
    lost_unreported: u64,
    frto: Frto,
    /// The receiver sends SACK blocks; without them duplicate ACKs are counted.
    pub(super) has_sack: bool,
    /// The device below takes no packet: retransmissions fail.
    refuses_packets: bool,
}

impl RackTlp {
    pub(crate) fn new(has_sack: bool) -> Self {
        Self {
            rack: Rack::new(),
            pending_timer: PendingTimer::Rto,
            loss_probe: None,
            queue: WriteQueue::default(),
            meter: None,
            lost_reported: 0,
            lost_unreported: 0,
            frto: Frto::default(),
            has_sack,
            refuses_packets: false,
        }
    }

    pub(crate) fn measure_rates(&mut self) {
        self.meter = Some(Box::default());
    }

    pub(crate) fn note_measured(&mut self, measured: Measured) {
        self.meter.iter_mut().for_each(|meter| meter.measured = measured);
    }

    pub(crate) fn on_ack(
        &mut self,
        tcb: &mut Tcb,
        now_s: f64,
        ack: AckSegment,
        sack: Option<&SackBlocks>,
        config: &TcpConfig,
        out: &mut impl Output,
    ) {
        let (advanced, highest_sent, highest_ack) =
            (ack.ack > tcb.highest_ack, tcb.highest_sent, tcb.highest_ack.max(ack.ack));
        let lost_before = self.rack.lost_total;
        let prior_in_flight = self.rack.in_flight();
        let was_outstanding = !self.rack.is_empty();
        let is_syn_ack = advanced && ack.ack == 0 && config.handshake.syn;
        let echo_s = config.rto.timestamps.then_some(ack.echo_s);
        let ascending = sack.map(|blocks| blocks.ascending());
        let blocks = ascending.as_ref().map_or(&[][..], SackBlocks::as_slice);
        let dsack = sack.and_then(|blocks| blocks.duplicate(ack.ack));
        if let Some((number, _)) = dsack {
            let is_probe = self.loss_probe.is_some_and(|probe| probe.is_reported(dsack));
            self.rack.on_dsack(number, is_probe, highest_ack, highest_sent);
        }
        let meter = &mut self.meter;
        let found = self.rack.on_ack(now_s, echo_s, highest_ack, highest_sent, blocks, |number| {
            meter.iter_mut().for_each(|meter| meter.on_delivered(number));
        });
        if advanced {
            tcb.advance(ack.ack);
        }
        let rtts_s = found.rtts_s(now_s, echo_s);
        let rtts_s = match &self.meter {
            Some(meter) => rtts_s.map(|rtts_s| meter.measured.of_rtts(rtts_s)),
            None => rtts_s,
        };
        if let Some((rtt_s, rule_rtt_s)) = rtts_s {
            tcb.sample_rtt_as_linux(rtt_s, config);
            self.rack.note_rtt(rule_rtt_s);
            tcb.note_delivery(now_s, rule_rtt_s, config);
        }
        let delivered = if self.has_sack {
            found.packets
        } else {
            self.count_without_sack(tcb, ack.ack, found.packets)
        };
        self.count_delivered(tcb, delivered, is_syn_ack);
        self.process_tlp_ack(tcb, ack.ack, dsack, advanced || delivered > 0, config);
        let sends_new = tcb.state == CongestionState::Loss
            && self.process_frto(tcb, ack.ack, advanced, &found) == Step::SendNew;
        if leave_state(tcb, self.has_sack) {
            self.rack.on_recovery_end();
        }
        let detected = self.detect_losses(tcb, now_s, advanced, config);
        if tcb.ecn.requests_reduction() {
            self.on_ece(tcb, config);
        }
        let newly_lost = self.rack.lost_total - lost_before;
        // A SACK for a packet that was sent before the last transmission at SND.UNA restarts the
        // timer (Linux `tcp_clean_rtx_queue`).
        let sacks_older = rtts_s.is_some()
            && self.rack.head_xmit_s().is_some_and(|head_s| found.sacks_sent_before(head_s));
        let sample = self.meter.is_some().then(|| RateSample {
            newly_delivered: delivered as u64,
            newly_lost,
            prior_in_flight: prior_in_flight as u64,
            rtt_us: rtts_s.map(|(_, rtt_s)| whole_us(rtt_s)),
            ..RateSample::default()
        });
        let sample = sample.and_then(|ack| self.rate_sample(tcb, now_s, ack, config));
        match sample {
            Some(sample) if tcb.needs.recovery && !is_syn_ack => {
                if was_outstanding {
                    self.control_by_sample(tcb, &sample);
                }
            }
            // Congestion control begins when the connection is set up (Linux `tcp_init_transfer`):
            // it does not see the RTT of a SYN, unless it paces by it (`bbr_init`).
            _ if is_syn_ack && config.handshake.delay_growth && !tcb.needs.delivery_rate => {}
            _ => self.control_cwnd(tcb, now_s, ack, delivered, advanced, newly_lost > 0, config),
        }
        if is_syn_ack && config.handshake.delay_growth {
            // A SYN that was lost once tells nothing of the path's capacity; one that was lost
            // again does (Linux `tcp_init_metrics`, `tcp_init_transfer`).
            let window = match tcb.counters.retransmitted {
                0 | 1 => tcb.initial_window(config),
                _ => tcb.initial_window(config).min(1.0),
            };
            (tcb.cwnd, tcb.ssthresh) = (window, initial_ssthresh(config));
        }
        if let Some(sample) = sample.filter(|_| is_syn_ack) {
            tcb.rule.on_connected(tcb.cwnd, &sample);
        }
        tcb.update_pacing_rate(config);
        let sent = if sends_new {
            self.send_new_first(tcb, now_s, config, out)
        } else {
            self.send(tcb, now_s, Eligible::All, config, out)
        };
        tcb.stop_timer_if_repaired();
        let timeout_s = detected.reordering_timeout_s;
        self.set_xmit_timer(tcb, now_s, advanced || sacks_older, sent, timeout_s, config);
    }

    /// Counts what an ACK delivered, and tells the rule of it before anything that follows.
    fn count_delivered(&mut self, tcb: &mut Tcb, delivered: i64, is_syn_ack: bool) {
        let Some(meter) = &mut self.meter else { return };
        meter.advance(tcb.highest_ack + 1);
        meter.count(delivered as u64, tcb.ecn.is_marked && !is_syn_ack);
        if !is_syn_ack {
            tcb.rule.on_delivery(&Delivery {
                snd_una: tcb.highest_ack + 1,
                snd_nxt: tcb.highest_sent + 1,
                delivered: meter.delivered,
                delivered_ce: meter.delivered_ce,
            });
        }
    }

    /// What the ACK shows, and the state after it (Linux `tcp_rate_gen`). `ack`: what is known of
    /// the ACK itself.
    fn rate_sample(
        &mut self,
        tcb: &Tcb,
        now_s: f64,
        ack: RateSample,
        config: &TcpConfig,
    ) -> Option<RateSample> {
        let min_rtt_s = self.rack.min_rtt_s();
        let min_rtt_us = min_rtt_s.is_finite().then(|| whole_us(min_rtt_s));
        let meter = self.meter.as_mut()?;
        let packet_bytes = u64::from(config.segment.packet_size);
        let (timed, rate) = meter.take(now_s, ack.newly_delivered, min_rtt_us, packet_bytes);
        Some(RateSample {
            newly_delivered: ack.newly_delivered,
            newly_lost: ack.newly_lost,
            prior_in_flight: ack.prior_in_flight,
            rtt_us: ack.rtt_us,
            rate,
            is_timed: timed.is_some(),
            is_app_limited: timed.is_some_and(|timed| timed.is_app_limited),
            min_rtt_us,
            ..self.state_sample(tcb, now_s, config)?
        })
    }

    /// The state without an ACK.
    fn state_sample(&self, tcb: &Tcb, now_s: f64, config: &TcpConfig) -> Option<RateSample> {
        let meter = self.meter.as_ref()?;
        Some(RateSample {
            now_us: whole_us(now_s),
            now_ms: tick_before(now_s),
            delivered: meter.delivered,
            delivered_us: meter.delivered_us,
            lost: self.rack.lost_total,
            in_flight: self.rack.in_flight() as u64,
            srtt_us: whole_us(tcb.rtt.srtt_s(config)),
            departure_us: whole_us(tcb.departure_s(now_s) - now_s),
            packet_bytes: u64::from(config.segment.packet_size),
            repair: match tcb.state {
                CongestionState::Open | CongestionState::Cwr => Repair::None,
                CongestionState::Recovery => Repair::Recovery,
                CongestionState::Loss => Repair::Loss,
            },
            ..RateSample::default()
        })
    }

    /// The rule sets cwnd by a sample (Linux `cong_control`).
    fn control_by_sample(&mut self, tcb: &mut Tcb, sample: &RateSample) {
        let control = tcb.rule.on_sample(tcb.cwnd, sample);
        tcb.cwnd = control.cwnd;
        tcb.ssthresh = control.ssthresh.unwrap_or(tcb.ssthresh);
        if let Some(meter) = self.meter.as_mut().filter(|_| control.limits_flow) {
            meter.note_app_limited(sample.in_flight);
        }
    }

    /// Notes whether the application limits the flow as it writes: nothing waits, though cwnd
    /// allows more, and all losses are repaired (Linux `tcp_rate_check_app_limited`).
    fn check_app_limited(&mut self, tcb: &Tcb) {
        let in_flight = self.rack.in_flight();
        let is_limited = self.queue.first(tcb.data_end - tcb.snd_nxt) == 0
            && in_flight < tcb.congestion_window()
            && !self.rack.awaits_retransmission();
        if let Some(meter) = self.meter.as_mut().filter(|_| is_limited) {
            meter.note_app_limited(in_flight as u64);
        }
    }

    /// Reduces cwnd in response to ECE, once per window of data.
    pub(crate) fn on_ece(&self, tcb: &mut Tcb, config: &TcpConfig) {
        if tcb.ecn.complete_negotiation() || tcb.state != CongestionState::Open {
            return;
        }
        tcb.recover = tcb.highest_sent;
        tcb.counters.ecn_reductions += 1;
        tcb.enter(CongestionState::Cwr);
        tcb.begin_cwnd_reduction(Congestion::Ecn, config);
    }

    /// The last reduction was undone. `late_originals`: an ACK of a part of the window showed that
    /// packets came late which recovery had sent again.
    pub(crate) fn on_undo(&mut self, late_originals: bool) {
        if late_originals {
            self.rack.note_late_head();
        }
        self.rack.unmark_losses();
        self.lost_unreported = self.rack.lost_total - self.lost_reported;
        self.loss_probe = None;
    }

    /// From now on the application's data is what it has written.
    pub(crate) fn take_given_writes(&mut self) {
        self.queue.take_given_writes();
    }

    /// The application takes back all but `left` packets of what it has written.
    pub(crate) fn withdraw(&mut self, left: i64) {
        self.queue.withdraw(left);
    }

    /// Whether the device below refuses packets.
    pub(crate) fn refuse_packets(&mut self, refuses: bool) {
        self.refuses_packets = refuses;
    }

    /// Packets in flight and lost, for the rule.
    pub(crate) fn flight(&self, tcb: &Tcb) -> Flight {
        if !tcb.needs.recovery {
            return Flight::default();
        }
        let in_flight = self.rack.in_flight().clamp(0, tcb.outstanding().max(0)) as u64;
        Flight {
            in_flight,
            lost: Some(self.lost_reported),
            repairs_wait: self.rack.awaits_retransmission(),
        }
    }

    /// Resolves a loss probe (RFC 8985 section 7.4): if the ACK passes the probe and no duplicate
    /// ACK answered it, the probe repaired a loss, and cwnd is reduced.
    fn process_tlp_ack(
        &mut self,
        tcb: &mut Tcb,
        ack: i64,
        dsack: Option<(i64, i64)>,
        reports_delivery: bool,
        config: &TcpConfig,
    ) {
        let Some(probe) = self.loss_probe.filter(|probe| ack >= probe.end_seq) else { return };
        let was_needless = probe.is_reported(dsack);
        let repaired_loss = probe.is_retransmission && ack > probe.end_seq && !was_needless;
        if repaired_loss || was_needless || !probe.is_retransmission || !reports_delivery {
            self.loss_probe = None;
        }
        if repaired_loss && tcb.state == CongestionState::Open {
            tcb.note_fast_retransmit();
            // Linux passes through the state of ECE, which is what DCTCP sees.
            let congestion =
                if tcb.needs.samples { Congestion::Ecn } else { Congestion::FastRetransmit };
            tcb.reduce_cwnd(Reduction::ToTarget(congestion), config);
        }
    }

    /// Judges a timeout by F-RTO, and undoes its reduction if it was spurious.
    #[cold]
    #[inline(never)]
    fn process_frto(&mut self, tcb: &mut Tcb, ack: i64, advanced: bool, found: &Delivered) -> Step {
        // Without SACK packets sent once may have arrived before the timeout (Linux
        // `tcp_clean_rtx_queue`).
        let is_told = self.has_sack || !found.retransmitted;
        let step = self.frto.on_ack(AfterTimeout {
            advanced,
            reports_hole: found.sacks || (!advanced && is_duplicate(tcb, ack)),
            delivers_original: is_told && found.first_original <= tcb.recover,
            is_repaired: tcb.highest_ack >= tcb.recover,
            sent_new: tcb.highest_sent > tcb.recover,
            has_new: new_data(tcb).is_some(),
        });
        if step == Step::Undo {
            tcb.undo_reduction();
            self.on_undo(false);
        }
        step
    }

    /// Sends new data alone, as F-RTO asks; repairs losses if none can leave (Linux
    /// `tcp_xmit_recovery`).
    #[cold]
    #[inline(never)]
    fn send_new_first(
        &mut self,
        tcb: &mut Tcb,
        now_s: f64,
        config: &TcpConfig,
        out: &mut impl Output,
    ) -> Transmitted {
        let sent = self.send(tcb, now_s, Eligible::NewData, config, out);
        if tcb.highest_sent > tcb.recover {
            return sent;
        }
        self.frto.stop();
        self.send(tcb, now_s, Eligible::All, config, out)
    }

    /// Counts what an ACK without SACK delivers: `acked` packets, or one for a duplicate ACK, in
    /// the order of Linux's `tcp_clean_rtx_queue` and `tcp_fastretrans_alert`.
    #[cold]
    #[inline(never)]
    fn count_without_sack(&mut self, tcb: &Tcb, ack: i64, acked: i64) -> i64 {
        // The recovery point is acknowledged: what follows is not for this repair any more (Linux
        // `tcp_is_non_sack_preventing_reopen`).
        let repairs = matches!(tcb.state, CongestionState::Recovery | CongestionState::Loss);
        let is_repaired = repairs && tcb.highest_ack >= tcb.recover;
        if acked > 0 {
            let delivered = self.rack.remove_dupacks(acked);
            if tcb.state != CongestionState::Recovery || is_repaired {
                self.rack.forget_dupacks();
            }
            return delivered;
        }
        // After a timeout new data alone are counted (F-RTO).
        let counts = tcb.state != CongestionState::Loss || tcb.highest_sent > tcb.recover;
        if counts && !is_repaired && is_duplicate(tcb, ack) { self.rack.count_dupack() } else { 0 }
    }

    /// Detects losses, and enters recovery if any is not being repaired. `advanced`: an ACK of new
    /// data arrived.
    fn detect_losses(
        &mut self,
        tcb: &mut Tcb,
        now_s: f64,
        advanced: bool,
        config: &TcpConfig,
    ) -> DetectedLosses {
        let srtt_s = tcb.rtt.srtt_s(config);
        let repairs = matches!(tcb.state, CongestionState::Recovery | CongestionState::Loss);
        let detected = if self.has_sack {
            self.rack.detect_losses(now_s, repairs, config.recovery.dupack_threshold, srtt_s)
        } else {
            let is_partial =
                tcb.state == CongestionState::Recovery && tcb.highest_ack < tcb.recover;
            self.rack.mark_head_lost(repairs, advanced && is_partial);
            DetectedLosses::default()
        };
        let starts_recovery = match tcb.state {
            CongestionState::Open | CongestionState::Cwr => self.rack.has_losses(),
            CongestionState::Recovery => false,
            // A retransmission made after the timeout is lost: a new congestion event.
            CongestionState::Loss => detected.retransmission_lost,
        };
        if starts_recovery {
            enter_recovery(tcb, config);
        }
        detected
    }

    /// Sets cwnd after an ACK: by PRR, by the rule in recovery, or by growth (Linux
    /// `tcp_cong_control`).
    #[expect(clippy::too_many_arguments)]
    fn control_cwnd(
        &mut self,
        tcb: &mut Tcb,
        now_s: f64,
        ack: AckSegment,
        delivered: i64,
        advanced: bool,
        newly_lost: bool,
        config: &TcpConfig,
    ) {
        let is_reducing = matches!(tcb.state, CongestionState::Cwr | CongestionState::Recovery);
        if is_reducing && tcb.in_cwnd_reduction() {
            tcb.update_prr(self.rack.in_flight(), delivered, advanced && !newly_lost);
            return;
        }
        // After reordering what is SACKed counts as well.
        let is_progress =
            advanced || (delivered > 0 && self.rack.is_reordered_far() && !tcb.needs.recovery);
        self.lost_reported = self.rack.lost_total - self.lost_unreported;
        let flight = self.flight(tcb);
        if is_reducing || !is_progress {
            tcb.report_recovery_ack(now_s, ack, flight, config);
        } else {
            tcb.grow::<false>(now_s, ack, delivered as u64, flight, config);
        }
    }

    /// Sends what the window allows and sets the timer.
    pub(crate) fn send_pending_data(
        &mut self,
        tcb: &mut Tcb,
        now_s: f64,
        config: &TcpConfig,
        out: &mut impl Output,
    ) {
        let sent = self.send(tcb, now_s, Eligible::All, config, out);
        self.set_xmit_timer(tcb, now_s, false, sent, 0.0, config);
    }

    /// Sends lost packets and new data, or one of them, while packets in flight are below the
    /// window.
    fn send(
        &mut self,
        tcb: &mut Tcb,
        now_s: f64,
        eligible: Eligible,
        config: &TcpConfig,
        out: &mut impl Output,
    ) -> Transmitted {
        let from_idle = tcb.outstanding() == 0;
        let (mut sent, mut count) = (Transmitted { from_idle, ..Transmitted::default() }, 0);
        // Packets wait for cwnd; the next burst leaves without waiting for more; a write goes on.
        let (mut waits, mut pushes, mut writes) = (false, false, false);
        // A single burst was pushed in the middle of a write: others may follow when that waits.
        let mut is_cut = false;
        loop {
            tcb.held_back = 0;
            while (config.limits.max_burst == 0 || count < config.limits.max_burst)
                && let Some(number) = self.next_packet(tcb, eligible)
                && tcb.pacing_allows(now_s)
            {
                let is_new = number > tcb.highest_sent;
                if self.refuses_packets && !is_new {
                    break;
                }
                // The handshake needs no data.
                let is_data = is_new && !(number == 0 && config.handshake.syn);
                let pushes_one = is_data && std::mem::take(&mut pushes);
                let mut burst = if is_data {
                    self.next_burst(tcb, now_s, pushes_one, config)
                } else if is_new || !tcb.is_paced_as_linux() {
                    1
                } else {
                    let free = tcb.congestion_window() - self.rack.in_flight();
                    self.rack.repair_burst(number, free.min(self.most_segments(tcb, config)))
                };
                if burst <= 0 {
                    // What waits, waits for cwnd or for the receiver's window.
                    let free = tcb.congestion_window() - self.rack.in_flight();
                    let allowed = tcb.highest_ack + i64::from(tcb.rwnd) + 1 - tcb.snd_nxt;
                    let left = tcb.data_end - tcb.snd_nxt;
                    waits = free < allowed && free <= self.queue.first(left);
                    tcb.held_back = free.min(allowed).max(0);
                    break;
                }
                if config.limits.max_burst > 0 {
                    burst = burst.min(i64::from(config.limits.max_burst - count));
                }
                sent.new_data |= is_new;
                sent.head_retransmitted |= number == tcb.highest_ack + 1 && !is_new;
                self.transmit_burst(tcb, now_s, number, burst, config, out);
                tcb.snd_nxt = tcb.snd_nxt.max(number + burst);
                (0..burst).for_each(|_| tcb.count_prr_out());
                count += burst as u32;
                if pushes_one {
                    is_cut = true;
                    break;
                }
            }
            if eligible == Eligible::Lost {
                return sent;
            }
            // Then the application writes, once it is connected.
            if tcb.last_ack < 0 && config.handshake.syn {
                break;
            }
            let left = tcb.data_end - tcb.snd_nxt;
            if !writes && left > 0 {
                self.check_app_limited(tcb);
            }
            let (half_window, size) = (half_window(tcb, config), config.segment.packet_size);
            let most = GSO_MAX_BYTES as i64 / i64::from(size);
            match self.queue.write(left, most, half_window, writes, size) {
                Written::Nothing if std::mem::take(&mut is_cut) => {}
                Written::Nothing => break,
                written => (pushes, writes) = (written == Written::Full, true),
            }
        }
        let is_limited = waits || self.rack.in_flight() >= tcb.congestion_window();
        if sent.new_data || is_limited {
            tcb.validate_cwnd(is_limited);
        }
        sent
    }

    /// New packets that leave now as one, to be cut by the device (TSO); 0 if more may leave
    /// together soon (Linux `tcp_write_xmit`, `tcp_tso_should_defer`).
    fn next_burst(&mut self, tcb: &Tcb, now_s: f64, pushes: bool, config: &TcpConfig) -> i64 {
        // Packets that a pacing timer releases leave one by one, but for Linux's own.
        let is_paced = tcb.needs.pacing || config.growth.pacing;
        if !config.growth.tso || (is_paced && !tcb.is_paced_as_linux()) {
            return 1;
        }
        let (cwnd, rwnd) = (tcb.congestion_window(), i64::from(tcb.rwnd));
        let free = cwnd - self.rack.in_flight();
        let most = self.most_segments(tcb, config);
        let quota = free.min((cwnd / 2).max(1)).min(most);
        let allowed = tcb.highest_ack + rwnd + 1 - tcb.snd_nxt;
        let left = tcb.data_end - tcb.snd_nxt;
        self.queue.grow_first(quota);
        let first = self.queue.first(left);
        let burst = quota.min(first).min(allowed);
        let allows = free.min(allowed);
        // A single packet does not wait.
        if pushes || first <= 1 {
            return burst;
        }
        if self.queue.first_is_closed() && allows >= first {
            return burst;
        }
        let recovers = matches!(tcb.state, CongestionState::Recovery | CongestionState::Loss);
        let last_s = tcb.pacer.as_ref().filter(|_| tcb.is_paced_as_linux());
        let last_s = last_s.map_or(tcb.last_sent_s, |pacer| pacer.next_departure_s());
        let was_sent_long_ago = now_s - last_s > TSO_DEFER_S;
        let srtt_s = tcb.rtt.srtt_s(config);
        let next_ack_s = self.rack.head_xmit_s().map_or(now_s, |head_s| head_s + srtt_s);
        let acks_come_late = next_ack_s - now_s > (srtt_s / 2.0).min(TSO_DEFER_S);
        let is_large = allows >= most || TSO_WINDOW_DIVISOR * allows >= cwnd.min(rwnd);
        let leaves = recovers || was_sent_long_ago || is_large || acks_come_late;
        if leaves { burst } else { 0 }
    }

    /// Packets that may leave as one: those of a millisecond at the pacing rate, at least two or
    /// what the rule says (Linux `tcp_tso_autosize`).
    fn most_segments(&self, tcb: &Tcb, config: &TcpConfig) -> i64 {
        let packet_bytes = u64::from(config.segment.packet_size);
        let rate = if tcb.is_paced_as_linux() { tcb.rule.pacing_rate() } else { None };
        let least = rate.map_or(2, |rate| rate.least_burst);
        let Some(bytes_s) = tcb.pacing_bytes_s else {
            return (GSO_MAX_BYTES as u64 / packet_bytes).max(least) as i64;
        };
        // On short paths more: up to 64 KiB, halved with each 512 us of the minimum RTT.
        let halvings = (self.rack.min_rtt_s() * 1e6) as u64 / 512;
        let more = if halvings < 32 { GSO_MAX_BYTES as u64 >> halvings } else { 0 };
        let bytes = (bytes_s as u64 / 1024 + more).min(GSO_MAX_BYTES as u64);
        (bytes / packet_bytes).max(least) as i64
    }

    /// Puts packets from `number` on on the wire as one.
    fn transmit_burst(
        &mut self,
        tcb: &mut Tcb,
        now_s: f64,
        number: i64,
        packets: i64,
        config: &TcpConfig,
        out: &mut impl Output,
    ) {
        let is_data = !(number == 0 && config.handshake.syn);
        let is_idle = self.rack.in_flight() == 0 && is_data;
        if is_idle && self.meter.as_ref().is_some_and(|meter| meter.is_app_limited()) {
            tcb.restart_rule_from_idle(now_s);
        }
        let departure_s = tcb.departure_s(now_s);
        let is_new = number > tcb.highest_sent && is_data;
        let (last, tells_push) = (number + packets - 1, config.receiver.receive_buffer > 0);
        for number in number..=last {
            if let Some(meter) = &mut self.meter {
                meter.on_sent(departure_s, number, self.rack.is_empty());
            }
            self.rack.on_sent(departure_s, number);
            let ends_buffer = is_new && self.queue.sent();
            if tells_push {
                // The device sets PSH at the end of a burst, the application at the end of a buffer.
                if ends_buffer {
                    self.rack.note_push(number);
                }
                tcb.push = (number == last && packets > 1) || self.rack.is_pushed(number);
            }
            let flight = self.flight(tcb);
            tcb.output(now_s, number, flight, config, out);
        }
        tcb.push = false;
        if tcb.is_paced_as_linux() {
            self.rack.begin_buffer(number);
            self.rack.begin_buffer(last + 1);
        }
        tcb.note_burst(now_s, if is_data { packets } else { 0 }, config);
        if tcb.bursts_are_paced && is_new {
            tcb.pace_burst(now_s, packets, config);
        }
    }

    fn next_packet(&mut self, tcb: &Tcb, eligible: Eligible) -> Option<i64> {
        if self.rack.in_flight() >= tcb.send_window() {
            return None;
        }
        let lost = self.rack.next_to_retransmit().filter(|_| eligible != Eligible::NewData);
        lost.or_else(|| new_data(tcb).filter(|_| eligible != Eligible::Lost))
    }

    /// Sets the timer (Linux `tcp_set_xmit_timer`, RFC 8985 section 8) for reordering, a probe or
    /// the RTO. `progress`: an ACK shows that data have arrived since the timer was set.
    fn set_xmit_timer(
        &mut self,
        tcb: &mut Tcb,
        now_s: f64,
        progress: bool,
        sent: Transmitted,
        reordering_timeout_s: f64,
        config: &TcpConfig,
    ) {
        if tcb.is_repaired() {
            return;
        }
        let rto_s = tcb.rtt.rto_s();
        if tcb.outstanding() == 0 {
            if tcb.is_window_shut() {
                // The persist timer runs.
                self.pending_timer = PendingTimer::Rto;
                return;
            }
            // cwnd is below one packet: only the timer can open it.
            return if tcb.cwnd < 1.0 {
                self.arm(tcb, now_s, PendingTimer::Rto, rto_s)
            } else {
                tcb.timer.stop()
            };
        }
        let pto_s = self.pto_s(tcb, config);
        if sent.new_data
            && let Some(pto_s) = pto_s
        {
            // Whatever else would set the timer, new data set it last.
            let timeout_s = pto_s.min(self.remaining_rto_s(tcb, now_s));
            return self.arm_paced(tcb, now_s, PendingTimer::LossProbe, timeout_s);
        }
        if reordering_timeout_s > 0.0 {
            let timeout_s = ticks_of(reordering_timeout_s) as f64 / HZ + TIMEOUT_MIN_S;
            self.arm(tcb, now_s, PendingTimer::Reordering, timeout_s);
        } else if progress {
            match pto_s {
                Some(pto_s) => {
                    self.arm_paced(tcb, now_s, PendingTimer::LossProbe, pto_s.min(rto_s))
                }
                None => self.rearm_rto(tcb, now_s),
            }
        }
        if sent.head_retransmitted && self.pending_timer != PendingTimer::Reordering {
            self.arm_paced(tcb, now_s, PendingTimer::Rto, rto_s);
        }
        let was_probe = self.pending_timer == PendingTimer::LossProbe;
        if sent.new_data && (sent.from_idle || was_probe) {
            self.rearm_rto(tcb, now_s);
        }
    }

    /// When a loss probe is due (PTO, RFC 8985 section 7.2), seconds from now: 2 srtt, plus the
    /// largest delay of an ACK if one packet is outstanding, for which Linux uses `min_rto`. None
    /// in recovery, and before the first RTT sample.
    fn pto_s(&self, tcb: &Tcb, config: &TcpConfig) -> Option<f64> {
        let may_send = config.recovery.tlp
            && self.has_sack
            && (tcb.state == CongestionState::Cwr
                || (tcb.state == CongestionState::Open && !self.rack.has_sacked()));
        let srtt_s = tcb.rtt.srtt_s(config);
        let more_s =
            if tcb.outstanding() == 1 { config.rto.min_rto.seconds() } else { TIMEOUT_MIN_S };
        (may_send && srtt_s > 0.0).then_some(2.0 * srtt_s + more_s)
    }

    /// Starts the RTO anew; behind another timer it runs since the packet at SND.UNA was sent
    /// (Linux `tcp_rearm_rto`).
    fn rearm_rto(&mut self, tcb: &mut Tcb, now_s: f64) {
        let timeout_s = match self.pending_timer {
            PendingTimer::Rto => tcb.rtt.rto_s(),
            _ => self.remaining_rto_s(tcb, now_s),
        };
        self.arm_paced(tcb, now_s, PendingTimer::Rto, timeout_s);
    }

    /// Arms the timer later by the whole ticks for which pacing holds the next packet back (Linux
    /// `tcp_pacing_delay`).
    fn arm_paced(&mut self, tcb: &mut Tcb, now_s: f64, pending_timer: PendingTimer, seconds: f64) {
        let held_s = tcb.departure_s(now_s) - now_s;
        let held_ticks = if held_s > 0.0 { tick_before(held_s) } else { 0 };
        self.arm(tcb, now_s, pending_timer, seconds + held_ticks as f64 / HZ);
    }

    fn arm(&mut self, tcb: &mut Tcb, now_s: f64, pending_timer: PendingTimer, seconds: f64) {
        tcb.timer.arm(now_s, timer_expiry_s(now_s, seconds) - now_s);
        self.pending_timer = pending_timer;
    }

    /// Remaining RTO of the packet at SND.UNA, seconds.
    fn remaining_rto_s(&self, tcb: &Tcb, now_s: f64) -> f64 {
        let head_s = self.rack.head_xmit_s().unwrap_or(now_s);
        (head_s + tcb.rtt.rto_s() - now_s).max(TICK_S)
    }

    /// Whether the timer is armed for something else than the RTO.
    pub(crate) fn timer_is_rack_or_tlp(&self) -> bool {
        self.pending_timer != PendingTimer::Rto
    }

    /// Handles expiry of the timer.
    pub(crate) fn on_timer(
        &mut self,
        tcb: &mut Tcb,
        now_s: f64,
        config: &TcpConfig,
        out: &mut impl Output,
    ) {
        match self.pending_timer {
            PendingTimer::LossProbe if tcb.outstanding() > 0 => {
                let was_sent = self.send_loss_probe(tcb, now_s, config, out);
                // Without a probe the RTO runs since the packet at SND.UNA was sent.
                let timeout_s =
                    if was_sent { tcb.rtt.rto_s() } else { self.remaining_rto_s(tcb, now_s) };
                self.arm_paced(tcb, now_s, PendingTimer::Rto, timeout_s);
            }
            PendingTimer::Reordering if tcb.outstanding() > 0 => {
                let lost_before = self.rack.lost_total;
                let began = tcb.state != CongestionState::Recovery;
                self.detect_losses(tcb, now_s, false, config);
                if began && self.rack.lost_total > lost_before {
                    // Linux's `tcp_rack_reo_timeout` counts one delivered packet where recovery
                    // begins, so that PRR releases one.
                    tcb.update_prr(self.rack.in_flight(), 1, false);
                }
                self.send(tcb, now_s, Eligible::Lost, config, out);
                self.rearm_rto(tcb, now_s);
            }
            _ => {
                self.on_rto(tcb, now_s, config);
                self.send_after_rto(tcb, now_s, config, out);
            }
        }
    }

    /// Sends the first packet again, whatever pacing says (Linux `tcp_retransmit_timer`).
    fn send_after_rto(
        &mut self,
        tcb: &mut Tcb,
        now_s: f64,
        config: &TcpConfig,
        out: &mut impl Output,
    ) {
        let first = tcb.highest_ack + 1;
        if !tcb.is_paced_as_linux() || self.rack.next_to_retransmit() != Some(first) {
            return self.send_pending_data(tcb, now_s, config, out);
        }
        self.transmit_burst(tcb, now_s, first, 1, config, out);
        self.arm(tcb, now_s, PendingTimer::Rto, tcb.rtt.rto_s());
    }

    /// Sends a tail loss probe whatever the window (RFC 8985 section 7.3): new data, else the
    /// highest packet again. At most one probe is outstanding. Returns whether it was sent.
    fn send_loss_probe(
        &mut self,
        tcb: &mut Tcb,
        now_s: f64,
        config: &TcpConfig,
        out: &mut impl Output,
    ) -> bool {
        if self.loss_probe.is_some() {
            return false;
        }
        let is_retransmission = match new_data(tcb) {
            // Pacing holds the probe back, too, if it is new data.
            Some(_) if !tcb.pacing_allows(now_s) => return false,
            Some(number) => {
                self.transmit_burst(tcb, now_s, number, 1, config, out);
                tcb.snd_nxt = number + 1;
                false
            }
            None if self.rack.is_sacked(tcb.highest_sent) || self.refuses_packets => return false,
            None => {
                self.transmit_burst(tcb, now_s, tcb.highest_sent, 1, config, out);
                true
            }
        };
        self.loss_probe = Some(LossProbe { end_seq: tcb.highest_sent, is_retransmission });
        true
    }

    /// Handles a retransmission timeout (Linux `tcp_enter_loss`): reduces ssthresh, once per
    /// window, and marks packets lost.
    pub(crate) fn on_rto(&mut self, tcb: &mut Tcb, now_s: f64, config: &TcpConfig) {
        tcb.cwnd = tcb.cwnd.max(1.0);
        if tcb.outstanding() == 0 {
            // Nothing is outstanding: cwnd is below one packet, or there was no data.
            if config.quirks.slow_start_restart {
                tcb.cwnd_to_one_packet();
            }
        } else {
            let again = tcb.timeout_highest_ack == tcb.highest_ack;
            let reduced = tcb.highest_ack < tcb.recover;
            let (hold_ssthresh, is_judged) = match tcb.state {
                CongestionState::Open => (false, true),
                CongestionState::Cwr => (reduced, true),
                CongestionState::Recovery => (reduced, false),
                CongestionState::Loss => (config.growth.hold_ssthresh && again, again),
            };
            self.frto.on_timeout(config.recovery.undo && is_judged);
            tcb.cancel_cwnd_reduction();
            tcb.reduce_for_timeout(hold_ssthresh, config);
            tcb.enter(CongestionState::Loss);
            tcb.timer.forget_packet();
            self.loss_probe = None;
            self.rack.on_timeout(now_s, self.has_sack);
            tcb.cwnd = (self.rack.in_flight() + 1) as f64;
            if let Some(sample) = self.state_sample(tcb, now_s, config) {
                tcb.rule.on_timeout(&sample);
            }
        }
        self.arm(tcb, now_s, PendingTimer::Rto, tcb.rtt.rto_s());
    }
}

/// Returns to Open once the recovery point is acknowledged; after ECE one packet later, because
/// earlier packets carry no information about the reduction, and without SACK as well, because
/// duplicate ACKs may follow (RFC 6582 section 4). Returns whether a repair ended.
fn leave_state(tcb: &mut Tcb, has_sack: bool) -> bool {
    let finished = match tcb.state {
        CongestionState::Open => return false,
        CongestionState::Cwr => tcb.highest_ack > tcb.recover,
        _ if !has_sack => tcb.highest_ack > tcb.recover,
        CongestionState::Recovery | CongestionState::Loss => tcb.highest_ack >= tcb.recover,
    };
    let repaired = finished && tcb.state != CongestionState::Cwr;
    if finished {
        tcb.end_cwnd_reduction();
        tcb.enter(CongestionState::Open);
    }
    repaired
}

fn enter_recovery(tcb: &mut Tcb, config: &TcpConfig) {
    // RFC 3168 section 6.1.2: the reduction for ECE covers a loss in the same window, if the rule
    // says so.
    let already_reduced = tcb.state == CongestionState::Cwr && !tcb.needs.cut_after_mark;
    tcb.timer.forget_packet();
    let is_cwr = tcb.state == CongestionState::Cwr;
    if already_reduced {
        tcb.enter(CongestionState::Recovery);
    } else if is_cwr && tcb.needs.samples {
        // The reduction goes on, to a lower threshold (Linux `dctcp_state`).
        tcb.enter(CongestionState::Recovery);
        tcb.ssthresh = tcb.rule.decrease(tcb.cwnd, Congestion::FastRetransmit);
    } else {
        tcb.enter_fast_retransmit();
        tcb.begin_cwnd_reduction(Congestion::FastRetransmit, config);
    }
}

/// Half of the largest window that the receiver has offered, packets.
fn half_window(tcb: &Tcb, config: &TcpConfig) -> i64 {
    let packet_bytes = i64::from(config.segment.packet_size.max(1));
    match i64::from(tcb.largest_window_bytes.unwrap_or(0)) {
        // The first window, which a SYN-ACK cannot scale, is no guide to later ones.
        0 if tcb.highest_ack < 1 => i64::from(tcb.rwnd / 2).min(FIRST_HALF_BYTES / packet_bytes),
        0 => i64::from(tcb.rwnd / 2),
        window_bytes => window_bytes / 2 / packet_bytes,
    }
}

/// Whether an ACK that was processed is a duplicate, for which a packet arrived (RFC 5681 section 2).
fn is_duplicate(tcb: &Tcb, ack: i64) -> bool {
    ack == tcb.highest_ack && tcb.outstanding() > 0 && !tcb.window_changed
}

/// The next new packet, if the application supplied one and rwnd allows it.
fn new_data(tcb: &Tcb) -> Option<i64> {
    (tcb.snd_nxt < tcb.data_end && tcb.snd_nxt <= tcb.highest_ack + i64::from(tcb.rwnd))
        .then_some(tcb.snd_nxt)
}
