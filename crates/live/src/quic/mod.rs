//! Live runs with QUIC: quinn endpoints on 127.0.0.1, and a relay between them that emulates the
//! network.

mod plan;
mod play;
mod result;
mod run;

pub use run::run;

#[cfg(test)]
mod tests;
