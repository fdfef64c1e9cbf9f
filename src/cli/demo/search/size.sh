# Prints how large top.sh is, in bytes. Nobody reads lines of more than 80 characters.
if grep -q '.\{81\}' top.sh; then
  echo 'a line of top.sh has more than 80 characters' >&2
  exit 1
fi
wc -c <top.sh
