//! Where a claim comes from, and that no write makes it look better than it is.
//!
//! Not the holding of unattended writes as proposals. Invariants: along the versions of a record,
//! neither origin nor basis rises above the lowest it ever had, unless a person accepts it; what
//! the lowest was stands in the record (`provenance_floor`) once it was lowered.

use super::refusal::quoted;
use serde_json::{Map, Value, json};

/// The origin of a record that names none (the page).
const DEFAULT_ORIGIN: &str = "user-declared";
/// Trust of a record that names none (observed).
const DEFAULT_TRUST: f64 = 1.0;

/// An attempt to raise where a claim comes from.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no write raises {what}: {from} cannot become {to}, only an accept can")]
pub struct Rise {
    /// Which of the two.
    pub what: &'static str,
    /// The lowest it ever was.
    pub from: String,
    /// What it was to become.
    pub to: String,
}

/// Where a record comes from, or the lowest it came from.
#[derive(Clone, Debug, PartialEq)]
struct Standing {
    origin: Value,
    basis: Value,
}

impl Standing {
    fn of(record: &Map<String, Value>) -> Self {
        let origin = match record.get("origin") {
            None | Some(Value::Null) => DEFAULT_ORIGIN.into(),
            Some(Value::String(name)) if name.is_empty() => DEFAULT_ORIGIN.into(),
            Some(other) => other.clone(),
        };
        let basis = record.get("source").and_then(|source| source.get("basis"));
        Self { origin, basis: basis.cloned().unwrap_or_default() }
    }

    /// The lowest a record ever stood, by what it says of itself and of its past.
    fn lowest(record: &Map<String, Value>) -> Self {
        let own = Self::of(record);
        match record.get("provenance_floor").and_then(Value::as_object) {
            Some(floor) => own.floored(Self {
                origin: floor.get("origin").cloned().unwrap_or_default(),
                basis: floor.get("basis").cloned().unwrap_or_default(),
            }),
            None => own,
        }
    }

    /// The lower of two in each part; of equals, `before`.
    fn floored(self, before: Self) -> Self {
        let lower = |own: Value, before: Value, rank: fn(&Value) -> u8| {
            if rank(&own) < rank(&before) { own } else { before }
        };
        Self {
            origin: lower(self.origin, before.origin, origin_rank),
            basis: lower(self.basis, before.basis, basis_rank),
        }
    }

    fn is_below(&self, other: &Self) -> bool {
        origin_rank(&self.origin) < origin_rank(&other.origin)
            || basis_rank(&self.basis) < basis_rank(&other.basis)
    }
}

/// A person's word, another known origin, anything else (observed).
fn origin_rank(origin: &Value) -> u8 {
    match origin.as_str() {
        Some("user-declared") => 2,
        Some("agent-derived" | "tool-echo" | "external" | "peer") => 1,
        _ => 0,
    }
}

/// Whether a person stands behind it (observed).
fn basis_rank(basis: &Value) -> u8 {
    u8::from(basis.as_str() == Some("person"))
}

/// Whether a record may be followed by another version of itself.
///
/// # Errors
/// [`Rise`] when the new one stands higher than the old one ever did at its lowest.
pub fn may_become(old: &Map<String, Value>, new: &Map<String, Value>) -> Result<(), Rise> {
    let (lowest, wanted) = (Standing::lowest(old), Standing::of(new));
    let rise = |what, from: &Value, to: &Value| Rise {
        what,
        from: quoted(Some(from)),
        to: quoted(Some(to)),
    };
    if origin_rank(&wanted.origin) > origin_rank(&lowest.origin) {
        return Err(rise("origin", &lowest.origin, &wanted.origin));
    }
    if basis_rank(&wanted.basis) > basis_rank(&lowest.basis) {
        return Err(rise("source.basis", &lowest.basis, &wanted.basis));
    }
    Ok(())
}

