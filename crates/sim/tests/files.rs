//! Files that scenarios name: read through the caller, refused with the key, the file and the line.

use cwndlab_scenario::{DeliveryOpportunities, EmpiricalCdf, Scenario};
use std::collections::BTreeMap;

fn files(name: &str, text: &str) -> BTreeMap<String, String> {
    BTreeMap::from([(name.to_string(), text.to_string())])
}

const TRACE: &str = r#"
duration = "1s"
profile = "rfc"
[dumbbell]
rate = { kind = "trace", file = "x.down" }
delay = "1ms"
[[flows]]
rule = "AIMD(1, 0.5)"
"#;

#[test]
fn a_trace_is_read_and_has_a_mean_rate() {
    let scenario = Scenario::from_toml_with(TRACE, &files("x.down", "0\n0\n5\n10\n\n")).unwrap();
    // Four opportunities of 12,000 bits in 10 ms.
    assert_eq!(scenario.dumbbell.as_ref().unwrap().rate.first().bps(), 4_800_000);
    // Written out again it names the file, and does not carry it.
    let json = serde_json::to_value(&scenario).unwrap();
    assert_eq!(json["dumbbell"]["rate"], serde_json::json!({ "kind": "trace", "file": "x.down" }));
    assert_eq!(
        Scenario::from_json_with(&json.to_string(), &files("x.down", "0\n0\n5\n10")).unwrap(),
        scenario
    );
}

#[test]
fn errors_of_invalid_traces() {
    for (text, expected) in [
        (
            "1\n2\nabc\n",
            "x.down line 3: \"abc\" is not valid: expected an integer not below the line before, 2",
        ),
        (
            "1\n-2\n",
            "x.down line 2: \"-2\" is not valid: expected an integer not below the line before, 1",
        ),
        (
            "1\n\n2\n",
            "x.down line 2: \"\" is not valid: expected an integer not below the line before, 1",
        ),
        (
            "7\n5\n",
            "x.down line 2: 5 is not valid: expected an integer not below the line before, 7",
        ),
        (
            "99999999999\n",
            "x.down line 1: 99999999999 is not valid: expected at most 10000000000 ms",
        ),
        (
            "0\n0\n",
            "x.down ends at 0: expected the length of the trace in milliseconds on the last line",
        ),
        ("", "x.down is empty: expected a millisecond per line"),
    ] {
        let error =
            Scenario::from_toml_with(TRACE, &files("x.down", text)).unwrap_err().to_string();
        assert_eq!(error, format!("dumbbell.rate.file: {expected}"));
    }
    let error = Scenario::from_toml_with(TRACE, &files("y.down", "1")).unwrap_err().to_string();
    assert_eq!(error, "dumbbell.rate.file: \"x.down\" cannot be read: there is no such file");
    let error = Scenario::from_toml(TRACE).unwrap_err().to_string();
    assert_eq!(
        error,
        "dumbbell.rate.file: \"x.down\" cannot be read: files are not accessible here"
    );
}

const VECTORS: &str = r#"
duration = "1s"
profile = "rfc"
[dumbbell]
rate = "1Mbit"
delay = "1ms"
[[arrivals]]
rule = "AIMD(1, 0.5)"
vectors = { file = "x.tmix" }
"#;

#[test]
fn errors_of_recorded_connections() {
    let error = |more: &str, text: &str| {
        let toml = format!("{VECTORS}{more}");
        Scenario::from_toml_with(&toml, &files("x.tmix", text)).map_err(|error| error.to_string())
    };
    assert!(error("", "SEQ 5\n< 9").is_ok());
    for (more, text, expected) in [
        (
            "",
            "SEQ 5\n< x",
            "vectors.file: x.tmix line 2: \"< x\" is not valid: expected a number of bytes",
        ),
        (
            "size = 1",
            "SEQ 5\n< 9",
            "size: `size` must not be given when `vectors` is: the file says it",
        ),
        (
            "gap = 1",
            "SEQ 5\n< 9",
            "gap: `gap` must not be given when `vectors` is: the file says it",
        ),
    ] {
        assert_eq!(error(more, text).unwrap_err(), format!("arrivals[0].{expected}"));
    }
}

