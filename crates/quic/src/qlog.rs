//! qlog files: converts quinn's qlog output to the form that qvis reads. quinn-proto 0.11 departs
//! from draft-ietf-quic-qlog-main-schema and -quic-events. Without conversion qvis draws no
//! packets, RTTs a thousand times too short, and each connection as two:
//! * quinn writes the size of a packet to `header.length`, a field of long headers; the drafts have
//!   `raw.length`.
//! * quinn writes RTTs in seconds; the drafts have milliseconds for all times.
//! * quinn writes the connection ID to `group_id`, and the ID changes in the handshake. A file has
//!   one connection, so `group_id` is removed.
//! * Before the first RTT sample quinn writes the initial RTT, 333 ms (RFC 9002 section 6.2.2),
//!   which is removed.
//! * quinn leaves out the vantage point, the time format and the reference time, which are added.

use serde_json::{Map, Value, json};
use std::io::{self, Write};
use std::mem::take;

/// Record separator of JSON text sequences (RFC 7464).
const SEPARATOR: u8 = 0x1e;
/// Fields of `recovery:metrics_updated` that are times.
const TIMES: [&str; 4] = ["min_rtt", "smoothed_rtt", "latest_rtt", "rtt_variance"];

/// A writer that converts quinn's output line by line.
pub(crate) struct QlogWriter<W> {
    out: W,
    line: Vec<u8>,
    reference_ms: f64,
    /// Whether a packet has been received, so that RTTs are measured.
    has_received: bool,
}

impl<W: Write> QlogWriter<W> {
    /// Writes to `out`; times are relative to `reference_ms`, milliseconds since 1970.
    pub(crate) fn new(out: W, reference_ms: f64) -> Self {
        Self { out, line: Vec::new(), reference_ms, has_received: false }
    }

    fn put(&mut self) -> io::Result<()> {
        let line = take(&mut self.line);
        let text = line.strip_prefix(&[SEPARATOR]).unwrap_or(&line);
        match serde_json::from_slice::<Map<String, Value>>(text) {
            Ok(mut record) => {
                if record.contains_key("qlog_version") {
                    describe(&mut record, self.reference_ms);
                } else {
                    self.has_received |=
                        record.get("name").is_some_and(|name| name == "transport:packet_received");
                    repair(&mut record, self.has_received);
                }
                self.out.write_all(&[SEPARATOR])?;
                serde_json::to_writer(&mut self.out, &record)?;
                self.out.write_all(b"\n")
            }
            // Not JSON: passed on unchanged.
            Err(_) => self.out.write_all(&line),
        }
    }
}

impl<W: Write> Write for QlogWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        for part in bytes.split_inclusive(|&byte| byte == b'\n') {
            self.line.extend_from_slice(part);
            // JSON strings contain no line feed, so this one ends a record.
            if part.ends_with(b"\n") {
                self.put()?;
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// Adds the vantage point and the time format to the header.
fn describe(header: &mut Map<String, Value>, reference_ms: f64) {
    if let Some(trace) = header.get_mut("trace").and_then(Value::as_object_mut) {
        trace.insert("vantage_point".into(), json!({ "type": "client" }));
        trace.insert(
            "common_fields".into(),
            json!({ "time_format": "relative", "reference_time": reference_ms }),
        );
    }
}

fn repair(event: &mut Map<String, Value>, are_measured: bool) {
    event.remove("group_id");
    let Some(data) = event.get_mut("data").and_then(Value::as_object_mut) else { return };
    if let Some(length) = data
        .get_mut("header")
        .and_then(Value::as_object_mut)
        .and_then(|header| header.remove("length"))
    {
        data.insert("raw".into(), json!({ "length": length }));
    }
    if !are_measured {
        data.retain(|name, _| !TIMES.contains(&name.as_str()));
    }
    for name in TIMES {
        if let Some(time) = data.get_mut(name)
            && let Some(seconds) = time.as_f64()
        {
            // Milliseconds, rounded to the nanosecond.
            *time = json!((seconds * 1e9).round() / 1e6);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The output for `text`, written in pieces of `piece` bytes.
    fn written(text: &str, piece: usize) -> Vec<u8> {
        let mut out = Vec::new();
        let mut records = QlogWriter::new(&mut out, 1.5e12);
        text.as_bytes().chunks(piece).for_each(|part| records.write_all(part).unwrap());
        out
    }

    fn records(bytes: &[u8]) -> Vec<Value> {
        let text = std::str::from_utf8(bytes).unwrap();
        let lines = text.strip_prefix('\u{1e}').unwrap().strip_suffix('\n').unwrap();
        lines.split("\n\u{1e}").map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    #[test]
    fn quinns_events_become_events_of_the_drafts() {
        let lines = [
            r#"{"qlog_version":"0.3","qlog_format":"JSON-SEQ","#,
            r#""trace":{"vantage_point":{"type":"unknown"}}}"#,
            "\n",
            r#"{"time":1.2143279,"name":"transport:packet_sent","data":{"header":"#,
            r#"{"packet_type":"initial","packet_number":0,"length":1200}},"group_id":"70"}"#,
            "\n",
            r#"{"time":1.2143279,"name":"recovery:metrics_updated","#,
            r#""data":{"min_rtt":0.333,"bytes_in_flight":1200},"group_id":"70"}"#,
            "\n",
            r#"{"time":23.5,"name":"transport:packet_received","#,
            r#""data":{"header":{"packet_type":"initial","packet_number":0}}}"#,
            "\n",
            r#"{"time":23.5,"name":"recovery:metrics_updated","#,
            r#""data":{"min_rtt":0.02243544,"bytes_in_flight":0}}"#,
            "\n",
        ];
        let lines: String =
            lines.concat().split_inclusive('\n').map(|line| format!("\u{1e}{line}")).collect();
        let header = json!({ "packet_type": "initial", "packet_number": 0 });
        let expected = [
            json!({
                "qlog_version": "0.3",
                "qlog_format": "JSON-SEQ",
                "trace": {
                    "vantage_point": { "type": "client" },
                    "common_fields": { "time_format": "relative", "reference_time": 1.5e12 },
                },
            }),
            json!({
                "time": 1.2143279,
                "name": "transport:packet_sent",
                "data": { "header": header, "raw": { "length": 1200 } },
            }),
            json!({
                "time": 1.2143279,
                "name": "recovery:metrics_updated",
                "data": { "bytes_in_flight": 1200 },
            }),
            json!({
                "time": 23.5,
                "name": "transport:packet_received",
                "data": { "header": header },
            }),
            json!({
                "time": 23.5,
                "name": "recovery:metrics_updated",
                "data": { "min_rtt": 22.43544, "bytes_in_flight": 0 },
            }),
        ];
        for piece in [1, 7, 10_000] {
            assert_eq!(records(&written(&lines, piece)), expected, "pieces of {piece}");
        }
    }

    #[test]
    fn lines_that_are_not_json_stay_unchanged() {
        assert_eq!(
            written("\u{1e}no json\n\u{1e}{\"time\":1}\n", 4),
            b"\x1eno json\n\x1e{\"time\":1}\n"
        );
    }
}
