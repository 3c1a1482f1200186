//! System calls that no library wraps: options of TCP sockets, TUN devices, scheduling. All unsafe
//! code of this crate is here.
#![allow(unsafe_code, reason = "system calls")]

use std::ffi::c_int;
use std::io;
use std::mem;
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::process::CommandExt;
use std::process::Command;

/// Constants of linux/tcp.h and linux/if_tun.h.
const TCP_INFO: c_int = 11;
const TUNSETIFF: libc::c_ulong = 0x4004_54ca;
const TUNSETOFFLOAD: libc::c_ulong = 0x4004_54d0;

/// The begin of `struct tcp_info` (linux/tcp.h); fields that an older kernel does not have are
/// zero.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
#[allow(
    missing_docs,
    reason = "the kernel's names and units: times in microseconds, windows in packets"
)]
pub struct TcpInfo {
    pub state: u8,
    pub ca_state: u8,
    pub retransmits: u8,
    pub probes: u8,
    pub backoff: u8,
    pub options: u8,
    pub window_scales: u8,
    pub flags: u8,
    pub rto: u32,
    pub ato: u32,
    pub snd_mss: u32,
    pub rcv_mss: u32,
    pub unacked: u32,
    pub sacked: u32,
    pub lost: u32,
    pub retrans: u32,
    pub fackets: u32,
    pub last_data_sent: u32,
    pub last_ack_sent: u32,
    pub last_data_recv: u32,
    pub last_ack_recv: u32,
    pub pmtu: u32,
    pub rcv_ssthresh: u32,
    pub rtt: u32,
    pub rttvar: u32,
    pub snd_ssthresh: u32,
    pub snd_cwnd: u32,
    pub advmss: u32,
    pub reordering: u32,
    pub rcv_rtt: u32,
    pub rcv_space: u32,
    pub total_retrans: u32,
    pub pacing_rate: u64,
    pub max_pacing_rate: u64,
    pub bytes_acked: u64,
    pub bytes_received: u64,
    pub segs_out: u32,
    pub segs_in: u32,
    pub notsent_bytes: u32,
    pub min_rtt: u32,
    pub data_segs_in: u32,
    pub data_segs_out: u32,
    pub delivery_rate: u64,
    pub busy_time: u64,
    pub rwnd_limited: u64,
    pub sndbuf_limited: u64,
    pub delivered: u32,
    pub delivered_ce: u32,
    pub bytes_sent: u64,
    pub bytes_retrans: u64,
    pub dsack_dups: u32,
    pub reord_seen: u32,
    pub rcv_ooopack: u32,
    pub snd_wnd: u32,
    pub rcv_wnd: u32,
    pub rehash: u32,
    pub total_rto: u16,
    pub total_rto_recoveries: u16,
    pub total_rto_time: u32,
}

/// Reads TCP_INFO of a connection.
pub fn tcp_info(socket: &impl AsRawFd) -> io::Result<TcpInfo> {
    let mut info = TcpInfo::default();
    let mut length = mem::size_of::<TcpInfo>() as libc::socklen_t;
    // SAFETY: the kernel writes at most `length` bytes into `info`, of which any pattern is a
    // value.
    let done = unsafe {
        libc::getsockopt(
            socket.as_raw_fd(),
            libc::IPPROTO_TCP,
            TCP_INFO,
            (&raw mut info).cast(),
            &raw mut length,
        )
    };
    if done == 0 { Ok(info) } else { Err(io::Error::last_os_error()) }
}

/// Sets a socket option that is a number.
fn set<T: Copy>(socket: &impl AsRawFd, level: c_int, option: c_int, value: T) -> io::Result<()> {
    // SAFETY: the kernel reads `size_of::<T>()` bytes of a value that lives until the call returns.
    let done = unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            level,
            option,
            (&raw const value).cast(),
            mem::size_of::<T>() as libc::socklen_t,
        )
    };
    if done == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Sets TCP_NOTSENT_LOWAT: the socket is writable while it has fewer unsent bytes.
pub fn set_unsent(socket: &impl AsRawFd, bytes: u32) -> io::Result<()> {
    set(socket, libc::IPPROTO_TCP, libc::TCP_NOTSENT_LOWAT, bytes)
}

/// Sets a fixed receive buffer that is larger than the window needs, so that it does not limit the
/// flow.
pub fn set_buffer(socket: &impl AsRawFd, window_bytes: u32) -> io::Result<()> {
    set(
        socket,
        libc::SOL_SOCKET,
        libc::SO_RCVBUFFORCE,
        (4 * i64::from(window_bytes)).clamp(1 << 20, 1 << 30) as c_int,
    )
}

/// Sets the maximum receive window, bytes. Linux resets it when the packet size changes, so the
/// receiver sets it again as data arrives.
pub fn set_window(socket: &impl AsRawFd, bytes: u32) -> io::Result<()> {
    set(socket, libc::IPPROTO_TCP, libc::TCP_WINDOW_CLAMP, bytes)
}

