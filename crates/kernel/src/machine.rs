//! What this machine must have before a rule can be registered.

use crate::KernelError;
use std::path::Path;

/// The kernel's own types: what programs are fitted to.
const TYPES: &str = "/sys/kernel/btf/vmlinux";

/// # Errors
/// [`KernelError::Machine`], which says what is missing.
pub fn check() -> Result<(), KernelError> {
    if !nix::unistd::geteuid().is_root() {
        return Err(KernelError::Machine("registering a rule in the kernel needs root (CAP_BPF and CAP_NET_ADMIN): run it as root".into()));
    }
    if !Path::new(TYPES).exists() {
        return Err(KernelError::Machine(format!(
            "{TYPES} is not there: rules in the kernel need one built with CONFIG_DEBUG_INFO_BTF"
        )));
    }
    Ok(())
}
