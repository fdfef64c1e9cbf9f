//! The protocols that models are spoken to in. Each reads a question out of a request and puts an answer into its own form.

mod anthropic;
mod chat;
mod gemini;
mod responses;

use serde_json::{Value, json};

use crate::script::{self, Answer, Question, Tool, Turn};
use crate::server::{Request, Response};

/// The figures that every answer reports: tokens sent, how many of these came from a cache, tokens received.
const SENT: u64 = 1500;
const CACHED: u64 = 1000;
const RECEIVED: u64 = 77;
/// The tokens of an answer in all.
pub const TOKENS: u64 = SENT + RECEIVED;

/// A protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    /// Anthropic's messages.
    Anthropic,
    /// OpenAI's chat completions.
    Chat,
    /// OpenAI's responses.
    Responses,
    /// Gemini's content generation.
    Gemini,
}

impl Protocol {
    /// Returns the protocol that a path belongs to.
    pub fn of(path: &str) -> Option<Protocol> {
        let path = path.split('?').next().unwrap_or_default();
        let is_gemini = path.contains(":generateContent")
            || path.contains(":streamGenerateContent")
            || path.contains(":countTokens");
        match path.rsplit('/').next() {
            Some("messages" | "count_tokens") => Some(Protocol::Anthropic),
            Some("completions") => Some(Protocol::Chat),
            Some("responses") => Some(Protocol::Responses),
            _ if is_gemini => Some(Protocol::Gemini),
            _ => None,
        }
    }

    /// Answers a request from a script.
    pub fn answer(self, request: &Request, turns: &[Turn]) -> Response {
        let body = &request.body;
        let is_count =
            request.path.contains("count_tokens") || request.path.contains(":countTokens");
        if is_count {
            return Response::json(200, &json!({"input_tokens": SENT, "totalTokens": SENT}));
        }
        let answer = script::answer(turns, &self.question(body));
        let is_stream = body["stream"] == true || request.path.contains(":streamGenerateContent");
        match (self, &answer) {
            (Protocol::Anthropic, Answer::Refuse(refusal)) => anthropic::refuse(*refusal),
            (Protocol::Anthropic, _) => anthropic::say(&answer, body, is_stream),
            (Protocol::Chat | Protocol::Responses, Answer::Refuse(refusal)) => {
                chat::refuse(*refusal)
            }
            (Protocol::Chat, _) => chat::say(&answer, body, is_stream),
            (Protocol::Responses, _) => responses::say(&answer, body, is_stream),
            (Protocol::Gemini, Answer::Refuse(refusal)) => gemini::refuse(*refusal),
            (Protocol::Gemini, _) => gemini::say(&answer, is_stream),
        }
    }

    fn question(self, body: &Value) -> Question {
        let (results, tools) = match self {
            Protocol::Anthropic => (anthropic::results(body), anthropic::tools(body)),
            Protocol::Chat => (chat::results(body), chat::tools(body)),
            Protocol::Responses => (responses::results(body), responses::tools(body)),
            Protocol::Gemini => (gemini::results(body), gemini::tools(body)),
        };
        let form = match self {
            Protocol::Anthropic => &body["output_config"]["format"]["schema"],
            Protocol::Chat => &body["response_format"]["json_schema"]["schema"],
            Protocol::Responses => &body["text"]["format"]["schema"],
            Protocol::Gemini => &body["generationConfig"]["responseJsonSchema"],
        };
        Question {
            results,
            tools,
            form: form.is_object().then(|| form.clone()),
            text: body.to_string(),
        }
    }
}

fn items<'a>(list: &'a Value) -> impl Iterator<Item = &'a Value> + 'a {
    list.as_array().into_iter().flatten()
}

fn tool(entry: &Value, schema: &str) -> Option<Tool> {
    Some(Tool {
        name: entry["name"].as_str()?.to_owned(),
        namespace: None,
        schema: Some(entry[schema].clone()),
    })
}

/// A response that asks for another try after some seconds, if there are any.
fn after(mut response: Response, seconds: Option<u32>) -> Response {
    if let Some(seconds) = seconds {
        response.headers.push(("retry-after", seconds.to_string()));
    }
    response
}
