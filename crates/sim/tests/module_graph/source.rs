//! The modules of a crate: what each declares, imports and names.

use super::paths::PathList;
use std::collections::{BTreeMap, BTreeSet};
use syn::punctuated::Punctuated;
use syn::visit::{self, Visit};
use syn::{Attribute, Ident, Item, ItemMod, ItemUse, Meta, Token, UseTree, Visibility};

/// A module: a file, or an inline module, which belongs to the file around it.
#[derive(Default)]
pub struct Module {
    /// Its file, from the root of the sources.
    pub file: String,
    /// The module around it; none for the root.
    pub parent: Option<usize>,
    /// Modules within it, by name.
    pub children: BTreeMap<String, usize>,
    /// Names of what it defines.
    pub items: BTreeSet<String>,
    /// Its `use` declarations.
    pub imports: Vec<Import>,
    /// Every path in its code.
    pub paths: PathList,
}

/// One name of a `use` declaration.
pub struct Import {
    /// The name in this module; `*` for all names.
    pub name: String,
    /// What it stands for.
    pub path: Vec<String>,
    /// Whether a facade (lib.rs, mod.rs) only passes it on.
    pub re_export: bool,
}

/// The modules of a crate. The first is its root.
#[derive(Default)]
pub struct Crate {
    /// All modules that are compiled without tests.
    pub modules: Vec<Module>,
    /// Where each macro of the crate is defined: its name is known in all modules further down.
    pub macros: BTreeMap<String, String>,
}

impl Crate {
    /// Reads a crate from its root file; `read` gives the text of a file, if there is one.
    pub fn read(root: &str, read: &dyn Fn(&str) -> Option<String>) -> Self {
        let mut whole = Self::default();
        let directory = root.rsplit_once('/').map_or("", |(directory, _)| directory);
        whole.read_file(root, directory, None, read);
        whole
    }

    fn read_file(
        &mut self,
        file: &str,
        directory: &str,
        parent: Option<usize>,
        read: &dyn Fn(&str) -> Option<String>,
    ) -> usize {
        let text = read(file).unwrap_or_else(|| panic!("{file} cannot be read"));
        let parsed = syn::parse_file(&text).unwrap_or_else(|wrong| panic!("{file}: {wrong}"));
        self.read_module(&parsed.items, file, directory, parent, read)
    }

    fn read_module(
        &mut self,
        items: &[Item],
        file: &str,
        directory: &str,
        parent: Option<usize>,
        read: &dyn Fn(&str) -> Option<String>,
    ) -> usize {
        let index = self.modules.len();
        self.modules.push(Module { file: file.into(), parent, ..Module::default() });
        let mut reader = Reader { module: Module::default(), within: Vec::new() };
        for item in items {
            reader.visit_item(item);
            match item {
                Item::Macro(defined) if !is_test(&defined.attrs) => {
                    if let Some(name) = &defined.ident {
                        self.macros.insert(name.to_string(), file.into());
                    }
                }
                other => reader.module.items.extend(name_of(other).map(ToString::to_string)),
            }
        }
        for child in reader.within {
            let name = child.ident.to_string();
            let inside = format!("{directory}/{name}");
            let number = match &child.content {
                Some((_, items)) => self.read_module(items, file, &inside, Some(index), read),
                None => {
                    let [beside, below] = [format!("{inside}.rs"), format!("{inside}/mod.rs")];
                    let path = if read(&beside).is_some() { beside } else { below };
                    self.read_file(&path, &inside, Some(index), read)
                }
            };
            reader.module.children.insert(name, number);
        }
        self.modules[index] = Module { file: file.into(), parent, ..reader.module };
        let facade = file.ends_with("lib.rs") || file.ends_with("mod.rs");
        for import in &mut self.modules[index].imports {
            import.re_export &= facade;
        }
        index
    }
}

/// Whether an item is compiled in tests only.
fn is_test(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| match &attribute.meta {
        Meta::List(list) if list.path.is_ident("cfg") => list.tokens.to_string() == "test",
        _ => false,
    })
}

