//! Rows and fields of a text file: CSV, tabs, semicolons or white space, with or without a header.

use super::column::Column;
use cwndlab_units::message::unknown_value;

/// What separates fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Separator {
    Space,
    Character(char),
}

/// A text file as rows; blank lines and those that begin with `#` are none.
pub(super) struct Table<'a> {
    separator: Separator,
    /// Numbers of lines, and their text.
    lines: Vec<(usize, &'a str)>,
}

impl<'a> Table<'a> {
    /// The rows of a text. The first says what separates fields: a tab, else a comma, else a
    /// semicolon, else white space.
    pub fn new(text: &'a str) -> Self {
        // Windows programs begin UTF-8 with a mark.
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let lines: Vec<(usize, &str)> = text
            .lines()
            .enumerate()
            .map(|(index, line)| (index + 1, line))
            .filter(|(_, line)| !line.trim().is_empty() && !line.trim_start().starts_with('#'))
            .collect();
        let first = lines.first().map_or("", |(_, line)| line.trim());
        let separator = ['\t', ',', ';']
            .into_iter()
            .find(|&character| first.contains(character))
            .map_or(Separator::Space, Separator::Character);
        Self { separator, lines }
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    /// The fields of the first row.
    pub fn first(&self) -> Vec<&'a str> {
        self.lines.first().map_or_else(Vec::new, |(_, line)| self.fields(line))
    }

    /// The rows, as the number of a line and its fields.
    pub fn rows(&self) -> impl Iterator<Item = (usize, Vec<&'a str>)> {
        self.lines.iter().map(|&(number, line)| (number, self.fields(line)))
    }

    /// The place of a column, from 0 on; one with a name is in the header.
    pub fn place(&self, column: &Column) -> Result<usize, String> {
        let name = match column {
            Column::Number(number) => return Ok(number - 1),
            Column::Name(name) => name,
        };
        let header = self.first();
        let line = self.lines.first().map_or(1, |(number, _)| *number);
        header
            .iter()
            .position(|field| field == name)
            .or_else(|| header.iter().position(|field| field.eq_ignore_ascii_case(name)))
            .ok_or_else(|| format!("line {line}: column {}", unknown_value(name, &header)))
    }

    /// The fields of a line. A quoted one may hold the separator (RFC 4180, section 2).
    fn fields(&self, line: &'a str) -> Vec<&'a str> {
        let Separator::Character(separator) = self.separator else {
            return line.split_whitespace().map(unquoted).collect();
        };
        let mut is_quoted = false;
        line.split(|character| {
            is_quoted ^= character == '"';
            character == separator && !is_quoted
        })
        .map(unquoted)
        .collect()
    }
}

/// A field without white space and quotes around it.
fn unquoted(field: &str) -> &str {
    let field = field.trim();
    field.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or(field).trim()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_of_each_separator() {
        for text in ["# made\n\na,b,c", "a\tb\tc", "a;b;c", "  a  b c", "\u{feff}a, b ,\"c\"\r\n"] {
            assert_eq!(Table::new(text).first(), ["a", "b", "c"], "{text:?}");
        }
        let quoted = Table::new("\"Oslo, centre\",4\n");
        assert_eq!(quoted.first(), ["Oslo, centre", "4"]);
        // An empty field keeps its place.
        assert_eq!(Table::new("1,,3").first(), ["1", "", "3"]);
    }

    #[test]
    fn columns_are_found_by_name() {
        let table = Table::new("\n# x\ntime,Rate\n0,1");
        assert_eq!(table.place(&Column::named("Rate")), Ok(1));
        assert_eq!(table.place(&Column::named("TIME")), Ok(0));
        assert_eq!(table.place(&Column::Number(7)), Ok(6));
        assert_eq!(
            table.place(&Column::named("rat")).unwrap_err(),
            "line 3: column \"rat\" is not known: expected time or Rate (did you mean Rate?)"
        );
    }
}
