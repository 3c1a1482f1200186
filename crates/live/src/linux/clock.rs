//! The two clocks that a run can have.

/// The clock of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clock {
    /// The machine's.
    Real,
    /// That of a kernel in virtual time, whose first process this is.
    Virtual,
}
