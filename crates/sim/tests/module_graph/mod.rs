//! Which source files of a crate import which: parsed by syn, names resolved through re-exports.

mod circle;
mod names;
mod paths;
mod source;

pub use circle::circles;
pub use names::arrows;
pub use source::Crate;
