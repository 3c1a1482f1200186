//! Exchanges with ECN: RFC 3168 section 6.1, and what `ns` 2.35 does.
//!
//! Where a test says that ns prints its numbers: `Agent/TCP`, `/Reno`, `/Newreno` or `/Sack1` with
//! `ecn_ 1`, `windowInit_ 8`, `window_ 100` and `ssthresh_ 8` over a link of 100 Mb/s and 50 ms;
//! one `ErrorModel/List` drops the packets named, another with `markecn_ true` marks them; a trace
//! between agent and node prints number, flags, `cwnd_`, `ssthresh_` and `necnresponses_` of each
//! packet sent.

mod exchange;

use cwndlab_tcp::{EcnFeedback, Profile, Recovery, TcpConfig, tcp_config};
use exchange::{Exchange, ns2, rfc};

fn ecn(config: TcpConfig) -> TcpConfig {
    tcp_config!(config, ecn.ecn = true)
}

/// Linux `tcp_ca_needs_ecn`: where the rule needs each packet's own mark, as DCTCP does, the SYN
/// and retransmissions are ECT, too.
#[test]
fn all_packets_of_linux_are_ect_where_the_rule_needs_ecn() {
    for (feedback, syn_is_ect) in [(EcnFeedback::ExactEce, true), (EcnFeedback::Ece, false)] {
        let linux = TcpConfig::profile(Profile::Linux);
        let config = tcp_config!(ecn(linux), ecn.ecn_feedback = feedback);
        let mut tcp = Exchange::start(Recovery::Sack, None, config, &[0]);
        tcp.ect(syn_is_ect).expires(1.016, &[0]).ect(syn_is_ect);
    }
}

#[test]
fn a_mark_cuts_once_in_a_window_and_echoes_stop_growth() {
    // Packet 1 is marked. The receiver sends ECE until packet 9, the first after the reduction,
    // carries CWR. ns prints these numbers; RFC 3168 section 6.1.2 requires the same.
    for config in [ns2(), rfc()] {
        let mut tcp = Exchange::eight_packets(Recovery::NewReno, None, ecn(config));
        tcp.ect(true).cwr(&[]);
        tcp.at(0.2).marked(1, &[]).window(4.0, 4.0).marked(2, &[]).marked(3, &[]).marked(4, &[]);
        tcp.marked(5, &[9])
            .cwr(&[9])
            .marked(6, &[10])
            .cwr(&[])
            .marked(7, &[11])
            .marked(8, &[12])
            .window(4.0, 4.0);
        // Growth again: 4 + 1/4, then 4.25 + 1/4.25 (ns: 4.48529).
        tcp.at(0.3).ack(9, &[13]).window(4.25, 4.0).ack(10, &[14]).window(4.25 + 1.0 / 4.25, 4.0);
        let counters = tcp.sender.counters(0.3);
        assert_eq!(
            (counters.ecn_reductions, counters.fast_retransmits, counters.timeouts),
            (1, 0, 0)
        );
    }
}

#[test]
fn a_mark_in_the_next_window_cuts_again() {
    // Packets 1 and 9 are marked. ns: packet 13 leaves with cwnd = 2 and CWR.
    for config in [ns2(), rfc()] {
        let mut tcp = Exchange::eight_packets(Recovery::Sack, None, ecn(config));
        tcp.at(0.2).marked(1, &[]).marked(4, &[]).marked(8, &[9, 10, 11, 12]).cwr(&[9]);
        tcp.at(0.3)
            .marked(9, &[])
            .window(2.0, 2.0)
            .marked(10, &[])
            .marked(11, &[13])
            .cwr(&[13])
            .marked(12, &[14]);
        // Packets up to 12 were in flight at the reduction; 13 was not.
        tcp.at(0.4).ack(13, &[15]).window(2.5, 2.0);
        assert_eq!(tcp.sender.counters(0.4).ecn_reductions, 2);
    }
}

