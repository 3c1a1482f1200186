//! TCP sender and receiver without I/O or a clock: they take segments and the time, and return
//! segments to send and the next deadline.
//!
//! Sequence numbers count packets, as in ns-2. Times are seconds. The sender implements slow start,
//! loss detection, recovery and the retransmission timer; a [`cwndlab_rules::WindowRule`]
//! determines cwnd in congestion avoidance. The differences between ns-2 versions, RFCs and Linux
//! are values of [`TcpConfig`].

mod accecn;
mod ack_context;
mod ack_schedule;
mod config;
mod counters;
mod cwnd;
mod cwnd_usage;
mod ecn;
mod ecn_feedback;
mod header_prediction;
mod limit;
mod limited_by;
mod misbehavior;
mod ns2_history;
mod offered_window;
mod output;
mod pacer;
mod persist;
mod prr;
mod rate_meter;
mod rate_sampler;
mod receive_buffer;
mod receiver;
mod recovery;
mod retransmission_timer;
mod rtt;
mod scoreboard;
mod segment;
mod sender;
mod sequence_set;
mod slow_start;
mod syn_ack;
mod tcb;
mod tcp_info;
mod ticks;
mod undo;

pub use config::{
    EcnConfig, GrowthConfig, HandshakeConfig, LimitConfig, NewRenoConfig, Ns2Quirks, Profile,
    ReceiverConfig, RecoveryConfig, RtoConfig, SegmentConfig, TcpConfig,
};
pub use counters::Counters;
pub use ecn_feedback::EcnFeedback;
pub use limit::{Limit, LimitedTimes};
pub use offered_window::ReaderPlan;
pub use output::Output;
pub use rate_meter::Measured;
pub use receiver::Receiver;
pub use recovery::Recovery;
pub use rtt::RttEstimator;
pub use scoreboard::Scoreboard;
pub use segment::{
    AckSegment, DataSegment, EarlierAck, Ecn, EcnEcho, ReceivedData, SackBlocks, ShortPacket,
};
pub use sender::Sender;
pub use sequence_set::SequenceSet;
pub use slow_start::SlowStartScheme;
pub use tcb::Phase;
pub use tcp_info::{CaState, TcpInfo};
pub use ticks::{step_after_s, timestamp_ms};

/// A deadline that never expires, seconds.
pub const NEVER: f64 = f64::INFINITY;
