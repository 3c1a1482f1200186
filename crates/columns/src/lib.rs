//! Definitions of the columns of results and traces, read from `columns.toml`: the only place for
//! names, units, labels, directions, bounds and meanings.
//!
//! ```
//! let columns = cwndlab_columns::columns();
//! let goodput = columns.tables[0].columns.iter().find(|column| column.name == "goodput_bps");
//! assert_eq!(goodput.unwrap().unit(), "bit/s");
//! ```

use serde::Deserialize;
use std::sync::LazyLock;

/// All columns.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Columns {
    /// Fields of a run itself.
    pub run: Vec<Column>,
    /// Columns of groups of flows, which readers of a result make from its flows.
    #[serde(rename = "group")]
    pub groups: Vec<Column>,
    /// Tables of a result.
    #[serde(rename = "table")]
    pub tables: Vec<Table>,
    /// Tables of traces. The trace `rule` has more columns: the state that rules report.
    #[serde(rename = "trace")]
    pub traces: Vec<Table>,
}

/// A table.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Table {
    /// Its name.
    pub name: String,
    /// Its columns, in the order in which data frames have them.
    pub columns: Vec<Column>,
}

/// What the values of a column are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// Text.
    Text,
    /// True or false.
    Truth,
    /// A whole number of packets.
    Packets,
    /// A whole number of other things.
    Count,
    /// Packets that need not be whole.
    Amount,
    /// A time, seconds.
    Time,
    /// A rate, bit/s.
    Rate,
    /// A ratio without an upper bound.
    Ratio,
    /// 1 less a ratio: at most 1, and below 0 for a benefit.
    Harm,
    /// A part of a whole, from 0 to 1.
    Fraction,
}

/// Type of a column; every column may lack values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnType {
    /// Text.
    Text,
    /// A 64-bit integer.
    Whole,
    /// A 64-bit float.
    Float,
    /// True or false.
    Truth,
}

/// A column: a quantity with its unit and meaning.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Column {
    /// Name; its last word is the unit.
    pub name: String,
    /// What its values are.
    pub kind: Kind,
    /// `higher` or `lower`; none if it is not known which values are better.
    pub better: Option<String>,
    /// Names of the numbers that the native module has instead of this text.
    #[serde(default)]
    pub values: Vec<String>,
    /// Definition, in Markdown.
    #[serde(default)]
    pub meaning: String,
    unit: Option<String>,
    label: Option<String>,
    heading: Option<String>,
    #[serde(default)]
    in_percent: bool,
    #[serde(default)]
    in_seconds: bool,
    #[serde(default)]
    percentile: bool,
    #[serde(default)]
    unbounded: bool,
}

/// Width of a bucket of the histograms that percentiles come from, as a part of the values in it.
pub const RESOLUTION: f64 = 1.0 / 32.0;

static COLUMNS: LazyLock<Columns> = LazyLock::new(|| {
    let mut columns: Columns =
        toml::from_str(include_str!("../columns.toml")).expect("columns.toml is tested");
    let tables = columns.tables.iter_mut().chain(&mut columns.traces);
    let own = [&mut columns.run, &mut columns.groups];
    for list in own.into_iter().chain(tables.map(|table| &mut table.columns)) {
        for i in 1..list.len() {
            if list[i].meaning.is_empty() {
                list[i].meaning = list[i - 1].meaning.clone();
            }
        }
    }
    columns
});

/// All columns.
pub fn columns() -> &'static Columns {
    &COLUMNS
}

/// The definition of a column of a trace.
pub fn trace_column(table: &str, name: &str) -> Option<&'static Column> {
    let table = COLUMNS.traces.iter().find(|known| known.name == table)?;
    table.columns.iter().find(|column| column.name == name)
}

/// Unit of a quantity by the last words of its name; empty for counts and ratios.
pub fn unit_of(name: &str) -> &'static str {
    const UNITS: [(&str, &str); 7] = [
        ("_packets_s", "packets/s"),
        ("packets_per_wall_s", "packets/s"),
        ("_packets", "packets"),
        ("_bytes", "bytes"),
        ("_bps", "bit/s"),
        ("_ns", "ns"),
        ("_s", "s"),
    ];
    UNITS.iter().find(|(ending, _)| name.ends_with(ending)).map_or("", |&(_, unit)| unit)
}

