//! Checks of Linux's settings: what no kernel has is refused here, the rest by the kernel.

use super::conditions::{Checked, invalid};
use crate::{LinuxSettings, ScenarioError};
use cwndlab_units::message::unknown_value;

/// Names that are no sysctls.
const OTHERS: [&str; 5] = ["gso_max_segs", "initcwnd", "initrwnd", "quickack", "rto_min"];

pub(super) fn check_linux_settings(settings: &LinuxSettings) -> Checked {
    for name in settings.sysctls.keys() {
        let is_allowed = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
        if !name.starts_with("tcp_") || !name.chars().all(is_allowed) {
            let known: Vec<&str> = OTHERS.into_iter().chain(["tcp_..."]).collect();
            let unknown = unknown_value(name, &known);
            return Err(ScenarioError::at(format!("linux.{name}"), unknown));
        }
    }
    let counts = [
        ("initcwnd", settings.initcwnd),
        ("initrwnd", settings.initrwnd),
        ("gso_max_segs", settings.gso_max_segs),
    ];
    for (name, value) in counts {
        if let Some(value @ (0 | 65_536..)) = value {
            return invalid(format!("linux.{name}"), value, "1 to 65535");
        }
    }
    match settings.rto_min.map(|time| time.seconds()) {
        Some(seconds) if !(1e-3..=120.0).contains(&seconds) => {
            invalid("linux.rto_min", format!("\"{seconds}s\""), "1 ms to 120 s")
        }
        _ => Ok(()),
    }
}
