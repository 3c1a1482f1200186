//! BBR version 3, states (draft-ietf-ccwg-bbr-06, section "State Machine Operation").

/// State of the state machine.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Mode {
    Startup,
    Drain,
    Down,
    Cruise,
    Refill,
    Up,
    /// `until_s` is set once the pipe is drained; a round trip must pass as well.
    ProbeRtt {
        until_s: Option<f64>,
        round_passed: bool,
    },
}
