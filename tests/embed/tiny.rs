//! Models of our own making: what each kind answers, worked out by hand.

use std::fs;

use serde_json::{Value, json};

use crate::asked::{Asked, Place, dot, numbers};
use crate::onnx::{Is, row};

/// A row or a sum of rows, so many times, with length 1.
fn unit(row: &[f32], times: usize) -> Vec<f32> {
    let length = (times as f32 * row.iter().map(|it| it * it).sum::<f32>()).sqrt();
    row.iter().map(|it| it / length).cycle().take(times * row.len()).collect()
}

fn sum(words: &[usize]) -> Vec<f32> {
    let mut sum = vec![0.0; 8];
    for word in words {
        sum.iter_mut().zip(row(*word)).for_each(|(sum, number)| *sum += number);
    }
    sum
}

/// Arithmetic in another order differs in the last bits of an f32.
fn close(a: &[f32], b: &[f32]) {
    assert_eq!(a.len(), b.len());
    let worst = a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
    assert!(worst < 1e-6, "{worst}: {:?} is not {:?}", &a[..8], &b[..8]);
}

fn sha256_of(place: &Place, name: &str) -> String {
    let file = place.root.join(".cache/packset/embed/user").join(name).join("onnx/model.onnx");
    let output = std::process::Command::new("sha256sum").arg(file).output().unwrap();
    String::from_utf8(output.stdout).unwrap().split_whitespace().next().unwrap().to_owned()
}

#[test]
fn a_vector_is_the_mean_of_all_tokens_alone_and_among_others() {
    let Some(place) = Place::with("minilm", Is::Dense) else { return };
    let mut child = place.start(&[]);
    // [CLS] cat sleeps [SEP] are 2, 4, 7 and 3.
    let cat = child.vector("cat sleeps", false);
    close(&cat, &unit(&sum(&[2, 4, 7, 3]), 48));
    let dog = child.vector("DOG", false);
    close(&dog, &unit(&sum(&[2, 5, 3]), 48));
    let said = child.ask(json!({"id": "b", "query": false, "texts": ["cat sleeps", "", "dog"]}));
    assert_eq!(said["id"], "b");
    let all: Vec<Vec<f32>> = said["vs"].as_array().unwrap().iter().map(numbers).collect();
    assert_eq!(all.len(), 3);
    close(&all[0], &cat);
    close(&all[1], &unit(&sum(&[2, 3]), 48));
    close(&all[2], &dog);
    assert!((dot(&cat, &cat) - 1.0).abs() < 1e-5);
    assert_eq!(child.end(), Some(0));
}

#[test]
fn a_query_has_its_prefix_and_a_passage_its_own() {
    let Some(place) = Place::with("e5-large-v2", Is::Dense) else { return };
    // The description says 1,024 numbers: this graph gives 384 and is refused.
    let (code, said) = place.fails(&[]);
    assert_eq!(code, 65, "{said}");
    assert!(said.contains("384") && said.contains("1024 numbers are wanted"), "{said}");
    let Some(place) = Place::with("bge-small", Is::Dense) else { return };
    let mut child = place.start(&[]);
    // CLS: whatever follows, the first token is the same.
    close(&child.vector("cat", true), &child.vector("dog", false));
    close(&child.vector("cat", false), &unit(&row(2), 48));
}

