//! A sender driven step by step. Each test file uses a part of it.
#![allow(dead_code)]

use cwndlab_rules::{Arithmetic, RuleSpec};
use cwndlab_tcp::{
    AckSegment, DataSegment, Ecn, EcnEcho, Profile, Recovery, SackBlocks, Sender, TcpConfig,
    tcp_config,
};

pub struct Exchange {
    pub sender: Sender,
    pub config: TcpConfig,
    now_s: f64,
    sent: Vec<DataSegment>,
    /// Segments of the last step.
    last: Vec<DataSegment>,
}

impl Exchange {
    /// AIMD(1, 0.5) after the ACK of the SYN at 0.1 s: packets 1 to 8 are in flight, and cwnd is at
    /// ssthresh, 8.
    pub fn eight_packets(recovery: Recovery, packets: Option<u64>, config: TcpConfig) -> Self {
        let config = tcp_config!(
            config,
            limits.initial_window = 8.0,
            limits.initial_ssthresh = 8.0,
            limits.window = 100.0
        );
        let mut new = Self::start(recovery, packets, config, &[0]);
        new.at(0.1).syn_ack(&[1, 2, 3, 4, 5, 6, 7, 8]);
        new
    }

    /// AIMD(1, 0.5) at its start.
    #[track_caller]
    pub fn start(
        recovery: Recovery,
        packets: Option<u64>,
        config: TcpConfig,
        sends: &[i64],
    ) -> Self {
        let rule: RuleSpec = "AIMD(1, 0.5)".parse().unwrap();
        let arithmetic =
            if config.quirks.ns2_arithmetic { Arithmetic::Ns2 } else { Arithmetic::Plain };
        let mut new =
            Self::of(Sender::new(rule.build(arithmetic), recovery, packets, 0.0, &config), config);
        new.begin(sends);
        new
    }

    pub fn of(sender: Sender, config: TcpConfig) -> Self {
        Self { sender, config, now_s: 0.0, sent: Vec::new(), last: Vec::new() }
    }

    #[track_caller]
    pub fn begin(&mut self, sends: &[i64]) -> &mut Self {
        self.sender.start(0.0, &self.config, &mut |segment| self.sent.push(segment));
        self.sends(sends, "at the start")
    }

    pub fn at(&mut self, now_s: f64) -> &mut Self {
        self.now_s = now_s;
        self
    }

    #[track_caller]
    pub fn ack(&mut self, ack: i64, sends: &[i64]) -> &mut Self {
        self.sack(ack, &[], sends)
    }

    /// An ACK, whatever it sends.
    pub fn ack_silently(&mut self, ack: i64) {
        let sent_s = self.now_s - 0.1;
        let echo = EcnEcho::NONE;
        let segment = AckSegment { ack, sent_s, echo_s: sent_s, size_bytes: 40, echo };
        self.sender.on_ack(self.now_s, segment, None, &self.config, &mut |_| {});
    }

    #[track_caller]
    pub fn sack(&mut self, ack: i64, blocks: &[(i64, i64)], sends: &[i64]) -> &mut Self {
        // The packet that triggered the ACK was sent 0.1 s ago.
        self.echo(ack, blocks, self.now_s - 0.1, sends)
    }

    /// The ACK of packet 0: in ns-2 it carries ECE, which completes the negotiation of ECN.
    #[track_caller]
    pub fn syn_ack(&mut self, sends: &[i64]) -> &mut Self {
        self.receive(
            0,
            &[],
            self.now_s - 0.1,
            self.config.ecn.ecn && self.config.quirks.ns2_ecn,
            sends,
        )
    }

    /// An ACK with ECE.
    #[track_caller]
    pub fn marked(&mut self, ack: i64, sends: &[i64]) -> &mut Self {
        self.receive(ack, &[], self.now_s - 0.1, true, sends)
    }

    #[track_caller]
    pub fn echo(
        &mut self,
        ack: i64,
        blocks: &[(i64, i64)],
        echo_s: f64,
        sends: &[i64],
    ) -> &mut Self {
        self.receive(ack, blocks, echo_s, false, sends)
    }

    /// A duplicate ACK with ECE and a SACK block.
    #[track_caller]
    pub fn echoing(&mut self, ack: i64, block: (i64, i64), sends: &[i64]) -> &mut Self {
        self.receive(ack, &[block], self.now_s - 0.1, true, sends)
    }

