//! The report in a real browser: `cargo test --test browser`, which needs Chromium (`apt-get install chromium-headless-shell`).
//!
//! The page itself runs no script. Where its looks are measured, a copy of it is opened that has one.

#[path = "../harness/mod.rs"]
mod harness;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

use harness::output;
use regex::Regex;
use serde_json::Value;

/// What a browser made of a page.
struct Seen {
    /// The page as the browser understands it.
    dom: String,
    /// What was said on its console.
    console: Vec<String>,
    /// What it asked for elsewhere.
    asked: Vec<String>,
}

/// The page of the sample, which is made once.
static PAGE: LazyLock<String> = LazyLock::new(|| {
    let folder = tempfile::tempdir().unwrap();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/report/sample.sh");
    let program = env!("CARGO_BIN_EXE_evolve");
    output(
        Command::new("sh")
            .arg(script)
            .arg(program)
            .arg(folder.path()),
    );
    fs::read_to_string(folder.path().join("parser/.git/evolve/report.html")).unwrap()
});

/// The page of the search that the demo shows.
static SEARCH_PAGE: LazyLock<String> = LazyLock::new(|| {
    let folder = tempfile::tempdir().unwrap();
    let evolve = || {
        let mut command = Command::new(env!("CARGO_BIN_EXE_evolve"));
        for name in [
            "HOME",
            "XDG_CONFIG_HOME",
            "XDG_STATE_HOME",
            "XDG_CACHE_HOME",
        ] {
            command.env(name, folder.path().join("home"));
        }
        command
    };
    let shown = folder.path().join("shown");
    output(
        evolve()
            .args(["-q", "demo", "search", "--keep-in"])
            .arg(&shown),
    );
    let root = shown.join("top");
    output(evolve().args(["-q", "search", "report", "-C"]).arg(&root));
    fs::read_to_string(root.join(".git/evolve/search-report.html")).unwrap()
});

fn page() -> String {
    PAGE.clone()
}

fn browser() -> PathBuf {
    let known = [
        "chromium-headless-shell",
        "chromium",
        "chromium-browser",
        "google-chrome",
    ];
    let found = known.iter().find_map(|name| which::which(name).ok());
    found.expect("install chromium-headless-shell for this test")
}

