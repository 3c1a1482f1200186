//! Web pages: objects that a browser fetches over the connections of a group of flows.

use crate::distribution::{Distribution, Packets};
use cwndlab_units::Time;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Web pages that a browser loads, one after the other. The flows of the group are its connections
/// to the server; each carries one object at a time, as with HTTP/1.1.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Page {
    /// Objects of every page, each behind those that it comes after.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub objects: Vec<PageObject>,
    /// Or drawn: data packets of the main object, which comes first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub main: Option<Distribution<Packets>>,
    /// Number of embedded objects.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub embedded: Option<Distribution<Packets>>,
    /// Data packets of an embedded object.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<Distribution<Packets>>,
    /// Probability that the object before it, and not the main one, names an embedded object.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub chained: f64,
    /// Parse time: from the object that names an embedded object to its request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parse: Option<Distribution<Time>>,
    /// Reading time: from a loaded page to the request of the next one.
    pub think: Distribution<Time>,
}

/// An object of a web page.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PageObject {
    /// Name, for `after`.
    pub name: String,
    /// Its data packets.
    pub size: u64,
    /// Objects before it in the list that must be complete first; none: requested at once.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub after: Vec<String>,
    /// Parse time: from the last of them, or the begin of the page, to its request.
    #[serde(default, skip_serializing_if = "is_zero_time")]
    pub parse: Time,
}

fn is_zero(value: &f64) -> bool {
    *value == 0.0
}

/// Whether a time is left out.
pub(crate) fn is_zero_time(time: &Time) -> bool {
    *time == Time::default()
}
