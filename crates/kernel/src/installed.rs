//! Persistent registration of rules in the kernel: install, list, remove and clean up. An installed
//! rule is a BPF link pinned in a BPF file system at /run/cwndlab/bpf. The kernel removes every
//! other registration when the process that holds it ends, however it ends.

use crate::registered::{HITS, OPERATIONS, read_hits};
use crate::{Hits, KernelError, LoadOptions, Registered, name, requirements};
use cwndlab_rules::RuleSpec;
use libbpf_rs::btf::types::{MemberAttr, Struct};
use libbpf_rs::query::{LinkInfoIter, LinkTypeInfo};
use libbpf_rs::{MapCore, MapFlags, MapHandle, btf::Btf};
use nix::fcntl::{Flock, FlockArg};
use nix::mount::{MsFlags, mount, umount};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

const HOME: &str = "/run/cwndlab";
/// Folders of pins in the BPF file system, which allows no dot in names.
const LINKS: &str = "links";
const COUNTERS: &str = "hits";

fn mounted() -> PathBuf {
    Path::new(HOME).join("bpf")
}

fn pin(kind: &str, name: &str) -> PathBuf {
    mounted().join(kind).join(name)
}

/// The file with the rule's text; the kernel has only its name.
fn text(name: &str) -> PathBuf {
    Path::new(HOME).join("rules").join(name)
}

/// A rule of this crate that is registered now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Name of the congestion control.
    pub name: String,
    /// The rule's text; none unless installed.
    pub rule: Option<String>,
    /// The counters so far; none unless installed.
    pub hits: Option<Hits>,
    /// Whether the rule is installed; otherwise a running process holds it.
    pub installed: bool,
}

/// Registers `rule` under `name` until [`remove`] or the next boot.
///
/// # Errors
/// As [`Registered::load`], and if nothing can be written below /run.
pub fn install(rule: &RuleSpec, name: &str, options: &LoadOptions) -> Result<(), KernelError> {
    name::check(name)?;
    crate::CompiledRule::new(rule)?;
    requirements::check()?;
    let _lock = lock()?;
    let mut registered = Registered::load(rule, name, options)?;
    prepare()?;
    let kept = keep(&mut registered, rule, name);
    if kept.is_err() {
        forget(name);
    }
    kept
}

fn keep(registered: &mut Registered, rule: &RuleSpec, name: &str) -> Result<(), KernelError> {
    let failed =
        |what: &str, error: &dyn std::fmt::Display| KernelError::System(format!("{what}: {error}"));
    fs::write(text(name), rule.to_string())
        .map_err(|error| failed(&text(name).display().to_string(), &error))?;
    for mut map in registered.object().maps_mut().filter(|map| map.name() == HITS) {
        map.pin(pin(COUNTERS, name))
            .map_err(|error| failed("its counters cannot be pinned", &error))?;
    }
    registered.link().pin(pin(LINKS, name)).map_err(|error| failed("it cannot be pinned", &error))
}

fn forget(name: &str) {
    for path in [pin(LINKS, name), pin(COUNTERS, name), text(name)] {
        let _ = fs::remove_file(path);
    }
}

/// All registered rules of this crate, by name.
///
/// # Errors
/// [`KernelError::System`] without privileges.
pub fn list() -> Result<Vec<Entry>, KernelError> {
    requirements::check()?;
    let mut entries: BTreeMap<String, Entry> = BTreeMap::new();
    for name in pinned() {
        let rule = fs::read_to_string(text(&name)).ok();
        let hits = MapHandle::from_pinned_path(pin(COUNTERS, &name))
            .ok()
            .and_then(|map| read_hits(Some(&map)).ok());
        entries.insert(name.clone(), Entry { name, rule, hits, installed: true });
    }
    for name in attached()? {
        entries.entry(name.clone()).or_insert(Entry {
            name,
            rule: None,
            hits: None,
            installed: false,
        });
    }
    Ok(entries.into_values().collect())
}

/// Unregisters an installed rule. Flows that use the rule keep it until they close.
///
/// # Errors
/// [`KernelError::Unknown`] if no rule of that name is installed.
pub fn remove(name: &str) -> Result<(), KernelError> {
    requirements::check()?;
    let _lock = lock()?;
    let entries = list()?;
    match entries.iter().find(|entry| entry.name == name) {
        Some(entry) if entry.installed => {
            forget(name);
            tidy();
            Ok(())
        }
        Some(_) => Err(KernelError::Unknown(format!(
            "rule \"{name}\" is not installed: a running process holds it until the process ends"
        ))),
        None => {
            let names: Vec<&str> = entries
                .iter()
                .filter(|entry| entry.installed)
                .map(|entry| entry.name.as_str())
                .collect();
            let names = if names.is_empty() {
                "nothing is installed".to_string()
            } else {
                format!("installed are {}", names.join(", "))
            };
            Err(KernelError::Unknown(format!("rule \"{name}\" is not installed: {names}")))
        }
    }
}

