//! The receive buffer of Linux, and the window that it offers: it begins at 128 KiB and grows with
//! what the application reads in a round trip (dynamic right-sizing, Fisk and Feng 2001; Linux
//! `tcp_rcv_space_adjust`), and the window grows towards it packet by packet (`tcp_grow_window`).

use crate::{TcpConfig, timestamp_ms};

/// Initial buffer, bytes (Linux `tcp_rmem`).
const INITIAL_BYTES: i64 = 131_072;
/// Packets of a window at the start of a connection.
const INITIAL_PACKETS: i64 = 10;
/// Packets that the buffer keeps beyond what a round trip needs.
const SPARE_PACKETS: i64 = 16;

/// Memory that a packet takes, bytes: headroom, headers and shared data in a block of a power of
/// two, and its descriptor.
fn memory_of(payload_bytes: i64) -> i64 {
    const LINE: u64 = 64;
    const HEADROOM: u64 = 64;
    const HEADERS: u64 = 52;
    const SHARED: u64 = 320;
    const DESCRIPTOR: u64 = 256;
    let data = (HEADROOM + HEADERS + payload_bytes as u64).next_multiple_of(LINE);
    ((data + SHARED).next_power_of_two() + DESCRIPTOR) as i64
}

/// The buffer and its window. Positions and sizes are bytes.
#[derive(Clone, Debug)]
pub(crate) struct ReceiveBuffer {
    packet_bytes: i64,
    /// Memory of a packet.
    packet_memory: i64,
    /// Memory that the buffer may take, and may ever take.
    size: i64,
    most_size: i64,
    /// Windows are offered in units: powers of two, by the window scale (RFC 7323 section 2).
    scale: u32,
    /// 256ths of memory that are data (Linux `scaling_ratio`): a guess before the first packet.
    data_share: i64,
    /// Largest window that the buffer allows.
    clamp: i64,
    /// The window that is offered if memory permits (Linux `rcv_ssthresh`).
    wanted: i64,
    /// The window that the last ACK offered, from `acknowledged` on.
    window: i64,
    acknowledged: i64,
    /// Whether the application sets the window, and whether that is in force.
    is_fixed: bool,
    is_set: bool,
    read: ReadMeter,
    rtt: RoundTrip,
}

/// What the application reads in a round trip (Linux `rcvq_space`).
#[derive(Clone, Copy, Debug)]
struct ReadMeter {
    /// Most bytes so far.
    most: i64,
    from_position: i64,
    from_us: i64,
}

/// The RTT as a receiver sees it (Linux `rcv_rtt_est`).
#[derive(Clone, Copy, Debug, Default)]
struct RoundTrip {
    /// Eighths of a microsecond; 0 before the first sample.
    us_8: i64,
    /// The window that is being received ends here, and began then.
    until_position: i64,
    from_us: i64,
    /// The last timestamp that was echoed.
    echoed_ms: u32,
}

impl RoundTrip {
    fn sample(&mut self, rtt_us: i64, is_by_window: bool) {
        if self.us_8 == 0 || rtt_us << 3 < self.us_8 {
            self.us_8 = rtt_us << 3;
        } else if !is_by_window {
            self.us_8 += rtt_us - (self.us_8 >> 3);
        }
    }
}

impl ReceiveBuffer {
    /// The buffer of a connection that begins at `now_us`.
    pub(crate) fn new(now_us: i64, config: &TcpConfig) -> Self {
        let packet_bytes = i64::from(config.segment.packet_size);
        let data_share = 128;
        let full = (INITIAL_BYTES * data_share) >> 8;
        let clamp = (full - packet_bytes).max(2 * packet_bytes);
        let window = full - full % packet_bytes;
        let wanted = window.min(clamp);
        let most = wanted.min(INITIAL_PACKETS * packet_bytes);
        let most_size = i64::from(config.receiver.receive_buffer).max(INITIAL_BYTES);
        let mut buffer = Self {
            packet_bytes,
            packet_memory: memory_of(packet_bytes),
            size: INITIAL_BYTES,
            most_size,
            scale: scale_of(most_size.min(MOST_WINDOW_BYTES as i64 - 1)),
            data_share,
            clamp,
            wanted,
            window,
            acknowledged: 0,
            is_fixed: false,
            is_set: false,
            read: ReadMeter { most, from_position: 0, from_us: now_us },
            rtt: RoundTrip::default(),
        };
        let asked = config.limits.window * packet_bytes as f64;
        if asked < MOST_WINDOW_BYTES {
            // The route's window and TCP_WINDOW_CLAMP, with a buffer that does not limit.
            (buffer.clamp, buffer.is_fixed) = (asked as i64, true);
            buffer.window = buffer.window.min(buffer.clamp);
            buffer.scale = scale_of(most_size.min(buffer.clamp));
            buffer.wanted = buffer.window;
            buffer.size = 2 * (4 * buffer.clamp).max(1 << 20);
        }
        buffer
    }

    /// The application begins to read.
    pub(crate) fn begin(&mut self, now_us: i64) {
        self.read.from_us = now_us;
    }

