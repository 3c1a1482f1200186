//! Checks of Linux's settings: what no kernel has is refused here, the rest by the kernel.

use super::conditions::{Checked, invalid};
use crate::{LinuxSettings, ScenarioError};

pub(super) fn check_linux_settings(settings: &LinuxSettings) -> Checked {
    for name in settings.sysctls.keys() {
        let is_allowed = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
        if !name.starts_with("tcp_") || !name.chars().all(is_allowed) {
            let schema = schemars::schema_for!(LinuxSettings);
            let others = schema.get("properties").and_then(|table| table.as_object());
            let others = others.into_iter().flat_map(|table| table.keys());
            let mut known: Vec<&str> = others.map(String::as_str).chain(["tcp_..."]).collect();
            known.sort_unstable();
            return Err(ScenarioError::unknown(format!("linux.{name}"), name, &known));
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
