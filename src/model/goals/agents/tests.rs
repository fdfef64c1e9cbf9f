use super::*;
use crate::model::agent::Prompt;
use crate::model::agent::{Arg, Format, Presets};
use crate::model::goals::read_goals;
use std::time::Duration;

fn read(text: &str) -> Vec<Entry> {
    read_agents(text.as_bytes()).unwrap()
}

/// Every problem as `line: message (hint)`.
fn problems(text: &str) -> Vec<String> {
    let problems = read_agents(text.as_bytes()).unwrap_err();
    let said = |problem: &Problem| {
        format!(
            "{}: {} ({})",
            problem.line,
            problem.message,
            problem.hint.clone().unwrap_or_default()
        )
    };
    problems.iter().map(said).collect()
}

fn preset(text: &str, name: &str) -> crate::model::agent::Preset {
    Presets::new(&[&read(text)]).find(name).unwrap().clone()
}

#[test]
fn a_built_in_agent_keeps_what_an_entry_does_not_give() {
    let built_in = Presets::new(&[]).find("claude").unwrap().clone();
    let changed = preset(
        "claude: {extra_args: [--model, opus], timeout: 2h}",
        "claude",
    );
    assert_eq!(changed.args, built_in.args);
    assert_eq!(changed.output, built_in.output);
    assert_eq!(changed.timeout, Some(Duration::from_secs(7200)));
    let words = ["--model", "opus"].map(|word| Arg::Word(word.to_owned()));
    assert_eq!(changed.extra_args, words);
}

#[test]
fn a_new_agent_is_like_another_or_stands_for_itself() {
    let text = "
cheap:
  like: claude
  extra_args: [--model, haiku]
cheaper: {like: cheap, programs: [claude-next, claude]}
mine:
  command: [./agent.sh, --all, '{brief_file}']
  prompt: file
";
    let claude = preset(text, "claude");
    let cheap = preset(text, "cheap");
    assert_eq!(
        (cheap.name.as_str(), &cheap.programs),
        ("cheap", &claude.programs)
    );
    assert_eq!(preset(text, "cheaper").extra_args, cheap.extra_args);
    let mine = preset(text, "mine");
    assert_eq!(
        (mine.programs, mine.prompt),
        (vec!["./agent.sh".to_owned()], Prompt::File)
    );
    assert_eq!(mine.args.len(), 2);
    assert_eq!(mine.output.format, Format::Text);
}

#[test]
fn a_later_file_goes_before_an_earlier_one_key_by_key() {
    let user = read("claude: {timeout: 1m, idle_timeout: 2m}\nmine: {command: [a], timeout: 1m}");
    let file = read("claude: {timeout: 3m}\nmine: {command: [b]}");
    let presets = Presets::new(&[&user, &file]);
    let claude = presets.find("claude").unwrap();
    let minutes = |minutes: u64| Some(Duration::from_secs(60 * minutes));
    assert_eq!(
        (claude.timeout, claude.idle_timeout),
        (minutes(3), minutes(2))
    );
    let mine = presets.find("mine").unwrap();
    assert_eq!(
        (mine.programs.as_slice(), mine.timeout),
        (["b".to_owned()].as_slice(), None)
    );
}

