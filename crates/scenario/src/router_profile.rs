//! Defaults of routers, for queues whose keys are absent: those of ns-2 by year, and Linux.
//!
//! ns-2's are dated by its CHANGES.html and the comments of ns-default.tcl (docs/profiles.md).

use crate::queue::QueueSpec;
use cwndlab_units::{Buffer, Bytes, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Whose routers' defaults a scenario takes; those of ns-2 with the latest last.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
pub enum RouterProfile {
    /// ns-2.1b7a (16 October 2000).
    #[serde(rename = "ns2-2000")]
    Ns2_2000,
    /// ns-2.1b8 (6 June 2001).
    #[serde(rename = "ns2-2001")]
    Ns2_2001,
    /// ns-2.1b9 (13 April 2002).
    #[serde(rename = "ns2-2002")]
    Ns2_2002,
    /// ns-2.34 (17 June 2009).
    #[serde(rename = "ns2-2009")]
    Ns2_2009,
    /// ns-2.35 (4 November 2011).
    #[serde(rename = "ns2-2.35")]
    Ns2_235,
    /// Linux 6.17.
    #[serde(rename = "linux")]
    Linux,
}

impl RouterProfile {
    /// A queue with these defaults where its keys are absent. RED's thresholds are one default: a
    /// scenario that gives one of them leaves the other automatic.
    pub fn complete(self, queue: QueueSpec) -> QueueSpec {
        match self {
            Self::Linux => of_linux(queue),
            _ => self.of_ns2(queue),
        }
    }

    fn of_ns2(self, mut queue: QueueSpec) -> QueueSpec {
        match &mut queue {
            QueueSpec::Red {
                min,
                max,
                weight,
                gentle,
                bytes,
                queue_in_bytes,
                mean_packet,
                mark_p,
                ..
            } => {
                // thresh_ 5, maxthresh_ 15, q_weight_ 0.002 before December 2001, then automatic.
                if self <= Self::Ns2_2001 {
                    if min.is_none() && max.is_none() {
                        *min = Some(Buffer::Packets(5.0));
                        *max = Some(Buffer::Packets(15.0));
                    }
                    weight.get_or_insert(0.002);
                }
                // gentle_: true since 27 May 2001.
                gentle.get_or_insert(self > Self::Ns2_2000);
                // bytes_, queue_in_bytes_: true since 11 October 2004.
                bytes.get_or_insert(self >= Self::Ns2_2009);
                queue_in_bytes.get_or_insert(self >= Self::Ns2_2009);
                // mean_pktsize_ 500: no entry changes it.
                mean_packet.get_or_insert(Bytes(500));
                // mark_p_ 0.1 is of 30 April 2002, use_mark_p_ of 2 December 2005.
                if self >= Self::Ns2_2009 {
                    mark_p.get_or_insert(0.1);
                }
            }
            // quantum_ 250, buckets_ 10: no entry changes them.
            QueueSpec::Drr { quantum, buckets, .. } => {
                quantum.get_or_insert(Bytes(250));
                buckets.get_or_insert(10);
            }
            _ => {}
        }
        queue
    }
}

/// `dualpi2_reset_default` of net/sched/sch_dualpi2.c; Linux's CoDel, FQ-CoDel and PIE have the
/// values of their RFCs.
fn of_linux(mut queue: QueueSpec) -> QueueSpec {
    if let QueueSpec::DualPi2 { update, alpha, beta, threshold, range, classic_share, .. } =
        &mut queue
    {
        update.get_or_insert(Time::ns(16_000_000));
        // In units of 1/256.
        alpha.get_or_insert(41.0 / 256.0);
        beta.get_or_insert(819.0 / 256.0);
        threshold.get_or_insert(Time::ns(1_000_000));
        range.get_or_insert(Time::default());
        classic_share.get_or_insert(0.1);
    }
    queue
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    /// Keys of a queue under a profile.
    fn completed(profile: &str, queue: Value) -> Value {
        let profile: RouterProfile = serde_json::from_value(json!(profile)).unwrap();
        let queue: QueueSpec = serde_json::from_value(queue).unwrap();
        serde_json::to_value(profile.complete(queue)).unwrap()
    }

    #[test]
    fn red_of_2000_has_thresholds_of_5_and_15_packets_and_is_not_gentle() {
        let red = completed("ns2-2000", json!({ "kind": "red" }));
        assert_eq!((&red["min"], &red["max"]), (&json!("5pkt"), &json!("15pkt")));
        assert_eq!((&red["weight"], &red["gentle"]), (&json!(0.002), &json!(false)));
    }

    #[test]
    fn red_of_2002_is_gentle_and_automatic_and_of_2009_in_bytes() {
        let red = completed("ns2-2002", json!({ "kind": "red" }));
        assert!(red.get("min").is_none() && red.get("weight").is_none());
        assert_eq!((&red["gentle"], &red["bytes"]), (&json!(true), &json!(false)));
        let red = completed("ns2-2009", json!({ "kind": "red" }));
        assert_eq!((&red["queue_in_bytes"], &red["mark_p"]), (&json!(true), &json!(0.1)));
    }

    #[test]
    fn dualpi2_of_linux_marks_by_a_step() {
        let dualpi2 = completed("linux", json!({ "kind": "dualpi2", "classic_share": 0.5 }));
        assert_eq!((&dualpi2["threshold"], &dualpi2["range"]), (&json!("1ms"), &json!("0s")));
        assert_eq!((&dualpi2["update"], &dualpi2["classic_share"]), (&json!("16ms"), &json!(0.5)));
    }

    #[test]
    fn keys_of_the_scenario_take_precedence() {
        let red = completed("ns2-2000", json!({ "kind": "red", "min": "30pkt", "gentle": true }));
        assert!(red.get("max").is_none());
        assert_eq!((&red["min"], &red["gentle"]), (&json!("30pkt"), &json!(true)));
    }
}
