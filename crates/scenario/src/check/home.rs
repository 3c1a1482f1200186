//! Checks of the scenario's home.

use super::conditions::{Checked, conflict};
use crate::home::Home;
use crate::scenario::Scenario;

impl Scenario {
    /// Checks that every rule runs at the scenario's home, and that it takes the settings.
    pub fn check_home(&self) -> Checked {
        if let (Home::Simulator, [name, ..]) = (&self.home, self.linux.names().as_slice()) {
            let message = "has an effect only in a kernel: run with `home = \"linux\"`, or set \
                           knobs of the endpoint under `tcp`";
            return conflict(format!("linux.{name}"), message);
        }
        let connection = self.flows.iter().position(|flow| flow.place.is_some());
        if let (false, Some(i)) = (self.home.is_simulator(), connection) {
            let message = "has an effect only in the simulator: remove it, or `home`";
            return conflict(self.flow_key(i, "subflows"), message);
        }
        let flows = self.flows.iter().enumerate();
        let flows = flows.map(|(i, flow)| (self.flow_key(i, "rule"), &flow.rule.0));
        let arrivals = self.arrivals.iter().enumerate();
        let arrivals = arrivals.map(|(i, group)| (format!("arrivals[{i}].rule"), &group.rule.0));
        for (key, rule) in flows.chain(arrivals) {
            if let Some(refusal) = self.home.refusal(rule) {
                return conflict(key, refusal);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scenario(head: &str, rule: &str) -> Result<crate::CheckedScenario, String> {
        Scenario::from_toml(&format!(
            "duration = \"1s\"\n{head}\n[dumbbell]\nrate = \"1Mbit\"\ndelay = \"10ms\"\n[[flows]]\n\
             rule = \"{rule}\"\n"
        ))
        .map_err(|error| error.to_string())
    }

    #[test]
    fn settings_of_linux_need_a_kernel() {
        let with = |home: &str, settings: &str| {
            scenario(&format!("home = \"{home}\"\n[linux]\n{settings}"), "kernel:reno")
        };
        let settings = "tcp_recovery = 0\nrto_min = \"50ms\"";
        let there = with("linux", settings).unwrap();
        assert_eq!(there.linux.names(), ["rto_min", "tcp_recovery"]);
        there.check_home().unwrap();
        let refused = with("simulator", settings).unwrap().check_home().unwrap_err().to_string();
        assert!(refused.starts_with("linux.rto_min: has an effect only in a kernel"), "{refused}");
        for (wrong, expected) in [
            ("udp_mem = 1", "linux.udp_mem: \"udp_mem\" is not known: expected gso_max_segs, "),
            ("initcwnd = 0", "linux.initcwnd: 0 is not valid: expected 1 to 65535"),
            ("rto_min = \"0ms\"", "linux.rto_min: \"0s\" is not valid: expected 1 ms to 120 s"),
            ("tcp_recovery = 1.5", "tcp_recovery: 1.5 is not valid: expected a whole number, or "),
        ] {
            let refused = with("linux", wrong).unwrap_err();
            assert!(refused.contains(expected), "{refused}");
        }
    }

    #[test]
    fn a_home_names_the_rules_that_it_cannot_run() {
        for (home, rule, wrong) in [
            ("", "CUBIC", None),
            ("", "kernel:cubic", None),
            (
                "",
                "kernel:yeah",
                Some("flows[0].rule: \"kernel:yeah\" is not known: expected kernel:reno, "),
            ),
            ("home = \"linux\"", "kernel:yeah", None),
            ("home = \"linux\"", "GAIMD(0.31, 0.875)", None),
            (
                "home = \"linux\"",
                "CUBIC",
                Some("flows[0].rule: rule \"CUBIC\" cannot run in the kernel"),
            ),
        ] {
            let found = scenario(home, rule).unwrap().check_home().map_err(|e| e.to_string());
            match wrong {
                None => assert_eq!(found, Ok(())),
                Some(start) => assert!(found.clone().unwrap_err().starts_with(start), "{found:?}"),
            }
        }
    }
}
