//! Results of a run. Names and units are defined here for JSON, Parquet, data frames and docs
//! alike.

mod accounts;
mod active;
mod applications;
mod explanation;
mod fairness;
mod flows;
mod limited_by;
mod links;
mod mean;
mod run;
mod shares;
mod traces;
mod traffic;
mod unfinished;

pub use accounts::{Account, CwndChangeRow, LinkDrops, PhaseRow};
pub use active::{active_goodput_bps, active_s};
pub use applications::{PageResult, VideoResult};
pub use explanation::{Explanation, GoodputParts, LossParts, PhasePart, RttParts, explain};
pub use fairness::Fairness;
pub use flows::{FlowIdentity, FlowResult};
pub use limited_by::LimitedBy;
pub use links::LinkResult;
pub(crate) use links::link_results;
pub use run::{RunResult, collect};
pub use traces::Traces;
pub(crate) use traffic::cross_results;
pub use traffic::{ArrivalResult, CrossResult};
