//! Checks of the scenario's home.

use crate::error::ScenarioError;
use crate::scenario::Scenario;

impl Scenario {
    /// Checks that every rule runs at the scenario's home.
    pub fn check_home(&self) -> Result<(), ScenarioError> {
        let flows = self.flows.iter().enumerate();
        let flows = flows.map(|(i, flow)| (format!("flows[{i}].rule"), &flow.rule.0));
        let arrivals = self.arrivals.iter().enumerate();
        let arrivals = arrivals.map(|(i, group)| (format!("arrivals[{i}].rule"), &group.rule.0));
        for (key, rule) in flows.chain(arrivals) {
            if let Some(refusal) = self.home.refusal(rule) {
                return Err(ScenarioError::at(key, refusal));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scenario(home: &str, rule: &str) -> Result<Scenario, String> {
        Scenario::from_toml(&format!(
            "duration = \"1s\"\n{home}\n[dumbbell]\nrate = \"1Mbit\"\ndelay = \"10ms\"\n[[flows]]\n\
             rule = \"{rule}\"\n"
        ))
        .map_err(|error| error.to_string())
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
            ("home = \"linux\"", "CUBIC", Some("flows[0].rule: CUBIC: `home = \"linux\"` runs")),
        ] {
            let found = scenario(home, rule).unwrap().check_home().map_err(|e| e.to_string());
            match wrong {
                None => assert_eq!(found, Ok(())),
                Some(start) => assert!(found.clone().unwrap_err().starts_with(start), "{found:?}"),
            }
        }
    }
}
