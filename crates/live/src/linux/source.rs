//! The senders: one thread in the source namespace writes to all sockets and samples TCP_INFO.

use super::congestion_controls::unknown;
use super::namespace::End;
use super::plan::{FlowPlan, Plan};
use super::socket::{self, TcpInfo, tcp_info};
use crate::events::Failure;
use crate::result::Sample;
use rustix::event::{Timespec, epoll};
use socket2::{Domain, Protocol, Socket, Type};
use std::io;
use std::iter::Peekable;
use std::net::SocketAddr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Instant;
use std::vec::IntoIter;

/// Port of the listening sockets.
pub const PORT: u16 = 5201;
/// The payload: zeros.
static ZEROS: [u8; 1 << 18] = [0; 1 << 18];
/// TCP_CA_CWR, TCP_CA_Recovery and TCP_CA_Loss (linux/tcp.h): reductions after marks, losses,
/// timeouts.
const CUT_BY_MARK: u8 = 2;
const RECOVERY: u8 = 3;
const LOSS: u8 = 4;
/// TCP_INFINITE_SSTHRESH: no threshold yet.
pub const NO_THRESHOLD: u32 = 0x7fff_ffff;
/// TCP_CLOSE, the state of a closed connection.
const CLOSED: u8 = 7;

/// Measurements of a flow; sums are over the measuring window.
#[derive(Clone, Debug, Default)]
pub struct FlowMeasurements {
    /// Bytes written to the socket.
    pub written: u64,
    /// Whether the application has no more data.
    pub is_over: bool,
    /// Number of samples.
    pub samples: u64,
    /// Sum of the sampled windows, packets.
    pub cwnd_sum: f64,
    /// Sum of the sampled RTOs, seconds.
    pub rto_sum_s: f64,
    /// Number of RTO samples.
    pub rto_samples: u64,
    /// Loss recovery episodes that began.
    pub fast_retransmits: u64,
    /// Window reductions because of marks.
    pub ecn_reductions: u64,
    /// Timeouts until the measuring window begins, and until it ends.
    pub timeouts: [u64; 2],
    /// Largest sampled window, packets.
    pub largest_cwnd: u32,
    /// Samples with an impossible threshold: above twice the largest window so far.
    pub implausible: u64,
    /// Largest window that the receiver offered, bytes.
    pub largest_offer: u32,
    /// How long the receiver's window limited the flow until it last grew, microseconds.
    pub limited_growing_us: u64,
    /// The last TCP_INFO.
    pub last: Option<TcpInfo>,
    /// Why the connection failed.
    pub failed: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Waiting,
    Connecting,
    Writing,
    Over,
    Failed,
}

struct Sender<'a> {
    plan: &'a FlowPlan,
    socket: Socket,
    state: State,
    ca_state: u8,
    has_been_cut: bool,
    seen: FlowMeasurements,
}

/// All senders, in the source namespace, and what they have to do at which time.
pub struct Sources<'a> {
    senders: Vec<Sender<'a>>,
    epoll: OwnedFd,
    events: Vec<epoll::Event>,
    plan: &'a Plan,
    window: [f64; 2],
    row_every_s: Option<f64>,
    rows: Vec<Sample>,
    starts: Peekable<IntoIter<(f64, usize)>>,
    stops: Peekable<IntoIter<(f64, usize)>>,
    edges: Peekable<IntoIter<(f64, usize)>>,
    sample_s: f64,
    row_s: f64,
}

