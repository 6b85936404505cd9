// Convert the rows of a response to rows of the page: fold equal lines, one column or two.
//
// A response has ["=", left, right, count] for equal lines, ["~", left, right, html, html] for a
// changed line, ["-", left, ...] and ["+", 0, right, ...], with "<" and ">" if the line only moved.

export const AROUND = 3;
const KIND_OF = { "~": "changed", "-": "removed", "+": "added", "<": "removed", ">": "added" };

// A row of equal lines stands for `count` of them, so that a text of a million lines is a few rows.
// `opened` maps the first left line of a fold to how many lines are shown at its head and tail.
export function pageRows(rows, { inline, whole, opened }) {
  const made = [];
  rows.forEach((row, at) => {
    if (row[0] === "=") equalRows(made, row, at === 0, at === rows.length - 1, whole, opened);
    else made.push({ kind: KIND_OF[row[0]], left: row[1], right: row[2], leftMark: row[3], rightMark: row[4], moved: row[0] === "<" || row[0] === ">" });
  });
  numberChanges(made);
  return inline ? oneColumn(made) : twoColumns(made);
}

function equalRows(made, [, left, right, count], first, last, whole, opened) {
  const extra = opened.get(left) ?? { head: 0, tail: 0 };
  // Without any change, the first lines of the text are shown.
  const alone = first && last ? 500 : 0;
  const head = Math.min(count, (first ? alone : AROUND) + extra.head);
  const tail = Math.min(count - head, (last ? 0 : AROUND) + extra.tail);
  const shown = whole || head + tail + 1 >= count;
  const equal = (at, many) => { if (many) made.push({ kind: "same", left: left + at, right: right + at, count: many }); };
  equal(0, shown ? count : head);
  if (shown) return;
  made.push({ kind: "fold", left: left + head, right: right + head, count: count - head - tail, key: left });
  equal(count - tail, tail);
}

// Compute where each row begins on the page, counted from 0, and how many there are.
export function laidOut(rows) {
  const starts = [];
  let total = 0;
  for (const row of rows) {
    starts.push(total);
    total += row.kind === "same" ? row.count : 1;
  }
  return { rows, starts, total };
}

// The index of the last start that is not after a place.
export function lastFrom(starts, place) {
  let [low, high] = [0, starts.length - 1];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (starts[middle] <= place) low = middle;
    else high = middle - 1;
  }
  return low;
}

// List the single rows of a half-open range of places.
export function rowsBetween({ rows, starts, total }, begin, end) {
  const made = [];
  let at = lastFrom(starts, begin);
  for (let place = begin; place < Math.min(end, total); place++) {
    while (at + 1 < rows.length && starts[at + 1] <= place) at++;
    const [row, by] = [rows[at], place - starts[at]];
    made.push(row.kind === "same" ? { kind: "same", left: row.left + by, right: row.right + by } : row);
  }
  return made;
}

// Find the place of a line on one side; -1 if it is folded away.
export function placeOf({ rows, starts }, side, line) {
  const at = rows.findIndex((row) => row[side] && row[side] <= line && line < row[side] + (row.kind === "same" || row.kind === "fold" ? row.count : 1));
  return at < 0 || rows[at].kind === "fold" ? -1 : starts[at] + line - rows[at][side];
}

function numberChanges(rows) {
  let change = -1;
  let inside = false;
  for (const row of rows) {
    const changed = row.kind !== "same" && row.kind !== "fold";
    if (changed && !inside) row.first = ++change;
    if (changed) row.change = change;
    inside = changed;
  }
}

// Put lines that went beside lines that came, so that neither column has holes.
function twoColumns(rows) {
  const made = [];
  let [gone, come] = [[], []];
  const flush = () => {
    for (let at = 0; at < Math.max(gone.length, come.length); at++) {
      const [left, right] = [gone[at], come[at]];
      made.push(left && right ? { ...left, kind: "both", right: right.right, rightMark: right.rightMark, first: left.first ?? right.first, leftMoved: left.moved, rightMoved: right.moved } : { ...(left ?? right), leftMoved: left?.moved, rightMoved: right?.moved });
    }
    [gone, come] = [[], []];
  };
  for (const row of rows) {
    if (row.first !== undefined) flush();
    if (row.kind === "removed") gone.push(row);
    else if (row.kind === "added") come.push(row);
    else { flush(); made.push(row); }
  }
  flush();
  return made;
}

function oneColumn(rows) {
  const made = [];
  let waiting = [];
  const flush = () => { made.push(...waiting); waiting = []; };
  for (const row of rows) {
    if (row.kind === "same" || row.kind === "fold") { flush(); made.push(row); continue; }
    if (row.first !== undefined) flush();
    if (row.kind === "added") { waiting.push(row); continue; }
    made.push({ ...row, kind: "removed", right: 0 });
    if (row.kind === "changed") waiting.push({ ...row, kind: "added", left: 0, first: undefined });
  }
  flush();
  return made;
}

// List the ranges of lines, end included, that rows need and a map does not have.
export function missingLines(rows, side, known) {
  const found = [];
  for (const row of rows) {
    const line = row.kind === "fold" ? 0 : row[side];
    if (!line || known.has(line)) continue;
    const last = found[found.length - 1];
    if (last && line - last[1] <= 50 && line > last[1]) last[1] = line;
    else found.push([line, line]);
  }
  return found;
}

// Map the lines of a whole text, from 1, to the indices of their HTML.
export const asLines = (numbers) => Object.fromEntries(numbers.map((number, at) => [at + 1, number]));
