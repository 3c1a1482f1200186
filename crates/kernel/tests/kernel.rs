//! Tests in the kernel: the BPF build of the arithmetic gives the same bits as the host build, and
//! rules can be registered, listed and unregistered. They need root and a kernel with BTF;
//! otherwise they say so and return.

mod flow;

use cwndlab_kernel::{
    CompiledRule, KernelError, LoadOptions, Registered, installed, name, requirements,
};
use flow::{Drive, Event, Flow, host};
use libbpf_rs::{MapCore, MapFlags, Object, ObjectBuilder, ProgramInput};
use std::thread;
use std::time::{Duration, Instant};

/// Time limit of a test that hangs.
const HANG: Duration = Duration::from_secs(900);

/// Whether this machine can load BPF programs; prints why if it cannot.
fn can_run() -> bool {
    requirements::check().map_err(|error| eprintln!("skipped: {error}")).is_ok()
}

/// Loads bpf/drive.bpf.c with the rule's data.
fn program(plan: &CompiledRule, map_of_rule: &str) -> Object {
    let mut object = ObjectBuilder::default()
        .open_memory(include_bytes!(concat!(env!("OUT_DIR"), "/drive.o")))
        .unwrap();
    for mut map in object.maps_mut().filter(|map| map.name() == map_of_rule) {
        map.set_initial_value(&plan.data).unwrap();
    }
    object.load().unwrap()
}

/// Runs one event in the kernel.
fn in_kernel(object: &Object, drive: &mut Drive) {
    let map = object.maps().find(|map| map.name() == ".data.flow").unwrap();
    let words: [u64; 10] = unsafe { std::mem::transmute(*drive) };
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_ne_bytes()).collect();
    map.update(&0u32.to_ne_bytes(), &bytes, MapFlags::ANY).unwrap();
    let program = object.progs_mut().next().unwrap();
    assert_eq!(program.test_run(ProgramInput::default()).unwrap().return_value, 0);
    let bytes = map.lookup(&0u32.to_ne_bytes(), MapFlags::ANY).unwrap().unwrap();
    let mut words = [0u64; 10];
    for (word, bytes) in words.iter_mut().zip(bytes.chunks_exact(8)) {
        *word = u64::from_ne_bytes(bytes.try_into().unwrap());
    }
    *drive = unsafe { std::mem::transmute::<[u64; 10], Drive>(words) };
}

/// A sequence of all events: acknowledgements of one to seven packets, RTTs from 0.2 ms to 0.9 s.
fn sequence() -> impl Iterator<Item = (Event, u32, f64)> {
    (0..3000u32).map(|step| {
        let draw = step.wrapping_mul(2_654_435_761) >> 16;
        let event = match draw % 64 {
            0 => Event::Cut,
            1 if step % 7 == 0 => Event::Timeout,
            2 | 3 => Event::SlowStart,
            4 => Event::Mark,
            5..8 => Event::Round,
            _ => Event::Ack,
        };
        (event, 1 + draw % 7, f64::from(1 + draw % 4500) * 0.0002)
    })
}

#[test]
fn the_kernel_computes_what_the_host_does() {
    if !can_run() {
        return;
    }
    for (rule, map) in [
        ("GAIMD(0.31, 0.875)", ".rodata.table"),
        ("Rule(inc=\"1 - w/100\", dec=\"w - 0.5*w^0.7\")", ".rodata.table"),
        ("Rule(inc=\"10*rtt\", dec=\"w/(1 + rtt)\")", ".rodata.surface"),
        ("Rule(inc=\"2 - 20*qdelay\", dec=\"w/(1 + 9*qdelay)\")", ".rodata.surface"),
        ("Bimodal(1, 0.5, 0.125, compare=scaled, band=0.05)", ".rodata.bimodal"),
        ("MRAIMD(1, 0.5, 0.005, 0.5, calm=2)", ".rodata.mraimd"),
    ] {
        let plan = CompiledRule::new(&rule.parse().unwrap()).unwrap();
        let object = program(&plan, map);
        let (mut here, mut there, host) =
            (Flow::new(&plan, 40.25), Flow::new(&plan, 40.25), host(&plan));
        (here.0.min_rtt_us, there.0.min_rtt_us) = (50_000, 50_000);
        for (index, (event, acked, rtt_s)) in sequence().enumerate() {
            here.happen(event, acked, rtt_s, &host);
            there.happen(event, acked, rtt_s, |drive| in_kernel(&object, drive));
            assert_eq!(here.0, there.0, "{rule}, event {index}: {event:?} of {acked}");
        }
        println!("{rule}: 3000 events, the same bits; the window is {:.6}", here.cwnd());
    }
}

#[test]
fn a_rule_is_registered_for_the_lifetime_of_its_value() {
    if !can_run() {
        return;
    }
    let rule = "SQRT(1, 0.5)".parse().unwrap();
    let registered = Registered::load(&rule, "cwl_t_lives", &LoadOptions::default()).unwrap();
    assert!(name::available().unwrap().contains(&"cwl_t_lives".to_string()));
    assert_eq!(registered.report().unwrap().flows, 0);
    assert!(
        installed::list()
            .unwrap()
            .iter()
            .any(|entry| entry.name == "cwl_t_lives" && !entry.installed)
    );
    let again = Registered::load(&rule, "cwl_t_lives", &LoadOptions::default()).unwrap_err();
    assert!(
        matches!(&again, KernelError::InUse(_))
            && again.to_string().contains("name \"cwl_t_lives\" is in use"),
        "{again}"
    );
    drop(registered);
    // The kernel unregisters the rule after an RCU grace period.
    let until = Instant::now() + HANG;
    while name::available().unwrap().contains(&"cwl_t_lives".to_string()) {
        assert!(Instant::now() < until, "the rule is still registered");
        thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn every_kind_of_rule_passes_the_verifier() {
    if !can_run() {
        return;
    }
    for (index, rule) in [
        "AIMD(1, 0.5)",
        "Rule(inc=\"1/(0.1 + rtt)\", dec=\"w/2\")",
        "Rule(inc=\"1 - 9*qdelay\", dec=\"w/2\")",
        "Bimodal",
        "MRAIMD",
    ]
    .iter()
    .enumerate()
    {
        let name = format!("cwl_t_kind{index}");
        let options = LoadOptions {
            initial_ssthresh: Some(100),
            for_everybody: true,
            ..LoadOptions::default()
        };
        assert_eq!(Registered::load(&rule.parse().unwrap(), &name, &options).unwrap().name(), name);
    }
}
