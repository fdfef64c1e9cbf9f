set -eu
[ "$(printf 'b a b, c a b\n' | sh top.sh | tr '\n' ' ')" = 'b a c ' ]
[ "$(printf 'one' | sh top.sh)" = one ]
[ "$(printf 'x y x z y x w w w w' | sh top.sh | head -n 1)" = w ]
echo 'all tests passed'