#[test]
fn ns2_backs_off_at_a_window_of_one_packet() {
    // windowInit_ 1; packets 1, 2 and 3 are marked. cwnd falls to 1/2, nothing may be sent, and the
    // timer opens it to 1. From the second ECE in a row on the RTO is backed off. ns sends packets
    // 2 to 5 at 0.4501, 0.9902, 1.8903 and 1.9904 s.
    let config = tcp_config!(ecn(ns2()), limits.initial_window = 1.0, limits.window = 100.0);
    let mut tcp = Exchange::start(Recovery::NewReno, None, config, &[0]);
    tcp.ect(false)
        .at(0.10002)
        .syn_ack(&[1])
        .ect(true)
        .cwr(&[])
        .at(0.2001)
        .marked(1, &[])
        .window(0.5, 2.0);
    // 10 ticks twice: SRTT 10, RTTVAR 5 then 3.75: RTO 25 ticks.
    tcp.expires(0.4501, &[2]).window(1.0, 2.0).cwr(&[2]);
    // RTTVAR 3: RTO 22 ticks, twice; then 19, but at least 20, four times.
    tcp.at(0.5502)
        .marked(2, &[])
        .expires(0.9902, &[3])
        .cwr(&[3])
        .at(1.0903)
        .marked(3, &[])
        .expires(1.8903, &[4]);
    // No ECE: the backoff ends.
    tcp.at(1.9904).ack(4, &[5, 6]).window(2.0, 2.0);
    assert!(tcp.sender.deadline_s() < 2.25);
    let counters = tcp.sender.counters(2.0);
    assert_eq!((counters.ecn_reductions, counters.timeouts, counters.retransmitted), (3, 0, 0));
}

#[test]
fn rfc_3168_leaves_a_window_of_one_packet_to_the_timer() {
    // Section 6.1.2: ECE restarts the timer, and a new packet leaves only when it expires. RTO is 1
    // s, without backoff.
    let config = tcp_config!(ecn(rfc()), limits.initial_window = 1.0);
    let mut tcp = Exchange::start(Recovery::Sack, None, config, &[0]);
    tcp.ect(false).at(0.1).ack(0, &[1]).at(0.2).marked(1, &[]).window(0.5, 2.0);
    tcp.expires(1.2, &[2])
        .window(1.0, 2.0)
        .cwr(&[2])
        .at(1.3)
        .marked(2, &[])
        .expires(2.3, &[3])
        .at(2.4)
        .ack(3, &[4, 5])
        .window(2.0, 2.0);
}

#[test]
fn a_loss_in_a_window_cut_for_a_mark_is_repaired_without_a_cut() {
    // Packet 1 is marked, 3 is lost. RFC 3168 section 6.1.2: one reduction per window. ns prints
    // these numbers.
    for recovery in [Recovery::Reno, Recovery::NewReno] {
        let mut tcp = Exchange::eight_packets(recovery, None, ecn(ns2()));
        tcp.at(0.2).marked(1, &[]).marked(2, &[]).marked(2, &[]).marked(2, &[]).window(4.0, 4.0);
        tcp.marked(2, &[3, 9])
            .cwr(&[3])
            .ect(true)
            .window(4.0, 4.0)
            .marked(2, &[10])
            .marked(2, &[11]);
        tcp.at(0.3).ack(8, &[12]).window(4.25, 4.0);
        let counters = tcp.sender.counters(0.3);
        assert_eq!((counters.ecn_reductions, counters.fast_retransmits), (1, 0));
    }
}

#[test]
fn sack_repairs_without_a_cut() {
    // The same with Sack1: pipe = 8 - 2 - 3 = 3; two more SACKs allow 9 and 10. Recovery ends
    // without growth. ns prints these numbers.
    let mut tcp = Exchange::eight_packets(Recovery::Sack, None, ecn(ns2()));
    tcp.at(0.2).marked(1, &[]).marked(2, &[]).echoing(2, (4, 5), &[]).echoing(2, (4, 6), &[]);
    tcp.echoing(2, (4, 7), &[3]).cwr(&[3]).window(4.0, 4.0).echoing(2, (4, 8), &[9, 10]).echoing(
        2,
        (4, 9),
        &[11],
    );
    tcp.at(0.3).ack(8, &[12]).window(4.0, 4.0).ack(9, &[13]).window(4.25, 4.0);
    // RFC 6675: 7, 8 and the retransmission are in flight, so one packet may leave.
    let mut tcp = Exchange::eight_packets(Recovery::Sack, None, ecn(rfc()));
    tcp.at(0.2).marked(1, &[]).marked(2, &[]).echoing(2, (4, 5), &[]).echoing(2, (4, 6), &[]);
    tcp.echoing(2, (4, 7), &[3, 9]).cwr(&[9]).window(4.0, 4.0);
    tcp.echoing(2, (4, 8), &[10]).echoing(2, (4, 9), &[11]).at(0.3).echoing(8, (9, 10), &[12]);
    assert_eq!(tcp.sender.counters(0.3).fast_retransmits, 0);
}

