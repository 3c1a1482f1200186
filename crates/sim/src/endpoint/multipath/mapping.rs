//! Which data the packets of a subflow carry (RFC 8684 section 3.3.1, data sequence mapping).

use std::collections::VecDeque;

/// Packets of a subflow in a row that carry data in a row.
#[derive(Clone, Copy, Debug)]
struct Run {
    number: i64,
    data: i64,
    packets: i64,
}

/// The mapping of a subflow: its packets to numbers of data.
#[derive(Clone, Debug, Default)]
pub struct Mapping {
    runs: VecDeque<Run>,
}

impl Mapping {
    /// The packet behind the last one that is mapped; 0 before any.
    pub fn end(&self) -> i64 {
        self.runs.back().map_or(0, |run| run.number + run.packets)
    }

    /// The next packet, `number`, carries this data.
    pub fn add(&mut self, number: i64, data: i64) {
        match self.runs.back_mut() {
            Some(run) if data == run.data + run.packets => run.packets += 1,
            _ => self.runs.push_back(Run { number, data, packets: 1 }),
        }
    }

    /// The data of the packets from `from` to below `end`, as far as they are mapped.
    pub fn data(&self, from: i64, end: i64) -> impl Iterator<Item = i64> + '_ {
        let first = self.runs.partition_point(|run| run.number + run.packets <= from);
        self.runs.range(first..).take_while(move |run| run.number < end).flat_map(move |run| {
            let (from, end) = (from.max(run.number), end.min(run.number + run.packets));
            run.data + (from - run.number)..run.data + (end - run.number)
        })
    }

    /// Forgets packets below `number`, but not the last run.
    pub fn forget_below(&mut self, number: i64) {
        while self.runs.len() > 1
            && self.runs.front().is_some_and(|run| run.number + run.packets <= number)
        {
            self.runs.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Packets 1 to 3 carry data 0 to 2, packets 4 and 5 data 7 and 8.
    #[test]
    fn runs_of_data() {
        let mut mapping = Mapping::default();
        for (number, data) in [(1, 0), (2, 1), (3, 2), (4, 7), (5, 8)] {
            mapping.add(number, data);
        }
        assert_eq!(mapping.end(), 6);
        assert_eq!(mapping.data(2, 5).collect::<Vec<_>>(), [1, 2, 7]);
        mapping.forget_below(4);
        assert_eq!(mapping.data(0, 9).collect::<Vec<_>>(), [7, 8]);
    }
}
