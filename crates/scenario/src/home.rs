//! Where a scenario runs: in the simulator, or with TCP of a Linux kernel in virtual time.

use cwndlab_rules::RuleSpec;
use cwndlab_units::message::{invalid_value, unknown_value};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;

const SIMULATOR: &str = "simulator";
const LINUX: &str = "linux";

/// Where a scenario runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Home {
    /// The simulator; `kernel:NAME` is the model.
    #[default]
    Simulator,
    /// A Linux kernel in virtual time, by its name; without a name the user's default.
    Linux(Option<String>),
}

impl Home {
    /// Whether it is the simulator.
    pub(crate) fn is_simulator(&self) -> bool {
        *self == Self::Simulator
    }

    /// Why it cannot run a rule, if so.
    pub(crate) fn refusal(&self, rule: &RuleSpec) -> Option<String> {
        match self {
            // Of flows with quinn's endpoints.
            Self::Simulator if rule.quinn_name().is_some() => None,
            Self::Simulator if !rule.has_model() => {
                let unknown = unknown_value(&rule.to_string(), &RuleSpec::kernel_models());
                Some(format!("{unknown}; with `home = \"linux\"` all that the kernel has"))
            }
            Self::Linux(_) if rule.kernel_name().is_none() => rule.kernel_program().err(),
            _ => None,
        }
    }
}

impl Serialize for Home {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Simulator => serializer.serialize_str(SIMULATOR),
            Self::Linux(None) => serializer.serialize_str(LINUX),
            Self::Linux(Some(kernel)) => serializer.collect_str(&format_args!("{LINUX}:{kernel}")),
        }
    }
}

impl<'de> Deserialize<'de> for Home {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let is_allowed = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
        match text.split_once(':') {
            None if text == SIMULATOR => Ok(Self::Simulator),
            None if text == LINUX => Ok(Self::Linux(None)),
            Some((LINUX, kernel)) if !kernel.is_empty() && kernel.chars().all(is_allowed) => {
                Ok(Self::Linux(Some(kernel.into())))
            }
            _ => {
                let expected = "simulator, linux, or linux:NAME for one of several kernels";
                Err(D::Error::custom(invalid_value(format!("\"{text}\""), expected)))
            }
        }
    }
}

impl JsonSchema for Home {
    fn schema_name() -> Cow<'static, str> {
        "Home".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "\"simulator\", \"linux\" or \"linux:NAME\"",
            "type": "string",
            "pattern": "^(simulator|linux(:[A-Za-z0-9._-]+)?)$",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(home: &str) -> Result<Home, String> {
        serde_json::from_value(home.into()).map_err(|error| error.to_string())
    }

    #[test]
    fn a_home_reads_as_it_is_written() {
        for home in ["simulator", "linux", "linux:my-tree_6.12"] {
            assert_eq!(serde_json::to_value(read(home).unwrap()).unwrap(), home);
        }
        for wrong in ["kernel", "linux:", "linux:a b", "simulator:x"] {
            let expected = format!("\"{wrong}\" is not valid: expected simulator, linux, or");
            assert!(read(wrong).unwrap_err().starts_with(&expected));
        }
    }
}
