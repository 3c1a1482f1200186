//! Definitions of columns: as Arrow fields with metadata, and as JSON.

use arrow_schema::{DataType, Field};
use cwndlab_sim::results::{Better, Column, ColumnType, unit_of};
use serde_json::{Value, json};
use std::collections::HashMap;

/// The Arrow field of a column of a result, with its definition.
pub fn field(column: &Column) -> Field {
    let kind = match column.kind {
        ColumnType::Text => DataType::Utf8View,
        ColumnType::Whole => DataType::Int64,
        ColumnType::Float => DataType::Float64,
        ColumnType::Truth => DataType::Boolean,
    };
    Field::new(column.name, kind, true).with_metadata(metadata(column))
}

/// The definition of a column as Arrow field metadata: `unit`, `label`, `heading`, `better`
/// (`higher` or `lower`), `low` and `high` (bounds) where there are such, and `meaning`.
pub fn metadata(column: &Column) -> HashMap<String, String> {
    let (low, high) = column.bounds;
    let bound = |value: f64| if value.is_finite() { value.to_string() } else { String::new() };
    let entries = [
        ("unit", column.unit.to_string()),
        ("label", column.label.to_string()),
        ("heading", column.heading.to_string()),
        ("better", better(column).unwrap_or_default().to_string()),
        ("low", bound(low)),
        ("high", bound(high)),
        ("meaning", column.meaning.to_string()),
    ];
    let known = entries.into_iter().filter(|(_, text)| !text.is_empty());
    known.map(|(key, text)| (key.to_string(), text)).collect()
}

/// The metadata of a quantity that only its name defines.
pub fn metadata_of_name(name: &str) -> HashMap<String, String> {
    let unit = unit_of(name);
    (!unit.is_empty()).then(|| ("unit".to_string(), unit.to_string())).into_iter().collect()
}

/// Definitions as JSON; bounds are null where there are none.
pub fn definitions(columns: &[Column]) -> Value {
    let definition = |column: &Column| {
        let kind = match column.kind {
            ColumnType::Text => "text",
            ColumnType::Whole => "whole",
            ColumnType::Float => "float",
            ColumnType::Truth => "truth",
        };
        let label = if column.label.is_empty() { column.name } else { column.label };
        let (shown_unit, scale) = column.shown();
        json!({
            "name": column.name,
            "kind": kind,
            "label": label,
            "heading": if column.heading.is_empty() { label } else { column.heading },
            "unit": column.unit,
            "shown_unit": shown_unit,
            "scale": scale,
            "values": column.values,
            "better": better(column),
            "bounds": [column.bounds.0, column.bounds.1],
            "resolution": column.resolution,
            "meaning": column.meaning,
        })
    };
    columns.iter().map(definition).collect()
}

fn better(column: &Column) -> Option<&'static str> {
    column.better.map(|better| match better {
        Better::Higher => "higher",
        Better::Lower => "lower",
    })
}
