//! The TUN devices of both ends over io_uring: packets written, read and waited for with one system
//! call. In a user-mode kernel a call costs more than all else that a packet needs.
#![allow(unsafe_code, reason = "io_uring's queues")]

use io_uring::squeue::Flags;
use io_uring::types::{Fd, SubmitArgs, Timespec};
use io_uring::{EnterFlags, IoUring, opcode};
use std::collections::VecDeque;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd, RawFd};

/// Buffers for packets that were read and not yet taken.
const BUFFERS: u16 = 1024;
/// Entries of the queue of submissions: more packets than are due at one time.
const ENTRIES: u32 = 256;
/// The group of the buffers.
const GROUP: u16 = 0;
/// User data of completions: the ends' packets, a descriptor that was polled, buffers and writes.
const POLLED: u64 = 2;
const OTHERS: u64 = 3;

/// A packet that was read: the end that sent it, its buffer and its length.
#[derive(Clone, Copy, Debug)]
pub struct ReadPacket {
    /// Index of the device.
    pub end: usize,
    buffer: u16,
    length: usize,
}

/// Two devices, and a further descriptor to poll.
pub struct Ring {
    ring: IoUring,
    devices: [OwnedFd; 2],
    polled: RawFd,
    buffers: Vec<u8>,
    size: usize,
    written: Vec<Box<[u8]>>,
    packets: VecDeque<ReadPacket>,
    is_polled_ready: bool,
    refused: u64,
}

impl Ring {
    /// Begins to read packets of at most `size` bytes from `devices`, and to poll `polled`.
    pub fn new(devices: [OwnedFd; 2], polled: BorrowedFd<'_>, size: usize) -> io::Result<Self> {
        let mut ring = Self {
            ring: IoUring::builder().setup_cqsize(4 * u32::from(BUFFERS)).build(ENTRIES)?,
            devices,
            polled: polled.as_raw_fd(),
            buffers: vec![0; size * usize::from(BUFFERS)],
            size,
            written: Vec::new(),
            packets: VecDeque::new(),
            is_polled_ready: false,
            refused: 0,
        };
        ring.provide(0, BUFFERS)?;
        for end in 0..2 {
            ring.read(end)?;
        }
        ring.poll()?;
        Ok(ring)
    }

    /// Writes a packet to the device `end` at the next submission.
    pub fn write(&mut self, end: usize, packet: Box<[u8]>) -> io::Result<()> {
        let write = opcode::Write::new(
            Fd(self.devices[end].as_raw_fd()),
            packet.as_ptr(),
            packet.len() as u32,
        );
        self.written.push(packet);
        self.push(write.build().flags(Flags::SKIP_SUCCESS).user_data(OTHERS))
    }

    /// Submits what is queued, and takes note of what is complete.
    pub fn submit(&mut self) -> io::Result<()> {
        self.ring.submit()?;
        self.complete()
    }

    /// Submits what is queued, and waits for a packet or the polled descriptor, until `deadline_ns`
    /// of CLOCK_MONOTONIC. Returns whether the deadline came first.
    pub fn wait(&mut self, deadline_ns: u64) -> io::Result<bool> {
        let deadline = Timespec::new()
            .sec(deadline_ns / 1_000_000_000)
            .nsec((deadline_ns % 1_000_000_000) as u32);
        let arguments = SubmitArgs::new().timespec(&deadline);
        let submitter = self.ring.submitter();
        match submitter.submit_with_args_and_flags(1, &arguments, EnterFlags::ABS_TIMER) {
            // With entries to submit, the call returns their number also after the deadline.
            Ok(_) => {}
            Err(error) if matches!(error.raw_os_error(), Some(libc::ETIME | libc::EINTR)) => {}
            Err(error) => return Err(error),
        }
        self.complete()?;
        Ok(self.packets.is_empty() && !self.is_polled_ready)
    }

    /// The next packet that was read.
    pub fn next(&mut self) -> Option<ReadPacket> {
        self.packets.pop_front()
    }

    /// The bytes of a packet.
    pub fn bytes(&self, packet: ReadPacket) -> &[u8] {
        let begin = usize::from(packet.buffer) * self.size;
        &self.buffers[begin..begin + packet.length]
    }

    /// Gives the buffer of a packet back.
    pub fn free(&mut self, packet: ReadPacket) -> io::Result<()> {
        self.provide(packet.buffer, 1)
    }

    /// Whether the polled descriptor has become ready since the last call, which polls it again.
    pub fn is_ready(&mut self) -> io::Result<bool> {
        let is_ready = std::mem::take(&mut self.is_polled_ready);
        if is_ready {
            self.poll()?;
        }
        Ok(is_ready)
    }

    /// Packets that a device did not accept.
    pub fn refused(&self) -> u64 {
        self.refused
    }

    fn provide(&mut self, first: u16, count: u16) -> io::Result<()> {
        let address = self.buffers[usize::from(first) * self.size..].as_mut_ptr();
        let provide =
            opcode::ProvideBuffers::new(address, self.size as i32, count, GROUP, first).build();
        self.push(provide.flags(Flags::SKIP_SUCCESS).user_data(OTHERS))
    }

    fn read(&mut self, end: usize) -> io::Result<()> {
        let device = Fd(self.devices[end].as_raw_fd());
        self.push(opcode::ReadMulti::new(device, 0, GROUP).build().user_data(end as u64))
    }

    fn poll(&mut self) -> io::Result<()> {
        let poll = opcode::PollAdd::new(Fd(self.polled), libc::POLLIN as u32);
        self.push(poll.build().user_data(POLLED))
    }

    fn push(&mut self, entry: io_uring::squeue::Entry) -> io::Result<()> {
        // SAFETY: descriptors and buffers of an entry belong to this value, and the kernel has
        // completed every write when a call of `submit` or `wait` returns: a TUN device never
        // blocks.
        while unsafe { self.ring.submission().push(&entry) }.is_err() {
            self.ring.submit()?;
        }
        Ok(())
    }

    fn complete(&mut self) -> io::Result<()> {
        self.written.clear();
        let done: Vec<_> = self.ring.completion().collect();
        for entry in done {
            let result = entry.result();
            match entry.user_data() {
                POLLED => self.is_polled_ready = true,
                OTHERS if result == -libc::EAGAIN || result == -libc::ENOBUFS => self.refused += 1,
                OTHERS if result < 0 => return Err(io::Error::from_raw_os_error(-result)),
                OTHERS => {}
                end => {
                    let end = end as usize;
                    if let Some(buffer) = io_uring::cqueue::buffer_select(entry.flags()) {
                        let length = usize::try_from(result).unwrap_or(0);
                        self.packets.push_back(ReadPacket { end, buffer, length });
                    } else if result < 0 && result != -libc::ENOBUFS {
                        return Err(io::Error::from_raw_os_error(-result));
                    }
                    if !io_uring::cqueue::more(entry.flags()) {
                        self.read(end)?;
                    }
                }
            }
        }
        Ok(())
    }
}
