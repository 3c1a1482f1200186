//! Checks of flows with endpoints of a transport stack. Whether the stack accepts them, the stack
//! says.

use super::conditions::{Checked, conflict};
use crate::home::Home;
use crate::scenario::Scenario;
use crate::traffic::{FlowSpec, RecoveryName};
use cwndlab_units::message::{one_of, unknown_value};

/// Endpoint knobs that reach a stack.
const HONOURED: [&str; 5] = ["packet_size", "window", "initial_ssthresh", "initial_window", "ecn"];

impl Scenario {
    pub(super) fn check_stacks(&self) -> Checked {
        for (i, group) in self.arrivals.iter().enumerate() {
            if group.rule.0.quinn_name().is_some() {
                let message = "is a controller of quinn: arriving flows have TCP endpoints";
                return conflict(
                    format!("arrivals[{i}].rule"),
                    format!("{} {message}", group.rule.0),
                );
            }
        }
        for (i, flow) in self.flows.iter().enumerate() {
            let key = |name: &str| format!("flows[{i}].{name}");
            match &flow.stack {
                Some(stack) => self.check_stack(flow, stack, &key)?,
                None if flow.rule.0.quinn_name().is_some() => {
                    let message =
                        "is a controller of quinn: expected `stack = \"quinn\"` beside it";
                    return conflict(key("rule"), format!("\"{}\" {message}", flow.rule.0));
                }
                None => {}
            }
        }
        Ok(())
    }

    fn check_stack(&self, flow: &FlowSpec, stack: &str, key: &dyn Fn(&str) -> String) -> Checked {
        if self.home != Home::Simulator {
            let message = "runs in the simulator: leave out `home`, or the stack";
            return conflict(key("stack"), format!("\"{stack}\" {message}"));
        }
        let without_effect = [
            ("recovery", flow.recovery != RecoveryName::default()),
            ("reader", flow.reader.is_some()),
        ];
        for (name, is_given) in flow.repeated().into_iter().chain(without_effect) {
            if is_given {
                let message = format!(
                    "has no effect with `stack = \"{stack}\"`, whose flows send `packets`, `bytes` \
                     or without end: leave it out"
                );
                return conflict(key(name), message);
            }
        }
        let knobs = serde_json::to_value(&flow.tcp).unwrap_or_default();
        for name in knobs.as_object().into_iter().flat_map(|knobs| knobs.keys()) {
            if !HONOURED.contains(&name.as_str()) {
                let message = unknown_value(name, &HONOURED);
                return conflict(
                    key(&format!("tcp.{name}")),
                    format!("{message}, which reach `stack = \"{stack}\"`"),
                );
            }
        }
        self.check_traces_of_stacks(stack)?;
        self.check_drops_of_stacks(flow, stack)
    }

    /// Refuses traces that only simulated TCP has.
    fn check_traces_of_stacks(&self, stack: &str) -> Checked {
        let trace = &self.trace;
        let wanted = [
            ("packets", trace.packets),
            ("rtt", trace.rtt),
            ("shares", trace.shares),
            ("account", trace.account),
            ("rule", trace.rule.is_some()),
        ];
        match wanted.iter().find(|(_, is_wanted)| *is_wanted) {
            Some((name, _)) => conflict(
                format!("trace.{name}"),
                format!(
                    "is not recorded of flows with `stack = \"{stack}\"`: expected {}",
                    one_of(&["cwnd", "queue", "rate", "solo"])
                ),
            ),
            None => Ok(()),
        }
    }

    /// Refuses drops by the number of a packet: each transmission over QUIC has its own (RFC 9000
    /// section 12.3).
    fn check_drops_of_stacks(&self, flow: &FlowSpec, stack: &str) -> Checked {
        let dumbbell = self.dumbbell.iter().map(|link| ("dumbbell".to_string(), &link.drop));
        let links = self.links.iter().enumerate();
        let links = links.map(|(i, link)| (format!("links[{i}]"), &link.drop));
        for (key, listed) in dumbbell.chain(links) {
            if let Some(i) = listed.iter().position(|drop| flow.matches(&drop.flow)) {
                let message = format!(
                    "\"{}\" has `stack = \"{stack}\"`, whose packets have no numbers that repeat: \
                     list packets as they arrive, by loss = [{{ kind = \"list\", ... }}]",
                    listed[i].flow
                );
                return conflict(format!("{key}.drop[{i}].flow"), message);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checked(head: &str, flow: &str) -> Result<(), String> {
        let text = format!(
            "duration = \"1s\"\n{head}\n[dumbbell]\nrate = \"1Mbit\"\ndelay = \"10ms\"\n\
             drop = [{{ flow = \"tcp\", packet = 3 }}]\n[[flows]]\nname = \"tcp\"\n\
             rule = \"CUBIC\"\n[[flows]]\nname = \"quic\"\n{flow}\n"
        );
        Scenario::from_toml(&text).map(|_| ()).map_err(|error| error.to_string())
    }

    #[test]
    fn what_a_stack_does_not_have_is_refused_by_name() {
        let quinn = "rule = \"quinn:cubic\"\nstack = \"quinn\"\n";
        assert_eq!(checked("", quinn), Ok(()));
        assert_eq!(checked("", &format!("{quinn}tcp = {{ ecn = true, window = 9 }}")), Ok(()));
        for (head, flow, expected) in [
            (
                "",
                "rule = \"quinn:cubic\"",
                "flows[1].rule: \"quinn:cubic\" is a controller of quinn: expected `stack = ",
            ),
            ("home = \"linux\"", quinn, "flows[1].stack: \"quinn\" runs in the simulator"),
            ("trace = { packets = true }", quinn, "trace.packets: is not recorded of flows with"),
            ("trace = { cwnd = \"all\" }", quinn, ""),
            (
                "",
                &format!("{quinn}frames = {{ size = 1, every = \"1s\" }}"),
                "flows[1].frames: has no",
            ),
            ("", &format!("{quinn}recovery = \"reno\""), "flows[1].recovery: has no effect"),
            (
                "",
                &format!("{quinn}tcp = {{ min_rto = \"1s\" }}"),
                "flows[1].tcp.min_rto: \"min_rto\" is not known: expected packet_size, window, ",
            ),
        ] {
            match checked(head, flow) {
                Ok(()) => assert_eq!(expected, "", "{head} {flow}"),
                Err(error) => {
                    assert!(error.starts_with(expected) && !expected.is_empty(), "{error}")
                }
            }
        }
    }

    #[test]
    fn packets_of_a_stack_cannot_be_listed_by_number() {
        let error = checked("", "rule = \"CUBIC\"\nstack = \"quinn\"\n").map_err(|_| ());
        assert_eq!(error, Ok(()));
        let text = "duration = \"1s\"\n[dumbbell]\nrate = \"1Mbit\"\ndelay = \"10ms\"\n\
                    drop = [{ flow = \"a\", packet = 3 }]\n[[flows]]\nname = \"a\"\n\
                    rule = \"CUBIC\"\nstack = \"quinn\"\n";
        let error = Scenario::from_toml(text).unwrap_err().to_string();
        assert!(
            error.starts_with("dumbbell.drop[0].flow: \"a\" has `stack = \"quinn\"`"),
            "{error}"
        );
    }
}
