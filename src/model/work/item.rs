//! One work item: how it is read from JSON that several programs write, and how a new one is written. Pure.

use serde::Serialize;
use serde_json::{Map, Value, json};

use super::{Closed, MOST_FAILURES};
use crate::model::record::TakenBack;
use crate::model::{digest, mask, text};

/// The longest description or evidence of an item that is taken from the file, in characters.
const LONGEST_TEXT: usize = 20_000;

/// The key of an item that appeared in the file while an agent ran, with the cycle's number.
pub(super) const APPEARED: &str = "appeared_in_cycle";
/// The key of how often the same was queued before, and was not done.
pub(super) const AGAIN: &str = "again";
/// What the source of an item starts with that an agent left in its outbox; the cycle's number follows.
pub const BY_AGENT: &str = "evolve cycle ";

/// The longest title of a work item, in characters: what is longer is shown and recorded up to there.
pub const LONGEST_TITLE: usize = 500;

/// How bad it is. Ordered, the worst first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Work that cannot wait.
    Critical,
    /// Work that should not wait.
    High,
    /// Ordinary work; `moderate` means the same.
    Medium,
    /// Work for a quiet day.
    Low,
    /// Nobody said.
    #[default]
    Unknown,
}

impl Severity {
    /// Reads a word; whatever is not known is `Unknown`.
    pub fn parse(word: &str) -> Severity {
        match word.trim().to_lowercase().as_str() {
            "critical" => Severity::Critical,
            "high" => Severity::High,
            "medium" | "moderate" => Severity::Medium,
            "low" => Severity::Low,
            _ => Severity::Unknown,
        }
    }

    /// Returns the word used in files and messages.
    pub fn word(self) -> &'static str {
        match self {
            Severity::Critical => "critical",
            Severity::High => "high",
            Severity::Medium => "medium",
            Severity::Low => "low",
            Severity::Unknown => "unknown",
        }
    }
}

/// What became of an item so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// It can be worked on.
    #[default]
    Available,
    /// A session works on it, or died while it did.
    InProgress,
    /// It is done.
    Consumed,
}

impl State {
    /// Reads a word; none if it is not known.
    pub fn parse(word: &str) -> Option<State> {
        match word {
            "available" => Some(State::Available),
            "in_progress" => Some(State::InProgress),
            "consumed" => Some(State::Consumed),
            _ => None,
        }
    }

    /// Returns the word used in files and messages.
    pub fn word(self) -> &'static str {
        match self {
            State::Available => "available",
            State::InProgress => "in_progress",
            State::Consumed => "consumed",
        }
    }
}

/// Where an item stands in its queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct Key {
    /// Index of the line, from 0.
    pub line: usize,
    /// Index in the line's `items`, from 0; none for a line that is an item itself.
    pub item: Option<usize>,
}

/// One item of the queue, as far as this program understands it. Text is clean enough to be shown.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct WorkItem {
    /// Where it stands.
    pub key: Key,
    /// What is to be done, in one line.
    pub title: String,
    /// What sort of work it is (`type` in the file).
    #[serde(rename = "type")]
    pub kind: Option<String>,
    /// How bad it is.
    pub severity: Severity,
    /// Who found it.
    pub source: Option<String>,
    /// What is to be done, at length.
    pub description: Option<String>,
    /// What shows that it is needed.
    pub evidence: Option<String>,
    /// The repository it is for: the item's own, else its entry's.
    pub target_repo: Option<String>,
    /// What became of it so far.
    pub state: State,
    /// How many cycles tried it in vain.
    pub failures: u64,
    /// When the last of them ended.
    pub failed_at: Option<String>,
    /// The session that works on it.
    pub claimed_by: Option<String>,
    /// An agent left it, or it appeared while one ran.
    #[serde(skip)]
    pub is_left_by_agent: bool,
    /// Who took it off the queue.
    #[serde(skip)]
    pub consumed_by: Option<String>,
    /// How often the same was queued before, and was not done: 0 for what is queued for the first time.
    #[serde(skip)]
    pub again: u64,
}

/// What became of an item that is off the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It is done.
    Done,
    /// A person did not want it done.
    Dropped,
    /// A cycle did it, and a person had its change taken back.
    TakenBack,
}

impl WorkItem {
    /// Makes an item that stands in no queue: a person asks for it now.
    pub fn given(title: String, severity: Severity, description: String) -> WorkItem {
        WorkItem {
            key: Key {
                line: usize::MAX,
                item: None,
            },
            title,
            kind: None,
            severity,
            source: None,
            description: Some(description),
            evidence: None,
            target_repo: None,
            state: State::Available,
            failures: 0,
            failed_at: None,
            claimed_by: None,
            is_left_by_agent: false,
            consumed_by: None,
            again: 0,
        }
    }