impl Column {
    /// Its type.
    pub fn column_type(&self) -> ColumnType {
        match self.kind {
            Kind::Text => ColumnType::Text,
            Kind::Truth => ColumnType::Truth,
            Kind::Packets | Kind::Count => ColumnType::Whole,
            Kind::Amount | Kind::Time | Kind::Rate | Kind::Ratio | Kind::Harm | Kind::Fraction => {
                ColumnType::Float
            }
        }
    }

    /// `s`, `bit/s`, `packets`, `ratio`, ...; empty for names and counts.
    pub fn unit(&self) -> &str {
        self.unit.as_deref().unwrap_or(match self.kind {
            Kind::Text | Kind::Truth | Kind::Count => "",
            Kind::Packets | Kind::Amount => "packets",
            Kind::Time => "s",
            Kind::Rate => "bit/s",
            Kind::Ratio | Kind::Harm | Kind::Fraction => "ratio",
        })
    }

    /// What a plot calls it.
    pub fn label(&self) -> &str {
        self.label.as_deref().unwrap_or(&self.name)
    }

    /// What the head of a table calls it, in one or two lines.
    pub fn heading(&self) -> &str {
        self.heading.as_deref().unwrap_or(self.label())
    }

    /// What it is called by plots and tables where that is not its name.
    pub fn given_names(&self) -> [Option<&str>; 2] {
        [self.label.as_deref(), self.heading.as_deref()]
    }

    /// What its values can not lie below and above.
    pub fn bounds(&self) -> [f64; 2] {
        match self.kind {
            Kind::Text | Kind::Truth => [f64::NEG_INFINITY, f64::INFINITY],
            _ if self.unbounded => [f64::NEG_INFINITY, f64::INFINITY],
            Kind::Fraction => [0.0, 1.0],
            Kind::Harm => [f64::NEG_INFINITY, 1.0],
            _ => [0.0, f64::INFINITY],
        }
    }

    /// What it is known to, as a part of its value.
    pub fn resolution(&self) -> f64 {
        if self.percentile { RESOLUTION } else { 0.0 }
    }

    /// The unit in which tables and plots show it, and the factor from its own unit to that one.
    pub fn shown(&self) -> (&str, f64) {
        match self.unit() {
            "s" if !self.in_seconds => ("ms", 1e3),
            "bit/s" => ("Mbit/s", 1e-6),
            "ratio" if self.in_percent => ("%", 100.0),
            "ratio" => ("", 1.0),
            "packets" if self.kind == Kind::Packets => ("", 1.0),
            unit => (unit, 1.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all() -> impl Iterator<Item = &'static Column> {
        let of_tables = columns().tables.iter().chain(&columns().traces);
        let own = columns().run.iter().chain(&columns().groups);
        own.chain(of_tables.flat_map(|table| &table.columns))
    }

    #[test]
    fn the_last_word_of_a_name_is_its_unit() {
        for column in all() {
            let (unit, expected) = (column.unit(), unit_of(&column.name));
            let is_named = unit == expected || (expected.is_empty() && unit != "s");
            assert!(is_named, "{}: {unit} is not {expected}", column.name);
        }
    }

    #[test]
    fn columns_that_are_defined_alike_have_one_unit() {
        for column in all() {
            let mut others = all().filter(|other| other.name == column.name);
            assert!(others.all(|other| other.unit() == column.unit()), "{}", column.name);
            assert!(!column.meaning.is_empty(), "{}", column.name);
            let better = column.better.as_deref();
            assert!(matches!(better, None | Some("higher" | "lower")), "{}", column.name);
            let is_ratio = matches!(column.kind, Kind::Ratio | Kind::Fraction);
            assert!(!(is_ratio && column.unbounded), "{}: no ratio is negative", column.name);
        }
    }
}