    /// RTT of the receiver, eighths of a microsecond; 0 before the first sample.
    pub(crate) fn rtt_us_8(&self) -> i64 {
        self.rtt.us_8
    }

    /// ACKs of a connection's start that leave at once: half of the window, at most 16.
    pub(crate) fn quick_acks(&self, most: u32) -> u32 {
        match (self.window / (2 * self.packet_bytes)) as u32 {
            0 => most.min(2),
            packets => most.min(packets),
        }
    }

    /// The window that the last ACK offered.
    pub(crate) fn window_bytes(&self) -> u32 {
        self.window as u32
    }

    /// Whether more than a packet is not acknowledged; `position`: the next byte expected.
    pub(crate) fn owes_ack(&self, position: i64) -> bool {
        position - self.acknowledged > self.packet_bytes
    }

    /// A packet arrives that echoes this timestamp.
    pub(crate) fn note_echo(&mut self, now_us: i64, echoed_ms: u32) {
        if echoed_ms != self.rtt.echoed_ms {
            self.rtt.echoed_ms = echoed_ms;
            let rtt_ms = i64::from(timestamp_ms(now_us as f64 * 1e-6)) - i64::from(echoed_ms);
            if rtt_ms > 0 {
                self.rtt.sample(1000 * rtt_ms, false);
            }
        }
    }

    /// A packet arrives. The first one tells how much memory data take, and takes back the limit
    /// that the application set, until that sets it again as it reads.
    pub(crate) fn note_memory(&mut self) {
        let share = (self.packet_bytes << 8) / self.packet_memory;
        self.is_set = self.is_fixed && share == self.data_share;
        if self.is_set {
            self.wanted = self.wanted.min(self.clamp);
        } else if share != self.data_share {
            self.data_share = share;
            if !self.is_fixed {
                self.clamp = self.data_in(self.size);
                self.read.most = self.read.most.min(self.clamp);
            }
        }
    }

    /// A window of data may have arrived: `position` is the next byte expected.
    pub(crate) fn note_position(&mut self, now_us: i64, position: i64) {
        if self.rtt.from_us != 0 {
            if position < self.rtt.until_position {
                return;
            }
            self.rtt.sample((now_us - self.rtt.from_us).max(1), true);
        }
        (self.rtt.until_position, self.rtt.from_us) = (position + self.window, now_us);
    }

    /// A packet joins so many others in the buffer, or is about to: the window that is wanted grows
    /// by two, as far as the buffer allows. Returns whether it did.
    pub(crate) fn grow(&mut self, packets: i64) -> bool {
        let is_taken_back = self.is_fixed && !self.is_set;
        let clamp = if is_taken_back { self.data_in(self.size) } else { self.clamp };
        let room = clamp.min(self.space(packets)) - self.wanted;
        if room <= 0 {
            return false;
        }
        self.wanted += room.min(2 * self.packet_bytes);
        true
    }

    /// The application reads up to `position`, and leaves `unread` bytes for its next read.
    pub(crate) fn read(&mut self, now_us: i64, position: i64, unread: i64) {
        let elapsed_us = now_us - self.read.from_us;
        if self.rtt.us_8 == 0 || elapsed_us < self.rtt.us_8 >> 3 {
            return;
        }
        let read = position - self.read.from_position - unread;
        if read > self.read.most {
            if !self.is_fixed {
                self.fit(read);
            }
            self.read.most = read;
        }
        (self.read.from_position, self.read.from_us) = (position, now_us);
    }

    /// Makes room for twice what was read in a round trip, and for twice its growth.
    fn fit(&mut self, read: i64) {
        let steady = 2 * read + SPARE_PACKETS * self.packet_bytes;
        let growth = (i128::from(steady) * i128::from(read - self.read.most)
            / i128::from(self.read.most)) as i64;
        let size = (((steady + 2 * growth) << 8) / self.data_share).min(self.most_size);
        if size > self.size {
            self.size = size;
            self.clamp = self.data_in(size);
        }
    }

    /// An ACK leaves that acknowledges up to `position` and offers a window; `packets`: held in the
    /// buffer. Returns whether memory is short.
    pub(crate) fn offer(&mut self, position: i64, packets: i64) -> bool {
        let left = (self.acknowledged + self.window - position).max(0);
        let (window, is_short) = self.possible_window(packets);
        // An offer is not taken back.
        self.window = if window < left { self.whole_units(left) } else { window };
        self.acknowledged = position;
        is_short
    }

    /// Whether an ACK could offer as much as the last one did.
    pub(crate) fn keeps_window(&self, packets: i64) -> bool {
        self.possible_window(packets).0 >= self.window
    }

    /// Whether the window has come down to half of the largest one, and an ACK could offer twice as
    /// much (Linux `__tcp_cleanup_rbuf`).
    pub(crate) fn could_double(&self, position: i64, packets: i64) -> bool {
        let left = (self.acknowledged + self.window - position).max(0);
        2 * left <= self.clamp && {
            let window = self.possible_window(packets).0;
            window > 0 && window >= 2 * left
        }
    }

