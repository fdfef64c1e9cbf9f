//! OpenAI's responses.

use serde_json::{Value, json};

use super::{CACHED, RECEIVED, SENT, items, tool};
use crate::script::{Answer, Call, Tool};
use crate::server::Response;

pub fn results(body: &Value) -> usize {
    items(&body["input"])
        .filter(|item| {
            item["type"]
                .as_str()
                .is_some_and(|kind| kind.ends_with("_call_output"))
        })
        .count()
}

/// A tool may be a function, may take plain text (`custom`), or may stand in a group of tools (`namespace`).
pub fn tools(body: &Value) -> Vec<Tool> {
    items(&body["tools"]).flat_map(entry).collect()
}

fn entry(entry: &Value) -> Vec<Tool> {
    match entry["type"].as_str() {
        Some("function") => tool(entry, "parameters").into_iter().collect(),
        Some("custom") => tool(entry, "parameters")
            .map(|tool| Tool {
                schema: None,
                ..tool
            })
            .into_iter()
            .collect(),
        Some("namespace") => {
            let namespace = entry["name"].as_str().map(str::to_owned);
            let named = |tool| Tool {
                namespace: namespace.clone(),
                ..tool
            };
            items(&entry["tools"])
                .filter_map(|inner| tool(inner, "parameters"))
                .map(named)
                .collect()
        }
        _ => Vec::new(),
    }
}

pub fn say(answer: &Answer, body: &Value, is_stream: bool) -> Response {
    let item = match answer {
        Answer::Call(call) => called(call),
        Answer::Text(text) => json!({
            "type": "message", "id": "msg_1", "role": "assistant", "status": "completed",
            "content": [{"type": "output_text", "text": text, "annotations": []}]
        }),
        Answer::Refuse(_) => unreachable!("a refusal has its own form"),
    };
    let response = |status: &str, output: Value, usage: Value| {
        json!({
            "id": "resp_1", "object": "response", "created_at": 1_700_000_000, "model": body["model"],
            "status": status, "output": output, "usage": usage
        })
    };
    let usage = json!({
        "input_tokens": SENT, "input_tokens_details": {"cached_tokens": CACHED},
        "output_tokens": RECEIVED, "output_tokens_details": {"reasoning_tokens": 33},
        "total_tokens": SENT + RECEIVED
    });
    let completed = response("completed", json!([item]), usage);
    if !is_stream {
        return Response::json(200, &completed);
    }
    let begun = response("in_progress", json!([]), Value::Null);
    let mut events = vec![
        (
            "response.created",
            json!({"type": "response.created", "sequence_number": 0, "response": begun}),
        ),
        (
            "response.output_item.added",
            json!({"type": "response.output_item.added", "sequence_number": 1, "output_index": 0, "item": item}),
        ),
    ];
    if let Answer::Text(text) = answer {
        let delta = json!({
            "type": "response.output_text.delta", "sequence_number": 2, "item_id": "msg_1", "output_index": 0,
            "content_index": 0, "delta": text
        });
        events.push(("response.output_text.delta", delta));
    }
    let done = json!({"type": "response.output_item.done", "sequence_number": 3, "output_index": 0, "item": item});
    events.push(("response.output_item.done", done));
    let end = json!({"type": "response.completed", "sequence_number": 4, "response": completed});
    events.push(("response.completed", end));
    Response::events(&events)
}

fn called(call: &Call) -> Value {
    match &call.arguments {
        Value::String(text) => json!({
            "type": "custom_tool_call", "id": "ctc_1", "call_id": "call_1", "name": call.name, "input": text,
            "status": "completed"
        }),
        arguments => {
            let mut item = json!({
                "type": "function_call", "id": "fc_1", "call_id": "call_1", "name": call.name,
                "arguments": arguments.to_string(), "status": "completed"
            });
            if let Some(namespace) = &call.namespace {
                item["namespace"] = json!(namespace);
            }
            item
        }
    }
}
