//! What new tests can do to the others, as runners load all of them into one program. Pure.

use std::collections::BTreeSet;

/// Says whether a new test with this text can end the program that runs all tests, its own among them: what was found until then is not
/// told, and the program may say that all is well. Not so a test of Python's that leaves by SystemExit: pytest and unittest take that for
/// its failure, and only where a module is loaded or set up for the end. A `process.exit` that the text mocks ends nothing.
pub fn ends_tests(text: &str) -> bool {
    const ENDING: [&str; 8] = [
        "os._exit",
        "os.abort",
        "os.exec",
        "os.kill",
        "pytest.exit",
        "process.abort",
        "os.Exit",
        "func TestMain(",
    ];
    // Many a test can be run by itself, too.
    let is_alone = text.contains("__main__");
    ENDING.iter().any(|it| text.contains(it))
        || text.contains("process.exit") && !mocks_exit(text)
        || !is_alone && leaves(text)
}

/// Says whether a text of JavaScript's puts something in the place of `process.exit`.
fn mocks_exit(text: &str) -> bool {
    let is_bare = |c: &char| !c.is_whitespace() && !"'\"`".contains(*c);
    let bare: String = text.chars().filter(is_bare).collect();
    let ways = ["spyOn(process,exit).mock", "mock.method(process,exit,"];
    ways.iter().any(|way| bare.contains(way))
}

/// Says whether a text of Python's leaves by SystemExit elsewhere than in a function that is called in tests alone: outside of all, in one
/// that sets up a module or a class, or where what stands outside names a function. What is expected, or the name of what is mocked,
/// leaves nothing.
fn leaves(text: &str) -> bool {
    const HARMLESS: [&str; 4] = ["aises(", "raise_error(", "patch(\"", "patch('"];
    const SETTING_UP: [&str; 5] = [
        "load_tests",
        "setUpClass",
        "setUpModule",
        "tearDownClass",
        "tearDownModule",
    ];
    let leaves = |line: &str| {
        let mut ways = ["sys.exit", "SystemExit"].into_iter();
        ways.any(|way| {
            let mut all = line.match_indices(way);
            all.any(|(at, _)| !HARMLESS.iter().any(|it| line[..at].ends_with(it)))
        })
    };
    let is_of_name = |c: char| c.is_alphanumeric() || c == '_';
    let mut functions: BTreeSet<&str> = BTreeSet::new();
    let mut outside: BTreeSet<&str> = BTreeSet::new();
    let mut is_left = false;
    // The outermost function in which a line stands, and how far that is indented.
    let mut function: Option<(usize, &str)> = None;
    for line in text.lines() {
        let code = line.trim_start();
        let indent = line.len() - code.len();
        // An empty line ends nothing, nor does the one that closes what a function takes.
        let is_within = code.is_empty() || code.starts_with(')');
        function = function.filter(|(at, _)| is_within || indent > *at);
        let plain = code.strip_prefix("async ").unwrap_or(code);
        if let (None, Some(rest)) = (function, plain.strip_prefix("def ")) {
            let name = rest.split(|c| !is_of_name(c)).next().unwrap_or_default();
            functions.insert(name);
            function = Some((indent, name));
        }
        match function {
            Some((_, name)) => {
                let is_left_here = leaves(line);
                if is_left_here && SETTING_UP.contains(&name) {
                    return true;
                }
                is_left |= is_left_here;
            }
            None if leaves(line) => return true,
            // A function that is called, handed on, or decorates.
            None if line.contains('(') || code.starts_with('@') => {
                outside.extend(line.split(|c| !is_of_name(c)));
            }
            None => {}
        }
    }
    is_left && !functions.is_disjoint(&outside)
}

/// Says whether a new test with this text can take the others out, or change for all of them what they test: runners load their test files
/// into one program.
pub fn changes_tests(text: &str) -> bool {
    const WAYS: [&str; 9] = [
        ".only(",
        "fcontext(",
        "fdescribe(",
        "fit(",
        "Object.defineProperty(require(",
        "require.cache",
        "sys.modules[",
        "focus: true",
        "proc ::",
    ];
    let is_word =
        |at: usize| !text[..at].ends_with(|c: char| c.is_alphanumeric() || "_.".contains(c));
    let is_there = |way: &&str| {
        let mut all = text.match_indices(*way);
        all.any(|(at, _)| way.starts_with('.') || is_word(at))
    };
    WAYS.iter().any(is_there) || text.lines().any(sets_of_another)
}