    /// Says whether the item is meant for the repository called `repo_name`.
    pub fn is_for(&self, repo_name: &str) -> bool {
        match self.target_repo.as_deref() {
            Some(target) => target == "*" || target == repo_name,
            None => true,
        }
    }

    /// Returns what the item is called for short: the same for items that are the same, wherever they stand.
    pub fn id(&self) -> String {
        let (title, target) = identity_of(&self.title, self.target_repo.clone(), self.again);
        digest::short(&[&title, &target])
    }

    /// Says whether it failed too often to be tried again.
    pub fn is_set_aside(&self) -> bool {
        self.failures >= MOST_FAILURES
    }

    /// Says whether it is done.
    pub fn is_consumed(&self) -> bool {
        self.state == State::Consumed
    }

    /// Returns what became of it; none while it is not off the queue.
    pub fn fate(&self, taken_back: &TakenBack) -> Option<Fate> {
        let by = self.consumed_by.as_deref().unwrap_or_default();
        let cycle = by.strip_prefix(BY_AGENT).and_then(|it| it.parse().ok());
        self.is_consumed().then(|| match cycle {
            Some(cycle) if taken_back.has(cycle) => Fate::TakenBack,
            None if by == Closed::Dropped.by() => Fate::Dropped,
            Some(_) | None => Fate::Done,
        })
    }

    /// Says whether it can be worked on.
    pub fn is_open(&self) -> bool {
        !self.is_consumed() && !self.is_set_aside()
    }

    /// Says whether a cycle tried it in vain.
    pub fn has_failed(&self) -> bool {
        self.failures > 0 || self.failed_at.is_some()
    }

    /// Returns what says which of two open items comes first: what never failed, then what is worse.
    pub fn turn(&self) -> (bool, Severity) {
        (self.has_failed(), self.severity)
    }

    /// Reads an item, and what makes it the same as another; `entry` is the entry it stands in. None without a title.
    pub(super) fn read(
        key: Key,
        item: &Map<String, Value>,
        entry: Option<&Map<String, Value>>,
    ) -> Option<(WorkItem, Identity)> {
        let title = title(item)?;
        let identity = identity_of(&title, target(item, entry), again(item));
        let is_consumed = says_consumed(item) || entry.is_some_and(says_consumed);
        let state = item.get("state").and_then(Value::as_str);
        let item = WorkItem {
            key,
            title: bounded(title, LONGEST_TITLE),
            kind: line_of(item, "type"),
            severity: line_of(item, "severity")
                .map_or(Severity::Unknown, |word| Severity::parse(&word)),
            source: line_of(item, "source"),
            description: text_of(item, "description").map(|text| bounded(text, LONGEST_TEXT)),
            evidence: text_of(item, "evidence").map(|text| bounded(text, LONGEST_TEXT)),
            target_repo: target(item, entry),
            state: if is_consumed {
                State::Consumed
            } else {
                state.and_then(State::parse).unwrap_or_default()
            },
            failures: failures(item),
            failed_at: line_of(item, "failed_at"),
            claimed_by: line_of(item, "claimed_by"),
            is_left_by_agent: item.contains_key(APPEARED)
                || line_of(item, "source").is_some_and(|source| source.starts_with(BY_AGENT)),
            consumed_by: line_of(item, "consumed_by").or_else(|| line_of(entry?, "consumed_by")),
            again: again(item),
        };
        Some((item, identity))
    }
}

/// Work that this program found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NewItem {
    /// What is to be done, in one line.
    pub title: String,
    /// What sort of work it is, such as `bug` or `tech-debt`.
    pub kind: String,
    /// How bad it is.
    pub severity: Severity,
    /// Who found it.
    pub source: String,
    /// What is to be done, at length.
    pub description: String,
    /// The repository it is for; none for any.
    pub target_repo: Option<String>,
    /// What shows that it is needed; empty for nothing.
    pub evidence: String,
    /// Digests of what a sweep found, so that it is not found again.
    pub findings: Vec<String>,
    /// How often the same was queued before, and was not done.
    pub again: u64,
}

impl NewItem {
    /// Returns what makes the item the same as another.
    pub(super) fn identity(&self) -> Identity {
        let target = self.target_repo.as_deref().map(text::clean_line);
        identity_of(&text::clean_line(&self.title), target, self.again)
    }

