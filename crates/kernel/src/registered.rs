//! Registration of a rule as a congestion control, for the lifetime of a [`Registered`].

use crate::{CompiledRule, KernelError, name};
use cwndlab_rules::RuleSpec;
use cwndlab_units::message::invalid;
use libbpf_rs::{Link, MapCore, MapFlags, Object, ObjectBuilder, PrintLevel};
use std::sync::Mutex;

/// Options of a registration.
#[derive(Clone, Debug, Default)]
pub struct LoadOptions {
    /// Initial slow-start threshold, packets; none keeps the kernel's, which is infinite. A rule
    /// with shallow cuts takes long to recover from the overshoot of slow start.
    pub initial_ssthresh: Option<u32>,
    /// Lets processes without CAP_NET_ADMIN use the rule (TCP_CONG_NON_RESTRICTED).
    pub for_everybody: bool,
    /// Treats the callbacks of every n-th episode as skipped, for tests of the guard.
    pub skip_every: Option<u32>,
}

/// Counters of the callbacks and the guard, over all flows of the rule.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Hits {
    /// Flows that were initialised with the rule.
    pub flows: u64,
    /// Calls of ssthresh(): episodes of loss or marks.
    pub cuts: u64,
    /// Episodes without a call of ssthresh(), repaired.
    pub skipped_ssthresh: u64,
    /// Changes of the recovery state without a call of set_state().
    pub skipped_set_state: u64,
    /// Acknowledgements whose increase was withheld beyond the end of the table, 16383 packets.
    pub beyond_table: u64,
    /// Calls of undo_cwnd(): cuts that the kernel undid because no packet had been lost.
    pub undone: u64,
    /// Undone cuts without a call of undo_cwnd(), repaired.
    pub skipped_undo: u64,
    /// Episodes skipped on purpose ([`LoadOptions::skip_every`]).
    pub left_unanswered: u64,
}

impl Hits {
    /// Number of callbacks that the kernel skipped.
    pub fn skipped_callbacks(&self) -> u64 {
        self.skipped_ssthresh + self.skipped_set_state + self.skipped_undo
    }

    /// Reads the counters from the bytes of `struct hits` (bpf/flow.h).
    pub(crate) fn of(bytes: &[u8]) -> Self {
        let mut words =
            bytes.chunks_exact(8).map(|word| word.try_into().map_or(0, u64::from_ne_bytes));
        let mut next = || words.next().unwrap_or_default();
        Self {
            flows: next(),
            cuts: next(),
            skipped_ssthresh: next(),
            skipped_set_state: next(),
            beyond_table: next(),
            undone: next(),
            skipped_undo: next(),
            left_unanswered: next(),
        }
    }
}

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
        if let Some(packets @ (0..2 | 0x7fff_ffff..)) = options.initial_ssthresh {
            return Err(KernelError::Option(invalid(
                "initial_ssthresh",
                packets,
                "2 packets or more, below 2147483647",
            )));
        }
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
        .open_memory(plan.program.object())
        .map_err(|error| load_failed(name, &error))?;
    let switches = [
        options.initial_ssthresh.unwrap_or(0),
        u32::from(plan.halves_in_slow_start),
        options.skip_every.unwrap_or(0),
    ];
    let switches: Vec<u8> = switches.iter().flat_map(|switch| switch.to_ne_bytes()).collect();
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
