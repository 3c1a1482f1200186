//! Why a rule cannot run in the kernel: one line that names what was given and what is allowed.

use std::fmt;

/// Why a rule could not be made, registered, listed or removed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KernelError {
    /// The kernel cannot take the rule.
    Rule(String),
    /// The name is not one that the kernel takes.
    Name(String),
    /// A congestion control of that name is there already.
    InUse(String),
    /// No such rule is installed.
    Unknown(String),
    /// The option is out of range.
    Option(String),
    /// Not allowed, or the kernel lacks something.
    Machine(String),
}

impl fmt::Display for KernelError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Self::Rule(text)
        | Self::Name(text)
        | Self::InUse(text)
        | Self::Unknown(text)
        | Self::Option(text)
        | Self::Machine(text)) = self;
        f.write_str(text)
    }
}

impl std::error::Error for KernelError {}
