//! The rates of a bandwidth log: one after the other, each for the time of its row.

use super::column::Column;
use super::table::Table;
use super::time_unit::TimeUnit;
use super::value_unit::ValueUnit;
use cwndlab_units::message::invalid_value;
use cwndlab_units::{Rate, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Largest rate, bit/s, as of all rates of a scenario.
const MAX_BPS: f64 = 1e13;
/// Longest log: the longest time that a scenario may name.
const MAX_LENGTH_NS: u128 = (Time::LIMIT_S as u128) * 1_000_000_000;
const EXAMPLE: &str = "rows of a time and a rate, such as \"0,4.2\"";
/// Length of what never changes, nanoseconds: a sum of several still fits.
const ENDLESS_NS: u64 = u64::MAX / 4;

/// What follows the last row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LogEnd {
    /// The log again.
    #[default]
    Repeat,
    /// Its last rate.
    Hold,
}

impl LogEnd {
    /// Whether the log is a cycle.
    pub fn repeats(&self) -> bool {
        *self == Self::Repeat
    }
}

/// How long the rows are.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Timing {
    /// All so long, nanoseconds.
    Every(u64),
    /// As this column says.
    Elapsed(Column),
    /// From their times to those of the next; the last is as long as the one before it.
    From,
    /// From the times of those before to their own; the first only says when the log starts.
    Until,
}

/// The columns to read.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Columns {
    pub time: Option<Column>,
    pub time_unit: TimeUnit,
    pub timing: Timing,
    pub value: Column,
    pub unit: ValueUnit,
    /// A column, and the text there of the rows that count.
    pub only: Option<(Column, String)>,
}

/// A row: the number of its line, its time or its length, and its value.
struct Row {
    line: usize,
    at_ns: i128,
    value: f64,
}

/// Recorded rates.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RateLog {
    /// Ends, nanoseconds since the start of the log, and rates, bit/s.
    pieces: Arc<[(u64, u64)]>,
}

impl RateLog {
    /// Parses a text file.
    pub(crate) fn parse(text: &str, columns: &Columns) -> Result<Self, String> {
        let rows = rows(&Table::new(text), columns)?;
        let (mut end_ns, mut pieces) = (0_u128, Vec::with_capacity(rows.len()));
        for (line, length_ns, value) in lengths(rows, columns)? {
            end_ns += u128::from(length_ns);
            if end_ns > MAX_LENGTH_NS {
                return Err(format!("line {line}: is later than {} s after the start", 1e7));
            }
            let bps = columns.unit.bps(value, length_ns);
            if bps > MAX_BPS {
                let expected = "a rate of at most 10 Tbit/s";
                let said = invalid_value(format!("{value} {}", columns.unit.name()), expected);
                return Err(format!("line {line}: {}: {said}", columns.value));
            }
            pieces.push((end_ns as u64, bps.round() as u64));
        }
        if pieces.iter().all(|piece| piece.1 == 0) {
            return Err("has only rates of 0: expected one above 0".into());
        }
        Ok(Self { pieces: pieces.into() })
    }

    /// Length of the log, nanoseconds.
    pub fn length_ns(&self) -> u64 {
        self.pieces.last().map_or(0, |piece| piece.0)
    }

    /// The rate at a time since the start of the log, bit/s, and how long it holds, nanoseconds.
    pub fn piece(&self, at_ns: u64, end: LogEnd) -> (u64, u64) {
        let place_ns = if end.repeats() { at_ns % self.length_ns().max(1) } else { at_ns };
        let next = self.pieces.partition_point(|piece| piece.0 <= place_ns);
        match (self.pieces.get(next), self.pieces.last()) {
            (Some(&(end_ns, bps)), _) => (bps, end_ns - place_ns),
            (None, Some(&(_, bps))) => (bps, ENDLESS_NS),
            (None, None) => (0, ENDLESS_NS),
        }
    }

    /// Mean rate, outages included.
    pub fn mean(&self) -> Rate {
        let mut begin_ns = 0;
        let mut bits_ns: u128 = 0;
        for &(end_ns, bps) in self.pieces.iter() {
            bits_ns += u128::from(end_ns - begin_ns) * u128::from(bps);
            begin_ns = end_ns;
        }
        Rate::bits_per_second((bits_ns / u128::from(begin_ns.max(1))) as u64)
    }

    /// The largest rate.
    pub fn largest(&self) -> Rate {
        Rate::bits_per_second(self.pieces.iter().map(|piece| piece.1).max().unwrap_or_default())
    }