#[test]
fn tahoe_starts_again_but_keeps_its_threshold() {
    // The same with Tahoe: cwnd is one packet, and ssthresh stays as the mark has set it. ns prints
    // these numbers.
    let mut tcp = Exchange::eight_packets(Recovery::Tahoe, None, ecn(ns2()));
    tcp.at(0.2)
        .marked(1, &[])
        .marked(2, &[])
        .marked(2, &[])
        .marked(2, &[])
        .marked(2, &[3])
        .cwr(&[3])
        .window(1.0, 4.0);
    tcp.at(0.3)
        .ack(8, &[9, 10])
        .window(2.0, 4.0)
        .at(0.4)
        .ack(9, &[11, 12])
        .ack(10, &[13, 14])
        .window(4.0, 4.0);
}

#[test]
fn a_timeout_in_a_window_cut_for_a_mark_leaves_the_threshold() {
    // Packet 1 is marked, all others are lost. ns: packet 2 leaves with cwnd = 1, ssthresh = 4 and
    // CWR.
    let mut tcp = Exchange::eight_packets(Recovery::NewReno, None, ecn(ns2()));
    tcp.at(0.2).marked(1, &[]).window(4.0, 4.0);
    let deadline_s = tcp.sender.deadline_s();
    tcp.expires(deadline_s, &[2]).window(1.0, 4.0).cwr(&[2]).ect(true);
    // RFC 3168 sections 6.1.2 and 6.1.5: retransmissions are not ECT, and only new data carries
    // CWR.
    let mut tcp = Exchange::eight_packets(Recovery::NewReno, None, ecn(rfc()));
    tcp.at(0.2)
        .marked(1, &[])
        .window(4.0, 4.0)
        .expires(1.2, &[2])
        .window(1.0, 4.0)
        .cwr(&[])
        .ect(false);
    tcp.at(1.3).ack(8, &[9, 10]).cwr(&[9]).ect(true);
}

#[test]
fn ns2_remembers_a_mark_for_longer_than_a_window() {
    // Packet 1 is marked; the window is acknowledged; 10 and all later ones are lost. ns: ssthresh
    // is 4 after the timeout. By the RFC the window of the ECE is over, and ssthresh is half of
    // 4.25.
    for (config, ssthresh) in [(ns2(), 4.0), (rfc(), 2.125)] {
        let mut tcp = Exchange::eight_packets(Recovery::NewReno, None, ecn(config));
        tcp.at(0.2)
            .marked(1, &[])
            .marked(8, &[9, 10, 11, 12])
            .at(0.3)
            .ack(9, &[13])
            .window(4.25, 4.0);
        let deadline_s = tcp.sender.deadline_s();
        tcp.expires(deadline_s, &[10]).window(1.0, ssthresh);
    }
}

#[test]
fn a_loss_after_the_cut_for_a_mark() {
    // Packet 1 is marked, and 9, which carries CWR, is lost: ECE continues. 9 was sent after the
    // reduction, so the RFC reduces again (RFC 3168 section 6.1.2); ns retransmits it without a
    // reduction, because the ACK does not exceed the recovery point.
    for (config, window, sends, reductions) in
        [(ns2(), (4.0, 4.0), &[9, 15][..], 0), (rfc(), (2.0, 2.0), &[9], 1)]
    {
        let mut tcp = Exchange::eight_packets(Recovery::NewReno, None, ecn(config));
        tcp.at(0.2).marked(1, &[]).marked(8, &[9, 10, 11, 12]).cwr(&[9]);
        tcp.at(0.3).marked(8, &[13]).marked(8, &[14]).marked(8, sends).window(window.0, window.1);
        assert_eq!(tcp.sender.counters(0.3).fast_retransmits, reductions);
    }
}

#[test]
fn an_echo_beyond_recovery_begins_another_window() {
    // As above in ns, to the end: the ACK of 14 ends recovery, but its ECE first halves the
    // inflated window, 4 + 5 (ns: 4.5).
    let mut tcp = Exchange::eight_packets(Recovery::NewReno, None, ecn(ns2()));
    tcp.at(0.2)
        .marked(1, &[])
        .marked(8, &[9, 10, 11, 12])
        .at(0.3)
        .marked(8, &[13])
        .marked(8, &[14])
        .marked(8, &[9, 15]);
    tcp.at(0.4).marked(8, &[16]).marked(8, &[17]).marked(14, &[18]).cwr(&[18]).window(4.5, 4.0);
    // RFC: recovery ends first. Packet 1 is lost, recover is 10; ECE on 11 halves 4, and 12 and 13
    // are in flight.
    for recovery in [Recovery::NewReno, Recovery::Sack] {
        let mut tcp = Exchange::eight_packets(recovery, None, ecn(rfc()));
        tcp.at(0.2)
            .sack(0, &[(2, 3)], &[9])
            .sack(0, &[(2, 4)], &[10])
            .sack(0, &[(2, 5)], &[1])
            .ect(false)
            .cwr(&[])
            .window(4.0, 4.0);
        tcp.sack(0, &[(2, 6)], &[])
            .sack(0, &[(2, 7)], &[])
            .sack(0, &[(2, 8)], &[])
            .sack(0, &[(2, 9)], &[11])
            .cwr(&[11]);
        tcp.sack(0, &[(2, 10)], &[12]).sack(0, &[(2, 11)], &[13]);
        tcp.at(0.3).marked(11, &[]).window(2.0, 2.0).marked(12, &[14]).cwr(&[14]);
    }
}

