//! Bandwidth logs: text files of a rate over time, as measurements of mobile networks are
//! published.

mod column;
mod format;
mod log;
mod spec;
mod table;
mod time_unit;
mod value_unit;

pub use column::Column;
pub use format::LogFormat;
pub use log::{LogEnd, RateLog};
pub use spec::{Holds, LogSpec};
pub use time_unit::TimeUnit;
pub use value_unit::ValueUnit;
