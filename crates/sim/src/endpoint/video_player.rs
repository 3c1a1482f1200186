//! The player of an adaptive video: its buffer, the bitrates it asks for, and what it records.
//!
//! Bitrates follow algorithm 1 (BBA-0) of T.-Y. Huang, R. Johari, N. McKeown, M. Trunnell, M.
//! Watson, *A Buffer-Based Approach to Rate Adaptation: Evidence from a Large Video Streaming
//! Service*, SIGCOMM 2014. With the lowest bitrate up to the reservoir r, the highest from r +
//! cushion on, and the map f that rises linearly in between:
//!
//! ```text
//! B <= r               lowest
//! B >= r + cushion     highest
//! f(B) >= next above   the highest bitrate below f(B)
//! f(B) <= next below   the lowest bitrate above f(B)
//! otherwise            as before
//! ```
//!
//! The player learns that a segment is complete when its last ACK reaches the sender, which is when
//! a request for the next one would.

use crate::measure::window::MeasurementWindow;
use cwndlab_scenario::Video;
use cwndlab_tcp::NEVER;
use std::sync::Arc;

/// What the player of a video may ask for.
#[derive(Debug)]
pub struct VideoLaw {
    bitrates_bps: Vec<f64>,
    segment_s: f64,
    reservoir_s: f64,
    cushion_s: f64,
    capacity_s: f64,
    startup_s: f64,
    payload_bits: f64,
    window: MeasurementWindow,
}

/// What players recorded within the measurement window.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PlayerRecord {
    /// Players that began to play, in the whole run, and their startup delays, seconds.
    pub started: u64,
    /// Sum of their startup delays, seconds.
    pub startup_delay_s: f64,
    /// Stalls that began.
    pub stalls: u64,
    /// Time in which playback stood still, seconds.
    pub stalled_s: f64,
    /// Time from the begin of playback on, seconds.
    pub watched_s: f64,
    /// Segments requested.
    pub segments: u64,
    /// Sum of their bitrates, bit/s.
    pub bitrates_bps: f64,
    /// Segments of another bitrate than the one before.
    pub switches: u64,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Playback {
    /// Not begun.
    Startup,
    Playing,
    /// The buffer ran empty at this time, seconds.
    Stalled(f64),
}

/// A player.
#[derive(Clone, Debug)]
pub struct VideoPlayer {
    law: Arc<VideoLaw>,
    /// Number of the last bitrate; none before the first request.
    bitrate: Option<usize>,
    /// Playing time in the buffer at `now_s`, seconds.
    buffer_s: f64,
    now_s: f64,
    /// When it asked for the first segment, seconds.
    first_request_s: f64,
    /// When playback began, seconds.
    playback_start_s: f64,
    /// When the viewer leaves, seconds.
    end_s: f64,
    playback: Playback,
    record: PlayerRecord,
}

impl VideoLaw {
    /// The law of a checked video; `payload_bytes`: of a packet.
    pub fn new(video: &Video, payload_bytes: u32, window: MeasurementWindow) -> Self {
        Self {
            bitrates_bps: video.bitrates.iter().map(|rate| rate.bps() as f64).collect(),
            segment_s: video.segment.seconds(),
            reservoir_s: video.reservoir.seconds(),
            cushion_s: video.cushion.seconds(),
            capacity_s: video.buffer.seconds(),
            startup_s: video.startup().seconds(),
            payload_bits: 8.0 * f64::from(payload_bytes),
            window,
        }
    }

    /// Number of the bitrate at this buffer after `last`.
    fn next_bitrate(&self, last: usize, buffer_s: f64) -> usize {
        let all = &self.bitrates_bps;
        let highest = all.len() - 1;
        if buffer_s <= self.reservoir_s {
            return 0;
        }
        if buffer_s >= self.reservoir_s + self.cushion_s {
            return highest;
        }
        let part = (buffer_s - self.reservoir_s) / self.cushion_s;
        let allowed_bps = all[0] + (all[highest] - all[0]) * part;
        if allowed_bps >= all[(last + 1).min(highest)] {
            all.iter().rposition(|&bps| bps < allowed_bps).unwrap_or(0)
        } else if allowed_bps <= all[last.saturating_sub(1)] {
            all.iter().position(|&bps| bps > allowed_bps).unwrap_or(highest)
        } else {
            last
        }
    }
}

