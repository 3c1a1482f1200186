//! Runs a scenario file and prints its result: `cargo run --release --example run -- FILE.toml`.

use cwndlab_scenario::Scenario;
use cwndlab_sim::Simulation;

#[allow(clippy::disallowed_methods, reason = "a program reads files, the library does not")]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args().nth(1).ok_or("usage: run FILE.toml")?;
    let scenario = Scenario::from_toml(&std::fs::read_to_string(path)?)?;
    let result = Simulation::new(&scenario).run()?;
    println!("{}", serde_json::to_string_pretty(&result)?);
    Ok(())
}