    /// Returns the item as it stands in the file.
    pub(super) fn into_map(self, timestamp: &str) -> Map<String, Value> {
        let mut map = Map::new();
        map.insert("title".into(), json!(text::clean_line(&self.title)));
        map.insert("type".into(), json!(text::clean_line(&self.kind)));
        map.insert("severity".into(), json!(self.severity.word()));
        map.insert("source".into(), json!(text::clean_line(&self.source)));
        map.insert("description".into(), json!(text::clean(&self.description)));
        if !self.evidence.is_empty() {
            map.insert("evidence".into(), json!(text::clean(&self.evidence)));
        }
        if let Some(target) = &self.target_repo {
            map.insert("target_repo".into(), json!(text::clean_line(target)));
        }
        if !self.findings.is_empty() {
            map.insert("findings".into(), json!(self.findings));
        }
        if self.again > 0 {
            map.insert(AGAIN.into(), json!(self.again));
        }
        map.insert("timestamp".into(), json!(timestamp));
        map.insert("state".into(), json!(State::Available.word()));
        map.insert("consumed".into(), json!(false));
        map
    }
}

/// What makes two items the same: the title in lower case with its blanks folded (or the digest of a long one) and how often it
/// was queued before, and the target.
pub(super) type Identity = (String, String);

/// Returns what makes the item the same as another; none without a title.
pub(super) fn identity(
    item: &Map<String, Value>,
    entry: Option<&Map<String, Value>>,
) -> Option<Identity> {
    let target = target(item, entry);
    Some(identity_of(&title(item)?, target, again(item)))
}

fn identity_of(title: &str, target: Option<String>, again: u64) -> Identity {
    let mut title = title.to_lowercase();
    if title.len() > LONGEST_TITLE {
        // Not one of its size for each question.
        title = digest::full(title.as_bytes());
    }
    if again > 0 {
        // No title has a second line.
        title = format!("{title}\n{again}");
    }
    (title, target.unwrap_or_else(|| "*".to_owned()))
}

/// Returns a clean text as it is shown, recorded and told to an agent: cut where it is too long for that.
fn bounded(text: String, most: usize) -> String {
    match text.char_indices().nth(most) {
        None => text,
        // Masked before it is cut: half a secret would not be told.
        Some(_) => {
            let start: String = text.chars().take(2 * most).collect();
            text::cut(&mask::secrets(&start), most)
        }
    }
}

/// Returns the digests of what a sweep found.
pub(super) fn findings(item: &Map<String, Value>) -> impl Iterator<Item = String> + '_ {
    let list = item.get("findings").and_then(Value::as_array);
    list.into_iter()
        .flatten()
        .filter_map(|one| one.as_str().map(str::to_owned))
}

/// Returns how often the item failed.
pub(super) fn failures(item: &Map<String, Value>) -> u64 {
    item.get("failures").and_then(Value::as_u64).unwrap_or(0)
}

/// Returns how often the same was queued before, and was not done.
pub(super) fn again(item: &Map<String, Value>) -> u64 {
    item.get(AGAIN).and_then(Value::as_u64).unwrap_or(0)
}

/// Returns the title in one clean line; none if it is missing, empty or no text.
fn title(item: &Map<String, Value>) -> Option<String> {
    let title = text::clean_line(item.get("title")?.as_str()?);
    (!title.is_empty()).then_some(title)
}

/// Returns as much of a text as can be of use where so many characters of it are shown.
fn start_of(text: &str, most: usize) -> &str {
    // Some room for what is cleaned away, and for characters of four bytes.
    let mut ends = (0..=text.len().min(8 * most)).rev();
    let end = ends.find(|at| text.is_char_boundary(*at));
    &text[..end.unwrap_or_default()]
}

/// Returns a text of the item, cleaned; none if it is missing, empty or no text.
pub(super) fn text_of(item: &Map<String, Value>, name: &str) -> Option<String> {
    let text = text::clean(start_of(item.get(name)?.as_str()?, LONGEST_TEXT));
    (!text.trim().is_empty()).then_some(text)
}

/// Returns a text of the item in one clean line; none if it is missing, empty or no text.
pub(super) fn line_of(item: &Map<String, Value>, name: &str) -> Option<String> {
    let text = text::clean_line(start_of(item.get(name)?.as_str()?, LONGEST_TITLE));
    (!text.is_empty()).then_some(text)
}

/// Returns the repository the item is for: its own, else its entry's.
pub(super) fn target(
    item: &Map<String, Value>,
    entry: Option<&Map<String, Value>>,
) -> Option<String> {
    line_of(item, "target_repo").or_else(|| line_of(entry?, "target_repo"))
}

/// The older way of marking is understood on the item too, and so is the word instead of the value: doing work twice
/// costs more than leaving it.
fn says_consumed(map: &Map<String, Value>) -> bool {
    match map.get("consumed") {
        Some(Value::Bool(consumed)) => *consumed,
        Some(Value::String(word)) => word.eq_ignore_ascii_case("true"),
        Some(Value::Null | Value::Number(_) | Value::Array(_) | Value::Object(_)) | None => false,
    }
}
