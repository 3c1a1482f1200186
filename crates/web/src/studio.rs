//! What the page asks for: run a scenario, check a rule, describe the module.

use crate::columns::Columns;
use crate::{metrics, steered};
use cwndlab_rules::{FAMILIES, RuleSpec};
use cwndlab_scenario::{CheckedScenario, Resolver, Sampling, Scenario};
use cwndlab_sim::results::{Account, Explanation, Reasons, explain};
use cwndlab_sim::{Options, Simulation, Status};
use cwndlab_units::Time;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::iter::repeat_n;

/// Bins of the goodput trace, for that many samples of the window.
const SAMPLES_PER_BIN: u64 = 8;

/// A request to run a scenario.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Request {
    /// The scenario, as a file has it. Its own `[trace]` is replaced.
    toml: String,
    /// Files that it names, by name.
    #[serde(default)]
    files: BTreeMap<String, String>,
    /// Samples of windows and queues over the duration.
    samples: u64,
    /// Whether to record every packet.
    #[serde(default)]
    packets: bool,
    /// Whether to keep an account of each flow, for [`Studio::explain`].
    #[serde(default)]
    account: bool,
}

/// A request to explain why one side got more goodput than another.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Sides {
    /// What sentences call them.
    names: [String; 2],
    /// Accounts of the flows of each.
    accounts: [Vec<Account>; 2],
}

/// The parts of a difference, and the same in words.
#[derive(Debug, Serialize)]
struct Why {
    #[serde(flatten)]
    parts: Explanation,
    #[serde(flatten)]
    reasons: Reasons,
}

/// State of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Progress {
    /// It goes on.
    Running = 0,
    /// It reached the end of its duration.
    Done = 1,
    /// The scenario is not valid, or the run failed: the output says why.
    Failed = 2,
}

/// What a scenario may name: the files of the request, and steered rules.
struct Resources<'a>(&'a BTreeMap<String, String>);

impl Resolver for Resources<'_> {
    fn read(&self, path: &str) -> Result<String, String> {
        self.0.read(path)
    }

    fn rule(&self, text: &str) -> Result<RuleSpec, String> {
        steered::parse(text)
    }
}

/// The state of the module.
#[derive(Default)]
pub struct Studio {
    /// The request.
    pub input: Vec<u8>,
    /// Text for the page: a result, a description or an error.
    pub output: String,
    /// What [`Studio::collect`] took from the run.
    pub columns: Columns,
    run: Option<Simulation<'static>>,
    /// Bytes on the wire of a data packet of each flow.
    wire_bytes: Vec<u32>,
}

impl Studio {
    /// Builds the run of the request. It replaces the run before it.
    pub fn start(&mut self) -> Progress {
        self.run = None;
        match self.scenario() {
            Ok(scenario) => {
                let flows = scenario.flows.iter();
                let sizes =
                    flows.map(|flow| (scenario.tcp_config(&flow.tcp).wire_size(1), flow.count));
                self.wire_bytes = sizes.flat_map(|(size, n)| repeat_n(size, n as usize)).collect();
                self.run = Some(Simulation::owning(scenario, Options::default()));
                Progress::Running
            }
            Err(message) => self.fail(message),
        }
    }

    /// Processes at most so many events of the run.
    pub fn advance(&mut self, events: u64) -> Progress {
        let Some(run) = &mut self.run else { return Progress::Failed };
        match run.advance(events) {
            Status::Running => Progress::Running,
            Status::Done => Progress::Done,
            Status::OutOfMemory | Status::InvalidWindow | Status::StackFailure => {
                let message = run.error().to_string();
                self.fail(message)
            }
        }
    }

    /// Simulated time of the run, seconds.
    pub fn simulated_s(&self) -> f64 {
        self.run.as_ref().map_or(0.0, |run| run.progress().0)
    }

    /// Takes what the run has recorded so far: columns, and as output JSON with the result and the
    /// names of the phases. Metrics of a run that goes on are those of its first part.
    pub fn collect(&mut self) {
        let Some(run) = &self.run else { return };
        let traces = run.traces();
        self.columns = Columns::of(Some(&traces));
        let recorder = traces.recorder;
        self.output = json!({
            "simulated_s": run.progress().0,
            "phases": recorder.map(|recorder| &recorder.rules.phases),
            "rate_bin_s": recorder.and_then(|recorder| recorder.rate_bin_s()),
            "wire_bytes": self.wire_bytes,
            "result": run.result(),
        })
        .to_string();
    }

