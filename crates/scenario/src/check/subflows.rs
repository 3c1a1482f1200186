//! Checks of connections over several paths, before their subflows become flows.

use super::conditions::{Checked, at_least, conflict, invalid, later, unique};
use crate::{FlowSpec, Scenario, Scheduler};
use std::collections::BTreeSet;

/// Most subflows of a connection: each ACK tells all of them to a coupled rule.
const MAX_SUBFLOWS: usize = 64;

impl Scenario {
    /// Checks the keys of connections; those that flows have, too, are checked with these.
    pub(crate) fn check_subflows(&self) -> Checked {
        if self.flows.iter().all(|flow| flow.subflows.is_empty()) {
            return self.flows.iter().enumerate().try_for_each(|(i, flow)| check_single(i, flow));
        }
        let mut names = BTreeSet::new();
        for (i, flow) in self.flows.iter().enumerate() {
            unique(format!("flows[{i}].name"), &flow.name, &mut names, "traffic")?;
            if flow.subflows.is_empty() { check_single(i, flow)? } else { check(i, flow)? }
        }
        Ok(())
    }
}

/// A flow of its own takes no key of connections.
fn check_single(i: usize, flow: &FlowSpec) -> Checked {
    let keys = [
        ("scheduler", flow.scheduler != Scheduler::default()),
        ("connection_buffer", flow.connection_buffer.is_some()),
    ];
    match keys.iter().find(|(_, is_given)| *is_given) {
        Some((name, _)) => conflict(
            format!("flows[{i}].{name}"),
            format!("`{name}` must not be given when `subflows` is not: it is a connection's"),
        ),
        None => Ok(()),
    }
}

fn check(i: usize, flow: &FlowSpec) -> Checked {
    let key = |name: &str| format!("flows[{i}].{name}");
    if flow.subflows.len() > MAX_SUBFLOWS {
        let found = format!("a list of {}", flow.subflows.len());
        return invalid(key("subflows"), found, format!("1 to {MAX_SUBFLOWS} subflows"));
    }
    let others = flow.repeated().into_iter().chain([
        ("reader", flow.reader.is_some()),
        ("join", flow.join.is_some()),
        ("leave", flow.leave.is_some()),
        ("bytes", flow.bytes.is_some()),
    ]);
    if let Some((name, _)) = others.into_iter().find(|(_, is_given)| *is_given) {
        return conflict(
            key(name),
            format!(
                "`{name}` must not be given when `subflows` is: a connection sends `packets`, \
                     or without end"
            ),
        );
    }
    if let Some(packets) = flow.connection_buffer {
        at_least(key("connection_buffer"), packets, 1)?;
    }
    later(key("stop"), flow.stop, flow.start.span().high)?;
    let names: Vec<String> = (0..flow.subflows.len()).map(|n| flow.subflow_name(n)).collect();
    let mut known = BTreeSet::new();
    for (number, (subflow, name)) in flow.subflows.iter().zip(&names).enumerate() {
        let key = |name: &str| format!("flows[{i}].subflows[{number}].{name}");
        if subflow.name.as_ref().is_some_and(String::is_empty) {
            return invalid(key("name"), "\"\"", "a unique subflow name");
        }
        unique(key("name"), name, &mut known, "subflow")?;
        if subflow.tcp.packet_size.is_some() {
            return conflict(
                key("tcp.packet_size"),
                format!("must be given under flows[{i}].tcp: a connection has one packet size"),
            );
        }
    }
    Ok(())
}
