//! From what a model says of each token to what is wanted of a text.
//!
//! Plain arithmetic over rows of `width` numbers, one row a token; a mask says which rows are
//! tokens and which only fill. Not here: running the model. Invariants: a vector that is given out
//! has length 1 and finite numbers; weights are positive and their terms rise.

/// Makes a vector's length 1; none if it has no length or is not finite.
pub fn unit(mut vector: Vec<f32>) -> Option<Vec<f32>> {
    let square: f64 = vector.iter().map(|it| f64::from(*it) * f64::from(*it)).sum();
    let length = square.sqrt();
    if !length.is_finite() || length <= 0.0 {
        return None;
    }
    for number in &mut vector {
        *number = (f64::from(*number) / length) as f32;
    }
    Some(vector)
}

/// The rows of a text that are tokens.
pub fn tokens<'a>(
    rows: &'a [f32],
    mask: &'a [i64],
    width: usize,
) -> impl Iterator<Item = &'a [f32]> {
    rows.chunks_exact(width.max(1)).zip(mask).filter(|(_, mask)| **mask != 0).map(|(row, _)| row)
}

/// The first token's vector.
pub fn first(rows: &[f32], width: usize) -> Option<Vec<f32>> {
    unit(rows.get(..width)?.to_vec())
}

/// The mean over all tokens.
pub fn mean(rows: &[f32], mask: &[i64], width: usize) -> Option<Vec<f32>> {
    // Its length is made 1, so that the sum does as well as the mean.
    let mut sums = vec![0f64; width];
    for row in tokens(rows, mask, width) {
        sums.iter_mut().zip(row).for_each(|(sum, number)| *sum += f64::from(*number));
    }
    unit(sums.into_iter().map(|sum| sum as f32).collect())
}

/// Each term's greatest weight over all tokens: ln(1 + x) of what is positive.
pub fn greatest(rows: &[f32], mask: &[i64], width: usize) -> Option<Vec<(u32, f32)>> {
    let mut most = vec![0f32; width];
    for row in tokens(rows, mask, width) {
        if row.iter().any(|it| it.is_nan()) {
            return None;
        }
        most.iter_mut().zip(row).for_each(|(most, number)| *most = most.max(*number));
    }
    let terms = (0u32..).zip(most).map(|(term, most)| (term, most.ln_1p()));
    let terms: Vec<(u32, f32)> = terms.filter(|(_, weight)| *weight > 0.0).collect();
    terms.iter().all(|(_, weight)| weight.is_finite()).then_some(terms)
}

/// Each term's greatest weight, of tokens that are terms themselves.
pub fn by_token(terms: &[u32], weights: &[f32]) -> Vec<(u32, f32)> {
    let mut all: Vec<(u32, f32)> = terms.iter().copied().zip(weights.iter().copied()).collect();
    all.retain(|(_, weight)| *weight > 0.0 && weight.is_finite());
    all.sort_by(|a, b| a.0.cmp(&b.0).then(b.1.total_cmp(&a.1)));
    all.dedup_by_key(|(term, _)| *term);
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_vector_has_length_one_or_is_none() {
        assert_eq!(unit(vec![3.0, 4.0]), Some(vec![0.6, 0.8]));
        assert_eq!(unit(vec![0.0, 0.0]), None);
        assert_eq!(unit(vec![f32::NAN, 1.0]), None);
        assert_eq!(unit(vec![f32::INFINITY, 1.0]), None);
        // Its square is past what an f32 holds; 3e30 is none exactly.
        let long = unit(vec![3e30, 4e30]).unwrap();
        assert!((long[0] - 0.6).abs() < 1e-6 && (long[1] - 0.8).abs() < 1e-6, "{long:?}");
    }

    #[test]
    fn pooling_leaves_out_what_only_fills() {
        let rows = [1.0, 0.0, 2.0, 4.0, 100.0, 100.0];
        assert_eq!(first(&rows, 2), Some(vec![1.0, 0.0]));
        assert_eq!(first(&rows, 7), None);
        // (1+2, 0+4) has length 5.
        assert_eq!(mean(&rows, &[1, 1, 0], 2), Some(vec![0.6, 0.8]));
        assert_eq!(mean(&rows, &[0, 0, 0], 2), None);
    }

    #[test]
    fn terms_weigh_what_their_strongest_token_says() {
        let rows = [0.0, 1.0, -1.0, -2.0, 3.0, 0.0, 9.0, 9.0, 9.0];
        let terms = greatest(&rows, &[1, 1, 0], 3).unwrap();
        assert_eq!(terms, [(1, 4f32.ln())]);
        assert_eq!(greatest(&[f32::NAN], &[1], 1), None);
        let terms = by_token(&[5, 2, 5, 9], &[0.5, 0.25, 0.75, -1.0]);
        assert_eq!(terms, [(2, 0.25), (5, 0.75)]);
    }
}
