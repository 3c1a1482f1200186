//! Window rules as congestion controls of the Linux kernel, by BPF struct_ops.
//!
//! A rule without memory, a user's formula included, runs through one program from tables that are computed from the rule itself;
//! Bimodal and MRAIMD have programs of their own. docs/kernel.md says what is computed how, and how exactly.
//!
//! ```no_run
//! use cwndlab_kernel::{LoadOptions, Registered};
//! let rule = "SQRT(1, 0.5)".parse().unwrap();
//! let registered = Registered::load(&rule, "my_sqrt", &LoadOptions::default()).unwrap();
//! // setsockopt(socket, IPPROTO_TCP, TCP_CONGESTION, "my_sqrt") ...
//! println!("{:?}", registered.report().unwrap());
//! ```

mod error;
pub mod installed;
pub mod machine;
pub mod name;
mod plan;
mod points;
mod registered;
mod surface;
mod table;

pub use error::KernelError;
pub use plan::{Plan, Program};
pub use points::Accuracy;
pub use registered::{Hits, LoadOptions, Registered};