impl PlayerRecord {
    /// Adds the record of another player.
    pub fn add(&mut self, other: &Self) {
        self.started += other.started;
        self.startup_delay_s += other.startup_delay_s;
        self.stalls += other.stalls;
        self.stalled_s += other.stalled_s;
        self.watched_s += other.watched_s;
        self.segments += other.segments;
        self.bitrates_bps += other.bitrates_bps;
        self.switches += other.switches;
    }
}

impl VideoPlayer {
    /// A player whose viewer leaves at `end_s`.
    pub fn new(law: Arc<VideoLaw>, end_s: f64) -> Self {
        Self {
            law,
            bitrate: None,
            buffer_s: 0.0,
            now_s: 0.0,
            first_request_s: NEVER,
            playback_start_s: NEVER,
            end_s,
            playback: Playback::Startup,
            record: PlayerRecord::default(),
        }
    }

    /// The player asks for a segment; returns its packets.
    pub fn request(&mut self, now_s: f64) -> u64 {
        self.play_until(now_s);
        let law = &self.law;
        let bitrate = self.bitrate.map_or(0, |last| law.next_bitrate(last, self.buffer_s));
        if law.window.contains(now_s) {
            self.record.segments += 1;
            self.record.bitrates_bps += law.bitrates_bps[bitrate];
            self.record.switches += u64::from(self.bitrate.is_some_and(|last| last != bitrate));
        }
        self.first_request_s = self.first_request_s.min(now_s);
        self.bitrate = Some(bitrate);
        (law.bitrates_bps[bitrate] * law.segment_s / law.payload_bits).ceil().max(1.0) as u64
    }

    /// A segment is complete; returns how long the next request waits, seconds.
    pub fn receive(&mut self, now_s: f64) -> f64 {
        self.play_until(now_s);
        self.buffer_s += self.law.segment_s;
        if self.buffer_s >= self.law.startup_s {
            match self.playback {
                Playback::Startup => {
                    self.playback_start_s = now_s;
                    self.record.started += 1;
                    self.record.startup_delay_s += now_s - self.first_request_s;
                }
                Playback::Playing => {}
                Playback::Stalled(since_s) => {
                    self.record.stalled_s += self.within_window_s(since_s, now_s);
                }
            }
            self.playback = Playback::Playing;
        }
        (self.buffer_s + self.law.segment_s - self.law.capacity_s).max(0.0)
    }

    /// What it recorded, up to the end of a run.
    pub fn record(&self, run_end_s: f64) -> PlayerRecord {
        let mut player = self.clone();
        player.play_until(run_end_s);
        let end_s = run_end_s.min(self.end_s);
        if let Playback::Stalled(since_s) = player.playback {
            player.record.stalled_s += player.within_window_s(since_s, end_s);
        }
        player.record.watched_s = player.within_window_s(player.playback_start_s, end_s);
        player.record
    }

    /// Plays what the buffer has.
    fn play_until(&mut self, now_s: f64) {
        let now_s = now_s.min(self.end_s);
        let elapsed_s = (now_s - self.now_s).max(0.0);
        if self.playback == Playback::Playing {
            if elapsed_s > self.buffer_s {
                let since_s = self.now_s + self.buffer_s;
                self.record.stalls += u64::from(self.law.window.contains(since_s));
                (self.playback, self.buffer_s) = (Playback::Stalled(since_s), 0.0);
            } else {
                self.buffer_s -= elapsed_s;
            }
        }
        self.now_s = self.now_s.max(now_s);
    }