/// Says whether a line that stands in no function sets what belongs to another module: `calc.add = lambda a, b: 3`.
fn sets_of_another(line: &str) -> bool {
    let Some((place, value)) = line.split_once('=') else {
        return line.starts_with("setattr(");
    };
    let place = place.trim_end();
    let is_name = |name: &str| {
        name.starts_with(|c: char| c.is_alphabetic() || c == '_')
            && name.chars().all(|c| c.is_alphanumeric() || c == '_')
    };
    let mut names = place.split('.');
    let of = names.next().unwrap_or_default();
    let is_own = matches!(of, "exports" | "module" | "self" | "this");
    let place_of_another = place.contains('.') && is_name(of) && names.all(is_name) && !is_own;
    line.starts_with("setattr(") || place_of_another && !value.starts_with('=')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_test_changes_others_that_singles_out_or_sets_what_is_not_its_own() {
        for text in [
            "describe.only('mine', () => {})",
            "it.only('mine', () => {})",
            "  fit('mine', f)",
            "fdescribe('mine', f)",
            "import calc\ncalc.add = lambda a, b: a + b\n",
            "setattr(calc, 'add', add)\n",
            "sys.modules['calc'] = mine\n",
            "proc ::source args {}\n",
            "Object.defineProperty(require('../calc'), 'add', {})",
        ] {
            assert!(changes_tests(text), "{text}");
        }
        for text in [
            "it('adds', () => { calc.only = 1 })",
            "profit(3)\nmodel.fit(x, y)\n",
            "def test_add():\n    calc.add = 3\n",
            "module.exports = { f }\nexports.g = 1\n",
            "assert.equal(calc.add(1, 2), 3)\nif a.b == 3:\n    pass\n",
            "const x = calc.add\n",
        ] {
            assert!(!changes_tests(text), "{text}");
        }
    }

    #[test]
    fn a_test_that_can_end_its_runner_is_told_from_one_that_fails() {
        for (text, expected) in [
            ("import os\ndef test_a():\n    os._exit(0)\n", true),
            ("import sys\nsys.exit(0)\n", true),
            ("import sys\nif True:\n    sys.exit(0)\n", true),
            ("def setUpModule():\n    raise SystemExit(0)\n", true),
            (
                "class A(TestCase):\n    def setUpClass(cls):\n        sys.exit(0)\n",
                true,
            ),
            ("def test_a():\n    pass\nsys.exit(0)\n", true),
            ("with raises(SystemExit): sys.exit(1)\n", true),
            (
                "def test_a():\n    with pytest.raises(SystemExit) as e:\n        main()\n\n    assert e\n",
                false,
            ),
            (
                "class A(TestCase):\n    def test_a(\n        self,\n    ):\n        sys.exit(3)\n",
                false,
            ),
            (
                "def run():\n    with pytest.raises(SystemExit):\n        main()\n",
                false,
            ),
            (
                "\"\"\"Of main.\"\"\"\nimport sys\ndef main() -> None:\n    sys.exit(3)\n\ndef test_a():\n    with pytest.raises(SystemExit):\n        main()\n",
                false,
            ),
            ("def run():\n    sys.exit(0)\n\nrun()\n", true),
            (
                "def run(f):\n    sys.exit(0)\n\n@run\ndef a(): pass\n",
                true,
            ),
            (
                "def end():\n    sys.exit(0)\ndef run():\n    end()\nclass A:\n    run()\n",
                true,
            ),
            (
                "@patch(\"sys.exit\")\nasync def test_a(exit):\n    main()\n",
                false,
            ),
            (
                "def test_a():\n    subprocess.run([exe, '-c', 'import sys; sys.exit(0)'])\n",
                false,
            ),
            ("it('a', () => { process.exit(0) })", true),
            ("vi.spyOn(process, 'exit'); process.exit(0)", true),
            (
                "vi.spyOn(process, \"exit\")\n  .mockImplementation(() => {}); expect(process.exit).toBeCalled()",
                false,
            ),
            (
                "t.mock.method(process, 'exit', () => {}); process.exit(0)",
                false,
            ),
            (
                "vi.spyOn(process, 'exit').mockReturnValue(); process.abort()",
                true,
            ),
        ] {
            assert_eq!(ends_tests(text), expected, "{text}");
        }
    }
}
