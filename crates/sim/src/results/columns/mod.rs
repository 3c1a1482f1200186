//! Definitions of the columns of results and traces: the only place for names, units, labels,
//! directions, bounds and meanings. They ride along as Arrow field metadata; docs/metrics.md, table
//! heads and plots are made from them.

mod definition;
mod flows;
mod links;
mod run;
mod traces;
mod traffic;

pub use definition::{Better, Column, ColumnType};

/// A table: its name and its columns, in the order in which data frames have them.
pub type Table = (&'static str, &'static [Column]);

/// Fields of a run itself.
pub const RUN: &[Column] = run::RUN;

/// All tables of a result.
pub const TABLES: [Table; 4] = [
    ("flows", flows::FLOWS),
    ("links", links::LINKS),
    ("cross", traffic::CROSS),
    ("arrivals", traffic::ARRIVALS),
];

/// All tables of traces. The trace `rule` has more columns: the state that rules report.
pub const TRACES: [Table; 8] = [
    ("cwnd", traces::CWND),
    ("rule", traces::RULE),
    ("queue", traces::QUEUE),
    ("rate", traces::RATE),
    ("available", traces::AVAILABLE),
    ("cross", traces::CROSS),
    ("transfers", traces::TRANSFERS),
    ("packets", traces::PACKETS),
];

/// The definition of a column of a trace.
pub fn trace_column(table: &str, name: &str) -> Option<&'static Column> {
    let (_, columns) = TRACES.iter().find(|(known, _)| *known == table)?;
    columns.iter().find(|column| column.name == name)
}

/// Unit of a quantity by the last words of its name; none for counts and ratios.
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

#[cfg(test)]
mod tests {
    use super::*;

    fn all() -> impl Iterator<Item = &'static Column> {
        let of_tables = TABLES.iter().chain(&TRACES).flat_map(|(_, columns)| *columns);
        RUN.iter().chain(of_tables)
    }

    #[test]
    fn the_last_word_of_a_name_is_its_unit() {
        for column in all() {
            let expected = unit_of(column.name);
            let is_named = column.unit == expected || (expected.is_empty() && column.unit != "s");
            assert!(is_named, "{}: {} is not {expected}", column.name, column.unit);
        }
    }

    #[test]
    fn columns_that_are_defined_alike_have_one_unit() {
        for column in all() {
            let others = all().filter(|other| other.name == column.name);
            assert!(others.into_iter().all(|other| other.unit == column.unit), "{}", column.name);
            assert!(!column.meaning.is_empty(), "{}", column.name);
        }
    }

    #[test]
    fn ratios_have_bounds_that_hold_zero_or_one() {
        for column in all().filter(|column| column.unit == "ratio") {
            let (low, high) = column.bounds;
            assert!(low == 0.0 && (high == 1.0 || high.is_infinite()), "{}", column.name);
        }
    }
}
