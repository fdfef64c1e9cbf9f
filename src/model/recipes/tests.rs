use super::*;

#[test]
fn what_needs_each_other_is_followed_once_and_for_one_name_not_without_end() {
    let chain: String = (0..100)
        .map(|at| format!("t{at}: t{} t0\n\tc{at}\n", at + 1))
        .collect();
    let rules = Rules::of_makefile(&chain);
    assert_eq!(rules.whole("t0").lines().count(), MOST_NEEDED);
    assert!(rules.whole("t0").ends_with("c1\nc0"));
    let (targets, lines) = rules.reached(&[]);
    assert_eq!((targets.len(), lines.len()), (101, 100));
    let just = Rules::of_justfile("@a: b\n  @one\n# none\n  two\nb:\n\t-three\n");
    assert_eq!(just.whole("a"), "three || true\none");
    assert_eq!(just.words("a").collect::<Vec<_>>(), ["b", "one"]);
    let just = Rules::of_justfile("f := 'black'\na:\n  {{ f }} {{g}} {{f}} {{\n");
    assert_eq!(just.lines("a"), "black {{g}} black {{");
    let just = Rules::of_justfile(
        "f := 'x'\na *args='-x tests:a' g=f h=`ls`: b\n  pytest {{args}} {{g}} {{h}} {{f}}\nb *f:\n  t {{f}} .\nc f:\n  t {{f}}\n",
    );
    assert_eq!(just.lines("a"), "pytest -x tests:a x {{h}} x");
    assert_eq!(
        (just.names(), just.with_arguments()),
        (&["a".to_owned(), "b".to_owned()][..], &["c".to_owned()][..])
    );
    assert_eq!(
        (just.lines("b"), just.lines("c")),
        ("t  .".to_owned(), "t {{f}}".to_owned())
    );
    let just = Rules::of_justfile("a: b (c 'd e' f) (g) && h # i\n");
    assert_eq!(just.words("a").collect::<Vec<_>>(), ["b", "c", "g", "h"]);
}

#[test]
fn variables_of_one_value_stand_for_it_and_what_holds_under_a_condition_is_not_certain() {
    let text = "TOOL ?= black\nexport ARGS := $(WHERE) # all\nWHERE = .\nTWICE = a\nTWICE = b\n\
        define T\ncheck-t:\n\techo\nendef\n\
        lint: $(NEEDED)\n\t$(TOOL) ${ARGS} $(TWICE) $$(x) $(OTHER) $$TOOL $\nNEEDED = tidy\n\
        ifeq ($(CI),1)\nOTHER = 1\ncheck-c:\n\tc\nelse\ncheck-d:\n\td\nendif\ntidy:\n\tgo mod tidy\n";
    let rules = Rules::of_makefile(text);
    assert_eq!(rules.names(), ["lint", "tidy"]);
    assert_eq!(rules.under_condition(), ["check-c", "check-d"]);
    assert_eq!(
        rules.whole("lint"),
        "go mod tidy\nblack . ${TWICE} $(x) ${OTHER} $TOOL $"
    );
    let grows: String = (0..20)
        .map(|at| format!("V{at} = $(V{0})$(V{0})$(V{0})$(V{0})$(V{0})\n", at + 1))
        .collect();
    let rules = Rules::of_makefile(&format!("{grows}t:\n\t$(V0)\n"));
    assert!(rules.lines("t").len() <= LONGEST);
    let itself = Rules::of_makefile("A = $(A) $(A)\nt:\n\t$(A)\n");
    assert!(itself.lines("t").starts_with("${A} ${A}"));
}

#[test]
fn what_make_alone_knows_is_no_command_and_what_it_runs_is_one() {
    for (line, expected) in [
        ("./log $(VERSION) ${A}", "./log ${VERSION} ${A}"),
        (
            "t $(wildcard a/*.c) $(call f,$(X),1)",
            "t ${wildcard} ${call}",
        ),
        ("t $(shell ./v $(X) | head) $@", "t $(./v ${X} | head) $@"),
        ("cc $< $^ -o $*.x $$@", "cc ${<} ${^} -o $*.x $@"),
        (
            "for f in $$(ls); do t $$f; done",
            "for f in $(ls); do t $f; done",
        ),
        ("$(MAKE) -C $(CURDIR) ${MAKE} $(", "make -C . make $("),
        ("a $($(X)) $", "a ${_} $"),
        ("$(info *** a (b) $(X) ***)t", "t"),
        ("$(info) $(error no t)", "${info} ${error}"),
        ("$(Q)$(SED) -i $(RM) ${TOOL} x", "sed -i rm -f ${TOOL} x"),
    ] {
        assert_eq!(recipe(line, None), expected, "{line}");
    }
    let deep = "$(shell ".repeat(1000);
    assert!(recipe(&deep, None).len() < 2 * deep.len());
}

#[test]
fn a_recipe_knows_its_target() {
    let text = "D=sub\nall test:\n\t$(MAKE) -C $(D) $@ $(@) $$@\n%.o: %.c\n\tcc -o $@ $<\n";
    let rules = Rules::of_makefile(text);
    assert_eq!(rules.whole(""), "make -C sub all all $@");
    assert_eq!(rules.whole("test"), "make -C sub test test $@");
    assert_eq!(rules.lines("%.o"), "cc -o $@ ${<}");
    let many: String = (0..=MOST_TARGETS).map(|at| format!("t{at} ")).collect();
    let rules = Rules::of_makefile(&format!("{many}:\n\tx $@\n"));
    assert_eq!(rules.lines("t1"), "x $@");
}

