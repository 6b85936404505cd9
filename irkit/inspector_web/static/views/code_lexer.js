// LLVM IR, assembly and irkit's own IR as coloured tokens, and the lines that nobody reads left out.

import { el } from "../dom.js";

const LLVM = [
  ["c", /;.*/y], ["s", /"(?:[^"\\]|\\.)*"/y], ["g", /[@%](?:"[^"]*"|[\w.$-]+)/y],
  ["t", /\b(?:i\d+|half|bfloat|float|double|ptr|void|label|metadata|token|x)\b/y],
  ["k", /\b(?:define|declare|ret|br|switch|phi|call|tail|load|store|getelementptr|inbounds|alloca|icmp|fcmp|select|add|sub|mul|shl|lshr|ashr|and|or|xor|[us]div|[us]rem|f(?:add|sub|mul|div|rem|neg)|extractelement|insertelement|shufflevector|extractvalue|insertvalue|trunc|[sz]ext|fptrunc|fpext|fpto[us]i|[us]itofp|bitcast|ptrtoint|inttoptr|addrspacecast|freeze|unreachable|to|align|nsw|nuw|exact|fast|contract|nnan|ninf|nsz|arcp|reassoc|afn|true|false|null|undef|poison|zeroinitializer|splat|private|internal|constant|global|local_unnamed_addr|noalias|nocapture|readonly|writeonly|eq|ne|[us](?:lt|gt|le|ge)|o(?:eq|ne|lt|gt|le|ge|rd)|u(?:eq|no))\b/y],
  ["n", /-?(?:0x[0-9A-Fa-f]+|\d+(?:\.\d+)?(?:e[+-]?\d+)?)\b/y], ["f", /[\w.$-]+(?=:\s*(?:;|$))/y], ["", /[\w.$]+|\s+|./y],
];
const ASSEMBLY = [
  ["c", /[#;].*/y], ["f", /[.\w$]+:/y], ["k", /(?<=^\s+)[a-z][\w.]*/y], ["s", /"(?:[^"\\]|\\.)*"/y],
  ["t", /%?\b(?:[xyz]mm\d+|[re]?(?:[abcd]x|[sd]i|[sb]p|ip)|[abcd][lh]|(?:si|di|sp|bp)l|r\d+[bwd]?|k[0-7]|[wxvqds]\d+|st\(\d\))\b/y],
  ["g", /\.?[A-Za-z_][\w.$@]*/y], ["n", /\$?-?(?:0x[0-9A-Fa-f]+|\d+)\b/y], ["", /\s+|./y],
];
// As irkit/core/text/tokens.py has them.
const IR = [
  ["c", /#.*/y], ["s", /"(?:[^"\\]|\\.)*"?|'(?:[^'\\]|\\.)*'?/y], ["d", /@[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*|@/y],
  ["t", /(?:bool|(?:bf|f|i|u)\d{1,2})(?:x\d{1,5})?(?!\w|\.[A-Za-z_])/y],
  ["k", /(?:False|None|True|and|as|assert|async|await|break|class|continue|def|del|elif|else|except|finally|for|from|global|if|import|in|is|lambda|nonlocal|not|or|pass|raise|return|try|while|with|yield)(?!\w|\.[A-Za-z_])/y],
  ["l", /(?:serial|parallel|vectorized|unrolled|thread)(?=\()/y], ["f", /[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*(?=\()/y],
  ["n", /\d[\w.]*(?:e[+-]\d+)?/y], ["", /[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*|\s+|./y],
];
const RULES = { ir: IR, llvm: LLVM, assembly: ASSEMBLY };
const UNREAD = {
  llvm: /^\s*(?:source_filename|target |attributes |declare |; ModuleID|!|$)/,
  assembly: /^\s*(?:\.(?!L\w*:)[a-z_]\w*\b(?!:)|$)/,
};
const LABEL = /^[\w.$]+:/;
const DATA = /^\s*\.(?:long|quad|byte|short|zero|asciz|ascii)\b/;

export function tokensOf(kind, text) {
  const rules = RULES[kind] ?? LLVM;
  const made = [];
  for (let at = 0; at < text.length;) {
    for (const [name, rule] of rules) {
      rule.lastIndex = at;
      const found = rule.exec(text);
      if (!found || !found[0]) continue;
      made.push([name, found[0]]);
      at += found[0].length;
      break;
    }
  }
  return made;
}

export function isRead(kind, text) {
  return kind === "assembly" ? !UNREAD.assembly.test(text) || DATA.test(text) : !UNREAD.llvm.test(text);
}

// Lines of assembly with the constants that it loads, and their labels, behind the code.
export function dataLast(rows) {
  const isData = rows.map(({ text }) => DATA.test(text));
  for (let at = rows.length - 2; at >= 0; at--) isData[at] ||= isData[at + 1] && LABEL.test(rows[at].text);
  return [...rows.filter((_, at) => !isData[at]), ...rows.filter((_, at) => isData[at])];
}

export function colouredLine(kind, text) {
  return tokensOf(kind, text).map(([name, token]) => (name ? el("span", { class: name }, token) : token));
}
