//! Quantities with units: time, rate, size and buffer, parsed from text such as `"50ms"`.
//!
//! Inside, times are integer nanoseconds and rates are integer bits per second; a scenario writes
//! them as `"50ms"` or `"10Mbit"`. A bare number means SI units (seconds, bits per second).
//!
//! ```
//! use cwndlab_units::{Rate, Time};
//! assert_eq!("1.5Mbit".parse::<Rate>().unwrap(), Rate::bits_per_second(1_500_000));
//! assert_eq!("50ms".parse::<Time>().unwrap().nanoseconds(), 50_000_000);
//! assert!("10ms".parse::<Rate>().unwrap_err().contains("bit, kbit, Mbit, Gbit"));
//! ```

mod buffer;
pub mod message;
mod quantity;
mod text;

pub use buffer::{Buffer, RateLimit};
pub use quantity::{Bytes, Rate, Span, Time};
