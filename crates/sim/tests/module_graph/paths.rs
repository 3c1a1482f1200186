//! Paths of names in code, also in the tokens of macros, which syn does not parse.

use syn::buffer::{Cursor, TokenBuffer};

/// Paths in the code of a module.
#[derive(Default)]
pub struct PathList {
    /// Of types, values and modules.
    pub named: Vec<Vec<String>>,
    /// Of called macros.
    pub macros: Vec<Vec<String>>,
}

impl PathList {
    /// Adds a path of this crate; `::other::path` never is one.
    pub fn add(&mut self, path: &syn::Path) {
        if path.leading_colon.is_none() {
            self.named.push(names(path));
        }
    }

    /// Adds a called macro and whatever in its tokens has the form of a path.
    pub fn add_macro(&mut self, called: &syn::Macro) {
        self.macros.push(names(&called.path));
        let mut tokens = Vec::new();
        flatten(TokenBuffer::new2(called.tokens.clone()).begin(), &mut tokens);
        let mut rest = &tokens[..];
        let mut before: &[String] = &[];
        while let [first, after @ ..] = rest {
            let mut path = vec![first.clone()];
            let mut end = after;
            while let [a, b, name, after @ ..] = end
                && (a.as_str(), b.as_str()) == (":", ":")
                && is_name(name)
            {
                path.push(name.clone());
                end = after;
            }
            if is_name(first) && !continues(before) {
                match end {
                    [mark, next, ..] if mark == "!" && next != "=" => self.macros.push(path),
                    _ => self.named.push(path),
                }
            }
            before = &tokens[..tokens.len() - end.len()];
            rest = end;
        }
    }
}

/// Whether a name after these tokens is a field, a method, or the end of a foreign path.
fn continues(before: &[String]) -> bool {
    match before {
        [.., a, b] if a == "." && b == "." => false,
        [.., a, b] if a == ":" && b == ":" => true,
        [.., last] => last == ".",
        [] => false,
    }
}

fn is_name(token: &str) -> bool {
    token.starts_with(|first: char| first.is_alphabetic() || first == '_')
}

/// Tokens in order, with brackets as tokens; literals become empty.
fn flatten(mut rest: Cursor, tokens: &mut Vec<String>) {
    while !rest.eof() {
        if let Some((name, after)) = rest.ident() {
            tokens.push(name.to_string());
            rest = after;
        } else if let Some((mark, after)) = rest.punct() {
            tokens.push(mark.as_char().to_string());
            rest = after;
        } else if let Some((inside, _, _, after)) = rest.any_group() {
            tokens.push("(".into());
            flatten(inside, tokens);
            tokens.push(")".into());
            rest = after;
        } else if let Some((_, after)) = rest.token_tree() {
            tokens.push(String::new());
            rest = after;
        }
    }
}

fn names(path: &syn::Path) -> Vec<String> {
    path.segments.iter().map(|segment| segment.ident.to_string()).collect()
}
