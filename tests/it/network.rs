//! The link graph from the shell: islands, hubs, island, fire.

use crate::harness::Pack;

/// Five claims: three about one gateway, two about one ledger, and one alone.
fn linked(pack: &Pack) -> Vec<String> {
    [
        "Every `gateway` answers within a second.",
        "No `gateway` keeps a cookie.",
        "Restarting a `gateway` drops its queue.",
        "A `ledger` is closed at midnight.",
        "Two people sign each `ledger` page.",
        "Tabs are for makefiles.",
    ]
    .map(|text| pack.remember(text))
    .to_vec()
}

#[test]
fn islands_are_the_clusters_largest_first() {
    let pack = Pack::new();
    pack.ok(["islands"]).out("");
    linked(&pack);
    pack.ok(["islands"]).out(
        "3\tEvery `gateway` answers within a second.\n\
         2\tA `ledger` is closed at midnight.\n\
         1\tTabs are for makefiles.\n",
    );
    let report = pack.ok(["islands", "--json"]).json();
    assert_eq!(report["schema"], "packset.islands/v1");
    assert_eq!(report["atoms"], 6);
    // Four links: three inside the first island, one inside the second. Modularity is
    // 3/4 - (6/8)^2 + 1/4 - (2/8)^2 = 1 - 0.5625 - 0.0625 = 0.375.
    assert!((report["modularity"].as_f64().unwrap() - 0.375).abs() < 1e-12, "{report}");
    let signature = report["islands"][0]["signature"].as_str().unwrap();
    assert!(signature.len() == 16 && signature.bytes().all(|b| b.is_ascii_hexdigit()));
}

#[test]
fn hubs_share_one_between_them() {
    let pack = Pack::new();
    let ids = linked(&pack);
    let report = pack.ok(["hubs", "--json", "--limit", "6"]).json();
    let scores: Vec<f64> =
        report["hubs"].as_array().unwrap().iter().map(|h| h["score"].as_f64().unwrap()).collect();
    assert!((scores.iter().sum::<f64>() - 1.0).abs() < 1e-9, "{scores:?}");
    // The claims of an island are alike, so within one they score alike; the lone claim is last.
    assert!((scores[0] - scores[4]).abs() < 1e-6, "{scores:?}");
    assert_eq!(report["hubs"][5]["id"], ids[5].as_str());
    assert_eq!(report["hubs"][5]["links"], 0);
    assert_eq!(pack.ok(["hubs", "--limit", "2"]).out.lines().count(), 2);
}

#[test]
fn a_cue_wakes_its_neighbours() {
    let pack = Pack::new();
    let ids = linked(&pack);
    let rows = pack.ok(["island", "cookie"]).out;
    let rows: Vec<Vec<&str>> = rows.lines().map(|row| row.split('\t').collect()).collect();
    // The one seed passes half of itself to two neighbours; each gives a quarter of its quarter
    // back to the seed and to the other. Seed 1 + 1/8 = 1.125; neighbours 1/4 + 1/16 = 0.3125.
    assert_eq!(rows.len(), 3, "{rows:?}");
    assert_eq!((rows[0][0], rows[0][1], rows[0][2]), ("1.000", "seed", ids[1].as_str()));
    let expected = format!("{:.3}", 0.3125 / 1.125);
    assert!(rows[1..].iter().all(|row| row[0] == expected && row[1] == "    "), "{rows:?}");
    pack.ok(["island", "zebra"]).out("");
    let report = pack.ok(["island", "--json", "cookie"]).json();
    assert_eq!((&report["seeds"], &report["hops"]), (&1.into(), &2.into()));
    pack.run(["island", " "]).done().fails(64);
}

#[test]
fn a_fire_strengthens_and_is_held_for_an_hour_by_every_process() {
    let pack = Pack::new();
    let ids = linked(&pack);
    pack.ok(["fire", &ids[0], &ids[1]]).out("2 fired, 3 changed\n");
    let weights = pack.ok(["show", "--json", &ids[0]]).json()["link_weights"].clone();
    // From 0.5 it gains a tenth of what it lacks; the link to the third keeps 98 parts of 100.
    assert_eq!(weights[&ids[1]].as_f64(), Some(0.55));
    assert_eq!(weights[&ids[2]].as_f64(), Some(0.49));
    let used = pack.ok(["show", "--json", &ids[1]]).json()["review"]["used"].clone();
    assert_eq!(used, 1);
    let again = pack.ok(["fire", "--json", &ids[1], &ids[0]]).json();
    assert_eq!((&again["held"], &again["changed"]), (&true.into(), &0.into()));
    // Ids that nobody has start no hour.
    pack.ok(["fire", "x", "y"]).out("0 fired, 0 changed\n");
    let unknown = pack.ok(["fire", "--json", "x", "y"]).json();
    assert_eq!(unknown["held"], false);
    pack.run(["fire", &ids[0], &ids[0]]).done().fails(64);
    // Claims of different islands are linked by firing together.
    pack.ok(["fire", &ids[0], &ids[5]]);
    let links = pack.ok(["show", "--json", &ids[5]]).json()["links"].clone();
    assert_eq!(links[0], ids[0].as_str());
    pack.ok(["verify"]);
}
