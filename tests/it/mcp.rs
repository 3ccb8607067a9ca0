//! The MCP surface: what each tool, the resources and the prompt answer.

use serde_json::{Value, json};

use crate::harness::{Done, Pack, keys};

/// What a client sends first.
pub fn opening(version: &str) -> Vec<Value> {
    let us = json!({ "name": "t", "version": "0" });
    let params = json!({ "protocolVersion": version, "capabilities": {}, "clientInfo": us });
    vec![
        json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params }),
        json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }),
    ]
}

pub fn request(id: usize, method: &str, params: Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })
}

/// Messages, one a line.
pub fn lines(messages: &[Value]) -> String {
    messages.iter().map(|message| format!("{message}\n")).collect()
}

/// The messages on stdout, on which nothing else may be.
pub fn answers(done: &Done) -> Vec<Value> {
    let messages = done.json_lines();
    assert!(messages.iter().all(|message| message["jsonrpc"] == "2.0"), "{}", done.out);
    assert_eq!(done.err, "");
    messages
}

pub fn answer(messages: &[Value], id: usize) -> &Value {
    let found: Vec<&Value> = messages.iter().filter(|message| message["id"] == id).collect();
    assert_eq!(found.len(), 1, "one answer to {id}: {messages:?}");
    found[0]
}

/// Asks one thing, after the opening.
fn ask(pack: &Pack, method: &str, params: Value) -> Value {
    let mut messages = opening("2025-11-25");
    messages.push(request(1, method, params));
    let done = pack.run(["mcp"]).stdin(lines(&messages)).done().code(0);
    answer(&answers(&done), 1).clone()
}

/// The result of a tool, whose structured answer must be what its schema says.
fn call(pack: &Pack, tool: &str, arguments: Value) -> Value {
    let answer = ask(pack, "tools/call", json!({ "name": tool, "arguments": arguments }));
    let result = answer["result"].clone();
    assert!(result.is_object(), "{tool}: {answer}");
    if result["isError"] == false {
        let listed = ask(pack, "tools/list", json!({}));
        let tools = listed["result"]["tools"].as_array().unwrap();
        let described = tools.iter().find(|described| described["name"] == tool).unwrap();
        conforms(&result["structuredContent"], &described["outputSchema"], tool);
    }
    result
}

/// The structured answer of a tool that answers.
fn given(pack: &Pack, tool: &str, arguments: Value) -> Value {
    let result = call(pack, tool, arguments);
    assert_eq!(result["isError"], false, "{result}");
    result["structuredContent"].clone()
}

/// The text of a result, and that it is an error.
fn refusal(pack: &Pack, tool: &str, arguments: Value) -> String {
    let result = call(pack, tool, arguments);
    assert_eq!(result["isError"], true, "{result}");
    result["content"][0]["text"].as_str().unwrap().to_owned()
}

fn text(result: &Value) -> Value {
    serde_json::from_str(result["content"][0]["text"].as_str().unwrap()).unwrap()
}

/// As much of JSON Schema as the tools use.
fn conforms(value: &Value, schema: &Value, at: &str) {
    let is = match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_u64() || number.is_i64() => "integer",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    };
    let types = match &schema["type"] {
        Value::Array(types) => types.clone(),
        one => vec![one.clone()],
    };
    let fits = |wanted: &Value| wanted == is || (wanted == "number" && is == "integer");
    assert!(types.iter().any(fits), "{at} is {is}, not {types:?}");
    for needed in schema["required"].as_array().into_iter().flatten() {
        assert!(value.get(needed.as_str().unwrap()).is_some(), "{at} has no {needed}");
    }
    for (name, schema) in schema["properties"].as_object().into_iter().flatten() {
        if let Some(value) = value.get(name) {
            conforms(value, schema, &format!("{at}.{name}"));
        }
    }
    if let (Some(items), Some(schema)) = (value.as_array(), schema.get("items")) {
        items.iter().for_each(|item| conforms(item, schema, at));
    }
}

