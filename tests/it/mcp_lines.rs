//! The MCP surface, line by line: which revisions are spoken, and what a bad line does.

use serde_json::{Value, json};

use crate::harness::Pack;
use crate::mcp::{answer, answers, lines, opening, request};

/// What a client of the newest revision sends along with every request.
fn meta(version: &str) -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": version,
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": { "name": "t", "version": "0" },
    })
}

/// What a run answers to bytes.
fn said(pack: &Pack, input: impl Into<Vec<u8>>) -> Vec<Value> {
    answers(&pack.run(["mcp"]).stdin(input).done().code(0))
}

#[test]
fn every_revision_with_a_handshake_is_spoken() {
    let pack = Pack::new();
    for (asked, spoken) in [
        ("2025-11-25", "2025-11-25"),
        ("2025-06-18", "2025-06-18"),
        ("2025-03-26", "2025-03-26"),
        ("2024-11-05", "2024-11-05"),
        // These have no handshake, or are not known: the newest that has one.
        ("2026-07-28", "2025-11-25"),
        ("1999-01-01", "2025-11-25"),
    ] {
        let said = said(&pack, lines(&opening(asked)));
        let result = &answer(&said, 0)["result"];
        assert_eq!(result["protocolVersion"], spoken);
        assert_eq!(result["serverInfo"]["name"], "packset");
        assert!(result["instructions"].as_str().unwrap().contains("never orders"));
        assert_eq!(result["capabilities"], json!({ "prompts": {}, "resources": {}, "tools": {} }));
        assert!(result.get("resultType").is_none(), "older clients know no such field");
    }
}

#[test]
fn the_newest_revision_needs_no_handshake() {
    let pack = Pack::new();
    let meta = meta("2026-07-28");
    let call = json!({ "name": "packset_state", "arguments": {}, "_meta": meta });
    let said = said(
        &pack,
        lines(&[
            request(1, "server/discover", json!({ "_meta": meta })),
            request(2, "tools/call", call),
            request(3, "tools/list", json!({ "_meta": meta })),
            request(4, "resources/read", json!({ "uri": "packset://w/x", "_meta": meta })),
            request(5, "tools/list", json!({})),
            request(6, "tools/list", json!({ "_meta": self::meta("2031-01-01") })),
        ]),
    );
    let discovered = &answer(&said, 1)["result"];
    assert!(discovered["supportedVersions"].to_string().contains("2026-07-28"));
    assert!(discovered["instructions"].as_str().unwrap().contains("never orders"));
    let state = &answer(&said, 2)["result"];
    assert_eq!((&state["resultType"], &state["isError"]), (&json!("complete"), &json!(false)));
    let tools = &answer(&said, 3)["result"];
    assert_eq!((&tools["ttlMs"], &tools["cacheScope"]), (&json!(3_600_000), &json!("private")));
    assert_eq!(tools["tools"].as_array().unwrap().len(), 10);
    assert_eq!(answer(&said, 4)["error"]["code"], -32602);
    assert_eq!(answer(&said, 5)["error"]["code"], -32602);
    assert_eq!(answer(&said, 6)["error"]["code"], -32022);
}

#[test]
fn a_bad_line_does_not_end_the_session() {
    let pack = Pack::new();
    let ping = |id| lines(&[request(id, "ping", json!({}))]);
    let opening = lines(&opening("2025-06-18"));
    let cases: [(&str, Option<(i64, Value)>); 11] = [
        ("garbage", Some((-32700, Value::Null))),
        ("{\"jsonrpc\":\"2.0\",", Some((-32700, Value::Null))),
        ("\u{feff}\u{1}", Some((-32700, Value::Null))),
        ("[{\"jsonrpc\":\"2.0\",\"id\":9,\"method\":\"ping\"}]", Some((-32600, Value::Null))),
        ("5", Some((-32600, Value::Null))),
        ("{\"id\":9}", Some((-32600, json!(9)))),
        ("{\"jsonrpc\":\"2.0\",\"id\":9,\"method\":\"no/such\"}", Some((-32601, json!(9)))),
        (
            "{\"jsonrpc\":\"2.0\",\"id\":\"s\",\"method\":\"tools/call\",\"params\":{\"name\":5}}",
            Some((-32602, json!("s"))),
        ),
        // Nobody waits for an answer to these.
        ("{\"jsonrpc\":\"2.0\",\"method\":\"no/such\"}", None),
        ("{\"jsonrpc\":\"2.0\",\"method\":\"tools/call\",\"params\":{\"name\":5}}", None),
        (" \r", None),
    ];
    for (line, wanted) in cases {
        let said = said(&pack, format!("{opening}{line}\n{}", ping(7)));
        assert_eq!(answer(&said, 7)["result"], json!({}), "{line}");
        let others: Vec<&Value> =
            said.iter().filter(|message| message["id"] != 0 && message["id"] != 7).collect();
        match wanted {
            None => assert!(others.is_empty(), "{line}: {others:?}"),
            Some((code, id)) => {
                assert_eq!(others.len(), 1, "{line}: {others:?}");
                assert_eq!((&others[0]["error"]["code"], &others[0]["id"]), (&json!(code), &id));
            }
        }
    }
}

#[test]
fn nothing_before_the_opening_ends_the_session() {
    let pack = Pack::new();
    let early = "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n\
                 {\"jsonrpc\":\"2.0\",\"id\":5,\"result\":{}}\n\
                 garbage\n\
                 {\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"ping\"}\n\
                 {\"jsonrpc\":\"2.0\",\"id\":4,\"method\":\"tools/list\"}\n\
                 {\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n";
    let said = said(&pack, format!("{early}{}", lines(&opening("2025-06-18"))));
    assert_eq!(answer(&said, 3)["result"], json!({}));
    assert_eq!(answer(&said, 4)["error"]["code"], -32602);
    assert_eq!(answer(&said, 0)["result"]["protocolVersion"], "2025-06-18");
}

#[test]
fn the_end_of_the_input_is_the_end() {
    let pack = Pack::new();
    assert!(said(&pack, "").is_empty());
    let opening = lines(&opening("2025-06-18"));
    let cut = said(&pack, format!("{opening}{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"pi"));
    assert_eq!(cut.len(), 1, "{cut:?}");
    // What was asked is answered before the end, a last line without its end too.
    let calls: Vec<Value> = (1..=200).map(|id| request(id, "ping", json!({}))).collect();
    let all = said(&pack, format!("{opening}{}", lines(&calls).trim_end()));
    assert_eq!(all.len(), 201);
}

#[test]
fn long_lines_are_read_up_to_a_bound() {
    let pack = Pack::new().var("PACKSET_WORKSPACE", "w");
    pack.remember("The build needs protoc 28 or newer.");
    let of = |bytes: usize| {
        let query = "x".repeat(bytes);
        json!({ "name": "packset_search", "arguments": { "query": query } })
    };
    let mut messages = opening("2025-06-18");
    messages.push(request(1, "tools/call", of(1 << 20)));
    messages.push(request(2, "tools/call", of(5 << 20)));
    messages.push(request(3, "ping", json!({})));
    let said = said(&pack, lines(&messages));
    assert_eq!(answer(&said, 1)["result"]["isError"], false);
    assert_eq!(answer(&said, 3)["result"], json!({}));
    let refused: Vec<&Value> = said.iter().filter(|message| message["id"].is_null()).collect();
    assert_eq!(refused.len(), 1);
    assert_eq!(refused[0]["error"]["code"], -32600);
}
