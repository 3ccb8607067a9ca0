//! The two inner loops of a dense scan: a code against a query, and a sketch against a query.
//!
//! Both are written once, plainly, and compiled once more for processors that have wider
//! registers; which is used is asked of the processor, and the plain form is what the tests hold
//! the others against. All sums are of integers, so every form gives the same number. Not here:
//! what is scanned, and by how many threads ([`super::dense`]).
//!
//! Invariant: no sum overflows: a vector has at most 4,096 dimensions ([`Query::of`] refuses
//! more), a code's numbers are at most 127 and a query's at most 4,095, and by Cauchy and Schwarz
//! `127 * 4095 * 4096 < 2^31`.

use packset_segments::Space;

/// The largest number of a query's vector: twelve bits, so that its rounding is below that of
/// the codes by a factor of thirty.
const MOST: f32 = 4095.0;
/// See the invariant above.
const DIMS: usize = 4096;
/// Planes of a query for sketches: as many bits of each of its numbers take part. With four, a
/// sketch ranks as well as with all of them (RaBitQ; Gao and Long, 2024; measured here too).
const PLANES: usize = 4;
/// The highest step that they can say.
const STEPS: i32 = 15;

/// A query's vector, in whole numbers.
#[derive(Clone, Debug)]
pub(super) struct Query {
    numbers: Vec<i16>,
    /// One over its length.
    norm: f32,
    signs: Signs,
}

/// A query as sketches see it: its numbers in sixteen steps from the least to the greatest.
#[derive(Clone, Debug, Default)]
struct Signs {
    /// The steps bit by bit, lowest first; what is no dimension has none.
    planes: [Vec<u64>; PLANES],
    least: i32,
    range: i32,
    /// The fits of a sketch that is positive where that is worst, and where it is best.
    worst: i64,
    best: i64,
}

impl Query {
    /// A vector of a space; none if it points nowhere or is of another space.
    pub(super) fn of(vector: &[f32], space: Space) -> Option<Self> {
        let most = vector.iter().fold(0f32, |most, number| most.max(number.abs()));
        let fits = vector.len() == space.dims as usize && vector.len() <= DIMS;
        if !fits || most <= 0.0 || !vector.iter().all(|number| number.is_finite()) {
            return None;
        }
        let number = |number: &f32| (number / most * MOST).round() as i16;
        let mut numbers: Vec<i16> = vector.iter().map(number).collect();
        let square: i64 = numbers.iter().map(|number| i64::from(*number).pow(2)).sum();
        numbers.resize(space.stride(), 0);
        let norm = (1.0 / (square as f64).sqrt()) as f32;
        let signs = Signs::of(&numbers, vector.len());
        Some(Self { numbers, norm, signs })
    }

    /// The cosine with a code of the same space, whose norm is given.
    pub(super) fn cosine(&self, code: &[u8], norm: f32) -> f32 {
        self.cosine_of(dot(code, &self.numbers), norm)
    }

    /// The same from the sum of products ([`dots`]).
    pub(super) fn cosine_of(&self, dot: i32, norm: f32) -> f32 {
        dot as f32 * norm * self.norm
    }

    /// Which of so many equal steps between the worst and the best fit there is ([`fits`]).
    pub(super) fn bucket(&self, fit: i32, buckets: usize) -> usize {
        let Signs { worst, best, .. } = self.signs;
        let range = (best - worst).max(1);
        let at = (i64::from(fit) - worst).max(0) * buckets as i64 / range;
        (at as usize).min(buckets.saturating_sub(1))
    }
}

impl Signs {
    fn of(numbers: &[i16], dims: usize) -> Self {
        let own = || numbers.iter().take(dims).copied().map(i32::from);
        let (least, most) = (own().min().unwrap_or(0), own().max().unwrap_or(0));
        let range = (most - least).max(1);
        let mut planes: [Vec<u64>; PLANES] = Default::default();
        for plane in &mut planes {
            plane.resize(numbers.len() / 64, 0);
        }
        let (mut worst, mut best) = (0, 0);
        for (at, number) in own().enumerate() {
            let step = ((number - least) * STEPS + range / 2) / range;
            let fit = i64::from(step) * i64::from(range) + i64::from(STEPS * least);
            worst += fit.min(0);
            best += fit.max(0);
            for (bit, plane) in planes.iter_mut().enumerate() {
                if let Some(word) = plane.get_mut(at / 64) {
                    *word |= ((step as u64 >> bit) & 1) << (at % 64);
                }
            }
        }
        Self { planes, least, range, worst, best }
    }
}

