//! The dense ballot: claims by the angle between their vectors and the query's.
//!
//! Vectors are the claims' own `embedding` members, so a search reads those of every claim that it
//! may show: milliseconds for a thousand claims, which is paid only where an encoder answers. Not
//! here: where vectors come from ([`crate::encode`]). Invariants: a vector of another length, or
//! one that points nowhere, takes no part; nothing that points away from the query is named.

use packset_segments::Error;
use rayon::prelude::*;
use rustc_hash::FxHashMap;
use serde_json::Value;

use super::top::{Entry, Top};
use super::{Query, score};
use crate::pack::record;
use crate::pack::snapshot::{Place, Snapshot};

/// What a claim's trust adds to its place (behaviour spec, 4.10).
const TRUST: f32 = 0.1;

/// A vector in a record; none if it is no list of numbers.
pub fn vector(value: Option<&Value>) -> Option<Vec<f32>> {
    let numbers = value?.as_array()?.iter();
    let vector: Option<Vec<f32>> = numbers.map(|it| it.as_f64().map(|it| it as f32)).collect();
    vector.filter(|vector| !vector.is_empty() && vector.iter().all(|it| it.is_finite()))
}

/// The cosine of the angle between two vectors; none if their lengths differ or one has none.
pub fn cosine(a: &[f32], b: &[f32]) -> Option<f32> {
    let dot = |a: &[f32], b: &[f32]| -> f64 {
        a.iter().zip(b).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum()
    };
    let lengths = (dot(a, a) * dot(b, b)).sqrt();
    (a.len() == b.len() && lengths > 0.0).then(|| (dot(a, b) / lengths) as f32)
}

/// The claims that point the query's way.
#[derive(Default)]
pub(super) struct Pointing {
    /// Best first.
    pub(super) ranked: Vec<Entry>,
    /// The cosine of each, and of those that the limit cut off.
    pub(super) cosines: FxHashMap<Place, f32>,
}

/// Finds the claims that point the query's way.
pub(super) fn ballot(
    snapshot: &Snapshot,
    query: &Query<'_>,
    towards: &[f32],
) -> Result<Pointing, Error> {
    let corpus = query.kind.map_or(record::CLAIMS, record::corpus);
    let places: Vec<Place> = snapshot.shown(&query.view).collect();
    let named = |place: &Place| -> Result<Option<(Entry, f32)>, Error> {
        let segment = snapshot.segment(*place);
        let kind = segment.kind(place.row)?;
        let wanted = match query.kind {
            Some(wanted) => kind == wanted,
            None => record::corpus(kind) == corpus,
        };
        if !wanted {
            return Ok(None);
        }
        let fields = snapshot.fields(*place, &["embedding", "set"])?;
        if query.set.is_some_and(|set| record::string(&fields, "set") != Some(set)) {
            return Ok(None);
        }
        let Some(own) = vector(fields.get("embedding")) else { return Ok(None) };
        let Some(cosine) = cosine(&own, towards).filter(|cosine| *cosine > 0.0) else {
            return Ok(None);
        };
        let trust = segment.column(record::TRUST).map(|column| column.get(place.row));
        let trust = trust.and_then(score::float).unwrap_or(1.0);
        let entry = Entry {
            score: cosine + TRUST * trust,
            id: segment.id(place.row).unwrap_or_default(),
            version: *place,
            text: snapshot.text_owner(*place).unwrap_or(*place),
            halves: 0,
            points: 0.0,
        };
        Ok(Some((entry, cosine)))
    };
    let found: Result<Vec<_>, Error> = places.par_iter().map(named).collect();
    let mut top = Top::new(query.limit);
    let mut cosines = FxHashMap::default();
    for (entry, cosine) in found?.into_iter().flatten() {
        top.push(entry);
        cosines.insert(entry.version, cosine);
    }
    let ranked = top.into_ranked();
    Ok(Pointing { ranked, cosines })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_angle_is_what_geometry_says() {
        for (a, b, wanted) in [
            (vec![1.0, 0.0], vec![2.0, 0.0], Some(1.0)),
            (vec![1.0, 0.0], vec![0.0, 3.0], Some(0.0)),
            (vec![1.0, 0.0], vec![-1.0, 0.0], Some(-1.0)),
            // 3-4-5: the cosine of the angle at 3.
            (vec![1.0, 0.0], vec![3.0, 4.0], Some(0.6)),
            (vec![1.0], vec![1.0, 0.0], None),
            (vec![0.0, 0.0], vec![1.0, 0.0], None),
        ] {
            assert_eq!(cosine(&a, &b), wanted, "{a:?} {b:?}");
        }
    }

    #[test]
    fn a_vector_is_a_list_of_finite_numbers() {
        assert_eq!(vector(Some(&json!([1, 0.5]))), Some(vec![1.0, 0.5]));
        for bad in [json!([]), json!("x"), json!([1, "2"]), json!([1e300]), json!(null)] {
            assert_eq!(vector(Some(&bad)), None, "{bad}");
        }
        assert_eq!(vector(None), None);
    }
}
