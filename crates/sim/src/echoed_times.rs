//! The timestamps that an ACK from outside the simulation echoes, which its record does not tell:
//! those of the packets that it reports for the first time.

use std::collections::{HashMap, HashSet};

/// When packets were sent, and which are known to have arrived.
#[derive(Debug)]
pub(crate) struct EchoedTimes {
    /// When each packet was sent last, seconds.
    sent_s: HashMap<i64, f64>,
    highest_ack: i64,
    /// Packets beyond it that were reported as received.
    received: HashSet<i64>,
}

impl EchoedTimes {
    /// Nothing was sent.
    pub(crate) fn new() -> Self {
        Self { sent_s: HashMap::new(), highest_ack: -1, received: HashSet::new() }
    }

    /// A packet is sent, for the first time or again.
    pub(crate) fn note_sent(&mut self, number: i64, time_s: f64) {
        self.sent_s.insert(number, time_s);
    }

    /// When the first and the last packet left, seconds, that an ACK reports for the first time with
    /// its SACK blocks; its own time where it reports none.
    pub(crate) fn of_ack(&mut self, time_s: f64, ack: i64, sack: &[(i64, i64)]) -> (f64, f64) {
        let blocks = sack.iter().flat_map(|&(left, right)| left..right);
        let news: Vec<i64> = (self.highest_ack + 1..=ack)
            .chain(blocks)
            .filter(|number| *number > self.highest_ack && !self.received.contains(number))
            .collect();
        self.highest_ack = self.highest_ack.max(ack);
        self.received.extend(&news);
        let highest_ack = self.highest_ack;
        self.received.retain(|&number| number > highest_ack);
        let sent_s = |number: Option<&i64>| {
            number.and_then(|number| self.sent_s.get(number)).copied().unwrap_or(time_s)
        };
        (sent_s(news.iter().min()), sent_s(news.iter().max()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Packets 0 to 3 leave a second apart. The first ACK reports 0 and 2, the second 1 and 3, and
    /// nothing is news in its repetition.
    #[test]
    fn an_ack_echoes_what_it_reports_first() {
        let mut times = EchoedTimes::new();
        (0..4).for_each(|number| times.note_sent(number, number as f64));
        assert_eq!(times.of_ack(5.0, 0, &[(2, 3)]), (0.0, 2.0));
        assert_eq!(times.of_ack(6.0, 3, &[]), (1.0, 3.0));
        assert_eq!(times.of_ack(7.0, 3, &[(2, 3)]), (7.0, 7.0));
    }
}