/// The sum of products of a code and a query.
pub(super) fn dot(code: &[u8], query: &[i16]) -> i32 {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        // SAFETY: the processor has AVX2, asked for in the line above.
        return unsafe { dot_wide(code, query) };
    }
    dot_plain(code, query)
}

#[inline(always)]
fn dot_plain(code: &[u8], query: &[i16]) -> i32 {
    code.iter().zip(query).map(|(code, query)| i32::from(*code as i8) * i32::from(*query)).sum()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn dot_wide(code: &[u8], query: &[i16]) -> i32 {
    dot_plain(code, query)
}

/// Sums of products of codes that lie end to end and a query, one for each.
pub(super) fn dots(codes: &[u8], query: &Query, found: &mut Vec<i32>) {
    found.clear();
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        // SAFETY: the processor has AVX2, asked for in the line above.
        return unsafe { dots_wide(codes, &query.numbers, found) };
    }
    dots_plain(codes, &query.numbers, found);
}

#[inline(always)]
fn dots_plain(codes: &[u8], query: &[i16], found: &mut Vec<i32>) {
    found.extend(codes.chunks_exact(query.len().max(1)).map(|code| dot_plain(code, query)));
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn dots_wide(codes: &[u8], query: &[i16], found: &mut Vec<i32>) {
    dots_plain(codes, query, found);
}

/// How well sketches that lie end to end fit a query, one number for each: the sum of the query's
/// numbers, in steps, where a sketch's signs are positive. Only the order means something.
pub(super) fn fits(sketches: &[u8], query: &Query, found: &mut Vec<i32>) {
    found.clear();
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("popcnt") {
        // SAFETY: the processor counts bits, asked for in the line above.
        return unsafe { fits_wide(sketches, &query.signs, found) };
    }
    fits_plain(sketches, &query.signs, found);
}

#[inline(always)]
fn fits_plain(sketches: &[u8], signs: &Signs, found: &mut Vec<i32>) {
    let [one, two, four, eight] = &signs.planes;
    let len = one.len() * 8;
    if len == 0 {
        return;
    }
    found.extend(sketches.chunks_exact(len).map(|sketch| {
        let mut positive = 0;
        let mut sum = [0u32; PLANES];
        let words = sketch
            .chunks_exact(8)
            .map(|word| word.first_chunk::<8>().map_or(0, |word| u64::from_le_bytes(*word)));
        for ((((word, one), two), four), eight) in words.zip(one).zip(two).zip(four).zip(eight) {
            positive += word.count_ones();
            sum[0] += (word & one).count_ones();
            sum[1] += (word & two).count_ones();
            sum[2] += (word & four).count_ones();
            sum[3] += (word & eight).count_ones();
        }
        let steps = (sum[0] + 2 * sum[1] + 4 * sum[2] + 8 * sum[3]) as i32;
        // A number is the least one and its steps: at most 15 * 8190 * 4096 / 2 < 2^31.
        steps * signs.range + STEPS * signs.least * positive as i32
    }));
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "popcnt")]
fn fits_wide(sketches: &[u8], signs: &Signs, found: &mut Vec<i32>) {
    fits_plain(sketches, signs, found);
}

#[cfg(test)]
mod tests {
    use packset_segments::vectors::{norm, sketch};

    use super::*;

