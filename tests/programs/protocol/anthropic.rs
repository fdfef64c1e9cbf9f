//! Anthropic's messages.

use serde_json::{Value, json};

use super::{CACHED, RECEIVED, SENT, after, items, tool};
use crate::script::{Answer, Refusal, Tool};
use crate::server::Response;

pub fn results(body: &Value) -> usize {
    items(&body["messages"])
        .flat_map(|message| items(&message["content"]))
        .filter(|block| block["type"] == "tool_result")
        .count()
}

pub fn tools(body: &Value) -> Vec<Tool> {
    items(&body["tools"])
        .filter_map(|entry| tool(entry, "input_schema"))
        .collect()
}

pub fn say(answer: &Answer, body: &Value, is_stream: bool) -> Response {
    let (block, delta, reason) = match answer {
        Answer::Call(call) => (
            json!({"type": "tool_use", "id": "toolu_1", "name": call.name, "input": {}}),
            json!({"type": "input_json_delta", "partial_json": call.arguments.to_string()}),
            "tool_use",
        ),
        Answer::Text(text) => (
            json!({"type": "text", "text": ""}),
            json!({"type": "text_delta", "text": text}),
            "end_turn",
        ),
        Answer::Refuse(_) => unreachable!("a refusal has its own form"),
    };
    let message = json!({
        "id": "msg_1", "type": "message", "role": "assistant", "model": body["model"], "content": [],
        "stop_reason": null, "stop_sequence": null, "usage": usage(1)
    });
    if !is_stream {
        return whole(answer, message, block, reason);
    }
    Response::events(&[
        (
            "message_start",
            json!({"type": "message_start", "message": message}),
        ),
        (
            "content_block_start",
            json!({"type": "content_block_start", "index": 0, "content_block": block}),
        ),
        (
            "content_block_delta",
            json!({"type": "content_block_delta", "index": 0, "delta": delta}),
        ),
        (
            "content_block_stop",
            json!({"type": "content_block_stop", "index": 0}),
        ),
        (
            "message_delta",
            json!({
                "type": "message_delta", "delta": {"stop_reason": reason, "stop_sequence": null},
                "usage": {"output_tokens": RECEIVED}
            }),
        ),
        ("message_stop", json!({"type": "message_stop"})),
    ])
}

fn whole(answer: &Answer, mut message: Value, mut block: Value, reason: &str) -> Response {
    match answer {
        Answer::Call(call) => block["input"] = call.arguments.clone(),
        Answer::Text(text) => block["text"] = json!(text),
        Answer::Refuse(_) => {}
    }
    message["content"] = json!([block]);
    message["stop_reason"] = json!(reason);
    message["usage"] = usage(RECEIVED);
    Response::json(200, &message)
}

fn usage(received: u64) -> Value {
    json!({
        "input_tokens": SENT - CACHED, "cache_read_input_tokens": CACHED,
        "cache_creation_input_tokens": 0, "output_tokens": received
    })
}

pub fn refuse(refusal: Refusal) -> Response {
    match refusal {
        Refusal::NotLoggedIn => error(401, "authentication_error", "invalid x-api-key"),
        Refusal::RateLimit(seconds) => after(
            error(
                429,
                "rate_limit_error",
                "This request would exceed your organization's rate limit of 50 requests per minute.",
            ),
            seconds,
        ),
        Refusal::UsageLimit(until) => {
            let mut response = error(
                429,
                "rate_limit_error",
                "This request would exceed your account's rate limit.",
            );
            response.headers.extend([
                ("anthropic-ratelimit-unified-status", "rejected".to_owned()),
                (
                    "anthropic-ratelimit-unified-representative-claim",
                    "five_hour".to_owned(),
                ),
                ("anthropic-ratelimit-unified-reset", until.to_string()),
            ]);
            response
        }
        Refusal::Quota => error(
            400,
            "invalid_request_error",
            "Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade or purchase credits.",
        ),
        Refusal::Overloaded => error(529, "overloaded_error", "Overloaded"),
    }
}

fn error(status: u16, kind: &str, message: &str) -> Response {
    let error = json!({"type": kind, "message": message});
    Response::json(
        status,
        &json!({"type": "error", "error": error, "request_id": "req_1"}),
    )
}
