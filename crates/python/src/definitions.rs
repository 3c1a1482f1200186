//! Definitions of columns: as Arrow fields with metadata, and as JSON.

use arrow_schema::{DataType, Field};
use cwndlab_columns::{Column, ColumnType, unit_of};
use serde_json::{Value, json};
use std::collections::HashMap;

/// The Arrow field of a column of a result, with its definition.
pub fn field(column: &Column) -> Field {
    let kind = match column.column_type() {
        ColumnType::Text => DataType::Utf8View,
        ColumnType::Whole => DataType::Int64,
        ColumnType::Float => DataType::Float64,
        ColumnType::Truth => DataType::Boolean,
    };
    Field::new(&column.name, kind, true).with_metadata(metadata(column))
}

/// The definition of a column as Arrow field metadata: `unit`, `label`, `heading`, `better`
/// (`higher` or `lower`), `low` and `high` (bounds) where there are such, and `meaning`.
pub fn metadata(column: &Column) -> HashMap<String, String> {
    let [low, high] = column.bounds();
    let [label, heading] = column.given_names();
    let bound = |value: f64| value.is_finite().then(|| value.to_string());
    let entries = [
        ("unit", Some(column.unit().to_string()).filter(|unit| !unit.is_empty())),
        ("label", label.map(str::to_string)),
        ("heading", heading.map(str::to_string)),
        ("better", column.better.clone()),
        ("low", bound(low)),
        ("high", bound(high)),
        ("meaning", Some(column.meaning.clone())),
    ];
    entries.into_iter().filter_map(|(key, text)| Some((key.to_string(), text?))).collect()
}

/// The metadata of a quantity that only its name defines.
pub fn metadata_of_name(name: &str) -> HashMap<String, String> {
    let unit = unit_of(name);
    (!unit.is_empty()).then(|| ("unit".to_string(), unit.to_string())).into_iter().collect()
}

/// Definitions as JSON; bounds are null where there are none.
pub fn definitions(columns: &[Column]) -> Value {
    let definition = |column: &Column| {
        let kind = match column.column_type() {
            ColumnType::Text => "text",
            ColumnType::Whole => "whole",
            ColumnType::Float => "float",
            ColumnType::Truth => "truth",
        };
        let (shown_unit, scale) = column.shown();
        json!({
            "name": column.name,
            "kind": kind,
            "label": column.label(),
            "heading": column.heading(),
            "unit": column.unit(),
            "shown_unit": shown_unit,
            "scale": scale,
            "values": column.values,
            "better": column.better,
            "bounds": column.bounds(),
            "resolution": column.resolution(),
            "meaning": column.meaning,
        })
    };
    columns.iter().map(definition).collect()
}
