//! Files of other programs, where a rule is expected: what works instead.

const CLASS: &str = "a Python class, as FILE.py:Class(values)";

/// Endings of names, and what works instead.
const INSTEAD: &[(&[&str], &str)] = &[
    (
        &["onnx", "pt", "pth", "h5", "pb", "pkl"],
        "a trained model is not read, but a rule may load it",
    ),
    (&["c", "o", "ko", "bpf"], "code of the kernel is not read: kernel:NAME is one that it knows"),
    (&["tcl", "cc"], "a program of another simulator is not read"),
    (&["qlog", "sqlog", "pcap", "pcapng", "cap"], "what was recorded is no rule"),
    (&["py"], "a file may have several classes"),
];
/// Endings that no module of Python has for a name.
const NO_MODULE: &[&str] = &["onnx", "pth", "tcl", "qlog", "pcap", "pcapng"];

/// The ending of a name, in small letters.
fn ending(name: &str) -> Option<String> {
    name.rsplit_once('.').map(|(_, ending)| ending.trim().to_ascii_lowercase())
}

/// What to write instead of such a file as a rule; none if the name is none.
pub(super) fn instead(name: &str) -> Option<String> {
    let ending = ending(name)?;
    let (_, why) = INSTEAD.iter().find(|(endings, _)| endings.contains(&ending.as_str()))?;
    Some(format!("{why}: expected a rule's name, such as CUBIC, or {CLASS}"))
}

/// As [`instead`], for `PLACE:CLASS`, whose place may be a module of Python.
pub(super) fn instead_of_place(text: &str) -> Option<String> {
    let (place, _) = text.split_once(':')?;
    let ending = ending(place)?;
    NO_MODULE.contains(&ending.as_str()).then(|| instead(place)).flatten()
}

#[cfg(test)]
mod tests {
    use crate::RuleSpec;

    #[test]
    fn what_works_instead_is_said() {
        for (text, expected) in [
            (
                "policy.onnx",
                "rule: \"policy.onnx\": a trained model is not read, but a rule may lo",
            ),
            ("a/b.ONNX:Policy", "rule: \"a/b.ONNX:Policy\": a trained model is not read"),
            (
                "tcp_cubic.c",
                "rule: \"tcp_cubic.c\": code of the kernel is not read: kernel:NAME is",
            ),
            (
                "my_rules.py",
                "rule: \"my_rules.py\": a file may have several classes: expected a ru",
            ),
            ("run.tcl", "rule: \"run.tcl\": a program of another simulator is not read: expected"),
            ("flow.qlog", "rule: \"flow.qlog\": what was recorded is no rule: expected a rule's n"),
        ] {
            let error = text.parse::<RuleSpec>().unwrap_err().to_string();
            assert!(error.starts_with(expected), "{error}");
        }
        // These may be modules of Python, and no files.
        assert!("my.pt:Mine".parse::<RuleSpec>().is_ok());
        assert!("Cubicc".parse::<RuleSpec>().unwrap_err().to_string().contains("is not known"));
    }
}