/// The name that an item gives to what it defines; modules and imports are kept apart.
fn name_of(item: &Item) -> Option<&Ident> {
    match item {
        Item::Const(item) => Some(&item.ident),
        Item::Enum(item) => Some(&item.ident),
        Item::Fn(item) => Some(&item.sig.ident),
        Item::Static(item) => Some(&item.ident),
        Item::Struct(item) => Some(&item.ident),
        Item::Trait(item) => Some(&item.ident),
        Item::TraitAlias(item) => Some(&item.ident),
        Item::Type(item) => Some(&item.ident),
        Item::Union(item) => Some(&item.ident),
        _ => None,
    }
}

/// Collects what a module declares, imports and names, without its tests.
struct Reader<'ast> {
    module: Module,
    within: Vec<&'ast ItemMod>,
}

impl Reader<'_> {
    fn import(&mut self, tree: &UseTree, path: &[String], re_export: bool) {
        let with = |name: &Ident| [path, &[name.to_string()]].concat();
        let mut push = |name: String, path: Vec<String>| {
            self.module.imports.push(Import { name, path, re_export });
        };
        match tree {
            UseTree::Path(tree) => self.import(&tree.tree, &with(&tree.ident), re_export),
            UseTree::Name(tree) if tree.ident == "self" => {
                push(path.last().cloned().unwrap_or_default(), path.to_vec());
            }
            UseTree::Name(tree) => push(tree.ident.to_string(), with(&tree.ident)),
            UseTree::Rename(tree) if tree.ident == "self" => {
                push(tree.rename.to_string(), path.to_vec());
            }
            UseTree::Rename(tree) => push(tree.rename.to_string(), with(&tree.ident)),
            UseTree::Glob(_) => push("*".into(), path.to_vec()),
            UseTree::Group(group) => {
                group.items.iter().for_each(|tree| self.import(tree, path, re_export));
            }
        }
    }
}

impl<'ast> Visit<'ast> for Reader<'ast> {
    fn visit_item(&mut self, item: &'ast Item) {
        let attributes = match item {
            Item::Const(item) => &item.attrs[..],
            Item::Enum(item) => &item.attrs,
            Item::Fn(item) => &item.attrs,
            Item::Impl(item) => &item.attrs,
            Item::Macro(item) => &item.attrs,
            Item::Mod(item) => &item.attrs,
            Item::Static(item) => &item.attrs,
            Item::Struct(item) => &item.attrs,
            Item::Trait(item) => &item.attrs,
            Item::Use(item) => &item.attrs,
            _ => &[],
        };
        if !is_test(attributes) {
            visit::visit_item(self, item);
        }
    }

    fn visit_item_mod(&mut self, module: &'ast ItemMod) {
        if module.ident != "tests" {
            self.within.push(module);
        }
    }

    fn visit_item_use(&mut self, item: &'ast ItemUse) {
        if item.leading_colon.is_none() {
            self.import(&item.tree, &[], !matches!(item.vis, Visibility::Inherited));
        }
    }

    fn visit_impl_item_fn(&mut self, function: &'ast syn::ImplItemFn) {
        if !is_test(&function.attrs) {
            visit::visit_impl_item_fn(self, function);
        }
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        self.module.paths.add(path);
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, called: &'ast syn::Macro) {
        self.module.paths.add_macro(called);
    }

    /// Attributes of serde name functions in text.
    fn visit_attribute(&mut self, attribute: &'ast Attribute) {
        let Meta::List(list) = &attribute.meta else { return };
        let parse = Punctuated::<Meta, Token![,]>::parse_terminated;
        let Ok(arguments) = list.parse_args_with(parse) else { return };
        for argument in arguments {
            let Meta::NameValue(pair) = argument else { continue };
            let syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(text), .. }) = pair.value else {
                continue;
            };
            if let Ok(path) = text.parse::<syn::Path>() {
                self.module.paths.add(&path);
            }
        }
    }

    /// `pub(in path)` imports nothing.
    fn visit_visibility(&mut self, _: &'ast Visibility) {}
}
