//! Goodput of listed flows in bins, for starvation and convergence.

/// Goodput of each listed flow in bins of the whole run, and when each began.
#[derive(Debug)]
pub struct ShareRecord {
    bin_s: f64,
    bits: Vec<Vec<u64>>,
    starts_s: Vec<f64>,
}

impl ShareRecord {
    /// No goodput of so many flows.
    pub fn new(bin_s: f64, flows: usize) -> Self {
        Self { bin_s, bits: vec![Vec::new(); flows], starts_s: vec![f64::INFINITY; flows] }
    }

    /// A flow begins, unless it has.
    pub fn note_start(&mut self, now_s: f64, flow: u32) {
        if let Some(start_s) = self.starts_s.get_mut(flow as usize) {
            *start_s = start_s.min(now_s);
        }
    }

    /// New data of a flow arrived.
    pub fn add(&mut self, now_s: f64, flow: u32, bits: u64) {
        if let Some(bins) = self.bits.get_mut(flow as usize) {
            let bin = (now_s / self.bin_s) as usize;
            if bin >= bins.len() {
                bins.resize(bin + 1, 0);
            }
            bins[bin] += bits;
        }
    }

    /// Length of a bin, seconds.
    pub fn bin_s(&self) -> f64 {
        self.bin_s
    }

    /// Bits of a flow in a bin.
    pub fn bits(&self, flow: usize, bin: usize) -> u64 {
        self.bits[flow].get(bin).copied().unwrap_or(0)
    }

    /// When a flow began, seconds; infinite if it did not.
    pub fn start_s(&self, flow: usize) -> f64 {
        self.starts_s[flow]
    }
}
