//! System requirements for registering rules: root and a kernel with BTF.

use crate::KernelError;
use std::path::Path;

/// The kernel's BTF, with which libbpf relocates programs.
const TYPES: &str = "/sys/kernel/btf/vmlinux";

/// Checks the system requirements.
///
/// # Errors
/// [`KernelError::Machine`] if a requirement is missing.
pub fn check() -> Result<(), KernelError> {
    if !nix::unistd::geteuid().is_root() {
        return Err(KernelError::Machine(
            "registering a rule in the kernel needs root (CAP_BPF and CAP_NET_ADMIN)".into(),
        ));
    }
    if !Path::new(TYPES).exists() {
        return Err(KernelError::Machine(format!(
            "{TYPES} does not exist: rules in the kernel need a kernel built with \
             CONFIG_DEBUG_INFO_BTF"
        )));
    }
    Ok(())
}
