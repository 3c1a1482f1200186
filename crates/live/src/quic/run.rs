//! A live run over QUIC, from its request to its result.

use super::plan::{ENDPOINTS, TransferPlan};
use super::play::play;
use super::result;
use crate::events::{Event, Failure, send};
use crate::request::Request;
use crate::run_control::{end_with_parent, lock_live_runs, own_session};
use cwndlab_sim::NetworkPath;
use std::path::Path;
use std::time::Instant;

/// Runs a scenario and sends its result.
pub fn run(request: Request) -> Result<(), Failure> {
    let Request { scenario, parent, qlog, port } = request;
    end_with_parent(parent, libc::SIGKILL)?;
    ENDPOINTS.check(&scenario)?;
    let network_path = NetworkPath::new(&scenario);
    let qlog = qlog.as_deref().map(Path::new);
    let plan = TransferPlan::new(
        &scenario,
        network_path.flows(),
        crate::result::fastest_bps(&scenario),
        qlog,
    )?;
    if let Some(folder) = qlog.filter(|folder| !folder.is_dir()) {
        return Err(Failure::refused(format!("qlog: {} is not a folder", folder.display())));
    }
    let _lock = lock_live_runs()?;
    own_session();
    let begun = Instant::now();
    let measured = play(&scenario, &plan, port)?;
    let (run, traces) = result::json(&scenario, &plan, &measured, begun.elapsed().as_secs_f64());
    send(&Event::Result { run, traces });
    Ok(())
}
