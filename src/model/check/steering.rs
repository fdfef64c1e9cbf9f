//! The files that steer programs: a tool finds them by their names. The names are those of the tools' own documentation: npm's page
//! `npmrc`, Yarn's and pnpm's pages on their settings, Bun's on `bunfig.toml`, rustup's chapter on overrides, Cargo's on
//! configuration and build scripts, Maven's `Configuring Apache Maven`, Gradle's `Build environment`, Go's on workspaces, git's
//! `gitattributes`, and each tool's page on where it looks for its settings; `settings` knows those that have a form in common. Pure.

/// Returns the names of files that the program loads from whatever folder they lie in: most linters take the nearest settings.
pub fn anywhere(name: &str, subcommand: Option<&str>) -> &'static [&'static str] {
    match (name, subcommand) {
        ("pytest" | "py.test", _) => &[
            "conftest.py",
            "sitecustomize.py",
            "sitecustomize/__init__.py",
            "usercustomize.py",
            "usercustomize/__init__.py",
            // With arguments, the settings of their common folder count.
            "pytest.toml",
            ".pytest.toml",
            "pytest.ini",
            ".pytest.ini",
            ".coveragerc",
            ".coveragerc.toml",
        ],
        ("python" | "pypy", _) => &[
            "sitecustomize.py",
            "sitecustomize/__init__.py",
            "usercustomize.py",
            "usercustomize/__init__.py",
        ],
        ("cargo", Some("fmt")) | ("rustfmt", _) => &[".rustfmt.toml", "rustfmt.toml"],
        ("cargo", Some("clippy")) => &["build.rs", ".clippy.toml", "clippy.toml"],
        ("cargo", Some("deny" | "audit" | "metadata" | "tree")) => &[],
        ("cargo", _) => &["build.rs"],
        // What git leaves out, they leave out.
        ("ag" | "biome" | "black" | "fd" | "prettier" | "rg" | "ruff" | "tokei" | "typos", _) => {
            &[".gitignore"]
        }
        ("shellcheck", _) => &["shellcheckrc"],
        ("git", Some("status")) => &[".gitignore"],
        ("git", Some("diff" | "grep" | "log" | "show")) => &[".gitattributes"],
        ("go", _) => &["modules.txt"],
        ("npm" | "npx", _) => &["package-lock.json", "npm-shrinkwrap.json"],
        ("pnpm", _) => &["pnpm-lock.yaml"],
        ("yarn", _) => &["yarn.lock"],
        ("uv" | "uvx", _) => &["uv.lock"],
        ("poetry", _) => &["poetry.lock"],
        ("pdm", _) => &["pdm.lock"],
        ("deno", _) => &["deno.lock"],
        ("composer", _) => &["composer.lock"],
        ("bun" | "bunx", _) => &["bun.lock", "bun.lockb"],
        ("pipenv", _) => &["Pipfile", "Pipfile.lock"],
        ("bundle" | "bundler", _) => &["Gemfile", "Gemfile.lock"],
        ("mvn" | "mvnw", _) => &["pom.xml"],
        ("gradle" | "gradlew", _) => &[
            "build.gradle",
            "build.gradle.kts",
            "settings.gradle",
            "settings.gradle.kts",
            "gradle.properties",
            "gradle.lockfile",
        ],
        ("rspec", _) => &["spec_helper.rb", "rails_helper.rb"],
        ("cmake" | "ctest" | "cpack", _) => &[
            "CMakeLists.txt",
            "CMakePresets.json",
            "CMakeUserPresets.json",
            "CTestCustom.cmake",
        ],
        ("docker" | "docker-compose" | "podman", _) => &[
            "Dockerfile",
            "compose.yaml",
            "compose.yml",
            "compose.override.yaml",
            "compose.override.yml",
            "docker-compose.yml",
            "docker-compose.yaml",
            "docker-compose.override.yml",
            "docker-compose.override.yaml",
        ],
        ("dotnet", _) => &[
            "Directory.Build.props",
            "Directory.Build.targets",
            "Directory.Packages.props",
            "NuGet.Config",
            "global.json",
            "nuget.config",
            "packages.lock.json",
        ],
        ("meson", _) => &["meson.build", "meson.options", "meson_options.txt"],
        ("dune", _) => &["dune", "dune-project"],
        ("helm", _) => &["Chart.yaml", "values.yaml"],
        ("bazel" | "bazelisk", _) => &["BUILD", "BUILD.bazel", "MODULE.bazel", "WORKSPACE"],
        ("mix", _) => &["mix.exs", "mix.lock", ".formatter.exs", ".credo.exs"],
        ("R" | "Rscript", _) => &[".Rprofile", ".Renviron"],
        ("ghc" | "ghci" | "runghc", _) => &[".ghci"],
        ("cabal", _) => &[
            "cabal.project",
            "cabal.project.freeze",
            "cabal.project.local",
        ],
        ("sbt", _) => &["build.sbt", ".sbtopts", ".jvmopts"],
        ("lein", _) => &["project.clj", "profiles.clj"],
        ("scons", _) => &["SConstruct", "SConscript", "site_init.py"],
        ("ng", _) => &["angular.json"],
        ("terraform" | "tofu", Some("validate" | "plan" | "test")) => &["override.tf"],
        ("zig", _) => &["build.zig"],
        ("swift", _) => &["Package.swift", "Package.resolved"],
        ("dart" | "flutter", _) => &[
            "analysis_options.yaml",
            "dart_test.yaml",
            "flutter_test_config.dart",
            "pubspec.lock",
            "pubspec.yaml",
        ],
        ("nx", _) => &["project.json"],
        ("sphinx-build", _) => &["conf.py"],
        _ => &[],
    }
}