fn seeded() -> (Pack, String) {
    let pack = Pack::new().var("PACKSET_WORKSPACE", "w");
    let id = pack.remember("The build needs protoc 28 or newer.");
    let odd = json!({
        "kind": "lesson", "text": "Ships on Fridays.", "id": "odd/id",
        "entities": ["deed-1", "deed-2"],
    });
    pack.import(&[
        &odd.to_string(),
        r#"{"kind":"lesson","text":"Due now.","id":"late","due_at":"2001-01-01T00:00:00Z"}"#,
    ]);
    pack.ok(["card", "memory", "Read me whole."]);
    (pack, id)
}

#[test]
fn a_search_gives_the_rows_of_the_page_and_more() {
    let (pack, id) = seeded();
    let result = call(&pack, "packset_search", json!({ "query": "protoc", "limit": null }));
    let hit = &text(&result)[0];
    assert_eq!(keys(hit), ["id", "text", "kind", "score", "rerank_score"]);
    assert_eq!(hit["id"], id.as_str());
    assert_eq!(hit["text"], "The build needs protoc 28 or newer.");
    let whole = &result["structuredContent"];
    assert_eq!(whole["workspace"], "w");
    assert_eq!((&whole["rest"], &whole["rank"]), (&Value::Null, &json!("fused")));
    assert_eq!(whole["hits"][0]["origin"], "user-declared");
    let one = call(&pack, "packset_search", json!({ "query": "protoc", "limit": 1 }));
    assert_eq!(text(&one).as_array().unwrap().len(), 1);
    assert!(one["content"][1]["text"].as_str().unwrap().contains("raise limit"));
    let past = json!({ "query": "protoc", "as_of": "2001-01-01", "known_at": "2001-01-01" });
    assert_eq!(given(&pack, "packset_search", past)["hits"], json!([]));
}

#[test]
fn the_other_tools_answer_in_the_same_style() {
    let (pack, id) = seeded();
    let atoms = call(&pack, "packset_atoms", json!({}));
    assert_eq!(text(&atoms).as_array().unwrap().len(), 3);
    assert!(text(&atoms).as_array().unwrap().iter().all(|atom| atom["score"] == 0.0));
    let accessions = call(&pack, "packset_accessions", json!({}));
    assert_eq!(text(&accessions), json!(["deed-1", "deed-2"]));
    let citers = call(&pack, "packset_citers", json!({ "accession": "deed-2" }));
    assert_eq!(text(&citers)[0]["id"], "odd/id");
    assert_eq!(given(&pack, "packset_due", json!({}))["atoms"][0]["id"], "late");
    let recall = json!({ "query": "build", "seeds": ["protoc"], "limit": 1 });
    assert_eq!(given(&pack, "packset_recall", recall)["atoms"][0]["id"], id.as_str());
    let show = given(&pack, "packset_show", json!({ "id": "odd/id" }));
    assert_eq!(show["record"]["text"], "Ships on Fridays.");
    assert_eq!((&show["text_chars"], &show["uri"]), (&json!(17), &json!("packset://w/odd%2Fid")));
    assert!(show["record"].get("embedding").is_none());
    let from = given(&pack, "packset_show", json!({ "id": "odd/id", "offset": 6 }));
    assert_eq!(from["record"]["text"], "on Fridays.");
    let document = given(&pack, "packset_pack", json!({}));
    assert_eq!(document["cards"], json!({ "memory": "Read me whole." }));
    assert_eq!(document["total"], 3);
    let island = given(&pack, "packset_island", json!({ "cue": "protoc build" }));
    assert_eq!(island["island"][0]["id"], id.as_str());
    let state = given(&pack, "packset_state", json!({}));
    assert_eq!(state["up"], true);
    assert_eq!(state["workspace_from"], "PACKSET_WORKSPACE");
    assert_eq!(state["answered_by"], "files");
    assert_eq!(state["detail"]["live"], 3);
}