/// Lets a new version follow an old one: checks it, and hands on how low the record ever stood.
///
/// The field `provenance_floor` is written when this version stands lower than one before it, and
/// whatever a new version brought there is dropped.
///
/// # Errors
/// As [`may_become`]; then nothing was changed.
pub fn inherit(old: &Map<String, Value>, new: &mut Map<String, Value>) -> Result<(), Rise> {
    may_become(old, new)?;
    let (lowest, own) = (Standing::lowest(old), Standing::of(new));
    let lowered = own.is_below(&lowest);
    if lowered || old.contains_key("provenance_floor") {
        let floor = own.floored(lowest);
        let floor = json!({"origin": floor.origin, "basis": floor.basis});
        new.insert("provenance_floor".to_owned(), floor);
    } else {
        new.shift_remove("provenance_floor");
    }
    Ok(())
}

/// A person accepts a held claim: it is theirs from here on, and no hook's.
pub fn raise(record: &mut Map<String, Value>) {
    for field in ["hook", "embedding", "provenance_floor"] {
        record.shift_remove(field);
    }
    record.insert("origin".to_owned(), DEFAULT_ORIGIN.into());
}

/// The trust a record ranks with: its own, 1 if it names none.
///
/// What a tool or an outsider calls authoritative ranks as theirs: at most 0.2 for a tool's echo
/// and 0.4 for an external record (observed), whatever trust it claims.
pub fn trust(record: &Map<String, Value>) -> f64 {
    let trust = record.get("trust").and_then(Value::as_f64).filter(|trust| trust.is_finite());
    let trust = trust.unwrap_or(DEFAULT_TRUST);
    let field = |name| record.get(name).and_then(Value::as_str);
    match (field("content"), field("origin")) {
        (Some("authoritative"), Some("tool-echo")) => trust.min(0.2),
        (Some("authoritative"), Some("external")) => trust.min(0.4),
        _ => trust,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(value: Value) -> Map<String, Value> {
        value.as_object().unwrap().clone()
    }

    const KNOWN: [&str; 5] = ["user-declared", "agent-derived", "tool-echo", "external", "peer"];

    #[test]
    fn an_origin_falls_and_never_rises() {
        for from in KNOWN {
            for to in KNOWN {
                let made =
                    may_become(&record(json!({"origin": from})), &record(json!({"origin": to})));
                let rises = from != "user-declared" && to == "user-declared";
                assert_eq!(made.is_err(), rises, "{from} {to}");
            }
        }
        let missing = || record(json!({}));
        let agent = || record(json!({"origin": "agent-derived"}));
        assert!(may_become(&missing(), &record(json!({"origin": "user-declared"}))).is_ok());
        assert!(may_become(&missing(), &agent()).is_ok());
        // No origin reads as a person's, so leaving it out raises an agent's claim.
        for blank in [json!({}), json!({"origin": null}), json!({"origin": ""})] {
            assert!(may_become(&agent(), &record(blank)).is_err());
        }
        assert!(may_become(&record(json!({"origin": "alien"})), &agent()).is_err());
        assert!(may_become(&record(json!({"origin": 5})), &record(json!({"origin": 6}))).is_ok());
    }

    #[test]
    fn a_refusal_names_both_ends() {
        let old = record(json!({"origin": "agent-derived"}));
        let rise = may_become(&old, &record(json!({"origin": "user-declared"}))).unwrap_err();
        assert_eq!(
            rise.to_string(),
            "no write raises origin: agent-derived cannot become user-declared, only an accept can"
        );
        let mut by_person = old.clone();
        by_person.insert("source".to_owned(), json!({"basis": "person"}));
        let rise = may_become(&old, &by_person).unwrap_err();
        assert_eq!((rise.what, &*rise.from, &*rise.to), ("source.basis", "null", "person"));
    }

    #[test]
    fn the_floor_remembers_the_lowest() {
        let step = |old: &Map<String, Value>, fields: Value| {
            let mut new = old.clone();
            new.extend(record(fields));
            inherit(old, &mut new).map(|()| new)
        };
        // As recorded: lowering to external leaves {origin: external, basis: null}.
        let start = record(json!({"text": "x"}));
        let lowered = step(&start, json!({"origin": "external"})).unwrap();
        let floor = json!({"origin": "external", "basis": null});
        assert_eq!(lowered["provenance_floor"], floor);
        assert!(step(&lowered, json!({"origin": "user-declared"})).is_err());
        // Among equals the floor stays, also when a client brings another one.
        let forged = json!({"origin": "user-declared", "basis": "person"});
        let moved = step(&lowered, json!({"origin": "peer", "provenance_floor": forged})).unwrap();
        assert_eq!(moved["provenance_floor"], floor);
        // A version that lost its origin on the way does not lose its past.
        let mut stripped = moved.clone();
        stripped.remove("origin");
        assert!(may_become(&stripped, &record(json!({}))).is_err());
        // No floor where nothing was lowered.
        let agent = record(json!({"origin": "agent-derived"}));
        let peer = step(&agent, json!({"origin": "peer", "provenance_floor": forged})).unwrap();
        assert!(!peer.contains_key("provenance_floor"));
        // The basis alone.
        let person = record(json!({"source": {"basis": "person", "seat": "s"}}));
        let said = step(&person, json!({"source": {"basis": "hearsay"}})).unwrap();
        let floor = json!({"origin": "user-declared", "basis": "hearsay"});
        assert_eq!(said["provenance_floor"], floor);
        assert!(step(&said, json!({"source": {"basis": "person"}})).is_err());
    }

    /// Whatever the way, neither part ends above the lowest on it.
    #[test]
    fn no_path_of_versions_rises() {
        let mut seed = 3_u64;
        let mut roll = |below: u64| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (seed >> 33) % below
        };
        for _ in 0..300 {
            let mut draw = || {
                let origin = KNOWN.get(roll(8) as usize);
                let basis = ["person", "tool"].get(roll(3) as usize);
                let mut version = record(json!({"source": {"basis": basis}}));
                if let Some(origin) = origin {
                    version.insert("origin".to_owned(), (*origin).into());
                }
                version
            };
            let ranks = |version: &Map<String, Value>| {
                let standing = Standing::of(version);
                (origin_rank(&standing.origin), basis_rank(&standing.basis))
            };
            let mut current = draw();
            let mut lowest = ranks(&current);
            for _ in 0..8 {
                let mut next = draw();
                let (origin, basis) = ranks(&next);
                let rises = origin > lowest.0 || basis > lowest.1;
                assert_eq!(inherit(&current, &mut next).is_err(), rises);
                if !rises {
                    let fell = origin < lowest.0 || basis < lowest.1;
                    let had = current.contains_key("provenance_floor");
                    assert_eq!(next.contains_key("provenance_floor"), fell || had);
                    lowest = (lowest.0.min(origin), lowest.1.min(basis));
                    current = next;
                }
            }
        }
    }

    #[test]
    fn only_an_accept_raises() {
        let mut held = record(json!({
            "text": "x", "origin": "agent-derived", "hook": true, "embedding": [1],
            "provenance_floor": {"origin": "agent-derived", "basis": null}, "id": "g"
        }));
        raise(&mut held);
        assert_eq!(
            serde_json::to_string(&held).unwrap(),
            "{\"text\":\"x\",\"origin\":\"user-declared\",\"id\":\"g\"}"
        );
    }

    #[test]
    fn authority_is_worth_what_its_origin_is() {
        for (claim, wanted) in [
            (json!({}), 1.0),
            (json!({"trust": 0.3}), 0.3),
            (json!({"trust": "0.3"}), 1.0),
            (json!({"trust": null}), 1.0),
            (json!({"origin": "tool-echo"}), 1.0),
            (json!({"content": "authoritative"}), 1.0),
            (json!({"content": "authoritative", "origin": "peer"}), 1.0),
            (json!({"content": "authoritative", "origin": "tool-echo"}), 0.2),
            (json!({"content": "authoritative", "origin": "tool-echo", "trust": 5}), 0.2),
            (json!({"content": "authoritative", "origin": "tool-echo", "trust": 0.1}), 0.1),
            (json!({"content": "authoritative", "origin": "external"}), 0.4),
            (json!({"content": "quoted", "origin": "external"}), 1.0),
        ] {
            assert_eq!(trust(&record(claim.clone())), wanted, "{claim}");
        }
    }
}
