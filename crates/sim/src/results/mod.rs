//! Results of a run. Names and units are defined here for JSON, Parquet, data frames and docs
//! alike.

mod accounts;
mod active;
mod applications;
#[cfg(test)]
mod by_hand;
mod cause;
mod connections;
mod explanation;
mod fairness;
mod figure;
mod flows;
mod limited_by;
mod links;
mod mean;
mod reasons;
mod rtt_reasons;
mod run;
mod shares;
mod side;
mod traces;
mod traffic;
mod unfinished;
mod window_reasons;

pub use accounts::{Account, CwndChangeRow, LinkDrops, PhaseRow};
pub use active::{active_goodput_bps, active_s};
pub use applications::{PageResult, VideoResult};
pub use cause::{Factor, GoodputCause};
pub use connections::{ConnectionResult, SubflowResult};
pub use explanation::{Explanation, GoodputParts, LossParts, PhasePart, RttParts, explain};
pub use fairness::Fairness;
pub use flows::{FlowIdentity, FlowResult};
pub use limited_by::LimitedBy;
pub use links::LinkResult;
pub(crate) use links::link_results;
pub(crate) use mean::mean;
pub use reasons::{Reason, Reasons};
pub use run::{RunResult, collect};
pub use traces::Traces;
pub(crate) use traffic::cross_results;
pub use traffic::{ArrivalResult, CrossResult};
