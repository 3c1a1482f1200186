//! Adaptive video: segments of a bitrate that follows the buffer of the player.

use cwndlab_units::{Rate, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Adaptive video: the flow carries segments of equal length, one after the other. Their bitrate
/// follows the buffer of the player (algorithm BBA-0 of Huang et al. 2014), whose values are the
/// defaults.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Video {
    /// Bitrates of the segments, ascending.
    pub bitrates: Vec<Rate>,
    /// Playing time of a segment.
    #[serde(default = "four_seconds")]
    pub segment: Time,
    /// Buffer up to which the player asks for the lowest bitrate.
    #[serde(default = "ninety_seconds")]
    pub reservoir: Time,
    /// Buffer beyond the reservoir over which the bitrate rises to the highest.
    #[serde(default = "cushion")]
    pub cushion: Time,
    /// Largest buffer: where a segment does not fit, its request waits.
    #[serde(default = "four_minutes")]
    pub buffer: Time,
    /// Buffer with which playback starts, and goes on after it ran empty; a segment when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub startup: Option<Time>,
}

impl Video {
    /// Buffer with which playback starts.
    pub fn startup(&self) -> Time {
        self.startup.unwrap_or(self.segment)
    }
}

fn four_seconds() -> Time {
    Time::ns(4_000_000_000)
}

fn ninety_seconds() -> Time {
    Time::ns(90_000_000_000)
}

fn cushion() -> Time {
    Time::ns(126_000_000_000)
}

fn four_minutes() -> Time {
    Time::ns(240_000_000_000)
}
