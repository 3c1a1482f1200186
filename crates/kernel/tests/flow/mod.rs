//! The flow state of the test driver (bpf/drive.h), and the driver's host build.

use cwndlab_kernel::{CompiledRule, Program};

/// Events of a flow (bpf/drive.h).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Event {
    Ack,
    Cut,
    Timeout,
    SlowStart,
    Mark,
    Round,
}

/// `struct drive` of bpf/drive.h.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[repr(C)]
pub struct Drive {
    pub kind: u32,
    pub event: u32,
    pub acked: u32,
    pub srtt_us_8: u32,
    pub min_rtt_us: u32,
    pub padding: u32,
    pub cwnd: u64,
    pub fraction_q44: u64,
    pub bimodal: [u64; 3],
    pub mraimd: [u64; 2],
}

/// Runs events in the host build of a plan's program.
pub fn host(plan: &CompiledRule) -> impl Fn(&mut Drive) + use<> {
    unsafe extern "C" {
        fn cwndlab_kernel_drive(rule: *const u8, flow: *mut Drive);
    }
    // Words, for the alignment of 64-bit reads.
    let words: Vec<u64> = plan
        .data
        .chunks_exact(8)
        .map(|word| u64::from_ne_bytes(word.try_into().unwrap()))
        .collect();
    // SAFETY: `words` is the struct that the program of `plan` reads, and `Drive` is laid out as
    // `struct drive`.
    move |drive| unsafe { cwndlab_kernel_drive(words.as_ptr().cast(), drive) }
}

pub struct Flow(pub Drive);

impl Flow {
    /// A flow at a window of `cwnd` packets, with the rule's initial memory.
    pub fn new(plan: &CompiledRule, cwnd: f64) -> Self {
        let kind = match plan.program {
            Program::Table => 0,
            Program::Surface => 1,
            Program::Bimodal => 2,
            Program::MrAimd => 3,
        };
        let mut drive = Drive {
            kind,
            cwnd: cwnd as u64,
            fraction_q44: (cwnd.fract() * 2f64.powi(44)) as u64,
            ..Drive::default()
        };
        if kind == 3 {
            // memory_begin(): the first word of `struct mraimd` is the first increase factor.
            drive.mraimd[0] = u64::from_ne_bytes(plan.data[..8].try_into().unwrap());
        }
        Self(drive)
    }

    /// The window, packets.
    pub fn cwnd(&self) -> f64 {
        self.0.cwnd as f64 + self.0.fraction_q44 as f64 / 2f64.powi(44)
    }

    /// Runs one event by `run`. The floor of two packets and slow start, which the rule does not
    /// do, are applied here.
    pub fn happen(&mut self, event: Event, acked: u32, rtt_s: f64, run: impl Fn(&mut Drive)) {
        (self.0.event, self.0.acked, self.0.srtt_us_8) =
            (event as u32, acked, (rtt_s * 8e6) as u32);
        run(&mut self.0);
        match event {
            Event::Cut | Event::Timeout if self.0.cwnd < 2 => {
                (self.0.cwnd, self.0.fraction_q44) = (2, 0)
            }
            Event::SlowStart => self.0.cwnd += 1,
            _ => {}
        }
    }
}
