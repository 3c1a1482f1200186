//! Definition of a column.

use crate::measure::histogram::Histogram;

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

/// Which values of a quantity are better.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Better {
    /// Larger ones.
    Higher,
    /// Smaller ones.
    Lower,
}

/// A column: a quantity with its unit and meaning.
#[derive(Clone, Copy, Debug)]
pub struct Column {
    /// Name; its last word is the unit.
    pub name: &'static str,
    /// Type.
    pub kind: ColumnType,
    /// What a plot calls it; empty where that is its name.
    pub label: &'static str,
    /// What the head of a table calls it, in one or two lines; empty where that is its label.
    pub heading: &'static str,
    /// `s`, `bit/s`, `packets`, `ratio`, ...; empty for names.
    pub unit: &'static str,
    /// Which values are better; none if that is not known.
    pub better: Option<Better>,
    /// Whether tables and plots show this ratio in percent.
    pub is_percentage: bool,
    /// Whether tables and plots show this time in seconds, not in milliseconds.
    pub is_long: bool,
    /// Names of the numbers that the native module has instead of this text.
    pub values: &'static [&'static str],
    /// What its values can not lie below and above.
    pub bounds: (f64, f64),
    /// What it is known to, as a part of its value: the width of a bucket of a histogram.
    pub resolution: f64,
    /// Definition, in Markdown. Of neighbours with the same one, a document says it once.
    pub meaning: &'static str,
}

impl Column {
    const fn new(
        kind: ColumnType,
        unit: &'static str,
        name: &'static str,
        label: &'static str,
        meaning: &'static str,
    ) -> Self {
        let bounds = match kind {
            ColumnType::Text | ColumnType::Truth => (f64::NEG_INFINITY, f64::INFINITY),
            ColumnType::Whole | ColumnType::Float => (0.0, f64::INFINITY),
        };
        Self {
            name,
            kind,
            label,
            heading: "",
            unit,
            better: None,
            is_percentage: false,
            is_long: false,
            values: &[],
            bounds,
            resolution: 0.0,
            meaning,
        }
    }

    /// Text.
    pub const fn text(name: &'static str, meaning: &'static str) -> Self {
        Self::new(ColumnType::Text, "", name, "", meaning)
    }

    /// True or false.
    pub const fn truth(name: &'static str, meaning: &'static str) -> Self {
        Self::new(ColumnType::Truth, "", name, "", meaning)
    }

    /// A number of packets.
    pub const fn packets(name: &'static str, label: &'static str, meaning: &'static str) -> Self {
        Self::new(ColumnType::Whole, "packets", name, label, meaning)
    }

    /// A number of other things.
    pub const fn count(name: &'static str, label: &'static str, meaning: &'static str) -> Self {
        Self::new(ColumnType::Whole, "", name, label, meaning)
    }

    /// A mean number of packets.
    pub const fn amount(name: &'static str, label: &'static str, meaning: &'static str) -> Self {
        Self::new(ColumnType::Float, "packets", name, label, meaning)
    }

    /// A time, seconds.
    pub const fn time(name: &'static str, label: &'static str, meaning: &'static str) -> Self {
        Self::new(ColumnType::Float, "s", name, label, meaning)
    }

    /// A rate, bit/s.
    pub const fn rate(name: &'static str, label: &'static str, meaning: &'static str) -> Self {
        Self::new(ColumnType::Float, "bit/s", name, label, meaning)
    }

    /// A ratio without an upper bound.
    pub const fn ratio(name: &'static str, label: &'static str, meaning: &'static str) -> Self {
        Self::new(ColumnType::Float, "ratio", name, label, meaning)
    }

    /// A part of a whole, from 0 to 1.
    pub const fn fraction(name: &'static str, label: &'static str, meaning: &'static str) -> Self {
        let ratio = Self::ratio(name, label, meaning);
        Self { bounds: (0.0, 1.0), ..ratio }
    }

    /// With another unit.
    pub const fn in_unit(self, unit: &'static str) -> Self {
        Self { unit, ..self }
    }

    /// With a shorter name in the head of a table.
    pub const fn headed(self, heading: &'static str) -> Self {
        Self { heading, ..self }
    }

    /// Shown in percent.
    pub const fn in_percent(self) -> Self {
        Self { is_percentage: true, ..self }
    }

    /// Shown in seconds.
    pub const fn in_seconds(self) -> Self {
        Self { is_long: true, ..self }
    }

    /// Numbers in the native module, with these names.
    pub const fn one_of(self, values: &'static [&'static str]) -> Self {
        Self { values, ..self }
    }

    /// A percentile from a histogram.
    pub const fn from_histogram(self) -> Self {
        Self { resolution: Histogram::RESOLUTION, ..self }
    }

    /// Values may be negative.
    pub const fn unbounded(self) -> Self {
        Self { bounds: (f64::NEG_INFINITY, f64::INFINITY), ..self }
    }

    /// Larger values are better.
    pub const fn higher(self) -> Self {
        Self { better: Some(Better::Higher), ..self }
    }

    /// Smaller values are better.
    pub const fn lower(self) -> Self {
        Self { better: Some(Better::Lower), ..self }
    }

    /// The unit in which tables and plots show it, and the factor from its own unit to that one.
    pub fn shown(&self) -> (&'static str, f64) {
        match (self.unit, self.kind) {
            ("s", _) if !self.is_long => ("ms", 1e3),
            ("bit/s", _) => ("Mbit/s", 1e-6),
            ("ratio", _) if self.is_percentage => ("%", 100.0),
            ("ratio", _) | ("packets", ColumnType::Whole) => ("", 1.0),
            (unit, _) => (unit, 1.0),
        }
    }
}
