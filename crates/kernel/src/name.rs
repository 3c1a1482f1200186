//! Names of congestion controls: validity and availability.

use crate::KernelError;
use cwndlab_units::message::invalid;

/// TCP_CA_NAME_MAX is 16, including the terminating zero.
const MOST_CHARACTERS: usize = 15;
/// The kernel's list of congestion controls, which is the same in every network namespace.
const AVAILABLE: &str = "/proc/sys/net/ipv4/tcp_available_congestion_control";

/// Checks that a name is valid for the kernel and its tools: 1 to 15 letters, digits, `_` and `-`,
/// a letter first.
///
/// # Errors
/// [`KernelError::Name`].
///
/// ```
/// assert!(cwndlab_kernel::name::check("my_rule").is_ok());
/// assert!(cwndlab_kernel::name::check("my rule").is_err());
/// ```
pub fn check(name: &str) -> Result<(), KernelError> {
    let characters = name.chars().count();
    let allowed = |character: char| character.is_ascii_alphanumeric() || "_-".contains(character);
    let is_valid = (1..=MOST_CHARACTERS).contains(&characters)
        && name.chars().all(allowed)
        && name.starts_with(|first: char| first.is_ascii_alphabetic());
    if is_valid { Ok(()) } else { Err(invalid_name(name)) }
}

fn invalid_name(name: &str) -> KernelError {
    let expected = format!("1 to {MOST_CHARACTERS} letters, digits, _ and -, a letter first");
    KernelError::Name(invalid("name", format!("{name:?}"), expected))
}

/// All available congestion controls of this kernel.
///
/// # Errors
/// [`KernelError::System`] if the list cannot be read, as on systems other than Linux.
pub fn available() -> Result<Vec<String>, KernelError> {
    let list = std::fs::read_to_string(AVAILABLE)
        .map_err(|error| KernelError::System(format!("{AVAILABLE}: {error}")))?;
    Ok(list.split_whitespace().map(str::to_string).collect())
}

pub(crate) fn check_free(name: &str) -> Result<(), KernelError> {
    if available()?.iter().any(|known| known == name) { Err(in_use(name)) } else { Ok(()) }
}

pub(crate) fn in_use(name: &str) -> KernelError {
    let names = available().map(|names| names.join(", ")).unwrap_or_default();
    KernelError::InUse(format!(
        "name \"{name}\" is in use: choose a name other than {names}, or remove that rule first"
    ))
}