impl<'a> Sources<'a> {
    /// Opens the sockets of all flows, each with its congestion control, without connecting them.
    /// `order` decides between flows that start at the same time.
    pub fn new(
        plan: &'a Plan,
        algorithms: &[String],
        window: [f64; 2],
        row_every_s: Option<f64>,
        order: &[usize],
    ) -> Result<Self, Failure> {
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)
            .map_err(|error| Failure::broken("epoll", error))?;
        let senders = plan.flows.iter().enumerate().map(|(number, flow)| {
            let algorithm = &algorithms[flow.group];
            let socket = open(plan, number, flow, algorithm)?;
            Ok(Sender {
                plan: flow,
                socket,
                state: State::Waiting,
                ca_state: 0,
                has_been_cut: false,
                seen: FlowMeasurements::default(),
            })
        });
        let senders = senders.collect::<Result<_, Failure>>()?;
        let starts = order.iter().map(|&number| (plan.flows[number].start_s, number));
        let stops = plan.flows.iter().enumerate().map(|(number, flow)| (flow.stop_s, number));
        let edges = window.into_iter().enumerate().map(|(edge, at_s)| (at_s, edge));
        Ok(Self {
            senders,
            epoll,
            events: Vec::with_capacity(plan.flows.len().max(16)),
            plan,
            window,
            row_every_s,
            rows: Vec::new(),
            starts: in_order(starts),
            stops: in_order(stops),
            edges: in_order(edges),
            sample_s: 0.0,
            row_s: 0.0,
        })
    }

    /// Runs all flows in real time, from `begin` for `end_s` seconds.
    pub fn play(
        mut self,
        begin: Instant,
        end_s: f64,
    ) -> io::Result<(Vec<FlowMeasurements>, Vec<Sample>)> {
        let now_s = || Instant::now().saturating_duration_since(begin).as_secs_f64();
        while Instant::now() < begin {
            std::thread::sleep(begin.saturating_duration_since(Instant::now()));
        }
        loop {
            let now = now_s();
            if now >= end_s {
                break;
            }
            let next_s = self.advance(now).min(end_s);
            self.wait(next_s - now_s())?;
        }
        Ok(self.finish())
    }

    /// Does what is due by `now`, and returns when the next is due; in seconds of the run.
    pub fn advance(&mut self, now: f64) -> f64 {
        while let Some((_, number)) = self.starts.next_if(|start| start.0 <= now) {
            self.start(number);
        }
        while let Some((_, number)) = self.stops.next_if(|stop| stop.0 <= now) {
            self.stop(number);
        }
        while let Some((_, edge)) = self.edges.next_if(|edge| edge.0 <= now) {
            self.at_edge(edge);
        }
        if self.sample_s <= now {
            let keep = self.row_every_s.is_some() && self.row_s <= now;
            self.sample(now, keep);
            while self.sample_s <= now {
                self.sample_s += self.plan.sampling_s;
            }
            while let Some(every_s) = self.row_every_s.filter(|_| self.row_s <= now) {
                self.row_s += every_s;
            }
        }
        [self.starts.peek(), self.stops.peek(), self.edges.peek()]
            .into_iter()
            .flatten()
            .fold(self.sample_s, |next_s, event| next_s.min(event.0))
    }

    /// The measurements at the end of the run.
    pub fn finish(mut self) -> (Vec<FlowMeasurements>, Vec<Sample>) {
        self.at_edge(1);
        (self.senders.into_iter().map(|sender| sender.seen).collect(), self.rows)
    }

    /// TCP_INFO of a flow that has begun to connect.
    pub fn info(&self, number: usize) -> Option<TcpInfo> {
        let sender = self.senders.get(number).filter(|sender| sender.state != State::Waiting)?;
        tcp_info(&sender.socket).ok()
    }

    /// A descriptor that is readable while a socket is writable.
    pub fn descriptor(&self) -> BorrowedFd<'_> {
        self.epoll.as_fd()
    }

    /// Polls the sockets and writes to those that are writable.
    pub fn wait(&mut self, wait_s: f64) -> io::Result<()> {
        let wait = std::time::Duration::from_secs_f64(wait_s.clamp(0.0, 1.0));
        let timeout =
            Timespec { tv_sec: wait.as_secs() as i64, tv_nsec: wait.subsec_nanos().into() };
        self.events.clear();
        let room = rustix::buffer::spare_capacity(&mut self.events);
        match epoll::wait(&self.epoll, room, Some(&timeout)) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        for i in 0..self.events.len() {
            let event = self.events[i];
            self.ready(event.data.u64() as usize, event.flags);
        }
        Ok(())
    }

    fn start(&mut self, number: usize) {
        let sender = &mut self.senders[number];
        let address = SocketAddr::from((End::Sink.address(number), PORT));
        match sender.socket.connect(&address.into()) {
            Ok(()) => {}
            Err(error) if error.raw_os_error() == Some(libc::EINPROGRESS) => {}
            Err(error) => return sender.fail(&error),
        }
        sender.state = State::Connecting;
        if let Err(error) = epoll::add(
            &self.epoll,
            &sender.socket,
            epoll::EventData::new_u64(number as u64),
            epoll::EventFlags::OUT,
        ) {
            sender.fail(&error.into());
        }
    }

    fn ready(&mut self, number: usize, flags: epoll::EventFlags) {
        let sender = &mut self.senders[number];
        let error = if flags.contains(epoll::EventFlags::ERR) {
            sender.socket.take_error().ok().flatten()
        } else {
            None
        };
        let written = match error {
            Some(error) => Err(error),
            None => sender.write(),
        };
        if let Err(error) = written {
            sender.fail(&error);
        }
        if !matches!(sender.state, State::Connecting | State::Writing) {
            // Nothing more to write; the kernel sends what is buffered.
            let _ = epoll::delete(&self.epoll, &sender.socket);
        }
    }

    fn stop(&mut self, number: usize) {
        let sender = &mut self.senders[number];
        if matches!(sender.state, State::Connecting | State::Writing) {
            sender.close();
            let _ = epoll::delete(&self.epoll, &sender.socket);
        }
    }

    /// The measuring window begins (0) or ends (1).
    fn at_edge(&mut self, edge: usize) {
        for sender in &mut self.senders {
            let timeouts = sender.read_tcp_info().map(|info| u64::from(info.total_rto));
            sender.seen.timeouts[edge] = timeouts.unwrap_or(sender.seen.timeouts[0]);
        }
    }

    /// Samples all flows that have started.
    fn sample(&mut self, now_s: f64, keep: bool) {
        let inside = (self.window[0]..self.window[1]).contains(&now_s);
        for (number, sender) in self.senders.iter_mut().enumerate() {
            sender.seen.samples += u64::from(inside);
            let Some(info) = sender.read_tcp_info() else { continue };
            sender.note(&info, inside);
            if keep {
                let ssthresh =
                    (info.snd_ssthresh < NO_THRESHOLD).then(|| f64::from(info.snd_ssthresh));
                let srtt_s = (info.rtt > 0).then(|| f64::from(info.rtt) / 1e6);
                self.rows.push(Sample {
                    time_s: now_s,
                    flow: number as u32,
                    cwnd: f64::from(info.snd_cwnd),
                    ssthresh,
                    srtt_s,
                });
            }
        }
    }
}

