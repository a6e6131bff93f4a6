/**
 * `node scripts/prose.mjs [FILE…]`: looks for habits of wording that readers have to read twice, in pages, comments,
 * docstrings, names of tests and texts for users, and for sentences of more than 30 words in pages and the docstrings of `src`.
 * Prints each with what to write instead; exits with 1 when there is one.
 */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'

/** The habits that it looks for, and what to write in their place. */
const HABITS = [
  [
    /[,;(] ?else\b|(?<!(?:some|no|any|every)(?:body|thing|where|one) |what |who )\belse(?=[.)|]|$)/,
    '"otherwise", or a Default column',
  ],
  [/\banew\b/i, '"again"'],
  [/\bobey(s|ed|ing)?\b/i, '"applies", "follows"'],
  [/\bmend(s|ed|ing)?\b/i, '"fix"'],
  [/\bdear(er|est)?\b/i, '"expensive"'],
  [/\blet(s|ting)? go of\b/i, '"closes", "releases"'],
  [/\b(put|puts|putting|goes|go|is|are) aside\b/i, '"set aside"'],
  [/\bgood for nothing\b/i, '"revoked"'],
  [/\bhow-?manieth\b/i, '"attempt number"'],
  [/\b(is|are|be|was|were|been) told\b|\b(told|tells?) of\b|(^|[.:] )Told\b/, '"reported", "is called with"'],
  [
    /\b(for|after|than|within|at most|only after|of|by) so (long|many|often|much)\b(?! (as|that))/i,
    'the quantity by its name',
  ],
  [/(^|[.:] )So (long|many|often)\b(?! as)|\bso (long|many|often|much)(?=[.,;)])/, 'the quantity by its name'],
  [/(^|[.;] )(Who|Whoever|Whom) (?!.*\?)/, 'the actor: a caller, a reader, a handler'],
  [
    /\b(for|of|to|by|than|from|with) (who|whoever|whom)\b(?! it| they| a )/i,
    'the actor: a caller, a reader, a handler',
  ],
  [/(^|[.] )Of (two|many|what|which|a|an|each) [a-z]/, 'a sentence that begins with its subject'],
  [/\b(is|are|was|were) no [a-z]+ (that|which|of)\b/i, 'a sentence without double negative'],
  [/\bcircle\b/i, '"cycle"'],
  [/\b(timeout|claim|lease|it|delay|time|pause|visibility|life) (is|are|was) over\b/i, '"has expired", "has ended"'],
  [/\bat the most\b/i, '"at most"'],
  [/\b(what|that which) (throws|fails|hangs)\b/i, 'the thing by its name: a handler, a call'],
  [/\b(stands?|stood) (in|at|on|there|where|behind|before|for|under|as|beside|still)\b/i, '"is", "are"'],
  [/\b(teach|taught|pupil|courtesy)\b/i, '"wrapper", "wrap"'],
  [/\b(by|for|in) hand\b.*\bhanded\b/i, 'one of the two'],
  [/^(- |\d+\. |\| )?(\*\*)?What (?!.*\?)|[.:] What (?!.*\?)/, 'the thing by its name'],
  [
    /(?<!\b(?:one|place) )\b(of (yours|theirs|its own|their own|your own|ours))\b/i,
    '"your", "their", "its own" before the noun',
  ],
  [/\bmeanwhile\b/i, '"at the same time", "until then"'],
  [/\bby now\b/i, '"now", "already"'],
  [/\b(goes|go) on\b(?! (to|the|in)\b)/i, '"continues"'],
  [/\b(somebody|nobody)\b/i, 'the actor: a caller, a process, no process'],
]

