//! Files of other programs, where a scenario names data as text: what works instead.

const CAPTURE: &str = "captures are not read: expected text, such as the times and sizes that \
     `tshark -r FILE -T fields -e frame.time_relative -e frame.len` prints, which kind = \"log\" \
     reads with unit = \"B\"; `cwndlab import pcap FILE` makes a whole scenario of a flow in it";
const PACKED: &str = "it is not text: expected text, or text compressed by gzip";
const TABLE: &str = "tables in this format are not read: expected text, such as CSV";

/// Endings of names, and what works instead.
const INSTEAD: &[(&[&str], &str)] = &[
    (&["pcap", "pcapng", "cap"], CAPTURE),
    (&["zip", "xz", "bz2", "zst", "7z", "tgz", "tar", "rar"], PACKED),
    (&["xlsx", "xls", "ods", "parquet", "feather", "mat", "npy", "npz", "pkl", "h5"], TABLE),
    (
        &["qlog", "sqlog"],
        "a qlog says what an endpoint did, not what a link can: expected text of times and rates; \
         `cwndlab import qlog FILE` makes a whole scenario of it",
    ),
    (
        &["tcl", "cc", "py", "toml", "onnx", "pt", "pth"],
        "it is no recording: expected text of numbers",
    ),
];

/// What works instead of a file, by the ending of its name; none where it may be the right one.
pub(crate) fn instead(file: &str) -> Option<&'static str> {
    let (_, ending) = file.rsplit_once('.')?;
    let ending = ending.to_ascii_lowercase();
    INSTEAD
        .iter()
        .find(|(endings, _)| endings.contains(&ending.as_str()))
        .map(|(_, instead)| *instead)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endings_in_small_and_capital_letters() {
        assert_eq!(instead("a/link.PCAPNG"), Some(CAPTURE));
        assert_eq!(instead("link.csv.xz"), Some(PACKED));
        for file in ["link", "link.csv", "link.csv.gz", "link.down", "a.pcap/link"] {
            assert_eq!(instead(file), None, "{file}");
        }
    }
}
