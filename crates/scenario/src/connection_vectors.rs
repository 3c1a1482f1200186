//! Connection vectors: what recorded connections sent, read in the original format of Tmix.
//!
//! M. C. Weigle, P. Adurthi, F. Hernández-Campos, K. Jeffay, F. D. Smith, *Tmix: a tool for
//! generating realistic TCP application workloads in ns-2*, CCR 36(3), 2006; the format is in
//! section "Original Connection Vector Format" of the ns manual. A vector begins with
//! `SEQ START EPOCHS ID ID` (also `S`), or, of a connection whose sides do not wait for each other,
//! `CONC START ADUS ADUS ID ID` (also `C`); times are microseconds. Then follow application data
//! units (ADUs): `> BYTES` of the initiator, `< BYTES` of the acceptor, and `t TIME`, the time until
//! the next one. In concurrent vectors these are `c>`, `c<`, `t>` and `t<`. The lines `w`, `r` and
//! `l` describe the recorded windows, round trip and losses.
//!
//! Kept is what the acceptor sends and how long it waits before: a simulated flow is one direction
//! of a connection. Windows, round trips and losses are those of the scenario.

use std::sync::Arc;

/// Largest start, time or size that a file may name: a thousand times what they last or carry.
const MAX_VALUE: f64 = 1e15;

/// A recorded connection, as its acceptor takes part in it.
#[derive(Clone, Debug, PartialEq)]
pub struct ConnectionVector {
    /// When its acceptor begins to send, seconds.
    pub start_s: f64,
    /// Whether its data do not wait for each other, but follow after times of their own.
    pub is_concurrent: bool,
    /// What it sends: seconds to wait before, none before the first, and bytes.
    pub responses: Vec<(f64, u64)>,
}

/// Recorded connections in order of their start.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ConnectionVectors(Arc<[ConnectionVector]>);

impl ConnectionVectors {
    /// Parses a file. A connection whose acceptor sends nothing is left out.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut all: Vec<ConnectionVector> = Vec::new();
        let mut wait_s = 0.0;
        for (number, line) in text.lines().enumerate() {
            let words: Vec<&str> = line.split_whitespace().collect();
            let Some((&kind, values)) = words.split_first() else { continue };
            let invalid = |expected: &str| {
                let line = line.trim();
                format!("line {}: {line:?} is not valid: expected {expected}", number + 1)
            };
            if let "SEQ" | "S" | "CONC" | "C" = kind {
                let start_s = seconds(values)
                    .ok_or_else(|| invalid("its start in microseconds, such as \"SEQ 6851\""))?;
                let is_concurrent = kind.starts_with('C');
                all.push(ConnectionVector { start_s, is_concurrent, responses: Vec::new() });
                wait_s = 0.0;
                continue;
            }
            let Some(vector) = all.last_mut() else {
                return Err(invalid("\"SEQ\" or \"CONC\", with which a connection begins"));
            };
            match (kind, vector.is_concurrent) {
                ("t", false) | ("t<", true) => {
                    wait_s += seconds(values).ok_or_else(|| invalid("a time in microseconds"))?;
                }
                ("<", false) | ("c<", true) => {
                    let bytes = value(values).ok_or_else(|| invalid("a number of bytes"))?;
                    if bytes < 1.0 {
                        continue;
                    }
                    if vector.responses.is_empty() {
                        vector.start_s += wait_s;
                        wait_s = 0.0;
                    }
                    vector.responses.push((wait_s, bytes as u64));
                    wait_s = 0.0;
                }
                ("I" | "A", _) => {
                    return Err(invalid(
                        "the original format of Tmix, with > and < (c> and c< after CONC); I and \
                         A are of its alternate format, which is not read",
                    ));
                }
                (">", false) | ("c>" | "t>", true) | ("w" | "r" | "m" | "l", _) => {}
                (_, false) => return Err(invalid("one of SEQ, CONC, w, r, l, >, < and t")),
                (_, true) => return Err(invalid("one of SEQ, CONC, w, r, l, c>, c<, t> and t<")),
            }
        }
        all.retain(|vector| !vector.responses.is_empty());
        if all.is_empty() {
            return Err("has no connection whose acceptor sends data: expected lines such as \
                        \"SEQ 6851 1 1 1\" and \"< 510\""
                .into());
        }
        all.sort_by(|a, b| a.start_s.total_cmp(&b.start_s));
        Ok(Self(all.into()))
    }

    /// The connections, in order of their start.
    pub fn as_slice(&self) -> &[ConnectionVector] {
        &self.0
    }
}

/// The first of these words as a number that is not negative.
fn value(words: &[&str]) -> Option<f64> {
    words.first()?.parse().ok().filter(|value| (0.0..=MAX_VALUE).contains(value))
}

/// The first of these words, microseconds, as seconds.
fn seconds(words: &[&str]) -> Option<f64> {
    value(words).map(|us| us / 1e6)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A connection of two epochs; one whose sides send on their own; one that only uploads.
    const SAMPLE: &str = "\
SEQ 2000000 2 7 1
w 64800 6432
r 120000
l 0.00 0.01
> 245
t 51000
< 510
t 4000000
> 300
t 9000
< 20000
CONC 1500000 1 2 8 2
w 64800 6432
r 90000
l 0.0 0.0
c> 100
t> 10
c< 700
t< 30000
c< 1400
SEQ 10 1 9 3
> 5000
";

    #[test]
    fn a_file_by_hand() {
        let vectors = ConnectionVectors::parse(SAMPLE).unwrap();
        let [concurrent, sequential] = vectors.as_slice() else { panic!("{vectors:?}") };
        assert!(concurrent.is_concurrent && concurrent.start_s == 1.5);
        assert_eq!(concurrent.responses, [(0.0, 700), (0.03, 1400)]);
        assert!(!sequential.is_concurrent && sequential.start_s == 2.051);
        // The user thinks for 4 s, and the server for 9 ms after that.
        assert_eq!(sequential.responses, [(0.0, 510), (4.009, 20_000)]);
    }

    #[test]
    fn invalid_lines_are_named() {
        for (text, expected) in [
            ("> 5", "line 1: \"> 5\" is not valid: expected \"SEQ\" or \"CONC\", with which"),
            ("SEQ x", "line 1: \"SEQ x\" is not valid: expected its start in microseconds"),
            ("S 1\n< -5", "line 2: \"< -5\" is not valid: expected a number of bytes"),
            ("C 1\nt 5", "line 2: \"t 5\" is not valid: expected one of SEQ, CONC, w, r, l, c>"),
            ("S 1\nt inf", "line 2: \"t inf\" is not valid: expected a time in microseconds"),
            (
                "S 1\nI 0 0 5",
                "line 2: \"I 0 0 5\" is not valid: expected the original format of Tmix",
            ),
            ("", "has no connection whose acceptor sends data: expected lines such as"),
            ("S 1\n> 5", "has no connection whose acceptor sends data: expected lines such as"),
        ] {
            let error = ConnectionVectors::parse(text).unwrap_err();
            assert!(error.starts_with(expected), "{error}");
        }
    }
}
