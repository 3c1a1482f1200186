//! Ways through a graph: which links traffic crosses, and what is said where there is no way.

use cwndlab_scenario::{FlowPath, NetworkGraph, OneWayLink, Routes, Scenario};

/// Links as (from, to, delay in ms, rest of the table).
fn network(links: &[(&str, &str, u64, &str)], traffic: &str) -> String {
    let mut text = "duration = \"1s\"\n".to_string();
    for (from, to, delay, rest) in links {
        text += &format!(
            "[[links]]\nfrom = \"{from}\"\nto = \"{to}\"\nrate = \"1Mbit\"\ndelay = \
             \"{delay}ms\"\n{rest}\n"
        );
    }
    text + traffic
}

/// Names of the links of the first flow, there and back.
fn first_path(text: &str) -> (String, String) {
    let scenario = Scenario::from_toml(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let graph = NetworkGraph::new(&scenario).unwrap();
    let FlowPath { forward, back } = Routes::new(&scenario, &graph).unwrap().flows.remove(0);
    let names = |way: Vec<u32>| {
        way.iter().map(|&i| graph.links[i as usize].name.as_str()).collect::<Vec<_>>().join(" ")
    };
    (names(forward), names(back))
}

fn error(text: &str) -> String {
    Scenario::from_toml(text).expect_err(text).to_string()
}

const FLOW: &str = "[[flows]]\nrule = \"AIMD(1, 0.5)\"\n";
const A_TO_D: &str = "[[flows]]\nrule = \"AIMD(1, 0.5)\"\nfrom = \"a\"\nto = \"d\"\n";

#[test]
fn the_shortest_path_has_the_least_delay() {
    // a-b-c-d takes 3 ms, a-d 4 ms; back there is only d-a.
    let links =
        [("a", "b", 1, ""), ("b", "c", 1, ""), ("c", "d", 1, ""), ("a", "d", 4, "duplex = true")];
    assert_eq!(first_path(&network(&links, A_TO_D)), ("a-b b-c c-d".into(), "d-a".into()));
}

#[test]
fn of_equal_delays_fewest_links_then_the_first_in_the_scenario() {
    let links = [
        ("a", "c", 1, "duplex = true"),
        ("a", "b", 1, "duplex = true"),
        ("b", "d", 1, "duplex = true"),
        ("c", "d", 1, "duplex = true"),
    ];
    // Both ways take 2 ms and two links: a-c (link 0) comes before a-b; back d-b (link 5) before
    // d-c (link 7).
    assert_eq!(first_path(&network(&links, A_TO_D)), ("a-c c-d".into(), "d-b b-a".into()));
    let mut shorter = links.to_vec();
    shorter.push(("a", "d", 2, "duplex = true"));
    assert_eq!(first_path(&network(&shorter, A_TO_D)), ("a-d".into(), "d-a".into()));
}

#[test]
fn links_without_delay_make_no_cycles() {
    let links = [
        ("a", "b", 0, "duplex = true"),
        ("b", "c", 0, "duplex = true"),
        ("c", "d", 0, "duplex = true"),
    ];
    assert_eq!(first_path(&network(&links, A_TO_D)), ("a-b b-c c-d".into(), "d-c c-b b-a".into()));
}

#[test]
fn the_reverse_of_a_named_duplex_link_is_named_after_it() {
    let links = [("a", "b", 1, "name = \"x\"\nduplex = true")];
    let scenario = Scenario::from_toml(&network(
        &links,
        &format!("{FLOW}path = [\"x\"]\nback = [\"x-back\"]"),
    ))
    .unwrap();
    let graph = NetworkGraph::new(&scenario).unwrap();
    let ends = |link: &OneWayLink| [Some(link.name.clone()), link.from.clone(), link.to.clone()];
    let expected = [["x", "a", "b"], ["x-back", "b", "a"]];
    assert_eq!(
        graph.links.iter().map(ends).collect::<Vec<_>>(),
        expected.map(|names| names.map(|name| Some(name.to_string())))
    );
}

#[test]
fn a_reverse_path_may_be_given() {
    let links = [("a", "d", 1, "duplex = true"), ("d", "a", 9, "name = \"slow\"")];
    assert_eq!(
        first_path(&network(&links, &format!("{A_TO_D}back = [\"slow\"]"))),
        ("a-d".into(), "slow".into())
    );
    assert_eq!(
        first_path(&network(&links, &format!("{FLOW}path = [\"a-d\"]"))),
        ("a-d".into(), String::new())
    );
}

#[test]
fn a_dumbbell_has_one_path_and_its_reverse() {
    let dumbbell = "duration = \"1s\"\n[dumbbell]\nrate = \"1Mbit\"\ndelay = \"1ms\"\n";
    assert_eq!(
        first_path(&format!("{dumbbell}{FLOW}")),
        ("bottleneck".into(), "bottleneck-back".into())
    );
    assert_eq!(
        first_path(&format!("{dumbbell}{FLOW}reverse = true")),
        ("bottleneck-back".into(), "bottleneck".into())
    );
    let one_way = format!("{dumbbell}back_rate = \"unlimited\"\n{FLOW}");
    assert_eq!(first_path(&one_way), ("bottleneck".into(), String::new()));
    assert_eq!(
        error(&format!("{one_way}reverse = true")),
        "flows[0].reverse: `reverse` needs a reverse link: `dumbbell.back_rate` must not be \
         \"unlimited\""
    );
}

#[test]
fn errors_where_there_is_no_path() {
    let two = [("a", "b", 1, ""), ("c", "d", 1, "")];
    let circle = [("a", "b", 1, ""), ("b", "d", 1, ""), ("d", "a", 1, "")];
    let with = |links: &[(&str, &str, u64, &str)], rest: &str| {
        error(&network(links, &format!("{FLOW}{rest}")))
    };
    for (found, expected) in [
        (
            with(&two, "from = \"a\"\nto = \"x\""),
            "flows[0].to: \"x\" is not known: expected a, b, c or d",
        ),
        (with(&two, "from = \"a\"\nto = \"d\""), "flows[0]: there is no path from \"a\" to \"d\""),
        (with(&two, "from = \"a\""), "flows[0].to: `to` is required when `from` is given"),
        (
            with(&two, "from = \"a\"\nto = \"a\""),
            "flows[0].to: \"a\" is not valid: expected another node than `from`",
        ),
        (
            with(&two, "from = \"a\"\nto = \"b\"\npath = [\"a-b\"]"),
            "flows[0].path: `path` must not be given when `from` or `to` is",
        ),
        (
            with(&two, "from = \"a\"\nto = \"b\""),
            "flows[0]: there is no path from \"b\" back to \"a\": make links duplex, or give \
             `back`",
        ),
        (
            with(&two, "path = [\"a-b\", \"c-d\"]"),
            "flows[0].path: link \"c-d\" does not start where \"a-b\" ends",
        ),
        (
            with(&two, "path = [\"a-b\"]\nback = [\"c-d\"]"),
            "flows[0].back: link \"c-d\" does not start where \"a-b\" ends",
        ),
        (
            with(&circle, "path = [\"a-b\"]\nback = [\"b-d\"]"),
            "flows[0].back: link \"b-d\" does not end where \"a-b\" starts",
        ),
        (
            with(&circle, "from = \"a\"\nto = \"b\"\nback = [\"b-d\"]"),
            "flows[0].back: the path ends at \"d\" instead of \"a\"",
        ),
        (
            with(&two, "path = [\"a-c\"]"),
            "flows[0].path: \"a-c\" is not known: expected a-b or c-d (did you mean a-b?)",
        ),
        (
            with(&two, "path = []"),
            "flows[0].path: [] is not valid: expected one or more of a-b, c-d",
        ),
        (
            with(&two, "path = [\"a-b\"]\nreverse = true"),
            "flows[0].reverse: `reverse` needs a dumbbell: give `path`, or `from` and `to`",
        ),
        (
            with(&[("a", "a", 1, "")], "path = [\"x\"]"),
            "links[0].to: \"a\" is not valid: expected another node than `from`",
        ),
        (
            with(&[("a", "b", 1, "duplex = true"), ("b", "a", 1, "")], "path = [\"a-b\"]"),
            "links[1].name: \"b-a\" is not valid: expected a unique link name",
        ),
    ] {
        assert_eq!(found, expected);
    }
}
