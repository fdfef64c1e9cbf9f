# Stands in for a coding agent: what it makes of each attempt is written down here.
cat >/dev/null
say() { echo "$1" >"$EVOLVE_SUMMARY"; }
without_comments() { sed -i '/^# /d' top.sh; }
piped() {
  printf '%s\n' '#!/bin/sh' \
    "tr -cs '[:alpha:]' '\\n' | sort | uniq -c | sort -rn | head -n 3 |" \
    "  while read -r count word; do" '    echo "$word"' '  done' >top.sh
}
case $EVOLVE_ATTEMPT in
1) without_comments && say 'comments go' ;;
2) sed -i 's/sort -rn/sort/' top.sh && say 'sorts with fewer letters' ;;
3) piped && say 'a pipe instead of temporary files' ;;
4)
  printf '%s\n' "tr -cs '[:alpha:]' '\\n' | sort | uniq -c | sort -rn | head -n 3 | while read -r count word; do echo \"\$word\"; done" >top.sh &&
    say 'all on one line'
  ;;
5) git show "$(git rev-list --max-parents=0 HEAD):top.sh" >top.sh && without_comments && say 'temporary files, no comments' ;;
6)
  printf '%s\n' "tr -cs '[:alpha:]' '\\n' | sort | uniq -c | sort -rn |" \
    "  awk 'NR < 4 { print \$2 }'" >top.sh && say 'awk instead of a loop'
  ;;
7) sed -i '1i # Short.' top.sh && say 'a comment' ;;
8) echo 'nothing is left to be taken away' >"$EVOLVE_GIVE_UP" ;;
esac
