//! Windowed maximum of three values (Kathleen Nichols' algorithm, as in Linux `win_minmax`): the
//! largest of the window, the largest after it, the largest after that. Each stays for a part of
//! the window at least, so that an old maximum leaves a recent one.

/// A value and its period.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Sample {
    period: u64,
    value: u64,
}

/// The maximum over `window` periods.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct RunningMax {
    window: u64,
    best: [Sample; 3],
}

impl RunningMax {
    pub(super) const fn new(window: u64) -> Self {
        Self { window, best: [Sample { period: 0, value: 0 }; 3] }
    }

    pub(super) fn value(&self) -> u64 {
        self.best[0].value
    }

    /// Adds a value; periods never decrease.
    pub(super) fn update(&mut self, period: u64, value: u64) {
        let new = Sample { period, value };
        let [first, second, third] = self.best;
        if value >= first.value || period - third.period > self.window {
            self.best = [new; 3];
            return;
        }
        let beaten = if value >= second.value {
            1
        } else if value >= third.value {
            2
        } else {
            3
        };
        self.best[beaten..].fill(new);
        self.expire(new);
    }

    /// Drops a maximum that is older than the window. Without a second value after a quarter of the
    /// window, or a third after half of it, the new one is that.
    fn expire(&mut self, new: Sample) {
        let age = new.period - self.best[0].period;
        if age > self.window {
            for _ in 0..2 {
                self.best = [self.best[1], self.best[2], new];
                if new.period - self.best[0].period <= self.window {
                    break;
                }
            }
        } else if self.best[1].period == self.best[0].period && age > self.window / 4 {
            self.best[1..].fill(new);
        } else if self.best[2].period == self.best[1].period && age > self.window / 2 {
            self.best[2] = new;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 9 of period 2 holds until period 12. After it comes 8 of period 5, the first value a quarter
    /// of the window later, although 8.5 of period 3 was larger: it came too early to be kept.
    #[test]
    fn the_largest_of_ten_periods() {
        let mut filter = RunningMax::new(10);
        for (period, value, largest) in [
            (1, 50, 50),
            (2, 90, 90),
            (3, 85, 90),
            (5, 80, 90),
            (9, 60, 90),
            (12, 40, 90),
            (13, 30, 80),
            (14, 30, 80),
            (16, 30, 60),
            (40, 20, 20),
        ] {
            filter.update(period, value);
            assert_eq!(filter.value(), largest, "period {period}");
        }
    }
}