    /// The smallest rate, bit/s; 0 where it has outages.
    pub fn smallest_bps(&self) -> u64 {
        self.pieces.iter().map(|piece| piece.1).min().unwrap_or_default()
    }

    /// Mean length of a row.
    pub fn mean_piece(&self) -> Time {
        Time::ns(self.length_ns() / (self.pieces.len() as u64).max(1))
    }
}

/// The rows of a table.
fn rows(table: &Table<'_>, columns: &Columns) -> Result<Vec<Row>, String> {
    if table.is_empty() {
        return Err(format!("is empty: expected {EXAMPLE}"));
    }
    let length = match &columns.timing {
        Timing::Elapsed(column) => Some(column),
        _ => None,
    };
    let only = columns.only.as_ref().map(|(column, _)| column);
    let named = [columns.time.as_ref(), length, only, Some(&columns.value)];
    let place = |column: Option<&Column>| column.map(|column| table.place(column)).transpose();
    let (time_at, length_at) = (place(columns.time.as_ref())?, place(length)?);
    let (only_at, value_at) = (place(only)?, table.place(&columns.value)?);
    // A header says no number, neither of a time nor of a value.
    let first = table.first();
    let is_number = |at: usize| first.get(at).is_some_and(|field| field.parse::<f64>().is_ok());
    let is_time = |at: usize| {
        first.get(at).is_some_and(|field| columns.time_unit.nanoseconds(field).is_some())
    };
    let has_header = named.iter().flatten().any(|column| column.has_name())
        || !(is_number(value_at) || time_at.is_some_and(is_time));
    let mut last_ns = None;
    let mut found = Vec::new();
    for (line, fields) in table.rows().skip(usize::from(has_header)) {
        let field = |column: &Column, at: usize| {
            let count = fields.len();
            let missing = || format!("line {line}: {column} is missing: the line has {count}");
            fields.get(at).copied().ok_or_else(missing)
        };
        if let (Some((column, wanted)), Some(at)) = (&columns.only, only_at)
            && field(column, at)? != wanted
        {
            continue;
        }
        let invalid = |column: &Column, text: &str, expected: &str| {
            format!("line {line}: {column}: {}", invalid_value(format!("{text:?}"), expected))
        };
        let mut at_ns = 0;
        if let (Some(column), Some(at)) = (&columns.time, time_at) {
            let text = field(column, at)?;
            at_ns = columns
                .time_unit
                .nanoseconds(text)
                .ok_or_else(|| invalid(column, text, columns.time_unit.expected()))?;
            if let Some((last_ns, last)) = last_ns
                && at_ns < last_ns
            {
                let expected = format!(
                    "a time not before that of the row before, {last} (of several recordings in \
                     a file, `only` chooses one)"
                );
                return Err(invalid(column, text, &expected));
            }
            last_ns = Some((at_ns, text));
        }
        if let (Some(column), Some(at)) = (length, length_at) {
            let text = field(column, at)?;
            let unit = columns.time_unit.of_lengths();
            at_ns = unit
                .nanoseconds(text)
                .filter(|&length_ns| length_ns > 0)
                .ok_or_else(|| invalid(column, text, &format!("{} above 0", unit.expected())))?;
        }
        let text = field(&columns.value, value_at)?;
        let is_valid = |value: &f64| value.is_finite() && *value >= 0.0;
        let value = text.parse().ok().filter(is_valid).ok_or_else(|| {
            let expected = format!("a number of {} from 0 on", columns.unit.name());
            invalid(&columns.value, text, &expected)
        })?;
        found.push(Row { line, at_ns, value });
    }
    match &columns.only {
        _ if !found.is_empty() => Ok(found),
        Some((column, wanted)) => Err(format!("has no row with \"{wanted}\" in {column}")),
        None => Err(format!("has a header alone: expected {EXAMPLE} below it")),
    }
}

