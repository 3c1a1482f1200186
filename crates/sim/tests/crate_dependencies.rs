//! Crates depend downwards only: quantities and rules at the bottom, then endpoints and queues,
//! then scenario and simulator, then the bindings.

use cargo_metadata::{DependencyKind, MetadataCommand, Package};
use std::collections::BTreeSet;

/// Which crates of the workspace each crate may name.
const ARROWS: &[(&str, &[&str])] = &[
    ("cwndlab-prefetch", &[]),
    ("cwndlab-units", &[]),
    ("cwndlab-columns", &[]),
    ("cwndlab-rules", &["cwndlab-units"]),
    ("cwndlab-queues", &[]),
    ("cwndlab-tcp", &["cwndlab-prefetch", "cwndlab-units", "cwndlab-rules"]),
    ("cwndlab-scenario", &["cwndlab-units", "cwndlab-rules", "cwndlab-tcp"]),
    ("cwndlab-stack", &["cwndlab-rules", "cwndlab-tcp"]),
    (
        "cwndlab-sim",
        &[
            "cwndlab-prefetch",
            "cwndlab-units",
            "cwndlab-rules",
            "cwndlab-queues",
            "cwndlab-tcp",
            "cwndlab-scenario",
            "cwndlab-stack",
        ],
    ),
    ("cwndlab-emulator", &["cwndlab-scenario", "cwndlab-sim"]),
    ("cwndlab-kernel", &["cwndlab-units", "cwndlab-rules"]),
    (
        "cwndlab-quic",
        &["cwndlab-rules", "cwndlab-scenario", "cwndlab-stack", "cwndlab-sim", "cwndlab-emulator"],
    ),
    (
        "cwndlab-live",
        &[
            "cwndlab-units",
            "cwndlab-rules",
            "cwndlab-tcp",
            "cwndlab-scenario",
            "cwndlab-sim",
            "cwndlab-emulator",
            "cwndlab-kernel",
            "cwndlab-quic",
        ],
    ),
    (
        "cwndlab-web",
        &["cwndlab-units", "cwndlab-columns", "cwndlab-rules", "cwndlab-scenario", "cwndlab-sim"],
    ),
    (
        "cwndlab-python",
        &[
            "cwndlab-units",
            "cwndlab-columns",
            "cwndlab-rules",
            "cwndlab-tcp",
            "cwndlab-scenario",
            "cwndlab-stack",
            "cwndlab-sim",
            "cwndlab-quic",
        ],
    ),
];

/// Crates that bring what the core must not have, and those that may name them.
const ONLY_IN: &[(&str, &[&str])] = &[
    ("pyo3", &["cwndlab-python"]),
    ("pcap-file", &["cwndlab-python"]),
    ("etherparse", &["cwndlab-python", "cwndlab-emulator"]),
    ("libbpf-rs", &["cwndlab-kernel"]),
    ("quinn", &["cwndlab-quic"]),
    ("quinn-proto", &["cwndlab-quic"]),
    ("netlink-packet-route", &["cwndlab-live"]),
];

/// Names of what a crate depends on, not for its tests.
fn dependencies(package: &Package) -> BTreeSet<&str> {
    package
        .dependencies
        .iter()
        .filter(|dependency| dependency.kind != DependencyKind::Development)
        .map(|dependency| dependency.name.as_str())
        .collect()
}

fn workspace() -> Vec<Package> {
    let manifest = concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml");
    let metadata = MetadataCommand::new()
        .manifest_path(manifest)
        .no_deps()
        .exec()
        .expect("cargo describes the workspace");
    metadata.packages
}

#[test]
fn crates_depend_downwards_only() {
    for package in workspace() {
        let name = package.name.as_str();
        let allowed = ARROWS
            .iter()
            .find(|arrow| arrow.0 == name)
            .unwrap_or_else(|| panic!("{name} is new: give it its arrows here"))
            .1;
        for dependency in dependencies(&package)
            .into_iter()
            .filter(|dependency| dependency.starts_with("cwndlab-"))
        {
            assert!(allowed.contains(&dependency), "{name} must not depend on {dependency}");
        }
    }
}

#[test]
fn bindings_and_file_formats_stay_at_the_edge() {
    for package in workspace() {
        for (dependency, homes) in ONLY_IN {
            assert!(
                homes.contains(&package.name.as_str())
                    || !dependencies(&package).contains(dependency),
                "{dependency} belongs into {homes:?}, not {}",
                package.name
            );
        }
    }
}