    #[track_caller]
    pub fn receive(
        &mut self,
        ack: i64,
        blocks: &[(i64, i64)],
        echo_s: f64,
        ece: bool,
        sends: &[i64],
    ) -> &mut Self {
        let echo = EcnEcho::ece(ece);
        self.segment(
            AckSegment { ack, sent_s: echo_s, echo_s, size_bytes: 40, echo },
            blocks,
            sends,
        )
    }

    /// An ACK with the ACE field and the option of AccECN; its packet was sent 0.1 s ago.
    #[track_caller]
    pub fn feedback(
        &mut self,
        ack: i64,
        ace: u32,
        ce_bytes: Option<u32>,
        sends: &[i64],
    ) -> &mut Self {
        let (sent_s, mut echo) = (self.now_s - 0.1, EcnEcho::ace(ace));
        if let Some(bytes) = ce_bytes {
            echo = echo.with_ce_bytes(bytes);
        }
        self.segment(AckSegment { ack, sent_s, echo_s: sent_s, size_bytes: 40, echo }, &[], sends)
    }

    #[track_caller]
    fn segment(&mut self, segment: AckSegment, blocks: &[(i64, i64)], sends: &[i64]) -> &mut Self {
        let mut carried = SackBlocks::default();
        blocks.iter().for_each(|&block| carried.push(block));
        let carried = Some(&carried).filter(|carried| !carried.is_empty());
        self.sender.on_ack(self.now_s, segment, carried, &self.config, &mut |segment| {
            self.sent.push(segment)
        });
        self.sends(sends, &format!("after ack {} {blocks:?}", segment.ack))
    }

    /// The application supplies data.
    #[track_caller]
    pub fn supply(&mut self, packets: u64, sends: &[i64]) -> &mut Self {
        self.sender
            .supply(self.now_s, packets, &self.config, &mut |segment| self.sent.push(segment));
        self.sends(sends, "after supply")
    }

    /// Asserts which packets of the last step carry CWR.
    #[track_caller]
    pub fn cwr(&mut self, numbers: &[i64]) -> &mut Self {
        let with: Vec<i64> =
            self.last.iter().filter(|segment| segment.cwr).map(|segment| segment.number).collect();
        assert_eq!(with, numbers, "packets with CWR");
        self
    }

    /// Asserts the sizes of the packets of the last step, bytes on the wire.
    #[track_caller]
    pub fn sizes(&mut self, bytes: &[u32]) -> &mut Self {
        let sizes: Vec<u32> = self.last.iter().map(|segment| segment.size_bytes).collect();
        assert_eq!(sizes, bytes, "sizes of packets");
        self
    }

    /// Asserts whether the packets of the last step are ECT.
    #[track_caller]
    pub fn ect(&mut self, ect: bool) -> &mut Self {
        assert!(
            self.last.iter().all(|segment| (segment.ecn == Ecn::Ect0) == ect),
            "{:?}",
            self.last
        );
        self
    }

    #[track_caller]
    fn sends(&mut self, numbers: &[i64], when: &str) -> &mut Self {
        self.last = std::mem::take(&mut self.sent);
        assert_eq!(
            self.last.iter().map(|segment| segment.number).collect::<Vec<_>>(),
            numbers,
            "{when}"
        );
        self
    }

    /// Asserts that the timer expires at `now_s`, and lets it expire.
    #[track_caller]
    pub fn expires(&mut self, now_s: f64, sends: &[i64]) -> &mut Self {
        assert!(
            (self.sender.deadline_s() - now_s).abs() < 1e-9,
            "the timer is set to {} s, not {now_s} s",
            self.sender.deadline_s()
        );
        self.now_s = now_s;
        self.sender
            .on_retransmission_timer(now_s, &self.config, &mut |segment| self.sent.push(segment));
        self.sends(sends, "at the timeout")
    }

    /// Asserts cwnd and ssthresh, packets.
    #[track_caller]
    pub fn window(&mut self, cwnd: f64, ssthresh: f64) -> &mut Self {
        let is = (self.sender.cwnd(), self.sender.ssthresh());
        assert!(
            (is.0 - cwnd).abs() < 1e-9 && (is.1 - ssthresh).abs() < 1e-9,
            "cwnd and ssthresh are {is:?}, not {:?}",
            (cwnd, ssthresh)
        );
        self
    }
}

pub fn rfc() -> TcpConfig {
    tcp_config!(TcpConfig::profile(Profile::Rfc), rto.timestamps = false)
}

pub fn ns2() -> TcpConfig {
    TcpConfig::profile(Profile::Ns2_235)
}
