//! The receivers: one thread in the sink namespace accepts all connections and discards their data.

use super::namespace::End;
use super::plan::Plan;
use super::socket;
use super::source::PORT;
use crate::events::Failure;
use rustix::event::{Timespec, epoll};
use socket2::{Domain, Protocol, Socket, Type};
use std::io;
use std::net::{Ipv4Addr, Shutdown, SocketAddr};
use std::os::fd::{AsFd, OwnedFd};
use std::time::{Duration, Instant};

/// Bytes per read.
const READ_BYTES: usize = 4 << 20;
/// Pause between polls in real time: the kernel acknowledges packets without this thread, which
/// needs no wake-up for each.
const PAUSE: Duration = Duration::from_micros(500);
/// The epoll data of the listening socket.
const LISTENER: u64 = u64::MAX;

/// All receivers, in the sink namespace.
pub struct Sinks<'a> {
    plan: &'a Plan,
    listener: Socket,
    connections: Vec<Option<Socket>>,
    epoll: OwnedFd,
    /// In virtual time, flows with packets that have arrived since their last read.
    arrived: Vec<usize>,
}

impl<'a> Sinks<'a> {
    /// Opens the listening socket.
    pub fn new(plan: &'a Plan) -> Result<Self, Failure> {
        let failed = |error: io::Error| Failure::broken("listening socket", error);
        let listener =
            Socket::new(Domain::IPV4, Type::STREAM, Some(Protocol::TCP)).map_err(failed)?;
        listener.set_nonblocking(true).map_err(failed)?;
        // The MSS option of the SYN-ACK, so that both directions use the same.
        let mss = plan.flows.iter().map(|flow| flow.mss_bytes).max().unwrap_or(1460);
        listener.set_tcp_mss(mss).map_err(failed)?;
        listener.bind(&SocketAddr::from((Ipv4Addr::UNSPECIFIED, PORT)).into()).map_err(failed)?;
        listener.listen(plan.flows.len().max(16) as i32).map_err(failed)?;
        let epoll =
            epoll::create(epoll::CreateFlags::CLOEXEC).map_err(|error| failed(error.into()))?;
        epoll::add(&epoll, &listener, epoll::EventData::new_u64(LISTENER), epoll::EventFlags::IN)
            .map_err(|error| failed(error.into()))?;
        let connections = plan.flows.iter().map(|_| None).collect();
        Ok(Self { plan, listener, connections, epoll, arrived: Vec::new() })
    }

    /// Discards received data until `end_s` seconds after `begin`.
    pub fn play(mut self, begin: Instant, end_s: f64) -> io::Result<()> {
        let mut events = Vec::with_capacity(self.connections.len() + 1);
        loop {
            let left_s = end_s - Instant::now().saturating_duration_since(begin).as_secs_f64();
            if left_s <= 0.0 {
                return Ok(());
            }
            let wait = Duration::from_secs_f64(left_s.min(1.0));
            let timeout =
                Timespec { tv_sec: wait.as_secs() as i64, tv_nsec: wait.subsec_nanos().into() };
            events.clear();
            match epoll::wait(
                self.epoll.as_fd(),
                rustix::buffer::spare_capacity(&mut events),
                Some(&timeout),
            ) {
                Ok(_) | Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
            for event in &events {
                match event.data.u64() {
                    LISTENER => self.accept()?,
                    number => self.take(number as usize),
                }
            }
            std::thread::sleep(PAUSE);
        }
    }

    /// Notes that a packet of a flow arrives now.
    pub fn arrives(&mut self, number: usize) {
        if !self.arrived.contains(&number) {
            self.arrived.push(number);
        }
    }

    /// In virtual time, reads what has arrived.
    pub fn serve(&mut self) -> io::Result<()> {
        for number in std::mem::take(&mut self.arrived) {
            if self.connections[number].is_none() {
                self.accept()?;
            }
            self.take(number);
        }
        Ok(())
    }

    fn accept(&mut self) -> io::Result<()> {
        loop {
            let (connection, _) = match self.listener.accept() {
                Ok(accepted) => accepted,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                Err(error) => return Err(error),
            };
            let Some(number) = self.number(&connection) else { continue };
            socket::reset_when_closed(&connection)?;
            if let Some(bytes) = self.plan.flows[number].window_bytes {
                socket::set_buffer(&connection, bytes)?;
                socket::set_window(&connection, bytes)?;
            }
            epoll::add(
                &self.epoll,
                &connection,
                epoll::EventData::new_u64(number as u64),
                epoll::EventFlags::IN,
            )?;
            self.connections[number] = Some(connection);
        }
    }

    /// The flow of a connection, which its local address identifies.
    fn number(&self, connection: &Socket) -> Option<usize> {
        let address = *connection.local_addr().ok()?.as_socket_ipv4()?.ip();
        (0..self.connections.len()).find(|&number| End::Sink.address(number) == address)
    }

    fn take(&mut self, number: usize) {
        let Some(connection) = &self.connections[number] else { return };
        match socket::discard(connection, READ_BYTES) {
            Ok(1..) => {
                // If the connection has failed, the next read returns the error.
                let _ = self.plan.flows[number]
                    .window_bytes
                    .map(|bytes| socket::set_window(connection, bytes));
            }
            Err(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted
                ) => {}
            // The source has closed or the connection has failed: this end closes it, too. Both
            // fail if nothing is left to close.
            Ok(0) | Err(_) => {
                let _ = connection.shutdown(Shutdown::Write);
                let _ = epoll::delete(&self.epoll, connection);
            }
        }
    }
}
