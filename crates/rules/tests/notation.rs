//! Whatever is typed reads back what it prints, and nothing that is typed panics.

use cwndlab_rules::{
    FAMILIES, Formula, FormulaError, Parameter, ParameterKind, RuleError, RuleSpec,
};
use proptest::prelude::*;

/// Formulas of some depth.
fn formula() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        Just("w".to_string()),
        Just("rtt".to_string()),
        Just("qdelay".to_string()),
        (0.0..1e4).prop_map(|x: f64| x.to_string()),
        any::<u64>()
            .prop_map(|bits| f64::from_bits(bits).abs())
            .prop_filter("a number", |x| x.is_finite())
            .prop_map(|x| format!("{x:e}")),
    ];
    leaf.prop_recursive(4, 24, 3, |inner| {
        let pair = (
            inner.clone(),
            prop::sample::select(vec!["+", "-", "*", "/", "^", " - ", " ^ "]),
            inner.clone(),
        );
        let call = (prop::sample::select(vec!["sqrt", "log", "exp", "abs"]), inner.clone());
        prop_oneof![
            pair.clone().prop_map(|(a, operator, b)| format!("{a}{operator}{b}")),
            pair.prop_map(|(a, operator, b)| format!("({a}){operator}({b})")),
            inner.clone().prop_map(|a| format!("-{a}")),
            call.prop_map(|(name, a)| format!("{name}( {a} )")),
            (inner.clone(), inner.clone(), inner)
                .prop_map(|(a, b, c)| format!("max({a},{b},min({c},w))")),
        ]
    })
}

/// A number that the parameter allows, of everyday size.
fn value(parameter: &'static Parameter) -> BoxedStrategy<String> {
    match parameter.kind {
        ParameterKind::Choice(words) => {
            prop::sample::select(words).prop_map(str::to_string).boxed()
        }
        ParameterKind::Formula => formula().prop_map(|formula| format!("\"{formula}\"")).boxed(),
        ParameterKind::Number => {
            // Of these ranges, those that the parameter allows, and whole numbers where it takes no
            // others.
            let ranges = [(0.001, 0.1), (0.1, 0.999), (1.001, 2.0), (2.0, 20.0), (-20.0, -1.0)];
            let allowed = ranges.into_iter().filter(|&(least, most)| {
                [least, (least + most) / 2.0, most - 1e-3].into_iter().all(parameter.accepts)
            });
            let mut choices: Vec<_> = allowed.map(|(least, most)| (least..most).boxed()).collect();
            if choices.is_empty() {
                choices.push((1..100i32).prop_map(f64::from).boxed());
            }
            prop::strategy::Union::new(choices).prop_map(|value| value.to_string()).boxed()
        }
    }
}

/// A rule with all its parameters, in order or by name.
fn rule() -> impl Strategy<Value = String> {
    (0..FAMILIES.len()).prop_flat_map(|index| {
        let family = &FAMILIES[index];
        let values: Vec<_> = family.parameters.iter().map(value).collect();
        (values, any::<bool>()).prop_map(move |(values, by_name)| {
            let written: Vec<String> = (family.parameters.iter().zip(values))
                .map(
                    |(parameter, value)| {
                        if by_name { format!("{} = {value}", parameter.name) } else { value }
                    },
                )
                .collect();
            format!("{}({})", family.name.to_lowercase(), written.join(","))
        })
    })
}

proptest! {
    #[test]
    fn formulas_read_back_what_they_print(text in formula()) {
        if let Ok(formula) = text.parse::<Formula>() {
            let printed = formula.to_string();
            let fail =
                |error: FormulaError| TestCaseError::fail(format!("{printed}: {error}"));
            let again: Formula = printed.parse().map_err(fail)?;
            prop_assert_eq!(again.to_string(), printed);
            for w in [1.0, 7.5, 1e4] {
                let (again, first) = (again.value(w, 0.1, 0.02), formula.value(w, 0.1, 0.02));
                prop_assert_eq!(again.to_bits(), first.to_bits(), "{}", text);
            }
        }
    }

    #[test]
    fn rules_read_back_what_they_print(text in rule()) {
        if let Ok(spec) = text.parse::<RuleSpec>() {
            let printed = spec.to_string();
            let fail = |error: RuleError| TestCaseError::fail(format!("{printed}: {error}"));
            let again: RuleSpec = printed.parse().map_err(fail)?;
            prop_assert_eq!(again.to_string(), printed);
            prop_assert_eq!(again, spec);
        }
    }

    #[test]
    fn nothing_typed_panics(text in "[-+*/^() wrt0-9.,e\"=a-zé]{0,40}", any_text in ".{0,30}") {
        for text in [text, any_text] {
            if let Err(error) = text.parse::<Formula>() {
                let columns = 1..=text.chars().count() + 1;
                prop_assert!(columns.contains(&error.column), "{}: {}", text, error);
            }
            for family in FAMILIES {
                let _ = format!("{}({text})", family.name).parse::<RuleSpec>();
            }
        }
    }
}

#[test]
fn algorithms_of_the_kernel_run_as_their_counterparts() {
    use cwndlab_rules::{Ack, Arithmetic, WindowRule};
    for (text, counterpart) in
        [("kernel:vegas", "Vegas(2, 4)"), ("kernel:htcp", "HTCP"), ("kernel:hybla", "Hybla(0.025)")]
    {
        let spec: RuleSpec = text.parse().unwrap();
        assert_eq!(spec.to_string(), text);
        assert_ne!(spec, counterpart.parse().unwrap());
        let next = |spec: &RuleSpec| spec.build(Arithmetic::Plain).increase(10.0, &Ack::default());
        assert_eq!(next(&spec), next(&counterpart.parse().unwrap()));
    }
    // Reno, CUBIC and DCTCP have models of their own, which count whole packets.
    for text in ["kernel:reno", "kernel:cubic", "kernel:dctcp"] {
        let spec: RuleSpec = text.parse().unwrap();
        let mut rule = spec.build(Arithmetic::Plain);
        assert_eq!((spec.to_string().as_str(), rule.increase(10.0, &Ack::default())), (text, 10.0));
    }
    let without: RuleSpec = "kernel:yeah".parse().unwrap();
    assert_eq!((without.to_string().as_str(), without.has_model()), ("kernel:yeah", false));
    let refused = "kernel:west wood".parse::<RuleSpec>().unwrap_err().to_string();
    assert!(refused.starts_with("rule: \"kernel:west wood\" is not known: expected"), "{refused}");
    assert!(refused.contains("kernel:westwood"), "{refused}");
}
