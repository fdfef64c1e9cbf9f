//! Gemini's content generation.

use serde_json::{Value, json};

use super::{CACHED, RECEIVED, SENT, items, tool};
use crate::script::{Answer, Refusal, Tool};
use crate::server::Response;

pub fn results(body: &Value) -> usize {
    items(&body["contents"])
        .flat_map(|content| items(&content["parts"]))
        .filter(|part| part.get("functionResponse").is_some())
        .count()
}

pub fn tools(body: &Value) -> Vec<Tool> {
    items(&body["tools"])
        .flat_map(|group| items(&group["functionDeclarations"]))
        .filter_map(|entry| {
            let schema = if entry.get("parametersJsonSchema").is_some() {
                "parametersJsonSchema"
            } else {
                "parameters"
            };
            tool(entry, schema)
        })
        .collect()
}

pub fn say(answer: &Answer, is_stream: bool) -> Response {
    let part = match answer {
        Answer::Call(call) => json!({"functionCall": {"name": call.name, "args": call.arguments}}),
        Answer::Text(text) => json!({"text": text}),
        Answer::Refuse(_) => unreachable!("a refusal has its own form"),
    };
    let whole = json!({
        "candidates": [{
            "content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0
        }],
        "usageMetadata": {
            "promptTokenCount": SENT, "candidatesTokenCount": RECEIVED, "totalTokenCount": SENT + RECEIVED,
            "cachedContentTokenCount": CACHED
        },
        "modelVersion": "scripted"
    });
    if is_stream {
        Response::events(&[("", whole)])
    } else {
        Response::json(200, &whole)
    }
}

pub fn refuse(refusal: Refusal) -> Response {
    match refusal {
        Refusal::NotLoggedIn => error(
            (400, "INVALID_ARGUMENT"),
            "API key not valid. Please pass a valid API key.",
            json!([{
                "@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "API_KEY_INVALID",
                "domain": "googleapis.com"
            }]),
        ),
        Refusal::RateLimit(seconds) => {
            exhausted("GenerateRequestsPerMinutePerProjectPerModel", seconds)
        }
        Refusal::UsageLimit(_) => {
            exhausted("GenerateRequestsPerDayPerProjectPerModel-FreeTier", None)
        }
        Refusal::Quota => error(
            (429, "RESOURCE_EXHAUSTED"),
            "You exceeded your current quota, please check your plan and billing details.",
            json!([]),
        ),
        Refusal::Overloaded => error(
            (503, "UNAVAILABLE"),
            "The model is overloaded. Please try again later.",
            json!([]),
        ),
    }
}

fn exhausted(quota: &str, seconds: Option<u32>) -> Response {
    let violation =
        json!({"quotaMetric": "generate_content_requests", "quotaId": quota, "quotaValue": "10"});
    let mut details = vec![json!({
        "@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": [violation]
    })];
    if let Some(seconds) = seconds {
        details.push(json!({
            "@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": format!("{seconds}s")
        }));
    }
    error(
        (429, "RESOURCE_EXHAUSTED"),
        "Resource has been exhausted (e.g. check quota).",
        json!(details),
    )
}

fn error((status, name): (u16, &str), message: &str, details: Value) -> Response {
    let error = json!({"code": status, "message": message, "status": name, "details": details});
    Response::json(status, &json!({"error": error}))
}
