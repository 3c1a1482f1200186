//! Registers window rules as TCP congestion controls of the Linux kernel, by BPF struct_ops. Rules
//! without memory, formulas included, run in one BPF program that reads tables computed from the
//! rule. Bimodal and MRAIMD have separate programs. docs/kernel.md explains the computation and its
//! accuracy.
//!
//! ```no_run
//! use cwndlab_kernel::{LoadOptions, Registered};
//! let rule = "SQRT(1, 0.5)".parse().unwrap();
//! let registered = Registered::load(&rule, "my_sqrt", &LoadOptions::default()).unwrap();
//! // setsockopt(socket, IPPROTO_TCP, TCP_CONGESTION, "my_sqrt") ...
//! println!("{:?}", registered.report().unwrap());
//! ```

pub mod built_in;
mod compiled_rule;
mod error;
mod hits;
#[cfg(feature = "bpf")]
pub mod installed;
pub mod name;
mod options;
#[cfg(feature = "bpf")]
mod registered;
pub mod requirements;
mod sampling;
mod surface;
mod table;

pub use built_in::BuiltIn;
pub use compiled_rule::{CompiledRule, Program};
pub use error::KernelError;
pub use hits::Hits;
pub use options::LoadOptions;
#[cfg(feature = "bpf")]
pub use registered::Registered;
pub use sampling::Accuracy;
