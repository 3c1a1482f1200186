//! System requirements for registering rules: root and a kernel with BTF.

use crate::KernelError;
use std::path::Path;

/// The kernel's BTF, with which libbpf relocates programs.
const TYPES: &str = "/sys/kernel/btf/vmlinux";

/// Checks the system requirements.
///
/// # Errors
/// [`KernelError::System`] if a requirement is missing.
pub fn check() -> Result<(), KernelError> {
    if !nix::unistd::geteuid().is_root() {
        return Err(KernelError::System(
            "registering a rule in the kernel needs root (CAP_BPF and CAP_NET_ADMIN)".into(),
        ));
    }
    if !Path::new(TYPES).exists() {
        return Err(KernelError::System(format!(
            "{TYPES} does not exist: rules in the kernel need a kernel built with \
             CONFIG_DEBUG_INFO_BTF"
        )));
    }
    Ok(())
}