#[test]
fn ns2_takes_the_agreement_on_ecn_for_a_mark_after_a_lost_syn() {
    // The first ECE after a timeout reduces cwnd, and the ACK of the SYN carries one. ns: packet 1
    // leaves at 3.1 s with one response counted.
    let mut tcp = Exchange::start(
        Recovery::NewReno,
        None,
        tcp_config!(ecn(ns2()), limits.window = 100.0),
        &[0],
    );
    tcp.expires(3.0, &[0])
        .ect(false)
        .cwr(&[0])
        .at(3.1)
        .syn_ack(&[1])
        .ect(true)
        .cwr(&[1])
        .window(1.0, 2.0);
    assert_eq!(tcp.sender.counters(3.1).ecn_reductions, 1);
}

#[test]
fn without_ecn_nothing_can_be_marked() {
    for config in [ns2(), rfc()] {
        Exchange::eight_packets(Recovery::NewReno, None, config)
            .ect(false)
            .at(0.2)
            .ack(0, &[9])
            .ack(0, &[10])
            .ack(0, &[1])
            .cwr(&[]);
    }
}

#[test]
fn old_echoes_do_not_hold_up_the_repair_after_a_timeout() {
    // The whole window was lost except packet 1, which is marked: the receiver sends ECE until CWR,
    // which only new data carries, from 9 on. With ECE on each ACK the seven others would be
    // retransmitted at one per round trip, with cwnd at one packet.
    let config = tcp_config!(ecn(rfc()), recovery.sack_rfc6675 = false);
    let mut tcp = Exchange::eight_packets(Recovery::NewReno, None, config);
    tcp.at(0.2).marked(1, &[]).window(4.0, 4.0);
    let deadline_s = tcp.sender.deadline_s();
    tcp.expires(deadline_s, &[2]).cwr(&[]).window(1.0, 4.0);
    tcp.at(deadline_s + 0.1)
        .marked(2, &[3, 4])
        .cwr(&[])
        .at(deadline_s + 0.2)
        .marked(3, &[5, 6])
        .cwr(&[]);
}

#[test]
fn a_loss_halves_although_a_mark_has_cut_a_little() {
    // RFC 8257 section 3.5. DCTCP starts with alpha 1; a round trip without marks and one with
    // nothing else make it 15/16 (15/16) + 1/16. So a mark reduces 8 packets to 8 (1 - alpha/2),
    // and the loss in the same window halves the rest.
    let alpha = 15.0 / 16.0 * (15.0 / 16.0) + 1.0 / 16.0;
    let config = tcp_config!(
        ecn(rfc()),
        limits.initial_window = 8.0,
        limits.initial_ssthresh = 8.0,
        limits.window = 100.0,
        recovery.limited_transmit = false
    );
    for (rule, marked, lost) in [
        ("DCTCP", 8.0 * (1.0 - alpha / 2.0), 4.0 * (1.0 - alpha / 2.0)),
        ("AIMD(1, 0.5)", 4.0, 4.0),
    ] {
        let rule: cwndlab_rules::RuleSpec = rule.parse().unwrap();
        let sender = cwndlab_tcp::Sender::new(
            rule.build(cwndlab_rules::Arithmetic::Plain),
            Recovery::Sack,
            None,
            0.0,
            &config,
        );
        let mut tcp = Exchange::of(sender, config.clone());
        tcp.sender.start(0.0, &tcp.config, &mut |_| {});
        tcp.at(0.1).syn_ack(&[1, 2, 3, 4, 5, 6, 7, 8]);
        // 1 is marked, 2 is lost; 3 to 5 are SACKed.
        tcp.at(0.2).marked(1, &[]).window(marked, marked);
        tcp.echoing(1, (3, 4), &[]).echoing(1, (3, 5), &[]).echoing(1, (3, 6), &[2]);
        assert!((tcp.sender.cwnd() - lost).abs() < 1e-9, "{rule}: {}", tcp.sender.cwnd());
    }
}
