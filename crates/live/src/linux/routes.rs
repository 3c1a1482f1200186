//! Links and routes, by rtnetlink, in the network namespace of the current thread.

use netlink_packet_core::{
    NLM_F_ACK, NLM_F_CREATE, NLM_F_EXCL, NLM_F_REQUEST, NetlinkHeader, NetlinkMessage,
    NetlinkPayload,
};
use netlink_packet_route::link::{LinkAttribute, LinkFlags, LinkMessage};
use netlink_packet_route::route::{
    RouteAddress, RouteAttribute, RouteHeader, RouteMessage, RouteMetric, RouteProtocol,
    RouteScope, RouteType,
};
use netlink_packet_route::{AddressFamily, RouteNetlinkMessage};
use netlink_sys::{Socket, SocketAddr, protocols::NETLINK_ROUTE};
use std::io;
use std::net::Ipv4Addr;

/// RTAX_FEATURE_ECN (linux/rtnetlink.h): connections over the route request ECN.
const FEATURE_ECN: u32 = 1;
const LOCAL_TABLE: u8 = 255;

/// A route metric, which applies to connections over the route.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Metric {
    /// Initial window, packets.
    InitialWindow(u32),
    /// Minimum RTO, milliseconds.
    LeastTimeout(u32),
    /// Connections request ECN.
    Ecn,
    /// Connections that are accepted run DCTCP: its receiver accepts a SYN that is ECN-capable, and
    /// tells of each change of marks (RFC 8257 sections 3.2 and 3.4).
    Dctcp,
    /// Whether connections acknowledge every packet at once (no delayed ACKs).
    QuickAck(bool),
    /// Window that connections advertise at first, packets.
    InitialReceiveWindow(u32),
    /// Maximum advertised window, bytes. It is known before the window scale is negotiated, which
    /// keeps the scale small.
    Window(u32),
}

impl From<Metric> for RouteMetric {
    fn from(metric: Metric) -> Self {
        match metric {
            Metric::InitialWindow(packets) => Self::InitCwnd(packets),
            Metric::LeastTimeout(milliseconds) => Self::RtoMin(milliseconds),
            Metric::Ecn => Self::Features(FEATURE_ECN),
            Metric::Dctcp => Self::CcAlgo("dctcp".into()),
            Metric::QuickAck(on) => Self::QuickAck(on.into()),
            Metric::InitialReceiveWindow(packets) => Self::InitRwnd(packets),
            Metric::Window(bytes) => Self::Window(bytes),
        }
    }
}

/// What a device is brought up with; none keeps the kernel's.
#[derive(Clone, Copy, Debug, Default)]
pub struct Device {
    /// MTU, bytes.
    pub mtu: Option<u32>,
    /// Length of its queue, packets.
    pub queue: Option<u32>,
    /// Most segments that the stack hands to it as one.
    pub most_segments: Option<u32>,
}

/// A netlink socket for links and routes.
pub struct Routes {
    socket: Socket,
    sequence: u32,
}

impl Routes {
    /// Opens the socket in this thread's namespace.
    pub fn open() -> io::Result<Self> {
        let mut socket = Socket::new(NETLINK_ROUTE)?;
        socket.bind_auto()?;
        socket.connect(&SocketAddr::new(0, 0))?;
        Ok(Self { socket, sequence: 0 })
    }

    /// Brings a device up.
    pub fn up(&mut self, device: &str, about: Device) -> io::Result<()> {
        let mut link = LinkMessage::default();
        link.header.index = index(device)?;
        (link.header.flags, link.header.change_mask) = (LinkFlags::Up, LinkFlags::Up);
        link.attributes.extend(about.mtu.map(LinkAttribute::Mtu));
        link.attributes.extend(about.queue.map(LinkAttribute::TxQueueLen));
        link.attributes.extend(about.most_segments.map(LinkAttribute::GsoMaxSegs));
        self.ask(RouteNetlinkMessage::SetLink(link), 0)
    }

    /// Makes all addresses of a network local, so that sockets may bind to any of them.
    pub fn add_local(&mut self, network: Ipv4Addr, prefix: u8) -> io::Result<()> {
        let mut route = route(network, prefix, RouteType::Local);
        (route.header.table, route.header.scope) = (LOCAL_TABLE, RouteScope::Host);
        route.attributes.push(RouteAttribute::Oif(index("lo")?));
        self.ask(RouteNetlinkMessage::NewRoute(route), NLM_F_CREATE | NLM_F_EXCL)
    }

    /// Adds a route to one address through a device.
    pub fn add(
        &mut self,
        to: Ipv4Addr,
        device: &str,
        from: Ipv4Addr,
        metrics: Vec<Metric>,
    ) -> io::Result<()> {
        let mut route = route(to, 32, RouteType::Unicast);
        route.header.scope = RouteScope::Link;
        route.attributes.push(RouteAttribute::Oif(index(device)?));
        route.attributes.push(RouteAttribute::PrefSource(RouteAddress::Inet(from)));
        if !metrics.is_empty() {
            route.attributes.push(RouteAttribute::Metrics(
                metrics.into_iter().map(RouteMetric::from).collect(),
            ));
        }
        self.ask(RouteNetlinkMessage::NewRoute(route), NLM_F_CREATE | NLM_F_EXCL)
    }

    /// Sends a request and waits for the kernel's acknowledgement.
    fn ask(&mut self, message: RouteNetlinkMessage, flags: u16) -> io::Result<()> {
        self.sequence += 1;
        let mut header = NetlinkHeader::default();
        (header.flags, header.sequence_number) = (NLM_F_REQUEST | NLM_F_ACK | flags, self.sequence);
        let mut request = NetlinkMessage::new(header, NetlinkPayload::from(message));
        request.finalize();
        let mut bytes = vec![0; request.buffer_len()];
        request.serialize(&mut bytes);
        self.socket.send(&bytes, 0)?;
        let (answer, _) = self.socket.recv_from_full()?;
        let answer = NetlinkMessage::<RouteNetlinkMessage>::deserialize(&answer)
            .map_err(io::Error::other)?;
        match answer.payload {
            NetlinkPayload::Error(error) if error.code.is_some() => Err(error.to_io()),
            _ => Ok(()),
        }
    }
}

fn index(device: &str) -> io::Result<u32> {
    Ok(nix::net::if_::if_nametoindex(device)?)
}

fn route(to: Ipv4Addr, prefix: u8, kind: RouteType) -> RouteMessage {
    let mut route = RouteMessage::default();
    route.header = RouteHeader {
        address_family: AddressFamily::Inet,
        destination_prefix_length: prefix,
        table: RouteHeader::RT_TABLE_MAIN,
        protocol: RouteProtocol::Static,
        kind,
        ..RouteHeader::default()
    };
    route.attributes.push(RouteAttribute::Destination(RouteAddress::Inet(to)));
    route
}
