# The scripted agent of `evolve demo`: reads its brief like any agent, and edits files.
set -eu
brief=$(cat)
case "$EVOLVE_GOAL_ID" in
usage-documented)
    printf '\n## Usage\n\n    . ./calc.sh\n    add 1 2\n' >>README.md
    git commit -qam 'README: say how to use it'
    ;;
open-ends)
    case "$brief" in
    *'Earlier attempts'*)
        # The second time it does what the mark asks for, and leaves committing to evolve.
        sed -i.bak -e '/TODO/d' -e 's/^sub().*/sub() { echo $(($1 - $2)); }/' calc.sh
        echo 'calc.sh: a mark is an open end; do what it says before taking it out' >"$EVOLVE_LESSONS"
        ;;
    *)
        # The first time it takes the easy way, which breaks a test.
        sed -i.bak -e '/TODO/,$d' calc.sh
        git commit -qam 'calc: take the open end out'
        ;;
    esac
    rm -f calc.sh.bak
    ;;
'')
    printf '\nmul() { echo $(($1 * $2)); }\n' >>calc.sh
    git commit -qam 'calc: multiply'
    ;;
esac