/// What is said of the mistakes below.
const SAID: &str = r#"
3: unknown key "modle" (known keys are like, command, programs, args, extra_args, prompt, env, needs_env, leaves, writes, sandboxed_args, timeout, idle_timeout, output, cannot_run)
4: prompt: expected stdin or file or arg, not the text "standard" ()
5: args: unknown placeholder "{breif}" (did you mean {brief}?)
5: args: expected text, not the number 5 (put it in quotes: "5")
6: env: "1X" is no name of a variable (write letters, digits and _)
6: env: OK: expected text, not a list ()
7: needs_env: "a-b" is no name of a variable (write letters, digits and _)
9: format: expected text or jsonl, not the text "json" (did you mean jsonl?)
11: when: "type" is no place: a JSON Pointer starts with / (write it as in /message/content/*/text)
11: when: /x: expected a word, a whole number, true, false or null, not the number 0.5 ()
12: tokens: "usage" is no place: a JSON Pointer starts with / (write it as in /message/content/*/text)
13: figures: expected last or sum, not the text "total" ()
14: error: "/a~2" is no place: in a JSON Pointer, ~ is written ~0 (write it as in /message/content/*/text)
15: line: not a regular expression: unclosed group (put a \ before a character that stands for itself)
17: cost: the line has no group "coast" (did you mean /cost?)
18: turns: expected text, not the number 5 (put it in quotes: "5")
20: kind: expected not-installed or not-logged-in or untrusted-folder or permission-refused or rate-limited or out-of-quota or overloaded, not the text "rate-limit" (did you mean rate-limited?)
20: says: not a regular expression: unclosed group (put a \ before a character that stands for itself)
21: exit: expected a whole number from 0 to 255, not the number 300 (255 is the most)
21: status: expected a whole number from 100 to 599, not the number 99 (100 is the least)
22: a rule of cannot_run has nothing to recognise it by (add exit: [codes], status: [codes] or says: …)
23: the agent "cluade" has no command (did you mean claude? Otherwise add command: [program, argument], or like: claude)
24: like: there is no agent "codexx" (did you mean codex?)
25: args stands beside command, which has the program and its arguments (remove one of the two)
26: agents: "a b" is no name for an agent (write letters, digits and dashes)
27: the key "claude" stands here again, first on line 2 (remove one of the two)
28: command: the list is empty (name the program)
"#;

#[test]
fn all_mistakes_are_told_at_once_with_their_places() {
    let text = r"
claude:
  modle: opus
  prompt: standard
  args: [-p, [--out, '{breif}'], 5]
  env: {1X: a, OK: [b]}
  needs_env: [a-b]
  output:
    format: json
    rules:
      - when: {type: result, /x: 0.5}
        tokens: [/usage/*, usage]
        figures: total
        error: '/a~2'
      - line: '(?<cost>\d+'
      - line: '(?<cost>\d+)'
        cost: /coast
        turns: 5
  cannot_run:
    - {kind: rate-limit, says: '('}
    - {kind: overloaded, exit: 300, status: [99]}
    - {kind: overloaded}
cluade: {timeout: 5m}
mine: {like: codexx}
both: {command: [a], args: [b]}
'a b': {command: [a]}
claude: {}
none: {command: []}
";
    let said: Vec<&str> = SAID.trim().lines().collect();
    assert_eq!(problems(text), said);
}

#[test]
fn agents_that_are_no_mapping_are_refused() {
    let said = problems("[claude]");
    assert_eq!(
        said,
        [
            "1: agents: expected a mapping of names to agents, not a list (write a name and its keys, as in claude: {extra_args: […]})"
        ]
    );
    assert_eq!(problems("claude: fast").len(), 1);
    assert!(read("").is_empty() && read("~").is_empty());
}

#[test]
fn goals_and_the_settings_of_a_user_hold_agents() {
    let goal = "goals: [{id: a, description: A, check: 'true', weight: 1}]";
    let text = format!("evolve: {{agents: {{claude: {{timeout: 5m}}}}}}\n{goal}");
    let (goals, _) = read_goals("GOALS.yaml", text.as_bytes()).unwrap();
    assert_eq!(goals.settings.agents[0].name, "claude");
    let settings =
        crate::model::goals::read_config("config.yaml", b"agents: {mine: {command: [a]}}");
    assert_eq!(settings.unwrap().agents[0].name, "mine");
    let misplaced = format!("agents: {{}}\n{goal}");
    let problems = read_goals("GOALS.yaml", misplaced.as_bytes()).unwrap_err();
    assert_eq!(
        problems[0].hint.as_deref(),
        Some("agents belongs under evolve:")
    );
}
