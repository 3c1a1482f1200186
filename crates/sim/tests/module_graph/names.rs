//! Resolves paths to the files that define what they name, through re-exports.

use super::source::{Crate, Module};
use std::collections::{BTreeMap, BTreeSet};

/// What a name stands for.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Target {
    /// Something that this file defines.
    Item(String),
    /// A module.
    Module(usize),
}

type Targets = BTreeSet<Target>;

/// Names that are being looked up, with their module: imports may refer to each other.
type Open = Vec<(usize, String)>;

/// For each file of a crate the files whose items it imports.
pub fn arrows(of: &Crate) -> BTreeMap<String, BTreeSet<String>> {
    let mut arrows: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (index, module) in of.modules.iter().enumerate() {
        let to = arrows.entry(module.file.clone()).or_default();
        to.extend(of.imported_files(index, module));
        to.remove(&module.file);
    }
    arrows
}

impl Crate {
    fn imported_files(&self, index: usize, module: &Module) -> BTreeSet<String> {
        let mut files = BTreeSet::new();
        for import in module.imports.iter().filter(|import| !import.re_export) {
            let targets = self.resolve(index, &import.path, &mut Vec::new());
            if import.name == "*" {
                files.extend(targets.iter().flat_map(|target| self.all_of(target)));
            }
            files.extend(items(targets));
        }
        for path in &module.paths.named {
            files.extend(items(self.resolve(index, path, &mut Vec::new())));
        }
        for path in &module.paths.macros {
            let targets = items(self.resolve(index, path, &mut Vec::new()));
            let by_name = path.last().and_then(|name| self.macros.get(name)).cloned();
            let known = matches!(path.as_slice(), [_]) || path[0] == "crate";
            files.extend(if known { by_name.into_iter().collect() } else { targets });
        }
        files
    }

    /// What a path stands for in a module; nothing where it leads to another crate.
    fn resolve(&self, index: usize, path: &[String], open: &mut Open) -> Targets {
        let [first, rest @ ..] = path else { return Targets::new() };
        let parent = |of: usize| self.modules[of].parent.map(Target::Module).into_iter().collect();
        let mut targets = match first.as_str() {
            "crate" => Targets::from([Target::Module(0)]),
            "self" => Targets::from([Target::Module(index)]),
            "super" => parent(index),
            name => self.look_up(index, name, open),
        };
        for name in rest {
            // Items sort first: a module, if the name stands for one, is the last.
            let Some(&Target::Module(within)) = targets.last() else { break };
            targets =
                if name == "super" { parent(within) } else { self.look_up(within, name, open) };
            // What is not found here is written by a macro.
            if targets.is_empty() && !open.contains(&(within, name.clone())) {
                targets.insert(Target::Item(self.modules[within].file.clone()));
            }
        }
        targets
    }

    /// What a name stands for in a module.
    fn look_up(&self, index: usize, name: &str, open: &mut Open) -> Targets {
        let module = &self.modules[index];
        let mut targets = Targets::new();
        if module.items.contains(name) {
            targets.insert(Target::Item(module.file.clone()));
        }
        targets.extend(module.children.get(name).copied().map(Target::Module));
        let here = (index, name.to_string());
        if open.contains(&here) {
            return targets;
        }
        open.push(here);
        for import in module.imports.iter().filter(|import| import.name == name) {
            targets.extend(self.resolve(index, &import.path, open));
        }
        if targets.is_empty() {
            for import in module.imports.iter().filter(|import| import.name == "*") {
                for target in self.resolve(index, &import.path, open) {
                    if let Target::Module(within) = target {
                        targets.extend(self.look_up(within, name, open));
                    }
                }
            }
        }
        open.pop();
        targets
    }

    /// The files of everything that a glob brings in.
    fn all_of(&self, target: &Target) -> BTreeSet<String> {
        let Target::Module(index) = target else { return BTreeSet::new() };
        let module = &self.modules[*index];
        let imported = module.imports.iter().filter(|import| import.name != "*");
        let names = module.items.iter().chain(imported.map(|import| &import.name));
        items(names.flat_map(|name| self.look_up(*index, name, &mut Vec::new())).collect())
    }
}

fn items(targets: Targets) -> BTreeSet<String> {
    let file = |target| match target {
        Target::Item(file) => Some(file),
        Target::Module(_) => None,
    };
    targets.into_iter().filter_map(file).collect()
}