    /// Numbers that look like a vector's; a congruential sequence, so that every run has the same.
    fn vector(seed: u32, dims: usize) -> Vec<f32> {
        let mut state = seed;
        let mut next = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 8) as f32 / (1 << 23) as f32 - 1.0
        };
        (0..dims).map(|_| next() + next() + next()).collect()
    }

    #[test]
    fn a_cosine_is_that_of_geometry_but_for_rounding() {
        for dims in [1, 2, 63, 64, 65, 256, 384, 1024] {
            let space = Space { id: 1, dims: dims as u32 };
            let (a, b) = (vector(1, dims), vector(2, dims));
            let dot = |a: &[f32], b: &[f32]| -> f64 {
                a.iter().zip(b).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum()
            };
            let wanted = dot(&a, &b) / (dot(&a, &a) * dot(&b, &b)).sqrt();
            let code = space.code(&b);
            let query = Query::of(&a, space).unwrap();
            let found = query.cosine(&code, norm(&code));
            // Half a step of 1/127 of the largest number, in random directions.
            assert!((f64::from(found) - wanted).abs() < 0.01, "{dims}: {found} {wanted}");
            let own = Query::of(&b, space).unwrap().cosine(&code, norm(&code));
            assert!((own - 1.0).abs() < 1e-3, "{dims}: {own}");
        }
        // 3-4-5, with numbers that a code holds exactly: 127 and 0 against 3 and 4.
        let space = Space { id: 1, dims: 2 };
        let code = space.code(&[9.0, 0.0]);
        let found = Query::of(&[3.0, 4.0], space).unwrap().cosine(&code, norm(&code));
        assert!((found - 0.6).abs() < 1e-4, "{found}");
    }

    #[test]
    fn what_is_no_vector_is_no_query() {
        let space = Space { id: 1, dims: 2 };
        for none in [&[][..], &[1.0], &[0.0, 0.0], &[1.0, f32::NAN], &[f32::INFINITY, 0.0]] {
            assert!(Query::of(none, space).is_none(), "{none:?}");
        }
        let wide = Space { id: 1, dims: 4097 };
        assert!(Query::of(&vec![1.0; 4097], wide).is_none());
    }

    #[test]
    fn every_form_of_a_loop_gives_the_number_of_the_plain_one() {
        for dims in [1, 64, 100, 256, 384, 4096] {
            let space = Space { id: 1, dims: dims as u32 };
            let query = Query::of(&vector(9, dims), space).unwrap();
            let codes: Vec<u8> = (0..7).flat_map(|seed| space.code(&vector(seed, dims))).collect();
            let naive = codes.chunks(space.stride()).map(|code| {
                let products = code.iter().zip(&query.numbers);
                products.map(|(c, q)| i64::from(*c as i8) * i64::from(*q)).sum::<i64>()
            });
            let mut found = Vec::new();
            dots(&codes, &query, &mut found);
            let found: Vec<i64> = found.into_iter().map(i64::from).collect();
            assert_eq!(found, naive.collect::<Vec<_>>(), "{dims}");

            let sketches: Vec<u8> = codes.chunks(space.stride()).flat_map(sketch).collect();
            let (mut one, mut other) = (Vec::new(), Vec::new());
            fits(&sketches, &query, &mut one);
            fits_plain(&sketches, &query.signs, &mut other);
            assert_eq!(one, other, "{dims}");
            // By the definition, number by number.
            let Signs { least, range, .. } = query.signs;
            let naive = codes.chunks(space.stride()).map(|code| {
                let positive = code.iter().zip(&query.numbers).take(dims);
                let positive = positive.filter(|(code, _)| (**code as i8) > 0);
                let of = |number: i16| {
                    let step = ((i32::from(number) - least) * 15 + range / 2) / range;
                    i64::from(step) * i64::from(range) + 15 * i64::from(least)
                };
                positive.map(|(_, number)| of(*number)).sum::<i64>()
            });
            let one: Vec<i64> = one.into_iter().map(i64::from).collect();
            assert_eq!(one, naive.collect::<Vec<_>>(), "{dims}");
        }
    }

    #[test]
    fn the_largest_numbers_there_are_do_not_overflow() {
        let space = Space { id: 1, dims: 4096 };
        let query = Query::of(&vec![1.0; 4096], space).unwrap();
        let code = space.code(&vec![-1.0; 4096]);
        assert_eq!(dot(&code, &query.numbers), -127 * 4095 * 4096);
        let mixed: Vec<f32> = (0..4096).map(|at| if at % 2 == 0 { 1.0 } else { -1.0 }).collect();
        let query = Query::of(&mixed, space).unwrap();
        let mut found = Vec::new();
        fits(&sketch(&space.code(&mixed)), &query, &mut found);
        // 2,048 signs are positive, each at the highest step: 15 * 8190 - 15 * 4095.
        assert_eq!(found, [2048 * 15 * 4095]);
    }
}
