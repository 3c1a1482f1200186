//! Ways through a graph: which links traffic crosses, and what is said where there is no way.

use cwndlab_sim::scenario::{FlowPath, NetworkGraph, Routes, Scenario};

/// Links as (from, to, delay in ms, rest of the table).
fn network(links: &[(&str, &str, u64, &str)], traffic: &str) -> String {
    let mut text = "duration = \"1s\"\n".to_string();
    for (from, to, delay, rest) in links {
        text += &format!(
            "[[links]]\nfrom = \"{from}\"\nto = \"{to}\"\nrate = \"1Mbit\"\ndelay = \"{delay}ms\"\n{rest}\n"
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
fn the_shortest_way_is_that_of_least_delay() {
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
    // Both ways take 2 ms and two links: a-c (link 0) comes before a-b; back d-b (link 5) before d-c (link 7).
    assert_eq!(first_path(&network(&links, A_TO_D)), ("a-c c-d".into(), "d-b b-a".into()));
    let mut shorter = links.to_vec();
    shorter.push(("a", "d", 2, "duplex = true"));
    assert_eq!(first_path(&network(&shorter, A_TO_D)), ("a-d".into(), "d-a".into()));
}

#[test]
fn links_of_no_delay_make_no_circles() {
    let links = [
        ("a", "b", 0, "duplex = true"),
        ("b", "c", 0, "duplex = true"),
        ("c", "d", 0, "duplex = true"),
    ];
    assert_eq!(first_path(&network(&links, A_TO_D)), ("a-b b-c c-d".into(), "d-c c-b b-a".into()));
}

#[test]
fn the_second_way_of_a_named_link_is_named_after_it() {
    let links = [("a", "b", 1, "name = \"x\"\nduplex = true")];
    let scenario = Scenario::from_toml(&network(
        &links,
        &format!("{FLOW}path = [\"x\"]\nback = [\"x-back\"]"),
    ))
    .unwrap();
    let graph = NetworkGraph::new(&scenario).unwrap();
    assert_eq!(
        graph.links.iter().map(|link| (link.name.as_str(), link.from, link.to)).collect::<Vec<_>>(),
        [("x", Some("a"), Some("b")), ("x-back", Some("b"), Some("a"))]
    );
}

#[test]
fn a_way_back_may_be_given() {
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
fn a_dumbbell_has_one_way_and_its_reverse() {
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
        "flows[0].reverse: there is no link back: give dumbbell.back_rate a rate instead of \"unlimited\""
    );
}

#[test]
fn what_is_said_where_there_is_no_way() {
    let two = [("a", "b", 1, ""), ("c", "d", 1, "")];
    let circle = [("a", "b", 1, ""), ("b", "d", 1, ""), ("d", "a", 1, "")];
    let with = |links: &[(&str, &str, u64, &str)], rest: &str| {
        error(&network(links, &format!("{FLOW}{rest}")))
    };
    for (found, expected) in [
        (with(&two, "from = \"a\"\nto = \"x\""), "flows[0].to: there is no node \"x\": a, b, c, d"),
        (with(&two, "from = \"a\"\nto = \"d\""), "flows[0]: there is no way from \"a\" to \"d\""),
        (with(&two, "from = \"a\""), "flows[0].to: missing: where does the way from \"a\" lead?"),
        (
            with(&two, "from = \"a\"\nto = \"a\""),
            "flows[0].to: \"a\" is where it comes from: name another node",
        ),
        (
            with(&two, "from = \"a\"\nto = \"b\"\npath = [\"a-b\"]"),
            "flows[0].path: write either path, or from and to",
        ),
        (
            with(&two, "from = \"a\"\nto = \"b\""),
            "flows[0]: there is no way back from \"b\" to \"a\": write duplex = true where links lead both ways, or back = [...]",
        ),
        (
            with(&two, "path = [\"a-b\", \"c-d\"]"),
            "flows[0].path: \"c-d\" does not begin where \"a-b\" ends",
        ),
        (
            with(&two, "path = [\"a-b\"]\nback = [\"c-d\"]"),
            "flows[0].back: \"c-d\" does not begin where \"a-b\" ends",
        ),
        (
            with(&circle, "path = [\"a-b\"]\nback = [\"b-d\"]"),
            "flows[0].back: \"b-d\" does not end where \"a-b\" begins",
        ),
        (
            with(&circle, "from = \"a\"\nto = \"b\"\nback = [\"b-d\"]"),
            "flows[0].back: it ends at \"d\" instead of \"a\"",
        ),
        (with(&two, "path = [\"a-c\"]"), "flows[0].path: there is no link \"a-c\": a-b, c-d"),
        (
            with(&two, "path = []"),
            "flows[0].path: the list is empty: name at least one of a-b, c-d",
        ),
        (
            with(&two, "path = [\"a-b\"]\nreverse = true"),
            "flows[0].reverse: only a dumbbell has a way back to take: name the path, or from and to",
        ),
        (
            with(&[("a", "a", 1, "")], "path = [\"x\"]"),
            "links[0].to: \"a\" is where the link comes from: name another node",
        ),
        (
            with(&[("a", "b", 1, "duplex = true"), ("b", "a", 1, "")], "path = [\"a-b\"]"),
            "links[1].name: \"b-a\" is empty or taken: every link has its own name",
        ),
    ] {
        assert_eq!(found, expected);
    }
}
