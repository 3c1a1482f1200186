//! Transfers that were not complete at the end of a run.

use crate::build::BuiltNetwork;
use crate::endpoint::tcp::{ApplicationState, SenderEndpoint};
use crate::endpoint::transfer::{ActiveTransfer, Frame};
use crate::engine::state::Engine;

use crate::measure::trace::Tracer;
use crate::measure::window::MeasurementWindow;
use cwndlab_scenario::Scenario;
use cwndlab_tcp::NEVER;

/// Frames of a group that started in the window and did not arrive within their deadline; none
/// without a deadline. `times`: of those that arrived.
pub fn late_frames<T: Tracer>(
    built: &BuiltNetwork<T>,
    scenario: &Scenario,
    group: usize,
    times: &[f64],
) -> Option<u64> {
    let name = &built.transfer_groups[group];
    let spec = scenario.flows.iter().find(|flow| flow.name == *name)?;
    let deadline_s = spec.frames.as_ref()?.deadline?.seconds();
    let overdue_s = scenario.duration.seconds() - deadline_s;
    let window = &built.engine.network.receivers.window;
    let pending = pending_frames(&built.engine, group)
        .filter(|frame| window.contains(frame.start_s) && frame.start_s < overdue_s);
    let late = times.iter().filter(|&&fct_s| fct_s > deadline_s).count();
    Some((late + pending.count()) as u64)
}

/// Frames of a group that have not arrived.
fn pending_frames<T: Tracer>(engine: &Engine<T>, group: usize) -> impl Iterator<Item = &Frame> {
    let receivers = engine.network.receivers.list.iter();
    receivers
        .filter_map(|receiver| receiver.frames.as_deref())
        .filter(move |frames| frames.group as usize == group)
        .flat_map(|frames| &frames.pending)
}

/// Transfers of a group that started in the window and were not complete at the end of
/// the run.
pub fn unanswered<T: Tracer>(engine: &Engine<T>, group: usize, window: &MeasurementWindow) -> u64 {
    let busy = |endpoint: &SenderEndpoint| {
        let awaits_request = |app: &ApplicationState| {
            app.request_s < NEVER && !app.transfer.as_ref().is_some_and(ActiveTransfer::is_object)
        };
        endpoint.finish_s == NEVER && !endpoint.app.as_deref().is_some_and(awaits_request)
    };
    let in_progress = |endpoint: &SenderEndpoint| {
        endpoint.transfer().is_some_and(|transfer| {
            let is_open = transfer.is_truncated || busy(endpoint);
            transfer.group as usize == group
                && !transfer.is_frame()
                && is_open
                && window.contains(transfer.start_s)
        })
    };
    let frames = pending_frames(engine, group).filter(|frame| window.contains(frame.start_s));
    (engine.senders.iter().filter(|endpoint| in_progress(endpoint)).count() + frames.count()) as u64
}
