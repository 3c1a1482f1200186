//! Registration of a rule as a congestion control by BPF, for the lifetime of a [`Registered`].

use crate::{CompiledRule, Hits, KernelError, LoadOptions, Program, name};
use cwndlab_rules::RuleSpec;
use libbpf_rs::{Link, MapCore, MapFlags, Object, ObjectBuilder, PrintLevel};
use std::sync::Mutex;

/// A registered rule, which sockets choose by its name (`TCP_CONGESTION`). Dropping the value
/// unregisters the rule; flows that use it keep it until they close.
#[derive(Debug)]
pub struct Registered {
    // Dropped first: the congestion control is unregistered before its maps are freed.
    link: Link,
    object: Object,
    name: String,
}

/// Offsets of the name and the flags in `struct tcp_congestion_ops` of bpf/kernel.h.
const NAME: std::ops::Range<usize> = 0..16;
const FLAGS: std::ops::Range<usize> = 16..20;
const NON_RESTRICTED: u32 = 1;
pub(crate) const OPERATIONS: &str = "cwndlab_ops";
pub(crate) const HITS: &str = ".data.hits";

impl Registered {
    /// Registers `rule` under `name`.
    ///
    /// # Errors
    /// A rule that cannot run in the kernel, a name that is not valid or in use, missing privileges
    /// or BTF.
    pub fn load(rule: &RuleSpec, name: &str, options: &LoadOptions) -> Result<Self, KernelError> {
        name::check(name)?;
        options.check()?;
        let plan = CompiledRule::new(rule)?;
        crate::requirements::check()?;
        name::check_free(name)?;
        let mut object =
            open(&plan, name, options)?.load().map_err(|error| load_failed(name, &error))?;
        let mut operations = object
            .maps_mut()
            .find(|map| map.name() == OPERATIONS)
            .ok_or_else(|| KernelError::System("the program has no struct_ops map".into()))?;
        let link = operations.attach_struct_ops().map_err(|error| match error.kind() {
            libbpf_rs::ErrorKind::AlreadyExists => name::in_use(name),
            _ => load_failed(name, &error),
        })?;
        Ok(Self { link, object, name: name.to_string() })
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
        let map = self.object.maps().find(|map| map.name() == HITS);
        read_hits(map.as_ref().map(|map| map as &dyn Lookup))
    }

    pub(crate) fn link(&mut self) -> &mut Link {
        &mut self.link
    }

    pub(crate) fn object(&mut self) -> &mut Object {
        &mut self.object
    }
}

/// Reading the only value of a map, of a loaded program or a pinned one.
pub(crate) trait Lookup {
    fn first(&self) -> libbpf_rs::Result<Option<Vec<u8>>>;
}

impl<T: MapCore> Lookup for T {
    fn first(&self) -> libbpf_rs::Result<Option<Vec<u8>>> {
        self.lookup(&0u32.to_ne_bytes(), MapFlags::ANY)
    }
}

pub(crate) fn read_hits(map: Option<&dyn Lookup>) -> Result<Hits, KernelError> {
    let bytes = map.and_then(|map| map.first().ok().flatten());
    bytes
        .map(|bytes| Hits::of(&bytes))
        .ok_or_else(|| KernelError::System("the program's counters cannot be read".into()))
}

fn open(
    plan: &CompiledRule,
    name: &str,
    options: &LoadOptions,
) -> Result<libbpf_rs::OpenObject, KernelError> {
    libbpf_rs::set_print(Some((PrintLevel::Warn, keep)));
    SAID.lock().map(|mut said| said.clear()).unwrap_or_default();
    let mut object = ObjectBuilder::default()
        .open_memory(object(plan.program))
        .map_err(|error| load_failed(name, &error))?;
    let switches = options.bytes(plan.halves_in_slow_start);
    for mut map in object.maps_mut() {
        let failed = |error| load_failed(name, &error);
        match map.name().to_str() {
            Some(".rodata.rule") => map.set_initial_value(&plan.data).map_err(failed)?,
            Some(".rodata.options") => map.set_initial_value(&switches).map_err(failed)?,
            Some(OPERATIONS) => {
                let value = map.initial_value_mut().ok_or_else(|| {
                    KernelError::System("the program's struct_ops map has no value".into())
                })?;
                value[NAME].fill(0);
                value[..name.len()].copy_from_slice(name.as_bytes());
                let flags = if options.for_everybody { NON_RESTRICTED } else { 0 };
                value[FLAGS].copy_from_slice(&flags.to_ne_bytes());
            }
            _ => {}
        }
    }
    Ok(object)
}

/// The messages of libbpf while it loads a program: they have the verifier's reasons, which errors
/// lack.
static SAID: Mutex<Vec<String>> = Mutex::new(Vec::new());

fn keep(_: PrintLevel, text: String) {
    if let Ok(mut said) = SAID.lock() {
        said.push(text.trim().to_string());
    }
}

fn load_failed(name: &str, error: &libbpf_rs::Error) -> KernelError {
    let said = SAID.lock().map(|said| said.join("; ")).unwrap_or_default();
    let last: String =
        said.chars().rev().take(2000).collect::<Vec<_>>().into_iter().rev().collect();
    KernelError::System(format!(
        "the kernel rejected the program for {name}: {error}; {}",
        last.replace('\n', "; ")
    ))
}

fn object(program: Program) -> &'static [u8] {
    match program {
        Program::Table => include_bytes!(concat!(env!("OUT_DIR"), "/table.o")),
        Program::Surface => include_bytes!(concat!(env!("OUT_DIR"), "/surface.o")),
        Program::Bimodal => include_bytes!(concat!(env!("OUT_DIR"), "/bimodal.o")),
        Program::MrAimd => include_bytes!(concat!(env!("OUT_DIR"), "/mraimd.o")),
    }
}