    /// Whether all up to this position is acknowledged, and more.
    pub(crate) fn has_acknowledged(&self, position: i64) -> bool {
        position < self.acknowledged
    }

    /// The window for which there is memory, and whether memory is short (Linux
    /// `__tcp_select_window`).
    fn possible_window(&self, packets: i64) -> (i64, bool) {
        let all = self.data_in(self.size);
        let free = self.space(packets);
        let is_short = free < self.clamp.min(all) >> 1;
        let free = if is_short { free >> self.scale << self.scale } else { free };
        if is_short && (free < all >> 4 || free < self.packet_bytes) {
            return (0, true);
        }
        (self.whole_units(free.min(self.wanted)), is_short)
    }

    fn whole_units(&self, bytes: i64) -> i64 {
        let unit = 1 << self.scale;
        (bytes + unit - 1) / unit * unit
    }

    fn data_in(&self, memory: i64) -> i64 {
        (memory * self.data_share) >> 8
    }

    /// Data for which there is memory left.
    fn space(&self, packets: i64) -> i64 {
        self.data_in(self.size - packets * self.packet_memory)
    }
}

/// Window scale with which a window of so many bytes can be offered.
fn scale_of(bytes: i64) -> u32 {
    bytes.max(1).ilog2().saturating_sub(15)
}

/// Windows from here on are no limit, bytes.
const MOST_WINDOW_BYTES: f64 = (1u64 << 30) as f64;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Profile;

    fn buffer(window: f64) -> ReceiveBuffer {
        let mut config = TcpConfig::profile(Profile::Linux);
        (config.limits.window, config.receiver.receive_buffer) = (window, 33_554_432);
        ReceiveBuffer::new(0, &config)
    }

    /// Half of 128 KiB is 45 packets of 1448 bytes. A packet takes 2048 bytes and its descriptor of
    /// 256: data are 160/256 of memory, 81,920 bytes. The window grows by two packets from 64,088
    /// (65,536 less one packet) to what is free beside the packet that arrives: 80,480.
    #[test]
    fn the_window_grows_towards_the_buffer() {
        let mut buffer = buffer(1e9);
        assert_eq!((buffer.window_bytes(), buffer.quick_acks(16)), (65_160, 16));
        buffer.note_memory();
        assert!(buffer.grow(1) && buffer.wanted == 66_984);
        assert!(!buffer.offer(1448, 0) && buffer.window_bytes() == 67_584);
        (0..5).for_each(|_| assert!(buffer.grow(1)));
        assert!(!buffer.grow(1) && buffer.wanted == 80_480);
    }

    /// 20 packets are read in a round trip of 10 ms, 10 in the one before: room for twice as much
    /// and 16 packets, and for twice the growth of that.
    #[test]
    fn the_buffer_grows_with_what_is_read() {
        let mut buffer = buffer(1e9);
        buffer.note_memory();
        buffer.note_echo(10_000, 1);
        buffer.read(9_999, 28_960, 0);
        assert_eq!(buffer.size, INITIAL_BYTES);
        buffer.read(10_000, 28_960, 0);
        // Steady: 2 * 28,960 + 16 * 1448 = 81,088; growth: 81,088 * 14,480 / 14,480.
        assert_eq!(buffer.size, ((81_088 + 2 * 81_088) << 8) / 160);
        assert_eq!(buffer.clamp, (buffer.size * 160) >> 8);
    }

    /// 40 packets behind a gap take more than half of the memory: no offer is taken back, but none
    /// is made.
    #[test]
    fn packets_behind_a_gap_take_memory() {
        let mut buffer = buffer(1e9);
        buffer.note_memory();
        assert!(buffer.offer(1448, 40));
        assert_eq!(buffer.window_bytes(), 64_512); // 65,160 - 1448 in whole KiB
        assert!(buffer.keeps_window(0) && !buffer.keeps_window(40));
    }

    /// The first packet takes it back until the application has read that.
    #[test]
    fn a_window_that_is_set_stays() {
        let mut buffer = buffer(20.0);
        assert_eq!(buffer.window_bytes() / 1448, 20);
        buffer.note_memory();
        assert!(buffer.grow(1));
        buffer.offer(1448, 0);
        assert_eq!(buffer.window_bytes() / 1448, 22);
        buffer.note_memory();
        assert!(!buffer.grow(1));
        buffer.offer(65_160, 0);
        assert_eq!(buffer.window_bytes() / 1448, 20);
    }

    /// A limit of 60 packets, 86,880 bytes, is above the first window of 65,160: that grows towards
    /// it by two packets at a time, eight times.
    #[test]
    fn the_window_grows_towards_the_limit_that_is_set() {
        let mut buffer = buffer(60.0);
        assert_eq!((buffer.window_bytes(), buffer.wanted), (65_160, 65_160));
        buffer.note_memory();
        assert!(buffer.grow(1) && buffer.wanted == 68_056);
        buffer.note_memory();
        assert_eq!((0..9).filter(|_| buffer.grow(1)).count(), 7);
        assert_eq!(buffer.wanted, 86_880);
    }
}
