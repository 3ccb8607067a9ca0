//! The MCP surface under the official SDK's client, both ways of opening.

use std::process::Stdio;
use std::time::Duration;

use rmcp::RoleClient;
use rmcp::model::{
    CallToolRequestParams, GetPromptRequestParams, ProtocolVersion, ReadResourceRequestParams,
};
use rmcp::service::{ClientLifecycleMode, RunningService, serve_client_with_lifecycle};
use serde_json::{Value, json};
use tokio::process::{Child, Command};

use crate::harness::Pack;

/// Longer than anything here takes: only a hang meets it.
const HANG: Duration = Duration::from_secs(60);

type Client = RunningService<RoleClient, ()>;

async fn connect(pack: &Pack, opening: ClientLifecycleMode) -> (Client, Child) {
    let mut command = Command::from(pack.run(["mcp"]).command);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).kill_on_drop(true);
    let mut child = command.spawn().unwrap();
    let streams = (child.stdout.take().unwrap(), child.stdin.take().unwrap());
    (serve_client_with_lifecycle((), streams, opening).await.unwrap(), child)
}

async fn call(client: &Client, tool: &'static str, arguments: Value) -> Value {
    let arguments = arguments.as_object().unwrap().clone();
    let params = CallToolRequestParams::new(tool).with_arguments(arguments);
    let result = client.call_tool(params).await.unwrap();
    assert_eq!(result.is_error, Some(false), "{result:?}");
    result.structured_content.unwrap()
}

fn session(opening: ClientLifecycleMode, version: &ProtocolVersion) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let steps = async {
        let pack = Pack::new().var("PACKSET_WORKSPACE", "w");
        let first = pack.remember("The build needs protoc 28 or newer.");
        let (client, mut child) = connect(&pack, opening).await;
        assert_eq!(client.peer_info().unwrap().protocol_version, *version);
        let tools = client.list_all_tools().await.unwrap();
        assert_eq!(tools.len(), 10);
        assert!(tools.iter().all(|tool| tool.output_schema.is_some()));
        let found = call(&client, "packset_search", json!({ "query": "protoc" })).await;
        assert_eq!(found["hits"][0]["id"], first.as_str());
        // Another process writes; the next call knows.
        let second = pack.remember("Deploys happen on Fridays.");
        let found = call(&client, "packset_search", json!({ "query": "deploys" })).await;
        assert_eq!(found["hits"][0]["id"], second.as_str());
        pack.ok(["delete", &first]);
        let left = call(&client, "packset_atoms", json!({})).await;
        assert_eq!((&left["total"], &left["atoms"][0]["id"]), (&json!(1), &json!(second)));
        let resources = client.list_all_resources().await.unwrap();
        assert_eq!(resources.len(), 1);
        let read = ReadResourceRequestParams::new(resources[0].uri.clone());
        let read = serde_json::to_value(client.read_resource(read).await.unwrap()).unwrap();
        assert!(read["contents"][0]["text"].as_str().unwrap().contains("Fridays"));
        assert_eq!(client.list_all_resource_templates().await.unwrap().len(), 1);
        let prompts = client.list_all_prompts().await.unwrap();
        let arguments = json!({ "question": "When do deploys happen?" });
        let asked = GetPromptRequestParams::new(prompts[0].name.clone())
            .with_arguments(arguments.as_object().unwrap().clone());
        let prompt = serde_json::to_value(client.get_prompt(asked).await.unwrap()).unwrap();
        assert!(prompt["messages"][0]["content"]["text"].as_str().unwrap().contains(&second));
        let unknown = client.call_tool(CallToolRequestParams::new("nope")).await.unwrap_err();
        assert!(unknown.to_string().contains("-32602"), "{unknown}");
        client.cancel().await.unwrap();
        assert_eq!(child.wait().await.unwrap().code(), Some(0));
    };
    runtime.block_on(async { tokio::time::timeout(HANG, steps).await }).unwrap();
}

#[test]
fn a_client_that_shakes_hands() {
    session(ClientLifecycleMode::Initialize, &ProtocolVersion::LATEST_WITH_INITIALIZE);
}

#[test]
fn a_client_of_the_newest_revision() {
    let preferred_versions = vec![ProtocolVersion::V_2026_07_28];
    session(ClientLifecycleMode::Discover { preferred_versions }, &ProtocolVersion::V_2026_07_28);
}

#[test]
fn a_client_that_probes() {
    let opening = ClientLifecycleMode::Auto {
        preferred_versions: vec![ProtocolVersion::V_2026_07_28],
        legacy_version: Some(ProtocolVersion::V_2025_06_18),
    };
    session(opening, &ProtocolVersion::V_2026_07_28);
}
