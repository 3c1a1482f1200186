//! Within a crate, modules do not import each other in circles, and none imports many others.
//!
//! A module is a source file. It imports the files that define what its `use` declarations and its
//! paths name; a method call names none. A facade (lib.rs, mod.rs) that only declares and
//! re-exports imports nothing, and who imports through it imports from the file behind it. Tests do
//! not count.

mod module_graph;

use cargo_metadata::{MetadataCommand, Package, TargetKind};
use module_graph::{Crate, arrows, circles};
use std::collections::{BTreeMap, BTreeSet};

/// How many modules of its crate a module may import.
const MOST: usize = 10;

/// Files that import more, with the reason: tables of all variants, which grow with each, and types
/// that compose others.
const TABLES: &[(&str, &str)] = &[
    ("crates/rules/src/rule/mod.rs", "the enum and the list of all rules"),
    ("crates/queues/src/discipline/mod.rs", "the enums of all queue disciplines"),
    ("crates/tcp/src/tcb.rs", "the control block, composed of all parts of a sender"),
    ("crates/live/src/linux/play_virtual.rs", "the one thread that drives a run in virtual time"),
    ("crates/sim/src/network/mod.rs", "the network, composed of all that is between senders"),
];

/// The simulator's parts from the top: each imports only parts further down. ARCHITECTURE.md draws
/// them.
const LAYERS: &[&[&str]] = &[
    &["lib.rs"],
    &["simulation.rs", "network_path.rs", "driven_sender.rs", "replay.rs"],
    &["external_flow.rs", "stacks"],
    &["results"],
    &["build"],
    &["engine"],
    &["network"],
    &["endpoint"],
    &["event", "measure", "rate"],
    &["packet.rs", "random"],
    &["collections", "id.rs", "echoed_times.rs"],
];

