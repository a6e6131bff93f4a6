/**
 * `node scripts/prose.mjs [FILE…]`: looks for habits of wording that readers have to read twice, in pages, comments,
 * docstrings and texts for users. Prints each with what to write instead; exits with 1 when there is one.
 */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'

/** What is looked for, and what to write in its place. */
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
]

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
          'migrations',
          'examples',
          'README.md',
          'CONTRIBUTING.md',
          'SECURITY.md',
        ],
        { encoding: 'utf8' },
      )
        .split('\n')
        .filter((file) => /\.(ts|tsx|md)$/.test(file) && !file.includes('generated'))

let found = 0
for (const file of files) {
  for (const [line, text] of proseOf(file)) {
    const plain = text.replace(/`[^`]*`/g, 'x')
    for (const [habit, instead] of HABITS) {
      const match = habit.exec(plain)
      if (match === null) continue
      found++
      process.stdout.write(`${file}:${line}: "${match[0].trim()}": write ${instead}\n`)
    }
  }
}
if (found > 0) {
  process.stdout.write(`prose: ${found} places to write more plainly\n`)
  process.exitCode = 1
}
