//! OpenAI's chat completions, and how OpenAI says no.

use serde_json::{Value, json};

use super::{CACHED, RECEIVED, SENT, after, items, tool};
use crate::script::{Answer, Refusal, Tool};
use crate::server::Response;

pub fn results(body: &Value) -> usize {
    items(&body["messages"])
        .filter(|message| message["role"] == "tool")
        .count()
}

pub fn tools(body: &Value) -> Vec<Tool> {
    items(&body["tools"])
        .filter_map(|entry| tool(&entry["function"], "parameters"))
        .collect()
}

pub fn say(answer: &Answer, body: &Value, is_stream: bool) -> Response {
    let (message, reason) = match answer {
        Answer::Call(call) => {
            let function = json!({"name": call.name, "arguments": call.arguments.to_string()});
            let call =
                json!({"index": 0, "id": "call_1", "type": "function", "function": function});
            (
                json!({"role": "assistant", "content": null, "tool_calls": [call]}),
                "tool_calls",
            )
        }
        Answer::Text(text) => (json!({"role": "assistant", "content": text}), "stop"),
        Answer::Refuse(_) => unreachable!("a refusal has its own form"),
    };
    let usage = json!({
        "prompt_tokens": SENT, "completion_tokens": RECEIVED, "total_tokens": SENT + RECEIVED,
        "prompt_tokens_details": {"cached_tokens": CACHED}
    });
    let envelope = |object: &str, choices: Value, usage: Value| {
        json!({
            "id": "chatcmpl-1", "object": object, "created": 1_700_000_000, "model": body["model"],
            "choices": choices, "usage": usage
        })
    };
    if !is_stream {
        let choice = json!([{"index": 0, "message": message, "finish_reason": reason}]);
        return Response::json(200, &envelope("chat.completion", choice, usage));
    }
    let object = "chat.completion.chunk";
    let said = json!([{"index": 0, "delta": message, "finish_reason": null}]);
    let ended = json!([{"index": 0, "delta": {}, "finish_reason": reason}]);
    let mut response = Response::events(&[
        ("", envelope(object, said, Value::Null)),
        ("", envelope(object, ended, Value::Null)),
        ("", envelope(object, json!([]), usage)),
    ]);
    response.body.push_str("data: [DONE]\n\n");
    response
}

pub fn refuse(refusal: Refusal) -> Response {
    match refusal {
        Refusal::NotLoggedIn => error(
            401,
            ("invalid_request_error", "invalid_api_key"),
            "Incorrect API key provided: no-key.",
        ),
        Refusal::RateLimit(seconds) => after(
            error(
                429,
                ("requests", "rate_limit_exceeded"),
                &format!(
                    "Rate limit reached for requests. Please try again{}.",
                    seconds
                        .map_or_else(|| " later".to_owned(), |seconds| format!(" in {seconds}s"))
                ),
            ),
            seconds,
        ),
        Refusal::UsageLimit(until) => Response::json(
            429,
            &json!({"error": {
                "type": "usage_limit_reached", "message": "The usage limit has been reached",
                "plan_type": "plus", "resets_at": until
            }}),
        ),
        Refusal::Quota => error(
            429,
            ("insufficient_quota", "insufficient_quota"),
            "You exceeded your current quota, please check your plan and billing details.",
        ),
        Refusal::Overloaded => error(
            503,
            ("server_error", "server_is_overloaded"),
            "The server is currently overloaded. Please try again later.",
        ),
    }
}

fn error(status: u16, (kind, code): (&str, &str), message: &str) -> Response {
    let error = json!({"message": message, "type": kind, "param": null, "code": code});
    Response::json(status, &json!({"error": error}))
}
