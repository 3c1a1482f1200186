//! Random streams, and variables drawn from them.

pub mod stream;
pub mod variable;
