//! Errors of this crate; each message is one line.

use std::fmt;

/// Why a rule could not be compiled, registered, listed or removed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KernelError {
    /// The rule cannot run in the kernel.
    Rule(String),
    /// The name is not valid.
    Name(String),
    /// A congestion control of that name exists.
    InUse(String),
    /// No rule of that name is installed.
    Unknown(String),
    /// An option is out of range.
    Option(String),
    /// Privileges or kernel features are missing, or a system call failed.
    System(String),
}

impl fmt::Display for KernelError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Self::Rule(text)
        | Self::Name(text)
        | Self::InUse(text)
        | Self::Unknown(text)
        | Self::Option(text)
        | Self::System(text)) = self;
        f.write_str(text)
    }
}

impl std::error::Error for KernelError {}
