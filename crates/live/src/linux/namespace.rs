//! Anonymous network namespaces, each of one thread: a namespace and its devices and connections
//! end with the thread.

use super::congestion_controls::unknown;
use super::plan::{FlowPlan, Plan};
use super::routes::{Device, Metric, Routes};
use crate::events::Failure;
use cwndlab_scenario::LinuxSettings;
use cwndlab_units::Time;
use nix::sched::{CloneFlags, setns, unshare};
use std::fs;
use std::io::ErrorKind;
use std::net::Ipv4Addr;
use std::os::fd::{AsRawFd, OwnedFd};

/// The end of the path that a namespace represents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The senders of the flows.
    Source,
    /// The receivers of the flows.
    Sink,
}

impl End {
    /// Name of the TUN device.
    pub const fn device(self) -> &'static str {
        match self {
            Self::Source => "cwndlab-source",
            Self::Sink => "cwndlab-sink",
        }
    }

    /// First two bytes of the addresses.
    pub const fn network(self) -> [u8; 2] {
        match self {
            Self::Source => [10, 64],
            Self::Sink => [10, 65],
        }
    }

    /// Address of a flow.
    pub fn address(self, flow: usize) -> Ipv4Addr {
        let ([a, b], [c, d]) = (self.network(), ((flow + 1) as u16).to_be_bytes());
        Ipv4Addr::new(a, b, c, d)
    }

    fn other(self) -> Self {
        match self {
            Self::Source => Self::Sink,
            Self::Sink => Self::Source,
        }
    }
}

/// Queue length of the TUN devices, packets: a second of 240 Mbit/s. Drops there are outside the
/// emulated network.
const DEVICE_QUEUE: u32 = 20_000;

/// Moves this thread into a new network namespace with a TUN device and the routes of all flows;
/// returns the device.
pub fn enter(end: End, plan: &Plan) -> Result<OwnedFd, Failure> {
    let doing = |what: &'static str| move |error: std::io::Error| Failure::broken(what, error);
    unshare(CloneFlags::CLONE_NEWNET).map_err(|error| match error {
        nix::Error::EPERM => Failure::refused(
            "network namespace: a live run needs root (CAP_SYS_ADMIN and CAP_NET_ADMIN)",
        ),
        other => Failure::broken("network namespace", other),
    })?;
    settings(end, plan)?;
    let device = open(end.device())?;
    let mut routes = Routes::open().map_err(doing("routes"))?;
    routes.up("lo", Device::default()).map_err(doing("loopback device"))?;
    // IPv6 sends packets, such as router solicitations, which do not belong to a flow.
    write(&format!("ipv6/conf/{}/disable_ipv6", end.device()), "1").or_else(|failure| {
        if fs::exists("/proc/sys/net/ipv6").unwrap_or(true) { Err(failure) } else { Ok(()) }
    })?;
    let about = Device {
        mtu: Some(plan.mtu),
        queue: Some(DEVICE_QUEUE),
        most_segments: plan.settings.gso_max_segs,
    };
    routes.up(end.device(), about).map_err(doing("TUN device"))?;
    let [a, b] = end.network();
    routes.add_local(Ipv4Addr::new(a, b, 0, 0), 16).map_err(doing("local route"))?;
    for (number, flow) in plan.flows.iter().enumerate() {
        let metrics = metrics(end, flow, &plan.settings);
        routes
            .add(end.other().address(number), end.device(), end.address(number), metrics)
            .map_err(|error| match flow.dctcp {
                true => unknown("dctcp", &error),
                false => Failure::broken("route", error),
            })?;
    }
    Ok(device)
}

