//! Numbers as sentences write them.

/// With three significant digits, and never with an exponent above 1.
pub(super) fn figure(value: f64) -> String {
    if value.abs() >= 1000.0 { format!("{value:.0}") } else { significant(value, 3) }
}

/// A rate in Mbit/s.
pub(super) fn megabits(bps: f64) -> String {
    figure(bps / 1e6)
}

/// With so many significant digits, without zeros behind them, as `%g` of C writes it.
pub(super) fn significant(value: f64, digits: usize) -> String {
    if !value.is_finite() {
        return value.to_string().to_lowercase();
    }
    let scientific = format!("{value:.*e}", digits - 1);
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if (-4..digits as i32).contains(&exponent) {
        let decimals = (digits as i32 - 1 - exponent) as usize;
        without_zeros(&format!("{value:.decimals$}")).into()
    } else {
        format!("{}e{exponent:+03}", without_zeros(mantissa))
    }
}

fn without_zeros(text: &str) -> &str {
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_c_writes_them() {
        for (value, digits, text) in [
            (0.0, 3, "0"),
            (100.0, 3, "100"),
            (99.95, 3, "100"),
            (0.000123456, 3, "0.000123"),
            (0.0000123456, 3, "1.23e-05"),
            (999.5, 3, "1e+03"),
            (12.3400, 4, "12.34"),
            (-2.5, 2, "-2.5"),
            (f64::NAN, 3, "nan"),
        ] {
            assert_eq!(significant(value, digits), text);
        }
        assert_eq!((figure(999.4), figure(12345.6), megabits(2.5e6)), pair("999", "12346", "2.5"));
    }

    fn pair(a: &str, b: &str, c: &str) -> (String, String, String) {
        (a.into(), b.into(), c.into())
    }
}
