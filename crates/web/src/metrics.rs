//! Definitions of the metrics that the page shows, from the simulator's one definition.

use cwndlab_sim::results::{Better, Column, RUN, TABLES};
use serde_json::{Value, json};

/// Metrics by table (`run`, `flows`, `links`, ...) and name: label, unit, direction, meaning.
pub fn definitions() -> Value {
    let run = ("run", RUN);
    let tables = std::iter::once(&run).chain(&TABLES);
    tables.map(|(table, columns)| (table.to_string(), by_name(columns))).collect()
}

fn by_name(columns: &[Column]) -> Value {
    let definition = |column: &Column| {
        let better = column.better.map(|better| match better {
            Better::Higher => "higher",
            Better::Lower => "lower",
        });
        let label = if column.label.is_empty() { column.name } else { column.label };
        let (unit, meaning) = (column.unit, column.meaning);
        json!({ "label": label, "unit": unit, "better": better, "meaning": meaning })
    };
    columns.iter().map(|column| (column.name.to_string(), definition(column))).collect()
}