    fn fail(&mut self, message: String) -> Progress {
        self.output = message;
        Progress::Failed
    }

    /// The scenario of the request, with the traces that the page draws.
    fn scenario(&self) -> Result<CheckedScenario, String> {
        let request: Request =
            serde_json::from_slice(&self.input).map_err(|error| error.to_string())?;
        let scenario = Scenario::from_toml_with(&request.toml, &Resources(&request.files))
            .map_err(|error| error.to_string())?;
        let every = |seconds: f64| Time::from_seconds(seconds.max(1e-6));
        let sample = every(scenario.duration.seconds() / request.samples.max(1) as f64)?;
        let bin = every(sample.seconds() * SAMPLES_PER_BIN as f64)?;
        let traced = scenario.edited(|scenario| {
            scenario.trace.cwnd = Some(Sampling::Every(sample));
            // Each change of phase is recorded, too.
            scenario.trace.rule = Some(Sampling::Every(scenario.duration));
            scenario.trace.queue = Some(sample);
            scenario.trace.rate = Some(bin);
            scenario.trace.packets = request.packets;
            scenario.trace.account = request.account;
        });
        traced.map_err(|error| error.to_string())
    }

    /// Checks the notation of a rule, which the request is. The output is its canonical form, or
    /// what is wrong with it; returns whether it is valid.
    pub fn check_rule(&mut self) -> bool {
        let text = String::from_utf8_lossy(&self.input);
        let checked = text.parse::<RuleSpec>().map_err(|error| error.to_string());
        let known = checked.and_then(|rule| match rule.custom_text() {
            Some(text) => steered::parse(text).map(|rule| rule.to_string()),
            None => Ok(rule.to_string()),
        });
        let is_valid = known.is_ok();
        self.output = known.unwrap_or_else(|message| message);
        is_valid
    }

    /// Explains the difference between the sides of the request. The output is JSON with its parts,
    /// headline and causes, or what is wrong; returns whether it is an explanation.
    pub fn explain(&mut self) -> bool {
        let explained = serde_json::from_slice::<Sides>(&self.input).and_then(|sides| {
            let [first, second] =
                sides.accounts.each_ref().map(|side| side.iter().collect::<Vec<_>>());
            let parts = explain(&first, &second);
            let names = sides.names.each_ref().map(String::as_str);
            let reasons = Reasons::of(names, [&first, &second], &parts, 0.0);
            serde_json::to_string(&Why { parts, reasons })
        });
        let is_valid = explained.is_ok();
        self.output = explained.unwrap_or_else(|error| error.to_string());
        is_valid
    }

