//! Definitions of the metrics that the page shows.

use cwndlab_columns::{Column, columns};
use serde_json::{Value, json};

/// Metrics by table (`run`, `flows`, `links`, ...) and name: label, unit, direction, meaning.
pub fn definitions() -> Value {
    let tables = columns().tables.iter().map(|table| (table.name.as_str(), &table.columns));
    let all = std::iter::once(("run", &columns().run)).chain(tables);
    all.map(|(table, columns)| (table.to_string(), by_name(columns))).collect()
}

fn by_name(columns: &[Column]) -> Value {
    let definition = |column: &Column| {
        let Column { better, meaning, .. } = column;
        let (label, unit) = (column.label(), column.unit());
        json!({ "label": label, "unit": unit, "better": better, "meaning": meaning })
    };
    columns.iter().map(|column| (column.name.clone(), definition(column))).collect()
}
