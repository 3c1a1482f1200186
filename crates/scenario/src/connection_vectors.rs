//! Connection vectors: what recorded connections sent, read in the formats of Tmix.
//!
//! M. C. Weigle, P. Adurthi, F. Hernández-Campos, K. Jeffay, F. D. Smith, *Tmix: a tool for
//! generating realistic TCP application workloads in ns-2*, CCR 36(3), 2006; the formats are in
//! section "Connection Vectors" of the ns manual. In the original one a vector begins with `SEQ
//! START EPOCHS ID ID` (also `S`), or, of a connection whose sides do not wait for each other,
//! `CONC START ADUS ADUS ID ID` (also `C`); times are microseconds. Then follow application data
//! units (ADUs): `> BYTES` of the initiator, `< BYTES` of the acceptor, and `t TIME`, the time
//! until the next one. In concurrent vectors these are `c>`, `c<`, `t>` and `t<`. In the alternate
//! one, which begins with `S` or `C`, an ADU of the initiator is `I SENT RECEIVED BYTES` and one of
//! the acceptor `A SENT RECEIVED BYTES`: it leaves that long after the last one that its side sent,
//! or after the last one that it received, and one without bytes ends the connection. The lines
//! `w`, `r`, `m` and `l` describe the recorded windows, round trip, segment size and losses.
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

impl ConnectionVector {
    /// Adds what its acceptor sends after a wait, which then begins anew.
    fn respond(&mut self, wait_s: &mut f64, bytes: f64) {
        if bytes < 1.0 {
            return;
        }
        if self.responses.is_empty() {
            self.start_s += *wait_s;
            *wait_s = 0.0;
        }
        self.responses.push((*wait_s, bytes as u64));
        *wait_s = 0.0;
    }
}

/// Recorded connections in order of their start.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ConnectionVectors(Arc<[ConnectionVector]>);

impl ConnectionVectors {
    /// Parses a file. A connection whose acceptor sends nothing is left out.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut all: Vec<ConnectionVector> = Vec::new();
        let mut wait_s = 0.0;
        let mut is_alternate = None;
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
                (wait_s, is_alternate) = (0.0, None);
                continue;
            }
            let Some(vector) = all.last_mut() else {
                return Err(invalid("\"SEQ\" or \"CONC\", with which a connection begins"));
            };
            // In the alternate format the ADUs have the times: one before it would count twice.
            let is_adu = matches!(kind, "I" | "A");
            let says_original = matches!(kind, ">" | "<" | "t" | "c>" | "c<" | "t>" | "t<");
            if (is_adu || says_original) && *is_alternate.get_or_insert(is_adu) != is_adu {
                return Err(invalid(if is_adu {
                    "no I or A after >, < or t: a connection has one format"
                } else {
                    "one of I, A, w, r, m and l: I and A have the times, and a connection has one \
                     format"
                }));
            }
            match (kind, vector.is_concurrent) {
                ("t", false) | ("t<", true) => {
                    wait_s += seconds(values).ok_or_else(|| invalid("a time in microseconds"))?;
                }
                ("<", false) | ("c<", true) => {
                    let bytes = value(values).ok_or_else(|| invalid("a number of bytes"))?;
                    vector.respond(&mut wait_s, bytes);
                }
                ("I" | "A", is_concurrent) => {
                    let (after_s, bytes) = alternate(values).ok_or_else(|| {
                        invalid("two times in microseconds and a number of bytes")
                    })?;
                    // Sides that do not wait for each other have clocks of their own.
                    if kind == "A" || !is_concurrent {
                        wait_s += after_s;
                    }
                    if kind == "A" {
                        vector.respond(&mut wait_s, bytes);
                    }
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

/// Of an ADU in the alternate format: the time that it waits, seconds, and its bytes. It waits for
/// one of the two, after which the other is over.
fn alternate(words: &[&str]) -> Option<(f64, f64)> {
    let [sent, received, bytes, ..] = words else { return None };
    let after_s = f64::max(seconds(&[sent])?, seconds(&[received])?);
    Some((after_s, value(&[bytes])?))
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

    /// The same connections in the alternate format, without their lines `w`, `r` and `l`.
    const ALTERNATE: &str = "\
S 2000000 2 7 1
m 1460 1460
I 0 0 245
A 0 51000 510
I 0 4000000 300
A 0 9000 20000
I 0 700000 0
C 1500000 1 2 8 2
I 0 0 100
A 0 0 700
A 30000 0 1400
I 10 0 0
A 50 0 0
S 10 1 9 3
I 0 0 5000
A 20 0 0
";

    #[test]
    fn the_alternate_format_says_the_same() {
        let original = ConnectionVectors::parse(SAMPLE).unwrap();
        assert_eq!(ConnectionVectors::parse(ALTERNATE).unwrap(), original);
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
                "S 1\nI 0 5",
                "line 2: \"I 0 5\" is not valid: expected two times in microseconds and a number",
            ),
            ("S 1\nA 0 -5 5", "line 2: \"A 0 -5 5\" is not valid: expected two times in micro"),
            ("C 1\nA nan 0 5", "line 2: \"A nan 0 5\" is not valid: expected two times in micro"),
            ("S 1\nI 0 0 5", "has no connection whose acceptor sends data: expected lines such"),
            ("S 1\nI 0 0 5\nt 3", "line 3: \"t 3\" is not valid: expected one of I, A, w, r, m"),
            ("S 1\n< 5\nA 0 0 5", "line 3: \"A 0 0 5\" is not valid: expected no I or A after"),
            ("", "has no connection whose acceptor sends data: expected lines such as"),
            ("S 1\n> 5", "has no connection whose acceptor sends data: expected lines such as"),
        ] {
            let error = ConnectionVectors::parse(text).unwrap_err();
            assert!(error.starts_with(expected), "{error}");
        }
    }
}