    /// Describes the module, as JSON: version, rules, columns, and definitions of metrics.
    pub fn describe(&mut self) {
        let rules: Vec<Value> = FAMILIES
            .iter()
            .map(|family| {
                let parameters: Vec<Value> = family
                    .parameters
                    .iter()
                    .filter(|parameter| !parameter.option)
                    .map(|parameter| {
                        json!({
                            "name": parameter.name,
                            "meaning": parameter.meaning,
                            "expected": parameter.expected,
                        })
                    })
                    .collect();
                json!({
                    "name": family.name, "summary": family.summary, "source": family.source,
                    "example": family.example, "parameters": parameters,
                })
            })
            .collect();
        let columns: Vec<Value> =
            Columns::default().names().map(|(name, kind)| json!([name, kind])).collect();
        let version = env!("CARGO_PKG_VERSION");
        let metrics = metrics::definitions();
        self.output =
            json!({ "version": version, "rules": rules, "columns": columns, "metrics": metrics })
                .to_string();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::columns::Column;

    const SAWTOOTH: &str = r#"
        duration = "20s"
        profile = "rfc"
        [dumbbell]
        rate = "10Mbit"
        delay = "20ms"
        [[flows]]
        rule = "AIMD(1, 0.5)"
        count = 2
    "#;

    fn studio(request: &Value) -> Studio {
        Studio { input: request.to_string().into_bytes(), ..Studio::default() }
    }

    fn output(studio: &mut Studio) -> Value {
        studio.collect();
        serde_json::from_str(&studio.output).unwrap()
    }

    #[test]
    fn a_run_gives_the_result_of_the_simulator_and_columns_by_flow() {
        let mut studio = studio(&json!({ "toml": SAWTOOTH, "samples": 100 }));
        assert_eq!(studio.start(), Progress::Running);
        assert_eq!(studio.advance(u64::MAX), Progress::Done);
        let output = output(&mut studio);
        let scenario = Scenario::from_toml(SAWTOOTH).unwrap();
        let hash = Simulation::new(&scenario).run().unwrap().trace_hash;
        assert_eq!(output["result"]["trace_hash"], hash);
        // Samples at 0, 0.2, ... 20 s of each of two flows, flow by flow.
        let Some(Column::U32(flows)) = studio.columns.named("windows.flow") else { panic!() };
        assert_eq!((flows.len(), flows[0], flows[100], flows[101]), (202, 0, 0, 1));
        let Some(Column::F64(times)) = studio.columns.named("windows.time_s") else { panic!() };
        assert_eq!((times[0], times[100], times[101]), (0.0, 20.0, 0.0));
    }

    #[test]
    fn what_a_run_has_recorded_is_a_prefix_of_the_whole() {
        let whole_windows = |studio: &Studio| {
            let column = |name| match studio.columns.named(name) {
                Some(Column::F64(values)) => values.clone(),
                other => panic!("{other:?}"),
            };
            let Some(Column::U32(flows)) = studio.columns.named("windows.flow") else { panic!() };
            let (times, windows) = (column("windows.time_s"), column("windows.cwnd_packets"));
            (flows.clone(), times, windows)
        };
        let mut studio = studio(&json!({ "toml": SAWTOOTH, "samples": 100 }));
        studio.start();
        while studio.simulated_s() < 5.0 {
            assert_eq!(studio.advance(100), Progress::Running);
        }
        let simulated_s = output(&mut studio)["simulated_s"].as_f64().unwrap();
        assert!((5.0..6.0).contains(&simulated_s), "{simulated_s}");
        let (flows, times, windows) = whole_windows(&studio);
        studio.advance(u64::MAX);
        studio.collect();
        let (all_flows, all_times, all_windows) = whole_windows(&studio);
        let mut row = 0;
        for (number, &flow) in flows.iter().enumerate() {
            while (all_flows[row], all_times[row]) != (flow, times[number]) {
                row += 1;
            }
            assert_eq!(all_windows[row], windows[number]);
        }
        assert!(flows.len() >= 2 * 25, "{}", flows.len());
    }

    /// 20 packets against 10 of the same round trip.
    #[test]
    fn accounts_of_a_run_are_explained() {
        let flow = |name: &str, window: u32| {
            format!(
                "[[flows]]\nname = \"{name}\"\nrule = \"NewReno\"\ntcp = {{ window = {window} }}\n"
            )
        };
        let toml = format!(
            "duration = \"10s\"\n[dumbbell]\nrate = \"100Mbit\"\ndelay = \"40ms\"\n{}{}",
            flow("a", 20),
            flow("b", 10)
        );
        let mut studio = studio(&json!({ "toml": toml, "samples": 10, "account": true }));
        studio.start();
        assert_eq!(studio.advance(u64::MAX), Progress::Done);
        let accounts = output(&mut studio)["result"]["accounts"].take();
        let sides = [[&accounts[0]], [&accounts[1]]];
        studio.input = json!({ "names": ["a", "b"], "accounts": sides }).to_string().into_bytes();
        assert!(studio.explain(), "{}", studio.output);
        let why: Value = serde_json::from_str(&studio.output).unwrap();
        let told = why["headline"].as_str().unwrap();
        assert!(told.contains("more packets are outstanding (20 against 10)"), "{told}");
        assert_eq!(why["causes"][0]["factor"], "window");
        assert!(why["goodput_bps"]["difference"].as_f64().unwrap() > 1e6);
        studio.input = b"{}".to_vec();
        assert!(!studio.explain());
        assert!(studio.output.contains("names"), "{}", studio.output);
    }

    #[test]
    fn what_is_wrong_is_said_as_on_the_command_line() {
        let mut studio = studio(&json!({ "toml": "duration = \"1s\"", "samples": 10 }));
        assert_eq!(studio.start(), Progress::Failed);
        assert_eq!(
            studio.output,
            Scenario::from_toml("duration = \"1s\"").unwrap_err().to_string()
        );
        studio.input = b"Rule(inc=\"1/w+\", dec=\"w/2\")".to_vec();
        assert!(!studio.check_rule());
        assert!(studio.output.contains("column 5"), "{}", studio.output);
        studio.input = b"aimd(1,0.5)".to_vec();
        assert!(studio.check_rule());
        assert_eq!(studio.output, "AIMD(1, 0.5)");
    }
}