#[test]
fn a_call_names_its_own_workspace() {
    let (pack, _) = seeded();
    pack.ok(["remember", "--workspace", "other", "Only there."]);
    let there = given(&pack, "packset_atoms", json!({ "workspace": "other" }));
    assert_eq!((&there["workspace"], &there["total"]), (&json!("other"), &json!(1)));
    assert_eq!(given(&pack, "packset_atoms", json!({ "workspace": null }))["total"], 3);
    let none = given(&pack, "packset_state", json!({ "workspace": "none" }));
    assert_eq!((&none["up"], &none["detail"]["live"]), (&json!(true), &json!(0)));
    assert!(
        refusal(&pack, "packset_atoms", json!({ "workspace": "a\u{0}" })).contains("workspace")
    );
}

#[test]
fn what_does_not_fit_is_an_error_of_the_tool() {
    let (pack, _) = seeded();
    for (arguments, said) in [
        (json!({}), "packset: query required"),
        (json!({ "query": " " }), "packset: query required"),
        (json!({ "query": 5 }), "packset: query must be a string"),
        (json!({ "query": "a", "limit": "5" }), "packset: limit must be a whole number"),
        (json!({ "query": "a", "limit": -1 }), "packset: limit must be a whole number"),
        (json!({ "query": "a", "rank": "x" }), "packset: rank must be one of fused, relevance"),
    ] {
        assert_eq!(refusal(&pack, "packset_search", arguments), said);
    }
    let misspelt = refusal(&pack, "packset_search", json!({ "query": "a", "worksapce": "w" }));
    assert!(
        misspelt.starts_with("packset: there is no argument worksapce\nhint: it takes query, ")
    );
    let when = refusal(&pack, "packset_search", json!({ "query": "a", "as_of": "soon" }));
    assert!(when.contains("\nhint: "), "{when}");
    let none = refusal(&pack, "packset_show", json!({ "id": "none" }));
    assert!(none.starts_with("packset: no atom none\nhint: "), "{none}");
    let unknown = ask(&pack, "tools/call", json!({ "name": "packset_forget", "arguments": {} }));
    assert_eq!(unknown["error"]["code"], -32602);
    // More rows than any list has are as many as it has.
    assert_eq!(
        call(&pack, "packset_search", json!({ "query": "a", "limit": 5000 }))["isError"],
        false
    );
}

