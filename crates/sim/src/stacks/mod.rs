//! Flows whose endpoints are those of a transport stack (crates/stack), in simulated time.

mod flow;
mod hosts;
mod settings;

pub use hosts::{StackFault, StackHosts};
pub use settings::check_stacks;
