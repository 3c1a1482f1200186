//! The commands `install`, `list`, `remove` and `clean`, which manage rules in the kernel.

/// The commands of this file.
pub(crate) const COMMANDS: [&str; 4] = ["install", "list", "remove", "clean"];

/// Sends the features that this program was built with.
pub(crate) fn about() -> Result<(), crate::events::Failure> {
    let answer = serde_json::json!({ "rules_in_kernel": cfg!(feature = "kernel") });
    crate::events::send(&crate::events::Event::Answer { answer });
    Ok(())
}

/// Sends the files that a build of a kernel in virtual time adds to it.
pub(crate) fn sources() -> Result<(), crate::events::Failure> {
    let answer = cwndlab_kernel::built_in::SOURCES.into_iter().collect::<serde_json::Value>();
    crate::events::send(&crate::events::Event::Answer { answer });
    Ok(())
}

#[cfg(not(feature = "kernel"))]
pub(crate) fn run(command: &str, _: &[String]) -> Result<(), crate::events::Failure> {
    Err(crate::events::Failure::refused(format!(
        "{command}: this program was built without rules in the kernel; install clang, libelf-dev \
         and zlib1g-dev on a kernel with BTF (/sys/kernel/btf/vmlinux), then run `make live`"
    )))
}

#[cfg(feature = "kernel")]
pub(crate) use kernel::run;

#[cfg(feature = "kernel")]
mod kernel {
    use crate::events::{Event, Failure, send};
    use cwndlab_kernel::{Accuracy, CompiledRule, Hits, LoadOptions, Registered, installed};
    use cwndlab_rules::RuleSpec;
    use cwndlab_units::message::invalid;
    use serde_json::{Value, json};
    use std::io::Read;

    pub(crate) fn run(command: &str, arguments: &[String]) -> Result<(), Failure> {
        match command {
            "install" => install(&Install::read(arguments)?),
            "list" => list(),
            "remove" => remove(arguments),
            _ => installed::clean()
                .map(|names| answer(json!({ "removed": names })))
                .map_err(Failure::refused),
        }
    }

    fn answer(answer: Value) {
        send(&Event::Answer { answer });
    }

    /// Arguments of `install`.
    struct Install {
        rule: RuleSpec,
        name: String,
        options: LoadOptions,
        until_stopped: bool,
    }

    impl Install {
        fn read(arguments: &[String]) -> Result<Self, Failure> {
            let (mut rule, mut name, mut until_stopped) = (None, None, false);
            let mut options = LoadOptions { for_everybody: true, ..LoadOptions::default() };
            let mut rest = arguments.iter();
            while let Some(argument) = rest.next() {
                let mut value = || {
                    rest.next()
                        .ok_or_else(|| Failure::refused(format!("{argument}: a value is missing")))
                };
                match argument.as_str() {
                    "--name" => name = Some(value()?.clone()),
                    "--initial-ssthresh" => {
                        options.initial_ssthresh = Some(packets(argument, value()?)?)
                    }
                    "--skip-every" => options.skip_every = Some(packets(argument, value()?)?),
                    "--until-stopped" => until_stopped = true,
                    text if rule.is_none() && !text.starts_with("--") => {
                        rule = Some(text.parse::<RuleSpec>().map_err(Failure::refused)?);
                    }
                    text => {
                        let expected =
                            "RULE --name NAME --initial-ssthresh PACKETS --until-stopped";
                        return Err(Failure::refused(invalid("install", text, expected)));
                    }
                }
            }
            let rule = rule.ok_or_else(|| {
                Failure::refused("a rule is missing, for example \"AIMD(1, 0.5)\"")
            })?;
            let name = name.ok_or_else(|| {
                Failure::refused(
                    "--name: a name is missing: expected 1 to 15 letters, digits, _ and -, a \
                         letter first",
                )
            })?;
            Ok(Self { rule, name, options, until_stopped })
        }
    }

    fn packets(option: &str, text: &str) -> Result<u32, Failure> {
        let refused = || Failure::refused(invalid(option, text, "a whole number, 2 or more"));
        text.parse().map_err(|_| refused())
    }

    fn install(asked: &Install) -> Result<(), Failure> {
        let compiled = CompiledRule::new(&asked.rule).map_err(Failure::refused)?;
        let description = description(asked, &compiled);
        if !asked.until_stopped {
            installed::install(&asked.rule, &asked.name, &asked.options)
                .map_err(Failure::refused)?;
            answer(description);
            return Ok(());
        }
        let registered =
            Registered::load(&asked.rule, &asked.name, &asked.options).map_err(Failure::refused)?;
        answer(description);
        // Waits until the parent closes standard input; a signal may end the process earlier. In
        // both cases the kernel unregisters the rule.
        let _ = std::io::stdin().read_to_end(&mut Vec::new());
        let hits = registered.report().map(hits).map_err(Failure::refused)?;
        answer(json!({ "name": asked.name, "hits": hits }));
        Ok(())
    }

    fn description(asked: &Install, compiled: &CompiledRule) -> Value {
        let Accuracy { growth_share, cut_share } = compiled.accuracy;
        json!({
            "name": asked.name,
            "rule": asked.rule.to_string(),
            "program": compiled.program.name(),
            "growth_error_share": growth_share,
            "cut_error_share": cut_share,
        })
    }

    fn list() -> Result<(), Failure> {
        let rules: Vec<Value> = installed::list()
            .map_err(Failure::refused)?
            .into_iter()
            .map(|entry| {
                json!({
                    "name": entry.name,
                    "rule": entry.rule,
                    "installed": entry.installed,
                    "hits": entry.hits.map(hits),
                })
            })
            .collect();
        answer(json!({ "rules": rules }));
        Ok(())
    }

    fn remove(arguments: &[String]) -> Result<(), Failure> {
        let [name] = arguments else {
            return Err(Failure::refused("remove: expected one name, as `list` shows it"));
        };
        installed::remove(name).map_err(Failure::refused)?;
        answer(json!({ "removed": [name] }));
        Ok(())
    }

    fn hits(hits: Hits) -> Value {
        json!({
            "flows": hits.flows,
            "cuts": hits.cuts,
            "skipped_ssthresh": hits.skipped_ssthresh,
            "skipped_set_state": hits.skipped_set_state,
            "beyond_table": hits.beyond_table,
            "undone": hits.undone,
            "skipped_undo": hits.skipped_undo,
            "left_unanswered": hits.left_unanswered,
        })
    }
}
