//! State of a sender under the names of Linux's `struct tcp_info`.

/// Congestion state (`tcpi_ca_state`), numbered as in Linux.
///
/// ```
/// use cwndlab_tcp::CaState;
/// assert_eq!((CaState::Recovery.name(), CaState::Recovery as u8), ("Recovery", 3));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum CaState {
    /// No congestion is being handled.
    #[default]
    Open = 0,
    /// The same with packets SACKed, or duplicate ACKs.
    Disorder = 1,
    /// cwnd is being reduced for ECE.
    Cwr = 2,
    /// Losses are being repaired.
    Recovery = 3,
    /// Losses after a retransmission timeout are being repaired.
    Loss = 4,
}

impl CaState {
    /// Linux's name, without `TCP_CA_`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Open => "Open",
            Self::Disorder => "Disorder",
            Self::Cwr => "CWR",
            Self::Recovery => "Recovery",
            Self::Loss => "Loss",
        }
    }
}

/// State of a sender, named as in `struct tcp_info` without `tcpi_`. Windows and counts are in
/// packets, times in microseconds.
///
/// ```
/// # use cwndlab_rules::{Arithmetic, RuleSpec};
/// # use cwndlab_tcp::{CaState, Profile, Recovery, Sender, TcpConfig, tcp_config};
/// # let config = tcp_config!(TcpConfig::profile(Profile::Linux), handshake.syn = false);
/// # let rule = "kernel:cubic".parse::<RuleSpec>().unwrap().build(Arithmetic::Plain);
/// let mut sender = Sender::new(rule, Recovery::Sack, Some(4), 0.0, &config);
/// sender.start(0.0, &config, &mut |_| {});
/// let info = sender.tcp_info(&config);
/// assert_eq!((info.snd_cwnd, info.unacked, info.ca_state), (10, 4, CaState::Open));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TcpInfo {
    /// Congestion state.
    pub ca_state: CaState,
    /// Congestion window.
    pub snd_cwnd: u32,
    /// Slow-start threshold; 2^31 - 1 before the first reduction.
    pub snd_ssthresh: u32,
    /// Packets sent and not cumulatively acknowledged.
    pub unacked: u32,
    /// SACKed packets; duplicate ACKs without SACK.
    pub sacked: u32,
    /// Packets marked lost and not delivered since.
    pub lost: u32,
    /// Retransmissions in flight.
    pub retrans: u32,
    /// Packets by which one may come late before it counts as lost (`tp->reordering`).
    pub reordering: u32,
    /// How often packets came late (`tp->reord_seen`).
    pub reord_seen: u32,
    /// Retransmission timeouts in a row.
    pub backoff: u32,
    /// Smoothed RTT.
    pub rtt: u32,
    /// RTT variation.
    pub rttvar: u32,
    /// Minimum RTT; 2^32 - 1 before the first sample.
    pub min_rtt: u32,
    /// Retransmission timeout.
    pub rto: u32,
}

impl TcpInfo {
    /// ssthresh that limits nothing (`TCP_INFINITE_SSTHRESH`).
    pub const INFINITE_SSTHRESH: u32 = 0x7fff_ffff;
}