/// Route metrics of a flow: its plan's, then the scenario's `[linux]`. Of two the kernel takes the
/// last.
fn metrics(end: End, flow: &FlowPlan, settings: &LinuxSettings) -> Vec<Metric> {
    let planned: Vec<Metric> = match end {
        End::Source => {
            let mut metrics = vec![Metric::InitialWindow(flow.initial_window)];
            metrics.extend(flow.min_rto_ms.map(Metric::LeastTimeout));
            metrics.extend(flow.ecn.then_some(Metric::Ecn));
            metrics
        }
        End::Sink => flow
            .quick_ack
            .then_some(Metric::QuickAck(true))
            .into_iter()
            .chain(flow.dctcp.then_some(Metric::Dctcp))
            .chain(flow.window_bytes.map(Metric::Window))
            .collect(),
    };
    let least_timeout = |time: Time| Metric::LeastTimeout((1e3 * time.seconds()).round() as u32);
    let named = [
        settings.initcwnd.map(Metric::InitialWindow),
        settings.initrwnd.map(Metric::InitialReceiveWindow),
        settings.rto_min.map(least_timeout),
        settings.quickack.map(Metric::QuickAck),
    ];
    planned.into_iter().chain(named.into_iter().flatten()).collect()
}

/// A network namespace that this thread was in, and can enter again.
pub struct NetworkNamespace(fs::File);

impl NetworkNamespace {
    /// The namespace of this thread.
    pub fn current() -> Result<Self, Failure> {
        fs::File::open("/proc/thread-self/ns/net")
            .map(Self)
            .map_err(|error| Failure::broken("network namespace", error))
    }

    /// Moves this thread into the namespace.
    pub fn enter(&self) -> Result<(), Failure> {
        setns(&self.0, CloneFlags::CLONE_NEWNET)
            .map_err(|error| Failure::broken("network namespace", error))
    }
}

/// Sets the sysctls of this namespace; they have no effect outside.
fn settings(end: End, plan: &Plan) -> Result<(), Failure> {
    let switch = |on: bool| if on { "1" } else { "0" };
    let receive_buffers = format!("4096 131072 {}", plan.receive_buffer_bytes);
    let send_buffers = format!("4096 {0} {0}", plan.send_buffer_bytes);
    // At the source the route decides whether a flow requests ECN; the sink accepts every request.
    let ecn = if end == End::Source { "0" } else { "2" };
    for (name, value) in [
        ("ipv4/tcp_no_metrics_save", "1"),
        ("ipv4/tcp_slow_start_after_idle", "0"),
        ("ipv4/tcp_sack", switch(plan.sack)),
        ("ipv4/tcp_timestamps", switch(plan.timestamps)),
        ("ipv4/tcp_ecn", ecn),
        ("ipv4/tcp_rmem", &receive_buffers),
        ("ipv4/tcp_wmem", &send_buffers),
        ("ipv4/conf/all/rp_filter", "0"),
        ("ipv4/conf/default/rp_filter", "0"),
    ] {
        write(name, value)?;
    }
    for (name, value) in &plan.settings.sysctls {
        set(name, &value.to_string())?;
    }
    Ok(())
}

/// Sets a sysctl of the scenario's `[linux]`.
fn set(name: &str, value: &str) -> Result<(), Failure> {
    fs::write(format!("/proc/sys/net/ipv4/{name}"), value).map_err(|error| {
        let why = match error.kind() {
            ErrorKind::NotFound => "this kernel has no such setting".to_string(),
            ErrorKind::PermissionDenied => {
                "is one setting of the whole kernel, which a run leaves alone".to_string()
            }
            _ => format!("the kernel does not take {value}: {error}"),
        };
        Failure::refused(format!("linux.{name}: {why}"))
    })
}

fn write(name: &str, value: &str) -> Result<(), Failure> {
    let path = format!("/proc/sys/net/{name}");
    fs::write(&path, value).map_err(|error| {
        Failure::refused(format!(
            "{path} cannot be set to {value} in the network namespace of the run: {error}"
        ))
    })
}

/// Opens a new TUN device in this thread's namespace.
fn open(name: &str) -> Result<OwnedFd, Failure> {
    const PATH: &str = "/dev/net/tun";
    let failed = |error: std::io::Error| {
        Failure::refused(format!(
            "{PATH}: {error}; a live run makes TUN devices (modprobe tun, or --device {PATH} of \
             the container)"
        ))
    };
    let file = fs::OpenOptions::new().read(true).write(true).open(PATH).map_err(failed)?;
    super::socket::make_tun(file.as_raw_fd(), name).map_err(|error| {
        Failure::refused(format!(
            "TUN device {name}: {error}; a live run needs root (CAP_NET_ADMIN)"
        ))
    })?;
    let device = OwnedFd::from(file);
    rustix::io::ioctl_fionbio(&device, true)
        .map_err(|error| Failure::broken("TUN device", error))?;
    Ok(device)
}