#[test]
fn lines_that_are_no_request_are_answered_and_the_next_one_too() {
    let Some(place) = Place::with("minilm", Is::Dense) else { return };
    let mut child = place.start(&[]);
    for (line, id) in [
        ("", Value::Null),
        ("nonsense", Value::Null),
        ("[1]", Value::Null),
        (r#"{"id":7}"#, json!(7)),
        (r#"{"id":"x","texts":[null]}"#, json!("x")),
        (r#"{"id":{"a":1},"text":3}"#, json!({"a": 1})),
    ] {
        let said = child.line(line);
        assert_eq!(said["id"], id, "{line}");
        let error = said["error"].as_str().unwrap_or_else(|| panic!("{line}: {said}"));
        assert!(!error.is_empty() && !error.contains('\n'), "{line}: {error}");
    }
    // A megabyte costs no more than a page.
    let long = child.vector(&"cat ".repeat(1 << 18), false);
    assert_eq!(long.len(), 384);
    assert_eq!(child.vector("cat", false).len(), 384);
    let said = child.ask(json!({"id": "b", "texts": []}));
    assert_eq!(said, json!({"id": "b", "vs": []}));
    // More texts than are run at once, in their own order.
    let texts: Vec<&str> = (0..70).map(|at| ["cat", "dog sleeps"][at % 2]).collect();
    let said = child.ask(json!({"id": "b", "texts": texts}));
    let all: Vec<Vec<f32>> = said["vs"].as_array().unwrap().iter().map(numbers).collect();
    assert_eq!(all.len(), 70);
    for (at, vector) in all.iter().enumerate() {
        close(vector, &all[at % 2]);
    }
    assert!(dot(&all[0], &all[1]) < 0.999);
}

#[test]
fn the_child_says_which_model_it_is() {
    let Some(place) = Place::with("minilm", Is::Dense) else { return };
    let output = place.run(&["--check"]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let check: Value = serde_json::from_slice(&output.stdout).unwrap();
    let sha256 = sha256_of(&place, "minilm");
    assert_eq!(
        (&check["model"], &check["dims"], &check["sha256"], &check["kind"]),
        (&json!("minilm"), &json!(384), &json!(sha256), &json!("dense"))
    );
    assert!(check["runtime"].as_str().unwrap().starts_with("1."), "{check}");
    let mut child = place.start(&[]);
    let about = child.ask(json!({"id": "s", "about": true}));
    assert_eq!(
        about,
        json!({"id": "s", "model": "minilm", "dims": 384, "sha256": sha256,
            "runtime": check["runtime"]})
    );
}

#[test]
fn a_reranker_scores_the_second_text_of_each_pair() {
    let Some(place) = Place::with("ms-marco-minilm", Is::Rerank) else { return };
    let mut child = place.start(&["--rerank"]);
    // Half the numbers of its words and of the [SEP] after it: (4+3)/2, (7+5+3)/2, 3/2.
    let asked = json!({"id": "q", "q": "fish", "d": ["cat", "sleeps dog", ""]});
    assert_eq!(child.ask(asked), json!({"id": "q", "s": [3.5, 7.5, 1.5]}));
    assert_eq!(child.ask(json!({"id": "q", "q": "", "d": []})), json!({"id": "q", "s": []}));
    // A pair is cut to 32 tokens at least, here: [CLS] fish [SEP], 28 times cat, [SEP].
    let place = place.var("PACKSET_RERANK_MAX_LENGTH", "2");
    let mut child = place.start(&["--rerank"]);
    let asked = json!({"id": "q", "q": "fish", "d": ["cat ".repeat(500)]});
    assert_eq!(child.ask(asked), json!({"id": "q", "s": [28.0 * 2.0 + 1.5]}));
}

#[test]
fn a_sparse_model_weighs_terms() {
    let Some(place) = Place::with("splade", Is::Sparse) else { return };
    let mut child = place.start(&["--sparse"]);
    let said = child.ask(json!({"id": 1, "text": "cat"}));
    // Terms 2, 4 and 3 weigh ln 2, the last of the row ln(1 + 4/2).
    assert_eq!(said["s"]["i"], json!([2, 3, 4, 7]), "{said}");
    let (two, three) = (2f32.ln(), 3f32.ln());
    let weights = numbers(&said["s"]["w"]);
    for (weight, wanted) in weights.iter().zip([two, two, two, three]) {
        assert!((weight - wanted).abs() < 1e-6, "{weights:?}");
    }
}

#[test]
fn a_late_model_has_a_vector_for_each_token_and_its_marker() {
    let Some(place) = Place::with("answerai-colbert-small", Is::Late) else { return };
    let mut child = place.start(&["--late"]);
    let tokens = |child: &mut Asked, query: bool| -> Vec<Vec<f32>> {
        let said = child.ask(json!({"id": 1, "text": "cat sleeps", "query": query}));
        assert!(said.get("v").is_none() && said.get("s").is_none(), "{said}");
        said["t"].as_array().unwrap().iter().map(numbers).collect()
    };
    for (query, marker) in [(true, 11), (false, 12)] {
        let all = tokens(&mut child, query);
        assert_eq!(all.len(), 5);
        for (vector, word) in all.iter().zip([2, marker, 4, 7, 3]) {
            close(vector, &unit(&row(word), 12));
        }
    }
}

#[test]
fn a_named_directory_is_used_as_it_is() {
    let Some(place) = Place::with("minilm", Is::Dense) else { return };
    let own = place.root.join("own");
    let user = place.root.join(".cache/packset/embed/user/minilm");
    fs::rename(&user, &own).unwrap();
    let (code, said) = place.fails(&["--check"]);
    assert_eq!(code, 69);
    assert!(said.contains("packset model pull minilm"), "{said}");
    let place = place.var("PACKSET_EMBED_MODEL_PATH", "own");
    assert_eq!(place.run(&["--check"]).status.code(), Some(0));
    fs::remove_file(own.join("tokenizer.json")).unwrap();
    let (code, said) = place.fails(&["--check"]);
    assert_eq!(code, 65);
    assert!(said.ends_with("own cannot be used: it has no tokenizer.json\n"), "{said}");
}
