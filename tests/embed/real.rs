//! Real models, where `PACKSET_TEST_MODELS` names the directory they lie in.
//!
//! The numbers were computed apart, by Python's onnxruntime 1.32 and tokenizers from the same
//! files. Tolerances: a model with int8 weights and f32 arithmetic agrees between builds of the
//! runtime to 5 digits; one that measures its ranges while it runs rounds to 1/127 of the greatest
//! number of each tensor, through 12 layers, and its builds differ in the third or fourth decimal.

use serde_json::{Value, json};

use crate::asked::{Place, dot, models, numbers, runtime, skip};

const CAT: &str = "The cat sleeps on the warm stove.";
const FELINE: &str = "A feline naps near the fireplace.";
const RATES: &str = "Interest rates rose by a quarter point.";

fn place(name: &str, dir: &str) -> Option<Place> {
    let Some(models) = models() else {
        skip("no real models: set PACKSET_TEST_MODELS");
        return None;
    };
    let dir = models.join(dir);
    assert!(dir.join("onnx/model.onnx").is_file(), "no model in {}", dir.display());
    let place = Place::new().var("ORT_DYLIB_PATH", runtime()?);
    Some(place.var("PACKSET_EMBED_MODEL", name).var("PACKSET_EMBED_MODEL_PATH", dir))
}

fn near(said: &[f32], wanted: &[f32], within: f32) {
    for (said, wanted) in said.iter().zip(wanted) {
        assert!((said - wanted).abs() < within, "{said} is not {wanted}");
    }
}

#[test]
fn minilm() {
    let Some(place) = place("minilm", "sentence-transformers/all-MiniLM-L6-v2") else { return };
    let mut child = place.start(&[]);
    let cat = child.vector(CAT, false);
    near(&cat, &[0.0794564, 0.0244954, -0.0552126, 0.0996448], 1e-4);
    let said = child.ask(json!({"id": "b", "texts": [FELINE, RATES, CAT]}));
    let all: Vec<Vec<f32>> = said["vs"].as_array().unwrap().iter().map(numbers).collect();
    near(&[dot(&cat, &all[0]), dot(&cat, &all[1])], &[0.607655, -0.028734], 1e-4);
    // It does not depend on what is beside it.
    assert!(dot(&cat, &all[2]) > 0.99999);
}

#[test]
fn bge_small() {
    let Some(place) = place("bge-small", "BAAI/bge-small-en-v1.5") else { return };
    let mut child = place.start(&[]);
    let cat = child.vector(CAT, false);
    near(&cat, &[0.0251567, 0.0539358, 0.0302568, 0.1073118], 0.01);
    let said = child.ask(json!({"id": "b", "texts": [FELINE, RATES, CAT]}));
    let all: Vec<Vec<f32>> = said["vs"].as_array().unwrap().iter().map(numbers).collect();
    near(&[dot(&cat, &all[0]), dot(&cat, &all[1])], &[0.70139, 0.33457], 0.02);
    // These weights measure ranges over a whole batch: run together, the cosine would be 0.996.
    assert_eq!(all[2], cat);
    let query = child.vector("where does the cat sleep", true);
    near(&query, &[0.0447867, -0.0235279, 0.0061779, 0.1033636], 0.01);
    near(&[dot(&query, &cat)], &[0.72752], 0.02);
    let about = child.ask(json!({"id": 0, "about": true}));
    let sha256 = "68807e3ff2abb83cdd708d8243fd398246e397bfee2ba611c2bad728e27df743";
    assert_eq!(about["sha256"], sha256);
}

#[test]
fn ms_marco_minilm() {
    let dir = "cross-encoder/ms-marco-MiniLM-L-12-v2";
    let Some(place) = place("ms-marco-minilm", dir) else { return };
    let mut child = place.start(&["--rerank"]);
    let said = child.ask(json!({"id": "q", "q": "How many people live in Berlin?", "d": [
        "Berlin has a population of 3,520,031 registered inhabitants in an area of 891.82 \
         square kilometers.",
        "New York City is famous for the Metropolitan Museum of Art."]}));
    // A tenth of a point of twenty: rounding, as above.
    near(&numbers(&said["s"]), &[9.391, -11.191], 0.3);
}

#[test]
fn splade_tiny() {
    let Some(place) = place("splade-tiny", "splade-tiny") else { return };
    let mut child = place.start(&["--sparse"]);
    let said = child.ask(json!({"id": 1, "text": CAT}));
    let terms: Vec<u64> = ids(&said["s"]["i"]);
    assert_eq!(terms.len(), 27);
    assert!(terms.windows(2).all(|pair| pair[0] < pair[1]));
    let weights = numbers(&said["s"]["w"]);
    // cat, stove, sleep, sleeps
    let wanted = [(4937, 2.165556), (16247, 2.037974), (3637, 1.960774), (25126, 1.947967)];
    for (term, weight) in wanted {
        let at = terms.iter().position(|it| *it == term).unwrap();
        near(&[weights[at]], &[weight], 1e-3);
    }
}

fn ids(value: &Value) -> Vec<u64> {
    value.as_array().unwrap().iter().map(|it| it.as_u64().unwrap()).collect()
}

#[test]
fn answerai_colbert_small() {
    let dir = "answerdotai/answerai-colbert-small-v1";
    let Some(place) = place("answerai-colbert-small", dir) else { return };
    let mut child = place.start(&["--late"]);
    let said = child.ask(json!({"id": 1, "text": CAT, "query": false}));
    let tokens: Vec<Vec<f32>> = said["t"].as_array().unwrap().iter().map(numbers).collect();
    assert_eq!(tokens.len(), 11);
    near(&tokens[0], &[-0.017327, -0.004854, 0.021956], 0.01);
    near(&tokens[2], &[0.019734, -0.026338, 0.048407], 0.01);
}