/// Counters of a namespace: drops outside the emulated network, checksum errors, TCP events.
#[derive(Clone, Debug, Default, serde::Serialize)]
pub struct Losses {
    /// Packets that the device or the sockets dropped.
    pub dropped_packets: u64,
    /// The same by counter.
    pub dropped: std::collections::BTreeMap<String, u64>,
    /// Packets with a wrong checksum.
    pub broken_packets: u64,
    /// TCP events by name.
    pub events: std::collections::BTreeMap<String, u64>,
}

/// Counters of /proc/net/snmp and /proc/net/netstat for packets that a namespace dropped.
const DROPS: [&str; 6] = [
    "TcpExt.TCPBacklogDrop",
    "TcpExt.TCPRcvQDrop",
    "TcpExt.TCPZeroWindowDrop",
    "TcpExt.PruneCalled",
    "Ip.InDiscards",
    "Ip.OutDiscards",
];

/// Counters of /proc/net/netstat for events of loss recovery.
const EVENTS: [&str; 10] = [
    "TCPTimeouts",
    "TCPLossProbes",
    "TCPFastRetrans",
    "TCPSlowStartRetrans",
    "TCPSackRecovery",
    "TCPRenoRecovery",
    "TCPLossUndo",
    "TCPFullUndo",
    "TCPSpuriousRTOs",
    "TCPDSACKUndo",
];

/// Reads the counters of this thread's namespace.
pub fn losses(end: End) -> std::io::Result<Losses> {
    let mut losses = Losses::default();
    // Columns of a device (Documentation/networking/statistics): receive bytes, packets, errors,
    // drops, ... eight, then transmit.
    let devices = fs::read_to_string("/proc/thread-self/net/dev")?;
    if let Some((_, numbers)) = devices
        .lines()
        .filter_map(|line| line.trim().split_once(':'))
        .find(|(name, _)| *name == end.device())
    {
        let numbers: Vec<u64> =
            numbers.split_whitespace().filter_map(|number| number.parse().ok()).collect();
        for (column, name) in [(3, "device, from the emulator"), (11, "device, to the emulator")] {
            if let Some(&count @ 1..) = numbers.get(column) {
                losses.dropped.insert(name.into(), count);
            }
        }
    }
    let mut counters = tables(&fs::read_to_string("/proc/thread-self/net/snmp")?);
    counters.extend(tables(&fs::read_to_string("/proc/thread-self/net/netstat")?));
    let sum = |names: &[&str]| names.iter().filter_map(|name| counters.get(*name)).sum::<u64>();
    for name in DROPS {
        if let Some(&count @ 1..) = counters.get(name) {
            losses.dropped.insert(name.into(), count);
        }
    }
    losses.dropped_packets = losses.dropped.values().sum();
    losses.broken_packets += sum(&["Tcp.InCsumErrors", "Ip.InHdrErrors"]);
    losses.events = EVENTS
        .iter()
        .filter_map(|name| Some((name.to_string(), *counters.get(&format!("TcpExt.{name}"))?)))
        .collect();
    Ok(losses)
}

/// Parses pairs of lines, names and numbers, each with the table's name in front.
fn tables(text: &str) -> std::collections::HashMap<String, u64> {
    let lines: Vec<&str> = text.lines().collect();
    let mut all = std::collections::HashMap::new();
    for pair in lines.chunks_exact(2) {
        let Some((table, names)) = pair[0].split_once(':') else { continue };
        let numbers = pair[1].split_once(':').map_or("", |(_, numbers)| numbers);
        for (name, number) in names.split_whitespace().zip(numbers.split_whitespace()) {
            all.insert(format!("{table}.{name}"), number.parse().unwrap_or(0));
        }
    }
    all
}
