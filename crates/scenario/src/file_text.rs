//! The text of a file, compressed by gzip or not. Who resolves a scenario's names reads the bytes;
//! the core opens no file.

use flate2::read::MultiGzDecoder;
use std::io::Read;

/// First bytes of a gzip file (RFC 1952, section 2.3.1).
const GZIP: [u8; 2] = [0x1f, 0x8b];
/// Most bytes of a text: compressed, a file of any size may be a thousand times as long.
const MAX_BYTES: u64 = 1 << 30;

/// The text that these bytes are, or an error message.
///
/// ```
/// use cwndlab_scenario::text_of;
/// assert_eq!(text_of(b"0 4.2\n".to_vec()).unwrap(), "0 4.2\n");
/// assert!(text_of(vec![0x1f, 0x8b, 8]).unwrap_err().starts_with("its gzip is incomplete"));
/// ```
pub fn text_of(bytes: Vec<u8>) -> Result<String, String> {
    let bytes = if bytes.starts_with(&GZIP) { decompressed(&bytes)? } else { bytes };
    String::from_utf8(bytes).map_err(|_| "it is not text: expected UTF-8".into())
}

fn decompressed(bytes: &[u8]) -> Result<Vec<u8>, String> {
    let mut found = Vec::new();
    // Of several members, as `cat a.gz b.gz` makes them, all count (RFC 1952, section 2.2).
    MultiGzDecoder::new(bytes).take(MAX_BYTES + 1).read_to_end(&mut found).map_err(|error| {
        match error.kind() {
            std::io::ErrorKind::UnexpectedEof => {
                "its gzip is incomplete: expected the whole file".to_string()
            }
            _ => format!("its gzip is not valid ({error}): expected the whole file, unchanged"),
        }
    })?;
    if found.len() as u64 > MAX_BYTES {
        return Err("it is too long: expected at most 1 GiB of text".into());
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::Compression;
    use flate2::write::GzEncoder;
    use std::io::Write;

    fn compressed(text: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(text).unwrap();
        encoder.finish().unwrap()
    }

    #[test]
    fn compressed_text_is_the_text() {
        assert_eq!(text_of(compressed(b"0 4.2\n")).unwrap(), "0 4.2\n");
        let two = [compressed(b"0 4.2\n"), compressed(b"1 0\n")].concat();
        assert_eq!(text_of(two).unwrap(), "0 4.2\n1 0\n");
    }

    #[test]
    fn what_is_no_text_is_refused() {
        let whole = compressed(b"0 4.2\n1 0\n");
        for length in [3, 12, whole.len() - 1] {
            let error = text_of(whole[..length].to_vec()).unwrap_err();
            assert_eq!(error, "its gzip is incomplete: expected the whole file", "{length}");
        }
        let mut changed = whole.clone();
        // The checksum of the text (RFC 1952, section 2.3.1).
        let place = changed.len() - 8;
        changed[place] ^= 1;
        assert!(text_of(changed).unwrap_err().starts_with("its gzip is not valid ("));
        for bytes in [vec![0xff, 0xfe, 0], compressed(&[0xff, 0xfe, 0])] {
            assert_eq!(text_of(bytes).unwrap_err(), "it is not text: expected UTF-8");
        }
    }
}