/// What is wrong with the imports of a crate.
fn mistakes(of: &Crate, tables: &[&str]) -> Vec<String> {
    let arrows = arrows(of);
    let circles = circles(&arrows);
    let circular = circles.iter().map(|circle| format!("circle: {}", circle.join(" -> ")));
    let many = arrows
        .iter()
        .filter(|(file, imported)| imported.len() > MOST && !tables.contains(&file.as_str()))
        .map(|(file, imported)| {
            let names: Vec<&str> = imported.iter().map(String::as_str).collect();
            let count = imported.len();
            format!("{file} imports {count} modules, more than {MOST}: {}", names.join(", "))
        });
    circular.chain(many).collect()
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

/// The libraries and programs of a crate, with files named from the root of the workspace.
#[allow(clippy::disallowed_methods, reason = "a test of source files reads them")]
fn sources(package: &Package) -> Vec<Crate> {
    let workspace = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    let workspace = std::path::Path::new(workspace).canonicalize().expect("the workspace exists");
    let read = |file: &str| std::fs::read_to_string(workspace.join(file)).ok();
    let compiled = |kind: &TargetKind| {
        matches!(kind, TargetKind::Lib | TargetKind::CDyLib | TargetKind::Bin | TargetKind::RLib)
    };
    package
        .targets
        .iter()
        .filter(|target| target.kind.iter().any(compiled))
        .map(|target| {
            let root = target.src_path.strip_prefix(&workspace).expect("crates of the workspace");
            Crate::read(root.as_str(), &read)
        })
        .collect()
}

#[test]
fn modules_import_no_circles_and_few_others() {
    let tables: Vec<&str> = TABLES.iter().map(|table| table.0).collect();
    let mistakes: Vec<String> =
        workspace().iter().flat_map(sources).flat_map(|of| mistakes(&of, &tables)).collect();
    assert!(mistakes.is_empty(), "{}", mistakes.join("\n"));
}

/// The simulator's part that a file belongs to, and the number of its layer.
fn part_and_layer(file: &str) -> (&str, usize) {
    let below = file.trim_start_matches("crates/sim/src/");
    let part = below.split('/').next().unwrap_or(below);
    let layer = LAYERS.iter().position(|parts| parts.contains(&part));
    (part, layer.unwrap_or_else(|| panic!("{part} is new: give it its layer here")))
}

#[test]
fn parts_of_the_simulator_import_downwards_only() {
    let package = workspace().into_iter().find(|package| package.name.as_str() == "cwndlab-sim");
    let simulator = sources(&package.expect("the simulator is in the workspace")).remove(0);
    let arrows = arrows(&simulator);
    assert!(arrows.len() > 50, "{} files", arrows.len());
    for (file, imported) in &arrows {
        let (part, layer) = part_and_layer(file);
        for other in imported {
            let (other_part, other_layer) = part_and_layer(other);
            assert!(part == other_part || layer < other_layer, "{file} must not import {other}");
        }
    }
}

#[test]
fn every_table_needs_its_exception() {
    let mut counts = BTreeMap::new();
    for of in workspace().iter().flat_map(sources) {
        counts.extend(arrows(&of).into_iter().map(|(file, imported)| (file, imported.len())));
    }
    for (file, reason) in TABLES {
        assert!(counts.get(*file).is_some_and(|count| *count > MOST), "{file} ({reason})");
    }
}

/// A crate from texts instead of files; lib.rs declares all modules.
fn example(lib: &str, files: &[(&str, &str)]) -> Crate {
    let read = |file: &str| {
        let known = files.iter().find(|(name, _)| format!("src/{name}") == file);
        if file == "src/lib.rs" { Some(lib.into()) } else { known.map(|(_, text)| (*text).into()) }
    };
    Crate::read("src/lib.rs", &read)
}

/// What a file of an example imports, without `src/`.
fn imported(of: &Crate, file: &str) -> Vec<String> {
    let imported: BTreeSet<String> = arrows(of).remove(&format!("src/{file}")).unwrap_or_default();
    imported.iter().map(|file| file.trim_start_matches("src/").into()).collect()
}

#[test]
fn a_circle_is_found_with_its_files() {
    let files = [
        ("a.rs", "use crate::b::B; pub struct A(B);"),
        ("b.rs", "pub struct B; fn f() { super::c::g() }"),
        ("c.rs", "pub fn g() { let a: Option<crate::a::A> = None; }"),
        ("d.rs", "use crate::a::A;"),
    ];
    let of = example("mod a; mod b; mod c; mod d;", &files);
    assert_eq!(mistakes(&of, &[]), ["circle: src/a.rs -> src/b.rs -> src/c.rs -> src/a.rs"]);
}

#[test]
fn a_circle_through_the_root_is_found() {
    let of =
        example("mod a; pub struct Root(a::A);", &[("a.rs", "use super::Root; pub struct A;")]);
    assert_eq!(mistakes(&of, &[]), ["circle: src/a.rs -> src/lib.rs -> src/a.rs"]);
}

#[test]
fn the_eleventh_import_is_found() {
    let name = |n: usize| format!("m{n}.rs");
    let names: Vec<String> = (1..=11).map(name).collect();
    let table: String = (1..=11).map(|n| format!("use crate::m{n}::f{n};")).collect();
    let texts: Vec<String> = (1..=11).map(|n| format!("pub fn f{n}() {{}}")).collect();
    let mut files: Vec<(&str, &str)> =
        names.iter().zip(&texts).map(|(name, text)| (name.as_str(), text.as_str())).collect();
    let modules: String = (1..=11).map(|n| format!("mod m{n};")).collect();
    let lib = format!("{modules} mod table;");

    files.push(("table.rs", &table));
    let wrong = mistakes(&example(&lib, &files), &[]);
    assert_eq!(wrong.len(), 1);
    assert!(
        wrong[0].starts_with(
            "src/table.rs imports 11 modules, more than 10: src/m1.rs, src/m10.rs, src/m11.rs, "
        ),
        "{wrong:?}"
    );
    assert!(mistakes(&example(&lib, &files), &["src/table.rs"]).is_empty());

    files.pop();
    files.push(("table.rs", table.trim_end_matches("use crate::m11::f11;")));
    assert!(mistakes(&example(&lib, &files), &[]).is_empty());
}

#[test]
fn a_re_export_leads_to_the_file_that_defines() {
    let files = [
        ("a/mod.rs", "mod inner; pub use inner::{Inner as Renamed, f}; pub use inner::*;"),
        ("a/inner.rs", "pub struct Inner; pub fn f() {} pub enum E { V }"),
        ("b.rs", "use crate::Renamed;"),
        ("c.rs", "use crate::a; fn g() { a::f() }"),
        ("d.rs", "fn h() { crate::a::E::V; }"),
    ];
    let of = example("mod a; mod b; mod c; mod d; pub use a::Renamed;", &files);
    assert!(imported(&of, "lib.rs").is_empty());
    assert!(imported(&of, "a/mod.rs").is_empty());
    for file in ["b.rs", "c.rs", "d.rs"] {
        assert_eq!(imported(&of, file), ["a/inner.rs"], "{file}");
    }
}

#[test]
fn a_function_may_have_the_name_of_its_module() {
    let files = [
        ("a/mod.rs", "mod run; pub use run::run;"),
        ("a/run.rs", "pub fn run() {}"),
        ("b.rs", "use super::a; fn f() { a::run() }"),
    ];
    assert_eq!(imported(&example("mod a; mod b;", &files), "b.rs"), ["a/run.rs"]);
}

#[test]
fn a_facade_that_uses_what_it_re_exports_imports_it() {
    let lib = "mod a; pub use a::A; fn f(a: A) {}";
    assert_eq!(imported(&example(lib, &[("a.rs", "pub struct A;")]), "lib.rs"), ["a.rs"]);
}

#[test]
fn macros_and_attributes_import_as_code_does() {
    let files = [
        ("a.rs", "macro_rules! make { () => { pub struct Made; } } pub(crate) use make; make!();"),
        ("b.rs", "crate::a::make!();"),
        ("c.rs", "fn f() { assert!(x.is_some() && crate::d::g() != 1); }"),
        ("d.rs", "pub fn g() -> u8 { 1 }"),
        ("e.rs", "struct E { #[serde(default, serialize_with = \"crate::d::g\")] e: u8 }"),
        ("f.rs", "use crate::a::Made;"),
        ("h.rs", "make!();"),
    ];
    let of = example("mod a; mod b; mod c; mod d; mod e; mod f; mod h;", &files);
    for (file, expected) in
        [("b.rs", "a.rs"), ("c.rs", "d.rs"), ("e.rs", "d.rs"), ("f.rs", "a.rs"), ("h.rs", "a.rs")]
    {
        assert_eq!(imported(&of, file), [expected], "{file}");
    }
}

#[test]
fn tests_and_other_crates_do_not_count() {
    let files = [
        ("a.rs", "#[cfg(test)] use crate::b::B; #[cfg(test)] mod tests { use crate::b::B; }"),
        ("b.rs", "pub struct B; #[cfg(test)] mod checks; use other::a::A; use ::a::A as C;"),
        ("c.rs", "mod tests; fn f() { std::fmt::write(a); }"),
    ];
    let of = example("mod a; mod b; mod c;", &files);
    for file in ["a.rs", "b.rs", "c.rs"] {
        assert!(imported(&of, file).is_empty(), "{file}");
    }
}
