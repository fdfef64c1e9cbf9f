#!/bin/sh
# Prints the three most frequent words of its input, the most frequent first.
# Words are what stands between characters that are no letters.
words=$(mktemp)
counts=$(mktemp)
tr -cs '[:alpha:]' '\n' >"$words"
sort "$words" | uniq -c >"$counts"
sort -rn "$counts" | head -n 3 | while read -r count word; do
  echo "$word"
done
rm -f "$words" "$counts"
