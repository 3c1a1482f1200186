//! Shares of a flow's time by what limited it.

use crate::endpoint::tcp::SenderEndpoint;
use crate::measure::window::MeasurementWindow;
use cwndlab_tcp::{Limit, LimitedTimes};
use serde::{Serialize, Serializer};

/// Shares in the order of [`Limit::ALL`]; none for a flow that was not there.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LimitedBy(pub Option<LimitedTimes>);

impl Serialize for LimitedBy {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Columns {
            limited_by_timeout: Option<f64>,
            limited_by_recovery: Option<f64>,
            limited_by_application: Option<f64>,
            limited_by_receiver: Option<f64>,
            limited_by_pacing: Option<f64>,
            limited_by_slow_start: Option<f64>,
            limited_by_cwnd: Option<f64>,
        }
        let share = |limit: Limit| self.0.map(|shares| shares[limit as usize]);
        Columns {
            limited_by_timeout: share(Limit::Timeout),
            limited_by_recovery: share(Limit::Recovery),
            limited_by_application: share(Limit::Application),
            limited_by_receiver: share(Limit::Receiver),
            limited_by_pacing: share(Limit::Pacing),
            limited_by_slow_start: share(Limit::SlowStart),
            limited_by_cwnd: share(Limit::Cwnd),
        }
        .serialize(serializer)
    }
}

/// Shares of the time of a flow within the window, in which its sender was limited for so long,
/// seconds. Idle after completion does not count, idle before more data does.
pub fn limited_by(
    endpoint: &SenderEndpoint,
    window: &MeasurementWindow,
    mut limited_s: LimitedTimes,
) -> LimitedBy {
    if endpoint.has_finished() {
        if endpoint.finish_s <= window.from_s {
            return LimitedBy(None);
        }
        let idle_s = (window.to_s - endpoint.finish_s).max(0.0);
        let application_s = &mut limited_s[Limit::Application as usize];
        *application_s = (*application_s - idle_s).max(0.0);
    }
    let all_s = limited_s.iter().sum::<f64>();
    LimitedBy((all_s > 0.0).then(|| limited_s.map(|seconds| seconds / all_s)))
}
