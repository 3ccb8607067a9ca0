//! Moments and spans, as numbers and as the text that records carry.
//!
//! Not a clock (`now` is handed in) and not a calendar library: the civil-date arithmetic below
//! is two short functions, needs no time zone database, opens nothing at start, and the forms it
//! accepts are the contract's own, which no library's parser matches exactly.
//! Invariants: a moment is microseconds since 1970-01-01T00:00Z without leap seconds; text in the
//! stored form sorts as the moments do; only real calendar dates of the years 0001-9999 are read.

use std::fmt;

/// Microseconds in one second.
pub const SECOND: i64 = 1_000_000;
/// Microseconds in one day.
pub const DAY: i64 = 86_400 * SECOND;

/// 0001-01-01T00:00:00Z: the first moment the stored form can write.
const FIRST: i64 = days_from_civil(1, 1, 1) * DAY;
/// 9999-12-31T23:59:59.999999Z: the last one.
const LAST: i64 = days_from_civil(10_000, 1, 1) * DAY - 1;

/// One moment: microseconds since 1970-01-01T00:00:00Z.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Micros(pub i64);

impl Micros {
    /// The stored form, `YYYY-MM-DDTHH:MM:SS.mmmZ`; what is finer than a millisecond is cut off.
    ///
    /// A moment outside the years 0001-9999 is written as the nearest one inside, so that text
    /// keeps sorting as time does.
    pub fn format_ms(self) -> String {
        self.to_string()
    }

    /// Whether `text` is the stored form of this moment.
    pub fn is_written(self, text: &str) -> bool {
        text.as_bytes() == self.stored()
    }

    /// The stored form as bytes, all ASCII. A few nanoseconds: an import writes and compares
    /// several for every claim.
    fn stored(self) -> [u8; 24] {
        let moment = self.0.clamp(FIRST, LAST);
        let (year, month, day) = civil_from_days(moment.div_euclid(DAY));
        let milli = moment.rem_euclid(DAY) / 1000;
        let (second, minute, hour) = (milli / 1000, milli / 60_000, milli / 3_600_000);
        let mut form = *b"0000-00-00T00:00:00.000Z";
        let mut put = |end: usize, digits: usize, mut value: i64| {
            for at in (end - digits..end).rev() {
                form[at] = b'0' + (value % 10) as u8;
                value /= 10;
            }
        };
        put(4, 4, year);
        put(7, 2, month);
        put(10, 2, day);
        put(13, 2, hour);
        put(16, 2, minute % 60);
        put(19, 2, second % 60);
        put(23, 3, milli % 1000);
        form
    }

    /// Reads a timestamp, or `None` when it is not one.
    ///
    /// Accepted: `YYYY-MM-DD`, alone (midnight UTC) or followed by `T`, `t` or a space, `HH:MM`,
    /// optionally `:SS` and one to nine fraction digits (cut to microseconds), and a zone: `Z`,
    /// `z`, or an offset `+HH:MM`, `+HHMM` or `+HH` with either sign. A time without a zone is
    /// refused, because whose midnight it means is a guess. Cost: tens of nanoseconds.
    pub fn parse(text: &str) -> Option<Self> {
        let mut rest = Cursor(text.as_bytes());
        let year = rest.digits(4)?;
        rest.byte(b'-')?;
        let month = rest.digits(2)?;
        rest.byte(b'-')?;
        let day = rest.digits(2)?;
        if year < 1 || !(1..=12).contains(&month) || day < 1 || day > days_in_month(year, month) {
            return None;
        }
        let midnight = days_from_civil(year, month, day) * DAY;
        if rest.0.is_empty() {
            return Some(Self(midnight));
        }
        rest.one_of(b"Tt ")?;
        let hour = rest.digits(2)?;
        rest.byte(b':')?;
        let minute = rest.digits(2)?;
        let (mut second, mut fraction) = (0, 0);
        if rest.byte(b':').is_some() {
            second = rest.digits(2)?;
            if rest.byte(b'.').is_some() {
                fraction = rest.fraction()?;
            }
        }
        if hour > 23 || minute > 59 || second > 59 {
            return None;
        }
        let offset = rest.zone()?;
        if !rest.0.is_empty() {
            return None;
        }
        let moment =
            midnight + ((hour * 60 + minute) * 60 + second) * SECOND + fraction - offset * SECOND;
        (FIRST..=LAST).contains(&moment).then_some(Self(moment))
    }

