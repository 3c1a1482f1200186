//! Forms of public bandwidth logs: which columns they have, in which units.

use super::column::Column;
use super::time_unit::TimeUnit;
use super::value_unit::ValueUnit;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The form of a public dataset.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LogFormat {
    /// Pensieve (Mao, Netravali, Alizadeh 2017): seconds and Mbit/s, without a header. A rate holds
    /// until its time, as Pensieve's simulator reads it.
    Pensieve,
    /// HSDPA in Norway (Riiser, Vigmostad, Griwodz, Halvorsen 2013): seconds since 1970,
    /// milliseconds since a start, latitude, longitude, bytes and milliseconds since the row
    /// before.
    NorwayHsdpa,
    /// 4G in Ghent (van der Hooft et al. 2016): the same with milliseconds since 1970.
    #[serde(rename = "ghent-4g")]
    Ghent4g,
    /// 5G in Ireland (Raca, Leahy, Sreenan, Quinlan 2020, University College Cork): a CSV file with
    /// the dates `Timestamp` and the kbit/s `DL_bitrate`.
    #[serde(rename = "ucc-5g")]
    Ucc5g,
    /// Lumos5G (Narayanan et al. 2020): a CSV file with the seconds `seq_num` of each `run_num`,
    /// and the Mbit/s `Throughput`.
    #[serde(rename = "lumos5g")]
    Lumos5g,
}

/// What a form says of the columns.
pub(super) struct Form {
    pub time: Column,
    pub time_unit: TimeUnit,
    pub elapsed: Option<Column>,
    pub value: Column,
    pub unit: ValueUnit,
    /// Whether a rate holds until its time, not from it on.
    pub is_until: bool,
}

impl LogFormat {
    pub(super) fn form(self) -> Form {
        match self {
            Self::Pensieve => Form {
                time: Column::Number(1),
                time_unit: TimeUnit::Seconds,
                elapsed: None,
                value: Column::Number(2),
                unit: ValueUnit::MegabitsPerSecond,
                is_until: true,
            },
            Self::NorwayHsdpa | Self::Ghent4g => Form {
                time: Column::Number(2),
                time_unit: TimeUnit::Milliseconds,
                elapsed: Some(Column::Number(6)),
                value: Column::Number(5),
                unit: ValueUnit::Bytes,
                is_until: true,
            },
            Self::Ucc5g => Form {
                time: Column::named("Timestamp"),
                time_unit: TimeUnit::Date,
                elapsed: None,
                value: Column::named("DL_bitrate"),
                unit: ValueUnit::KilobitsPerSecond,
                is_until: false,
            },
            Self::Lumos5g => Form {
                time: Column::named("seq_num"),
                time_unit: TimeUnit::Seconds,
                elapsed: None,
                value: Column::named("Throughput"),
                unit: ValueUnit::MegabitsPerSecond,
                is_until: false,
            },
        }
    }
}
