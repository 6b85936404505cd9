// Compare two texts, given as line numbers, by Myers' greedy search: for any two stages of a report.
// The server has faster methods.

const MOST_DIFFERENCES = 3000;

export function compareTexts(before, after) {
  let head = 0;
  while (head < before.length && head < after.length && before[head] === after[head]) head++;
  let tail = 0;
  while (tail < before.length - head && tail < after.length - head && before[before.length - 1 - tail] === after[after.length - 1 - tail]) tail++;
  const a = before.slice(head, before.length - tail);
  const b = after.slice(head, after.length - tail);
  const found = keptPairs(a, b);
  const pairs = (found ?? []).map(([x, y]) => [x + head, y + head]);
  const all = [...Array.from({ length: head }, (_, at) => [at, at]), ...pairs,
    ...Array.from({ length: tail }, (_, at) => [before.length - tail + at, after.length - tail + at])];
  return asRows(all, before.length, after.length, found !== null);
}

function asRows(pairs, left, right, exact) {
  const rows = [];
  let [i, j, changes] = [0, 0, 0];
  for (const [x, y] of [...pairs, [left, right]]) {
    if (i < x || j < y) changes++;
    for (; i < x && j < y; i++, j++) rows.push(["~", i + 1, j + 1, -1, -1]);
    for (; i < x; i++) rows.push(["-", i + 1, 0, -1, -1]);
    for (; j < y; j++) rows.push(["+", 0, j + 1, -1, -1]);
    if (x === left && y === right) break;
    const last = rows[rows.length - 1];
    if (last && last[0] === "=" && last[1] + last[3] === x + 1) last[3]++;
    else rows.push(["=", x + 1, y + 1, 1, 0]);
    i = x + 1;
    j = y + 1;
  }
  return { rows, changes, exact, removed: left - pairs.length, added: right - pairs.length };
}

// List the pairs of common lines; null if the texts differ too much.
function keptPairs(a, b) {
  const most = Math.min(a.length + b.length, MOST_DIFFERENCES);
  const size = 2 * most + 3;
  const reach = new Int32Array(size);
  const history = [];
  for (let d = 0; d <= most; d++) {
    history.push(reach.slice(most - d, most + d + 3));
    for (let k = -d; k <= d; k += 2) {
      const at = k + most + 1;
      let x = k === -d || (k !== d && reach[at - 1] < reach[at + 1]) ? reach[at + 1] : reach[at - 1] + 1;
      while (x < a.length && x - k < b.length && a[x] === b[x - k]) x++;
      reach[at] = x;
      if (x >= a.length && x - k >= b.length) return walkedBack(history, a.length, b.length);
    }
  }
  return null;
}

function walkedBack(history, x, y) {
  const pairs = [];
  for (let d = history.length - 1; d >= 0; d--) {
    const known = (k) => history[d][k + d + 1];
    const k = x - y;
    const down = k === -d || (k !== d && known(k - 1) < known(k + 1));
    const from = d === 0 ? 0 : down ? known(k + 1) : known(k - 1);
    const begin = d === 0 ? 0 : down ? from : from + 1;
    while (x > begin && y > begin - k) pairs.push([--x, --y]);
    if (d === 0) break;
    x = from;
    y = from - (down ? k + 1 : k - 1);
  }
  return pairs.reverse();
}