const MOST_WORDS = 30
const FENCE = /^\s*(```|~~~)/
const COMMENT = /^\s*(\/\*\*?|\*|\/\/)/
/** Texts with three words or more. */
const TEXT = /'((?:[^'\\]|\\.)*? (?:[^'\\]|\\.)*? (?:[^'\\]|\\.)*?)'|`([^`]*? [^`]*? [^`]*?)`/g

/** The lines of a file that people read, by number; code in them is left out. */
function* proseOf(file) {
  const isPage = file.endsWith('.md')
  let isCode = false
  for (const [index, line] of readFileSync(file, 'utf8').split('\n').entries()) {
    if (isPage && FENCE.test(line)) isCode = !isCode
    else if (isPage && !isCode) yield [index + 1, line]
    else if (!isPage && COMMENT.test(line))
      yield [
        index + 1,
        line
          .replace(COMMENT, '')
          .replace(/\*\/\s*$/, '')
          .trim(),
      ]
    else if (!isPage) {
      const trailing = / \/\/ (.*)$/.exec(line)?.[1]
      const texts = [...line.matchAll(TEXT)].map(([, single, double]) => single ?? double)
      if (!/\b(SELECT|UPDATE|INSERT|DELETE|WHERE|ORDER BY)\b/.test(line)) yield [index + 1, texts.join(' · ')]
      if (trailing) yield [index + 1, trailing]
    }
  }
}

/** The texts of a page of which each has its own sentences: paragraphs, items of lists, cells of tables; by number. */
function* textsOf(page) {
  let begin = 0
  let lines = []
  let isSkipped = null
  for (const [index, line] of readFileSync(page, 'utf8').split('\n').entries()) {
    // Code, and what a program has written between two markers.
    if (isSkipped === null && FENCE.test(line)) isSkipped = FENCE
    else if (isSkipped === null && /^<!-- \w+:begin -->/.test(line)) isSkipped = /^<!-- \w+:end -->/
    else if (isSkipped?.test(line)) isSkipped = null
    else if (isSkipped === null) {
      const isCell = line.startsWith('|')
      if (/^\s*(- |\d+\. |$|#|\||<)/.test(line)) {
        if (lines.length > 0) yield [begin, lines.join(' ')]
        lines = []
        begin = index + 1
      }
      if (isCell) for (const cell of line.split(/(?<!\\)\|/)) yield [index + 1, cell.replaceAll(';', '.')]
      else if (!/^(#|<|\s*$)/.test(line)) lines.push(line.trim())
      continue
    }
    if (lines.length > 0) yield [begin, lines.join(' ')]
    lines = []
    begin = index + 2
  }
  if (lines.length > 0) yield [begin, lines.join(' ')]
}

/** The docstrings of a file, each as one text, by the line where it begins; lists and tables in them are left out. */
function* docstringsOf(file) {
  const text = readFileSync(file, 'utf8')
  for (const { index, 1: docstring } of text.matchAll(/\/\*\*([\s\S]*?)\*\//g)) {
    const lines = docstring.split('\n').map((line) => line.replace(/^\s*\*/, '').trim())
    const prose = lines.map((line) => (/^(- |\|)/.test(line) ? '.' : line))
    yield [text.slice(0, index).split('\n').length, prose.join(' ')]
  }
}

/** The sentences with too many words, by the line where their text begins. Code is one word. */
function* longSentencesOf(texts) {
  for (const [line, text] of texts) {
    const plain = text.replaceAll(/`[^`]*`/g, 'x').replaceAll(/\]\([^)]*\)/g, ']')
    for (const sentence of plain.split(/(?<=[.!?][)*"]*) /)) {
      const words = sentence.split(' ').filter((word) => /[\p{L}\p{N}]/u.test(word))
      if (words.length > MOST_WORDS) yield [line, words]
    }
  }
}

const listed = process.argv.slice(2)
const files =
  listed.length > 0
    ? listed
    : execFileSync(
        'git',
        [
          'ls-files',
          '--cached',
          '--others',
          '--exclude-standard',
          'src',
          'docs',
          'scripts',
          'test',
          'examples',
          'README.md',
          'CONTRIBUTING.md',
          'SECURITY.md',
        ],
        { encoding: 'utf8' },
      )
        .split('\n')
        .filter((file) => /\.(ts|tsx|mjs|cjs|md)$/.test(file) && !/generated|^scripts\/prose/.test(file))

let found = 0
for (const file of files) {
  const isPage = file.endsWith('.md')
  for (const [line, text] of proseOf(file)) {
    const plain = text.replace(/`[^`]*`/g, 'x')
    for (const [habit, instead] of HABITS) {
      const match = habit.exec(plain)
      if (match === null) continue
      found++
      process.stdout.write(`${file}:${line}: "${match[0].trim()}": write ${instead}\n`)
    }
  }
  const texts = isPage ? textsOf(file) : file.startsWith('src/') ? docstringsOf(file) : []
  for (const [line, words] of longSentencesOf(texts)) {
    found++
    process.stdout.write(
      `${file}:${line}: ${words.length} words, "${words.slice(0, 6).join(' ')} …": write two sentences\n`,
    )
  }
}
if (found > 0) {
  process.stdout.write(`prose: ${found} places to write more plainly\n`)
  process.exitCode = 1
}
