//! Build script: compiles the BPF programs, and their arithmetic for the host, where tests call it.

use std::path::{Path, PathBuf};
use std::process::Command;

const PROGRAMS: [&str; 5] = ["table", "surface", "bimodal", "mraimd", "drive"];

fn main() {
    println!("cargo:rerun-if-changed=bpf");
    println!("cargo:rerun-if-env-changed=CLANG");
    if std::env::var_os("CARGO_FEATURE_BPF").is_none() {
        return;
    }
    let out = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    for program in PROGRAMS {
        compile(
            Path::new("bpf").join(format!("{program}.bpf.c")).as_path(),
            &out.join(format!("{program}.o")),
        );
    }
    cc::Build::new().file("bpf/host.c").opt_level(2).warnings(true).compile("cwndlab_kernel_host");
}

fn compile(source: &Path, object: &Path) {
    let clang = std::env::var("CLANG").unwrap_or_else(|_| "clang".to_string());
    // BPF instruction set v3 has 32-bit arithmetic; every kernel with struct_ops for TCP (5.6) has
    // it.
    let status = Command::new(&clang)
        .args(["-target", "bpf", "-mcpu=v3", "-O2", "-g", "-Wall", "-Wextra"])
        .args(["-Wno-unused-parameter", "-Werror", "-c"])
        .arg(source)
        .arg("-o")
        .arg(object)
        .status()
        .unwrap_or_else(|error| {
            panic!(
                "{clang} could not be started ({error}): rules in the kernel need clang (Debian \
                 package clang)"
            )
        });
    assert!(status.success(), "{clang} could not compile {}", source.display());
}