/// Returns patterns of files that steer a program, seen from where it is called: what it loads of a folder.
pub fn folders(name: &str) -> &'static [&'static str] {
    match name {
        "rake" => &["rakelib/*.rake"],
        "mise" => &["mise-tasks/*", ".mise/tasks/*", ".config/mise/tasks/*"],
        "yarn" => &[".yarn/releases/*", ".yarn/plugins/*"],
        "gradle" | "gradlew" => &["buildSrc/**", "config/checkstyle/*", "config/detekt/*"],
        "bazel" | "bazelisk" => &["**/*.bzl"],
        "cabal" => &["*.cabal"],
        "mage" => &["magefiles/*.go"],
        "husky" => &[".husky/*"],
        "act" => &[".github/workflows/*"],
        "invoke" | "inv" => &["tasks/*.py"],
        _ => &[],
    }
}

/// Groups of names of files.
pub type Groups = &'static [&'static [&'static str]];

/// Returns files that count in place of each other across the groups of `steering`: pytest reads only one of them.
pub fn orders(name: &str, _subcommand: Option<&str>) -> Groups {
    match name {
        "pytest" | "py.test" => &[
            &[
                "pytest.toml",
                ".pytest.toml",
                "pytest.ini",
                ".pytest.ini",
                "pyproject.toml",
            ],
            &[
                "pytest.toml",
                ".pytest.toml",
                "pytest.ini",
                ".pytest.ini",
                "tox.ini",
            ],
            &[
                "pytest.toml",
                ".pytest.toml",
                "pytest.ini",
                ".pytest.ini",
                "setup.cfg",
            ],
        ],
        _ => &[],
    }
}

/// Cargo's own settings; where both lie, the first counts.
const CARGO_CONFIG: &[&str] = &[".cargo/config", ".cargo/config.toml"];
/// Which cargo and rustc rustup runs; where both lie, the first counts.
const TOOLCHAIN: &[&str] = &["rust-toolchain", "rust-toolchain.toml"];
/// What is built, and which tests there are.
const MANIFEST: &[&str] = &["Cargo.toml"];
/// What cargo builds and runs before anything else.
const BUILD: &[&str] = &["build.rs"];

/// Returns the files that steer `name`, called with `subcommand`: in each group the first that exists counts.
pub fn steering(name: &str, subcommand: Option<&str>) -> Groups {
    match (name, subcommand) {
        ("make" | "gmake", _) => &[&["GNUmakefile", "makefile", "Makefile"]],
        ("npm", _) => &[&["package.json"], &[".npmrc"]],
        ("pnpm", _) => &[
            &["package.json"],
            &[".npmrc"],
            &["pnpm-workspace.yaml"],
            &[".pnpmfile.mjs", ".pnpmfile.cjs"],
        ],
        ("yarn", _) => &[
            &["package.json"],
            &[".npmrc"],
            &[".yarnrc"],
            &[".yarnrc.yml"],
            &[".pnp.cjs"],
            &[".pnp.loader.mjs"],
        ],
        ("bun", _) => &[&["package.json"], &["bunfig.toml"]],
        ("deno", Some("task")) => &[&["deno.json", "deno.jsonc"], &["package.json"]],
        ("deno", _) => &[&["deno.json", "deno.jsonc"]],
        ("just", _) => &[&["justfile", "Justfile", ".justfile"]],
        ("task", _) => &[&[
            "Taskfile.yml",
            "taskfile.yml",
            "Taskfile.yaml",
            "taskfile.yaml",
            "Taskfile.dist.yml",
            "taskfile.dist.yml",
            "Taskfile.dist.yaml",
            "taskfile.dist.yaml",
        ]],
        ("rake", _) => &[&["rakefile", "Rakefile", "rakefile.rb", "Rakefile.rb"]],
        ("mise", _) => &[
            &[".mise.toml"],
            &["mise.toml"],
            &["mise/config.toml"],
            &[".config/mise.toml"],
        ],
        ("poe", _) => &[&["pyproject.toml"], &["poe_tasks.toml"]],
        ("invoke" | "inv", _) => &[&["tasks.py", "tasks/__init__.py"], &["invoke.yaml"]],
        ("fab", _) => &[&["fabfile.py", "fabfile/__init__.py"]],
        ("doit", _) => &[&["dodo.py"], &["pyproject.toml"], &["doit.cfg"]],
        ("snakemake", _) => &[&["Snakefile", "workflow/Snakefile"]],
        ("scons", _) => &[&["SConstruct", "Sconstruct", "sconstruct", "SConstruct.py"]],
        ("waf", _) => &[&["wscript"]],
        ("earthly", _) => &[&["Earthfile"]],
        ("doxygen", _) => &[&["Doxyfile"]],
        ("ninja", _) => &[&["build.ninja"]],
        ("sbt", _) => &[
            &["build.sbt"],
            &["project/plugins.sbt"],
            &["project/build.properties"],
        ],
        ("lein", _) => &[&["project.clj"]],
        ("clj" | "clojure", _) => &[&["deps.edn"]],
        ("cabal", _) => &[&["cabal.project"]],
        ("rebar", _) => &[&["rebar.config"]],
        ("mix", Some("credo")) => &[&[".credo.exs"]],
        ("mage", _) => &[&["magefile.go"]],
        ("buck" | "buck2", _) => &[&[".buckconfig"], &["BUCK"]],
        ("lefthook", _) => &[&["lefthook.yml", ".lefthook.yml", "lefthook.yaml"]],
        ("karma", _) => &[&["karma.conf.js", "karma.conf.ts"]],
        ("lhci", _) => &[&["lighthouserc.js", ".lighthouserc.js", "lighthouserc.json"]],
        ("depcruise" | "dependency-cruiser", _) => &[&[
            ".dependency-cruiser.json",
            ".dependency-cruiser.js",
            ".dependency-cruiser.cjs",
            ".dependency-cruiser.mjs",
        ]],
        ("knip", _) => &[&["knip.ts", "knip.js"]],
        ("type-coverage", _) => &[&["tsconfig.json"]],
        ("lint-imports", _) => &[&["setup.cfg"], &[".importlinter"], &["pyproject.toml"]],
        ("pytest" | "py.test", _) => &[
            &["conftest.py"],
            &["tests/conftest.py"],
            &["pytest.toml"],
            &[".pytest.toml"],
            &["pytest.ini"],
            &[".pytest.ini"],
            &["tox.ini"],
            &["setup.cfg"],
            &["pyproject.toml"],
        ],
        ("python" | "pypy", _) => &[&["sitecustomize.py"], &["usercustomize.py"]],
        ("tox", _) => &[&["tox.ini"], &["setup.cfg"], &["pyproject.toml"]],
        ("nox", _) => &[&["noxfile.py"]],
        ("coverage", _) => &[&[".coveragerc"], &["setup.cfg"], &["pyproject.toml"]],
        ("cargo", Some("clippy")) => &[
            CARGO_CONFIG,
            TOOLCHAIN,
            BUILD,
            MANIFEST,
            &[".clippy.toml", "clippy.toml"],
        ],
        ("cargo", Some("fmt")) => &[CARGO_CONFIG, TOOLCHAIN, &[".rustfmt.toml", "rustfmt.toml"]],
        ("cargo", Some("audit")) => &[CARGO_CONFIG, TOOLCHAIN, &[".cargo/audit.toml"]],
        ("cargo", Some("make")) => &[CARGO_CONFIG, TOOLCHAIN, &["Makefile.toml"]],
        ("cargo", Some("mutants")) => &[
            CARGO_CONFIG,
            TOOLCHAIN,
            BUILD,
            MANIFEST,
            &[".cargo/mutants.toml"],
        ],
        ("cargo", Some("tarpaulin")) => &[
            CARGO_CONFIG,
            TOOLCHAIN,
            BUILD,
            MANIFEST,
            &[".tarpaulin.toml", "tarpaulin.toml"],
        ],
        ("cargo", Some("deny")) => &[CARGO_CONFIG, TOOLCHAIN, &["deny.toml"]],
        ("cargo", Some("nextest")) => &[
            CARGO_CONFIG,
            TOOLCHAIN,
            BUILD,
            MANIFEST,
            &[".config/nextest.toml"],
        ],
        ("cargo", _) => &[CARGO_CONFIG, TOOLCHAIN, BUILD, MANIFEST],
        ("rustc" | "rustdoc", _) => &[TOOLCHAIN],
        ("rustfmt", _) => &[TOOLCHAIN, &[".rustfmt.toml", "rustfmt.toml"]],
        ("go" | "gofmt" | "govulncheck" | "staticcheck", _) => &[&["go.work"], &["go.mod"]],
        ("git", Some("archive" | "diff" | "grep" | "log" | "show")) => &[&[".gitattributes"]],
        ("prek", _) => &[
            &["prek.toml"],
            &[".pre-commit-config.yaml"],
            &[".pre-commit-config.yml"],
        ],
        ("pre-commit" | "pre_commit", _) => &[&[".pre-commit-config.yaml"]],
        ("eslint", _) => &[
            &[
                "eslint.config.js",
                "eslint.config.mjs",
                "eslint.config.cjs",
                "eslint.config.ts",
            ],
            &[
                ".eslintrc.js",
                ".eslintrc.cjs",
                ".eslintrc.yaml",
                ".eslintrc.yml",
                ".eslintrc.json",
                ".eslintrc",
            ],
            &[".eslintignore"],
        ],
        ("prettier", _) => &[
            &[".prettierrc", ".prettierrc.json", "prettier.config.js"],
            &[".prettierignore"],
        ],
        ("biome", _) => &[&["biome.json", "biome.jsonc"]],
        ("tsc", _) => &[&["tsconfig.json"], &["tsconfig.base.json"]],
        ("jest", _) => &[
            &[
                "jest.config.js",
                "jest.config.ts",
                "jest.config.mjs",
                "jest.config.cjs",
                "jest.config.json",
            ],
            &["package.json"],
        ],
        ("mocha", _) => &[
            &[
                ".mocharc.js",
                ".mocharc.cjs",
                ".mocharc.yaml",
                ".mocharc.yml",
                ".mocharc.jsonc",
                ".mocharc.json",
            ],
            &["package.json"],
        ],
        ("vitest", _) => &[
            &[
                "vitest.config.ts",
                "vitest.config.js",
                "vitest.config.mts",
                "vitest.config.mjs",
                "vite.config.ts",
                "vite.config.js",
                "vite.config.mts",
                "vite.config.mjs",
            ],
            &["vitest.workspace.ts", "vitest.workspace.js"],
        ],
        ("ruff", _) => &[&[".ruff.toml", "ruff.toml", "pyproject.toml"]],
        ("black" | "isort", _) => &[&["pyproject.toml"]],
        ("mypy", _) => &[&["mypy.ini", ".mypy.ini", "pyproject.toml", "setup.cfg"]],
        ("pyright", _) => &[&["pyrightconfig.json", "pyproject.toml"]],
        // Its name, as the name of a program, loses its version.
        ("flake8" | "flake", _) => &[&[".flake8", "setup.cfg", "tox.ini"]],
        ("pylint", _) => &[&["pylintrc", ".pylintrc", "pyproject.toml"]],
        ("shellcheck", _) => &[&[".shellcheckrc", "shellcheckrc"]],
        ("yamllint", _) => &[&[".yamllint", ".yamllint.yaml", ".yamllint.yml"]],
        ("markdownlint" | "markdownlint-cli", _) => {
            &[&[".markdownlint.json", ".markdownlint.yaml"]]
        }
        ("hadolint", _) => &[&[".hadolint.yaml", ".hadolint.yml"]],
        ("rubocop", _) => &[&[".rubocop.yml"]],
        ("golangci-lint", _) => &[&[".golangci.yml", ".golangci.yaml", ".golangci.toml"]],
        ("phpunit", _) => &[&["phpunit.xml", "phpunit.xml.dist"]],
        ("gradle" | "gradlew", _) => &[
            &["build.gradle", "build.gradle.kts"],
            &["settings.gradle", "settings.gradle.kts"],
            &["gradle.properties"],
            &["gradle/libs.versions.toml"],
            &["gradle/wrapper/gradle-wrapper.properties"],
        ],
        ("mvn" | "mvnw", _) => &[
            &["pom.xml"],
            &[".mvn/maven.config"],
            &[".mvn/jvm.config"],
            &[".mvn/extensions.xml"],
            &[".mvn/settings.xml"],
            &[".mvn/maven.properties"],
            &[".mvn/wrapper/maven-wrapper.properties"],
        ],
        _ => &[],
    }
}