#[test]
fn a_distribution_has_two_numbers_per_line() {
    assert!(EmpiricalCdf::parse("0 0\n1 0.5\n1 0.75\n9 1").is_ok());
    for (text, expected) in [
        (
            "1 0.5\n2\n",
            "line 2: \"2\" is not valid: expected a value and its cumulative probability",
        ),
        (
            "1 0.5 3\n",
            "line 1: \"1 0.5 3\" is not valid: expected a value and its cumulative probability",
        ),
        (
            "1 nan\n",
            "line 1: \"1 nan\" is not valid: expected a value and its cumulative probability",
        ),
        (
            "2 0.5\n1 1\n",
            "line 2: \"1 1\" is not valid: expected a value and its cumulative probability",
        ),
        (
            "1 0.5\n2 0.4\n",
            "line 2: \"2 0.4\" is not valid: expected a value and its cumulative probability",
        ),
        (
            "1 1.5\n",
            "line 1: \"1 1.5\" is not valid: expected a value and its cumulative probability",
        ),
        (
            "-1 1\n",
            "line 1: \"-1 1\" is not valid: expected a value and its cumulative probability",
        ),
        ("1 0.5\n", "is incomplete: expected a value and its cumulative probability"),
        ("", "is incomplete: expected a value and its cumulative probability"),
    ] {
        let error = EmpiricalCdf::parse(text).unwrap_err();
        assert!(error.contains(expected), "{text:?}: {error}");
    }
}

#[test]
fn errors_of_files_name_their_key() {
    let of = |rest: &str| {
        let text =
            format!("duration = \"1s\"\n[dumbbell]\nrate = \"1Mbit\"\ndelay = \"1ms\"\n{rest}");
        Scenario::from_toml(&text).unwrap_err().to_string().split(':').next().unwrap().to_string()
    };
    let empirical = "{ kind = \"empirical\", file = \"x\" }";
    let trace = "{ kind = \"trace\", file = \"x\" }";
    assert_eq!(of(&format!("[[cross]]\navailable = {trace}")), "cross[0].available.file");
    assert_eq!(
        of(&format!("[[cross]]\nrate = \"1Mbit\"\non = \"1s\"\noff = {empirical}")),
        "cross[0].off.file"
    );
    assert_eq!(
        of(&format!("[[arrivals]]\nrule = \"AIMD(1, 0.5)\"\ngap = \"1s\"\nsize = {empirical}")),
        "arrivals[0].size.file"
    );
    let flow = format!(
        "[[flows]]\nrule = \"AIMD(1, 0.5)\"\nresponses = {{ size = 3, think = {empirical} }}"
    );
    assert_eq!(of(&flow), "flows[0].responses.think.file");
}

#[test]
fn the_mean_rate_of_a_trace_by_hand() {
    // One opportunity a millisecond is 12 Mbit/s.
    assert_eq!(DeliveryOpportunities::parse("1").unwrap().mean().bps(), 12_000_000);
    assert_eq!(DeliveryOpportunities::parse("100\n1000").unwrap().mean().bps(), 24_000);
}

#[test]
fn bursts_exclude_traces() {
    // Packets that share an opportunity are no time apart: a burst of them would have no end.
    let bursts = r#"
duration = "1s"
profile = "rfc"
[dumbbell]
rate = "1Mbit"
delay = "1ms"
[[cross]]
rate = { kind = "trace", file = "x.down" }
on = "1s"
off = "1s"
"#;
    let error = Scenario::from_toml_with(bursts, &files("x.down", "1")).unwrap_err().to_string();
    assert_eq!(
        error,
        "cross[0].on: `on` must not be given when `rate` is a trace, cellular or grants"
    );
}
