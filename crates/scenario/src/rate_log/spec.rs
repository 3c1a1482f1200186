//! The table `{ kind = "log", ... }` of a scenario.

use super::column::Column;
use super::format::LogFormat;
use super::log::{Columns, LogEnd, RateLog, Timing};
use super::time_unit::TimeUnit;
use super::value_unit::ValueUnit;
use crate::TraceStart;
use crate::check::conditions::{Checked, at_least, conflict};
use crate::error::ScenarioError;
use cwndlab_units::message::one_of;
use cwndlab_units::{Rate, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// When the value of a row holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Holds {
    /// From the time of its row to that of the next.
    From,
    /// From the time of the row before to that of its own.
    Until,
}

/// A recorded rate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LogSpec {
    /// File name, relative to the scenario file; it may be compressed by gzip.
    pub file: String,
    /// Form of a public dataset. It says what the keys up to `holds` are, where they are absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub format: Option<LogFormat>,
    /// Column of the times, by number from 1 on or by name; 1 when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time: Option<Column>,
    /// Unit of the times; "s" when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_unit: Option<TimeUnit>,
    /// Column of the time that each row took, in the unit of times (with "date" in seconds).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub elapsed: Option<Column>,
    /// Or: the time that every row took, without a column of times.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub every: Option<Time>,
    /// Column of the rates or amounts; 2 when absent, 1 with `every`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<Column>,
    /// Its unit: a rate, or an amount (B, kB, MB) in the time of a row. Required without `format`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit: Option<ValueUnit>,
    /// Whether a value holds "from" its time on, or "until" it, since the row before. When absent
    /// rates hold from, amounts until.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub holds: Option<Holds>,
    /// Only rows with this text in this column.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub only: Option<(Column, String)>,
    /// What follows the last row: the log again ("repeat"), or its last rate ("hold").
    #[serde(default)]
    pub end: LogEnd,
    /// Time in the log at which the run starts, in whole milliseconds, or "random": drawn from the
    /// seed.
    #[serde(default, skip_serializing_if = "TraceStart::is_beginning")]
    pub start: TraceStart,
    /// The parsed file.
    #[serde(skip)]
    #[schemars(skip)]
    log: RateLog,
}

impl LogSpec {
    /// Its rates, once the file is read.
    pub fn log(&self) -> &RateLog {
        &self.log
    }

    /// What reads its file. `key`: the key that it stands at.
    pub(crate) fn parser(
        &self,
        key: &str,
    ) -> Result<impl Fn(&str) -> Result<RateLog, String> + use<>, ScenarioError> {
        let columns = self.columns(key)?;
        Ok(move |text: &str| RateLog::parse(text, &columns))
    }

    /// The columns to read, of its keys and its format.
    fn columns(&self, key: &str) -> Result<Columns, ScenarioError> {
        let form = self.format.map(LogFormat::form);
        let form = form.as_ref();
        let Some(unit) = self.unit.or(form.map(|form| form.unit)) else {
            let names = one_of(ValueUnit::NAMES);
            return conflict(
                format!("{key}.unit"),
                format!("`unit` is required when `format` is absent: expected {names}"),
            );
        };
        for (name, is_given) in [("time", self.time.is_some()), ("elapsed", self.elapsed.is_some())]
        {
            if is_given && self.every.is_some() {
                let message = format!("`every` must not be given when `{name}` is");
                return conflict(format!("{key}.every"), message);
            }
        }
        let elapsed = self.elapsed.clone().or(form.and_then(|form| form.elapsed.clone()));
        let time = self.time.clone().or(form.map(|form| form.time.clone()));
        let is_until = match self.holds {
            Some(holds) => holds == Holds::Until,
            None => form.map_or(unit.is_amount(), |form| form.is_until),
        };
        let timing = match (self.every, elapsed) {
            (Some(every), _) => {
                at_least(format!("{key}.every"), every, Time::ns(1_000))?;
                Timing::Every(every.nanoseconds())
            }
            (None, Some(column)) => Timing::Elapsed(column),
            (None, None) if is_until => Timing::Until,
            (None, None) => Timing::From,
        };
        let has_times = self.every.is_none();
        Ok(Columns {
            // Rows of known length need no times; those of a form are checked.
            time: match &timing {
                Timing::Every(_) => None,
                Timing::Elapsed(_) => time,
                Timing::From | Timing::Until => Some(time.unwrap_or(Column::Number(1))),
            },
            time_unit: self
                .time_unit
                .or(form.map(|form| form.time_unit))
                .unwrap_or(TimeUnit::Seconds),
            timing,
            value: self
                .value
                .clone()
                .or(form.map(|form| form.value.clone()))
                .unwrap_or(Column::Number(if has_times { 2 } else { 1 })),
            unit,
            only: self.only.clone(),
        })
    }

    /// Takes what the file has.
    pub(crate) fn take(&mut self, log: RateLog) {
        self.log = log;
    }

    /// Checks its parameters, once the file is read.
    pub(crate) fn check(&self, key: &str) -> Checked {
        self.start.check(&format!("{key}.start"), Time::ns(self.log.length_ns()))
    }

    /// The shortest mean time between changes; none where they end.
    pub fn mean_piece(&self) -> Option<Time> {
        self.end.repeats().then(|| self.log.mean_piece())
    }

    /// The smallest rate; 1 bit/s where it has outages.
    pub fn smallest(&self) -> Rate {
        Rate::bits_per_second(self.log.smallest_bps())
    }
}