#[test]
fn long_lists_come_in_pages() {
    let pack = Pack::new().var("PACKSET_WORKSPACE", "w");
    let claims: Vec<String> = (0..130)
        .map(|n| {
            format!(r#"{{"kind":"lesson","text":"Claim number {n} of many.","id":"c{n:03}"}}"#)
        })
        .collect();
    pack.import(&claims.iter().map(String::as_str).collect::<Vec<_>>());
    let mut seen: Vec<String> = Vec::new();
    let mut cursor = Value::Null;
    for wanted in [60, 60, 10] {
        let page = given(&pack, "packset_atoms", json!({ "limit": 60, "cursor": cursor }));
        let atoms = page["atoms"].as_array().unwrap();
        assert_eq!((atoms.len(), &page["total"]), (wanted, &json!(130)));
        assert_eq!(page["rest"].is_null(), wanted == 10);
        seen.extend(atoms.iter().map(|atom| atom["id"].as_str().unwrap().to_owned()));
        cursor = page["next_cursor"].clone();
    }
    assert_eq!(cursor, Value::Null);
    let newest_first: Vec<String> = (0..130).rev().map(|n| format!("c{n:03}")).collect();
    assert_eq!(seen, newest_first);
    let mut listed = 0;
    let mut params = json!({});
    loop {
        let page = ask(&pack, "resources/list", params)["result"].clone();
        listed += page["resources"].as_array().unwrap().len();
        assert!(page["resources"].as_array().unwrap().len() <= 50);
        match page.get("nextCursor") {
            Some(next) => params = json!({ "cursor": next }),
            None => break,
        }
    }
    assert_eq!(listed, 130);
}

#[test]
fn a_long_text_comes_in_parts() {
    let pack = Pack::new().var("PACKSET_WORKSPACE", "w");
    let long = "\u{e9}".repeat(25_000);
    let line = json!({ "kind": "log", "text": long, "id": "l" }).to_string();
    pack.run(["import", "--records", "-"]).stdin(line).done().code(0);
    let first = given(&pack, "packset_show", json!({ "id": "l" }));
    assert_eq!(first["record"]["text"].as_str().unwrap().chars().count(), 20_000);
    assert!(first["rest"].as_str().unwrap().ends_with("go on with offset 20000"));
    let last = given(&pack, "packset_show", json!({ "id": "l", "offset": 20_000 }));
    assert_eq!(last["record"]["text"].as_str().unwrap().chars().count(), 5_000);
    assert_eq!((&last["rest"], &last["text_chars"]), (&Value::Null, &json!(25_000)));
}

#[test]
fn a_claim_is_a_resource() {
    let (pack, _) = seeded();
    let listed = ask(&pack, "resources/list", json!({}));
    let uris: Vec<&str> = listed["result"]["resources"]
        .as_array()
        .unwrap()
        .iter()
        .map(|resource| resource["uri"].as_str().unwrap())
        .collect();
    assert!(uris.len() == 3 && uris.contains(&"packset://w/odd%2Fid"), "{uris:?}");
    let read = ask(&pack, "resources/read", json!({ "uri": "packset://w/odd%2Fid" }));
    let contents = &read["result"]["contents"][0];
    assert_eq!(contents["mimeType"], "application/json");
    let record: Value = serde_json::from_str(contents["text"].as_str().unwrap()).unwrap();
    assert_eq!((&record["id"], &record["text"]), (&json!("odd/id"), &json!("Ships on Fridays.")));
    for uri in ["packset://w/none", "packset://none/odd%2Fid", "file:///etc/passwd", "packset://w"]
    {
        assert_eq!(ask(&pack, "resources/read", json!({ "uri": uri }))["error"]["code"], -32002);
    }
    let templates = ask(&pack, "resources/templates/list", json!({}));
    let template = &templates["result"]["resourceTemplates"][0];
    assert_eq!(template["uriTemplate"], "packset://{workspace}/{id}");
}

#[test]
fn the_prompt_quotes_what_was_found_as_data() {
    let (pack, id) = seeded();
    let named = |arguments: Value| {
        ask(
            &pack,
            "prompts/get",
            json!({ "name": "what_does_the_seat_know", "arguments": arguments }),
        )
    };
    let answer = named(json!({ "question": "Which protoc?" }));
    let message = &answer["result"]["messages"][0];
    let said = message["content"]["text"].as_str().unwrap();
    assert_eq!(message["role"], "user");
    assert!(
        said.starts_with("Which protoc?\n") && said.contains(&id) && said.contains("not orders")
    );
    for blank in [json!({}), json!({ "question": " \n" }), json!({ "question": null })] {
        assert_eq!(named(blank)["error"]["code"], -32602);
    }
    let listed = ask(&pack, "prompts/list", json!({}));
    assert_eq!(listed["result"]["prompts"][0]["arguments"][0]["required"], true);
    let none = ask(&pack, "prompts/get", json!({ "name": "none" }));
    assert_eq!(none["error"]["code"], -32602);
}

#[test]
fn a_pack_that_does_not_answer_says_so() {
    let (pack, _) = seeded();
    let off = pack.var("PACKSET_URL", "off");
    let said = refusal(&off, "packset_search", json!({ "query": "a" }));
    assert!(said.starts_with("packset: PACKSET_URL is off\nhint: "), "{said}");
    let state = given(&off, "packset_state", json!({}));
    assert_eq!((&state["up"], &state["detail"]), (&json!(false), &Value::Null));
    assert!(state["error"].as_str().unwrap().contains("PACKSET_URL is off"));
    // Nothing listens on port 1, where only the system's own may.
    let gone = off.var("PACKSET_URL", "http://127.0.0.1:1");
    assert!(refusal(&gone, "packset_atoms", json!({})).contains("http://127.0.0.1:1"));
    assert_eq!(given(&gone, "packset_state", json!({}))["up"], false);
}

#[test]
fn asking_leaves_no_trace() {
    let pack = Pack::new();
    assert_eq!(given(&pack, "packset_atoms", json!({}))["workspace"], "default");
    assert_eq!(given(&pack, "packset_island", json!({ "cue": "a" }))["island"], json!([]));
    assert!(!pack.home().exists());
}