/// The lines of rows with their lengths, nanoseconds, and their values.
fn lengths(rows: Vec<Row>, columns: &Columns) -> Result<Vec<(usize, u64, f64)>, String> {
    match columns.timing {
        Timing::Every(every_ns) => {
            return Ok(rows.into_iter().map(|row| (row.line, every_ns, row.value)).collect());
        }
        Timing::Elapsed(_) => {
            let length_ns = |row: &Row| u64::try_from(row.at_ns).unwrap_or(u64::MAX);
            return Ok(rows.iter().map(|row| (row.line, length_ns(row), row.value)).collect());
        }
        Timing::From | Timing::Until => {}
    }
    let rows = at_different_times(rows, columns.unit);
    let gap_ns = |pair: &[Row]| u64::try_from(pair[1].at_ns - pair[0].at_ns).unwrap_or(u64::MAX);
    let mut found: Vec<(usize, u64, f64)> = rows
        .windows(2)
        .map(|pair| {
            let row = &pair[usize::from(columns.timing == Timing::Until)];
            (row.line, gap_ns(pair), row.value)
        })
        .collect();
    match (found.last(), rows.last()) {
        (Some(&(_, length_ns, _)), Some(last)) if columns.timing == Timing::From => {
            found.push((last.line, length_ns, last.value));
        }
        (Some(_), _) => {}
        (None, _) => {
            return Err(
                "has one time: expected two or more, or `every`, the length of a row".into()
            );
        }
    }
    Ok(found)
}