    /// This moment moved by a span in microseconds; the ends of the number line hold.
    pub fn plus(self, micros: i64) -> Self {
        Self(self.0.saturating_add(micros))
    }
}

impl fmt::Display for Micros {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Digits and separators are ASCII.
        out.write_str(std::str::from_utf8(&self.stored()).unwrap_or_default())
    }
}

/// Days from one moment to another, with their fraction; negative when `later` is the earlier.
pub fn days_between(earlier: Micros, later: Micros) -> f64 {
    (i128::from(later.0) - i128::from(earlier.0)) as f64 / DAY as f64
}

/// Days from 1970-01-01 to a civil date of the proleptic Gregorian calendar.
///
/// Years run from March here, so the leap day is the last of its year and a month's start is a
/// straight line: (153 m + 2) / 5. 719468 days lie between 0000-03-01 and 1970-01-01.
const fn days_from_civil(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719_468
}

/// The civil date of a day counted from 1970-01-01; the inverse of `days_from_civil`.
fn civil_from_days(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let day_of_era = days.rem_euclid(146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let march_month = (5 * day_of_year + 2) / 153;
    let month = (march_month + 2) % 12 + 1;
    let year = era * 400 + year_of_era + i64::from(month <= 2);
    (year, month, day_of_year - (153 * march_month + 2) / 5 + 1)
}

fn days_in_month(year: i64, month: i64) -> i64 {
    match month {
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// What is left to read. Every method takes what it names from the front, or nothing.
struct Cursor<'a>(&'a [u8]);

impl Cursor<'_> {
    fn byte(&mut self, wanted: u8) -> Option<()> {
        self.one_of(&[wanted]).map(drop)
    }

    fn one_of(&mut self, wanted: &[u8]) -> Option<u8> {
        let (first, rest) = self.0.split_first()?;
        wanted.contains(first).then(|| {
            self.0 = rest;
            *first
        })
    }

    fn digit(&mut self) -> Option<i64> {
        self.one_of(b"0123456789").map(|byte| i64::from(byte - b'0'))
    }

    fn digits(&mut self, count: usize) -> Option<i64> {
        (0..count).try_fold(0, |value, _| Some(value * 10 + self.digit()?))
    }

    /// One to nine digits after the point, as whole microseconds.
    fn fraction(&mut self) -> Option<i64> {
        let mut micros = self.digit()? * 100_000;
        let mut place = 10_000;
        for _ in 1..9 {
            let Some(digit) = self.digit() else { break };
            micros += digit * place;
            place /= 10;
        }
        Some(micros)
    }

    /// The zone as seconds east of UTC.
    fn zone(&mut self) -> Option<i64> {
        let sign = match self.one_of(b"Zz+-")? {
            b'+' => 1,
            b'-' => -1,
            _ => return Some(0),
        };
        let hours = self.digits(2)?;
        let minutes = match self.byte(b':') {
            Some(()) => self.digits(2)?,
            None if self.0.is_empty() => 0,
            None => self.digits(2)?,
        };
        (hours <= 23 && minutes <= 59).then_some(sign * (hours * 60 + minutes) * 60)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn canonical(text: &str) -> Option<String> {
        Micros::parse(text).map(Micros::format_ms)
    }

    #[test]
    fn known_moments_have_their_numbers() {
        for (text, micros) in [
            ("1970-01-01T00:00:00.000Z", 0),
            ("1969-12-31T23:59:59.999Z", -1000),
            ("2000-02-29T00:00:00.000Z", 951_782_400 * SECOND),
            ("2001-09-09T01:46:40.000Z", 1_000_000_000 * SECOND),
            ("2038-01-19T03:14:08.000Z", 2_147_483_648 * SECOND),
            ("0001-01-01T00:00:00.000Z", -62_135_596_800 * SECOND),
            ("9999-12-31T23:59:59.999Z", 253_402_300_800 * SECOND - 1000),
        ] {
            assert_eq!(Micros::parse(text), Some(Micros(micros)), "{text}");
            assert_eq!(Micros(micros).format_ms(), text);
        }
        assert_eq!(Micros(-1).format_ms(), "1969-12-31T23:59:59.999Z");
        assert_eq!(Micros(i64::MAX).format_ms(), "9999-12-31T23:59:59.999Z");
        assert_eq!(Micros(i64::MIN).format_ms(), "0001-01-01T00:00:00.000Z");
    }

    #[test]
    fn every_accepted_form_becomes_the_stored_one() {
        for (text, stored) in [
            ("2025-03-01", "2025-03-01T00:00:00.000Z"),
            ("2025-03-01T10:20Z", "2025-03-01T10:20:00.000Z"),
            ("2025-03-01t10:20:30z", "2025-03-01T10:20:30.000Z"),
            ("2025-05-15 00:00:00+00:00", "2025-05-15T00:00:00.000Z"),
            ("2025-03-01T10:20:30-00:00", "2025-03-01T10:20:30.000Z"),
            ("2025-03-01T10:20:30.5Z", "2025-03-01T10:20:30.500Z"),
            ("2025-03-01T10:20:30.1239Z", "2025-03-01T10:20:30.123Z"),
            ("2025-03-01T10:20:30.123456789Z", "2025-03-01T10:20:30.123Z"),
            ("2025-03-01T01:00:00+02:00", "2025-02-28T23:00:00.000Z"),
            ("2024-02-28T23:30:00-0100", "2024-02-29T00:30:00.000Z"),
            ("2024-12-31 23:00-03", "2025-01-01T02:00:00.000Z"),
            ("2025-03-01T10:20:30+05:45", "2025-03-01T04:35:30.000Z"),
        ] {
            assert_eq!(canonical(text).as_deref(), Some(stored), "{text}");
        }
        let fine = Micros::parse("1970-01-01T00:00:00.123456789Z");
        assert_eq!(fine, Some(Micros(123_456)));
    }

    #[test]
    fn what_is_no_timestamp_is_refused() {
        for text in [
            "",
            "yesterday",
            "junk",
            "2025",
            "2025-3-01",
            "0000-01-01",
            "2025-00-01",
            "2025-13-01",
            "2025-02-29",
            "1900-02-29",
            "2025-04-31",
            "2025-01-00",
            "2025-01-01T",
            "2025-01-01T00",
            "2025-01-01T00:00",
            "2025-01-01T00:00:00",
            "2025-01-01T24:00Z",
            "2025-01-01T00:60Z",
            "2025-01-01T23:59:60Z",
            "2025-01-01T00:00:00.Z",
            "2025-01-01T00:00:00.1234567890Z",
            "2025-01-01T00:00:00Zx",
            "2025-01-01T00:00:00 Z",
            "2025-01-01_00:00:00Z",
            "2025-01-01T00:00:00+24:00",
            "2025-01-01T00:00:00+00:60",
            "2025-01-01T00:00:00+0",
            "2025-01-01T00:00:00+00:",
            " 2025-01-01",
            "2025-01-01 ",
            "0001-01-01T00:00:00+00:01",
            "9999-12-31T23:59:59-00:01",
            "\u{662}025-01-01",
        ] {
            assert_eq!(Micros::parse(text), None, "{text}");
        }
    }

    #[test]
    fn the_calendar_and_its_inverse_agree_on_every_day_of_eight_centuries() {
        let mut days = days_from_civil(1600, 1, 1);
        for year in 1600..2400 {
            for month in 1..=12 {
                for day in 1..=days_in_month(year, month) {
                    assert_eq!(days_from_civil(year, month, day), days);
                    assert_eq!(civil_from_days(days), (year, month, day));
                    days += 1;
                }
            }
        }
        assert_eq!(days - days_from_civil(1600, 1, 1), 2 * 146_097);
    }

    #[test]
    fn distances_and_moves() {
        assert_eq!(days_between(Micros(0), Micros(DAY * 3 / 2)), 1.5);
        assert_eq!(days_between(Micros(DAY), Micros(0)), -1.0);
        assert!(days_between(Micros(i64::MIN), Micros(i64::MAX)) > 2e8);
        assert_eq!(Micros(i64::MAX).plus(1), Micros(i64::MAX));
    }
}
