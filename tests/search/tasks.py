"""Two numeric tasks with a known best, for the tests of searches. Standard library only; nothing in here is random but `mutate`, whose numbers all follow
from the dice.

A genome is a text with one line `PARAMS = [...]`; `score` is the number to be made large, `mutate` is the scripted agent.

    tasks.py init TASK             prints the genome that a search starts from
    tasks.py score FILE            prints the score of a genome
    tasks.py mutate FILE DICE      changes a genome
    tasks.py serve [IN OUT]        answers such lines, one after another, on stdin and stdout or through two named pipes

circle26: 26 circles in the unit square, the sum of their radii; the best known is 2.63598308, the start has 2.1229.
sortnet10: a sorting network on 10 wires. Below 1 it does not sort; else 1 + the comparators that it saves against the 45 of the start. The best is 17.
"""

import json
import math
import random
import re
import sys

# ---- circle26: (x, y, r) of each circle; whatever is asked for is made a packing without overlap

CIRCLES = 26


def circle_score(numbers):
    is_place = lambda v: isinstance(v, (int, float)) and math.isfinite(v) and 0 < v < 1
    if len(numbers) != 3 * CIRCLES or not all(map(is_place, numbers)):
        return 0.0
    xs, ys, wanted = numbers[0::3], numbers[1::3], numbers[2::3]
    apart = [[math.hypot(xs[i] - xs[j], ys[i] - ys[j]) for j in range(CIRCLES)] for i in range(CIRCLES)]
    wall = [min(xs[i], 1 - xs[i], ys[i], 1 - ys[i]) for i in range(CIRCLES)]
    r = [min(wanted[i], wall[i]) for i in range(CIRCLES)]
    for _ in range(2):  # pairs that overlap shrink in proportion
        for i in range(CIRCLES):
            for j in range(i):
                if r[i] + r[j] > apart[i][j]:
                    share = apart[i][j] / (r[i] + r[j])
                    r[i] *= share
                    r[j] *= share
    for i in sorted(range(CIRCLES), key=lambda k: -wanted[k]):  # then each grows, the biggest wish first
        r[i] = max(r[i], min([wall[i]] + [apart[i][j] - r[j] for j in range(CIRCLES) if j != i]))
    r = [v * (1 - 1e-12) for v in r]
    for i in range(CIRCLES):  # nothing overlaps, with no tolerance; what is no number fails, too
        if not (0 <= r[i] <= wall[i]) or any(not (r[i] + r[j] <= apart[i][j]) for j in range(i)):
            return 0.0
    return sum(r)


def circle_start():
    ring = lambda n, far, r: [(0.5 + far * math.cos(2 * math.pi * i / n), 0.5 + far * math.sin(2 * math.pi * i / n), r) for i in range(n)]
    circles = [(0.5, 0.5, 0.1)] + ring(8, 0.3, 0.1) + ring(17, 0.45, 0.06)
    return [round(v, 6) for circle in circles for v in circle]


def circle_mutate(numbers, rng):
    p = list(numbers)
    if rng.random() < 0.08:
        i = rng.randrange(CIRCLES)
        p[3 * i], p[3 * i + 1], p[3 * i + 2] = rng.random(), rng.random(), rng.uniform(0.02, 0.12)
    else:
        step = 10 ** rng.uniform(-3.5, -1)
        for i in rng.sample(range(CIRCLES), rng.choice([1, 1, 1, 2, 3, CIRCLES])):
            p[3 * i] += rng.gauss(0, step)
            p[3 * i + 1] += rng.gauss(0, step)
            p[3 * i + 2] = abs(p[3 * i + 2] + rng.gauss(0, step / 2))
    return [round(min(max(v, 1e-6), 1 - 1e-6), 6) for v in p]


# ---- sortnet10: pairs of wires; all 1024 inputs of zeros and ones are tried at once, a bit for each

WIRES = 10
INPUTS = 1 << WIRES
START = [sum(1 << x for x in range(INPUTS) if x >> k & 1) for k in range(WIRES)]


def net_score(numbers):
    if len(numbers) % 2 or len(numbers) > 200:
        return 0.0
    wires = list(START)
    for a, b in zip(numbers[0::2], numbers[1::2]):
        if not (isinstance(a, int) and isinstance(b, int) and 0 <= a < b < WIRES):
            return 0.0
        wires[a], wires[b] = wires[a] & wires[b], wires[a] | wires[b]
    unsorted = 0
    for k in range(WIRES - 1):
        unsorted |= wires[k] & ~wires[k + 1]
    unsorted = bin(unsorted).count("1")
    return 1 - unsorted / INPUTS if unsorted else 1 + (45 - len(numbers) // 2)


def net_start():
    return [v for i in range(WIRES - 1, 0, -1) for j in range(i) for v in (j, j + 1)]


def net_mutate(numbers, rng):
    pairs = [tuple(numbers[i : i + 2]) for i in range(0, len(numbers), 2)]
    any_pair = lambda: tuple(sorted(rng.sample(range(WIRES), 2)))
    for _ in range(rng.choice([1, 1, 2, 3])):
        turn = rng.random()
        if turn < 0.4 and len(pairs) > 5:
            pairs.pop(rng.randrange(len(pairs)))
        elif turn < 0.6:
            pairs.insert(rng.randrange(len(pairs) + 1), any_pair())
        elif turn < 0.85:
            pairs[rng.randrange(len(pairs))] = any_pair()
        else:
            moved = pairs.pop(rng.randrange(len(pairs)))
            pairs.insert(rng.randrange(len(pairs) + 1), moved)
    return [v for pair in pairs for v in pair]


# ---- genomes

TASKS = {
    "circle26": (circle_score, circle_start, circle_mutate),
    "sortnet10": (net_score, net_start, net_mutate),
}
TASK = re.compile(r'^TASK = "(\w+)"\s*$', re.M)
LINE = re.compile(r"^PARAMS = (\[.*\])[^\S\n]*$", re.M)


def parse(text):
    return TASKS[TASK.search(text).group(1)], json.loads(LINE.search(text).group(1))


def init(name):
    return '# only the PARAMS line may change\nTASK = "%s"\nPARAMS = %s\n' % (name, json.dumps(TASKS[name][1]()))


def score(path):
    task, numbers = parse(open(path).read())
    return task[0](numbers)


def mutate(path, dice):
    text = open(path).read()
    task, numbers = parse(text)
    line = "PARAMS = " + json.dumps(task[2](numbers, random.Random(dice)))
    with open(path, "w") as file:
        file.write(LINE.sub(lambda _: line, text, count=1))


def answer(words):
    match words:
        case ["init", name]:
            return init(name).removesuffix("\n")
        case ["score", path]:
            return repr(score(path))
        case ["mutate", path, dice]:
            mutate(path, dice)
            return "done"
    raise SystemExit("tasks.py: " + " ".join(words))


def serve(pipes):
    if not pipes:
        for line in sys.stdin:
            print(answer(line.split()), flush=True)
    while pipes:
        with open(pipes[0]) as requests:
            line = requests.readline()
        reply = answer(line.split())
        with open(pipes[1], "w") as answers:
            print(reply, file=answers)


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["serve", *pipes]:
            serve(pipes)
        case words:
            print(answer(words))
