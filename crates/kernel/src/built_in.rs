//! Rules within a kernel that has no BPF for them, user-mode Linux: the programs are compiled into
//! it, and take rules through a file (bpf/built_in.h).

use crate::{CompiledRule, Hits, KernelError, LoadOptions, name};
use cwndlab_rules::RuleSpec;
use std::fs;

/// What a build adds to the folder net/ipv4/cwndlab of a kernel: files by name.
pub const SOURCES: [(&str, &str); 15] = [
    ("Makefile", include_str!("../bpf/built_in.mk")),
    ("table.c", include_str!("../bpf/table.bpf.c")),
    ("surface.c", include_str!("../bpf/surface.bpf.c")),
    ("bimodal.c", include_str!("../bpf/bimodal.bpf.c")),
    ("mraimd.c", include_str!("../bpf/mraimd.bpf.c")),
    ("bimodal.h", include_str!("../bpf/bimodal.h")),
    ("built_in.h", include_str!("../bpf/built_in.h")),
    ("fixed.h", include_str!("../bpf/fixed.h")),
    ("flow.h", include_str!("../bpf/flow.h")),
    ("hooks.h", include_str!("../bpf/hooks.h")),
    ("kernel.h", include_str!("../bpf/kernel.h")),
    ("mraimd.h", include_str!("../bpf/mraimd.h")),
    ("surface.h", include_str!("../bpf/surface.h")),
    ("table.h", include_str!("../bpf/table.h")),
    ("LICENSE", include_str!("../bpf/LICENSE")),
];

/// Bytes of a name (TCP_CA_NAME_MAX of linux/tcp.h).
const NAME_BYTES: usize = 16;

/// A rule that is registered in a kernel with the programs built in, for as long as that runs.
#[derive(Debug)]
pub struct BuiltIn {
    name: String,
}

impl BuiltIn {
    /// Registers `rule` under `name`.
    ///
    /// # Errors
    /// A rule that cannot run in the kernel, a name that is not valid or in use, a kernel without
    /// the programs.
    pub fn register(
        rule: &RuleSpec,
        name: &str,
        options: &LoadOptions,
    ) -> Result<Self, KernelError> {
        name::check(name)?;
        options.check()?;
        let compiled = CompiledRule::new(rule)?;
        name::check_free(name)?;
        let mut request = name.as_bytes().to_vec();
        request.resize(NAME_BYTES, 0);
        request.extend(options.bytes(compiled.halves_in_slow_start));
        request.extend(compiled.data);
        let file = format!("/proc/cwndlab_{}", compiled.program.name());
        fs::write(&file, request).map_err(|error| {
            KernelError::System(format!("the kernel does not take {rule} ({file}): {error}"))
        })?;
        Ok(Self { name: name.to_string() })
    }

    /// The name of the congestion control.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The counters so far.
    ///
    /// # Errors
    /// [`KernelError::System`] if the counters cannot be read.
    pub fn report(&self) -> Result<Hits, KernelError> {
        let file = format!("/proc/{}", self.name);
        fs::read(&file)
            .map(|bytes| Hits::of(&bytes))
            .map_err(|error| KernelError::System(format!("{file}: {error}")))
    }
}
