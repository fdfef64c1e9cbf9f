//! The programs that run scripts, and how they are told which. Pure.

/// How an interpreter is told what to run, by letters.
pub(super) struct Interpreter {
    /// What it is called.
    pub names: &'static [&'static str],
    /// Options with a value: the rest of the word, or the next one.
    pub takes: &'static str,
    /// Options that have the rest of their word as value.
    pub eats: &'static str,
    /// Options whose value is code.
    pub code: &'static str,
    /// Options by which it looks at a script, and does not run it.
    pub reads: &'static str,
}

const NONE: Interpreter = Interpreter {
    names: &[],
    takes: "",
    eats: "",
    code: "",
    reads: "",
};
/// Those that run scripts.
pub(super) const INTERPRETERS: &[Interpreter] = &[
    Interpreter {
        names: &["ash", "bash", "dash", "ksh", "mksh", "sh", "zsh"],
        takes: "oO",
        code: "cs",
        reads: "n",
        ..NONE
    },
    Interpreter {
        names: &["python", "pypy"],
        takes: "WX",
        code: "c",
        reads: "V",
        ..NONE
    },
    Interpreter {
        names: &["node", "nodejs", "ts-node", "tsx"],
        takes: "rC",
        code: "ep",
        reads: "cv",
        ..NONE
    },
    Interpreter {
        names: &["perl"],
        eats: "MmIFDCx",
        code: "eEi",
        reads: "cv",
        ..NONE
    },
    Interpreter {
        names: &["ruby", "jruby"],
        eats: "IrEWKTFxC",
        code: "ei",
        reads: "cv",
        ..NONE
    },
    Interpreter {
        names: &["php"],
        takes: "dcz",
        code: "rBRS",
        reads: "lvim",
        ..NONE
    },
    Interpreter {
        names: &["Rscript", "julia", "lua", "luajit"],
        code: "e",
        ..NONE
    },
];