/// Rows of equal times as one: loggers with a coarse clock write several. It has the mean of their
/// rates, or the sum of their amounts.
fn at_different_times(rows: Vec<Row>, unit: ValueUnit) -> Vec<Row> {
    let mut found: Vec<Row> = Vec::with_capacity(rows.len());
    let mut count = 0.0;
    for row in rows {
        match found.last_mut().filter(|last| last.at_ns == row.at_ns) {
            None => {
                count = 1.0;
                found.push(row);
            }
            Some(last) if unit.is_amount() => last.value += row.value,
            Some(last) => {
                count += 1.0;
                last.value += (row.value - last.value) / count;
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Scenario;
    use std::collections::BTreeMap;

    /// The log of a bottleneck with these keys, read from this text.
    fn read(keys: &str, text: &str) -> Result<RateLog, String> {
        let toml = format!(
            "duration = \"1s\"\n[[flows]]\nrule = \"AIMD(1, 0.5)\"\n[dumbbell]\ndelay = \"1ms\"\n\
             rate = {{ kind = \"log\", file = \"x.log\", {keys} }}\n"
        );
        let files = BTreeMap::from([("x.log".to_string(), text.to_string())]);
        let scenario =
            Scenario::from_toml_with(&toml, &files).map_err(|error| error.to_string())?;
        let rate = &scenario.dumbbell.as_ref().unwrap().rate;
        let crate::Waveform::Shape(crate::Shape::Log(spec)) = rate else { panic!("{rate:?}") };
        assert_eq!(rate.first(), spec.log().mean());
        Ok(spec.log().clone())
    }

    fn mean_bps(keys: &str, text: &str) -> u64 {
        read(keys, text).unwrap().mean().bps()
    }

    const MEGABITS: &str = "unit = \"Mbit/s\"";

    #[test]
    fn a_rate_holds_from_its_time_and_the_log_repeats() {
        let log = read(MEGABITS, "time,rate\n10,4\n12,0\n13,1\n").unwrap();
        // 4 Mbit/s for 2 s, 0 for 1 s, then 1 Mbit/s as long as the row before, 1 s.
        assert_eq!((log.length_ns(), log.mean().bps()), (4_000_000_000, 2_250_000));
        assert_eq!((log.largest().bps(), log.smallest_bps()), (4_000_000, 0));
        let second = 1_000_000_000;
        for (at_s, end, expected) in [
            (0, LogEnd::Repeat, (4_000_000, 2 * second)),
            (1, LogEnd::Repeat, (4_000_000, second)),
            (2, LogEnd::Repeat, (0, second)),
            (3, LogEnd::Repeat, (1_000_000, second)),
            (4, LogEnd::Repeat, (4_000_000, 2 * second)),
            (4, LogEnd::Hold, (1_000_000, ENDLESS_NS)),
            (90, LogEnd::Hold, (1_000_000, ENDLESS_NS)),
        ] {
            assert_eq!(log.piece(at_s * second, end), expected, "{at_s} s");
        }
    }

    #[test]
    fn units_columns_and_separators_by_hand() {
        for (keys, text, expected) in [
            // 8 and 16 kbit/s for a second each.
            ("unit = \"kbit/s\"", "0\t8\n1\t16\n", 12_000),
            ("unit = \"bit/s\", time_unit = \"ms\"", "1453121790686 8\n1453121791686 16\n", 12),
            ("unit = \"B/s\", time_unit = \"us\"", "# us, B/s\n0;8\n1000000;16\n", 96),
            ("unit = \"kB/s\", time = 3, value = 1", "8,x,0\n16,y,1\n", 96_000),
            ("unit = \"bit/s\", time = \"t\", value = \"bps\"", "bps,x,t\n8,x,0\n16,y,1\n", 12),
            // 500 B between 0 and 1 s, 1500 B between 1 and 3 s: 2000 B in 3 s; the 9 do not count.
            ("unit = \"B\"", "0 9\n1 500\n3 1500\n", 5_333),
            // 1, 2 and 3 kB, each in 100 ms: 6 kB in 300 ms.
            ("unit = \"kB\", every = \"100ms\"", "kilobytes\n1\n2\n3\n", 160_000),
            ("unit = \"Mbit/s\", every = \"1s\", value = 2", "a 3\nb 0\nc 6\n", 3_000_000),
            // Until its time: 16 for a second, 4 for two.
            ("unit = \"bit/s\", holds = \"until\"", "0 99\n1 16\n3 4\n", 8),
            // 600 B in 1 s, 600 B in 2 s.
            ("unit = \"B\", time = 1, elapsed = 3", "5 600 1\n7 600 2\n", 3_200),
            // From the row's time on: 9 B in a second, 500 B in a second as that before.
            ("unit = \"B\", holds = \"from\"", "0 9\n1 500\n", 2_036),
            // Two rows of one second: their mean; of amounts, their sum.
            ("unit = \"bit/s\"", "0 10\n1 20\n1 40\n2 60\n", 33),
            ("unit = \"B\"", "0 1\n1 20\n1 40\n2 60\n", 480),
            ("unit = \"bit/s\", only = [\"run\", \"2\"]", "run,t,b\n1,8,9\n2,0,4\n2,1,8\n", 6),
        ] {
            let keys = if keys.contains("only") {
                format!("{keys}, time = \"t\", value = \"b\"")
            } else {
                keys.to_string()
            };
            assert_eq!(mean_bps(&keys, text), expected, "{keys}");
        }
    }

    #[test]
    fn public_forms_by_hand() {
        for (format, text, expected) in [
            // Pensieve: 2 Mbit/s from 0 to 1 s, 4 Mbit/s from 1 to 2 s; the first rate is not used.
            ("pensieve", "0.0\t9.0\n1.0\t2.0\n2.0\t4.0\n", 3_000_000),
            // 250,000 B in 1 s and 500,000 B in 2 s: 750 kB in 3 s.
            (
                "norway-hsdpa",
                "1290000000 100 60 10 250000 1000\n1290000002 2100 60 10 500000 2000\n",
                2_000_000,
            ),
            (
                "ghent-4g",
                "1450000000000 1000 51 3 3000000 1000\n1450000001000 2000 51 3 1000000 1000\n",
                16_000_000,
            ),
            // 800, 0 and 400 kbit/s for a second each.
            (
                "ucc-5g",
                "Timestamp,State,DL_bitrate,UL_bitrate\n2020.01.31_23.59.59,D,800,1\n\
              2020.02.01_00.00.00,D,0,1\n2020.02.01_00.00.01,I,400,1\n",
                400_000,
            ),
            (
                "lumos5g",
                "run_num,seq_num,nrStatus,Throughput\n1,1,x,500\n1,2,x,0\n1,3,x,100\n",
                200_000_000,
            ),
        ] {
            assert_eq!(mean_bps(&format!("format = \"{format}\""), text), expected, "{format}");
        }
        // A key replaces what the format says.
        let upload = "format = \"ucc-5g\", value = \"UL_bitrate\"";
        let text = "Timestamp,DL_bitrate,UL_bitrate\n2020-02-01 0:0:0,9,3\n2020-02-01 0:0:1,9,5\n";
        assert_eq!(mean_bps(upload, text), 4_000);
        // The second recording of a file begins anew.
        let text = "run_num,seq_num,Throughput\n1,1,500\n1,2,500\n2,1,8\n2,2,4\n";
        let runs = read("format = \"lumos5g\"", text).unwrap_err();
        assert!(runs.contains("`only` chooses one"), "{runs}");
        let second = "format = \"lumos5g\", only = [\"run_num\", \"2\"]";
        assert_eq!(mean_bps(second, text), 6_000_000);
    }

    #[test]
    fn errors_name_key_file_line_and_value() {
        for (keys, text, expected) in [
            (MEGABITS, "", "x.log is empty: expected rows of a time and a rate, such as \"0,4.2\""),
            (MEGABITS, "\n# none\n", "x.log is empty: expected rows"),
            (MEGABITS, "time,rate\n", "x.log has a header alone: expected rows of a time and a"),
            (
                MEGABITS,
                "0,1\n1,-2\n",
                "x.log line 2: column 2: \"-2\" is not valid: expected a number of Mbit/s from 0 on",
            ),
            (MEGABITS, "0,1\n1,nan\n", "x.log line 2: column 2: \"nan\" is not valid"),
            (MEGABITS, "0,nan\n1,1\n", "x.log line 1: column 2: \"nan\" is not valid"),
            (MEGABITS, "0,1\n1,inf\n", "x.log line 2: column 2: \"inf\" is not valid"),
            (MEGABITS, "0,1\n1,-\n", "x.log line 2: column 2: \"-\" is not valid"),
            (
                MEGABITS,
                "0,1\nnan,2\n",
                "x.log line 2: column 1: \"nan\" is not valid: expected a number of s",
            ),
            (
                MEGABITS,
                "0,1\n5,2\n3,2\n",
                "x.log line 3: column 1: \"3\" is not valid: expected a time not before that of the \
              row before, 5",
            ),
            (MEGABITS, "0,1\n1\n", "x.log line 2: column 2 is missing: the line has 1"),
            (MEGABITS, "0,0\n1,0\n", "x.log has only rates of 0: expected one above 0"),
            (MEGABITS, "0,1\n", "x.log has one time: expected two or more, or `every`"),
            (
                MEGABITS,
                "0,1\n1,1e9\n",
                "x.log line 2: column 2: 1000000000 Mbit/s is not valid: expected a rate of at most",
            ),
            (MEGABITS, "0,1\n1e8,1\n", "x.log line 1: is later than 10000000 s after the start"),
            (
                "unit = \"B\", elapsed = 3",
                "0,1,1\n1,1,0\n",
                "x.log line 2: column 3: \"0\" is not valid: expected a number of s above 0",
            ),
            (
                "format = \"ucc-5g\"",
                "Timestamp,DL_bitrat\n",
                "x.log line 1: column \"DL_bitrate\" is not known: expected Timestamp or DL_bitrat (did \
              you mean DL_bitrat?)",
            ),
            (
                "format = \"ucc-5g\"",
                "Timestamp,DL_bitrate\n12,5\n",
                "x.log line 2: column \"Timestamp\": \"12\" is not valid: expected a date and time such",
            ),
            ("unit = \"bit/s\", only = [1, \"a\"]", "b,1,1\n", "x.log has no row with \"a\" in"),
        ] {
            let error = read(keys, text).unwrap_err();
            let said = error.strip_prefix("dumbbell.rate.file: ").unwrap_or(&error);
            assert!(said.starts_with(expected), "{error}");
        }
    }

    #[test]
    fn errors_of_keys() {
        let text = "0,1\n1,1\n";
        for (keys, expected) in [
            ("end = \"hold\"", "dumbbell.rate.unit: `unit` is required when `format` is absent: "),
            (
                "unit = \"mbit\"",
                "dumbbell.rate.unit: \"mbit\" is not known: expected bit/s, kbit/s",
            ),
            (
                "unit = \"B\", every = \"1s\", time = 1",
                "dumbbell.rate.every: `every` must not be given when `time` is",
            ),
            ("unit = \"B\", every = \"1ns\"", "dumbbell.rate.every: 1ns is not valid: expected"),
            ("unit = \"B\", value = 0", "dumbbell.rate.value: 0 is not valid: expected a column's"),
            ("unit = \"B\", value = -1", "dumbbell.rate.value: -1 is not valid: expected a column"),
            (
                "unit = \"B\", value = \"\"",
                "dumbbell.rate.value: \"\" is not valid: expected a col",
            ),
            (
                "unit = \"bit/s\", start = \"2s\"",
                "dumbbell.rate.start: 2s is not valid: expected \"random\", or whole milliseconds below",
            ),
            ("format = \"pensive\"", "dumbbell.rate.format: \"pensive\" is not known: expected"),
            ("units = \"B\"", "dumbbell.rate: key \"units\" is not known: expected"),
        ] {
            let error = read(keys, text).unwrap_err();
            assert!(error.starts_with(expected), "{error}");
        }
    }
}