impl Sender<'_> {
    /// Writes as much as the socket accepts.
    fn write(&mut self) -> io::Result<()> {
        self.state = State::Writing;
        loop {
            let left = self.plan.bytes.map_or(u64::MAX, |bytes| bytes - self.seen.written);
            if left == 0 {
                self.close();
                return Ok(());
            }
            let chunk = &ZEROS[..ZEROS.len().min(usize::try_from(left).unwrap_or(usize::MAX))];
            match self.socket.send(chunk) {
                Ok(count) => self.seen.written += count as u64,
                Err(error)
                    if matches!(
                        error.kind(),
                        io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted
                    ) =>
                {
                    return Ok(());
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// The application writes no more. The connection stays open, as a simulated one does, whose end
    /// sends no packet.
    fn close(&mut self) {
        self.state = State::Over;
        self.seen.is_over = true;
    }

    fn fail(&mut self, error: &io::Error) {
        self.state = State::Failed;
        self.seen.failed = Some(error.to_string());
    }

    fn read_tcp_info(&mut self) -> Option<TcpInfo> {
        if self.state == State::Waiting || self.state == State::Failed {
            return None;
        }
        let info = tcp_info(&self.socket).ok().filter(|info| info.state != CLOSED)?;
        self.seen.last = Some(info);
        Some(info)
    }

    fn note(&mut self, info: &TcpInfo, inside: bool) {
        let seen = &mut self.seen;
        let began = |state: u8| info.ca_state == state && self.ca_state != state;
        let (loss, mark) = (began(RECOVERY), began(CUT_BY_MARK));
        self.has_been_cut |= info.ca_state >= CUT_BY_MARK;
        self.ca_state = info.ca_state;
        // A rule's threshold is below the window that was cut, and windows exceed the largest
        // sample only by what sampling misses. After a timeout the threshold may still change, and
        // BBR keeps none.
        let has_threshold = info.snd_ssthresh < NO_THRESHOLD;
        let settled = self.has_been_cut && info.ca_state < LOSS && has_threshold;
        seen.largest_cwnd = seen.largest_cwnd.max(info.snd_cwnd);
        seen.implausible += u64::from(settled && info.snd_ssthresh > 2 * seen.largest_cwnd + 10);
        if info.snd_wnd > seen.largest_offer {
            seen.largest_offer = info.snd_wnd;
            seen.limited_growing_us = info.rwnd_limited;
        }
        if inside {
            seen.cwnd_sum += f64::from(info.snd_cwnd);
            seen.rto_sum_s += f64::from(info.rto) / 1e6;
            seen.rto_samples += 1;
            seen.fast_retransmits += u64::from(loss);
            seen.ecn_reductions += u64::from(mark);
        }
    }
}

/// Events in order of time; those of one time keep their order.
fn in_order(events: impl Iterator<Item = (f64, usize)>) -> Peekable<IntoIter<(f64, usize)>> {
    let mut events: Vec<_> = events.collect();
    events.sort_by(|a, b| a.0.total_cmp(&b.0));
    events.into_iter().peekable()
}

/// Opens a socket with the options of a flow.
fn open(plan: &Plan, number: usize, flow: &FlowPlan, algorithm: &str) -> Result<Socket, Failure> {
    let failed = |what: &'static str| move |error: io::Error| Failure::broken(what, error);
    let socket =
        Socket::new(Domain::IPV4, Type::STREAM, Some(Protocol::TCP)).map_err(failed("socket"))?;
    socket.set_nonblocking(true).map_err(failed("socket"))?;
    socket::reset_when_closed(&socket).map_err(failed("SO_LINGER"))?;
    socket.set_tcp_congestion(algorithm.as_bytes()).map_err(|error| unknown(algorithm, &error))?;
    socket.set_tcp_mss(flow.mss_bytes).map_err(failed("TCP_MAXSEG"))?;
    socket::set_unsent(&socket, plan.unsent_bytes).map_err(failed("TCP_NOTSENT_LOWAT"))?;
    if flow.pacing {
        socket::set_pacing(&socket).map_err(failed("SO_MAX_PACING_RATE"))?;
    }
    socket
        .bind(&SocketAddr::from((End::Source.address(number), 0)).into())
        .map_err(failed("address of a source"))?;
    Ok(socket)
}