/// Unregisters all installed rules, removes what an interrupted command left, and returns the names
/// of the rules.
///
/// # Errors
/// [`KernelError::System`] without privileges.
pub fn clean() -> Result<Vec<String>, KernelError> {
    requirements::check()?;
    let _lock = lock()?;
    let names = pinned();
    for name in &names {
        forget(name);
    }
    for folder in [mounted().join(LINKS), mounted().join(COUNTERS), Path::new(HOME).join("rules")] {
        for leftover in fs::read_dir(folder).into_iter().flatten().flatten() {
            let _ = fs::remove_file(leftover.path());
        }
    }
    tidy();
    Ok(names)
}

fn pinned() -> Vec<String> {
    let links = fs::read_dir(mounted().join(LINKS)).into_iter().flatten().flatten();
    links.filter_map(|link| link.file_name().into_string().ok()).collect()
}

/// Holds a lock: one command at a time.
fn lock() -> Result<Flock<File>, KernelError> {
    let failed = |error: &dyn std::fmt::Display| KernelError::System(format!("{HOME}: {error}"));
    fs::create_dir_all(HOME).map_err(|error| failed(&error))?;
    let file = File::create(Path::new(HOME).join("lock")).map_err(|error| failed(&error))?;
    Flock::lock(file, FlockArg::LockExclusiveNonblock).map_err(|_| {
        KernelError::InUse(format!(
            "another command is changing the installed rules ({HOME}/lock): wait for its end"
        ))
    })
}

/// Mounts the BPF file system and makes its folders.
fn prepare() -> Result<(), KernelError> {
    let failed = |error: &dyn std::fmt::Display| {
        KernelError::System(format!("{}: {error}", mounted().display()))
    };
    fs::create_dir_all(mounted()).map_err(|error| failed(&error))?;
    fs::create_dir_all(Path::new(HOME).join("rules")).map_err(|error| failed(&error))?;
    if !is_mounted() {
        mount(Some("bpf"), &mounted(), Some("bpf"), MsFlags::empty(), Some("mode=0700"))
            .map_err(|error| failed(&error))?;
    }
    for kind in [LINKS, COUNTERS] {
        fs::create_dir_all(mounted().join(kind)).map_err(|error| failed(&error))?;
    }
    Ok(())
}

fn is_mounted() -> bool {
    let mounts = fs::read_to_string("/proc/self/mounts").unwrap_or_default();
    mounts.lines().any(|line| line.split(' ').nth(1).map(Path::new) == Some(mounted().as_path()))
}

/// Removes the folder below /run if no rule is installed.
fn tidy() {
    if pinned().is_empty() {
        if is_mounted() {
            let _ = umount(&mounted());
        }
        let _ = fs::remove_dir_all(HOME);
    }
}

/// Names of all registered rules of this crate: the struct_ops links whose map has the name of
/// ours.
fn attached() -> Result<Vec<String>, KernelError> {
    let links = LinkInfoIter::default().filter_map(|link| match link.info {
        LinkTypeInfo::StructOps(operations) => MapHandle::from_map_id(operations.map_id).ok(),
        _ => None,
    });
    let maps: Vec<MapHandle> = links.filter(|map| map.name() == OPERATIONS).collect();
    if maps.is_empty() {
        return Ok(Vec::new());
    }
    let place = name_offset().ok_or_else(|| {
        KernelError::System("the kernel's BTF has no tcp_congestion_ops.name".into())
    })?;
    Ok(maps.iter().filter_map(|map| name_at(map, place)).collect())
}

fn name_at(map: &MapHandle, place: usize) -> Option<String> {
    let value = map.lookup(&0u32.to_ne_bytes(), MapFlags::ANY).ok()??;
    let bytes = value.get(place..)?.split(|byte| *byte == 0).next()?;
    String::from_utf8(bytes.to_vec()).ok().filter(|name| !name.is_empty())
}

/// Offset of the name in the value of a struct_ops map, bytes.
fn name_offset() -> Option<usize> {
    let types = Btf::from_vmlinux().ok()?;
    let within = |outer: &str, member: &str| {
        let outer: Struct<'_> = types.type_by_name(outer)?;
        let found = outer.iter().find(|inner| inner.name.is_some_and(|name| name == member))?;
        match found.attr {
            MemberAttr::Normal { offset } => Some(offset as usize / 8),
            MemberAttr::BitField { .. } => None,
        }
    };
    Some(
        within("bpf_struct_ops_tcp_congestion_ops", "data")?
            + within("tcp_congestion_ops", "name")?,
    )
}
