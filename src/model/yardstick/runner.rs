//! What new tests can do to the others, as runners load all of them into one program. Pure.

/// Says whether a new test with this text can end the program that runs all tests, its own among them: what was found until then is not
/// told, and the program may say that all is well. One of Python's that only expects SystemExit ends nothing, nor does a `process.exit`
/// that the text mocks, and never gives back.
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
    ENDING.iter().any(|it| text.contains(it))
        || text.contains("process.exit") && !mocks_exit(text)
        || leaves(text)
}

/// Says whether a text of JavaScript's puts something in the place of `process.exit`.
fn mocks_exit(text: &str) -> bool {
    let is_bare = |c: &char| !c.is_whitespace() && !"'\"`".contains(*c);
    let lines = text
        .lines()
        .filter(|line| !line.trim_start().starts_with(['/', '*']));
    let bare: String = lines.flat_map(str::chars).filter(is_bare).collect();
    let ways = ["spyOn(process,exit).mock", "mock.method(process,exit,"];
    ways.iter().any(|way| bare.contains(way)) && !bare.to_lowercase().contains("restore")
}

/// Says whether a text of Python's may leave by SystemExit. What is expected, the name of what is mocked, and what stands in a text for
/// another program leave nothing.
fn leaves(text: &str) -> bool {
    const HARMLESS: [&str; 4] = ["aises(", "raise_error(", "patch(\"", "patch('"];
    let leaves = |line: &str| {
        let runs_texts = ["exec(", "eval("].iter().any(|it| line.contains(it));
        let mut ways = ["sys.exit", "SystemExit"].into_iter();
        ways.any(|way| {
            let mut all = line.match_indices(way);
            all.any(|(at, _)| {
                let before = &line[..at];
                let is_in_text = ['\'', '"']
                    .iter()
                    .any(|it| before.matches(*it).count() % 2 == 1);
                !HARMLESS.iter().any(|it| before.ends_with(it)) && (runs_texts || !is_in_text)
            })
        })
    };
    // Many a test can be run by itself, too.
    let mut is_alone = false;
    text.lines().any(|line| {
        if !line.is_empty() && !line.starts_with([' ', '\t']) {
            is_alone = line.starts_with("if __name__ == ");
        }
        !is_alone && leaves(line)
    })
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
                "def run():\n    with pytest.raises(SystemExit):\n        main()\n",
                false,
            ),
            ("def end():\n    sys.exit(0)\nsetUpModule = end\n", true),
            ("    self.addClassCleanup(sys.exit, 0)\n", true),
            (
                "def test_a():\n    exec(\"import sys; sys.exit(0)\")\n",
                true,
            ),
            (
                "def test_a():\n    pass\n\nif __name__ == '__main__':\n    sys.exit(main())\n",
                false,
            ),
            ("if __name__ == '__main__':\n    pass\nsys.exit(0)\n", true),
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
                "const s = vi.spyOn(process, 'exit').mockReturnValue(); s.mockRestore(); process.exit(0)",
                true,
            ),
            (
                "// vi.spyOn(process, 'exit').mockReturnValue()\nprocess.exit(0)",
                true,
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