/// Enables pacing by the kernel: two windows per round trip in slow start, 1.2 afterwards. Any
/// maximum pacing rate enables it, so this sets one that no flow reaches.
pub fn set_pacing(socket: &impl AsRawFd) -> io::Result<()> {
    set(socket, libc::SOL_SOCKET, libc::SO_MAX_PACING_RATE, u64::MAX - 1)
}

/// Makes the kernel drop the connection when its descriptor is closed (SO_LINGER of 0). Otherwise
/// it tries for minutes to deliver what the buffer holds, although the other end is gone, and
/// keeps the namespace and the congestion control until then.
pub fn reset_when_closed(socket: &socket2::Socket) -> io::Result<()> {
    socket.set_linger(Some(std::time::Duration::ZERO))
}

/// Discards up to `most` received bytes; returns 0 if the peer has closed.
pub fn discard(socket: &impl AsRawFd, most: usize) -> io::Result<usize> {
    // SAFETY: with MSG_TRUNC, TCP drops the bytes and writes none (tcp(7)).
    let count = unsafe {
        libc::recv(
            socket.as_raw_fd(),
            std::ptr::null_mut(),
            most,
            libc::MSG_TRUNC | libc::MSG_DONTWAIT,
        )
    };
    usize::try_from(count).map_err(|_| io::Error::last_os_error())
}

/// Makes a TUN device of an open /dev/net/tun, without packet information and without offloads.
pub fn make_tun(device: RawFd, name: &str) -> io::Result<()> {
    // SAFETY: a request of zeros is a valid one.
    let mut request: libc::ifreq = unsafe { mem::zeroed() };
    assert!(name.len() < libc::IFNAMSIZ, "a device name has at most 15 characters");
    for (to, from) in request.ifr_name.iter_mut().zip(name.bytes()) {
        *to = from as libc::c_char;
    }
    request.ifr_ifru.ifru_flags = (libc::IFF_TUN | libc::IFF_NO_PI) as libc::c_short;
    // SAFETY: the kernel reads and writes within `request`; offloads are a plain number.
    let done = unsafe {
        libc::ioctl(device, TUNSETIFF, &raw mut request) == 0
            && libc::ioctl(device, TUNSETOFFLOAD, 0) == 0
    };
    if done { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// `struct sched_attr` (linux/sched/types.h), first version.
#[repr(C)]
#[derive(Default)]
struct Scheduling {
    size: u32,
    policy: u32,
    flags: u64,
    nice: i32,
    priority: u32,
    runtime: u64,
    deadline: u64,
    period: u64,
}

/// Time slice of a thread, nanoseconds: the least that Linux accepts. With EEVDF (from Linux 6.12)
/// a thread with a shorter slice preempts on wake-up; older kernels ignore the slice.
const SLICE_NS: u64 = 100_000;

/// Lowers this thread's timer slack from 50 us to 1 ns and sets its niceness, -20 (highest
/// priority) to 19. Ignores missing privileges: lateness is measured in any case.
pub fn set_priority(nice: c_int) {
    let asked = Scheduling {
        size: mem::size_of::<Scheduling>() as u32,
        nice,
        runtime: SLICE_NS,
        ..Scheduling::default()
    };
    // SAFETY: numbers, and a structure that the kernel reads; 0 means the calling thread.
    unsafe {
        libc::prctl(libc::PR_SET_TIMERSLACK, 1);
        if libc::syscall(libc::SYS_sched_setattr, 0, &raw const asked, 0) != 0 {
            libc::setpriority(libc::PRIO_PROCESS, 0, nice);
        }
    }
}

/// Makes the kernel send `signal` to this process when its parent ends.
pub fn signal_with_parent(signal: c_int) {
    // SAFETY: a number; the call affects this process only.
    unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, signal) };
}

/// Makes the kernel take a new key for its random numbers.
pub fn reseed_kernel() -> io::Result<()> {
    /// `RNDRESEEDCRNG` of linux/random.h.
    const RESEED: libc::Ioctl = 0x5207;
    let device = std::fs::OpenOptions::new().write(true).open("/dev/urandom")?;
    // SAFETY: the request has no argument.
    match unsafe { libc::ioctl(device.as_raw_fd(), RESEED) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Makes a kernel in virtual time end with this process, run on one core, and have its memory at
/// the same addresses in each run, which its size depends on.
pub fn prepare_guest(command: &mut Command, core: usize) {
    let prepare = move || {
        signal_with_parent(libc::SIGKILL);
        // SAFETY: numbers, and a set of cores that the kernel reads.
        unsafe {
            let mut cores: libc::cpu_set_t = mem::zeroed();
            libc::CPU_SET(core, &mut cores);
            libc::sched_setaffinity(0, mem::size_of::<libc::cpu_set_t>(), &raw const cores);
            let persona = libc::personality(0xffff_ffff);
            libc::personality(persona as libc::c_ulong | libc::ADDR_NO_RANDOMIZE as libc::c_ulong);
        }
        Ok(())
    };
    // SAFETY: between fork and exec it makes system calls alone.
    unsafe { command.pre_exec(prepare) };
}
