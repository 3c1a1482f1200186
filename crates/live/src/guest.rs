//! The first process of a user-mode Linux in virtual time: it mounts what a run needs, runs the
//! request in a folder of the host, writes events into a file there, and powers the kernel off.

use crate::events::{Event, Failure, send};
use crate::linux;
use crate::linux::socket::reseed_kernel;
use crate::request;
use nix::mount::{MsFlags, mount};
use nix::sys::reboot::{RebootMode, reboot};
use std::fs;
use std::path::Path;

/// The request of the run, in its folder.
pub const REQUEST: &str = "request.json";
/// The events of the run, in its folder.
pub const EVENTS: &str = "events.jsonl";

/// Runs the request in the folder that the only argument names. Returns only if this is not the
/// first process.
pub fn run(arguments: &[String]) -> Result<(), Failure> {
    let [folder] = arguments else {
        return Err(Failure::refused("guest: expected one folder"));
    };
    if std::process::id() != 1 {
        return Err(Failure::refused("guest: is the first process of a kernel in virtual time"));
    }
    if let Err(Failure { message, code }) = run_request(Path::new(folder)) {
        send(&Event::Error { message: &message, code });
    }
    reboot(RebootMode::RB_POWER_OFF)
        .map(|never| match never {})
        .map_err(|error| Failure::broken("power off", error))
}

fn run_request(folder: &Path) -> Result<(), Failure> {
    for (kind, at) in [("proc", "/proc"), ("sysfs", "/sys"), ("devtmpfs", "/dev")] {
        mount_at(kind, Path::new(at), "")?;
    }
    reseed_kernel().map_err(|error| Failure::broken("keys of random numbers", error))?;
    // The host's files are read-only but for this folder.
    mount_at("hostfs", folder, &folder.to_string_lossy())?;
    let failed = |error| Failure::broken("folder of the run", error);
    let events = fs::File::create(folder.join(EVENTS)).map_err(failed)?;
    rustix::stdio::dup2_stdout(&events).map_err(|error| failed(error.into()))?;
    let text = fs::read_to_string(folder.join(REQUEST)).map_err(failed)?;
    match request::parse(&text)? {
        Some(request) => linux::run(request, linux::Clock::Virtual),
        None => about(),
    }
}

/// Sends what the kernel says of itself.
fn about() -> Result<(), Failure> {
    const CONTROLS: &str = "/proc/sys/net/ipv4/tcp_available_congestion_control";
    let failed = |error| Failure::broken(CONTROLS, error);
    let controls = fs::read_to_string(CONTROLS).map_err(failed)?;
    let name = nix::sys::utsname::uname().map_err(|error| failed(error.into()))?;
    send(&Event::Answer {
        answer: serde_json::json!({
            "release": name.release().to_string_lossy(),
            "congestion_controls": controls.split_whitespace().collect::<Vec<_>>(),
        }),
    });
    Ok(())
}

fn mount_at(kind: &str, at: &Path, data: &str) -> Result<(), Failure> {
    // A kernel that has mounted its devices itself says that they are busy.
    mount(Some("none"), at, Some(kind), MsFlags::empty(), Some(data))
        .or_else(|error| if error == nix::Error::EBUSY { Ok(()) } else { Err(error) })
        .map_err(|error| Failure::broken(&format!("mount of {kind} at {}", at.display()), error))
}
