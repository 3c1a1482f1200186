//! Build script: computes a fingerprint of the sources, which any change to a crate changes.
//! `cwndlab.runs.store` uses it as a key of results. The fingerprint is a hash of the sources and not of
//! the binary, because a scenario and a seed give the same results on every machine.

#![allow(clippy::disallowed_methods, reason = "a build script reads the sources")]

use std::io::{Error, Result};
use std::path::{Path, PathBuf};
use std::{env, fs};

/// Parameters of 64-bit FNV-1a, which needs no dependency and is the same on every toolchain.
const BASIS: u64 = 0xcbf2_9ce4_8422_2325;
const PRIME: u64 = 0x0100_0000_01b3;

/// The crates that simulated results depend on.
const CRATES: [&str; 7] = ["units", "rules", "queues", "tcp", "scenario", "sim", "python"];

fn main() -> Result<()> {
    // Of this build, not of the one that compiled the script: targets are copied and shared.
    let manifest = env::var("CARGO_MANIFEST_DIR").map_err(Error::other)?;
    let root = Path::new(&manifest).join("../..");
    let mut files = vec![root.join("Cargo.toml"), root.join("Cargo.lock")];
    for name in CRATES {
        gather(&root.join("crates").join(name), &mut files)?;
    }
    // Sorted by name: the order of the file system differs between machines.
    files.sort();
    let mut hash = BASIS;
    for file in files.iter().filter(|file| file.is_file()) {
        println!("cargo:rerun-if-changed={}", file.display());
        let name = file.strip_prefix(&root).unwrap_or(file).to_string_lossy().replace('\\', "/");
        let text = fs::read(file)?;
        for part in [name.as_bytes(), &text.len().to_le_bytes(), &text] {
            hash =
                part.iter().fold(hash, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(PRIME));
        }
    }
    for name in CRATES {
        println!("cargo:rerun-if-changed={}", root.join("crates").join(name).display());
    }
    println!("cargo:rustc-env=CWNDLAB_BUILD={hash:016x}");
    Ok(())
}

/// Collects sources and manifests; tests and benchmarks do not affect results.
fn gather(folder: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if path.is_dir() && !matches!(name.as_str(), "tests" | "benches" | "examples" | "target") {
            gather(&path, files)?;
        } else if name == "Cargo.toml" || name.ends_with(".rs") {
            files.push(path);
        }
    }
    Ok(())
}
