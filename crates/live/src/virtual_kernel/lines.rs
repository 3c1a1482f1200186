//! The lines of a file that grows.

use std::fs;
use std::io::Read;
use std::path::PathBuf;

/// The lines of a file that grows.
pub struct Lines {
    path: PathBuf,
    file: Option<fs::File>,
    read: Vec<u8>,
    seen: usize,
}

impl Lines {
    /// The lines of a file that may not be there yet.
    pub fn new(path: PathBuf) -> Self {
        Self { path, file: None, read: Vec::new(), seen: 0 }
    }

    /// The next complete line, without its end; none until there is one.
    pub fn next(&mut self) -> std::io::Result<Option<String>> {
        if self.file.is_none() {
            self.file = fs::File::open(&self.path).ok();
        }
        let Some(file) = &mut self.file else { return Ok(None) };
        file.read_to_end(&mut self.read)?;
        let Some(end) = self.read[self.seen..].iter().position(|&byte| byte == b'\n') else {
            self.seen = self.read.len();
            return Ok(None);
        };
        let mut line: Vec<u8> = self.read.drain(..=self.seen + end).collect();
        self.seen = 0;
        line.pop();
        String::from_utf8(line).map(Some).map_err(std::io::Error::other)
    }
}
