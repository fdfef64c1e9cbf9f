use super::*;

/// Shows the items on one line: words joined by `_`, commands by a space, subshells in brackets.
fn shown(text: &str) -> String {
    let show = |item: &Item| match item {
        Item::Command(command) => {
            let stdin = command.stdin.as_ref().map(|file| format!("<{file}"));
            command.words.join("_").replace(SELF, "~") + &stdin.unwrap_or_default()
        }
        Item::Open => "[".to_string(),
        Item::Close => "]".to_string(),
    };
    items(text).iter().map(show).collect::<Vec<_>>().join(" ")
}

#[test]
fn shell_text_is_taken_apart_as_a_shell_does() {
    for (text, expected) in [
        ("a b; c && d || e | f & g\nh", "a_b c d e f g h"),
        ("( a ) b", "[ a ] b"),
        (r#"a 'b c' "d $x e" f\ g \"h"#, r#"a_b c_d $ e_f g_"h"#),
        ("a # b\nc#d", "a c#d"),
        ("a \\\n b", "a_b"),
        ("a $(b c) `d`", "[ b_c ] [ d ] a_$_$"),
        (r#"a "$(b "c d")" e"#, "[ b_c d ] a_$_e"),
        ("a >b 2>&1 <c 3<d >>e &>f g", "a_g<c"),
        ("a <<E b\nc\nE\nd", "a_b d"),
        ("a <<-'E'\n\tc\n\tE\nd", "a d"),
        ("a <<< b; c", "a c"),
        ("a <<E\n$(b c) `d` \\$(e)\nE\nf", "a [ b_c ] [ d ] f"),
        ("a <<'E'\n$(b) `c`\nE\nd", "a d"),
        ("a <<\\E\n$(b)\nE\nd", "a d"),
        (r#"a "${x:-$(b c)}" d"#, "[ b_c ] a_$_d"),
        (
            "a ${x:-`b`} ${x%$(c)} ${x/y/$(d)}",
            "[ b ] [ c ] [ d ] a_$_$_$",
        ),
        ("a ${x:-${y:-$(b)}} c", "[ b ] a_$_c"),
        (
            r#"a ${x%'"'} "${y#'}'}" ${z:-"}"} ${v//\}/} b"#,
            "a_$_$_$_$_b",
        ),
        ("diff <(a) <(b)", "[ a ] [ b ] diff_$_$"),
        ("f() { a; }", "f [ ] {_a }"),
        ("case $x in b) c;; esac", "case_$_in c esac"),
        (
            "case $x in (b|'c)') d;; e) f ;& *) g\nesac\nh",
            "case_$_in d f g esac h",
        ),
        ("$(case a in b) c;; esac) d", "[ case_a_in c esac ] $_d"),
        ("case a in\n b\n c) d;; e", "case_a_in b c d e"),
        ("((n++)); (( (a + 2) * b > 3 )) && c; ((d - 1))", "c"),
        ("for ((i = 0; i < 3; i++)); do a; done", "for do_a done"),
        (
            &format!("{}{}", "(".repeat(3), ") ".repeat(3)),
            "[ [ [ ] ] ]",
        ),
        ("((a b; c); (d))", "[ [ a_b c ] [ d ] ]"),
        ("((sh -x a/b)); ((./a))", "[ [ sh_-x_a/b ] ] [ [ ./a ] ]"),
        (
            "$PWD/a ${PWD}/b $(git rev-parse --show-toplevel)/c",
            "[ git_rev-parse_--show-toplevel ] ./a_./b_./c",
        ),
        ("a '' b", "a__b"),
        ("$((1 + 2)) a$((n))", "$_a$"),
        ("$(($(a) + 2))", "[ [ [ a ] $_+_2 ] ] $"),
        ("echo ${x:-y} ${x-$y} $1 $", "echo_y_$_$_$"),
        ("", ""),
        ("'unclosed", "unclosed"),
        ("\"unclosed $(", "[ ] unclosed $"),
    ] {
        assert_eq!(shown(text), expected, "{text}");
    }
}

#[test]
fn the_folder_of_a_script_is_known_however_it_is_asked_for() {
    for (text, expected) in [
        ("D=$(dirname \"$0\"); sh \"$D/l.sh\"", "~/../l.sh"),
        ("D=`dirname $0`; sh ${D}/l.sh", "~/../l.sh"),
        ("sh ${0%/*}/l.sh", "~/../l.sh"),
        ("sh \"${BASH_SOURCE[0]%/*}/l.sh\"", "~/../l.sh"),
        ("sh $(cd \"$(dirname \"$0\")\" && pwd)/l.sh", "~/../l.sh"),
        (
            "readonly D=\"$(CDPATH= cd -- \"$(dirname -- \"${BASH_SOURCE[0]:-$0}\")/..\" >/dev/null 2>&1; pwd -P)\"\nsh $D/l.sh",
            "~/../../l.sh",
        ),
        ("D=$(dirname $(readlink -f $0)); sh $D/l.sh", "~/../l.sh"),
        ("S=$BASH_SOURCE; sh ${S%/*}/l.sh", "~/../l.sh"),
        ("D=$(dirname $0); D=x; sh $D/l.sh", "x/l.sh"),
        ("D=$(dirname $0); D=$1; sh $D/l.sh", "$/l.sh"),
        ("sh x$0", "x$"),
        ("sh $(basename $0)/l.sh", "$/l.sh"),
        ("sh ${0##*/}", "$"),
        ("sh $1", "$"),
    ] {
        let last = shown(text).rsplit(' ').next().map(str::to_owned);
        let expected = format!("sh_{expected}");
        assert_eq!(last, Some(expected), "{text}");
    }
}

#[test]
fn what_a_text_sets_a_variable_to_is_known_until_it_is_computed() {
    for (text, expected) in [
        ("f=a; sh $f", "a"),
        ("f=a; sh ${f:-b}/\"$f\"", "a/a"),
        ("export f=a; sh $f", "a"),
        ("f=a; f+=b; sh $f", "$"),
        ("f=a; read f; sh $f", "$"),
        ("f=a; while read -r f; do sh $f", "$"),
        ("f=a; unset f; sh $f", "$"),
        ("f=a; f=$(ls); sh $f", "$"),
        ("f=$(echo a); sh $f", "a"),
        ("f=a/b; sh $(dirname $f)/c", "a/b/../c"),
        ("for f in a; do sh $f", "a"),
        ("for f in a 'b c'; do sh $f", "{a,b,c}"),
        ("for f in $(ls); do sh $f", "$"),
        ("for f; do sh $f", "$"),
        ("sh -c $(cat a)", "-c_<a>"),
        ("sh -c $(<a)", "-c_<a>"),
        ("sh -c $(cat $a)", "-c_$"),
        ("f='$a'; sh $f", "$"),
    ] {
        let shown = shown(text).replace(NEXT, ",");
        let shown = shown.replacen(EACH, "{", 1).replacen(EACH, "}", 1);
        let shown = shown.replacen(PRINTED, "<", 1).replacen(PRINTED, ">", 1);
        let last = shown.rsplit(' ').next().map(str::to_owned);
        assert_eq!(
            last,
            Some(format!(
                "{}sh_{expected}",
                match text.contains("; do") {
                    true => "do_",
                    false => "",
                }
            )),
            "{text}"
        );
    }
}

#[test]
fn what_goes_on_from_a_command_is_told() {
    for (text, expected) in [
        ("a | b || c", "a"),
        ("a >b; c 2>d; e >/dev/null; f 1>>g", "a f"),
        ("x $(a) `b`; c", "a b"),
        ("cat a | grep b | head", ""),
        (
            "cat a | sort -o b; printf -v x \"$(sort c)\"",
            "cat_a sort_c",
        ),
        ("diff <(sort a) b | sh; diff <(sort c) d", "sort_a diff_$_b"),
        ("cat a | grep b | sh", "cat_a grep_b"),
        ("cat a | grep -vq b | sh", "grep_-vq_b"),
        (
            "if ! test \"$(cat a | tr x y)\" = b; then c | d; fi",
            "then_c",
        ),
        ("x=$(cat a | wc -l) y; cat b | sort >c", "wc_-l cat_b sort"),
        ("echo $(sort a) | sh; echo $(sort b)", "sort_a echo_$"),
        ("cat a | (head -1; sh)", "cat_a"),
        ("for x in $(ls a | sort); do b; done", "ls_a sort"),
        ("while cat a | head; do b; done >c", "while_cat_a done"),
    ] {
        let items = items(text);
        let commands = items.iter().filter_map(|item| match item {
            Item::Command(command) if command.hands_on => Some(command.words.join("_")),
            Item::Command(_) | Item::Open | Item::Close => None,
        });
        assert_eq!(commands.collect::<Vec<_>>().join(" "), expected, "{text}");
    }
}