    /// The part of this period within the measurement window, seconds.
    fn within_window_s(&self, from_s: f64, to_s: f64) -> f64 {
        (to_s.min(self.law.window.to_s) - from_s.max(self.law.window.from_s)).max(0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Segments of 4 s at 1, 2, 3, 5 Mbit/s; reservoir 10 s, cushion 20 s, buffer 40 s.
    fn player() -> VideoPlayer {
        let video: Video = serde_json::from_str(
            r#"{"bitrates": ["1Mbit", "2Mbit", "3Mbit", "5Mbit"], "reservoir": "10s",
                "cushion": "20s", "buffer": "40s"}"#,
        )
        .unwrap();
        let window = MeasurementWindow { from_s: 0.0, to_s: 100.0 };
        VideoPlayer::new(Arc::new(VideoLaw::new(&video, 1000, window)), NEVER)
    }

    #[test]
    fn bitrates_follow_the_map_with_its_two_thresholds() {
        // f = 1 + 4 (B - 10)/20 Mbit/s: 2 at 15 s, 3 at 20 s, 5 at 30 s.
        let law = player().law;
        for (last, buffer_s, expected) in [
            (3, 10.0, 0),
            (0, 30.0, 3),
            // f = 1.9: the next above, 2, is not allowed yet.
            (0, 14.5, 0),
            // f = 2.2: of those below it 2 is the highest.
            (0, 16.0, 1),
            // f = 2.0 exactly: only lower ones are below it.
            (0, 15.0, 0),
            // f = 2.2 after 3: the next below, 2, is allowed still, so that 3 stays.
            (2, 16.0, 2),
            // f = 2.0 after 3: it has fallen to the next below; the lowest above it is 3.
            (2, 15.0, 2),
            // f = 1.8 after 3: the lowest above it is 2.
            (2, 14.0, 1),
            // f = 4.8 after 1 and after 5.
            (0, 29.0, 2),
            (3, 29.0, 3),
            (3, 19.0, 2),
        ] {
            assert_eq!(law.next_bitrate(last, buffer_s), expected, "{last} {buffer_s}");
        }
    }

    #[test]
    fn a_session_by_hand() {
        let mut player = player();
        // 1 Mbit/s x 4 s/8000 bit = 500 packets.
        assert_eq!(player.request(1.0), 500);
        assert_eq!(player.receive(3.0), 0.0);
        assert_eq!(player.request(3.0), 500);
        // 4 s were there at 3 s: empty at 7 s, stalled until 9 s.
        assert_eq!(player.receive(9.0), 0.0);
        // Eight segments at once: 36 s. Another one fits when 36 are left of 36: at once.
        for _ in 0..8 {
            player.request(9.0);
            player.receive(9.0);
        }
        player.request(9.0);
        // 40 s, so that the next one waits for 4 s of playback.
        assert_eq!(player.receive(9.0), 4.0);
        // 5 Mbit/s x 4 s/8000 bit.
        assert_eq!(player.request(13.0), 2500);
        // Empty at 13 + 36 = 49 s, until the viewer leaves at 60 s.
        player.end_s = 60.0;
        let record = player.record(100.0);
        assert_eq!((record.started, record.startup_delay_s), (1, 2.0));
        assert_eq!((record.stalls, record.stalled_s, record.watched_s), (2, 2.0 + 11.0, 57.0));
        // Buffers at the requests: 0, 4, 4, 8, 12, 16, 20, 24, 28, 32, 36, 36 s; f: -, -, -, -,
        // 1.4, 2.2, 3, 3.8, 4.6, then above. At 20 s f is 3, so that 2 is the highest below it.
        let mbit = [1.0, 1.0, 1.0, 1.0, 1.0, 2.0, 2.0, 3.0, 3.0, 5.0, 5.0, 5.0];
        assert_eq!((record.segments, record.bitrates_bps), (12, 1e6 * mbit.iter().sum::<f64>()));
        assert_eq!(record.switches, 3);
    }

    #[test]
    fn what_lies_outside_the_window_does_not_count() {
        let mut player = player();
        player.request(94.0);
        player.receive(95.0);
        player.request(95.0);
        // Empty at 99 s; the window ends at 100 s.
        player.receive(130.0);
        player.request(130.0);
        let record = player.record(200.0);
        assert_eq!((record.stalls, record.stalled_s, record.watched_s), (1, 1.0, 5.0));
        assert_eq!((record.segments, record.startup_delay_s), (2, 1.0));
    }
}
