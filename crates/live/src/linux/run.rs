//! A live run with Linux TCP, from its request to its result.

use super::clock::Clock;
use super::congestion_controls::CongestionControls;
use super::plan::{Plan, check};
use super::play::play;
use super::play_virtual::play as play_virtual;
use super::result;
use crate::events::{Event, Failure, send};
use crate::request::Request;
use crate::run_control::{end_with_parent, lock_live_runs, own_session};
use cwndlab_sim::NetworkPath;
use std::time::Instant;

/// Runs a scenario and sends its result.
pub fn run(request: Request, clock: Clock) -> Result<(), Failure> {
    let Request { scenario, parent, .. } = request;
    end_with_parent(parent, libc::SIGKILL)?;
    if !nix::unistd::geteuid().is_root() {
        return Err(Failure::refused(
            "a live run needs root: it makes network namespaces and TUN devices (CAP_SYS_ADMIN, \
             CAP_NET_ADMIN)",
        ));
    }
    check(&scenario, clock)?;
    let emulator_plan = NetworkPath::new(&scenario);
    let fastest_bps = crate::result::fastest_bps(&scenario);
    let plan = Plan::new(&scenario, emulator_plan.flows(), fastest_bps, clock)?;
    let _lock = lock_live_runs()?;
    own_session();
    let algorithms = CongestionControls::new(&scenario, clock)?;
    let begun = Instant::now();
    let run = match clock {
        Clock::Real => play(&scenario, &plan, &algorithms),
        Clock::Virtual => play_virtual(&scenario, &plan, &algorithms),
    }?;
    let reported = algorithms.report()?;
    let wall_s = begun.elapsed().as_secs_f64();
    let (run, traces) = result::json(&scenario, &plan, &run, &reported, wall_s);
    send(&Event::Result { run, traces });
    Ok(())
}

/// Sends the limits of a valid run.
pub fn limits() -> Result<(), Failure> {
    send(&Event::Answer { answer: result::limits() });
    Ok(())
}
