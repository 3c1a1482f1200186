//! The table of the circuit breaker of a link (RFC 8084).

use cwndlab_units::Time;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A circuit breaker: it stops all traffic of a link after persistent heavy loss (RFC 8084).
///
/// ```
/// use cwndlab_scenario::CircuitBreakerSpec;
/// let breaker: CircuitBreakerSpec = serde_json::from_str(r#"{"every": "5s"}"#).unwrap();
/// // RFC 8084, section 3.1, has more than 10% loss and three successive measurements as examples.
/// assert_eq!((breaker.loss, breaker.count, breaker.pause), (0.1, 3, None));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CircuitBreakerSpec {
    /// Share of the arriving packets whose loss is excessive when it is exceeded, 0 <= loss < 1.
    #[serde(default = "tenth")]
    pub loss: f64,
    /// Length of a measurement interval, several round trips.
    pub every: Time,
    /// Number of consecutive intervals with excessive loss that trigger it.
    #[serde(default = "three")]
    pub count: u32,
    /// How long it drops all packets; to the end of the run when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pause: Option<Time>,
}

fn tenth() -> f64 {
    0.1
}

fn three() -> u32 {
    3
}
