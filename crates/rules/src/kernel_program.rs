//! How a kernel runs a rule that is registered in it: crates/kernel has the programs.

use crate::{Arithmetic, Bimodal, MrAimd, Rule, RuleSpec};

/// What runs a rule in a kernel.
#[derive(Clone, Debug)]
pub enum KernelProgram {
    /// A table over the window.
    Table,
    /// A table over window and round trip.
    RoundTripTable,
    /// A table over window and queueing delay.
    QueueingDelayTable,
    /// Bimodal congestion avoidance.
    Bimodal(Box<Bimodal>),
    /// Multi-rate AIMD.
    MrAimd(Box<MrAimd>),
}

impl RuleSpec {
    /// What runs it in a kernel, or why nothing does.
    ///
    /// # Errors
    /// A message of one line that lists the rules that can.
    ///
    /// ```
    /// use cwndlab_rules::RuleSpec;
    /// assert!("SQRT(1, 0.5)".parse::<RuleSpec>().unwrap().kernel_program().is_ok());
    /// let why = "CUBIC".parse::<RuleSpec>().unwrap().kernel_program().unwrap_err();
    /// assert!(why.starts_with("rule \"CUBIC\" cannot run in the kernel"));
    /// ```
    pub fn kernel_program(&self) -> Result<KernelProgram, String> {
        match self.build(Arithmetic::Plain) {
            Rule::Linear(_)
            | Rule::Gaimd(_)
            | Rule::Binomial(_)
            | Rule::HighSpeed(_)
            | Rule::Scalable(_) => Ok(KernelProgram::Table),
            Rule::Formula(formula) => match (formula.has_rtt(), formula.has_qdelay()) {
                (false, false) => Ok(KernelProgram::Table),
                (true, false) => Ok(KernelProgram::RoundTripTable),
                (false, true) => Ok(KernelProgram::QueueingDelayTable),
                (true, true) => Err(self.refused("it depends on both rtt and qdelay")),
            },
            Rule::Bimodal(rule) => Ok(KernelProgram::Bimodal(rule)),
            Rule::MrAimd(rule) => Ok(KernelProgram::MrAimd(rule)),
            _ if self.custom_text().is_some() => {
                Err(self.refused("it is written in Python or Rust"))
            }
            _ => Err(self.refused("it has a memory that no program for the kernel implements")),
        }
    }

    fn refused(&self, why: &str) -> String {
        format!(
            "rule \"{self}\" cannot run in the kernel: {why}; expected a rule without memory \
             (AIMD, AIAD, MIMD, MIAD, AIMAD, MAIMD, Linear, NewReno, GAIMD, Binomial, IIAD, SQRT, \
             HighSpeed, Scalable), a formula (Rule) in w, and rtt or qdelay but not both, Bimodal \
             or MRAIMD; Linux's congestion controls are available by name (reno, cubic, bbr)"
        )
    }
}