/// Opens a page in the browser, `way` being more arguments; a part of the page is named as in an address.
fn opened(page: &str, part: &str, way: &[&str]) -> Seen {
    let folder = tempfile::tempdir().unwrap();
    let (file, log) = (
        folder.path().join("page.html"),
        folder.path().join("net.json"),
    );
    fs::write(&file, page).unwrap();
    let said = output(
        Command::new(browser())
            // Its own sandbox needs rights that whoever runs tests may not have; the page is ours.
            .args([
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--hide-scrollbars",
            ])
            .args([
                "--enable-logging=stderr",
                "--dump-dom",
                "--virtual-time-budget=1000",
            ])
            .arg(format!(
                "--user-data-dir={}",
                folder.path().join("profile").display()
            ))
            .arg(format!("--log-net-log={}", log.display()))
            .args(way)
            .arg(format!("file://{}{part}", file.display())),
    );
    let console = String::from_utf8_lossy(&said.stderr).into_owned();
    let console = console.lines().filter(|line| line.contains("CONSOLE"));
    let asked = Regex::new(r#""url":"([a-z]+:[^"]*)""#).unwrap();
    let log = fs::read_to_string(&log).unwrap();
    let asked = asked.captures_iter(&log).map(|found| found[1].to_owned());
    Seen {
        dom: String::from_utf8(said.stdout).unwrap(),
        console: console.map(str::to_owned).collect(),
        asked: asked
            .filter(|url| !url.starts_with("file:") && !url.starts_with("data:"))
            .collect(),
    }
}

/// Returns what an expression comes to in a page.
fn asked(page: &str, expression: &str, part: &str, way: &[&str]) -> Value {
    let policy = Regex::new("<meta http-equiv=\"Content-Security-Policy\"[^>]*>").unwrap();
    let script = format!(
        "<script>addEventListener('load', () => setTimeout(() => {{ const answer = document.createElement('output'); \
         answer.textContent = JSON.stringify((() => {{ {expression} }})()); document.body.append(answer); }}, 100))</script></body>"
    );
    let page = policy.replace(page, "").replace("</body>", &script);
    let dom = opened(&page, part, way).dom;
    let answer = dom
        .rsplit_once("<output>")
        .and_then(|(_, rest)| rest.split_once("</output>"));
    let (answer, _) = answer.unwrap_or_else(|| panic!("no answer in {dom}"));
    let answer = answer
        .replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&amp;", "&");
    serde_json::from_str(&answer).unwrap()
}

fn without_style(page: &str) -> String {
    let style = Regex::new("(?s)<style>.*</style>").unwrap();
    style.replace(page, "").into_owned()
}

/// The names of all elements, in order.
fn tags(page: &str) -> Vec<String> {
    let tag = Regex::new("<([a-z][a-z0-9]*)").unwrap();
    tag.captures_iter(page)
        .map(|found| found[1].to_owned())
        .collect()
}

#[test]
fn the_browser_reads_the_page_as_it_was_meant_says_nothing_and_asks_for_nothing() {
    let page = page();
    let seen = opened(&page, "", &[]);
    assert_eq!(seen.console, Vec::<String>::new());
    assert_eq!(seen.asked, Vec::<String>::new());
    // Nothing was closed, moved or added by a parser that had to guess.
    assert_eq!(tags(&seen.dom), tags(&page));
}

#[test]
fn a_page_that_says_and_asks_something_would_be_noticed() {
    let talker = "<!DOCTYPE html><title>t</title><img src='http://127.0.0.1:9/x.png'><script>console.log('hello')</script>";
    let seen = opened(talker, "", &[]);
    assert!(
        seen.console.iter().any(|line| line.contains("hello")),
        "{:?}",
        seen.console
    );
    assert!(
        seen.asked.iter().any(|url| url.ends_with("x.png")),
        "{:?}",
        seen.asked
    );
    let moved = "<!DOCTYPE html><title>t</title><p><table><tr><td>x</table>";
    assert_ne!(tags(&opened(moved, "", &[]).dom), tags(moved));
}

#[test]
fn the_page_fits_every_width_with_its_style_and_without() {
    for page in [page(), without_style(&page())] {
        for width in [360, 768, 1400] {
            let size = format!("--window-size={width},900");
            let expression = "return [document.documentElement.scrollWidth, innerWidth]";
            let answer = asked(&page, expression, "", &[&size]);
            let (needed, there) = (answer[0].as_u64().unwrap(), answer[1].as_u64().unwrap());
            // Without its style a wide table scrolls with the page, and only that.
            let is_styled = page.contains("<style>");
            assert!(
                needed <= there || !is_styled && width < 768,
                "{needed} at a width of {there}"
            );
        }
    }
}

#[test]
fn every_label_of_a_chart_can_be_read_at_every_width() {
    let expression = r"
        const bad = []; let labels = 0;
        for (const chart of document.querySelectorAll('svg.chart')) {
            const box = chart.getBoundingClientRect();
            if (!box.width) continue;
            let before = [];
            for (const label of chart.querySelectorAll('text')) {
                const it = label.getBoundingClientRect(), told = [innerWidth, chart.textContent.slice(0, 30), label.textContent];
                const height = parseFloat(getComputedStyle(label).fontSize) * box.width / chart.viewBox.baseVal.width;
                labels += 1;
                if (height < 9) bad.push([...told, 'is small', height]);
                if (it.left < box.left || it.right > box.right || it.top < box.top || it.bottom > box.bottom) bad.push([...told, 'is cut']);
                for (const other of before) {
                    if (it.left < other.right && other.left < it.right && it.top + 2 < other.bottom && other.top + 2 < it.bottom) bad.push([...told, 'is covered']);
                }
                before.push(it);
            }
        }
        return [labels, bad]";
    for page in [page(), SEARCH_PAGE.clone()] {
        for width in [390, 700, 1200] {
            let size = format!("--window-size={width},900");
            let answer = asked(&page, expression, "", &[&size]);
            assert!(answer[0].as_u64().unwrap() >= 6, "{answer}");
            assert_eq!(answer[1], Value::Array(Vec::new()), "at {width}");
        }
    }
}

#[test]
fn without_its_style_the_page_tells_the_same_in_the_same_order() {
    let words = asked(
        &without_style(&page()),
        "return document.body.innerText",
        "",
        &[],
    );
    let words = words.as_str().unwrap();
    let mut rest = words;
    for part in [
        "evolve report parser",
        "You are needed. 6 of 7 goals pass",
        "What waits for you",
        "release-notes was declined by the agent",
        "Fitness",
        "From 25 to 94.44 over 10 cycles",
        "Goals by cycle",
        "tests-pass weight 9",
        "Measured values",
        "41.5 → 83.1; at least 80",
        "Cycles",
        "regressed undone",
        "Queue",
        "Cost",
        "Provenance",
        "SHA-256 of the history",
    ] {
        let found = rest.split_once(part);
        rest = found
            .unwrap_or_else(|| panic!("{part} is not where it belongs in\n{words}"))
            .1;
    }
}

#[test]
fn every_word_stands_out_from_its_ground_in_light_and_in_dark() {
    let expression = r"
        for (const it of document.querySelectorAll('details')) it.open = true;
        const part = text => text.match(/[\d.]+/g).map(Number);
        const light = colour => { const [r, g, b] = colour.map(c => (c /= 255) <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
            return 0.2126 * r + 0.7152 * g + 0.0722 * b + 0.05; };
        const ground = it => { for (; it; it = it.parentElement) { const c = part(getComputedStyle(it).backgroundColor);
            if (c.length < 4 || c[3] > 0) return c.slice(0, 3); } return [255, 255, 255]; };
        const faint = []; let words = 0;
        const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
        while (walk.nextNode()) {
            const it = walk.currentNode.parentElement;
            if (!walk.currentNode.data.trim() || /^(script|title|desc)$/i.test(it.tagName)) continue;
            const style = getComputedStyle(it), drawn = it.tagName === 'text';
            const [a, b] = [light(part(drawn ? style.fill : style.color).slice(0, 3)), light(ground(it))];
            const contrast = Math.max(a, b) / Math.min(a, b); words += 1;
            if (contrast < 4.5) faint.push([it.outerHTML.slice(0, 80), contrast]);
        }
        return [words, faint, getComputedStyle(document.body).backgroundColor]";
    let mut grounds = Vec::new();
    for scheme in ["0", "1"] {
        let way = format!("--blink-settings=preferredColorScheme={scheme}");
        let answer = asked(&page(), expression, "", &[&way]);
        assert!(answer[0].as_u64().unwrap() > 400, "{answer}");
        assert_eq!(answer[1], Value::Array(Vec::new()));
        grounds.push(answer[2].clone());
    }
    assert_ne!(grounds[0], grounds[1], "dark is light");
}

#[test]
fn a_link_to_a_cycle_opens_it() {
    let expression =
        "return [...document.querySelectorAll('details[open] h3')].map(it => it.textContent)";
    let open = |part| asked(&page(), expression, part, &[]);
    assert_eq!(open(""), serde_json::json!([]));
    assert_eq!(open("#cycle-7"), serde_json::json!(["Cycle 7: parse-time"]));
}