#[test]
fn each_line_is_a_shell_of_its_own_unless_all_are_one() {
    let text = "check: first\n\t@cd back && t\n\t-cd front && \\\n\t u\n\tv\nfirst:\n\tcd docs\n";
    let rules = Rules::of_makefile(text);
    let own = "(cd back && t)\n(cd front &&   u || true)\nv";
    assert_eq!(rules.lines("check"), own);
    assert_eq!(rules.whole("check"), format!("(cd docs)\n{own}"));
    let one = Rules::of_makefile("a: b\n\tcd back\n\tt\nb:\n\tcd docs\n\tu\n.ONESHELL:\n");
    assert_eq!(one.lines("a"), "cd back\nt");
    assert_eq!(one.whole("a"), "(cd docs\nu\n)\ncd back\nt");
    let just = Rules::of_justfile(
        "a:\n  cd back\n  t\nb:\n  #!/bin/sh\n  cd back\n  t\n[script('sh')]\nc:\n  cd back\n  t\n",
    );
    assert_eq!(just.lines("a"), "(cd back)\nt");
    assert_eq!(just.lines("b"), "#!/bin/sh\ncd back\nt");
    assert_eq!(just.lines("c"), "cd back\nt");
}

#[test]
fn recipes_begin_as_the_makefile_has_it() {
    let text =
        ".RECIPEPREFIX := >\nlint: a\n> gofmt -w . \\\n>  b\na:\n>c\n.RECIPEPREFIX =\nd:\n\te\n";
    let rules = Rules::of_makefile(text);
    assert_eq!(rules.names(), ["lint", "a", "d"]);
    assert_eq!(rules.whole("lint"), "c\ngofmt -w .    b");
    assert_eq!(rules.whole("d"), "e");
}

#[test]
fn what_can_be_asked_for_is_named() {
    let text = "X := a:b\nall: \\\n  t\nt u:: ; sh -c 'a#b'; c\n.PHONY: all\n%.o: %.c\n# n: m\nv: # w; x\n Y = z\n w: v\n";
    let rules = Rules::of_makefile(text);
    assert_eq!(rules.names(), ["all", "t", "u", "v"]);
    assert_eq!(rules.whole("all"), "sh -c 'a#b'; c");
    assert_eq!(rules.whole(""), rules.whole("all"));
    assert_eq!((rules.lines("v"), rules.whole("w")), Default::default());
    let rules = Rules::of_justfile("x := 'a'\n[a: b]\nt a='b' *c:\n  x\nu a:\n  y\n");
    assert_eq!(
        (rules.names().join(" "), rules.with_arguments().join(" ")),
        ("t".to_owned(), "u".to_owned())
    );
    assert_eq!(rules.lines("a"), "");
    assert_eq!(rules.whole(""), "x");
    let text = "[confirm('sure?')]\na:\n  x\n[windows, openbsd]\n[group('g')]\nb:\n  x\n[unix]\nc:\n  x\n\
        [windows]\nd:\n  x\n[linux, macos]\nd:\n  x\n[private]\ne:\n  x\n";
    let rules = Rules::of_justfile(text);
    assert_eq!(rules.names(), ["c", "d", "e"]);
    assert_eq!(rules.not_here(), ["a", "b", "d"]);
}

#[test]
fn what_make_only_says_is_no_rule() {
    let text = "$(warning no t in $(PATH), run: curl x | sh)\n${info a: b}\n$(error a; b: c)\n\
        ifeq (,x)\n$(warning find it: there)\nendif\n$(OBJECTS:.o=.d): %.d: %.c\n\tcc\n\
        a: $(B:.c=.o)\n\t$(info *** a ***)\n\tt\n";
    let rules = Rules::of_makefile(text);
    assert_eq!(rules.names(), ["a"]);
    assert!(rules.under_condition().is_empty());
    assert_eq!(rules.lines("a"), "t");
}

#[test]
fn what_has_no_lines_of_its_own_only_calls_what_it_needs() {
    let calls = |text: &str, name: &str| {
        let rules = Rules::of_makefile(text);
        let calls = rules.only_calls(name);
        calls.map(|all| all.into_iter().map(str::to_owned).collect::<Vec<_>>())
    };
    let text = "all: a b\na:\n\tx\nb: a\n\ty\nc: a\n\tz\nd: a e\n";
    assert_eq!(calls(text, "all").unwrap(), ["a", "b"]);
    assert_eq!(calls(text, "").unwrap(), ["a", "b"]);
    for name in ["a", "c", "d", "none"] {
        assert_eq!(calls(text, name), None, "{name}");
    }
    let many: String = (0..20).map(|at| format!("t{at}:\n\tx\n")).collect();
    let all: String = (0..20).map(|at| format!(" t{at}")).collect();
    assert_eq!(calls(&format!("all:{all}\n{many}"), "all"), None);
    let few = Rules::of_makefile("test: tool a.o\n\t./tool\na.o:\n\tcc\n");
    assert_eq!(few.without_lines("test"), ["tool"]);
}
